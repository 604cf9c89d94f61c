"""Where `namesake link` puts the links: into a file, into a folder (also on Spark), or onto the terminal."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from namesake.apps.cli import output
from namesake.apps.cli.output import INCOMPLETE, NO_RESULT, say
from namesake.errors import NamesakeError
from namesake.printable import counted

if TYPE_CHECKING:
    from namesake.formats.field_names import Reading
    from namesake.linker import Linker

Settings = dict[str, Any]
"""Keyword arguments of the library function that does the work."""


def is_folder(out: str) -> bool:
    """Whether the output is a folder: its name ends in a slash, or it exists and has no suffix of a link file."""
    from namesake.files import kind
    from namesake.formats.table_files import SUFFIXES

    return out.endswith("/") or (Path(out).is_dir() and kind(Path(out)) not in SUFFIXES)


def _report(where: object, counts: Mapping[str, int], pace: str) -> None:
    many = f"{counted(counts['mentions'], 'mention')} of {counted(counts['articles'], 'article')}"
    say(f"{where}: {many}, {counts['linked']:,} linked, {pace}")


def link_into_file(linker: Linker, articles: Sequence[Path], out: Path, settings: Settings) -> None:
    """Link into one file or to standard output, and report the counts."""
    from namesake.engines.file_linker import link_files
    from namesake.progress import reporter

    began = time.perf_counter()
    with output.reported_rejects(out) as rejects:
        counts = link_files(linker, articles, out, **settings, rejects=rejects, reporter=reporter())
        pace = output.rate(counts.articles, time.perf_counter() - began, "article")
        _report("stdout" if str(out) == "-" else out, vars(counts), pace)
    failed = rejects.count > 0 and not counts.articles
    _finish(failed, articles, settings["reading"], counts.notes, counts.problems)


def print_links(linker: Linker, articles: Sequence[Path], settings: Settings) -> None:
    """Print the links of each article as a table, and before it the text if the file is a text file."""
    from namesake.apps.terminal import Console
    from namesake.apps.terminal.links import show_links, show_text
    from namesake.engines.file_linker import find_files, read_files, reading_for

    console, listing = Console(), find_files(articles, say=say)
    reading = reading_for(listing.paths, settings["reading"], settings["most_line"])
    linked = 0
    with output.reported_rejects() as rejects:
        for path in listing.paths:
            for table in read_files([path], rejects, settings["date"], reading, listing):
                if ".txt" in path.suffixes or (str(path) == "-" and reading.format == "text"):
                    show_text(linker, table, console)
                linked += show_links(linker, table, console, rejects)
    _finish(rejects.count > 0 and not linked, articles, reading, listing.notes, listing.problems)


def _finish(
    failed: bool, articles: Sequence[Path], reading: Reading, notes: Sequence[str], problems: Sequence[str]
) -> None:
    """Report what was not linked. The exit code is not 0 if every record was rejected or a file was not read."""
    output.report_skipped(notes, problems)
    if failed:
        say("no article could be linked")
        if reading.format is None and Path("-") in articles:
            say("standard input is read as JSON lines: for plain text add --format text")
        raise typer.Exit(NO_RESULT)
    if problems:
        raise typer.Exit(INCOMPLETE)


def link_into_folder(linker: Linker, articles: Sequence[Path], out: Path, settings: Settings) -> None:
    """Link into a folder, or resume such a run, and report the counts."""
    from namesake.engines.folder import link_folder
    from namesake.progress import reporter

    began = time.perf_counter()
    try:
        run = link_folder(linker, articles, out, **settings, reporter=reporter())
    except KeyboardInterrupt:
        say(f"namesake: stopped; the same command resumes the run, {out} contains what is done")
        raise typer.Exit(130) from None
    pace = output.rate(run.linked_now, time.perf_counter() - began, "article")
    if not run.linked_now:
        pace = "nothing new" if run.problems else "all of them in an earlier run"
    _report(out, vars(run.counts), pace)
    if run.undated:
        output.report_undated(Counter({run.unread_date or "": run.undated}))
    output.report_skipped(run.notes, ())
    if run.rejects:
        say(f"{counted(run.rejects, 'record')} rejected; all of them are in {out / 'rejects'}")
    if run.problems:
        many = counted(len(run.problems), "file or part", "files or parts")
        say(f"{many} could not be linked: see {out / 'run.json'}; repair the files and run the same command again")
        raise typer.Exit(INCOMPLETE)


def link_on_spark(articles: Sequence[str], kb: Path | None, out: str | None, settings: Settings) -> None:
    """Link into a folder on Spark, and report the counts; an error of Java is reported in one line."""
    if out is None or not (is_folder(out) or "://" in out):
        raise NamesakeError("Spark writes a folder: name one with -o DIR/")
    from namesake.engines.spark_files import REJECTS, RUN, full, link_with_spark

    if "://" not in out and Path(out).is_dir() and any(Path(out).iterdir()):
        raise NamesakeError(full(out))
    kb = output.named_kb(kb)
    if kb is None:
        raise NamesakeError("Spark needs --kb or NAMESAKE_KB: a folder that all machines can read, or a packed KB")
    began, folder = time.perf_counter(), out.rstrip("/")
    try:
        tally = link_with_spark(articles, kb, folder, **settings)
    except Exception as problem:
        if os.environ.get("NAMESAKE_DEBUG") or not type(problem).__module__.startswith(("py4j", "pyspark")):
            raise
        raise NamesakeError(cause(str(problem))) from None
    _report(out, tally.counts, f"{time.perf_counter() - began:.1f} s on Spark")
    output.report_undated(tally.unread_dates)
    output.report_skipped(tally.notes, ())
    if tally.reasons:
        say(f"{counted(tally.reasons.total(), 'record')} rejected; all of them are in {folder}/{REJECTS}:")
        output.report_reasons(tally.reasons)
    for line in tally.problems:
        say(line)
    if tally.problems:
        say(f"{counted(len(tally.problems), 'file')} could not be read to the end: see {folder}/{RUN}")
        raise typer.Exit(INCOMPLETE)


def cause(report: str) -> str:
    """The line of an error report of Java or of a Python worker that states the cause: ours, else the innermost."""
    for ours in (r"NamesakeError: (.+)", r"^(\w+Error: .+)$"):
        if found := re.findall(ours, report, re.MULTILINE):
            return str(found[-1])
    lines = [line.strip() for line in report.splitlines() if line.strip()]
    inner = [line for line in lines if line.startswith(("Caused by: ", ": "))] or lines[:1]
    said = inner[-1].removeprefix("Caused by: ").removeprefix(": ") if inner else "no reason was given"
    return f"Spark: {said} (NAMESAKE_DEBUG=1 shows the full report)"
