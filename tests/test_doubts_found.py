"""Doubts about names that were found in raw text: each against what can be counted in a KB made by hand."""

from __future__ import annotations

import json
import math

import pytest

from namesake.articles.builder import text_table
from namesake.doubts import DOUBTS
from namesake.kb.build import build
from namesake.kb.store import KB
from namesake.kernels.names.constants import FAME_STEPS as STEPS
from test_signals import batch_of

PEOPLE = {
    "Paul Simon": 80,
    "Ann Smith": 9,
    "Mary Jones": 7,
    "Adam Smith": 30,
    "Sam Houston": 20,
    "Whitney Houston": 60,
    "Lionel Messi": 100,
    "George Bush": 90,
    "Siméon Denis Poisson": 40,
    "Frank Wilczek": 50,
    "Sergey Lavrov": 45,
    "Sergei Popov": 5,
    "Rihanna": 70,
    "Tom Baker": 25,
    "Shawn Williams": 12,
    "Vera Quill": 15,
    "Franklin Roosevelt": 150,
    "Winston Churchill": 200,
}
"""Sitelinks by label."""
THING, FAME = "Houston", 120
DESCRIPTION = "a baker of bread; no other baker"
DESCRIPTIONS = {"Mary Jones": DESCRIPTION, "Vera Quill": "American journalist, known for little"}
"""Of somebody who is not called baker, and of one who writes."""

OF_THE_NAME = {"Constant", "ExpectedNamesakes", "ArticleLength", "NameFame"}
"""Doubts that need no found name."""


def item(number: int, label: str, sitelinks: int, kind: str, description: str = "") -> dict:
    value = {"entity-type": "item", "id": kind, "numeric-id": int(kind[1:])}
    snak = {"snaktype": "value", "property": "P31", "datavalue": {"type": "wikibase-entityid", "value": value}}
    pages = [f"w{k}wiki" for k in range(sitelinks)]
    return {
        "type": "item",
        "id": f"Q{number}",
        "labels": {"en": {"language": "en", "value": label}},
        "descriptions": {"en": {"language": "en", "value": description}} if description else {},
        "claims": {"P31": [{"mainsnak": snak, "rank": "normal"}]},
        "sitelinks": {site: {"site": site, "title": label} for site in pages},
    }


@pytest.fixture(scope="module")
def kb(tmp_path_factory) -> KB:
    folder = tmp_path_factory.mktemp("found")
    people = [
        item(100 + k, label, sitelinks, "Q5", DESCRIPTIONS.get(label, ""))
        for k, (label, sitelinks) in enumerate(PEOPLE.items())
    ]
    items = [*people, item(900, THING, FAME, "Q515"), item(515, "city", 50, "Q16889133")]
    (folder / "dump.json").write_text("[\n" + ",\n".join(map(json.dumps, items)) + "\n]\n")
    build([folder / "dump.json"], folder / "kb", keep="people")
    return KB.open(folder / "kb")


def bearers(word: str) -> list[int]:
    """Sitelinks of those whose label has the word as its first or last."""
    return [links for label, links in PEOPLE.items() if word in (label.split()[0], label.split()[-1])]


def doubts(kb: KB, text: str, name: str) -> dict[str, float]:
    """The doubts about a name in a text that are not 0."""
    batch = batch_of(kb, text_table(text, None, None))
    place = batch.names.to_pylist().index(name)
    found = {each: float(DOUBTS[each](batch)[place]) for each in DOUBTS if each not in OF_THE_NAME}
    return {each: value for each, value in found.items() if value}


def one_word(word: str) -> dict[str, float]:
    """What any lone word is doubted for: that it is one, and how many bear it."""
    return {"OneWord": 1.0, "NamesakeCount": math.log1p(len(bearers(word)))}


