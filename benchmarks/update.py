"""What an update of a KB costs, as a ratio to a full build from the dump and the changes.

    python -m benchmarks.update [--dump ../shared/wikidata/slice.json.gz] [--tries 3] [--memory 4G]

Of each thousand items 1, 10 or 100 change: half of them get an alias, the other half are new. Every run is a command in
a process of its own. The smallest CPU time of all tries counts, and the start of the program is subtracted.
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.build import SLICE

SHARES = (0.001, 0.01, 0.1)


def split(dump: Path, share: float, folder: Path) -> list[Path]:
    """The dump without the new items, and the changes."""
    paths, every = [folder / "base.json.gz", folder / "changes.json.gz"], round(1 / share)
    with gzip.open(dump) as lines, gzip.open(paths[0], "wb", 1) as base, gzip.open(paths[1], "wb", 1) as changes:
        for number, line in enumerate(lines):
            body = line.strip().rstrip(b",")
            if not body.startswith(b"{"):
                continue
            item = json.loads(body) if number % every == 0 else {}
            if item.get("type") == "item":
                aliases = item.setdefault("aliases", {}) or {}
                aliases.setdefault("en", []).append({"language": "en", "value": f"Changed {number}"})
                changes.write(json.dumps(item | {"aliases": aliases}).encode() + b"\n")
            if item.get("type") != "item" or number % (2 * every) == 0:
                base.write(body + b"\n")
    return paths


def cost(*arguments: str | Path) -> tuple[float, float]:
    """CPU seconds and the largest memory in MB of a command."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True); "
        "use = resource.getrusage(resource.RUSAGE_CHILDREN); print(use.ru_utime + use.ru_stime, use.ru_maxrss >> 10)"
    )
    main = [sys.executable, "-c", "from namesake.apps.cli.main import main; main()", *map(str, arguments)]
    seconds, memory = subprocess.run(
        [sys.executable, "-c", code, *main], check=True, capture_output=True
    ).stdout.split()
    return float(seconds), float(memory)


def least(tries: int, *arguments: str | Path) -> tuple[float, float]:
    """The smallest time and the largest memory of several runs."""
    runs = [cost(*arguments) for _ in range(tries)]
    return min(run[0] for run in runs), max(run[1] for run in runs)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dump", type=Path, default=SLICE)
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--memory", default="4G")
    options = parser.parse_args(arguments)
    print("| changed | full build, CPU s | update, CPU s | ratio | memory of the update, MB | sources, MB |")
    print("|---:|---:|---:|---:|---:|---:|")
    for share in SHARES:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            base, changes = split(options.dump, share, folder)
            memory, force = ("--memory", options.memory), "--force"
            cost("kb", "build", base, "--out", folder / "kb", "--updatable", *memory)
            full, _ = least(options.tries, "kb", "build", base, changes, "--out", folder / "full", force, *memory)
            update, used = least(
                options.tries, "kb", "update", folder / "kb", changes, "--out", folder / "new", force, *memory
            )
            start, _ = least(options.tries, "kb", "info", folder / "kb")
            sources = sum(path.stat().st_size for path in (folder / "kb").glob("sources.*")) / 1e6
            full, update = full - start, update - start
            print(f"| {share:.1%} | {full:.2f} | {update:.2f} | {update / full:.0%} | {used:,.0f} | {sources:,.0f} |")


if __name__ == "__main__":
    sys.exit(main())
