"""Frames of several libraries in, links out, with the frame's own columns."""

import pandas as pd
import pyarrow as pa
import pytest

from namesake import NamesakeError, link_frame
from namesake.articles.rejects import Rejects
from namesake.engines.local import link_tables

BODY = "Michael Jordan, the basketball player, met Chris Carter of The X-Files."
COLUMNS = {"url": ["u1", "u1"], "body": [BODY, "Michael Jordan of the Chicago Bulls."], "desk": ["sport", "news"]}
COLUMNS |= {"name": ["mine", "mine"], "when": ["1996-05-01", None]}


def frames() -> dict[str, object]:
    import datasets
    import duckdb
    import polars

    table = pa.table(COLUMNS)
    return {
        "pandas": pd.DataFrame(COLUMNS),
        "polars": polars.DataFrame(COLUMNS),
        "duckdb": duckdb.from_arrow(table),
        "datasets": datasets.Dataset(table),
        "arrow": table,
        "batch": table.to_batches()[0],
        "reader": table.to_reader(),
    }


def as_table(frame: object) -> pa.Table:
    if isinstance(frame, pd.DataFrame):
        return pa.Table.from_pandas(frame)
    return frame if isinstance(frame, pa.Table) else frame.to_arrow()


@pytest.mark.parametrize("kind", ["pandas", "polars", "duckdb", "datasets", "arrow", "batch", "reader"])
def test_every_frame_gives_the_links_of_its_texts(linker, kind):
    given = frames()[kind]
    out = link_frame(given, linker, text="body", id="url", date="when")
    assert type(out) is (type(given) if kind in ("pandas", "polars") else pa.Table)
    links = as_table(out).to_pylist()
    articles = pa.table({"id": ["1", "2"], "text": COLUMNS["body"], "date": COLUMNS["when"]})
    expected = linker.link(articles).to_pylist()
    for ours, plain in zip(links, expected, strict=True):
        assert [list(span) for span in ours["spans"]] == plain["spans"]
        assert [ours[key] for key in ("name", "qid", "score")] == [plain[key] for key in ("name", "qid", "score")]
        assert ours["article_id"] == "u1"
        assert ours["desk"] == ("sport" if plain["article_id"] == "1" else "news")  # rows, not ids, are joined
        assert ours["name_"] == "mine"
        assert "body" not in ours


def test_places_are_rows_where_that_is_wanted(linker):
    text = "Michael Jordan spoke. Michael Jordan of the Bulls, a basketball player, won."
    out = link_frame(pd.DataFrame({"text": [text]}), linker, one_per_span=True)
    found = [text[start:end] for start, end in zip(out["start"], out["end"], strict=True)]
    assert found.count("Michael Jordan") == 2
    assert "spans" not in out
    assert set(out["article_id"]) == {"1"}


def test_answers_are_told_in_words(linker):
    out = link_frame(pd.DataFrame(COLUMNS), linker, text="body", id="url")
    jordan = out[out["qid"] == "Q41421"].iloc[0]
    assert jordan["label"] == "Michael Jordan"
    assert "basketball" in jordan["description"]
    assert jordan["url"] == "https://www.wikidata.org/wiki/Q41421"


def test_an_empty_frame_gives_no_links(linker):
    out = link_frame(pd.DataFrame({"text": pd.Series([], dtype=str), "desk": pd.Series([], dtype=str)}), linker)
    assert len(out) == 0
    assert {"qid", "label", "desk"} <= set(out.columns)


def test_numbers_and_days_may_be_ids_and_dates(linker):
    frame = pd.DataFrame({"id": [7], "text": [BODY], "date": pd.to_datetime(["1996-05-01"])})
    assert set(link_frame(frame, linker, id="id", date="date")["article_id"]) == {"7"}


@pytest.mark.parametrize(
    ("dates", "bad", "example"),
    [
        (["hello", "1996-05-01", "hello"], 2, "hello"),
        ([True, False, None], 2, "true"),
        ([1482710400000, 1482710400001, 1482710400002], 3, "1482710400000"),
        ([1996, 1850, 2016], 0, None),
        (["March 1850", "03.03.1850", "1850"], 0, None),
        (pd.to_datetime(["1996-05-01", None, "2016-01-01"]), 0, None),
    ],
    ids=["text", "booleans", "milliseconds", "years", "written", "timestamps"],
)
def test_bad_dates_are_counted_in_one_warning(linker, recwarn, dates, bad, example):
    frame = pd.DataFrame({"id": ["a", "b", "c"], "text": [BODY] * 3, "date": dates})
    for link in (linker.link, lambda frame: link_frame(frame, linker)):
        recwarn.clear()
        assert len(link(frame)) == 6
        said = [str(one.message) for one in recwarn if issubclass(one.category, UserWarning)]
        counted = f"{bad} articles with a date that cannot be read, such as '{example}': linked as undated"
        assert [line.split(";")[0] for line in said] == ([counted] if bad else [])


@pytest.mark.parametrize("threads", [1, 2])
def test_bad_dates_are_counted_with_the_rejects_where_there_are_any(linker, recwarn, threads):
    tables = [
        pa.table({"id": ["a", "b"], "text": [BODY] * 2, "date": ["hello", str(year)]}) for year in range(1990, 2000)
    ]
    rejects = Rejects()
    assert sum(count for count, _ in link_tables(linker, tables, threads, rejects=rejects)) == 20
    assert rejects.unread_dates == {"hello": 10}
    assert not recwarn.list


def test_what_is_no_frame_or_has_no_such_column_is_refused(linker):
    with pytest.raises(TypeError, match="Arrow"):
        link_frame([1, 2], linker)
    with pytest.raises(NamesakeError, match="did you mean 'body'"):
        link_frame(pd.DataFrame(COLUMNS), linker, text="bdy")
    with pytest.raises(NamesakeError, match="which field is the text"):
        link_frame(pd.DataFrame({"a": ["x"]}), linker)


def test_the_linker_takes_frames_and_carries_other_columns(linker):
    frame = pd.DataFrame({"id": ["a"], "text": [BODY], "desk": ["sport"]})
    links = linker.link(frame)
    plain = linker.link(pa.table({"id": ["a"], "text": [BODY]}))
    assert links.drop_columns(["extra"]) == plain.drop_columns(["extra"])
    assert set(links.column("extra").to_pylist()) == {'{"desk":"sport"}'}


def test_rows_without_text_have_no_links_and_are_counted(linker):
    frame = pd.DataFrame({"id": ["a", "b", "c"], "text": [BODY, None, BODY]})
    with pytest.warns(UserWarning, match="1 of 3 rows have no text"):
        links = link_frame(frame, linker)
    assert links["article_id"].unique().tolist() == ["a", "c"]


def test_guessed_columns_are_warned_of(linker):
    with pytest.warns(UserWarning, match=r"text is `body`, id is `url` \(guessed\)$"):
        link_frame(pd.DataFrame({"url": ["a"], "body": [BODY]}), linker)
