"""Names that are found in raw text: mentions, their spans and candidates, titles, and the best spans."""

from __future__ import annotations

import gzip
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from few_people import SmallKB
from namesake.articles.schema import ARTICLES, MENTION
from namesake.errors import NamesakeError
from namesake.kb.build import build
from namesake.kb.columns.column_files import Strings
from namesake.kernels.names.constants import FIRST_NAME, LABEL, LAST_TWO, PAIR, SHORT, SIMILAR, SURNAME
from namesake.linker import Linker
from namesake.names.hypotheses import Found, find, group_spans
from namesake.names.mentions import faults, found_mentions, mentions_of

PEOPLE = {
    "Barack Obama": (200.0, ["President Obama"]),
    "Michelle Obama": (90.0, []),
    "Siméon Denis Poisson": (60.0, []),
    "Frank Wilczek": (70.0, []),
    "Marine Le Pen": (90.0, []),
    "Alexander Van der Bellen": (80.0, []),
    "Rihanna": (156.0, []),
    "Michael Jackson": (250.0, []),
    "Sergey Lavrov": (60.0, []),
    "J. K. Rowling": (140.0, ["Joanne Rowling"]),
    "Will Young": (25.0, []),
    "Ann Lee": (5.0, []),
}
OTHERS = {"Paris": 250.0, "Jackson Hole": 30.0, "Obama Foundation": 20.0}


@pytest.fixture(scope="module")
def kb() -> SmallKB:
    return SmallKB(PEOPLE, OTHERS)


def find_in(kb: SmallKB, *texts: str) -> Found:
    column = Strings.of(texts)
    return find(kb, column.data, column.offsets)


def names_in(kb: SmallKB, text: str) -> dict[str, list[str]]:
    """The labels of the candidates of each mention, by its name."""
    found = find_in(kb, text)
    return {
        text[slice(*found.spans[found.span_indptr[m]])]: [
            kb.labels[row] for row in found.rows[found.offsets[m] : found.offsets[m + 1]]
        ]
        for m in range(len(found))
    }


def summary(found: Found, text: int) -> list[tuple]:
    """The mentions of a text: spans, candidates with their forms, qualities and whether a longer name is there."""
    return [
        (
            found.spans[found.span_indptr[m] : found.span_indptr[m + 1]].tolist(),
            found.byte_spans[found.span_indptr[m] : found.span_indptr[m + 1]].tolist(),
            *(column[found.offsets[m] : found.offsets[m + 1]].tolist() for column in (found.rows, found.forms)),
            *(column[found.offsets[m] : found.offsets[m + 1]].tolist() for column in (found.quality, found.in_text)),
            bool(found.is_other[m]),
            int(found.known[m]),
        )
        for m in range(found.indptr[text], found.indptr[text + 1])
    ]


BARACK, MICHELLE = "Barack Obama", "Michelle Obama"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Barack Obama spoke.", {BARACK: [BARACK]}),
        ("Then Obama spoke.", {"Obama": [BARACK, MICHELLE]}),
        ("Michelle Obama met him. Obama spoke.", {MICHELLE: [MICHELLE], "Obama": [MICHELLE, BARACK]}),
        ("President Obama met Joanne Rowling.", {"President Obama": [BARACK], "Joanne Rowling": ["J. K. Rowling"]}),
        ("The Obama Foundation gave.", {}),  # an item that is no entity covers its parts
        ("Le Pen won.", {"Le Pen": ["Marine Le Pen"], "Pen": ["Marine Le Pen"]}),
        ("He saw van der Bellen.", {"van der Bellen": ["Alexander Van der Bellen"]}),
        ("barack obama met rihanna", {"barack obama": [BARACK], "rihanna": ["Rihanna"]}),
        ("BARACK OBAMA MET RIHANNA", {"BARACK OBAMA": [BARACK], "RIHANNA": ["Rihanna"]}),
        ("Will you go?", {"Will": ["Will Young"]}),
        ("that is the end of it", {}),
        ("Nobody is here, in Paris.", {}),
    ],
)
def test_names_and_candidates(kb: SmallKB, text: str, wanted: dict[str, list[str]]) -> None:
    found = names_in(kb, text)
    assert {name: found.get(name) for name in wanted} == wanted
    assert wanted or not found


