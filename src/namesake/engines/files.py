"""Linking whole files: articles in, a file of links out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from namesake.articles.days import HOW_TO_WRITE, UNDATED, day_number, unread_dates
from namesake.articles.rejects import NoRejects, Rejects
from namesake.engines.described import described, flat
from namesake.engines.inputs import common_folder, find_files
from namesake.engines.local import link_tables
from namesake.errors import NamesakeError, did_you_mean
from namesake.files import STDIN, keep_apart, kind
from namesake.files.lines import MOST_LINE
from namesake.files.meter import Meter
from namesake.files.several import Paths, several
from namesake.formats import read_articles
from namesake.formats.fields import Reading
from namesake.formats.links import LinkWriter, files_of
from namesake.linker import Linker
from namesake.printable import counted
from namesake.progress import Reporter

SOME_IDS = 10
"""Articles that a message names, where one was not found."""


@dataclass(frozen=True)
class Counts:
    """What a run linked."""

    articles: int
    """Those that could be linked: others are in the rejects."""
    mentions: int
    linked: int
    """The mentions that got a QID."""
    problems: tuple[str, ...] = ()
    """Files that a folder or pattern led to and that could not be read, or not to their end."""
    notes: tuple[str, ...] = ()
    """What was passed over in the folders of articles."""


def link_files(
    linker: Linker,
    articles: Paths,
    out: str | Path,
    *,
    scores: bool = False,
    date: str | None = None,
    threads: int = 0,
    most_line: int = MOST_LINE,
    reading: Reading | None = None,
    one_per_span: bool = False,
    format: str | None = None,
    rejects: Rejects | None = None,
    reporter: Reporter | None = None,
) -> Counts:
    """Link the articles of some files and write the links to one file, which appears when all is done.

    Args:
        linker: what links them.
        articles: one or several JSONL, JSON, CSV, TSV or text (also `.gz .bz2 .zst`) or Parquet files, patterns, or
            folders of them; `-` is standard input.
        out: `.parquet`, or `.jsonl`, `.csv`, `.tsv` with or without compression; `-` is standard output.
        scores: also write every candidate with its scores.
        date: the ISO date of articles that have none.
        threads: how many threads link; 0 is one for each core.
        most_line: how many bytes a line of JSON, or a text file, may have; longer ones are set aside.
        reading: what the fields of the articles are called, and what else the files do not tell.
        one_per_span: write one row for each place of a name, with `start` and `end`.
        format: of the links, where the suffix does not tell it: parquet, jsonl, csv or tsv.
        rejects: takes the records that cannot be used; without it, the first of them is an error.
        reporter: told how far the work is.
    """
    reporter = Reporter() if reporter is None else reporter
    named, out = several(articles), Path(out)
    if not named:
        raise NamesakeError("`articles=` is empty: name at least one file, folder or pattern")
    listing = find_files(named, say=reporter.say)
    paths, problems = listing.paths, list[str]()
    check_date_field(paths, reading)
    rejects = NoRejects() if rejects is None else rejects
    outputs = files_of(out) if rejects.path is None else [*files_of(out), rejects.path]
    keep_apart(outputs, [*paths, linker.kb.path])
    seen = linked = mentions = 0

    def drawn(links: pa.Table) -> pa.Table:
        return described(linker.kb, flat(links) if one_per_span else links)

    with LinkWriter(out, linker.metadata, format) as writer, reporter.stage("linking"), Meter(paths) as meter:
        skipped = None if isinstance(rejects, NoRejects) else Skipped(listing.found, problems)
        tables = read_files(paths, rejects, date, most_line, reading, skipped)
        for count, links in link_tables(linker, tables, threads, scores, rejects):
            writer.write(drawn(links))
            mentions += links.num_rows
            seen += count
            linked += links.num_rows - links.column("qid").null_count
            reporter.advance(meter.fraction(), seen, "articles")
        if not writer.rows:
            writer.write(drawn(linker.nothing(scores)))  # the columns, which a file without links has as well
    return Counts(seen, mentions, linked, tuple(problems), tuple(listing.notes))


@dataclass(frozen=True)
class Skipped:
    """The files that may be skipped if they cannot be read, and why some were."""

    may_be: Collection[Path]
    problems: list[str]


def read_files(
    paths: Sequence[Path],
    rejects: Rejects,
    date: str | None = None,
    most_line: int = MOST_LINE,
    reading: Reading | None = None,
    skipped: Skipped | None = None,
) -> Iterator[pa.Table]:
    """The articles of all files in tables; `date` is that of articles without one.

    Dates that cannot be read are counted in `rejects.unread_dates`; their articles count as undated. A file that
    cannot be read is an error, unless `skipped` allows for it.
    """
    check_date(date)
    reading = Reading() if reading is None else reading
    reading = replace(reading, below=reading.below or common_folder(paths))
    for path in paths:
        read = 0
        try:
            for table in with_dates(read_articles(path, rejects, most_line=most_line, reading=reading), rejects, date):
                yield table
                read += table.num_rows
        except NamesakeError as problem:
            if skipped is None or path not in skipped.may_be:
                raise
            before = f"; {counted(read, 'article')} before that place linked" if read else ""
            skipped.problems.append(f"{problem}{before}")


def check_date_field(paths: Sequence[Path], reading: Reading | None) -> None:
    """Refuse a field of dates where no file has fields: what is no date is taken for the name of one."""
    if reading is None or reading.date is None:
        return
    text = [(str(path) == STDIN and reading.format == "text") or kind(path) == ".txt" for path in paths]
    if text and all(text):
        raise NamesakeError(
            f"`date={reading.date!r}`: not a date, and {paths[0]} is plain text, which has no field of that name; "
            f"write the date as {HOW_TO_WRITE}"
        )


def check_date(date: str | None, argument: str = "date") -> None:
    """Refuse what is no date; `argument` is what the caller's argument is called."""
    if date is not None and day_number(date) == UNDATED:
        raise NamesakeError(f"`{argument}={date!r}`: not a date; write it as {HOW_TO_WRITE}")


