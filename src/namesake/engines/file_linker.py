"""Linking of files: which files are read, their articles as tables, and their links in one described file."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from glob import glob, has_magic
from os.path import commonpath, realpath
from pathlib import Path
from weakref import WeakKeyDictionary

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import Int64, arrow_numbers, arrow_texts, list_parts, numpy_numbers, one_chunk, sizes
from namesake.articles.days import HOW_TO_WRITE, check_date, unread_dates
from namesake.articles.rejects import NoRejects, Rejects
from namesake.errors import NamesakeError, did_you_mean
from namesake.files import STDIN, Paths, keep_apart, several
from namesake.files.lines import MOST_LINE, Meter
from namesake.files.outputs import identity
from namesake.formats import format_of, read_articles, save_as, words
from namesake.formats.field_names import Reading, silent
from namesake.formats.link_writers import MOST_CANDIDATES, LinkWriter, files_of, is_ours
from namesake.kb.manifest import MANIFEST
from namesake.kb.records import about, found_all
from namesake.kb.store import KB
from namesake.linker import Linked, Linker
from namesake.machine import in_order, threads_for
from namesake.printable import counted, listed
from namesake.progress import Reporter


class Input(msgspec.Struct, frozen=True):
    """A file of articles in the state in which a run found it."""

    path: str
    size: int
    modified: int  # in nanoseconds; 0 if the state of the file cannot be read


@dataclass
class Listing:
    """The files to read, each once, and the files of the same folders that are skipped."""

    paths: list[Path] = field(default_factory=list)
    found: set[Path] = field(default_factory=set)
    """Those of `paths` that a folder or a pattern led to: an unreadable one is left out, not an error."""
    ours: list[Path] = field(default_factory=list)  # written by Namesake
    others: list[Path] = field(default_factory=list)  # in other formats
    problems: list[str] = field(default_factory=list)
    """Why some files of `found` could not be read, or not to their end."""

    @property
    def notes(self) -> list[str]:
        """Messages about skipped files."""
        lines = []
        if self.ours:
            lines.append(f"{counted(len(self.ours), 'file')} skipped, written by Namesake: {listed(self.ours)}")
        if self.others:
            first = next((hint for hint in map(save_as, self.others) if hint), "")
            lines.append(f"{counted(len(self.others), 'file')} skipped, not articles: {listed(self.others)}{first}")
        return lines


def find_files(named: Sequence[str | Path], out: Path | None = None, say: Callable[[str], None] = silent) -> Listing:
    """The files that names mean, each once: named files in their order, those of patterns and folders sorted.

    Files that Namesake wrote are skipped unless they are named, and files in the output folder `out` always.
    """
    listing, chosen = Listing(), set()
    for one in map(str, named):
        before, path = len(listing.paths), Path(one)
        if path.is_dir() or (has_magic(one) and not path.exists()):
            searched = _outside(_searched(one), out)
            kbs = {file.parent for file in searched if file.name == MANIFEST and is_ours(file)}
            for file in searched:
                if file.name == MANIFEST or kbs.isdisjoint(file.parents):
                    is_other = format_of(file) is None
                    (listing.others if is_other else listing.ours if is_ours(file) else listing.paths).append(file)
        else:
            if one == STDIN and out is not None:
                raise NamesakeError("a run that reads standard input cannot be resumed: write its links to a file")
            if one != STDIN and format_of(path) is None:
                missing = "" if path.exists() else "no such file or folder; "
                raise NamesakeError(f"{one}: {missing}articles come as {words()}{save_as(path)}")
            chosen.add(identity(path))
            listing.paths += _outside([path], out)
        if len(listing.paths) == before:
            skipped = "".join(f"; {note}" for note in listing.notes)
            raise NamesakeError(f"{one}: no file of articles found; their suffixes are {words()}{skipped}")
    kept: dict[object, Path] = {}  # device and inode identify a file; its first name stays
    firsts = [(path, kept.setdefault(identity(path), path)) for path in dict.fromkeys(listing.paths)]
    if others := [(path, first) for path, first in firsts if first != path]:
        more = f", and {len(others) - 1:,} more such files" if len(others) > 1 else ""
        say(f"{others[0][0]} is the file {others[0][1]}{more}: linked once")
    listing.paths = list(kept.values())
    listing.found = {path for path in listing.paths if identity(path) not in chosen}
    listing.ours = [path for path in listing.ours if identity(path) not in chosen]
    return listing


def _outside(found: list[Path], out: Path | None) -> list[Path]:
    """The files that are not in the folder `out`; an error if all of them are."""
    if out is None:
        return found
    for path in found:
        if path.exists() and not path.is_file():
            raise NamesakeError(f"{path} is not a regular file, so the run cannot be resumed: write links to a file")
    whole = Path(realpath(out))
    kept = [path for path in found if not Path(realpath(path)).is_relative_to(whole)]
    if found and not kept:
        raise NamesakeError(f"{found[0]} is in the output folder {out}: name another folder")
    return kept


def _searched(name: str) -> list[Path]:
    """The regular files and broken links of a folder or pattern. Reading a pipe or device might wait forever."""
    path = Path(name)
    if path.is_dir():
        found = sorted(one for one in path.rglob("*") if not re.search(r"(^|/)[._]", str(one.relative_to(path))))
    else:
        fitting = [Path(one) for one in sorted(glob(name, recursive=True))]  # noqa: PTH207 - it may begin at the root
        if not fitting:
            raise NamesakeError(f"{name}: no file matches this pattern")
        found = [file for one in fitting for file in (_searched(str(one)) if one.is_dir() else [one])]
    return [one for one in found if one.is_file() or not one.exists()]


def look_at(path: Path) -> Input:
    """The present state of a file."""
    with suppress(OSError):
        found = path.stat()
        return Input(str(path), found.st_size, found.st_mtime_ns)
    return Input(str(path), 0, 0)


SOME_IDS = 10  # how many articles a message lists if one was not found


def reading_for(paths: Sequence[Path], reading: Reading | None, most_line: int = MOST_LINE) -> Reading:
    """The settings for all files of a run: if two have the same name, ids begin at the common folder of all."""
    reading, files = reading or Reading(), [path for path in paths if str(path) != STDIN]
    formats = [format_of(path, reading.format or "jsonl") for path in paths]
    # A text that is not a date is taken for the name of a field, which plain text does not have.
    if reading.date is not None and formats and all(one is not None and not one.has_fields for one in formats):
        wrong = f"`date={reading.date!r}`: not a date, and {paths[0]} is plain text, which has no field of that name"
        raise NamesakeError(f"{wrong}; write the date as {HOW_TO_WRITE}")
    below = reading.below
    if below is None and len({path.name for path in files}) < len(files):
        below = Path(commonpath([path.absolute().parent for path in files]))
    return replace(reading, below=below, most_line=most_line)


def read_files(
    paths: Sequence[Path],
    rejects: Rejects,
    date: str | None = None,
    reading: Reading | None = None,
    listing: Listing | None = None,
) -> Iterator[pa.Table]:
    """The articles of all files as `with_dates`; an error in a file that `listing` has found becomes its problem."""
    check_date(date)
    reading = reading or reading_for(paths, None)
    for path in paths:
        read = 0
        try:
            for table in with_dates(read_articles(path, rejects, reading), rejects, date):
                yield table
                read += table.num_rows
        except NamesakeError as problem:
            if listing is None or path not in listing.found:
                raise
            before = f"; {counted(read, 'article')} before that place linked" if read else ""
            listing.problems.append(f"{problem}{before}")


def with_dates(tables: Iterable[pa.Table], rejects: Rejects, date: str | None) -> Iterator[pa.Table]:
    """The tables with `date` for articles without one; dates that cannot be read are counted and become null."""
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
    linker: Linker,
    path: Path,
    article: str | None,
    name: str | None,
    rejects: Rejects,
    date: str | None = None,
    reading: Reading | None = None,
) -> pa.Table:
    """The article with the id `article`, else the only one with a mention called `name`, else the file's only one."""
    seen, found = 0, []
    for table in read_files([path], rejects, date, reading_for([path], reading)):
        ids = table.column("id").to_pylist()
        if article in ids:
            return table.slice(ids.index(article), 1)
        if not seen:
            first = table.slice(0, 1)
        seen += len(ids)
        fitting = table if name is None or article is not None else linker.naming(table, name, rejects)
        found += [fitting.slice(at, 1) for at in range(min(fitting.num_rows, SOME_IDS))]
        if article is None and len(found) >= SOME_IDS:
            break
    if article is None and (len(found) == 1 or (seen == 1 and not found)):
        return found[0] if found else first
    known = [str(one.column("id")[0]) for one in found[:SOME_IDS]]
    there = f"; there are {', '.join(known)}{', …' if len(known) == SOME_IDS else ''}" if known else ""
    if article is not None:
        problem = f"no article with the id {article!r}{did_you_mean(article, known)}{there}"
    elif found:
        there = there if name is None else f"; {name!r} occurs in {', '.join(known)}"
        problem = f"which article? Name it with `article=`{there}"
    else:
        problem = f"no mention {name!r} in its {counted(seen, 'article')}" if seen else "no article"
    raise NamesakeError(f"{path}: {problem}")


