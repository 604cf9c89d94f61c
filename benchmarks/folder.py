"""How fast `namesake link … -o DIR/` is, from packed JSON lines and from Parquet, by one worker and by two.

    python -m benchmarks.folder [--kb KB] [--articles 72000] [--kinds gz bz2 parquet]

The articles are the paper's 300 from Quotebank, repeated in six files; the recipe is uiscore-paper. Costs per article
are what the second half of them adds, so that the start of Python is left out; the ratio of two workers to one is told
with it and without.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TextIO, cast

import pyarrow.parquet as pq

from benchmarks.link import SLICE
from benchmarks.text import ARTICLES
from namesake.articles.rejects import Rejects
from namesake.formats import read_articles

FILES = 6
KINDS = {"gz": "gzipped JSON lines", "bz2": "bzip2 JSON lines", "parquet": "Parquet"}
QUOTEBANK = 127_000_000
MACHINES = {"one core": 1, "2 cores": 2, "16 cores": 16, "20 machines of 16 cores": 320}
COMMAND = "import sys; from namesake.apps.cli.main import main; sys.argv = ['namesake', *sys.argv[1:]]; main()"


class Taken(NamedTuple):
    """Seconds by the clock and of the processors, and the most memory a worker had to itself, in MB."""

    wall: float
    cpu: float
    private: float


def write(folder: Path, copies: int, kind: str = "gz") -> int:
    """Six files of articles, each id its own, as packed JSON lines or as Parquet; returns how many articles."""
    folder.mkdir()
    with gzip.open(ARTICLES, "rt") as lines:
        records = [json.loads(line) for line in lines]
    for file in range(FILES):
        path = folder / f"part{file}.jsonl.{'bz2' if kind == 'bz2' else 'gz'}"
        with cast(TextIO, bz2.open(path, "wt") if kind == "bz2" else gzip.open(path, "wt", compresslevel=1)) as out:
            for copy in range(copies):
                for record in records:
                    out.write(json.dumps(record | {"articleID": f"{record['articleID']}-{file}-{copy}"}) + "\n")
        if kind == "parquet":
            tables = list(read_articles(path, Rejects()))
            with pq.ParquetWriter(path.with_name(f"part{file}.parquet"), tables[0].schema) as writer:
                for table in tables:
                    writer.write_table(table)
            path.unlink()
    return FILES * copies * len(records)


def command(source: Path, kb: Path, out: Path, workers: int) -> list[str]:
    options = ["--kb", str(kb), "--recipe", "uiscore-paper", "-o", f"{out}/", "--workers", str(workers)]
    return [sys.executable, "-c", COMMAND, "link", str(source), *options]


def run(source: Path, kb: Path, out: Path, workers: int) -> Taken:
    """One run into a new folder."""
    shutil.rmtree(out, ignore_errors=True)
    began, before = time.perf_counter(), os.times()
    process = subprocess.Popen(command(source, kb, out, workers), stderr=subprocess.DEVNULL)
    private = 0.0
    while process.poll() is None:
        private = max(private, *map(private_memory, children(process.pid)), 0.0)
        time.sleep(0.1)
    assert process.returncode == 0
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return Taken(time.perf_counter() - began, cpu, private)


def children(pid: int) -> list[int]:
    try:
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def private_memory(pid: int) -> float:
    """What a process has to itself, in MB."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


def speed(kb: Path, folder: Path, articles: int, kinds: list[str]) -> dict[str, float]:
    """The table; returns the CPU seconds per article of one worker, for each kind of file."""
    print("| from | workers | wall s | CPU s | CPU µs per article | times one worker | start apart | private MB |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    costs: dict[str, float] = {}
    for kind, name in ((kind, KINDS[kind]) for kind in kinds):
        half, whole = folder / f"half-{kind}", folder / f"whole-{kind}"
        some = write(half, max(articles // 2 // FILES // 300, 1), kind)
        count = write(whole, max(articles // FILES // 300, 2), kind)
        first: Taken | None = None
        slope = 0.0
        for workers in (1, 2):
            small, large = (run(source, kb, folder / "out", workers) for source in (half, whole))
            each = (large.cpu - small.cpu) / (count - some)
            pace = (large.wall - small.wall) / (count - some)
            first, slope = first or large, slope or pace
            costs.setdefault(kind, each)
            ratios = f"{first.wall / large.wall:.2f} | {slope / pace:.2f}"
            print(
                f"| {name}, {count:,} articles | {workers} | {large.wall:.1f} | {large.cpu:.1f} | {each * 1e6:.1f} "
                f"| {ratios} | {large.private:.0f} |",
                flush=True,
            )
    return costs


def extrapolate(costs: dict[str, float]) -> None:
    """The time for all of Quotebank, if cost per article stays what it is here and cores add up."""
    print(f"\n| all of Quotebank, {QUOTEBANK:,} articles | {' | '.join(MACHINES)} |\n|---|{'--:|' * len(MACHINES)}")
    for kind, cost in costs.items():
        seconds = [QUOTEBANK * cost / cores for cores in MACHINES.values()]
        print(f"| {KINDS[kind]} | {' | '.join(map(lasting, seconds))} |")


def lasting(seconds: float) -> str:
    return f"{seconds / 3600:.2f} h" if seconds >= 3600 else f"{seconds / 60:.1f} min"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, help="a KB; default: one of the slice is built")
    parser.add_argument("--articles", type=int, default=72_000)
    parser.add_argument("--kinds", nargs="+", choices=list(KINDS), default=list(KINDS))
    options = parser.parse_args()
    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        kb = options.kb
        if kb is None:
            from namesake import build_kb

            kb = folder / "kb"
            build_kb([SLICE], kb)
        extrapolate(speed(kb, folder, options.articles, options.kinds))


if __name__ == "__main__":
    main()
