"""Input of any size in shapes that might grow faster than it: each writes its files and says which command to time."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import accumulate, cycle, islice
from pathlib import Path
from typing import Any

NAMES = ("Chris Carter", "Michael Jordan", "Michael Strahan", "Tim Wheeler", "John Smith")

Commands = list[tuple[str | Path, ...]]
Shape = Callable[[int, Path, Path], Commands]
"""From a size, a folder to write to and the sample's KB to arguments of `namesake`: the last is timed."""

SHAPES: dict[str, Shape] = {}


def shape(what: str) -> Callable[[Shape], Shape]:
    """Register a shape under what its n counts."""

    def register(make: Shape) -> Shape:
        SHAPES[what] = make
        return make

    return register


def link(folder: Path, kb: Path, *articles: dict[str, Any]) -> Commands:
    """Link these articles, found names and all."""
    path = folder / "articles.jsonl"
    with path.open("w") as file:
        file.writelines(json.dumps({"id": str(k), **article}) + "\n" for k, article in enumerate(articles))
    return [("link", path, "--kb", kb, "-o", folder / "links.parquet")]


def names(n: int) -> list[str]:
    return list(islice(cycle(NAMES), n))


def mention(name: str, *spans: list[int], **more: Any) -> dict[str, Any]:
    return {"name": name, "spans": list(spans), **more}


# the text of one article


@shape("names in one sentence")
def one_sentence(n: int, folder: Path, kb: Path) -> Commands:
    return link(folder, kb, {"text": " and ".join(names(n)) + " met."})


@shape("names joined by commas")
def commas(n: int, folder: Path, kb: Path) -> Commands:
    return link(folder, kb, {"text": ", ".join(names(n))})


@shape("sentences of one name each")
def sentences(n: int, folder: Path, kb: Path) -> Commands:
    return link(folder, kb, {"text": " ".join(f"{name} spoke." for name in names(n))})


@shape("letters of one token")
def one_token(n: int, folder: Path, kb: Path) -> Commands:
    return link(folder, kb, {"text": "X" + "x" * n})


@shape("capitalised words that are no names")
def capitals(n: int, folder: Path, kb: Path) -> Commands:
    return link(folder, kb, {"text": " ".join(f"Zz{k % 977}q" for k in range(n))})


@shape("full stops in a row")
def stops(n: int, folder: Path, kb: Path) -> Commands:
    return link(folder, kb, {"text": "Chris Carter" + "." * n})


@shape("surnames first, as in an index")
def reversed_names(n: int, folder: Path, kb: Path) -> Commands:
    return link(folder, kb, {"text": "Carter, Chris; " * n})


@shape("initials in a row")
def initials(n: int, folder: Path, kb: Path) -> Commands:
    return link(folder, kb, {"text": "A. " * n + "Carter"})


@shape("letters of one given name")
def long_name(n: int, folder: Path, kb: Path) -> Commands:
    text = "C" + "h" * n
    return link(folder, kb, {"text": text, "mentions": [mention(text, [0, n + 1])]})


# given mentions


