"""Links with the labels and descriptions of their entities, on request with one row per occurrence.

Linking of files into one file of links.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake import arrays
from namesake.arrays import Int64, arrow_numbers, numpy_numbers, one_chunk
from namesake.articles.rejects import NoRejects, Rejects
from namesake.engines.article_files import find_files, read_files, reading_for
from namesake.errors import NamesakeError
from namesake.files import keep_apart
from namesake.files.lines import MOST_LINE, Meter
from namesake.files.several import Paths, several
from namesake.formats.field_names import Reading
from namesake.formats.link_writers import LinkWriter, files_of
from namesake.kb import WIKIDATA
from namesake.kb.records import about
from namesake.kb.store import KB
from namesake.kernels.link.candidate_tables import parse_qids
from namesake.linker import Linked, Linker
from namesake.machine import in_order, threads_for
from namesake.progress import Reporter

REMEMBERED = 1 << 18
_made: WeakKeyDictionary[KB, dict[int, str | None]] = WeakKeyDictionary()
"""Replacements of missing descriptions."""


def described(kb: KB, links: pa.Table, one_per_span: bool = False) -> pa.Table:
    """Links with `label`, `description` and `url` of the entity after its `qid`; `one_per_span` as for `flat`.

    If the KB has no description, occupations and country replace it.
    """
    links = flat(links) if one_per_span else links
    qids = one_chunk(links.column("qid"))
    numbers: Int64 = parse_qids(*arrays.text_buffers(qids))
    rows = np.where(numpy_numbers(qids.is_valid()), kb.rows(numbers), -1)
    distinct, which = np.unique(rows, return_inverse=True)
    labels, texts = (column.take(arrow_numbers(which)) for column in _words(kb, distinct))
    address, nothing = (arrays.arrow_scalar(text, pa.string()) for text in (WIKIDATA, ""))
    urls = pc.binary_join_element_wise(address, qids, nothing, null_handling="emit_null")
    place = links.schema.get_field_index("qid") + 1
    for name, column in (("url", urls), ("description", texts), ("label", labels)):
        links = links.add_column(place, pa.field(name, pa.string()), column)
    return links


def _words(kb: KB, rows: Int64) -> tuple[pa.StringArray, pa.StringArray]:
    """Label and description of each row; null for -1."""
    is_nil = rows < 0
    items = arrow_numbers(kb.entity_item[np.maximum(rows, 0)], is_nil) if len(kb) else pa.nulls(len(rows), pa.int32())
    labels = kb.item_labels.arrow().take(items).cast(pa.string())
    texts = kb.descriptions.arrow().take(arrow_numbers(rows, is_nil)).cast(pa.string())
    bare = ~is_nil & (arrays.sizes(texts) == 0)
    made = _made.setdefault(kb, {})
    if len(made) >= REMEMBERED:
        made.clear()
    made.update({row: about(kb, row) or None for row in rows[bare].tolist() if row not in made})
    instead = [made[row] for row in rows[bare].tolist()]
    return labels, pc.replace_with_mask(texts, arrow_numbers(bare), arrays.arrow_texts(instead))


def flat(links: pa.Table) -> pa.Table:
    """One row per occurrence of a name: `start`, `end` and `in_title` replace `spans` and `title_spans`."""
    text_indptr, text_spans = arrays.list_parts(one_chunk(links.column("spans")))
    title_indptr, title_spans = arrays.list_parts(one_chunk(links.column("title_spans")))
    count, titled = np.diff(text_indptr), np.diff(title_indptr)
    row = np.concatenate([np.repeat(np.arange(len(count)), titled), np.repeat(np.arange(len(count)), count)])
    order = np.argsort(row, kind="stable")  # the occurrences in the title come first
    pairs = [numpy_numbers(spans.flatten()).reshape(-1, 2) for spans in (title_spans, text_spans)]
    ends = np.concatenate(pairs)[order]
    table = links.take(arrow_numbers(row[order])).drop_columns(["spans", "title_spans"])
    place = table.schema.get_field_index("name") + 1
    in_title = arrow_numbers((np.arange(len(row)) < titled.sum())[order])
    start, end = arrow_numbers(ends[:, 0]), arrow_numbers(ends[:, 1])
    for name, column in (("in_title", in_title), ("end", end), ("start", start)):
        table = table.add_column(place, name, column)
    return table


def link_tables(
    linker: Linker, tables: Iterable[pa.Table], threads: int = 1, scores: bool = False, rejects: Rejects | None = None
) -> Iterator[Linked]:
    """Link tables of articles, in their order; at most two tables per thread are in memory."""
    threads = threads_for(threads)
    if threads <= 1:
        for table in tables:
            yield linker.link_counted(table, scores, rejects)
        return

    def link(table: pa.Table) -> tuple[Linked, Rejects | None]:
        own = None if rejects is None else Rejects(most=table.num_rows)  # threads do not share rejects
        return linker.link_counted(table, scores, own), own

    for linked, own in in_order(link, tables, threads):
        if rejects is not None and own is not None:
            for reject in own.first:
                rejects.add(reject)
            rejects.unread_dates.update(own.unread_dates)
        yield linked


@dataclass(frozen=True)
class Counts:
    """Counts of a run."""

    articles: int
    """Articles that could be linked; the others are rejected."""
    mentions: int
    linked: int
    """Mentions with a QID."""
    problems: tuple[str, ...] = ()
    """Files of a folder or pattern that could not be read, or not to their end."""
    notes: tuple[str, ...] = ()
    """Messages about skipped files."""


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
    """Link the articles of files and write the links to one file, which appears when the run succeeds.

    Args:
        linker: links the articles.
        articles: one or several JSONL, JSON, CSV, TSV or text (also `.gz .bz2 .zst`) or Parquet files, patterns, or
            folders of them; `-` is standard input.
        out: `.parquet`, or `.jsonl`, `.csv`, `.tsv` with or without compression; `-` is standard output.
        scores: also write every candidate with its scores.
        date: the ISO date of articles without one.
        threads: how many threads link; 0 is one per core.
        most_line: the maximum size of a line of JSON or of a text file, in bytes; longer ones are rejected.
        reading: the names of the fields, and other settings that the suffix does not tell.
        one_per_span: write one row per occurrence of a name, with `start` and `end`.
        format: the format of the links if the suffix does not tell it: parquet, jsonl, csv or tsv.
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
    seen = linked = mentions = 0

    with LinkWriter(out, linker.metadata, format) as writer, reporter.stage("linking"), Meter(paths) as meter:
        tables = read_files(paths, rejects, date, reading_for(paths, reading, most_line), optional)
        for done in link_tables(linker, tables, threads, scores, rejects):
            writer.write(described(linker.kb, done.links, one_per_span))
            mentions += done.mentions
            seen += done.articles
            linked += done.linked
            reporter.advance(meter.fraction(), seen, "articles")
        if not writer.rows:
            writer.write(described(linker.kb, linker.empty_links(scores), one_per_span))  # the columns of no links
    return Counts(seen, mentions, linked, tuple(listing.problems), tuple(listing.notes))
