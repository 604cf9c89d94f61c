"""Scores and doubts of names that are found in raw text, against what can be counted in a KB made by hand."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import oracle
from namesake.articles.article import Mention
from namesake.articles.builder import text_table
from namesake.articles.schema import ARTICLES
from namesake.batch import Batch
from namesake.doubts import DOUBTS
from namesake.kb.build import build
from namesake.kb.store import KB
from namesake.kernels.names.constants import FAME_STEPS, SHORT_FORMS
from namesake.linker import Linker
from namesake.recipe import Decide, Part, Recipe
from namesake.scorers import SCORERS
from several_kinds import with_sitelinks
from test_build import HUMAN, claim, dump, item
from test_signals import batch_of

ACTOR, PRESENTER, POET, KING, LUTHER = "Q100", "Q101", "Q102", "Q103", "Q104"
JOBS, WOZNIAK, CLEMENS, TWAIN, BILL, HILLARY, GATES = "Q105", "Q106", "Q107", "Q108", "Q114", "Q115", "Q116"
PEOPLE = {
    ACTOR: ("Chris Evans", 90, "American actor"),
    PRESENTER: ("Chris Evans", 40, "British presenter"),
    POET: ("Ruth Pitter", 30, "British poet"),
    KING: ("Martin Luther King", 210, "American civil rights leader"),
    LUTHER: ("Martin Luther", 200, "Saxon theologian"),
    JOBS: ("Steve Jobs", 90, "American businessman"),
    WOZNIAK: ("Steve Wozniak", 60, "American engineer"),
    CLEMENS: ("Samuel Clemens", 5, "British rower"),
    TWAIN: ("Mark Twain", 90, "American author"),
    "Q109": ("Tom Baker", 25, "British actor"),
    "Q110": ("Mary Jones", 7, "a baker of bread; no other baker"),
    "Q111": ("Vera Quill", 15, "American journalist, known for little"),
    "Q112": ("Sam Houston", 20, ""),
    "Q113": ("Whitney Houston", 60, ""),
    BILL: ("Bill Clinton", 80, "president"),
    HILLARY: ("Hillary Clinton", 80, "secretary"),
    GATES: ("Bill Gates", 90, "businessman"),
}
CLAIMS = {
    BILL: [claim("P26", 115), claim("P106", 40)],
    HILLARY: [claim("P26", 114), claim("P106", 40)],
    GATES: [claim("P106", 41)],
    KING: [claim("P106", 42), claim("P69", 43), claim("P102", 44), claim("P27", 45)],
}
HOUSTON, FAME = "Houston", 120


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KB:
    folder: Path = tmp_path_factory.mktemp("found")
    lines = [
        with_sitelinks(
            item(
                int(qid[1:]),
                *(label, HUMAN, *CLAIMS.get(qid, [])),
                description=description,
                aliases=("Samuel Clemens",) if qid == TWAIN else (),
            ),
            sitelinks,
        )
        for qid, (label, sitelinks, description) in PEOPLE.items()
    ]
    lines.append(with_sitelinks(item(900, HOUSTON, claim("P31", 515), description="city"), FAME))
    build([dump(folder / "dump.json", *lines)], folder / "kb", keep="people")
    return KB.open(folder / "kb")


def batch(kb: KB, text: str) -> Batch:
    return batch_of(kb, text_table(text, None, None))


def of_mention(kb: KB, doubt: str, text: str, name: str) -> float:
    """Evidence for NIL of a name in a text."""
    some = batch(kb, text)
    return float(DOUBTS[doubt](some)[some.names.to_pylist().index(name)])


def of_candidates(batch: Batch, scores: np.ndarray, name: str) -> dict[str, float]:
    """The score of each candidate of a name."""
    m = batch.names.to_pylist().index(name)
    return {f"Q{batch.qids[k]}": float(scores[k]) for k in range(*batch.offsets[m : m + 2])}


# evidence for NIL
BAKER = "Mary Jones is a baker. Tom Baker is one. Baker, the baker, sang; a Baker did."
OTHER_FAME = math.expm1(round(FAME_STEPS * math.log1p(FAME)) / FAME_STEPS)


@pytest.mark.parametrize(
    ("doubt", "text", "name", "value"),
    [
        ("OtherEntityFame", "We saw Houston there.", "Houston", math.log1p(OTHER_FAME)),
        ("OtherEntityFame", "We saw Tom Baker there.", "Tom Baker", 0),
        ("OtherEntityShare", "We saw Houston there.", "Houston", math.log1p(OTHER_FAME / 60)),
        ("OtherEntityShare", "We saw Tom Baker there.", "Tom Baker", 0),
        ("KindsMissing", "We saw Tom Baker there.", "Tom Baker", 1),
        ("OtherPlace", "We saw it in Houston and Houston saw it.", "Houston", 0.5),
        ("OtherPlace", "We believe in Tom Baker.", "Tom Baker", 0),
        ("BestFame", "We saw Chris Evans there.", "Chris Evans", math.log1p(90)),
        ("BestFame", "We saw Houston there.", "Houston", math.log1p(0.1)),  # no entity has exactly this name
        ("NamesakeCount", "We saw Chris Evans there.", "Chris Evans", math.log1p(2)),
        ("NamesakeCount", "We saw Houston there.", "Houston", 0),
        ("CandidateCount", "We saw Houston there.", "Houston", math.log1p(2)),
        ("LowercaseUse", "We saw Baker there.", "Baker", math.log1p(2)),
        ("LowercaseUse", "We saw Tom Baker there.", "Tom Baker", 0),
        ("BeginsNames", "We saw Bill there.", "Bill", math.log1p(2)),
        ("BeginsNames", "We saw Houston there.", "Houston", 0),
        ("Byline", "By Tom Baker\n\nThe bread is good.", "Tom Baker", 1),
        ("Byline", "The bread is good. Photo by Tom Baker", "Tom Baker", 1),
        ("Byline", "By Vera Quill\n\nThe bread is good.", "Vera Quill", 0),  # a journalist
        ("Byline", "It was made by Tom Baker.", "Tom Baker", 0),
    ],
)
def test_evidence_for_nil(kb: KB, doubt: str, text: str, name: str, value: float) -> None:
    assert of_mention(kb, doubt, text, name) == pytest.approx(value, rel=1e-5)


OF_ALL_NAMES = {"Constant", "GivenName", "ExpectedNamesakes", "ArticleLength", "NameFame"}
"""Doubts about the name and the article, which given names have as well."""


@pytest.mark.parametrize("name", [name for name, one in DOUBTS.items() if one.module.startswith("namesake.")])
def test_given_names_have_no_evidence_from_the_text(kb: KB, name: str) -> None:
    some = batch_of(
        kb, text_table("By Tom Baker\n\nPresident Houston flew to Houston.", ["Tom Baker", "Houston"], None)
    )
    assert DOUBTS[name](some).any() == (name in OF_ALL_NAMES)
    assert DOUBTS[name].formula


# scores
def test_scores_of_the_name_and_the_kb(kb: KB) -> None:
    some = batch(kb, "Then Bill Clinton met Chris Evans, Steve and Samuel Clemens.")
    fame = {qid: float(kb.fame[kb.rows(np.array([int(qid[1:])]))[0]]) for qid in PEOPLE}
    used = dict.fromkeys(PEOPLE, 0) | {BILL: 1, HILLARY: 1}
    for name in some.names.to_pylist():
        candidates = of_candidates(some, SCORERS["Fame"](some), name)
        total = sum(fame[qid] + 0.01 for qid in candidates)
        wanted = {
            "Fame": {qid: math.log1p(fame[qid]) for qid in candidates},
            "FameShare": {qid: math.log((fame[qid] + 0.01) / total) for qid in candidates},
            "TimesNamed": {qid: math.log1p(used[qid]) for qid in candidates},
            "ItemAge": {qid: -math.log1p(int(qid[1:]) / 2e7) for qid in candidates},
            "StatementCount": {qid: math.log((2 + len(CLAIMS.get(qid, []))) / 2) for qid in candidates},
        }
        for scorer, scores in wanted.items():
            assert of_candidates(some, SCORERS[scorer](some), name) == pytest.approx(scores, rel=1e-5), scorer


def test_scores_of_an_entity_that_is_not_in_the_kb(kb: KB) -> None:
    mentions = [Mention("Bill", [(0, 4)], [BILL, "Q987654321"])]
    some = batch_of(kb, text_table("Bill left.", mentions, None))
    for name in ("Fame", "FameShare", "TimesNamed", "ItemAge", "StatementCount", "LabelWords"):
        assert SCORERS[name](some)[1] == 0, name


@pytest.mark.parametrize(
    ("text", "name", "forms"),
    [
        ("Then Steve left.", "Steve", {JOBS: {"FirstName"}, WOZNIAK: {"FirstName"}}),
        ("Then Wozniak left.", "Wozniak", {WOZNIAK: {"Surname"}}),
        ("Then Martin King left.", "Martin King", {KING: {"FirstAndLast"}}),
        ("Then Luther King left.", "Luther King", {KING: {"LastTwoNames"}}),
        ("Then Martin Luther left.", "Martin Luther", {LUTHER: set(), KING: {"FirstTwoNames"}}),
        ("Then Samuel Clemens left.", "Samuel Clemens", {CLEMENS: set(), TWAIN: set()}),
        ("Then Steve Wozniac left.", "Steve Wozniac", {WOZNIAK: set()}),
    ],
)
def test_one_scorer_for_each_short_form(kb: KB, text: str, name: str, forms: dict[str, set[str]]) -> None:
    some = batch(kb, text)
    found: dict[str, set[str]] = {}
    for form in SHORT_FORMS:
        for qid, score in of_candidates(some, SCORERS[form](some), name).items():
            assert score in (0, -1)
            found.setdefault(qid, set()).update({form} if score else ())
    assert found == forms


def test_a_misspelling_and_a_first_name_after_in(kb: KB) -> None:
    some = batch(kb, "Then Steve Wozniac met Steve. He believes in Bill, and Bill believes.")
    similar, after_in = (SCORERS[name](some) for name in ("SimilarName", "FirstNameAfterIn"))
    assert of_candidates(some, similar, "Steve Wozniac") == {WOZNIAK: -1}
    assert not any(of_candidates(some, similar, "Steve").values())
    assert of_candidates(some, after_in, "Bill") == {BILL: -0.5, GATES: -0.5}
    assert not any(of_candidates(some, after_in, "Steve").values())


def test_given_names_have_no_short_form(kb: KB) -> None:
    some = batch_of(kb, text_table("Then Wozniak left.", [Mention("Wozniak", [(5, 12)], [WOZNIAK])], None))
    assert all(SCORERS[form](some).tolist() == [0] for form in (*SHORT_FORMS, "SimilarName", "FirstNameAfterIn"))


def test_short_forms_of_other_kinds(world_kb: KB) -> None:
    some = batch(world_kb, "Then the UN met, and the French left.")
    assert of_candidates(some, SCORERS["Acronym"](some), "UN") == {"Q1065": -1}
    assert of_candidates(some, SCORERS["Demonym"](some), "French") == {"Q142": -1}


LABELS = {BILL: "Bill Clinton", HILLARY: "Hillary Clinton"}
"""Of the entities that statements name."""


@pytest.mark.parametrize("text", ["Then Clinton left.", "Hillary, or Bill Clinton, and Clinton left. So Bill did."])
def test_words_of_labels_in_the_article(kb: KB, text: str) -> None:
    some = batch(kb, text)
    inside, missing = (SCORERS[name](some) for name in ("LabelWords", "LabelWordsMissing"))
    for name in some.names.to_pylist():
        name_words = oracle.words(name)
        for qid, found in of_candidates(some, inside, name).items():
            label = oracle.words(LABELS.get(qid, ""))
            assert found == min(len((label & oracle.words(text)) - name_words), 3), (name, qid)
            lacking = max(len(label) - len(name_words), 0) - found
            assert of_candidates(some, missing, name)[qid] == -min(max(lacking, 0), 4), (name, qid)


# one name, two entities
RECIPE = Recipe(
    "found",
    (Part("Fame"), Part("NameMatchQuality", 3.0), Part("AlreadyLinked", 9.0), Part("PartialName", 2.0)),
    decide=Decide(-3.0, confirm=0.99),
)
TEXT = "Chris Evans, the actor, won. The other Chris Evans met Ruth Pitter and another Ruth Pitter. Evans left."


@pytest.fixture(scope="module")
def linker(kb: KB) -> Linker:
    return Linker(kb, RECIPE)


def links_of(linker: Linker, text: str, name: str) -> list[str | None]:
    return [link.best for link in linker.link_text(text) if link.name == name]


def test_the_other_one_is_not_the_first(linker: Linker) -> None:
    assert links_of(linker, TEXT, "Chris Evans") == [ACTOR, PRESENTER]
    text = "They met the other Chris Evans. Chris Evans, the actor, was ill."
    assert links_of(linker, text, "Chris Evans") == [PRESENTER, ACTOR]
    first, other = [link.confidence for link in linker.link_text(TEXT) if link.name == "Ruth Pitter"]
    assert first > 0.9
    assert other < 0.1  # there is no other


def test_the_first_one_is_that_of_its_own_text(linker: Linker) -> None:
    assert links_of(linker, "They met the other Chris Evans, an actor.", "Chris Evans") == [ACTOR]


def test_the_parts_and_the_explanation_say_so(linker: Linker) -> None:
    table = text_table(TEXT, None, None)
    links = linker.link(table, scores=True).to_pylist()
    taken = [
        sorted((c["qid"], c["parts"]["AlreadyLinked"]) for c in link["candidates"])
        for link in links
        if link["name"] in ("Chris Evans", "Ruth Pitter")
    ]
    assert taken == [
        *([(ACTOR, 0), (PRESENTER, 0)], [(ACTOR, -1), (PRESENTER, 0)]),
        *([(POET, 0)], [(POET, -1)]),
    ]
    rows = [row for row in linker.explain(table).to_pylist() if row["part"] == "AlreadyLinked"]
    told = [(row["qid"], row["matches"][0]["sources"][0]["source"]) for row in rows if row["matches"]]
    assert sorted(told) == [(ACTOR, "another of the name"), (POET, "another of the name")]


def parts(linker: Linker, text: str, part: str, mentions: list[Mention] | None = None) -> dict[str, dict[str, float]]:
    """What each candidate gets from a part, by name."""
    links = linker.link(text_table(text, mentions, None), scores=True).to_pylist()
    return {link["name"]: {c["qid"]: c["parts"][part] for c in link["candidates"]} for link in links}


@pytest.mark.parametrize("anchors", ["first", "all"])
def test_a_candidate_shares_no_statements_with_itself(kb: KB, anchors: str) -> None:
    """King states five things, one of which all people state: it is all that he shares with others of the text."""
    recipe = Recipe("r", (Part("EEIScore"), Part("SharedStatements")), anchors=anchors)
    king, luther = Mention("King", [(0, 4)], [KING]), Mention("Luther", [(9, 15)], [KING, LUTHER])
    text = "King met Luther and Ruth Pitter."
    for part in ("EEIScore", "SharedStatements"):
        shared = parts(Linker(kb, recipe), text, part, [king, luther])["Luther"]
        assert shared[KING] == 0  # he is the only anchor
        assert shared[LUTHER] != 0
    poet = Mention("Ruth Pitter", [(20, 31)], [POET])
    shared = parts(Linker(kb, recipe), text, "EEIScore", [king, luther, poet])["Luther"]
    assert shared == {KING: 1 if anchors == "all" else 0, LUTHER: 1}


def test_nor_with_the_links_of_a_first_pass(kb: KB) -> None:
    """With `confirm` of 0 all best candidates are anchors: the actor is that of the first name, King of the second."""
    recipe = Recipe("r", (Part("EEIScore"), Part("NS")), decide=Decide(0.0, confirm=0.0))
    mentions = [Mention("Evans", [(0, 5)], [ACTOR, PRESENTER]), Mention("Chris", [(10, 15)], [ACTOR, KING])]
    shared = parts(Linker(kb, recipe), "Evans met Chris.", "EEIScore", mentions)
    assert shared == {"Evans": {ACTOR: 1, PRESENTER: 1}, "Chris": {ACTOR: 0, KING: 1}}


def test_a_full_name_prefers_the_entity_with_exactly_that_name(kb: KB, linker: Linker) -> None:
    assert links_of(linker, "Martin Luther King, the activist, admired Martin Luther.", "Martin Luther") == [LUTHER]
    some = batch(kb, "Martin Luther spoke. Samuel Clemens wrote.")
    scores = SCORERS["PartialName"](some)
    assert of_candidates(some, scores, "Martin Luther") == {LUTHER: 0, KING: -1}
    assert of_candidates(some, scores, "Samuel Clemens") == {CLEMENS: 0, TWAIN: 0}


def test_one_word_means_the_entity_that_is_named_in_full_elsewhere(kb: KB) -> None:
    some = batch(kb, "Steve Jobs met Ruth Pitter. Steve left.")
    scores = SCORERS["NamedInFull"](some)
    assert of_candidates(some, scores, "Steve") == {JOBS: 1, WOZNIAK: 0}
    assert of_candidates(some, scores, "Steve Jobs") == {JOBS: 0}
    assert some.full_names[some.names.to_pylist().index("Steve")] == 1


# mutual support
SUPPORT = ("NamesCandidates", "NamedByCandidates", "SharedWithCandidates")


def test_candidates_support_each_other_in_a_second_round(kb: KB) -> None:
    """Gates is more famous, but the Clintons are married and have the same occupation."""
    text = "Bill and Hillary left for Chappaqua."
    alone = Recipe("alone", (Part("FameShare"),), decide=Decide(-4.0, confirm=0.9))
    assert links_of(Linker(kb, alone), text, "Bill") == [GATES]
    together = alone.replace(parts=(*alone.parts, *(Part(name, 5.0) for name in SUPPORT)))
    linker = Linker(kb, together)
    assert links_of(linker, text, "Bill") == [BILL]
    for name in SUPPORT:
        scores = parts(linker, text, name)["Bill"]
        assert scores[BILL] > 0, name
        assert scores[GATES] < scores[BILL]
    assert all(SCORERS[name](batch(kb, text)).tolist() == [0, 0, 0] for name in SUPPORT)  # the first round


# batches
TEXTS = [
    TEXT,
    "",
    "Bill and Hillary left.",
    "...",
    "Steve Jobs met Steve. Houston, Baker.",
    "bill clinton",
    "BILL GATES",
]


@pytest.mark.parametrize("recipe", [RECIPE, None], ids=["small", "default"])
def test_links_of_a_batch_are_those_of_single_articles(kb: KB, recipe: Recipe | None) -> None:
    linker = Linker(kb) if recipe is None else Linker(kb, recipe)
    lines = [{"id": str(number), "text": text, "title": text[:11]} for number, text in enumerate(TEXTS)]
    table = pa.Table.from_pylist(lines, schema=ARTICLES)
    together = linker.link(table, scores=True).to_pylist()
    single = [row for k in range(len(lines)) for row in linker.link(table.slice(k, 1), scores=True).to_pylist()]
    assert json.dumps(together) == json.dumps(single)
    assert together


def test_no_two_links_overlap(linker: Linker) -> None:
    for text in TEXTS:
        spans = sorted(span for link in linker.link_text(text) for span in link.spans)
        assert all(one[1] <= other[0] for one, other in pairwise(spans))
