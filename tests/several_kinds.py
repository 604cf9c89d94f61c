"""A KB of one or two entities of each kind, for tests of whatever shows or filters kinds."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from namesake.kb.build import build
from namesake.kb.store import KB
from test_build import claim, dump, item


class Known(NamedTuple):
    """An item of the dump, its kind, and the label that spaCy's models give such names."""

    label: str
    description: str
    instance_of: int
    kind: str
    spacy: str
    sitelinks: int


WORLD = {
    "Q567": Known("Angela Merkel", "German politician", 5, "person", "PERSON", 160),
    "Q90": Known("Paris", "capital and largest city of France", 515, "place", "GPE", 330),
    "Q142": Known("France", "country in Western Europe", 6256, "place", "GPE", 340),
    "Q584": Known("Rhine", "river in Western Europe", 4022, "place", "LOC", 150),
    "Q243": Known("Eiffel Tower", "tower located on the Champ de Mars in Paris", 41176, "place", "FAC", 160),
    "Q1065": Known("United Nations", "intergovernmental organization", 43229, "organisation", "ORG", 290),
    "Q17738": Known("Star Wars", "1977 film directed by George Lucas", 11424, "work", "WORK_OF_ART", 130),
    "Q362": Known("World War II", "1939–1945 global conflict", 198, "event", "EVENT", 310),
    "Q2766": Known("iPhone", "line of smartphones", 2424752, "product", "PRODUCT", 120),
    "Q4653": Known("Sherlock Holmes", "fictional detective", 15632617, "character", "PERSON", 110),
}
TEXT = (
    "Angela Merkel flew from Paris to the United Nations and spoke about World War II. Merkel crossed the Rhine, saw "
    "the Eiffel Tower in France, an iPhone, a film of Star Wars and one about Sherlock Holmes. Zorblax Quux did not."
)


def with_sitelinks(line: str, count: int) -> str:
    """A line of a dump with this many sitelinks."""
    sites = {f"s{number}wiki": {"site": f"s{number}wiki", "title": "x"} for number in range(count)}
    return json.dumps(json.loads(line) | {"sitelinks": sites})


def build_world(folder: Path) -> KB:
    """Build the KB."""
    lines = [
        with_sitelinks(
            item(int(qid[1:]), one.label, claim("P31", one.instance_of), description=one.description), one.sitelinks
        )
        for qid, one in WORLD.items()
    ]
    build([dump(folder / "world.json", *lines)], folder / "kb")
    return KB.open(folder / "kb")


def detector(*more: str) -> Callable[[Sequence[str]], list[list[tuple[int, int]]]]:
    """Finds the names of the KB, and these, where they are written."""
    names = sorted([*(one.label for one in WORLD.values()), *more], key=len, reverse=True)
    pattern = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in names))
    return lambda texts: [[match.span() for match in pattern.finditer(text)] for text in texts]
