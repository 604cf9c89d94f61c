"""Arguments: whatever is typed, the answer is a result, or one line and an exit code."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from hostile.budget import LENGTHS, rounds
from hostile.sandbox import Sandbox
from hostile.tally import Tally
from hostile.world import World

COMMANDS = (
    *(("link",), ("explain",), ("kb",), ("kb", "build"), ("kb", "info"), ("kb", "show"), ("evaluate",), ("tune",)),
    ("threshold",),
    *(("reproduce",), ("ablate",), ("errors",), ("datasets",), ("datasets", "list"), ("datasets", "convert")),
    *(("sample",), ("--version",), ("nonsense",), ()),
)
OPTIONS = (
    *(
        "--kb",
        "-o",
        "--out",
        "--recipe",
        "--scores",
        "--threshold",
        "--date",
        "--threads",
        "--article",
        "--name",
        "--all",
    ),
    *("--labelled", "--target-precision"),
    *("--json", "--gold", "--links", "--articles", "--split", "--methods", "--by", "--unit", "--samples", "--seed"),
    *(
        "--reader",
        "--truth",
        "--verify",
        "--force",
        "--keep",
        "--words",
        "--workers",
        "--ranks",
        "--wikipedia",
        "--help",
    ),
)


@pytest.fixture(scope="module")
def place(world: World, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the world's files by short names, and some that are odd."""
    folder = tmp_path_factory.mktemp("place")
    for name, target in (("kb", world.kb), ("articles.jsonl", world.articles), ("r.toml", world.recipe)):
        (folder / name).symlink_to(target)
    (folder / "empty").write_bytes(b"")
    (folder / "folder").mkdir()
    os.mkfifo(folder / "pipe")
    return folder


WORDS = (
    *(
        "kb",
        "articles.jsonl",
        "r.toml",
        "empty",
        "folder",
        "nowhere",
        "nowhere/x.jsonl",
        "out.jsonl",
        "out.parquet",
        "/",
    ),
    *(".", "..", "", " ", "-", "--", "-1", "0", "1e400", "nan", "inf", "9" * 30, "default", "uiscore-paper", "Q437267"),
    *(
        "Chris Carter",
        "given",
        "[/red]",
        "[bold",
        "\x1b[2J",
        "n" * 300,
        "n" * 300 + ".jsonl",
        "é\udcff",
        "a\nb",
        "2010",
    ),
    *(
        "99999-99-99",
        "stem",
        "people",
        "all",
        "wikidata=empty",
        "nelight",
        "zelda",
        "/proc/nowhere/x.jsonl",
        "/dev/null",
    ),
    *("/dev/full", "/dev/zero/x", "http://[x", "*", "a.jsonl.gz", "a.jsonl.zst", "a.txt", "a.parquet"),
)


@pytest.mark.parametrize("quick", LENGTHS)
def test_random_arguments(quick: bool, place: Path, sandbox: Sandbox, tally: Callable[[str], Tally]):
    counts = tally("random arguments")
    for rng in rounds("arguments", quick):
        command = rng.choice(COMMANDS)
        words: list[str] = [rng.choice(WORDS) for _ in range(rng.choice((0, 1, 1, 2)))]
        for _ in range(rng.randint(0, 4)):
            words += [rng.choice(OPTIONS), *([rng.choice(WORDS)] if rng.random() < 0.8 else [])]
        if any(word in ("/", "..", ".") for word in words) and command in (("kb", "build"), ("sample",)):
            continue  # see test_files.py, where nothing can be lost
        outcome = sandbox.run(*command, *words, cwd=place, seconds=30)
        counts.add(outcome.kind, outcome)
    counts.check()


