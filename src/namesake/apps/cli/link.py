"""`namesake link`."""

from __future__ import annotations

import gc
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from namesake.apps.cli import options
from namesake.apps.cli.folder import INCOMPLETE, is_folder, link_into_folder
from namesake.apps.cli.output import default_kb, report_rejects, report_skipped, say, summary, warn_of_sample
from namesake.apps.cli.spark import Engine, link_on_spark
from namesake.errors import NamesakeError, did_you_mean

if TYPE_CHECKING:
    from namesake.articles.rejects import Rejects
    from namesake.formats.fields import Reading
    from namesake.linker import Linker

STDIN_FORMATS = ("text", "csv", "tsv", "json", "jsonl")
LINK_FORMATS = ("jsonl", "csv", "tsv", "parquet")
NOTHING_LINKED = 3
"""The exit code of a run that set every record aside."""

Mentions = Annotated[
    str,
    typer.Option(
        "--mentions", help="of articles without any: names finds them, spacy:MODEL has a model find them, given: none"
    ),
]
Date = Annotated[
    str | None,
    typer.Option(
        "--date",
        help="the field of the date, such as published; or the date of articles without one: 2016-12-26",
    ),
]
Text = Annotated[str | None, typer.Option("--text", help="the field or column of the text; a.b is b within a")]
Id = Annotated[str | None, typer.Option("--id", help="the field of the id, such as url")]
Title = Annotated[str | None, typer.Option("--title", help="the field of the title, such as headline")]


def link(
    articles: Annotated[
        list[str],
        typer.Argument(
            help="JSONL, JSON, CSV, TSV or .txt (also .gz .bz2 .zst) or Parquet files, folders of them, patterns; "
            "- is standard input"
        ),
    ],
    to: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            help=".parquet, or .jsonl, .csv or .tsv[.gz|.bz2|.zst], or a folder, DIR/; - is standard output; "
            "without it, a table is printed",
        ),
    ] = None,
    kb: options.Kb = None,
    recipe: options.Recipe = "default",
    scores: Annotated[bool, typer.Option("--scores", help="also write every candidate with its scores")] = False,
    threshold: options.Threshold = None,
    mentions: Mentions = "names",
    text: Text = None,
    id: Id = None,
    title: Title = None,
    date: Date = None,
    encoding: options.Encoding = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="of standard input: text, csv, tsv, json or jsonl (default); files tell it by their suffix",
        ),
    ] = None,
    to_format: Annotated[
        str | None,
        typer.Option(
            "--to", help="format of the links: jsonl, csv, tsv or parquet; default: by the suffix of -o, jsonl for -o -"
        ),
    ] = None,
    flat: Annotated[bool, typer.Option("--flat", help="one row for each place of a name, with start and end")] = False,
    threads: Annotated[int, typer.Option("--threads", min=0, help="0: one for each core")] = 0,
    workers: Annotated[
        int | None,
        typer.Option("--workers", min=1, help="processes that link into a folder; default: one for each core"),
    ] = None,
    engine: Annotated[
        Engine, typer.Option("--engine", help="what links into a folder: this machine, or Spark (the extra spark)")
    ] = Engine.local,
    master: Annotated[
        str | None, typer.Option("--master", help="of Spark, such as local\\[2] or spark://host:7077")
    ] = None,
    max_line: Annotated[
        int, typer.Option("--max-line", min=1, max=1024, help="MB that a line, or a .txt file, may have")
    ] = 256,
) -> None:
    """Link the names in articles to Wikidata.

    Into a folder, the same command goes on where it was stopped.

    Example: namesake link news.jsonl.gz --kb kb/ -o links.parquet
    """
    if scores and to is None:
        raise NamesakeError("--scores is for files: name one with -o, or see `namesake explain`")
    if to is None and (flat or to_format):
        raise NamesakeError("--flat and --to are for files: name one with -o, or -o - for standard output")
    chosen = options.threshold_of(threshold)
    if engine is Engine.spark:
        _refuse_for_spark(
            text=text,
            id=id,
            title=title,
            encoding=encoding,
            format=format,
            to=to_format,
            flat=flat,
            mentions=mentions != "names",
            workers=workers,
            threads=threads,
        )
        link_on_spark(
            articles,
            kb,
            to,
            master,
            recipe,
            scores=scores,
            threshold=chosen,
            date=date,
            most_line=max_line << 20,
        )
        return
    paths = [Path(one) for one in articles]
    if master is not None:
        raise NamesakeError("--master is for Spark: give --engine spark as well")
    folder = default_kb(kb)
    from namesake import Linker

    linker = Linker(folder, recipe, chosen, mentions)
    warn_of_sample(folder, kb, paths)
    reading, date = reading_of(paths, text, id, title, date, encoding, format)
    if to_format is not None and to_format not in LINK_FORMATS:
        hint = did_you_mean(to_format, LINK_FORMATS)
        raise NamesakeError(f"--to {to_format}: links can be {', '.join(LINK_FORMATS)}{hint}")
    if to is None:
        _print_links(linker, paths, date, max_line << 20, reading)
        return
    began = time.perf_counter()
    gc.freeze()  # what is loaded stays: the collector need not look at it for every thousand articles
    if is_folder(to):
        if flat or to_format:
            raise NamesakeError("--flat and --to are for a file of links, such as -o links.csv, not for a folder")
        link_into_folder(
            linker,
            paths,
            Path(to),
            workers=workers or 0,
            scores=scores,
            date=date,
            most_line=max_line << 20,
            reading=reading,
        )
        return
    if workers is not None:
        raise NamesakeError("--workers is for a folder, such as -o DIR/; for a file there is --threads")
    from namesake.articles.rejects import Rejects
    from namesake.engines.files import link_files
    from namesake.progress import reporter

    out = Path(to)
    with Rejects(None if to == "-" else out.with_name(out.name + ".rejects.jsonl")) as rejects:
        counts = link_files(
            linker,
            paths,
            out,
            scores=scores,
            date=date,
            threads=threads,
            most_line=max_line << 20,
            reading=reading,
            one_per_span=flat,
            format=to_format,
            rejects=rejects,
            reporter=reporter(),
        )
    rate = counts.articles / max(time.perf_counter() - began, 1e-9)
    where = "stdout" if to == "-" else out
    say(f"{where}: {summary(counts.mentions, counts.articles, counts.linked)}, {rate:,.0f} articles/s")
    report_rejects(rejects)
    report_skipped(counts.notes, counts.problems)
    _fail_without_articles(counts.articles, rejects, paths, reading)
    if counts.problems:
        raise typer.Exit(INCOMPLETE)


