"""A surname that several people of a text share: confidence is shared, too, unless gender or years decide."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from namesake.articles.builder import text_table
from namesake.kb.build import build
from namesake.linker import Linker
from test_doubts_found import item

MARIE, PIERRE = "Q100", "Q101"
TOGETHER = "Marie Curie and Pierre Curie worked together."
APART = "Marie Curie worked in Paris. Pierre Curie worked with her."
LIVES = {MARIE: (1867, 1934), PIERRE: (1859, 1906)}


def date(name: str, year: int) -> dict:
    """The statement of a date, to the year."""
    value = {"time": f"+{year}-01-01T00:00:00Z", "precision": 9, "timezone": 0, "before": 0, "after": 0}
    value |= {"calendarmodel": "http://www.wikidata.org/entity/Q1985727"}
    snak = {"snaktype": "value", "property": name, "datavalue": {"type": "time", "value": value}, "datatype": "time"}
    return {name: [{"mainsnak": snak, "rank": "normal"}]}


def gender(number: int) -> dict:
    """The statement of somebody's gender."""
    value = {"entity-type": "item", "id": f"Q{number}", "numeric-id": number}
    snak = {"snaktype": "value", "property": "P21", "datavalue": {"type": "wikibase-entityid", "value": value}}
    return {"P21": [{"mainsnak": snak, "rank": "normal"}]}


@pytest.fixture(scope="module")
def linker(tmp_path_factory: pytest.TempPathFactory) -> Linker:
    folder: Path = tmp_path_factory.mktemp("shared")
    people = [
        item(100, "Marie Curie", 90, "Q5", "physicist"),
        item(101, "Pierre Curie", 90, "Q5", "physicist"),
    ]
    for person, sex in zip(people, (6581072, 6581097), strict=True):
        born, died = LIVES[person["id"]]
        person["claims"] |= date("P569", born) | date("P570", died) | gender(sex)
    (folder / "dump.json").write_text("[\n" + ",\n".join(map(json.dumps, people)) + "\n]\n")
    build([folder / "dump.json"], folder / "kb", keep="people")
    return Linker(folder / "kb", threshold=0.0)


def shares(linker: Linker, text: str) -> dict[str, float]:
    """The confidence in each candidate of the surname as a mention of its own."""
    rows = linker.explain(text_table(text, None, None)).to_pylist()
    return {row["qid"]: row["confidence"] for row in rows if row["name"] == "Curie" and row["qid"]}


def test_without_evidence_confidence_is_shared(linker: Linker) -> None:
    both = shares(linker, f"{TOGETHER} Curie was tired.")
    assert both[MARIE] == pytest.approx(both[PIERRE], rel=0.35)  # he has been dead for longer
    assert max(both.values()) < 0.6


def test_the_last_one_named_is_likelier_if_a_sentence_lies_between(linker: Linker) -> None:
    both = shares(linker, f"{APART} Curie was tired.")
    assert 2 < both[PIERRE] / both[MARIE] < 5


@pytest.mark.parametrize(
    ("sentence", "likelier"),
    [
        ("Curie won a second prize in 1911.", MARIE),  # he died in 1906
        ("In 1930, Curie was tired.", MARIE),
        ("Curie taught in 1876.", PIERRE),  # she was nine
    ],
)
def test_years_of_the_sentence_decide(linker: Linker, sentence: str, likelier: str) -> None:
    for before in (TOGETHER, APART):
        both = shares(linker, f"{before} {sentence}")
        assert both[likelier] > 5 * min(both.values())


@pytest.mark.parametrize(
    "text",
    [
        f"{TOGETHER} Curie was tired in 1900.",  # both lived
        f"{TOGETHER} It was 1911. Curie was tired.",  # in another sentence
        f"{TOGETHER} Curie was tired in 1990.",  # neither lived
    ],
)
def test_other_years_decide_nothing(linker: Linker, text: str) -> None:
    both = shares(linker, text)
    assert both[MARIE] == pytest.approx(both[PIERRE], rel=0.35)  # other parts look at all the years of a text


def test_lifetime_is_a_part_of_shared_surnames_only(linker: Linker) -> None:
    table = text_table(f"{TOGETHER} Curie won a second prize in 1911.", None, None)
    parts = {
        (link["name"], candidate["qid"]): candidate["parts"]["OutsideLifetime"]
        for link in linker.link(table, scores=True).to_pylist()
        for candidate in link["candidates"]
    }
    assert parts == {
        ("Marie Curie", MARIE): 0, ("Pierre Curie", PIERRE): 0, ("Curie", MARIE): 0, ("Curie", PIERRE): -1,
    }  # fmt: skip


def test_gender_decides_alone(linker: Linker) -> None:
    links = linker.link_text(f"{TOGETHER} Curie said she was tired. Mr Curie left.")
    assert [(link.best, len(link.spans)) for link in links] == [(MARIE, 2), (PIERRE, 2)]
