"""Sentences whose links everybody agrees on, with KBs of real data."""

from __future__ import annotations

from pathlib import Path

import pytest

from namesake.kb.build import build
from namesake.linker import Linker

pytestmark = pytest.mark.slow

OBAMA, SANDERS, CLINTON = "Q76", "Q359442", "Q6294"

PEOPLE = {
    "Angela Merkel spoke.": {"Q567"},
    "Ban Ki-moon spoke at the United Nations on Monday.": {"Q1253"},
    "Brazil's president Bolsonaro told reporters that he would not resign.": {"Q10304982"},
    "Rihanna, the singer from Barbados, released an album.": {"Q36844"},
    "Michael Jordan, basketball player for the Chicago Bulls, retired.": {"Q41421"},
    "Beyoncé sang at the opening; the singer then left the stage.": {"Q36153"},
    "Former U.S. president Barack Obama met senator Bernie Sanders of Vermont on Monday. Obama praised Sanders, who "
    "ran against Hillary Clinton in the Democratic primary.": {OBAMA, SANDERS, CLINTON},
}
NOBODY = [
    "WASHINGTON (Reuters) - Prices rose in Paris and in Houston on Tuesday, officials in Jordan said.",
    "Dell Technologies and Walt Disney Co. rose; Calvin Klein owner PVH fell.",
    "it is common sense that prices rise, the paper said.",
]
KINDS = {
    "BERLIN (Reuters) - Germany and France asked the United Nations on Monday to act.": {"Q183", "Q142", "Q1065"},
    "The UN Security Council voted on Friday.": {"Q37470"},
    "Microsoft and Apple Inc. opened offices in Paris, officials in France said.": {"Q2283", "Q312", "Q90", "Q142"},
    "Paris Hilton, the media personality, flew from Los Angeles to Paris.": {"Q47899", "Q65", "Q90"},
    "Barack Obama spoke at Harvard University.": {OBAMA, "Q13371"},
}


@pytest.fixture(scope="module")
def people(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Linker:
    """A linker with a KB of people."""
    folder = tmp_path_factory.mktemp("world") / "people"
    build([shared / "wikidata" / "world.json.gz"], folder, keep="people")
    return Linker(folder)


@pytest.fixture(scope="module")
def everything(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Linker:
    """A linker with a KB of every kind."""
    folder = tmp_path_factory.mktemp("world") / "all"
    build([shared / "wikidata" / "world.json.gz"], folder)
    return Linker(folder)


def links(linker: Linker, text: str) -> set[str]:
    return {link.qid for link in linker.link_text(text) if link.qid}


def best(linker: Linker, text: str, name: str) -> list[tuple[str | None, str | None, float]]:
    """The link, the best candidate and the confidence of a name."""
    return [(link.qid, link.best, link.confidence or 0.0) for link in linker.link_text(text) if link.name == name]


@pytest.mark.parametrize("text", PEOPLE)
def test_people_are_linked(people: Linker, text: str) -> None:
    assert PEOPLE[text] <= links(people, text)


@pytest.mark.parametrize("text", NOBODY)
def test_nobody_is_linked(people: Linker, text: str) -> None:
    assert not links(people, text)


@pytest.mark.parametrize(
    ("text", "name", "qid"),
    [
        ("Martin Luther King Jr. admired Mahatma Gandhi and Martin Luther.", "Martin Luther", "Q9554"),
        (
            "George Martin produced the Beatles' records at Abbey Road. George R. R. Martin, the novelist, admired "
            "him.",
            *("George Martin", "Q191819"),
        ),
    ],
)
def test_a_name_beside_a_longer_one(people: Linker, text: str, name: str, qid: str) -> None:
    assert [found for _, found, _ in best(people, text, name)] == [qid]


def test_a_part_of_an_unknown_name(people: Linker) -> None:
    assert not any(qid for qid, _, _ in best(people, "Virgil van Dijk headed the equaliser.", "Virgil"))


def test_a_distance_is_no_year(people: Linker) -> None:
    [(_, _, plain)] = best(people, "Katie Ledecky won on Saturday.", "Katie Ledecky")
    [(_, _, distance)] = best(people, "Katie Ledecky won the 1500m on Saturday.", "Katie Ledecky")
    assert distance >= plain - 0.1


@pytest.mark.parametrize("name", ["Le Pen", "de Gaulle", "García Márquez"])
def test_short_forms_of_several_words_have_candidates(people: Linker, name: str) -> None:
    assert links(people, f"Many admired {name} and said so.") or best(people, f"Many admired {name}.", name)


@pytest.mark.parametrize("text", KINDS)
def test_entities_of_every_kind_are_linked(everything: Linker, text: str) -> None:
    assert KINDS[text] <= links(everything, text)


def test_links_have_kinds(everything: Linker) -> None:
    found = everything.link_text("Barack Obama visited France and the United Nations.")
    assert {link.kind for link in found if link.qid} >= {"person", "place", "organisation"}


def test_kinds_filter_links(everything: Linker) -> None:
    only = Linker(everything.kb, kinds="people")
    assert links(only, "Angela Merkel flew from Berlin to Paris.") == {"Q567"}
