"""What an update of a KB costs, as a ratio to a full build from the dump and the changes.

    python -m benchmarks.update [--dump ../shared/wikidata/slice.json.gz] [--tries 3] [--memory 4G]
    python -m benchmarks.update --complete ../shared/wikidata/full-records.json.bz2 --items 20000 --shares 0.01

Of each thousand items 1, 10 or 100 change: half of them get an alias, the other half are new. Every run is a command in
a process of its own. The smallest CPU time of all tries counts, and the start of the program is subtracted.
`--complete` gives each item the texts in other languages of a complete record, so that items have the size of those.
"""

from __future__ import annotations

import argparse
import bz2
import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from benchmarks.build import SLICE

SHARES = (0.001, 0.01, 0.1)


def other_texts(path: Path) -> list[dict[str, dict[str, Any]]]:
    """The labels, descriptions and aliases of complete records, except those in languages that a KB keeps."""
    with bz2.open(path) as lines:
        records = [json.loads(body) for line in lines if len(body := line.strip().rstrip(b",")) > 1]
    parts = ("labels", "descriptions", "aliases")
    return [
        {part: {c: v for c, v in dict(record[part]).items() if c[:2] not in ("en", "mu")} for part in parts}
        for record in records
    ]


def entities(dump: Path, items: int | None, texts: Sequence[dict[str, dict[str, Any]]]) -> Iterator[bytes]:
    """The first `items` lines of a dump, all with the texts in turn, if there are any."""
    with gzip.open(dump) as lines:
        for number, line in enumerate(islice(lines, items)):
            body = line.strip().rstrip(b",")
            if body.startswith(b"{") and texts and (item := json.loads(body))["type"] == "item":
                more = texts[number % len(texts)]
                item |= {part: dict(item.get(part) or {}) | more[part] for part in more}
                body = json.dumps(item, separators=(",", ":")).encode()
            yield body


def split(lines: Iterator[bytes], share: float, folder: Path) -> list[Path]:
    """The dump without the new items, and the changes."""
    paths, every = [folder / "base.json.gz", folder / "changes.json.gz"], round(1 / share)
    with gzip.open(paths[0], "wb", 1) as base, gzip.open(paths[1], "wb", 1) as changes:
        for number, body in enumerate(lines):
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
    parser.add_argument("--complete", type=Path)
    parser.add_argument("--items", type=int)
    parser.add_argument("--shares", type=float, nargs="+", default=SHARES)
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--memory", default="4G")
    options = parser.parse_args(arguments)
    texts = other_texts(options.complete) if options.complete else []
    print("| changed | full build, CPU s | update, CPU s | ratio | memory of the update, MB | sources, MB |")
    print("|---:|---:|---:|---:|---:|---:|")
    for share in options.shares:
        with tempfile.TemporaryDirectory() as made:
            folder = Path(made)
            base, changes = split(entities(options.dump, options.items, texts), share, folder)
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
