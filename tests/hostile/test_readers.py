"""Data sets, gold, scores and recipes: whatever a file holds, it is read, or refused in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from hostile.budget import rounds
from hostile.mutate import mutate
from hostile.sandbox import Outcome, Sandbox
from hostile.tally import Tally
from hostile.world import World

TEXT = "Chris Carter met Michael Jordan ."
NAMES = [
    {"name": "chris carter", "ids": ["Q437267", "Q1017050"], "offsets": [[0, 2]], "gold": 0, "split": "test"},
    {"name": "michael jordan", "ids": ["Q41421"], "offsets": [[3, 5]], "gold": None, "split": "tune"},
]
NUMBERED = [{**NAMES[0], "name": "chris carter0"}, {**NAMES[1], "name": "michael jordan0"}]
NIF = """@prefix nif: <http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#> .
@prefix itsrdf: <http://www.w3.org/2005/11/its/rdf#> .
@base <http://example.org/> .
<http://example.org/a#char=0,33> a nif:Context ; nif:isString "Chris Carter met Michael Jordan ." .
<http://example.org/a#char=0,12> a nif:Phrase ; nif:anchorOf "Chris Carter" ; nif:beginIndex "0" ; nif:endIndex "12" ;
  nif:referenceContext <http://example.org/a#char=0,33> ; itsrdf:taIdentRef <http://www.wikidata.org/entity/Q437267> .
"""
SCORES = [
    {"articleID": "a", "name": "chris carter", "candidate": 0, "qid": "Q437267", "NS": 5.0, "IScore": 2.0},
    {"articleID": "a", "name": "chris carter", "candidate": 1, "qid": "Q1017050", "NS": 1.0, "IScore": 3.0},
]
GOLD = [{"articleID": "a", "name": "chris carter", "gold": 1, "split": "test", "kind": "x"}]
RECIPE = """name = "mine"
anchors = "all"
tie_break = ["NS", "LQID"]
[[parts]]
scorer = "IScore"
weight = 1.0
scale = "log1p"
[decide]
nil = 2.0
threshold = 0.5
[decide.thresholds]
p95 = 0.9
"""


def lines(*records: object) -> bytes:
    """JSON lines."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@dataclass(frozen=True)
class Format:
    """A file format: a good file of it, the file's name, and the command that reads it."""

    seed: bytes
    file: str
    argv: tuple[str, ...]


CONVERT = ("datasets", "convert", "FILE", "--articles", "a.jsonl", "--gold", "g.jsonl", "--reader")
EVALUATE = ("evaluate", "--out", "report", "--samples", "100")
QUOTEBANK = {"articleID": "a", "content": TEXT, "title": "t", "date": "2010", "names": NAMES}
AIDA = "-DOCSTART- (1 EU)\nChris\tB\tChris Carter\tChris_Carter\thttp://en.wikipedia.org/wiki/Chris_Carter\t1\t/m/1\n"
ZELDA = {"id": 1, "text": TEXT, "index": [[0, 12]], "wikipedia_titles": ["Chris Carter"], "wikipedia_ids": [7]}
LABELS = [{"span": [0, 12], "entity_id": "Q437267", "type": "Q5"}, {"span": [17, 31], "entity_id": "Unknown1"}]
FORMATS = {
    "nelight": Format(lines(QUOTEBANK), "data.jsonl", (*CONVERT, "nelight")),
    "nelight list": Format(lines([QUOTEBANK]), "data.json", (*CONVERT, "nelight")),
    "aida-json": Format(lines([{**QUOTEBANK, "names": NUMBERED}]), "data.json", (*CONVERT, "aida-json")),
    "aida-tsv": Format(
        (AIDA + "Carter\tI\tChris Carter\tChris_Carter\nspoke\n\n").encode(), "data.tsv", (*CONVERT, "aida-tsv")
    ),
    "elevant": Format(
        lines({"id": 1, "title": "t", "text": TEXT, "labels": LABELS, "evaluation_span": [0, 33]}),
        "data.jsonl",
        (*CONVERT, "elevant"),
    ),
    "nif": Format(NIF.encode(), "data.ttl", (*CONVERT, "nif")),
    "zelda": Format(lines(ZELDA), "data.jsonl", (*CONVERT, "zelda")),
    "gold": Format(lines(*GOLD), "gold.jsonl", (*EVALUATE, "--gold", "FILE", "--scores", "scores.jsonl")),
    "scores": Format(lines(*SCORES), "odd.jsonl", (*EVALUATE, "--gold", "gold.jsonl", "--scores", "FILE")),
    "scores as CSV": Format(
        b"articleID,name,candidate,qid,NS\na,chris carter,0,Q437267,5\na,chris carter,1,Q1017050,1\n",
        "odd.csv",
        (*EVALUATE, "--gold", "gold.jsonl", "--scores", "FILE"),
    ),
    "labelled text": Format(
        lines(
            {"id": 1, "text": TEXT, "date": "2010", "labels": [{"span": [0, 12], "qid": "Q437267", "type": "PER"}]},
            {"id": "b", "text": TEXT, "labels": [{"span": [17, 31], "qid": None}], "evaluation_span": [0, 33]},
        ),
        "labelled.jsonl",
        (*EVALUATE, "--kb", "KB", "--labelled", "FILE"),
    ),
    "recipe": Format(
        RECIPE.encode(), "mine.toml", ("link", "ARTICLES", "--kb", "KB", "-o", "l.jsonl", "--recipe", "FILE")
    ),
    "ranks": Format(
        b"Q437267\t12.5\nQ41421\t3\n",
        "ranks.tsv",
        ("kb", "build", "DUMP", "--out", "kb", "--force", "--ranks", "wikidata=FILE"),
    ),
    "wikipedia": Format(
        lines(
            {"index": {"_id": 1}},
            {"title": "A", "wikibase_item": "Q437267", "opening_text": "x", "outgoing_link": ["B"]},
        ),
        "wiki.json",
        ("kb", "build", "DUMP", "--out", "kb", "--force", "--wikipedia", "FILE"),
    ),
}


