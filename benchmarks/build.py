"""How fast and in how much memory a KB is built, and how lightly it opens. Prints the tables of docs/benchmarks.md.

    python -m benchmarks.build [--dump ../shared/wikidata/slice.json.gz] [--tries 3]
    python -m benchmarks.build --dump people.json.gz --only whole      # such as one of benchmarks.synthetic

Every measurement runs in a process of its own, so that each starts cold and counts what it alone takes.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from namesake.machine import cores

SLICE = Path(__file__).resolve().parents[2] / "shared" / "wikidata" / "slice.json.gz"
Measured = dict[str, float]


def usage() -> Measured:
    """Seconds of this process's cores so far, and its largest resident memory in MB."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"cpu": used.ru_utime + used.ru_stime, "rss": used.ru_maxrss / 1024}


def plain(dump: Path, _: Path) -> Measured:
    """One pass that decompresses, splits lines and decodes each: what any reader of the dump must at least do."""
    import orjson

    before, began = usage(), time.perf_counter()
    with gzip.open(dump) as lines:
        for line in lines:
            if len(line) > 3:
                orjson.loads(line.rstrip(b",\n"))
    return {"cpu": usage()["cpu"] - before["cpu"], "wall": time.perf_counter() - began, "rss": usage()["rss"]}


def whole(dump: Path, out: Path) -> Measured:
    """A complete build on all cores, from the first byte to the published folder."""
    from namesake.kb.build import build

    before, began = usage(), time.perf_counter()
    manifest = build([dump], out, keep="people")
    took = {"cpu": usage()["cpu"] - before["cpu"], "wall": time.perf_counter() - began, "rss": usage()["rss"]}
    disk = sum(file.stat().st_size for file in out.iterdir()) / 2**20
    return took | {"disk": disk, "entities": manifest.entities, "statements": manifest.statements}


def parse(dump: Path, out: Path, times: int) -> Measured:
    """The parse stage alone over the dump, several times in a row: its largest resident memory."""
    from namesake.kb.build_options import Options, memory_bound
    from namesake.kb.dump.gather import Inputs
    from namesake.kb.publish.draft import Draft, Spill
    from namesake.language import English
    from namesake.progress import Reporter

    before, began = usage(), time.perf_counter()
    dumps, memory = (str(dump),) * times, memory_bound(None)
    options = Options(dumps, out, "people", None, {}, English, "stem", cores(), memory, False)
    inputs = Inputs(options, Draft(out), Spill(out), Reporter())
    inputs.parse()
    after = usage()
    took = {"cpu": after["cpu"] - before["cpu"], "wall": time.perf_counter() - began, "rss": after["rss"]}
    return took | {"items": inputs.content.items}


def opening(_: Path, kb: Path) -> Measured:
    """Milliseconds `KB.open` takes, and private memory it adds to the bare import; then with every column mapped."""
    from namesake.kb.store import KB

    bare = private()
    began = time.perf_counter()
    opened = KB.open(kb)
    took = (time.perf_counter() - began) * 1e3
    added = private() - bare
    began = time.perf_counter()
    for name in KB.declared():
        getattr(opened, name)
    return {"ms": took, "mb": added, "all_ms": (time.perf_counter() - began) * 1e3, "all_mb": private() - bare}


def private() -> float:
    """MB that belong to this process alone."""
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


MEASURES: dict[str, Callable[[Path, Path], Measured]] = {
    "plain": plain,
    "whole": whole,
    "opening": opening,
    **{f"parse{times}": lambda dump, out, times=times: parse(dump, out, times) for times in (1, 2, 4)},
}


def apart(name: str, dump: Path, out: Path) -> Measured:
    """Measure in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.build", "--dump", str(dump), "--measure", name, "--out", str(out)]
    measured: Measured = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return measured


def least(name: str, dump: Path, folder: Path, tries: int) -> Measured:
    """The try that took the least CPU time."""
    return min((apart(name, dump, folder / f"{name}{i}") for i in range(tries)), key=lambda taken: taken["cpu"])


def report_speed(dump: Path, folder: Path, tries: int) -> None:
    bare, built = least("plain", dump, folder, tries), least("whole", dump, folder, tries)
    print(f"| {dump.name}, {cores()} cores | CPU s | wall s | peak MB |\n|---|--:|--:|--:|")
    print(f"| `orjson.loads` of every line | {bare['cpu']:.2f} | {bare['wall']:.2f} | {bare['rss']:.0f} |")
    print(f"| `kb build`, complete | {built['cpu']:.2f} | {built['wall']:.2f} | {built['rss']:.0f} |")
    print(f"| ratio | {built['cpu'] / bare['cpu']:.2f} | {built['wall'] / bare['wall']:.2f} | |\n")


def report_memory(dump: Path, folder: Path) -> None:
    print("| parse stage | items | CPU s | wall s | peak MB |\n|---|--:|--:|--:|--:|")
    for times in (1, 2, 4):
        taken = apart(f"parse{times}", dump, folder / f"parse{times}")
        row = f"{taken['items']:,.0f} | {taken['cpu']:.2f} | {taken['wall']:.2f} | {taken['rss']:.0f}"
        print(f"| {times} × the dump | {row} |")
    print()


def report_opening(dump: Path, kb: Path) -> None:
    taken = apart("opening", dump, kb)
    print("| | ms | private MB on top of the import |\n|---|--:|--:|")
    print(f"| `KB.open` | {taken['ms']:.1f} | {taken['mb']:.1f} |")
    print(f"| and every column mapped | {taken['all_ms']:.1f} | {taken['all_mb']:.1f} |\n")


def report_whole(dump: Path, folder: Path) -> None:
    built = apart("whole", dump, folder / "kb")
    print(f"| {dump.name} | |\n|---|--:|\n| entities | {built['entities']:,.0f} |")
    print(
        f"| statements | {built['statements']:,.0f} |\n| wall | {built['wall']:.0f} s |\n| CPU | {built['cpu']:.0f} s |"
    )
    print(f"| peak memory | {built['rss'] / 1024:.1f} GB |\n| disk | {built['disk'] / 1024:.1f} GB |\n")
    report_opening(dump, folder / "kb")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", type=Path, default=SLICE)
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--only", choices=["all", "whole"], default="all", help="whole: one build and its opening")
    parser.add_argument("--folder", type=Path, help="where to build; default: a temporary folder, removed afterwards")
    parser.add_argument("--measure", choices=list(MEASURES), help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        print(json.dumps(MEASURES[given.measure](given.dump, given.out)))
        return
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        if given.only == "whole":
            report_whole(given.dump, Path(folder))
            return
        report_speed(given.dump, Path(folder), given.tries)
        report_memory(given.dump, Path(folder))
        report_opening(given.dump, Path(folder) / "whole0")


if __name__ == "__main__":
    main()
