"""The small world that the hostile tests attack: a KB without an empty column, articles, a recipe that reads all."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hostile.sandbox import Sandbox

TEXT = (
    "Chris Carter and Michael Jordan met Michael Strahan in New York. The writer of The X-Files is a player, "
    "said Mr. Carter, a senator. Ann B. Example, mayor of Chester, was there; so was Bob Example Inc. of London."
)
SCORERS = (
    *("IScore", "NIScore", "IScore_IDF", "EEIScore", "SharedStatements", "OfficeHeld"),
    *("NP", "NS", "PR_WD", "PR_WP", "NotYetBorn", "YearsFromLifetime", "AliasName"),
)
QID = "Q437267"
"""Somebody of the sample, called NAME."""
NAME = "Chris Carter"


@dataclass(frozen=True)
class World:
    """Files in a folder; nobody changes them."""

    folder: Path

    @property
    def dump(self) -> Path:
        """The dump that `kb` was built from."""
        return self.folder / "dump.json"

    @property
    def wikipedia(self) -> Path:
        """First paragraphs and links of a few pages."""
        return self.folder / "wikipedia.json"

    @property
    def kb(self) -> Path:
        """A KB without an empty column."""
        return self.folder / "kb"

    @property
    def articles(self) -> Path:
        """Articles with and without mentions, candidates and dates."""
        return self.folder / "articles.jsonl"

    @property
    def recipe(self) -> Path:
        """A recipe that reads every column that linking can read."""
        return self.folder / "everything.toml"


def make_world(folder: Path, sandbox: Sandbox) -> World:
    """Write the files and build the KB."""
    world = World(folder)
    play = folder / "play"
    _must(sandbox, "sample", play)
    entities = [json.loads(line.strip().rstrip(",")) for line in (play / "dump.json").read_text().splitlines()[1:-1]]
    write_dump(world.dump, [*entities, *_people()])
    world.wikipedia.write_text("".join(_pages(entities)))
    world.recipe.write_text(_recipe())
    own = [{"id": "own", "text": TEXT, "date": "1999-05-01"}, _given()]
    world.articles.write_text(
        (play / "articles.jsonl").read_text() + "".join(json.dumps(article) + "\n" for article in own)
    )
    _must(sandbox, "kb", "build", world.dump, "--wikipedia", world.wikipedia, "--out", world.kb)
    # Kernels are compiled here, for minutes where nothing has been, and not within a test's seconds.
    for recipe in ("default", world.recipe):
        _must(sandbox, "link", world.articles, "--kb", world.kb, "--recipe", recipe, "-o", folder / "links.jsonl")
    return world


def write_dump(path: Path, entities: list[dict[str, Any]]) -> None:
    """A dump as Wikidata writes it: a JSON array, one entity on each line."""
    path.write_text("[\n" + ",\n".join(json.dumps(entity, separators=(",", ":")) for entity in entities) + "\n]\n")


def person(qid: int, label: str, aliases: tuple[str, ...] = (), **claims: list[dict[str, Any]]) -> dict[str, Any]:
    """A person in the dump's layout."""
    return {
        "type": "item",
        "id": f"Q{qid}",
        "labels": {"en": {"language": "en", "value": label}},
        "descriptions": {"en": {"language": "en", "value": f"{label} of Chester, senator and writer"}},
        "aliases": {"en": [{"language": "en", "value": alias} for alias in aliases]},
        "claims": {"P31": [item_claim("P31", 5)], **claims},
        "sitelinks": {"enwiki": {"site": "enwiki", "title": f"{label} (senator)"}},
    }


def item_claim(prop: str, qid: int, since: int | None = None) -> dict[str, Any]:
    """A statement with an item as its value, from a year on."""
    value = {"entity-type": "item", "numeric-id": qid, "id": f"Q{qid}"}
    claim = {**_claim(prop, "wikibase-item", {"value": value, "type": "wikibase-entityid"})}
    if since is not None:
        start = _claim("P580", "time", _time(since))["mainsnak"]
        end = _claim("P582", "time", _time(since + 4))["mainsnak"]
        claim["qualifiers"] = {"P580": [start], "P582": [end]}
    return claim


def _claim(prop: str, datatype: str, value: dict[str, Any]) -> dict[str, Any]:
    snak = {"snaktype": "value", "property": prop, "datatype": datatype, "datavalue": value}
    return {"mainsnak": snak, "type": "statement", "rank": "normal"}


def _time(year: int) -> dict[str, Any]:
    value = {"time": f"+{year:04}-01-01T00:00:00Z", "timezone": 0, "before": 0, "after": 0, "precision": 9}
    return {"value": {**value, "calendarmodel": "http://www.wikidata.org/entity/Q1985727"}, "type": "time"}


def _people() -> list[dict[str, Any]]:
    """Two namesakes with offices that they held for a time, a birth, a death, a string, and an item with aliases."""
    office = person(900, "senator of Chester", ("senate member", "senators"))
    office["claims"] = {}
    text = _claim("P1449", "string", {"value": "Annie of The X-Files", "type": "string"})
    born, died = _claim("P569", "time", _time(1950)), _claim("P570", "time", _time(2010))
    first = person(901, "Ann Example", ("Annie Example",), P39=[item_claim("P39", 900, 1996)], P1449=[text])
    second = person(902, "Ann Example", ("A. Example",), P39=[item_claim("P39", 900, 1886)], P569=[born], P570=[died])
    return [office, first, second]


def _pages(entities: list[dict[str, Any]]) -> list[str]:
    """A CirrusSearch dump: each person's page links to the next."""
    titled = [(e["id"], e["labels"]["en"]["value"]) for e in entities if e["id"][0] == "Q" and "en" in e["labels"]][
        -90:
    ]
    lines = []
    for (qid, title), (_, following) in zip(titled, titled[1:] + titled[:1], strict=True):
        page = {"title": f"{title} ({qid})", "namespace": 0, "wikibase_item": qid}
        page |= {"opening_text": f"{title} is a writer and player from New York.", "outgoing_link": [following]}
        lines += [json.dumps({"index": {"_id": qid}}) + "\n", json.dumps(page) + "\n"]
    return lines


def _given() -> dict[str, Any]:
    """An article whose mentions have spans and candidates, one of whom no KB has."""
    names = ("Chris Carter", "Michael Jordan")
    candidates = (["Q437267", "Q1017050", "Q999999999"], ["Q41421", "Q6831716"])
    spans = [[[TEXT.index(name), TEXT.index(name) + len(name)]] for name in names]
    mentions = [{"name": n, "spans": s, "candidates": c} for n, s, c in zip(names, spans, candidates, strict=True)]
    return {"id": "given", "text": TEXT, "date": "2008-05-01", "mentions": mentions, "desk": "news"}


def _recipe() -> str:
    parts = "".join(f'[[parts]]\nscorer = "{scorer}"\nweight = 0.5\nscale = "log1p"\n' for scorer in SCORERS)
    options = (
        'anchors = "all"\ncontext = "both"\nwords = "D+S_A+P"\nvariants = "always"\ntie_break = ["PR_WP", "LQID"]\n'
    )
    return f'name = "everything"\n{options}{parts}[decide]\nnil = 1.0\nalone = 0.5\nconfirm = 0.9\n'


def _must(sandbox: Sandbox, *argv: str | Path) -> None:
    outcome = sandbox.run(*argv, seconds=600)
    if outcome.kind != "done":
        raise RuntimeError(f"the world of the hostile tests cannot be made: {outcome}")