def reading_of(
    articles: list[Path],
    text: str | None,
    id: str | None,
    title: str | None,
    date: str | None,
    encoding: str | None,
    format: str | None,
) -> tuple[Reading, str | None]:
    """How to read the articles, and the date of those that have none: `--date` names a field, unless it is a date."""
    from namesake.articles.days import is_written_as_date
    from namesake.engines.files import check_date_field
    from namesake.formats.fields import Reading

    if format is not None and not any(str(path) == "-" for path in articles):
        raise NamesakeError(f"--format {format} is for standard input (-); --to is the format of the links")
    if format is not None and format not in STDIN_FORMATS:
        hint = did_you_mean(format, STDIN_FORMATS)
        raise NamesakeError(f"--format {format}: standard input can be {', '.join(STDIN_FORMATS)}{hint}")
    is_field = date is not None and not is_written_as_date(date) and not date[:4].isdecimal()
    reading = Reading(text, id, title, date if is_field else None, encoding, format, None, say)
    check_date_field(articles, reading)
    return reading, None if is_field else date


def _refuse_for_spark(**given: object) -> None:
    """Refuse options that Spark would not heed: it reads JSON lines and Parquet of our layouts, and writes Parquet."""
    unheeded = [f"--{option}" for option, value in given.items() if value]
    if unheeded:
        raise NamesakeError(f"{', '.join(unheeded)}: not with --engine spark, which reads articles of our layouts only")


def _fail_without_articles(linked: int, rejects: Rejects, articles: list[Path], reading: Reading) -> None:
    """End with a code of its own where every record was set aside: a script should not take that for success."""
    if rejects.count and not linked:
        say("no article could be linked")
        if reading.format is None and Path("-") in articles:
            say("standard input is read as JSON lines: for plain text add --format text")
        raise typer.Exit(NOTHING_LINKED)


def _print_links(linker: Linker, articles: list[Path], date: str | None, most_line: int, reading: Reading) -> None:
    """Print the links of each article as a table, below the text where it is a text file."""
    from namesake.apps.terminal.console import Console
    from namesake.apps.terminal.links import show_links
    from namesake.apps.terminal.text import show_text
    from namesake.articles.rejects import Rejects
    from namesake.engines.files import Skipped, check_date_field, read_files
    from namesake.engines.inputs import common_folder, find_files

    console, listing = Console(), find_files(articles, say=say)
    paths, skipped = listing.paths, Skipped(listing.found, [])
    check_date_field(paths, reading)
    reading = replace(reading, below=common_folder(paths))
    seen = 0
    with Rejects() as rejects:
        for path in paths:
            for table in read_files([path], rejects, date, most_line, reading, skipped):
                if ".txt" in path.suffixes or (str(path) == "-" and reading.format == "text"):
                    show_text(linker, table, console)
                seen += show_links(linker, table, console, rejects)
    report_rejects(rejects)
    report_skipped(listing.notes, skipped.problems)
    _fail_without_articles(seen, rejects, articles, reading)
    if skipped.problems:
        raise typer.Exit(INCOMPLETE)