@pytest.mark.parametrize(
    ("text", "name", "form", "quality"),
    [
        ("Barack Obama spoke.", "Barack Obama", LABEL, 1.0),
        ("Then Obama spoke.", "Obama", SHORT + SURNAME, 0.7),
        ("Then Rihanna sang.", "Rihanna", LABEL, 1.0),
        ("Then Michelle sang.", "Michelle", SHORT + FIRST_NAME, 0.7),
        ("Then Siméon Poisson spoke.", "Siméon Poisson", SHORT + PAIR, 0.7),
        ("Then Le Pen spoke.", "Le Pen", SHORT + LAST_TWO, 0.7),
        ("Then Frank R. Wilczek spoke.", "Frank R. Wilczek", SIMILAR, 0.9),
        ("Then Sergei Lavrov spoke.", "Sergei Lavrov", SIMILAR, 0.8),
        ("Then Barack Obma spoke.", "Barack Obma", SIMILAR, 0.6),
    ],
)
def test_what_a_name_is_to_its_candidate(kb: SmallKB, text: str, name: str, form: int, quality: float) -> None:
    found = find_in(kb, text)
    place = [text[slice(*span)] for span in found.spans[found.leads]].index(name)
    candidate = found.offsets[place]
    assert (found.forms[candidate], round(found.quality[candidate], 2)) == (form, quality)


def test_every_place_of_a_name_is_listed_once(kb: SmallKB) -> None:
    found = find_in(kb, "Le Pen met Le Pen. Obama and Obama left; Frank R. Wilczek, too.")
    pairs = [(int(first), int(end)) for first, end in zip(found.first, found.end, strict=True)]
    assert len(set(pairs)) == len(pairs)


# one name, several entities
@pytest.mark.parametrize("word", ["another", "The other", "the other"])
def test_another_entity_with_a_name_is_another_mention(kb: SmallKB, word: str) -> None:
    text = f"Michael Jackson sang. Then {word} Michael Jackson wrote. Michael Jackson left."
    found = find_in(kb, text)
    full = [m for m in range(len(found)) if found.end[found.leads[m]] - found.first[found.leads[m]] == 2]
    assert [(np.diff(found.span_indptr)[m], bool(found.is_other[m])) for m in full] == [(2, False), (1, True)]


@pytest.mark.parametrize(
    ("first", "second", "mentions"),
    [
        (", the beer critic,", ", a British general,", [(2, False), (1, True)]),
        (", the composer of Star Wars,", ", a guitarist;", [(2, False), (1, True)]),
        (", a critic,", ", the critic who drinks beer,", [(3, False)]),
        (", the critic,", ", who sang,", [(3, False)]),
        (", the critic,", ", the Briton,", [(3, False)]),
        (", the critic,", " a general,", [(3, False)]),
        (", the critic,", ", a tall young man with shoes,", [(2, False), (1, True)]),
        (", the critic,", ", a tall strong quick brown lazy young fox", [(3, False)]),
    ],
)
def test_names_in_apposition_to_other_nouns_are_other_mentions(
    kb: SmallKB, first: str, second: str, mentions: list[tuple[int, bool]]
) -> None:
    found = find_in(kb, f"Michael Jackson{first} wrote. Michael Jackson left. Michael Jackson{second} came.")
    full = [m for m in range(len(found)) if found.end[found.leads[m]] - found.first[found.leads[m]] == 2]
    assert [(np.diff(found.span_indptr)[m], bool(found.is_other[m])) for m in full] == mentions


ACTOR, POLITICIAN, HILTON, PARIS, FRANCE = "Q178348", "Q303577", "Q47899", "Q90", "Q142"
MARIE, PIERRE = "Q7186", "Q37463"
OCCUPATIONS = ["Q33999", "Q82955"]
"""Actor and politician, whose labels are words of entities."""


def test_real_entities_that_share_a_name(shared: Path, tmp_path: Path) -> None:
    wanted = re.compile(
        rb'"id":"(?:%s)"' % "|".join([ACTOR, POLITICIAN, HILTON, PARIS, FRANCE, MARIE, PIERRE, *OCCUPATIONS]).encode()
    )
    with gzip.open(shared / "wikidata" / "world.json.gz", "rb") as lines:
        (tmp_path / "dump.json").write_bytes(b"".join(line for line in lines if wanted.search(line[:200])))
    build([tmp_path / "dump.json"], tmp_path / "kb")
    texts = [
        "Chris Evans, the American actor, lives in Boston. Chris Evans, a politician from Wales, was elected.",
        "Paris Hilton lived in Paris, the capital of France. In Paris it was cold.",
        "Marie Curie and Pierre Curie shared a Nobel Prize. Pierre died in 1906. Curie won a second one in 1911.",
    ]
    articles = pa.Table.from_pylist([{"id": str(at), "text": text} for at, text in enumerate(texts)])
    links = Linker(tmp_path / "kb").link(articles).to_pylist()
    assert [(one["article_id"], len(one["spans"]), one["best"]) for one in links] == [
        *[("0", 1, ACTOR), ("0", 1, POLITICIAN), ("1", 1, HILTON), ("1", 2, PARIS), ("1", 1, FRANCE)],
        *[("2", 1, MARIE), ("2", 1, PIERRE), ("2", 1, PIERRE), ("2", 1, MARIE)],
    ]


