"""Tables of articles from files, and the search for one article in a file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from namesake.articles.days import HOW_TO_WRITE, check_date, unread_dates
from namesake.articles.rejects import Rejects
from namesake.engines.inputs import common_folder
from namesake.errors import NamesakeError, did_you_mean
from namesake.files.lines import MOST_LINE
from namesake.formats import format_of, read_articles
from namesake.formats.field_names import Reading
from namesake.linker import Linker
from namesake.printable import counted

SOME_IDS = 10
"""How many articles a message lists if one was not found."""


@dataclass(frozen=True)
class Skipped:
    """The files that are skipped if they cannot be read, and the reasons why some were."""

    may_be: Collection[Path]
    problems: list[str]


def reading_for(paths: Sequence[Path], reading: Reading | None) -> Reading:
    """The settings for all files of a run: ids of files with the same name begin at their common folder.

    Refuses the name of a date field if no file has fields: a text that is not a date is taken for such a name.
    """
    reading = reading or Reading()
    formats = [format_of(path, reading.format or "jsonl") for path in paths]
    if reading.date is not None and formats and all(one is not None and not one.has_fields for one in formats):
        raise NamesakeError(
            f"`date={reading.date!r}`: not a date, and {paths[0]} is plain text, which has no field of that name; "
            f"write the date as {HOW_TO_WRITE}"
        )
    return replace(reading, below=reading.below or common_folder(paths))


def read_files(
    paths: Sequence[Path],
    rejects: Rejects,
    date: str | None = None,
    most_line: int = MOST_LINE,
    reading: Reading | None = None,
    skipped: Skipped | None = None,
) -> Iterator[pa.Table]:
    """The articles of all files in tables; `date` is that of articles without one.

    Dates that cannot be read are counted in `rejects.unread_dates`; their articles are undated. A file that cannot be
    read is an error, unless `skipped` allows for it.
    """
    check_date(date)
    reading = reading or Reading()
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


def with_dates(tables: Iterable[pa.Table], rejects: Rejects, date: str | None) -> Iterator[pa.Table]:
    """The tables with `date` for articles without one.

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
    """The article with the id `article` as a table of one row; without an id, the only article of the file.

    If there are several, the error lists some of them. Invalid records are rejected.
    """
    known: list[str] = []
    for table in read_files([path], rejects, date, reading=reading_for([path], reading)):
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
    """The one article with a mention called `name`, or the only article of the file, as a table of one row."""
    seen, found = 0, []
    for table in read_files([path], rejects, date, reading=reading_for([path], reading)):
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
            f"{path}: no mention {name!r} in its {counted(seen, 'article')}" if seen else f"{path}: no article"
        )
    there = ", ".join(str(one.column("id")[0]) for one in found[:SOME_IDS])
    raise NamesakeError(f"{path}: which article? Name it with `article=`; {name!r} occurs in {there}")
