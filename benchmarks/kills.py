"""Killed at random moments and begun again by the same command: the result must be that of a calm run.

    python -m benchmarks.kills [--kb KB] [--articles 200000] [--people 200000] [--kills 20]

`kill -9` strikes the whole process group during `namesake link … -o DIR/` by two workers, and during `namesake kb
build --memory` of a made-up dump with eight times as many other items. What is compared is every byte of the links, and
of the KB's columns.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.folder import COMMAND, FILES, command, write
from benchmarks.link import SLICE
from benchmarks.synthetic import write as write_dump
from namesake import build_kb

START = 1.0  # seconds until there is something to disturb


def digests(folder: Path) -> dict[str, str]:
    """Every file below a folder by its digest; not the manifest, the journal and `run.json`, which say when."""
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in (".npy", ".parquet")]
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def storm(argv: list[str], seconds: float, count: int) -> int:
    """Begin again after each kill, then let it end; the kills that struck, `count` unless it has ended before.

    Moments are drawn so that the run gets about so far between two kills that the last one strikes near its end.
    """
    chance = random.Random(9)
    for struck in range(count):
        process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            if process.wait(START + chance.uniform(0, 2 * seconds / count)):
                raise subprocess.CalledProcessError(process.returncode, argv)
            return struck
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    subprocess.run(argv, check=True, capture_output=True)
    return count


def compare(what: str, calm: tuple[list[str], Path], stormy: tuple[list[str], Path], count: int) -> None:
    """One calm run, one with kills, and whether their files are the same."""
    began = time.perf_counter()
    subprocess.run(calm[0], check=True, capture_output=True)
    seconds = time.perf_counter() - began
    struck = storm(stormy[0], seconds, count)
    expected = digests(calm[1])
    same = expected and digests(stormy[1]) == expected
    print(
        f"{what}: {seconds:.0f} s when calm, {struck} times killed; "
        f"{len(expected)} files: {'the same bytes' if same else 'OTHER BYTES'}",
        flush=True,
    )


def builds(folder: Path, people: int, count: int) -> None:
    """Kills of a build out of core."""
    dump = folder / "people.json.gz"
    write_dump(dump, people, other=8 * people)

    def build(out: Path) -> tuple[list[str], Path]:
        options = ["--out", str(out), "--memory", "512M"]
        return [sys.executable, "-c", COMMAND, "kb", "build", str(dump), *options], out

    compare(f"kb build of {9 * people:,} items", build(folder / "calm-kb"), build(folder / "stormy-kb"), count)


def links(folder: Path, kb: Path, articles: int, count: int) -> None:
    """Kills of a run into a folder."""
    source = folder / "articles"
    written = write(source, max(articles // FILES // 300, 1))
    calm, stormy = ((command(source, kb, folder / name, 2), folder / name) for name in ("calm", "stormy"))
    compare(f"link of {written:,} articles", calm, stormy, count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, help="a KB; default: one of the slice is built")
    parser.add_argument("--articles", type=int, default=200_000)
    parser.add_argument("--people", type=int, default=200_000)
    parser.add_argument("--kills", type=int, default=20)
    given = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        kb = given.kb or folder / "kb"
        if not given.kb:
            build_kb([SLICE], kb)
        links(folder, kb, given.articles, given.kills)
        builds(folder, given.people, given.kills)


if __name__ == "__main__":
    main()
