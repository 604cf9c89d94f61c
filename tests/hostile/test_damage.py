"""A damaged KB is refused or does no harm: no crash, no hang, no traceback, whatever byte of whatever file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hostile.bounds import BOUNDS
from hostile.damage import BYTES, VALUES, copied, damage, ways
from hostile.sandbox import Outcome, Sandbox
from hostile.tally import Tally
from hostile.world import NAME, QID, World

OUT_OF_BOUNDS = b"IndexError: index is out of bounds"
"""What Numba says; NumPy names axis and size."""
REFUSAL = b"namesake.errors.NamesakeError: "
"""How a refusal ends where NAMESAKE_DEBUG shows where it comes from, as it does where bounds are checked."""
QUICK = ("huge", "negative", "short", "noise")
SECONDS = 10.0
LARGE = 1 << 20
"""Files from here on are damaged in values only: their bytes are many, and all alike."""


class Victim:
    """A KB that is copied, damaged and used, and the answers of the whole one."""

    def __init__(self, world: World, sandbox: Sandbox, folder: Path) -> None:
        self.world, self.sandbox, self.folder = world, sandbox, folder
        self.kb = folder / "kb"
        copied(world.kb, self.kb)
        self.answers = [self._answer(outcome) for outcome in self.use()]

    @property
    def files(self) -> list[str]:
        """Every file of the KB."""
        return sorted(path.name for path in self.world.kb.iterdir())

    def use(self, most: int | None = None) -> Iterator[Outcome]:
        """Link, explain and show with whatever stands at `kb`; only the first `most` of these.

        Not what comes behind a refusal: all of them open the KB, and it is that which refuses.
        """
        world, links = self.world, self.folder / "links.jsonl"
        links.unlink(missing_ok=True)
        commands = (
            ("link", world.articles, "--kb", self.kb, "--recipe", world.recipe, "--scores", "-o", links),
            ("explain", world.articles, "--article", "given", "--kb", self.kb, "--recipe", world.recipe, "--json"),
            ("kb", "show", self.kb, NAME, "--json"),
            ("kb", "show", self.kb, QID),
        )
        for command in commands[:most]:
            outcome = self.sandbox.run(*command, seconds=SECONDS)
            yield outcome
            if outcome.kind == "refused":
                return

    def verdicts(self, most: int | None = None) -> Iterator[tuple[str, Outcome]]:
        """What became of each use."""
        for outcome, whole in zip(self.use(most), self.answers, strict=False):
            yield self._verdict(outcome, whole), outcome

    def _verdict(self, outcome: Outcome, whole: bytes) -> str:
        if OUT_OF_BOUNDS in outcome.err:
            return "out of bounds"
        if outcome.kind == "traceback" and outcome.err.rsplit(b"\n", 2)[-2].startswith(REFUSAL):
            return "refused"
        if outcome.kind != "done":
            return outcome.kind
        return "harmless" if self._answer(outcome) == whole else "wrong answer"

    def _answer(self, outcome: Outcome) -> bytes:
        links = self.folder / "links.jsonl"
        return links.read_bytes() if outcome.argv[0] == "link" and links.exists() else outcome.out

    def try_out(self, file: str, how: str, tally: Tally, most: int | None = None) -> None:
        """Damage a file in one way and count what comes of it."""
        copied(self.world.kb, self.kb)
        if damage(self.kb, file, how):
            for verdict, outcome in self.verdicts(most):
                tally.add(verdict, f"{file} {how}: {outcome}")


@pytest.fixture(scope="module")
def victim(world: World, sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Victim:
    made = Victim(world, sandbox, tmp_path_factory.mktemp("victim"))
    assert all(verdict == "harmless" for verdict, _ in made.verdicts()), "the whole KB must give the same answers twice"
    return made


def test_no_column_of_the_victim_is_empty(world: World):
    """Damage to a column without values would show nothing."""
    header = 128
    empty = [path.name for path in world.kb.glob("*.npy") if path.stat().st_size <= header]
    assert not empty


@pytest.mark.hostile
@pytest.mark.parametrize("how", [*VALUES, *BYTES])
def test_every_file_damaged(how: str, victim: Victim, tally: Callable[[str], Tally]):
    counts = tally("damaged KB")
    for file in victim.files:
        large = (victim.world.kb / file).stat().st_size > LARGE
        if how in ways(file) and not (large and how in BYTES):
            victim.try_out(file, how, counts)
    counts.check()


@pytest.mark.parametrize("how", QUICK)
def test_some_columns_damaged(how: str, victim: Victim, tally: Callable[[str], Tally]):
    """Every column in one of four ways."""
    counts = tally("damaged KB")
    columns = [file for file in victim.files if file.endswith(".npy")]
    for file in columns[QUICK.index(how) :: len(QUICK)]:
        victim.try_out(file, how, counts, most=1)
    counts.check()


@pytest.mark.hostile
@pytest.mark.parametrize("how", ["huge", "negative", "next_door", "small_noise", "short", "none"])
def test_every_column_damaged_and_bounds_checked(
    how: str, world: World, tmp_path_factory: pytest.TempPathFactory, tally: Callable[[str], Tally]
):
    """No kernel reads or writes outside its arrays, also where that happens to do no harm."""
    counts = tally("damaged KB, bounds checked")
    with Sandbox(BOUNDS) as sandbox:
        victim = Victim(world, sandbox, tmp_path_factory.mktemp("bounds"))
        for file in victim.files:
            if file.endswith(".npy"):
                victim.try_out(file, how, counts, most=2)
    counts.check()


@pytest.mark.hostile
@pytest.mark.parametrize("how", [*VALUES, *BYTES])
def test_verify_tells_every_damage(how: str, victim: Victim, tally: Callable[[str], Tally]):
    """`kb info --verify` refuses a KB in which one byte is another."""
    counts = tally("damage told by --verify")
    for file in victim.files:
        copied(victim.world.kb, victim.kb)
        if how in ways(file) and damage(victim.kb, file, how):
            outcome = victim.sandbox.run("kb", "info", victim.kb, "--verify", seconds=SECONDS)
            counts.add("accepted" if outcome.kind == "done" else outcome.kind, f"{file} {how}: {outcome}")
    counts.check()


MANIFEST: dict[str, Callable[[dict], object]] = {
    "no object": lambda m: [m],
    "nothing": lambda m: {},
    "no files": lambda m: m | {"files": {}},
    "huge counts": lambda m: m | dict.fromkeys(("entities", "items", "names", "words", "statements"), 2**63 - 1),
    "larger counts": lambda m: m | {key: m[key] + 1 for key in ("entities", "items", "names", "words", "statements")},
    "negative counts": lambda m: m | dict.fromkeys(("entities", "items", "names", "words", "statements"), -5),
    "counts past 64 bits": lambda m: m | {"entities": 10**30},
    "unknown words": lambda m: m | {"words_how": "nonsense"},
    "newer format": lambda m: m | {"format_version": 10**9},
    "a file elsewhere": lambda m: m | {"files": m["files"] | {"../../etc/passwd": "crc32:00000000"}},
    "escapes": lambda m: m | {"dumps": ["\x1b[2J"], "created": "\x1b]0;x\x07"},
    "nested deep": lambda m: m | {"rejected_reasons": json.loads("[" * 900 + "]" * 900)},
}


@pytest.mark.parametrize("how", MANIFEST)
def test_damaged_manifest(how: str, victim: Victim, tally: Callable[[str], Tally]):
    counts = tally("damaged manifest")
    copied(victim.world.kb, victim.kb)
    path = victim.kb / "manifest.json"
    changed = json.dumps(MANIFEST[how](json.loads(path.read_text())))
    path.unlink()
    path.write_text(changed)
    for verdict, outcome in victim.verdicts(most=2):
        counts.add(verdict, f"{how}: {outcome}")
    info = victim.sandbox.run("kb", "info", victim.kb, seconds=SECONDS)
    counts.add(info.kind, f"{how}: {info}")
    counts.check()


def _pipe(path: Path) -> None:
    os.mkfifo(path)


ODD: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: None,
    "a folder": Path.mkdir,
    "a link to nowhere": lambda path: path.symlink_to("nowhere"),
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "a pipe": _pipe,
}


@pytest.mark.parametrize("how", [*list(ODD)[:-1], pytest.param("a pipe", marks=pytest.mark.hostile)])
def test_a_file_that_is_no_file(how: str, victim: Victim, tally: Callable[[str], Tally]):
    counts = tally("files that are none")
    for file in ("manifest.json", "entity.qid.npy", "name.slot.npy"):
        copied(victim.world.kb, victim.kb)
        (victim.kb / file).unlink()
        ODD[how](victim.kb / file)
        for verdict, outcome in victim.verdicts(most=1):
            counts.add(verdict, f"{file} is {how}: {outcome}")
    counts.check()


def test_verify_tells_a_file_that_the_manifest_does_not_list(victim: Victim):
    copied(victim.world.kb, victim.kb)
    (victim.kb / "entity.extra.npy").write_bytes(b"x")
    outcome = victim.sandbox.run("kb", "info", victim.kb, "--verify")
    assert outcome.kind == "refused", outcome
