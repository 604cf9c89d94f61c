"""How fast the server answers: bounded load on loopback, from a process of its own.

    python -m benchmarks.server [--kb KB] [--clients 1 16 64] [--seconds 3] [--tries 5] [--memory 100000] [--suggest 50]

Each client sends `POST /link` with an article of about 800 words, waits for the answer, and sends the next. The server
is one process, kept on one core with `--one-core` (the load then has the others). CPU is the server's own.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from urllib.parse import quote

import msgspec

from benchmarks.link import ARTICLES, slice_kb
from namesake.articles.rejects import Rejects
from namesake.formats import read_articles

PROGRAM = "import sys; sys.argv[0] = 'namesake'; from namesake.apps.cli.main import main; main()"
WORDS, DISTINCT = 800, 64
PREFIXES = ("J", "Jo", "John S", "john s", "Michael Jor", "Xyz")


@dataclass(frozen=True)
class Serving:
    """A server that runs."""

    port: int
    pid: int

    def metric(self, name: str) -> float:
        """A number that the server tells of itself."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=30) as answer:
            found = re.search(rf"^namesake_{name} (\S+)$", answer.read().decode(), re.MULTILINE)
        assert found is not None
        return float(found[1])


@contextlib.contextmanager
def serving(kb: Path, one_core: bool, options: list[str]) -> Iterator[Serving]:
    """A server process on a free port, ended in order."""
    command = [sys.executable, "-c", PROGRAM, "serve", "--kb", str(kb), "--port", "0", *options]
    cores = os.sched_getaffinity(0)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        if one_core and len(cores) > 1:
            os.sched_setaffinity(process.pid, {max(cores)})
            os.sched_setaffinity(0, cores - {max(cores)})
        try:
            assert process.stderr is not None
            found = re.search(r"http://127\.0\.0\.1:(\d+)", process.stderr.readline())
            assert found is not None, "the server did not start"
            yield Serving(int(found[1]), process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            os.sched_setaffinity(0, cores)
        assert process.wait() == 0, "the server did not end in order"


def requests() -> list[bytes]:
    """Whole requests, with articles of about 800 words."""
    texts = [text for table in read_articles(ARTICLES, Rejects()) for text in table.column("text").to_pylist()]
    chosen = sorted(texts, key=lambda text: abs(len(text.split()) - WORDS))[:DISTINCT]
    bodies = [msgspec.json.encode({"text": text}) for text in chosen]
    head = "POST /link HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n"
    return [head.format(len(body)).encode() + body for body in bodies]


async def client(number: int, port: int, sent: list[bytes], until: float, most: int, times: list[float]) -> None:
    """One client: asks, waits, asks again."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    turn = number * 7
    while time.perf_counter() < until and len(times) < most:
        began = time.perf_counter()
        writer.write(sent[turn % len(sent)])
        turn += 1
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        length = re.search(rb"content-length: (\d+)", head)
        assert length is not None
        await reader.readexactly(int(length[1]))
        times.append(time.perf_counter() - began)
    writer.close()


async def load(port: int, clients: int, sent: list[bytes], seconds: float, most: int = 1 << 60) -> list[float]:
    """The time of every request of so many clients."""
    times: list[float] = []
    until = time.perf_counter() + seconds
    await asyncio.gather(*(client(number, port, sent, until, most, times) for number in range(clients)))
    return times


@dataclass(frozen=True)
class Taken:
    """What some seconds of load came to."""

    rate: float
    p50: float
    p99: float
    cpu: float
    batch: float


def one_try(server: Serving, clients: int, seconds: float, sent: list[bytes]) -> Taken:
    cpu, batches = server.metric("process_cpu_seconds_total"), server.metric("batches_total")
    began = time.perf_counter()
    times = sorted(asyncio.run(load(server.port, clients, sent, seconds)))
    took, count = time.perf_counter() - began, len(times)
    cpu, batches = server.metric("process_cpu_seconds_total") - cpu, server.metric("batches_total") - batches
    p50, p99 = (times[int(count * share)] for share in (0.5, 0.99))
    return Taken(count / took, p50, p99, cpu / count, count / batches)


def speed(server: Serving, clients: list[int], seconds: float, tries: int, sent: list[bytes]) -> None:
    """The fastest of several tries of each number of clients, taken in turns so that all meet the same weather."""
    asyncio.run(load(server.port, max(clients), sent, 1))
    rounds = [[one_try(server, count, seconds, sent) for count in clients] for _ in range(tries)]
    print(
        "| clients | requests/s | p50 ms | p99 ms | CPU µs per request | requests/s of CPU time | articles per batch |"
    )
    print("|--:|--:|--:|--:|--:|--:|--:|")
    for count, taken in zip(clients, zip(*rounds, strict=True), strict=True):
        best = max(taken, key=lambda one: one.rate)
        print(
            f"| {count} | {best.rate:,.0f} | {best.p50 * 1e3:.1f} | {best.p99 * 1e3:.1f} | {best.cpu * 1e6:.0f} "
            f"| {1 / best.cpu:,.0f} | {best.batch:.1f} |"
        )


def memory(server: Serving, total: int, sent: list[bytes]) -> None:
    print("\n| requests | resident MB |\n|--:|--:|")
    for part in range(11):
        if part:
            asyncio.run(load(server.port, 64, sent, 3600, total // 10))
        print(f"| {part * total // 10:,} | {server.metric('process_resident_bytes') / 2**20:,.1f} |", flush=True)


def suggestions(server: Serving, tries: int) -> None:
    """The time of `/reconcile/suggest/entity`: the first request, which sorts the labels, then the median by prefix."""

    def asked(prefix: str) -> float:
        url = f"http://127.0.0.1:{server.port}/reconcile/suggest/entity?prefix={quote(prefix)}"
        began = time.perf_counter()
        with urllib.request.urlopen(url, timeout=60) as answer:
            answer.read()
        return (time.perf_counter() - began) * 1e3

    print("\n| prefix | ms |\n|--|--:|")
    print(f"| the first request | {asked('x'):,.1f} |")
    for prefix in PREFIXES:
        print(f"| {prefix} | {median(asked(prefix) for _ in range(tries)):.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, help="a KB of the slice; without it one is built")
    parser.add_argument("--clients", type=int, nargs="*", default=[1, 16, 64])
    parser.add_argument("--seconds", type=float, default=3.0, help="of each try")
    parser.add_argument("--tries", type=int, default=5)
    parser.add_argument("--memory", type=int, default=0, help="requests over which memory is watched")
    parser.add_argument("--suggest", type=int, default=0, help="requests for suggestions, per prefix")
    parser.add_argument("--one-core", action="store_true", help="keep the server on one core, the load off it")
    given, options = parser.parse_known_args()
    sent = requests()
    with TemporaryDirectory() as folder, serving(given.kb or slice_kb(Path(folder)), given.one_core, options) as server:
        if given.clients:
            speed(server, given.clients, given.seconds, given.tries, sent)
        if given.memory:
            memory(server, given.memory, sent)
        if given.suggest:
            suggestions(server, given.suggest)


if __name__ == "__main__":
    main()
