"""`namesake link … --engine spark`: the same links, made by a cluster."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import typer

from namesake.apps.cli.folder import INCOMPLETE, is_folder
from namesake.apps.cli.output import REASONS_SHOWN, named_kb, report_skipped, report_undated, say, summary
from namesake.errors import NamesakeError
from namesake.printable import counted


class Engine(StrEnum):
    """What does the work."""

    local = "local"
    spark = "spark"


def link_on_spark(
    articles: Sequence[str],
    kb: Path | None,
    out: str | None,
    master: str | None,
    recipe: str,
    *,
    scores: bool,
    threshold: float | str | None,
    date: str | None,
    most_line: int,
) -> None:
    """Link on Spark, and say what came of it; what Java complains of becomes one line."""
    if out is None or not (is_folder(out) or "://" in out):
        raise NamesakeError("Spark writes a folder: name one with -o DIR/")
    from namesake.engines.spark_files import REJECTS, RUN, full, link_with_spark

    if "://" not in out and Path(out).is_dir() and any(Path(out).iterdir()):
        raise NamesakeError(full(out))
    folder = named_kb(kb)
    if folder is None:
        raise NamesakeError("Spark needs --kb, or NAMESAKE_KB: a folder that all machines see, or a pack of a KB")

    began = time.perf_counter()
    try:
        tally = link_with_spark(
            articles,
            folder,
            out.rstrip("/"),
            master=master,
            recipe=recipe,
            scores=scores,
            threshold=threshold,
            date=date,
            most_line=most_line,
        )
    except Exception as problem:
        if os.environ.get("NAMESAKE_DEBUG") or not type(problem).__module__.startswith(("py4j", "pyspark")):
            raise
        raise NamesakeError(cause(str(problem))) from None
    counts, seconds = tally.counts, time.perf_counter() - began
    say(f"{out}: {summary(counts['mentions'], counts['articles'], counts['linked'])}, {seconds:.1f} s on Spark")
    report_undated(tally.unread_dates)
    report_skipped(tally.notes, ())
    if tally.reasons:
        say(f"{tally.reasons.total():,} set aside, in {out.rstrip('/')}/{REJECTS}:")
        for reason, count in tally.reasons.most_common(REASONS_SHOWN):
            say(f"  {count:,} × {reason}")
    for line in tally.problems:
        say(line)
    if tally.problems:
        say(f"{counted(len(tally.problems), 'file')} could not be read to the end: see {out.rstrip('/')}/{RUN}")
        raise typer.Exit(INCOMPLETE)


def cause(report: str) -> str:
    """The line of a report of Java's or of a Python worker's that says what was wrong: ours, else the innermost."""
    for ours in (r"NamesakeError: (.+)", r"^(\w+Error: .+)$"):
        if found := re.findall(ours, report, re.MULTILINE):
            return str(found[-1])
    lines = [line.strip() for line in report.splitlines() if line.strip()]
    inner = [line for line in lines if line.startswith(("Caused by: ", ": "))] or lines[:1]
    said = inner[-1].removeprefix("Caused by: ").removeprefix(": ") if inner else "no reason was given"
    return f"Spark: {said} (NAMESAKE_DEBUG=1 shows the rest)"
