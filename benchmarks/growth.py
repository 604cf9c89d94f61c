"""How CPU time and memory grow with the input: many shapes, each from a thousand to a million, with the exponent.

    python -m benchmarks.growth [SHAPE ...] [--largest 1000000] [--seconds 60] [--list]

Each size runs in a process of its own, with limits on time and memory; a shape that reaches one goes no further. The
exponent b of n^b is fitted to what comes on top of a run with n = 10. Growth like n log n shows as 1.1.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from benchmarks.shapes import SHAPES
from hostile.sandbox import Outcome, Sandbox

SMALLEST, BASE = 1_000, 10
STEEPEST = 1.25
"""Exponents above this are flagged: n log n, and a machine with other work."""
MEMORY = 8 << 30
WORTH_SECONDS, WORTH_BYTES = 0.03, 32 << 20
"""Less than this on top of the smallest run is noise."""


@dataclass(frozen=True)
class Curve:
    """One shape: CPU seconds and bytes on top of the smallest run; `stopped` says why the last did not end, if so.

    `limit` is how many seconds each run had.
    """

    what: str
    sizes: list[int]
    seconds: list[float]
    memory: list[int]
    limit: float
    stopped: str = ""

    @property
    def time_exponent(self) -> float | None:
        """The fitted exponent of time."""
        return exponent(self.sizes, self.seconds, WORTH_SECONDS)

    @property
    def memory_exponent(self) -> float | None:
        """The fitted exponent of memory."""
        return exponent(self.sizes, [float(m) for m in self.memory], WORTH_BYTES)

    @property
    def flagged(self) -> bool:
        """Whether it grows faster than n log n, or did not end where n log n would have ended with ease."""
        return self.unexpected or any(e is not None and e > STEEPEST for e in self.exponents)

    @property
    def unexpected(self) -> bool:
        """Whether the last run was stopped although ten times the one before would have taken half its limit."""
        if not self.stopped or not self.sizes:
            return bool(self.stopped)
        if self.stopped.startswith("out of time"):
            return 11 * self.seconds[-1] < self.limit / 2
        return not self.stopped.startswith("out of memory") or 11 * self.memory[-1] < MEMORY / 2

    @property
    def exponents(self) -> tuple[float | None, float | None]:
        """Of time and of memory."""
        return self.time_exponent, self.memory_exponent


def exponent(sizes: list[int], values: list[float], worth: float) -> float | None:
    """The slope of log value over log size by least squares, over the values that are worth it; None: too few."""
    points = [(math.log(n), math.log(v)) for n, v in zip(sizes, values, strict=True) if v >= worth]
    if len(points) < 2:
        return None
    mean_x, mean_y = (sum(axis) / len(points) for axis in zip(*points, strict=True))
    over = sum((x - mean_x) * (y - mean_y) for x, y in points)
    return over / sum((x - mean_x) ** 2 for x, _ in points)


def measure(what: str, sandbox: Sandbox, kb: Path, largest: int, seconds: float) -> Curve:
    """Run one shape from small to large."""
    once(what, BASE, sandbox, kb, 10 * seconds)  # kernels are compiled and files cached
    base = once(what, BASE, sandbox, kb, seconds)
    sizes, times, peaks, stopped = [], [], [], ""
    size = SMALLEST
    while size <= largest and not stopped:
        outcome = once(what, size, sandbox, kb, seconds)
        stopped = reason(outcome)
        if not stopped:
            sizes.append(size)
            times.append(outcome.cpu - base.cpu)
            peaks.append(outcome.peak - base.peak)
        else:
            stopped = f"{stopped} at {size:,}"
        size *= 10
    return Curve(what, sizes, times, peaks, seconds, stopped)


def once(what: str, size: int, sandbox: Sandbox, kb: Path, seconds: float) -> Outcome:
    """One run in a folder of its own."""
    with TemporaryDirectory(prefix="growth-") as folder:
        *before, timed = SHAPES[what](size, Path(folder), kb)
        for argv in before:
            sandbox.run(*argv, seconds=10 * seconds)
        return sandbox.run(*timed, seconds=seconds, memory=MEMORY)


def reason(outcome: Outcome) -> str:
    """Why a run has no figures; nothing for a good one. A refusal is an answer."""
    if outcome.kind in ("done", "refused"):
        return ""
    if b"MemoryError" in outcome.err or b"malloc" in outcome.err or outcome.code == -9:
        return "out of time" if outcome.hang else "out of memory"
    return {"hang": "out of time"}.get(outcome.kind, outcome.kind)


def row(curve: Curve, sizes: list[int]) -> str:
    """The shape as a row of Markdown."""
    measured = dict(zip(curve.sizes, zip(curve.seconds, curve.memory, strict=True), strict=True))
    cells = [
        f"{max(measured[n][0], 0):.2f} s, {max(measured[n][1], 0) >> 20:,} MB" if n in measured else "–" for n in sizes
    ]
    powers = ["–" if e is None else f"{e:.2f}" for e in curve.exponents]
    verdict = ", ".join(filter(None, ["**too steep**" if curve.flagged else "", curve.stopped]))
    return f"| {curve.what} | {' | '.join(cells)} | {' | '.join(powers)} | {verdict} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help="what n counts, or a part of it; default: all")
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=60, help="limit of one run")
    parser.add_argument("--list", action="store_true", help="say which shapes there are")
    options = parser.parse_args()
    wanted = [what for what in SHAPES if not options.shapes or any(part in what for part in options.shapes)]
    if options.list or not wanted:
        sys.exit("\n".join(SHAPES))
    sizes = [10**power for power in range(3, 10) if 10**power <= options.largest]
    print("| n counts | " + " | ".join(f"{n:,}" for n in sizes) + " | time n^ | memory n^ | |")
    print("|---|" + "--:|" * (len(sizes) + 2) + "---|", flush=True)
    steep = 0
    with Sandbox() as sandbox, TemporaryDirectory(prefix="growth-") as folder:
        sample = sandbox.run("sample", Path(folder) / "play", seconds=300)
        if sample.kind != "done":
            sys.exit(str(sample))
        for what in wanted:
            curve = measure(what, sandbox, Path(folder) / "play" / "kb", options.largest, options.seconds)
            steep += curve.flagged
            print(row(curve, sizes), flush=True)
    print(f"\n{len(wanted)} shapes, {steep} of them grow faster than n log n.")


if __name__ == "__main__":
    main()
