"""Two people of one text with the same or similar names: the other Chris Evans; Martin Luther beside King."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from namesake.articles.article import Mention
from namesake.articles.builder import text_table
from namesake.kb.build import build
from namesake.linker import Linker
from namesake.recipe import Decide, Part, Recipe
from test_doubts_found import item

ACTOR, PRESENTER, POET = "Q100", "Q101", "Q102"
KING, LUTHER, JOBS, WOZNIAK, CLEMENS, TWAIN = "Q103", "Q104", "Q105", "Q106", "Q107", "Q108"
TEXT = "Chris Evans, the actor, won. The other Chris Evans met Ruth Pitter and the other Ruth Pitter. Evans left."


@pytest.fixture(scope="module")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    folder: Path = tmp_path_factory.mktemp("other")
    people = [
        item(100, "Chris Evans", 90, "Q5", "American actor"),
        item(101, "Chris Evans", 40, "Q5", "British presenter"),
        item(102, "Ruth Pitter", 30, "Q5", "British poet"),
        item(103, "Martin Luther King", 210, "Q5", "American civil rights leader, pastor and activist in Atlanta"),
        item(104, "Martin Luther", 200, "Q5", "Saxon theologian"),
        item(105, "Steve Jobs", 90, "Q5", "American businessman"),
        item(106, "Steve Wozniak", 60, "Q5", "American engineer"),
        item(107, "Samuel Clemens", 5, "Q5", "British rower"),
        item(108, "Mark Twain", 90, "Q5", "American author"),
    ]
    people[3]["claims"] |= dict.fromkeys(("P106", "P69", "P102", "P27"), people[0]["claims"]["P31"])
    people[8]["aliases"] = {"en": [{"language": "en", "value": "Samuel Clemens"}]}
    (folder / "dump.json").write_text("[\n" + ",\n".join(map(json.dumps, people)) + "\n]\n")
    build([folder / "dump.json"], folder / "kb", keep="people")
    return Linker(folder / "kb", threshold=0.0)


def test_the_other_one_is_not_the_first(linker: Linker) -> None:
    links = linker.link_text(TEXT)
    assert [(link.name, link.best) for link in links] == [
        ("Chris Evans", ACTOR), ("Chris Evans", PRESENTER), ("Ruth Pitter", POET), ("Ruth Pitter", POET),
    ]  # fmt: skip
    assert links[3].confidence is not None
    assert links[3].confidence < 1e-3  # there is no other


def test_it_may_come_before_the_first_one(linker: Linker) -> None:
    text = "They met the other Chris Evans. Chris Evans, the actor, was ill."
    assert [link.best for link in linker.link_text(text)] == [PRESENTER, ACTOR]


def test_another_text_s_first_one_does_not_count(linker: Linker) -> None:
    assert [link.best for link in linker.link_text("They met the other Chris Evans, an actor.")] == [ACTOR]


def test_the_parts_and_the_explanation_say_so(linker: Linker) -> None:
    table = text_table(TEXT, None, None)
    links = linker.link(table, scores=True).to_pylist()
    taken = [[(c["qid"], c["parts"]["AlreadyLinked"]) for c in link["candidates"]] for link in links]
    assert [sorted(each) for each in taken] == [
        [(ACTOR, 0), (PRESENTER, 0)], [(ACTOR, -1), (PRESENTER, 0)], [(POET, 0)], [(POET, -1)],
    ]  # fmt: skip
    rows = [row for row in linker.explain(table).to_pylist() if row["part"] == "AlreadyLinked"]
    told = [(row["qid"], row["matches"][0]["sources"][0]["source"]) for row in rows if row["matches"]]
    assert sorted(told) == [(ACTOR, "another of the name"), (POET, "another of the name")]


# similar names
def parts(linker: Linker, text: str, part: str, mentions: list[Mention] | None = None) -> dict[str, dict[str, float]]:
    """What each candidate gets from a part, by name."""
    links = linker.link(text_table(text, mentions, None), scores=True).to_pylist()
    return {link["name"]: {c["qid"]: c["parts"][part] for c in link["candidates"]} for link in links}


@pytest.mark.parametrize("anchors", ["first", "all"])
def test_a_candidate_shares_no_statements_with_itself(linker: Linker, anchors: str) -> None:
    """King states five things, one of which all people state: it is all that he shares with others of the text."""
    recipe = Recipe("r", (Part("EEIScore"), Part("SharedStatements")), anchors=anchors)
    two, three = "Martin Luther King met Martin Luther.", "Martin Luther King met Martin Luther and Ruth Pitter."
    for part in ("EEIScore", "SharedStatements"):
        shared = parts(Linker(linker.kb, recipe), two, part)["Martin Luther"]
        assert shared[KING] == 0  # he is the only anchor
        assert shared[LUTHER] != 0
    shared = parts(Linker(linker.kb, recipe), three, "EEIScore")["Martin Luther"]
    assert shared == {KING: 1 if anchors == "all" else 0, LUTHER: 1}


def test_nor_with_the_links_of_a_first_pass(linker: Linker) -> None:
    """With `confirm` of 0 all best candidates are anchors: the actor is that of the first name, King of the second."""
    recipe = Recipe("r", (Part("EEIScore"), Part("NS")), decide=Decide(0.0, confirm=0.0))
    mentions = [Mention("Evans", [(0, 5)], [ACTOR, PRESENTER]), Mention("Chris", [(10, 15)], [ACTOR, KING])]
    shared = parts(Linker(linker.kb, recipe), "Evans met Chris.", "EEIScore", mentions)
    assert shared == {"Evans": {ACTOR: 1, PRESENTER: 1}, "Chris": {ACTOR: 0, KING: 1}}


def test_a_full_name_prefers_who_has_exactly_that_name(linker: Linker) -> None:
    for text in (
        "Martin Luther, a pastor, spoke in Atlanta.",
        "Martin Luther King, the activist, admired Martin Luther.",
    ):
        named = {link.name: link.best for link in linker.link_text(text)}
        assert named["Martin Luther"] == LUTHER, text
    assert parts(linker, "Martin Luther spoke.", "PartialName") == {"Martin Luther": {KING: -1, LUTHER: 0}}
    assert parts(linker, "Martin Luther spoke.", "NamedInFull") == {"Martin Luther": {KING: 0, LUTHER: 0}}


def test_an_alias_is_a_name_in_its_own_right(linker: Linker) -> None:
    assert parts(linker, "Samuel Clemens wrote.", "PartialName") == {"Samuel Clemens": {CLEMENS: 0, TWAIN: 0}}


def test_one_word_means_who_is_named_in_full_elsewhere(linker: Linker) -> None:
    text = "Steve Jobs met Steve Wozniak. Steve left."
    assert parts(linker, text, "NamedInFull")["Steve"] == {JOBS: 1, WOZNIAK: 1}
    assert parts(linker, "Steve Jobs met Ruth Pitter.", "NamedInFull")["Steve Jobs"] == {JOBS: 0}
    text = "Martin Luther King met Martin Luther."
    assert parts(linker, text, "NamedInFull")["Martin Luther"] == {KING: -1, LUTHER: 0}
    rows = linker.explain(text_table(text, None, None)).to_pylist()
    [told] = [row for row in rows if row["part"] == "NamedInFull" and row["matches"]]
    assert (told["qid"], told["matches"][0]["sources"][0]["value"]) == (KING, "Martin Luther King")