def thing(word: str) -> dict[str, float]:
    """What a thing of that name, in the KB's steps of fame, adds to it."""
    fame = math.expm1(round(STEPS * math.log1p(FAME)) / STEPS)
    return {"OtherEntityFame": math.log1p(fame), "OtherEntityShare": math.log1p(fame / max(bearers(word)))}


CASES = {
    "goes on": ("Then Paul Simon Smith sang. Paul Simon left.", "Paul Simon", {"NameContinues": 1 / 2}),
    "comes": ("Then Mary Ann Smith sang. Ann Smith left. We saw Ann Smith.", "Ann Smith", {"FirstNameBefore": 1 / 3}),
    "suffix": ("We saw Shawn Williams Jr. there. Then Shawn Williams left.", "Shawn Williams", {"SuffixAfter": 1 / 2}),
    "byline": ("By Tom Baker\n\nThe bread is good.", "Tom Baker", {"Byline": 1.0}),
    "a credit": ("The bread is good. Photo: Tom Baker/AP", "Tom Baker", {"Byline": 1.0}),
    "a journalist's byline": ("By Vera Quill\n\nThe bread is good.", "Vera Quill", {}),
    "no byline": ("We saw Tom Baker there.", "Tom Baker", {}),
    "behind in": (
        "Prices rose in Houston on Monday.",
        "Houston",
        {**one_word("Houston"), **thing("Houston"), "PlaceContext": 1},
    ),
    "behind to": (
        "They flew to Houston on Monday.",
        "Houston",
        {**one_word("Houston"), **thing("Houston"), "PlaceContext": 0.5},
    ),
    "singer": (
        "We saw the singer Houston there.",
        "Houston",
        {**one_word("Houston"), **thing("Houston"), "RoleBefore": 1},
    ),
    "striker": ("The striker Messi scored.", "Messi", {**one_word("Messi"), "RoleBefore": 1}),
    "mononym": ("Then Rihanna sang.", "Rihanna", one_word("Rihanna")),
    "two of them": ("Then Smith sang.", "Smith", one_word("Smith")),
    "a first name": ("Then Lionel sang.", "Lionel", {**one_word("Lionel"), "FirstNameOnly": 1}),
    "famous names together": (
        "Roosevelt met Churchill and Smith there.",
        "Roosevelt",
        {**one_word("Roosevelt"), "FamousNearby": 1},
    ),
    "a little-known name beside a famous one": ("Then Smith met Churchill.", "Smith", one_word("Smith")),
    "a famous name and a far one": (
        f"Roosevelt came. {'It rained and it poured all day. ' * 3}Churchill left.",
        "Roosevelt",
        one_word("Roosevelt"),
    ),
    "a famous name again": ("Roosevelt came. Roosevelt left.", "Roosevelt", one_word("Roosevelt")),
    "a mere word": (
        "Then Baker sang.",
        "Baker",
        {**one_word("Baker"), "LowercaseUse": math.log1p(DESCRIPTION.count("baker"))},
    ),
    "title": (
        "Then President Bush spoke.",
        "Bush",
        {"NamesakeCount": math.log1p(len(bearers("Bush"))), "TitleBefore": 1},
    ),
    "part of a name": ("The work of Siméon Poisson is known.", "Siméon Poisson", {"VariantMatch": 1}),
    "a word more": ("We met Frank R. Wilczek there.", "Frank R. Wilczek", {"ExtraWords": 1}),
    "another spelling": ("We met Sergei Lavrov there.", "Sergei Lavrov", {"Misspelling": 1}),
}


@pytest.mark.parametrize("case", CASES)
def test_what_can_be_counted(kb, case):
    text, name, wanted = CASES[case]
    assert doubts(kb, text, name) == pytest.approx(wanted, rel=1e-5)


def test_every_doubt_has_a_case():
    found = {name for name, doubt in DOUBTS.items() if doubt.module.startswith("namesake.")} - OF_THE_NAME
    assert found == {name for _, _, wanted in CASES.values() for name in wanted}