LONG_NAME = "n" * 300 + ".jsonl"
TYPED: dict[str, tuple[str, ...]] = {
    "a name of 300 letters to read": ("link", LONG_NAME, "--kb", "kb", "-o", "out.jsonl"),
    "a name of 300 letters to write": ("link", "articles.jsonl", "--kb", "kb", "-o", LONG_NAME),
    "a name of 250 letters to write": ("link", "articles.jsonl", "--kb", "kb", "-o", "n" * 243 + ".jsonl"),
    "a KB of 300 letters": ("link", "articles.jsonl", "--kb", "n" * 300, "-o", "out.jsonl"),
    "a folder that cannot be written": ("link", "articles.jsonl", "--kb", "kb", "-o", "/proc/nowhere/x.jsonl"),
    "a folder of another file system": ("link", "articles.jsonl", "--kb", "kb", "-o", "/proc/x.jsonl"),
    "markup in --out": ("evaluate", "--gold", "empty", "--scores", "empty", "--out", "[/red]"),
    "markup in --kb": ("link", "articles.jsonl", "--kb", "[/red]", "-o", "out.jsonl"),
    "markup in -o": ("link", "articles.jsonl", "--kb", "kb", "-o", "[/red].jsonl"),
    "an escape in a name": ("kb", "show", "kb", "\x1b[2J"),
    "lone surrogates": ("kb", "show", "kb", "\udcff"),
    "lone surrogates in a file name": ("link", "\udcff.jsonl", "--kb", "kb", "-o", "out.jsonl"),
    "a folder as articles": ("link", "folder", "--kb", "kb", "-o", "out.jsonl"),
    "a recipe that is a folder": ("link", "articles.jsonl", "--kb", "kb", "--recipe", "folder", "-o", "out.jsonl"),
    "a sample in /proc": ("sample", "/proc/x"),
    "convert into /proc": (
        "datasets",
        "convert",
        "articles.jsonl",
        "--reader",
        "zelda",
        "--articles",
        "/proc/a.jsonl",
        "--gold",
        "/proc/g.jsonl",
    ),
    "evaluate into a file": ("evaluate", "--gold", "empty", "--scores", "empty", "--out", "empty"),
    "thousands of threads": ("link", "articles.jsonl", "--kb", "kb", "-o", "out.jsonl", "--threads", "5000"),
    "threads past 64 bits": ("link", "articles.jsonl", "--kb", "kb", "-o", "out.jsonl", "--threads", "9" * 30),
    "a nameless QID": ("kb", "show", "kb", "Q" + "9" * 400),
}


@pytest.mark.parametrize("what", TYPED)
def test_typed(what: str, place: Path, sandbox: Sandbox, tally: Callable[[str], Tally]):
    counts = tally("arguments")
    outcome = sandbox.run(*TYPED[what], cwd=place, seconds=30)
    counts.add(outcome.kind, f"{what}: {outcome}")
    counts.check()


def test_a_full_disk(place: Path, sandbox: Sandbox, tmp_path: Path, tally: Callable[[str], Tally]):
    """A file may grow to 64 KB and no further: the way in which a full disk shows."""
    counts = tally("arguments")
    many = tmp_path / "many.jsonl"
    many.write_text((place / "articles.jsonl").read_text() * 200)
    for argv in (
        ("link", many, "--kb", "kb", "-o", tmp_path / "out.jsonl"),
        ("link", many, "--kb", "kb", "-o", tmp_path / "out.parquet"),
        ("kb", "build", Path(os.path.realpath(place / "kb")).parent / "dump.json", "--out", tmp_path / "kb"),
        ("sample", tmp_path / "play"),
    ):
        outcome = sandbox.run(*argv, cwd=place, file_size=1 << 16)
        counts.add(outcome.kind, f"disk full: {outcome}")
        left = [path for path in tmp_path.iterdir() if "partial" in path.name or "building" in path.name]
        if argv[0] == "kb" and left:  # a build that has read its dumps may go on there, and says so
            [draft] = left
            assert bytes(draft) in outcome.err
            shutil.rmtree(draft)
        else:
            assert not left
    counts.check()