def test_the_word_before_a_name_is_one_of_its_own_text(kb: SmallKB) -> None:
    found = find_in(kb, "Some like the other", "Michael Jackson sang.")
    assert not found.is_other.any()


def test_a_word_may_mean_all_longer_names_with_it(kb: SmallKB) -> None:
    found = find_in(kb, "Barack Obama met Michelle Obama. Obama left.", "Obama left.")
    assert found.in_text.tolist() == [False, False, True, True, False, False]
    assert [len(summary(found, text)) for text in range(2)] == [3, 1]


# texts
@pytest.mark.parametrize("text", ["", " ", "\n", "... !?", "’", "<b></b>", "\0", "1999", "а", "é" * 9, "'s", "&"])
def test_texts_without_names(kb: SmallKB, text: str) -> None:
    found = find_in(kb, text, "Rihanna", text)
    assert found.indptr.tolist() == [0, 0, 1, 1]
    assert found.spans.tolist() == [[0, 7]]


def test_no_texts(kb: SmallKB) -> None:
    found = find_in(kb)
    assert (len(found), found.indptr.tolist()) == (0, [0])
    assert len(found.best_spans(np.zeros(0), np.zeros(0, np.int64))) == 0


@pytest.mark.parametrize("word", ["Barack Obama ", "Obama, ", "a. ", "<", "'", "’s ", "Barack\u0301", "\u00ad", "J. "])
def test_very_long_and_odd_texts(kb: SmallKB, word: str) -> None:
    text = word * (1_000_000 // len(word.encode()))
    found = find_in(kb, text, "Barack Obama")
    assert summary(found, 1)[-1][0] == [[0, 12]]
    assert (found.spans >= 0).all()
    assert (found.spans <= max(len(text), 12)).all()
    assert found.best_spans(np.ones(len(found)), np.arange(len(found))).any()


PARTS = ["Barack Obama", "Obama", "Le Pen", "van der Bellen", "Michael Jackson", "another", "é", "Frank R. Wilczek"]
PARTS += ["met", ".", ",", "\n\n", "the", "Rihanna", "Lee", "Ann"]
TEXTS = st.lists(st.lists(st.sampled_from(PARTS), max_size=12).map(" ".join), max_size=4)


@pytest.mark.kernel
@given(TEXTS)
def test_texts_are_read_alone(kb: SmallKB, texts: list[str]) -> None:
    together = find_in(kb, *texts)
    for number, text in enumerate(texts):
        assert summary(together, number) == summary(find_in(kb, text), 0)
        for spans, byte_spans, *_ in summary(together, number):
            assert [[len(text[:end].encode()) for end in span] for span in spans] == byte_spans


@pytest.mark.kernel
@given(TEXTS, st.data())
def test_the_best_spans_and_what_remains(kb: SmallKB, texts: list[str], data: st.DataObject) -> None:
    found = find_in(kb, *texts)
    score = np.array(data.draw(st.lists(st.integers(-2, 5), min_size=len(found), max_size=len(found))), np.float64)
    chosen = found.best_spans(score, np.arange(len(found)))
    spans = sorted(zip(found.first[chosen].tolist(), found.end[chosen].tolist(), strict=True))
    assert all(end <= first for (_, end), (first, _) in pairwise(spans))
    part, kept, _ = found.take(chosen)
    of_span = np.repeat(np.arange(len(found)), np.diff(found.span_indptr))
    assert kept.tolist() == sorted(set(of_span[chosen].tolist()))
    assert (score[kept] > 0).all()
    assert part.spans.tolist() == found.spans[chosen].tolist()
    assert part.span_indptr[-1] == chosen.sum()
    assert part.known.tolist() == found.known[kept].tolist()
    for place, mention in enumerate(kept):
        for column in ("rows", "forms", "quality", "in_text"):
            ours = getattr(part, column)[part.offsets[place] : part.offsets[place + 1]]
            assert ours.tolist() == getattr(found, column)[found.offsets[mention] : found.offsets[mention + 1]].tolist()
    text = np.searchsorted(found.indptr, kept, side="right") - 1
    assert np.diff(part.indptr).tolist() == np.bincount(text, minlength=len(texts)).tolist()


def test_the_mean_over_the_spans_of_a_mention(kb: SmallKB) -> None:
    found = find_in(kb, "Obama met Rihanna. Obama left.")
    assert found.mean(np.array([1.0, 0.0, 5.0])).tolist() == [0.5, 5.0]
    assert find_in(kb, "").mean(np.zeros(0)).tolist() == []


# titles
@pytest.mark.parametrize(
    ("title", "text", "wanted"),
    [
        ("Barack Obama met him", "Barack Obama left.", [("Barack Obama", [[0, 12]], [[0, 12]])]),
        ("Barack Obama met him", "", [("Barack Obama", [], [[0, 12]])]),
        ("BARACK OBAMA MET HIM", "é barack obama", [("BARACK OBAMA", [[2, 14]], [[0, 12]])]),
        ("Éric met Rihanna,", "Rihanna", [("Rihanna", [[0, 7]], [[9, 16]])]),
        ("Le", "Pen", []),  # no name reaches from the title into the text
        (None, "Rihanna", [("Rihanna", [[0, 7]], None)]),
        ("", "Rihanna", [("Rihanna", [[0, 7]], None)]),
    ],
)
def test_a_title_is_read_with_its_text(kb: SmallKB, title: str | None, text: str, wanted: list[tuple]) -> None:
    articles = pa.array([text, "nobody"], pa.large_string()), kb, pa.array([title, "Nobody"])
    found = found_mentions(*articles)
    lists = zip(
        found.names.to_pylist(), found.placed.span_lists.to_pylist(), found.placed.title_lists.to_pylist(), strict=True
    )
    names = [name for name, _, _ in wanted]
    assert [one for one in lists if one[0] in names] == wanted
    assert found.articles[1] == len(found)
    assert found.context is not None
    score = np.where(np.isin(found.names.to_pylist(), names), 1.0, -1.0)
    chosen = found.context.best_spans(score, np.arange(len(score)))
    best, kept, _ = found.part(chosen)
    assert best.names.to_pylist() == names
    assert found.names.take(pa.array(kept)).to_pylist() == names
    assert best.placed.span_lists.to_pylist() == [spans for _, spans, _ in wanted]
    assert best.placed.title_lists.to_pylist() == [spans for _, _, spans in wanted]


# articles
def table(rows: list[dict]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=ARTICLES)


def test_given_mentions_stand_in_the_order_of_their_articles(kb: SmallKB) -> None:
    given = [{"name": "X", "spans": [[0, 1]], "candidates": ["Q20", "Q7"]}, {"name": "Rihanna", "spans": [[1, 5]]}]
    rows = [
        {"id": "b", "text": "é Barack Obama", "title": "Barack Obama", "mentions": given},
        {"id": "d", "text": "nobody", "mentions": []},
    ]
    mentions = mentions_of(table(rows), kb, "never")
    assert mentions.articles.tolist() == [0, 2, 2]
    assert mentions.context is None
    assert mentions.qids.tolist() == [20, 7, 70]
    assert mentions.rows.tolist() == [1, -1, 6]
    assert mentions.placed.byte_spans.tolist() == [[0, 2], [2, 6]]
    assert mentions.quality.tolist() == pytest.approx([np.nan, np.nan, 1], nan_ok=True)
    assert faults(mentions, pa.chunked_array([pa.array([row["mentions"] for row in rows], pa.list_(MENTION))])) == {}


def test_what_is_wrong_with_given_mentions(kb: SmallKB) -> None:
    given = [
        [{"name": "X", "spans": [[0, 1]], "candidates": ["Q20", "Obama"]}],
        [{"name": "X", "spans": [[5, 99]]}],
        [{"name": None, "spans": [[0, 1]]}],
    ]
    rows = [{"id": str(place), "text": "Some text", "mentions": some} for place, some in enumerate(given)]
    column = pa.chunked_array([pa.array(given, pa.list_(MENTION))])
    assert faults(mentions_of(table(rows), kb, "never"), column) == {
        0: "candidate 'Obama' of 'X' is no QID",
        1: "span [5, 99] of 'X' does not fit the text",
        2: "a mention has no name",
    }


def test_a_batch_has_mentions_or_none(kb: SmallKB) -> None:
    rows = [{"id": "a", "text": "x", "mentions": []}, {"id": "b", "text": "x", "mentions": None}]
    with pytest.raises(NamesakeError, match="cannot be linked in one batch"):
        mentions_of(table(rows), kb, "never")


def test_spans_of_another_detector_become_names() -> None:
    text = "Barack Obama met Ann Lee. Obama and Lee talked; Dr. Lee Wu left. OBAMA"
    spans = [(0, 12), (17, 24), (26, 31), (65, 70)]
    assert group_spans(text, spans) == [("Barack Obama", [(0, 12), (26, 31), (65, 70)]), ("Ann Lee", [(17, 24)])]
    assert group_spans("", []) == []
