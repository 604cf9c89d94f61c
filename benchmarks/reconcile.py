"""How fast tables of names are reconciled, from CSV to CSV, and how well.

    python -m benchmarks.reconcile --kb KB [--rows 100000] [--kind organisation] [--people ../shared/people]

The table for speed has names of the KB, each with an occupation, a country and a year of birth that need not be the
person's. With `--kind`, it has labels and aliases of entities of that kind, half of them with their country and a
place; one thread works.

The tables for accuracy are labelled text: a row is a name with its sentence, cut at 300 characters, from which the name
is taken out; gold is the QID, or NIL. Without `--kind`, these are full names of people. Rows whose sentence continues
with "is a" or "was the" describe. With `--kind`, these are the names of all entities of that kind in the KB.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from namesake import KB, Linker
from namesake.kb.records import describe
from namesake.kinds import parse_kinds
from namesake.reconciling import Query, reconcile_queries

PEOPLE = Path(__file__).resolve().parents[2] / "shared" / "people"
DESCRIBES = re.compile(r"^(\([^)]*\))?,?\s*(is|was) (a|an|the)\b")
COMMAND = "from namesake.apps.cli.main import main; main()"


class Row(NamedTuple):
    """A name in its sentence, and its entity."""

    name: str
    context: str
    gold: str | None


def write_table(kb: KB, path: Path, rows: int, seed: int = 1) -> None:
    """A table of names, with cells that fit some bearer or nobody."""
    random = np.random.default_rng(seed)
    jobs = ["politician", "association football player", "actor", "writer", "painter", "physicist", "singer", "judge"]
    countries = ["United States of America", "Germany", "France", "United Kingdom", "Japan", "Brazil", "Nigeria"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["Name", "Job", "Country", "Born", "Notes"])
        for row in random.integers(0, len(kb), rows).tolist():
            job, country = random.choice(jobs), random.choice(countries)
            writer.writerow([kb.label(row), job, country, 1900 + row % 100, f"{job} from {country}"])


def write_kind(kb: KB, path: Path, rows: int, kind: str, seed: int = 1) -> None:
    """A table of labels and aliases of entities of a kind, half of them with their country and a place."""
    random = np.random.default_rng(seed)
    entities = np.flatnonzero(np.isin(kb.kind, parse_kinds(kind)))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["Name", "Country", "Place"])
        for row in random.choice(entities, rows).tolist():
            one = describe(kb, row)
            cells = dict.fromkeys(("P17", "P131", "P159"), "")
            if random.random() < 0.5:
                cells |= {said.property: said.label for said in one.statements if said.property in cells}
            place = cells["P159"] or cells["P131"]
            name = random.choice([one.label, *one.aliases[:2]])
            writer.writerow([name, cells["P17"], place])


def speed(kb: KB, rows: int, kind: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "people.csv", Path(folder) / "out.csv"
        columns = ["--name", "Name", "--context", "Notes"]
        if kind is None:
            write_table(kb, table, rows)
            types = ("occupation=Job", "country=Country", "birth=Born")
        else:
            write_kind(kb, table, rows, kind)
            types = ("country=Country", "state=Place")
            columns = ["--name", "Name", "--kind", kind, "--threads", "1"]
        for typed in types:
            columns += ["--type", typed]
        command = [
            sys.executable,
            "-c",
            COMMAND,
            "reconcile",
            str(table),
            *columns,
            "--kb",
            str(kb.path),
            "-o",
            str(out),
        ]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)  # compiles the kernels
        began = time.perf_counter()
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
        seconds = time.perf_counter() - began
        print("| rows | seconds, start of Python included | rows/s |\n|---:|---:|---:|")
        print(f"| {rows:,} | {seconds:.1f} | {rows / seconds:,.0f} |\n")


def is_full_name(label: dict[str, Any]) -> bool:
    return label.get("type") == "PER" and " " in label["name"]


def labelled(path: Path, chosen: Callable[[dict[str, Any]], bool]) -> Iterator[Row]:
    """Every chosen name of a file of labelled text once for each text, with its sentence. Gold of people may be NIL."""
    seen = set()
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            article = json.loads(line)
            text = article["text"]
            for label in article["labels"]:
                name, key = label["name"], (article["id"], label["name"])
                if label.get("coref") or not name[:1].isupper() or not chosen(label) or key in seen:
                    continue
                seen.add(key)
                start, end = label["span"]
                begin = max(
                    text.rfind(". ", 0, start) + 2 if ". " in text[:start] else 0, text.rfind("\n", 0, start) + 1
                )
                stops = [at for at in (text.find(". ", end), text.find("\n", end)) if at >= 0]
                sentence = f"{text[begin:start]} {text[end : min(stops, default=len(text))]}".strip()[:300]
                known = label.get("known") or label.get("type") != "PER"
                yield Row(name, sentence, label["qid"] if known else None)


def accuracy(kb: KB, folder: Path, kind: str | None) -> None:
    kinds = () if kind is None else parse_kinds(kind)

    def of_kind(label: dict[str, Any]) -> bool:
        row = kb.row(str(label.get("qid")))
        return row >= 0 and int(kb.kind[row]) in kinds

    chosen = is_full_name if kind is None else of_kind
    rows = [row for path in sorted(folder.glob("*.jsonl.gz")) for row in labelled(path, chosen)]
    linker = Linker(kb)
    describing = [row for row in rows if DESCRIBES.match(row.context)]
    print("| rows | with | rows | precision | recall |\n|---|---|---:|---:|---:|")
    for what, some in (("all", rows), ("describing", describing)):
        for told, queries in (
            ("the name alone", [Query(row.name) for row in some]),
            ("its sentence", [Query(row.name, row.context) for row in some]),
        ):
            found = [
                next((one.qid for one in each if one.matched), None)
                for each in reconcile_queries(linker, queries, 1, kind)
            ]
            right = sum(1 for qid, row in zip(found, some, strict=True) if qid and qid == row.gold)
            answered, known = sum(1 for qid in found if qid), sum(1 for row in some if row.gold)
            print(f"| {what} | {told} | {len(some):,} | {right / max(answered, 1):.3f} | {right / max(known, 1):.3f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, required=True, help="a KB with the people of the labelled text")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--kind", help="a kind of entities, such as organisation")
    parser.add_argument("--people", type=Path, default=PEOPLE)
    options = parser.parse_args()
    kb = KB.open(options.kb)
    speed(kb, options.rows, options.kind)
    if options.people.is_dir():
        accuracy(kb, options.people, options.kind)


if __name__ == "__main__":
    main()