REMEMBERED = 1 << 18
_made: WeakKeyDictionary[KB, dict[int, str | None]] = WeakKeyDictionary()
"""Replacements of missing descriptions."""


def described(kb: KB, links: pa.Table, one_per_span: bool = False, linked_only: bool = False) -> pa.Table:
    """Links with `label`, `description` and `url` of the entity after its `qid`, and the labels of the candidates."""
    links = links.filter(links.column("qid").is_valid()) if linked_only else links
    links = flat(links) if one_per_span else links
    for name in ("qid", "best", "runner_up"):
        qids = one_chunk(links.column(name))
        known = np.where(numpy_numbers(qids.is_valid()), kb.rows(kb.ids.parse(qids)), -1)
        rows, which = np.unique(known, return_inverse=True)
        items = pa.nulls(len(rows), pa.int32())
        if len(kb):
            items = arrow_numbers(kb.entity_item[np.maximum(rows, 0)], rows < 0)
        labels = kb.item_labels.arrow().take(items).cast(pa.string())
        added = {"label" if name == "qid" else f"{name}_label": labels.take(arrow_numbers(which))}
        if name == "qid":
            added |= {"description": _descriptions(kb, rows).take(arrow_numbers(which)), "url": kb.ids.iris(qids)}
        for at, (column, values) in enumerate(added.items(), links.schema.get_field_index(name) + 1):
            links = links.add_column(at, column, values)
    return links


