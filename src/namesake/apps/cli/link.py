"""`namesake link`, which writes links into a file, into a folder or onto the terminal, and `namesake explain`."""

import gc
import os
import re
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import namesake
from namesake.apps.cli import common
from namesake.errors import NamesakeError, did_you_mean
from namesake.formats import stdin_formats
from namesake.machine import named_kb
from namesake.printable import counted
from namesake.progress import reporter

if TYPE_CHECKING:
    from namesake.formats.field_names import Reading

LINK_FORMATS = ("jsonl", "csv", "tsv", "parquet", "xlsx", "db")


def link(
    articles: list[str],
    to: Annotated[str | None, typer.Option("--out", "-o")] = None,
    kb: Path | None = None,
    recipe: common.Recipe = "default",
    scores: bool = False,
    threshold: str | None = None,
    kinds: common.Kinds = None,
    prior: float = 0.0,
    decisions: common.Decided = None,
    mentions: str = "names",
    text: str | None = None,
    id: str | None = None,
    title: str | None = None,
    date: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    format: str | None = None,
    to_format: Annotated[str | None, typer.Option("--to")] = None,
    flat: bool = False,
    linked_only: bool = False,
    threads: common.Threads = 0,
    workers: Annotated[int | None, typer.Option(min=1)] = None,
    engine: Literal["local", "spark"] = "local",
    master: str | None = None,
    max_line: Annotated[int, typer.Option(min=1, max=1024)] = 256,
) -> None:
    """Link the names in articles to Wikidata entities."""
    given = locals()
    if to is None and (scores or flat or to_format):
        option = "--scores applies" if scores else "--flat and --to apply"
        other = "use `namesake explain`" if scores else "-o - for standard output"
        raise NamesakeError(f"{option} to output files: name one with -o, or {other}")
    _check_format("--to", to_format, LINK_FORMATS, "links")
    settings: dict[str, Any] = {"scores": scores, "date": date, "most_line": max_line << 20, "linked_only": linked_only}
    if engine == "spark":
        given |= {"to": to_format, "mentions": mentions != "names"}
        unsupported = ["text", "id", "title", "encoding", "sheet", "format", "to", "flat", "mentions"]
        unsupported += ["workers", "threads", "prior", "decisions"]
        if without_effect := [f"--{option}" for option in unsupported if given[option]]:
            raise NamesakeError(f"{', '.join(without_effect)}: not supported with --engine spark; see docs/spark.md")
        settings |= {"master": master, "recipe": recipe, "threshold": common.threshold_of(threshold), "kinds": kinds}
        link_on_spark(articles, kb, to, settings)
        return
    if master is not None:
        raise NamesakeError("--master applies to Spark only: add --engine spark")
    paths = [Path(one) for one in articles]
    options = {"mentions": mentions, "kinds": kinds, "prior": prior, "decisions": decisions}
    linker = common.open_linker(kb, recipe, threshold, paths, **options)
    settings["reading"], settings["date"] = _reading(paths, given)
    if to is None:
        print_links(linker, paths, settings)
        return
    gc.freeze()  # nothing that is loaded now will be freed, so the collector need not examine it again
    if is_folder(to):
        if flat or to_format:
            raise NamesakeError("--flat and --to apply to a file of links, such as -o links.csv, not to a folder")
        link_into_folder(linker, paths, Path(to), settings | {"workers": workers or 0})
        return
    if workers is not None:
        raise NamesakeError("--workers applies to a folder, such as -o DIR/; for a file use --threads")
    settings |= {"threads": threads, "one_per_span": flat, "format": to_format}
    link_into_file(linker, paths, Path(to), settings)