def with_dates(tables: Iterable[pa.Table], rejects: Rejects, date: str | None) -> Iterator[pa.Table]:
    """Articles with `date` where they have none.

    Dates that cannot be read are counted in `rejects.unread_dates` and become null: their articles are undated.
    """
    for table in tables:
        dates, place = table.column("date"), table.schema.get_field_index("date")
        bad = unread_dates(dates)
        rejects.unread_dates.update(bad)
        if date is not None:
            dates = dates.fill_null(date)
        if bad:
            dates = pc.if_else(pc.is_in(dates, pa.array(list(bad), dates.type)), pa.scalar(None, dates.type), dates)
        yield table.set_column(place, table.schema.field(place), dates) if bad or date is not None else table


def find_article(
    path: Path, article: str | None, rejects: Rejects, date: str | None = None, reading: Reading | None = None
) -> pa.Table:
    """The article with the id `article` as a table of one row; records that cannot be used are set aside.

    Without an id, the file's only article; where there are several, the error names some of them.
    """
    known: list[str] = []
    for table in read_files([path], rejects, date, reading=reading):
        ids = table.column("id").to_pylist()
        if article is not None and article in ids:
            return table.slice(ids.index(article), 1)
        if ids and not known:
            first = table.slice(0, 1)
        known += ids[: SOME_IDS - len(known)]
        if article is None and len(known) == SOME_IDS:
            break
    if article is None and len(known) == 1:
        return first
    there = f"; there are {', '.join(known)}{', …' if len(known) == SOME_IDS else ''}" if known else ""
    if article is None:
        raise NamesakeError(
            f"{path}: which article? Name it with `article=`{there}" if known else f"{path}: no article"
        )
    raise NamesakeError(f"{path}: no article with the id {article!r}{did_you_mean(article, known)}{there}")


def find_named(
    linker: Linker, path: Path, name: str, rejects: Rejects, date: str | None = None, reading: Reading | None = None
) -> pa.Table:
    """The one article in which somebody is called `name`, or the file's only article, as a table of one row."""
    seen, found = 0, []
    for table in read_files([path], rejects, date, reading=reading):
        if not seen:
            first = table.slice(0, 1)
        seen += table.num_rows
        named = linker.naming(table, name, rejects)
        found += [named.slice(at, 1) for at in range(named.num_rows)]
        if len(found) >= SOME_IDS:
            break
    if len(found) == 1 or (seen == 1 and not found):
        return found[0] if found else first
    if not found:
        raise NamesakeError(
            f"{path}: nobody is called {name!r} in its {counted(seen, 'article')}" if seen else f"{path}: no article"
        )
    there = ", ".join(str(one.column("id")[0]) for one in found[:SOME_IDS])
    raise NamesakeError(f"{path}: which article? Name it with `article=`; {name!r} stands in {there}")
