"""Frames of several libraries in, links out, with the frame's own columns."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from namesake import NamesakeError, link_frame, reconcile_frame
from namesake.articles.rejects import Rejects
from namesake.engines.file_linker import link_tables
from namesake.reconciling.table import ADDED

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
        assert set(np.asarray(link(frame)["article_id"])) == {"a", "b", "c"}
        said = [str(one.message) for one in recwarn if issubclass(one.category, UserWarning)]
        counted = f"{bad} articles with a date that cannot be read, such as '{example}': linked as undated"
        assert [line.split(";")[0] for line in said] == ([counted] if bad else [])


@pytest.mark.parametrize("threads", [1, 2])
def test_bad_dates_are_counted_with_the_rejects_where_there_are_any(linker, recwarn, threads):
    tables = [
        pa.table({"id": ["a", "b"], "text": [BODY] * 2, "date": ["hello", str(year)]}) for year in range(1990, 2000)
    ]
    rejects = Rejects()
    assert sum(done.articles.num_rows for done in link_tables(linker, tables, rejects, threads)) == 20
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
    with pytest.warns(UserWarning, match=r"text is `body`, id is `url` \(guessed; `text=`, `id=`"):
        link_frame(pd.DataFrame({"url": ["a"], "body": [BODY]}), linker)


# layouts and types that other libraries give


def polars_columns() -> dict[str, object]:
    import polars as pl

    return {
        "tags": [["a", "b"], []],
        "who": [{"a": "x", "b": ["y"]}, {"a": None, "b": []}],
        "raw": [b"\x00\xff", None],
        "kinds": pl.Series([["k"], ["l", "k"]], dtype=pl.List(pl.Categorical)),
        "desk": pl.Series(["sport", "news"], dtype=pl.Enum(["news", "sport"])),
        "pair": pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int8, 2)),
        "price": pl.Series(["1.20", "3.40"]).cast(pl.Decimal(10, 2)),
    }


def test_columns_of_any_type_are_carried_through(linker):
    import polars as pl

    frame = pl.DataFrame({"id": ["1", "2"], "text": COLUMNS["body"], **polars_columns()})
    out = link_frame(frame, linker)
    assert out.height >= 2
    for name in polars_columns():
        given_values = dict(zip(frame["id"], frame[name].to_list(), strict=True))
        assert out[name].to_list() == [given_values[row] for row in out["article_id"]], name
        if name != "kinds":  # categories within lists become text
            assert out.schema[name] == frame.schema[name]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "duckdb"])
def test_categories_may_be_ids_texts_titles_and_dates(linker, kind):
    import duckdb
    import polars as pl

    values = {"id": ["u1"], "text": [BODY], "title": ["News"], "date": ["1996-05-01"], "desk": ["sport"]}
    table = pa.table({name: pa.array(column).dictionary_encode() for name, column in values.items()})
    given_frame = {
        "pandas": pd.DataFrame(values, dtype="category"),
        "polars": pl.DataFrame(values, schema=dict.fromkeys(values, pl.Categorical)),
        "arrow": table,
        "duckdb": duckdb.from_arrow(table),
    }[kind]
    plain = linker.link(pa.table({name: column for name, column in values.items() if name != "desk"}))
    for out in (link_frame(given_frame, linker), link_frame(given_frame, linker, text="text", id="id", date="date")):
        links = as_table(out).to_pylist()
        assert [(row["article_id"], row["qid"], row["score"]) for row in links] == [
            (row["article_id"], row["qid"], row["score"]) for row in plain.to_pylist()
        ]
        assert {row["desk"] for row in links} == {"sport"}
    assert linker.link(given_frame).drop_columns(["extra"]) == plain.drop_columns(["extra"])


def test_the_linker_carries_columns_of_any_type_as_json(linker):
    import polars as pl

    frame = pl.DataFrame({"id": ["1", "2"], "text": COLUMNS["body"], **polars_columns()})
    extra = [json.loads(one) for one in linker.link(frame).column("extra").to_pylist()]
    assert extra[0]["tags"] == ["a", "b"]
    assert extra[0]["who"] == {"a": "x", "b": ["y"]}
    interval = pa.array([pa.MonthDayNano([1, 2, 3])])
    links = linker.link(pa.table({"id": ["1"], "text": [BODY], "span": interval}))
    assert "span" in json.loads(links.column("extra")[0].as_py())


def test_a_column_that_arrow_cannot_hold_is_one_line(linker):
    import polars as pl

    frame = pl.DataFrame({"text": [BODY], "n": pl.Series([1], dtype=pl.Int128)})
    with pytest.raises(NamesakeError, match=r"a column that Arrow cannot hold .* drop it or convert it"):
        link_frame(frame, linker)
    with pytest.raises(NamesakeError, match=r"the ids, which are .*, cannot be read"):
        link_frame(pa.table({"text": [BODY], "id": [["a"]]}), linker)


# names that are given


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_mentions_may_be_lists_of_names(linker, kind):
    import polars as pl

    names = [["Chris Carter", "Nobody Here"], [], None]
    values = {"id": ["1", "2", "3"], "text": [BODY] * 3, "people": names}
    table = pa.table(values | {"people": pa.array(names, pa.list_(pa.string()))})
    given_frame = {"pandas": pd.DataFrame(values), "polars": pl.DataFrame(values), "arrow": table}[kind]
    links = as_table(link_frame(given_frame, linker, mentions="people")).to_pylist()
    expected = linker.link_text(BODY, mentions=names[0])
    of_first = [row for row in links if row["article_id"] == "1"]
    assert [(row["name"], [tuple(span) for span in row["spans"]], row["qid"], row["score"]) for row in of_first] == [
        (link.name, link.spans, link.qid, link.score) for link in expected
    ]
    found = [link.name for link in linker.link_text(BODY)]
    assert [row["name"] for row in links if row["article_id"] != "1"] == found  # none of the second, all of the third
    renamed = table.rename_columns(["id", "text", "mentions"])
    assert [row["name"] for row in linker.link(renamed).to_pylist()] == [row["name"] for row in links]
    with pytest.raises(NamesakeError, match=r"no field 'peple' .did you mean 'people'"):
        link_frame(given_frame, linker, mentions="peple")


def test_a_null_among_names_is_refused(linker):
    table = pa.table({"id": ["1"], "text": [BODY], "mentions": [["Chris Carter", None]]})
    with pytest.raises(NamesakeError, match="a mention has no name"):
        linker.link(table)


# tables of names

PEOPLE = {"who": ["Michael Jordan", "Chris Carter", "Xyzzy Qwerty"], "Job": ["basketball player", "", ""]}
PEOPLE |= {"Notes": ["Chicago Bulls", "creator of The X-Files", ""], "When": ["1996", "hello", None]}


@pytest.mark.parametrize("kind", ["pandas", "polars", "duckdb", "arrow"])
def test_a_frame_of_names_gets_what_the_command_gives_a_file(linker, tmp_path, kind):
    import duckdb
    import polars as pl
    from pyarrow import csv
    from typer.testing import CliRunner

    from namesake.apps.cli.commands import app

    table = pa.table(PEOPLE)
    csv.write_csv(table, tmp_path / "in.csv")
    options = ["--name", "who", "--context", "Notes", "--date", "When", "--type", "occupation=Job"]
    command = ["reconcile", str(tmp_path / "in.csv"), *options, "--kb", str(linker.kb.path), "-o"]
    assert CliRunner().invoke(app, [*command, str(tmp_path / "out.parquet")]).exit_code == 0
    expected = pa.parquet.read_table(tmp_path / "out.parquet").select(ADDED.names).to_pylist()
    given_frame = {
        "pandas": pd.DataFrame(PEOPLE, index=["a", "b", "c"]),
        "polars": pl.DataFrame(PEOPLE),
        "duckdb": duckdb.from_arrow(table),
        "arrow": table,
    }[kind]
    arguments = {"name": "who", "context": "Notes", "date": "When", "type": {"occupation": "Job"}}
    with pytest.warns(UserWarning, match=r"1 row without a date: When .* such as 'hello'"):
        out = reconcile_frame(given_frame, linker, **arguments)
    assert type(out) is (type(given_frame) if kind in ("pandas", "polars") else pa.Table)
    if kind == "pandas":
        assert out.index.tolist() == ["a", "b", "c"]
        assert out[list(PEOPLE)].equals(given_frame)
    assert as_table(out).select(ADDED.names).to_pylist() == expected
    assert expected[0]["qid"] == "Q41421"
    assert expected[2]["qid"] is None


def test_columns_of_names_are_guessed_and_those_of_ours_kept(linker):
    values = {"Person": ["Michael Jordan"], "qid": ["mine"], "notes": ["basketball player, Chicago Bulls"]}
    frame = pd.DataFrame(values, dtype="category")
    with pytest.warns(UserWarning, match=r"names are in the column 'Person' \(guessed; `name=`"):
        out = reconcile_frame(frame, linker, context=["notes"])
    assert out["qid"].tolist() == ["mine"]
    assert out["qid"].dtype == "category"
    assert out["namesake_qid"].tolist() == ["Q41421"]


def test_arguments_of_a_frame_of_names_that_do_not_fit_are_refused(linker):
    frame = pd.DataFrame(PEOPLE)
    with pytest.raises(NamesakeError, match=r"which column has the names. Name it with `name=`"):
        reconcile_frame(pd.DataFrame({"x": ["a"]}), linker)
    with pytest.raises(NamesakeError, match=r"no column 'whom'.*did you mean 'who'"):
        reconcile_frame(frame, linker, name="whom")
    with pytest.raises(NamesakeError, match="`type='shoe size'`: no such property"):
        reconcile_frame(frame, linker, name="who", type={"shoe size": "Job"})
    with pytest.raises(TypeError, match="type must be a dictionary"):
        reconcile_frame(frame, linker, name="who", type="occupation=Job")
    with pytest.raises(TypeError, match="frame must have the Arrow stream interface"):
        reconcile_frame([1], linker)


def test_warnings_stand_at_the_line_of_the_caller(linker):
    with pytest.warns(UserWarning, match="guessed") as linked:
        link_frame(pd.DataFrame({"url": ["a"], "body": [BODY]}), linker)
    with pytest.warns(UserWarning, match="guessed") as reconciled:
        reconcile_frame(pd.DataFrame({"Person": ["Michael Jordan"]}), linker)
    assert {one.filename for one in (*linked, *reconciled)} == {__file__}