def explain(
    articles: Path,
    article: str | None = None,
    name: str | None = None,
    kb: Path | None = None,
    recipe: common.Recipe = "default",
    threshold: str | None = None,
    kinds: common.Kinds = None,
    prior: float = 0.0,
    decisions: common.Decided = None,
    mentions: str = "names",
    text: str | None = None,
    id: str | None = None,
    title: str | None = None,
    date: str | None = None,
    encoding: str | None = None,
    sheet: str | None = None,
    row: Annotated[int | None, typer.Option(min=1)] = None,
    context: str = "",
    all: bool = False,
    json: common.Json = False,
) -> None:
    """Show why each name of an article, or the name in a row of a table, was linked to its entity."""
    given = locals()
    from namesake.apps.reconcile_file import explained_row
    from namesake.engines.file_linker import find_article
    from namesake.explain import names_of_text, no_such_name

    options = {"mentions": mentions, "kinds": kinds, "prior": prior, "decisions": decisions}
    linker = common.open_linker(kb, recipe, threshold, [articles], **options)
    with common.reported_rejects() as rejects:
        if row is not None:
            table, rows = explained_row(linker, articles, row, given)
        else:
            reading, date = _reading([articles], given)
            table = find_article(linker, articles, article, name, rejects, date, reading)
            rows = linker.explain(table, name)
        if row is None and not rows.num_rows:
            names = linker.link(table).column("name").to_pylist()
            wanted = f"no candidates for {name!r}" if name else "no mention with candidates"
            problem = f"{wanted}; {names_of_text(names, name)}"
            if name is not None and not linker.naming(table, name).num_rows:
                problem = no_such_name(name, names)
            raise NamesakeError(f"article {table.column('id')[0]}: {problem}")
        if json:
            common.print_json(rows.to_pylist())
            return
        from namesake.apps.terminal import Console
        from namesake.apps.terminal.explanations import show_explanation

        show_explanation(table, rows, Console(), all)


def _reading(articles: list[Path], given: Mapping[str, Any]) -> tuple["Reading", str | None]:
    """How to read the articles, and the date of undated ones: `--date` names a field unless it is a date."""
    from namesake.articles.days import HOW_TO_WRITE, written_date
    from namesake.formats.field_names import Reading

    date, format = given["date"], given.get("format")
    if format is not None and not any(str(path) == "-" for path in articles):
        raise NamesakeError(f"--format {format} applies to standard input (-); --to sets the format of the links")
    _check_format("--format", format, stdin_formats(), "standard input")
    if date is not None and not date.strip():
        raise NamesakeError(f"--date is empty: name the field of the date, or write a date as {HOW_TO_WRITE}")
    is_field = date is not None and written_date(date) is None and not date[:4].isdecimal()
    named: dict[str, Any] = {name: given.get(name) for name in ("text", "id", "title", "encoding", "sheet")}
    reading = Reading(**named, date=date if is_field else None, format=format, say=common.say)
    return reading, None if is_field else date


def _check_format(option: str, format: str | None, known: Sequence[str], what: str) -> None:
    if format is not None and format not in known:
        hint = did_you_mean(format, known)
        raise NamesakeError(f"{option} {format}: the formats of {what} are {', '.join(known)}{hint}")


# outputs
def is_folder(out: str) -> bool:
    """Whether the output is a folder: its name ends in a slash, or it exists and has no suffix of a link file."""
    from namesake.files import kind
    from namesake.formats.table_files import LINK_SUFFIXES

    return out.endswith("/") or (Path(out).is_dir() and kind(Path(out)) not in LINK_SUFFIXES)


def _report(where: object, counts: Mapping[str, int], pace: str) -> None:
    many = f"{counted(counts['mentions'], 'mention')} of {counted(counts['articles'], 'article')}"
    common.say(f"{where}: {many}, {counts['linked']:,} linked, {pace}")


def link_into_file(linker: "namesake.Linker", articles: Sequence[Path], out: Path, settings: dict[str, Any]) -> None:
    """Link into one file or to standard output, and report the counts."""
    began = time.perf_counter()
    with common.reported_rejects(out) as rejects:
        counts = namesake.link_files(linker, articles, out, **settings, rejects=rejects, reporter=reporter())
        pace = common.rate(counts.articles, time.perf_counter() - began, "article")
        _report("stdout" if str(out) == "-" else out, vars(counts), pace)
    _finish(linker, rejects.count > 0 and not counts.articles, articles, settings["reading"], counts)


def print_links(linker: "namesake.Linker", articles: Sequence[Path], settings: dict[str, Any]) -> None:
    """Print the links of each article as a table, and before it the text if the file is a text file."""
    from namesake.apps.terminal import Console
    from namesake.apps.terminal.explanations import show_links, show_texts
    from namesake.engines.file_linker import find_files, read_files, reading_for

    console, listing = Console(), find_files(articles, say=common.say)
    reading = reading_for(listing.paths, settings["reading"], settings["most_line"])
    articles_linked = 0
    with common.reported_rejects() as rejects:
        for path in listing.paths:
            for table in read_files([path], rejects, settings["date"], reading, listing):
                linked = linker.link_counted(table, rejects=rejects)
                links = linked.links.to_pylist()
                if ".txt" in path.suffixes or (str(path) == "-" and reading.format == "text"):
                    show_texts(linked.articles, links, console)
                shown = [row for row in links if row["qid"] is not None or not settings["linked_only"]]
                show_links(linker, table, shown, console)
                articles_linked += linked.articles.num_rows
    _finish(linker, rejects.count > 0 and not articles_linked, articles, reading, listing)