def _descriptions(kb: KB, rows: Int64) -> pa.StringArray:
    """The description of each row, or its occupations and country; null for -1."""
    is_nil = rows < 0
    texts = kb.descriptions.arrow().take(arrow_numbers(rows, is_nil)).cast(pa.string())
    bare = ~is_nil & (sizes(texts) == 0)
    made = _made.setdefault(kb, {})
    if len(made) >= REMEMBERED:
        made.clear()
    made.update({row: about(kb, row) or None for row in rows[bare].tolist() if row not in made})
    instead = [made[row] for row in rows[bare].tolist()]
    return pc.replace_with_mask(texts, arrow_numbers(bare), arrow_texts(instead))


def flat(links: pa.Table) -> pa.Table:
    """One row per occurrence of a name: `start`, `end` and `in_title` replace `spans` and `title_spans`."""
    both = [list_parts(one_chunk(links.column(name))) for name in ("title_spans", "spans")]
    row = np.concatenate([np.repeat(np.arange(links.num_rows), np.diff(indptr)) for indptr, _ in both])
    order = np.argsort(row, kind="stable")  # the occurrences in the title come first
    ends = np.concatenate([numpy_numbers(spans.flatten()).reshape(-1, 2) for _, spans in both])[order]
    table = links.take(arrow_numbers(row[order])).drop_columns(["spans", "title_spans"])
    added = {"in_title": order < len(both[0][1]), "end": ends[:, 1], "start": ends[:, 0]}
    for name, column in added.items():
        table = table.add_column(table.schema.get_field_index("name") + 1, name, arrow_numbers(column))
    return table