@shape("mentions that span the whole text")
def whole_text_mentions(n: int, folder: Path, kb: Path) -> Commands:
    text = " ".join(names(n // 5 + 1))
    return link(folder, kb, {"text": text, "mentions": [mention(NAMES[0], [0, len(text)])] * n})


@shape("spans of the whole text in one mention")
def whole_text_spans(n: int, folder: Path, kb: Path) -> Commands:
    text = " ".join(names(n // 5 + 1))
    return link(folder, kb, {"text": text, "mentions": [mention(NAMES[0], *[[0, len(text)]] * n)]})


@shape("mentions, each in its place")
def mentions(n: int, folder: Path, kb: Path) -> Commands:
    text = ". ".join([NAMES[0]] * n)
    return link(folder, kb, {"text": text, "mentions": [mention(NAMES[0], [14 * k, 14 * k + 12]) for k in range(n)]})


def given(n: int, between: str) -> dict[str, Any]:
    """An article of n different names, each given with its place and two candidates."""
    people = [f"Ann{k} Example" for k in range(n)]
    ends = list(accumulate(len(person) + len(between) for person in people))
    places = [[end - len(between) - len(person), end - len(between)] for person, end in zip(people, ends, strict=True)]
    two = ["Q437267", "Q1017050"]
    mentions = [mention(person, place, candidates=two) for person, place in zip(people, places, strict=True)]
    return {"text": between.join(people), "mentions": mentions}


@shape("different names given in one sentence")
def given_sentence(n: int, folder: Path, kb: Path) -> Commands:
    return link(folder, kb, given(n, " the American writer and "))


@shape("different names given, joined by commas")
def given_commas(n: int, folder: Path, kb: Path) -> Commands:
    return link(folder, kb, given(n, ", American writer, "))


@shape("mentions of different names")
def different_names(n: int, folder: Path, kb: Path) -> Commands:
    return link(folder, kb, {"text": NAMES[0], "mentions": [mention(f"Name{k} Sur{k}", [0, 12]) for k in range(n)]})


@shape("candidates of one mention")
def candidates(n: int, folder: Path, kb: Path) -> Commands:
    qids = [f"Q{k + 1}" for k in range(n)]
    return link(folder, kb, {"text": NAMES[0], "mentions": [mention(NAMES[0], [0, 12], candidates=qids)]})


# many articles, odd lines


@shape("tiny articles")
def tiny(n: int, folder: Path, kb: Path) -> Commands:
    return link(folder, kb, *({"text": f"{name} spoke."} for name in names(n)))


@shape("lines set aside")
def rejects(n: int, folder: Path, kb: Path) -> Commands:
    return link(folder, kb, {"text": NAMES[0]}, *[{"no": "article"}] * n)


@shape("levels of nested JSON")
def nested(n: int, folder: Path, kb: Path) -> Commands:
    commands = link(folder, kb, {"text": NAMES[0]})
    with (folder / "articles.jsonl").open("a") as file:
        file.write('{"id": "1", "text": "x", "more": ' + "[" * n + "]" * n + "}\n")
    return commands


@shape("bytes of an unknown field, with 100 mentions")
def unknown_field(n: int, folder: Path, kb: Path) -> Commands:
    return link(folder, kb, {"text": NAMES[0], "html": "x" * n, "mentions": [mention(NAMES[0], [0, 12])] * 100})


# data sets


def convert(path: Path, reader: str) -> Commands:
    articles, gold = path.with_name("a.jsonl"), path.with_name("g.jsonl")
    return [("datasets", "convert", path, "--reader", reader, "--articles", articles, "--gold", gold)]


@shape("times one surface in ZELDA")
def zelda(n: int, folder: Path, kb: Path) -> Commands:
    spans = [[7 * k, 7 * k + 6] for k in range(n)]
    record = {"id": 1, "text": "Carter " * n, "index": spans, "wikipedia_titles": ["X"] * n, "wikipedia_ids": [1] * n}
    (folder / "zelda.jsonl").write_text(json.dumps(record) + "\n")
    return convert(folder / "zelda.jsonl", "zelda")


@shape("tokens of one article in AIDA's lines")
def aida(n: int, folder: Path, kb: Path) -> Commands:
    (folder / "aida.tsv").write_text("-DOCSTART- (1 EU)\n" + "Carter\tB\tCarter\tChris_Carter\nspoke\n" * (n // 2))
    return convert(folder / "aida.tsv", "aida-tsv")


@shape("annotations of one article in NIF")
def nif(n: int, folder: Path, kb: Path) -> Commands:
    prefixes = (
        "@prefix n: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .\n"
        "@prefix i: <http://www.w3.org/2005/11/its/rdf#> .\n"
    )
    with (folder / "corpus.ttl").open("w") as file:
        file.write(f'{prefixes}<http://e/a> a n:Context ; n:isString "{"Carter " * n}" .\n')
        for k in range(n):
            place = f'n:beginIndex "{7 * k}" ; n:endIndex "{7 * k + 6}" ; n:anchorOf "Carter"'
            entity = "i:taIdentRef <http://www.wikidata.org/entity/Q5>"
            file.write(f"<http://e/a{k}> {place} ; n:referenceContext <http://e/a> ; {entity} .\n")
    return convert(folder / "corpus.ttl", "nif")


@shape("mentions with gold to evaluate")
def evaluate(n: int, folder: Path, kb: Path) -> Commands:
    with (folder / "scores.jsonl").open("w") as scores, (folder / "gold.jsonl").open("w") as gold:
        for k in range(n):
            key = {"articleID": str(k // 20), "name": f"n{k % 20}"}
            scores.writelines(json.dumps({**key, "candidate": c, "qid": f"Q{c + 1}", "NS": c}) + "\n" for c in (0, 1))
            gold.write(json.dumps({**key, "gold": 1}) + "\n")
    out = ("--out", folder / "report", "--samples", "100")
    return [("evaluate", "--scores", folder / "scores.jsonl", "--gold", folder / "gold.jsonl", *out)]


# dumps


def person(qid: int, label: str, aliases: list[str] | None = None, values: int = 0) -> str:
    """A person in the dump's layout who states that many things."""
    claims = [_claim("P31", 5), *(_claim("P106", 10_000_000 + k) for k in range(values))]
    entity = {
        "type": "item",
        "id": f"Q{qid}",
        "labels": {"en": {"language": "en", "value": label}},
        "descriptions": {"en": {"language": "en", "value": "American writer"}},
        "aliases": {"en": [{"language": "en", "value": alias} for alias in aliases or ()]},
        "claims": {"P31": claims[:1], "P106": claims[1:]},
        "sitelinks": {},
    }
    return json.dumps(entity, separators=(",", ":"))


def _claim(prop: str, qid: int) -> dict[str, Any]:
    value = {"entity-type": "item", "numeric-id": qid, "id": f"Q{qid}"}
    snak = {"snaktype": "value", "property": prop, "datatype": "wikibase-item"}
    datavalue = {"value": value, "type": "wikibase-entityid"}
    return {"mainsnak": {**snak, "datavalue": datavalue}, "type": "statement", "rank": "normal"}


def build(folder: Path, lines: list[str]) -> Commands:
    (folder / "dump.json").write_text("\n".join(lines) + "\n")
    return [("kb", "build", folder / "dump.json", "--out", folder / "kb", "--force")]


@shape("aliases of one person in a dump")
def aliases(n: int, folder: Path, kb: Path) -> Commands:
    return build(folder, [person(1001, "Ann Example", [f"Ann{k} Example" for k in range(n)])])


@shape("statements of one person in a dump")
def statements(n: int, folder: Path, kb: Path) -> Commands:
    return build(folder, [person(1001, "Ann Example", values=n)])


@shape("bearers of one name in a dump")
def bearers(n: int, folder: Path, kb: Path) -> Commands:
    return build(folder, [person(1001 + k, "Ann Example") for k in range(n)])


@shape("records of one QID in a dump")
def repeated(n: int, folder: Path, kb: Path) -> Commands:
    return build(folder, [person(1001, "Ann Example")] * n)


@shape("letters of one label in a dump")
def long_label(n: int, folder: Path, kb: Path) -> Commands:
    return build(folder, [person(1001, "Ann " + "e" * n)])


# KBs of their own


@shape("different names found in one sentence")
def found_sentence(n: int, folder: Path, kb: Path) -> Commands:
    people = [f"Ann{k} Example" for k in range(n)]
    built = build(folder, [person(1001 + k, label) for k, label in enumerate(people)])
    return [*built, *link(folder, folder / "kb", {"text": ", American writer, ".join(people)})]


@shape("bearers of a name that is linked")
def linked_bearers(n: int, folder: Path, kb: Path) -> Commands:
    built = build(folder, [person(1001 + k, "Ann Example", values=3) for k in range(n)])
    return [*built, *link(folder, folder / "kb", {"text": "Ann Example spoke. Later Ann Example left."})]


@shape("different people that are explained, all alike")
def explained_people(n: int, folder: Path, kb: Path) -> Commands:
    people = [f"Ann{k} Example" for k in range(n)]
    built = build(folder, [person(1001 + k, label, values=3) for k, label in enumerate(people)])
    (folder / "text.txt").write_text(" ".join(f"The American writer {label} spoke." for label in people))
    return [*built, ("explain", folder / "text.txt", "--kb", folder / "kb", "--json")]
