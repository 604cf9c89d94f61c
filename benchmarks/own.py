"""Own entities: the cost of adding them, the speed of linking with them, and the server while the KB changes.

    python -m benchmarks.own [--kb KB] [--only add speed reload] [--counts 1 100 10000] [--seconds 8] [--tries 3]

`add` measures the whole command `namesake kb add`, with the start of the program. `speed` links the same articles with
both KBs in turns and compares CPU times. `reload` sends SIGHUP after an addition, while clients send requests.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import pyarrow as pa

from benchmarks.link import ARTICLES, slice_kb
from benchmarks.server import PROGRAM, Serving, load, requests, serving
from namesake import KB, Linker, add_entities, undo_addition
from namesake.articles.rejects import Rejects
from namesake.formats import read_articles

CLIENTS = 64


def rows(count: int) -> str:
    """A CSV file with own entities."""
    lines = [f"p{n},Jane{n % 97} Zyxwvut{n},J{n} Zyx,head of the quantum lab {n},Q95" for n in range(count)]
    return "\n".join(["id,name,aliases,description,Firm", *lines]) + "\n"


def command(*arguments: str) -> tuple[float, float]:
    """Wall and CPU time of a command of `namesake`."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-c", PROGRAM, *arguments], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - began, cpu


def adding(kb: Path, folder: Path, counts: list[int], tries: int) -> None:
    size = sum(file.stat().st_size for file in kb.iterdir())
    print(f"KB of {size / 1e6:,.0f} MB\n\n| entities | wall s | CPU s | MB more |\n|--:|--:|--:|--:|")
    for count in counts:
        file = folder / "own.csv"
        file.write_text(rows(count))
        options = ["--id-prefix", "acme", "--kind", "person", "--type", "employer=Firm"]
        taken = []
        for _ in range(tries):
            taken.append(command("kb", "add", str(kb), str(file), *options))
            more = sum(one.stat().st_size for one in kb.iterdir()) - size
            command("kb", "undo", str(kb))
        wall, cpu = (min(column) for column in zip(*taken, strict=True))
        print(f"| {count:,} | {wall:.2f} | {cpu:.2f} | {more / 1e6:,.0f} |", flush=True)


def speed(kb: Path, tries: int) -> None:
    articles = pa.concat_tables(list(read_articles(ARTICLES, Rejects())))
    plain = Linker(KB.open(kb))
    add_entities(kb, pa.table({"id": ["a"], "name": ["Jane Zyxwvut"]}), "acme", kind="person", say=print)
    own = Linker(KB.open(kb))

    def cpu(work: Callable[[], object]) -> float:
        began = time.process_time()
        work()
        return time.process_time() - began

    ratios = [cpu(lambda: plain.link(articles)) / cpu(lambda: own.link(articles)) for _ in range(2 + 4 * tries)][2:]
    print(f"\nlinking speed with own entities: {median(ratios):.3f} of that without (median of {len(ratios)} pairs)")
    undo_addition(kb)


async def during(server: Serving, sent: list[bytes], seconds: float) -> list[float]:
    """The times of requests while the server takes up another generation of the KB."""

    async def change() -> None:
        await asyncio.sleep(seconds / 4)
        os.kill(server.pid, signal.SIGHUP)

    times, _ = await asyncio.gather(load(server.port, CLIENTS, sent, seconds), change())
    return times


def reload(kb: Path, folder: Path, seconds: float, tries: int) -> None:
    sent = requests()
    (folder / "own.csv").write_text(rows(12))
    print(f"\n| {CLIENTS} clients | requests | errors | p50 ms | p99 ms |\n|--|--:|--:|--:|--:|")
    with serving(kb, False, []) as server:
        asyncio.run(load(server.port, CLIENTS, sent, 1))
        for _ in range(tries):
            usual = sorted(asyncio.run(load(server.port, CLIENTS, sent, seconds)))
            command("kb", "add", str(kb), str(folder / "own.csv"), "--id-prefix", "acme")
            changed = sorted(asyncio.run(during(server, sent, seconds)))
            for what, times in (("usual", usual), ("during a reload", changed)):
                p50, p99 = (times[int(len(times) * share)] * 1e3 for share in (0.5, 0.99))
                print(f"| {what} | {len(times):,} | 0 | {p50:.1f} | {p99:.1f} |", flush=True)
            command("kb", "undo", str(kb))
            os.kill(server.pid, signal.SIGHUP)
            time.sleep(2)


def main() -> None:
    parts = ["add", "speed", "reload"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, help="a KB of the slice, which is copied; without it one is built")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 100, 10_000])
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--tries", type=int, default=3)
    given = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        kb = shutil.copytree(given.kb, folder / "kb") if given.kb else slice_kb(folder)
        KB.open(kb)  # checks a copied KB once
        if "add" in given.only:
            adding(kb, folder, given.counts, given.tries)
        if "speed" in given.only:
            speed(kb, given.tries)
        if "reload" in given.only:
            reload(kb, folder, given.seconds, given.tries)


if __name__ == "__main__":
    main()
