"""Dump lines against msgspec: what it refuses is never an entity, what it accepts is read as it reads it."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hostile.budget import LENGTHS, rounds
from hostile.kills import contents
from hostile.mutate import mutate, one_line
from hostile.sandbox import Outcome, Sandbox
from hostile.tally import Tally
from hostile.world import World

SURROGATE = re.compile(rb"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
AROUND = b"[], \t\r\n"
"""What may stand around an entity in a dump."""


class Dumps:
    """Builds KBs from lines."""

    def __init__(self, world: World, sandbox: Sandbox, folder: Path) -> None:
        self.sandbox, self.folder = sandbox, folder
        lines = [line.strip().rstrip(",") for line in world.dump.read_text().splitlines()[1:-1]]
        self.entities: list[dict[str, Any]] = [json.loads(line) for line in lines]

    def seeds(self, rng: random.Random, count: int) -> list[dict[str, Any]]:
        """So many entities with QIDs of their own."""
        some = rng.choices([e for e in self.entities if e["type"] == "item"], k=count)
        return [{**entity, "id": f"Q{10_000 + number}"} for number, entity in enumerate(some)]

    def build(self, lines: list[bytes], name: str = "kb") -> tuple[Outcome, Path]:
        """A KB of all items of a dump of these lines, and a person who is always there."""
        person = json.dumps(next(e for e in self.entities if e["id"] == "Q901")).encode()
        path, out = self.folder / f"{name}.json", self.folder / name
        path.write_bytes(b"\n".join([person, *lines]) + b"\n")
        shutil.rmtree(out, ignore_errors=True)
        return self.sandbox.run("kb", "build", path, "--keep", "all", "--out", out), out


@pytest.fixture(scope="module")
def dumps(world: World, sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Dumps:
    return Dumps(world, sandbox, tmp_path_factory.mktemp("dumps"))


def refused(line: bytes, strict: bool) -> bool:
    """Whether msgspec refuses a line; lone surrogates apart, and bytes that are no UTF-8 only where it is `strict`."""
    text = SURROGATE.sub(rb"\\ufffd", line.strip(AROUND))
    try:
        msgspec.json.decode(text if strict else text.decode(errors="replace"))
    except msgspec.ValidationError:  # a number beyond all floats, 1e9999: JSON if another library takes the line
        json.loads(text.decode(errors="replace"))
        return False
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return True
    return False


@pytest.mark.parametrize("strict", [True, False], ids=["UTF-8", "JSON"])
@pytest.mark.parametrize("quick", LENGTHS)
def test_what_is_no_json_is_no_entity(quick: bool, strict: bool, dumps: Dumps, tally: Callable[[str], Tally]):
    counts = tally("mutated dump lines" + (", bytes that are no UTF-8 refused" if strict else ""))
    for rng in rounds("dump lines", quick):
        seeds = dumps.seeds(rng, 300 if quick else 2000)
        lines = [one_line(mutate(json.dumps(seed, separators=(",", ":")).encode(), rng)) for seed in seeds]
        outcome, kb = dumps.build(lines)
        assert outcome.kind == "done", outcome
        rejects = {json.loads(line)["line"] for line in (kb / "rejects.jsonl").read_bytes().splitlines()}
        for number, line in enumerate(lines, 2):
            if not line.strip(AROUND):
                continue
            verdict = "refused" if number in rejects else "accepted" if refused(line, strict) else "done"
            counts.add(verdict, line)
    counts.check()


def with_duplicates(value: Any, rng: random.Random) -> str:
    """JSON in which some keys stand twice, first with another value."""
    if isinstance(value, list):
        return "[" + ",".join(with_duplicates(one, rng) for one in value) + "]"
    if not isinstance(value, dict):
        return json.dumps(value)
    members = []
    for key, one in value.items():
        if rng.random() < 0.05:
            other = rng.choice([None, "x", 7, [], {}, *value.values()])
            members.insert(rng.randint(0, len(members)), f"{json.dumps(key)}:{json.dumps(other)}")
        members.append(f"{json.dumps(key)}:{with_duplicates(one, rng)}")
    return "{" + ",".join(members) + "}"


def plainly(line: bytes) -> bytes | None:
    """The line as msgspec reads it, written plainly, each key once; None where that cannot be said."""
    try:
        value = msgspec.json.decode(line.strip(AROUND))
        plain = msgspec.json.encode(value)
        return plain if isinstance(value, dict) and msgspec.json.decode(plain) == value else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def columns(dumps: Dumps, lines: list[bytes], name: str) -> dict[str, str]:
    outcome, kb = dumps.build(lines, name)
    assert outcome.kind == "done", outcome
    return {file: digest for file, digest in contents(kb).items() if file.endswith(".npy")}


def culprits(dumps: Dumps, pairs: list[tuple[bytes, bytes]]) -> list[bytes]:
    """Lines that are read otherwise than their plain forms, found by halves."""
    if columns(dumps, [odd for odd, _ in pairs], "odd") == columns(dumps, [plain for _, plain in pairs], "plain"):
        return []
    if len(pairs) == 1:
        return [pairs[0][0]]
    middle = len(pairs) // 2
    return culprits(dumps, pairs[:middle]) or culprits(dumps, pairs[middle:])


@pytest.mark.parametrize("how", ["duplicate keys", "mutants"])
@pytest.mark.parametrize("quick", LENGTHS)
def test_what_is_json_is_read_as_json(quick: bool, how: str, dumps: Dumps, tally: Callable[[str], Tally]):
    """Of a key that stands twice the last counts; spaces, escapes and order change nothing."""
    counts = tally(f"dump lines read as msgspec reads them: {how}")
    for rng in rounds(how, quick):
        seeds = dumps.seeds(rng, 100 if quick else 1000)
        if how == "mutants":
            odd = [one_line(mutate(json.dumps(entity).encode(), rng, 1)) for entity in seeds]
        else:
            odd = [with_duplicates(entity, rng).encode() for entity in seeds]
        pairs = [(line, plain) for line in odd if (plain := plainly(line)) is not None]
        wrong = culprits(dumps, pairs)
        for line in wrong:
            counts.add("mixed", line)
        for _ in range(len(pairs) - len(wrong)):
            counts.add("done", "")
        if wrong:
            break
    counts.check()