def _finish(linker: "namesake.Linker", failed: bool, articles: Sequence[Path], reading: "Reading", run: Any) -> None:
    """Report what was not linked. The exit code is not 0 if every record was rejected or a file was not read."""
    if linker.decisions is not None and (unused := linker.decisions.unused()):
        common.say(unused)  # the texts or the rows that they are about are gone
    common.report_skipped(run.notes, run.problems)
    if failed:
        common.say("no article could be linked")
        if reading.format is None and Path("-") in articles:
            common.say("standard input is read as JSON lines: for plain text add --format text")
        raise typer.Exit(common.NO_RESULT)
    if run.problems:
        raise typer.Exit(common.INCOMPLETE)


def link_into_folder(linker: "namesake.Linker", articles: Sequence[Path], out: Path, settings: dict[str, Any]) -> None:
    """Link into a folder, or resume such a run, and report the counts."""
    began = time.perf_counter()
    with common.resumable():
        run = namesake.link_folder(linker, articles, out, **settings, reporter=reporter())
    pace = common.rate(run.linked_now, time.perf_counter() - began, "article")
    if not run.linked_now:
        pace = "nothing new" if run.problems else "all of them in an earlier run"
    _report(out, vars(run.counts), pace)
    if run.undated:
        common.report_undated(Counter({run.unread_date or "": run.undated}))
    common.report_skipped(run.notes, ())
    if run.rejects:
        common.say(f"{counted(run.rejects, 'record')} rejected; all of them are in {out / 'rejects'}")
    if run.problems:
        many = counted(len(run.problems), "file or part", "files or parts")
        common.say(f"{many} could not be linked: see {out / 'run.json'}, repair them and run the command again")
        raise typer.Exit(common.INCOMPLETE)


def link_on_spark(articles: Sequence[str], kb: Path | None, out: str | None, settings: dict[str, Any]) -> None:
    """Link into a folder on Spark, and report the counts; an error of Java is reported in one line."""
    if out is None or not (is_folder(out) or "://" in out):
        raise NamesakeError("Spark writes a folder: name one with -o DIR/")
    from namesake.engines.spark_files import REJECTS, RUN, full, link_with_spark

    if "://" not in out and Path(out).is_dir() and any(Path(out).iterdir()):
        raise NamesakeError(full(out))
    if (kb := kb or named_kb()) is None:
        raise NamesakeError("Spark needs --kb or NAMESAKE_KB: a folder that all machines can read, or a packed KB")
    began, folder = time.perf_counter(), out.rstrip("/")
    try:
        tally = link_with_spark(articles, kb, folder, **settings)
    except Exception as problem:
        if os.environ.get("NAMESAKE_DEBUG") or not type(problem).__module__.startswith(("py4j", "pyspark")):
            raise
        raise NamesakeError(cause(str(problem))) from None
    _report(out, tally.counts, f"{time.perf_counter() - began:.1f} s on Spark")
    common.report_undated(tally.unread_dates)
    common.report_skipped(tally.notes, ())
    if tally.reasons:
        common.say(f"{counted(tally.reasons.total(), 'record')} rejected; all of them are in {folder}/{REJECTS}:")
        common.report_reasons(tally.reasons)
    for line in tally.problems:
        common.say(line)
    if tally.problems:
        common.say(f"{counted(len(tally.problems), 'file')} could not be read to the end: see {folder}/{RUN}")
        raise typer.Exit(common.INCOMPLETE)


def cause(report: str) -> str:
    """The line of an error report of Java or of a Python worker that states the cause: ours, else the innermost."""
    for ours in (r"NamesakeError: (.+)", r"^(\w+Error: .+)$"):
        if found := re.findall(ours, report, re.MULTILINE):
            return str(found[-1])
    lines = [line.strip() for line in report.splitlines() if line.strip()]
    inner = [line for line in lines if line.startswith(("Caused by: ", ": "))] or lines[:1]
    said = inner[-1].removeprefix("Caused by: ").removeprefix(": ") if inner else "no reason was given"
    return f"Spark: {said} (NAMESAKE_DEBUG=1 shows the full report)"