def link_tables(
    linker: Linker,
    tables: Iterable[pa.Table],
    rejects: Rejects,
    threads: int = 1,
    scores: bool = False,
    most: int | None = None,
) -> Iterator[Linked]:
    """Link tables of articles, in their order; at most two tables per thread are in memory."""

    def link(table: pa.Table) -> tuple[Linked, Rejects]:
        own = Rejects(most=table.num_rows)  # threads do not share rejects
        return linker.link_counted(table, scores, own, most), own

    threads = threads_for(threads)
    for linked, own in in_order(link, tables, threads) if threads > 1 else map(link, tables):
        for reject in own.first:
            rejects.add(reject)
        rejects.unread_dates.update(own.unread_dates)
        yield linked


@dataclass(frozen=True)
class Counts:
    """Counts of a run."""

    articles: int  # that could be linked; the others are rejected
    mentions: int
    linked: int  # mentions with a QID
    problems: tuple[str, ...] = ()
    """Files of a folder or pattern that could not be read, or not to their end."""
    notes: tuple[str, ...] = ()  # about skipped files


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
    linked_only: bool = False,
    format: str | None = None,
    rejects: Rejects | None = None,
    reporter: Reporter | None = None,
) -> Counts:
    """Link the articles of files and write the links to one file, which appears when the run succeeds.

    Args:
        linker: links the articles.
        articles: one or several JSONL, JSON, CSV, TSV or text (also `.gz .bz2 .zst`) or Parquet files, patterns, or
            folders of them; `-` is standard input.
        out: `.parquet`, `.xlsx`, `.db` (SQLite), or `.jsonl`, `.csv`, `.tsv` with or without compression; `-` is
            standard output.
        scores: also write every candidate with its scores.
        date: the ISO date of articles without one.
        threads: how many threads link; 0 is one per core.
        most_line: the maximum size of a line of JSON or of a text file, in bytes; longer ones are rejected.
        reading: the names of the fields, and other settings that do not follow from the suffix.
        one_per_span: write one row per occurrence of a name, with `start` and `end`.
        linked_only: leave out names without a QID.
        format: the format of the links, if it does not follow from the suffix: parquet, jsonl, csv, tsv, xlsx or db.
        rejects: receives invalid records; without it, the first of them is an error.
        reporter: shows progress.
    """
    reporter, out, named = reporter or Reporter(), Path(out), several(articles)
    if not named:
        raise NamesakeError("`articles=` is empty: name at least one file, folder or pattern")
    listing = find_files(named, say=reporter.say)
    paths, optional = listing.paths, None if rejects is None else listing
    rejects = NoRejects() if rejects is None else rejects
    outputs = files_of(out) if rejects.path is None else [*files_of(out), rejects.path]
    keep_apart(outputs, [*paths, linker.kb.path])
    counts = Counter(articles=0, mentions=0, linked=0)
    with (
        LinkWriter(out, linker.metadata, format, describe=partial(found_all, linker.kb)) as writer,
        reporter.stage("linking"),
        Meter(paths) as meter,
    ):
        tables = read_files(paths, rejects, date, reading_for(paths, reading, most_line), optional)
        most = MOST_CANDIDATES if writer.has_articles and not scores else None
        scores, one_per_span = scores or writer.has_articles, one_per_span and not writer.has_articles
        for done in link_tables(linker, tables, rejects, threads, scores, most):
            writer.write(described(linker.kb, done.links, one_per_span, linked_only), done.articles)
            counts.update(done.counts)
            reporter.advance(meter.fraction(), counts["articles"], "articles")
        if not counts["mentions"]:
            writer.write(described(linker.kb, linker.empty_links(scores), one_per_span))  # the columns of no links
    return Counts(**counts, problems=tuple(listing.problems), notes=tuple(listing.notes))