class Bench:
    """Runs the command of a format on a file."""

    def __init__(self, world: World, sandbox: Sandbox, folder: Path) -> None:
        self.sandbox, self.folder = sandbox, folder
        self.places = {"ARTICLES": str(world.articles), "KB": str(world.kb), "DUMP": str(world.dump)}
        (folder / "scores.jsonl").write_bytes(lines(*SCORES))
        (folder / "gold.jsonl").write_bytes(lines(*GOLD))

    def read(self, form: Format, data: bytes) -> Outcome:
        """Read a file of the format with this content."""
        folder = self.folder / "input"
        folder.mkdir(exist_ok=True)
        path = folder / form.file
        path.write_bytes(data)
        places = self.places | {"FILE": str(path), "wikidata=FILE": f"wikidata={path}"}
        return self.sandbox.run(*(places.get(word, word) for word in form.argv), cwd=self.folder, seconds=20)


@pytest.fixture(scope="module")
def bench(world: World, sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(world, sandbox, tmp_path_factory.mktemp("bench"))


@pytest.mark.parametrize("name", FORMATS)
def test_the_seed_is_read(name: str, bench: Bench):
    """Mutants of a file that is no good from the start would show little."""
    outcome = bench.read(FORMATS[name], FORMATS[name].seed)
    assert outcome.kind == "done", outcome


@pytest.mark.hostile
@pytest.mark.parametrize("name", FORMATS)
def test_mutated_files(name: str, bench: Bench, tally: Callable[[str], Tally]):
    counts = tally(f"mutated files: {name}")
    for rng in rounds(name, quick=False):
        data = mutate(FORMATS[name].seed, rng)
        outcome = bench.read(FORMATS[name], data)
        counts.add(outcome.kind, f"{outcome} of {data[:300]!r}")
    counts.check()


DEEP = 100_000
SPOILT: dict[str, Callable[[bytes], bytes]] = {
    "nested deep": lambda seed: b"[" * DEEP + b"]" * DEEP,
    "objects nested deep": lambda seed: b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "a value nested deep": lambda seed: seed.replace(b'"x"', b"[" * DEEP + b"]" * DEEP).replace(
        b"2.0", b"[" * DEEP + b"]" * DEEP
    ),
    "huge integers": lambda seed: _digits(seed, b"9" * 400),
    "very huge integers": lambda seed: _digits(seed, b"9" * 5000),
    "not a number": lambda seed: _digits(seed, b"NaN"),
    "empty": lambda seed: b"",
    "line ends": lambda seed: b"\n" * 100,
    "zeros": lambda seed: b"\0" * 10_000,
    "no UTF-8": lambda seed: seed.replace(b"C", b"\xff").replace(b"c", b"\xfe"),
    "markup": lambda seed: (
        seed.replace(b"chris carter", b"[/red]").replace(b'"x"', b'"[/red]"').replace(b"mine", b"[/red]")
    ),
    "bad IRI": lambda seed: seed.replace(b"http://example.org/", b"http://[example.org/"),
    "another encoding": lambda seed: seed.decode().encode("utf-16"),
}


def _digits(seed: bytes, number: bytes) -> bytes:
    """The seed with another number for each that stands alone."""
    return re.sub(rb"(?<![\w.])\d+(\.\d+)?(?![\w.])", number, seed)


QUICK = ("objects nested deep", "huge integers")
HOW = [how if how in QUICK else pytest.param(how, marks=pytest.mark.hostile) for how in SPOILT]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("name", FORMATS)
def test_spoilt_files(name: str, how: str, bench: Bench, tally: Callable[[str], Tally]):
    counts = tally("spoilt files")
    outcome = bench.read(FORMATS[name], SPOILT[how](FORMATS[name].seed))
    counts.add(outcome.kind, f"{name}, {how}: {outcome}")
    counts.check()
