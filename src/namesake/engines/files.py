"""Linking whole files: articles in, a file of links out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from namesake.articles.days import UNDATED, day_number
from namesake.articles.rejects import NoRejects, Rejects
from namesake.engines.described import described, flat
from namesake.engines.inputs import common_folder, input_paths
from namesake.engines.local import link_tables
from namesake.errors import NamesakeError, did_you_mean
from namesake.files import keep_apart
from namesake.files.lines import MOST_LINE
from namesake.files.meter import Meter
from namesake.files.several import Paths, several
from namesake.formats import read_articles
from namesake.formats.fields import Reading
from namesake.formats.links import LinkWriter, files_of
from namesake.linker import Linker
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
    paths, out = input_paths(several(articles), reporter.say), Path(out)
    rejects = NoRejects() if rejects is None else rejects
    outputs = files_of(out) if rejects.path is None else [*files_of(out), rejects.path]
    keep_apart(outputs, [*paths, linker.kb.path])
    seen = linked = mentions = 0

    def drawn(links: pa.Table) -> pa.Table:
        return described(linker.kb, flat(links) if one_per_span else links)

    with LinkWriter(out, linker.metadata, format) as writer, reporter.stage("linking"), Meter(paths) as meter:
        tables = read_files(paths, rejects, date, most_line, reading)
        for count, links in link_tables(linker, tables, threads, scores, rejects):
            writer.write(drawn(links))
            mentions += links.num_rows
            seen += count
            linked += links.num_rows - links.column("qid").null_count
            reporter.advance(meter.fraction(), seen, "articles")
        if not writer.rows:
            writer.write(drawn(linker.nothing(scores)))  # the columns, which a file without links has as well
    return Counts(seen, mentions, linked)


def read_files(
    paths: Sequence[Path],
    rejects: Rejects,
    date: str | None = None,
    most_line: int = MOST_LINE,
    reading: Reading | None = None,
) -> Iterator[pa.Table]:
    """The articles of all files in tables; `date` is that of articles without one.

    Dates that cannot be read are counted in `rejects.unread_dates`; their articles count as undated.
    """
    check_date(date)
    reading = Reading() if reading is None else reading
    reading = replace(reading, below=reading.below or common_folder(paths))
    for path in paths:
        yield from with_dates(read_articles(path, rejects, most_line=most_line, reading=reading), rejects, date)


def check_date(date: str | None) -> None:
    """Refuse what is no date."""
    if date is not None and day_number(date) == UNDATED:
        raise NamesakeError(f"`date={date!r}`: not a date; write it as 2016-12-26, 2016-12 or 2016")


def with_dates(tables: Iterable[pa.Table], rejects: Rejects, date: str | None) -> Iterator[pa.Table]:
    """Articles with `date` where they have none; dates that cannot be read are counted in `rejects.unread_dates`."""
    for table in tables:
        if date is not None:
            place = table.schema.get_field_index("date")
            table = table.set_column(place, table.schema.field(place), table.column("date").fill_null(date))
        for count in pc.value_counts(table.column("date")):
            text = count["values"].as_py()
            if text is not None and day_number(text) == UNDATED:
                rejects.unread_dates[text] += count["counts"].as_py()
        yield table


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
            f"{path}: nobody is called {name!r} in its {seen:,} articles" if seen else f"{path}: no article"
        )
    there = ", ".join(str(one.column("id")[0]) for one in found[:SOME_IDS])
    raise NamesakeError(f"{path}: which article? Name it with `article=`; {name!r} stands in {there}")
