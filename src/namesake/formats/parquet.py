"""Articles from Parquet: the columns of `schema.ARTICLES`; columns we do not know are carried through as `extra`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from namesake.articles.builder import MOST_ARTICLES
from namesake.articles.check import check_articles
from namesake.articles.rejects import Reject, Rejects
from namesake.articles.schema import ARTICLES
from namesake.errors import NamesakeError
from namesake.files.meter import watch
from namesake.formats.columns import Naming
from namesake.formats.fields import Reading, place

if TYPE_CHECKING:
    import pyarrow.parquet as pq

BUFFER = 1 << 20
MOST_BYTES = 64 << 20

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])


def read_parquet(
    path: Path, rejects: Rejects, most_articles: int, most_line: int, reading: Reading | None = None
) -> Iterator[pa.Table]:
    """Tables of articles from a Parquet file; a row that is no article is set aside. There are no lines."""
    yield from read_row_groups(path, rejects, most_articles, reading=reading)


def read_row_groups(
    path: Path,
    rejects: Rejects,
    most_articles: int = MOST_ARTICLES,
    groups: range | None = None,
    before: int = 0,
    reading: Reading | None = None,
) -> Iterator[pa.Table]:
    """Tables of articles from some groups of rows of a Parquet file, or all; `before` is how many rows precede them."""
    reading = Reading() if reading is None else reading
    naming = Naming(reading, str(path), f"{place(path, reading)}:")
    with open_parquet(path) as file:
        wanted = range(file.metadata.num_row_groups) if groups is None else groups
        rows = _batch_rows(file.metadata, most_articles)
        seen, each = 0, path.stat().st_size / max(file.metadata.num_rows, 1)
        watch(path, lambda: int(seen * each))
        for batch in file.iter_batches(rows, row_groups=list(wanted), use_threads=False):
            seen += batch.num_rows
            table = naming.renamed(pa.Table.from_batches([batch]), before)
            yield _checked(with_extra(table), path, before, rejects)
            before += batch.num_rows


@contextmanager
def open_parquet(path: Path) -> Iterator[pq.ParquetFile]:
    """A Parquet file opened; what is wrong with it, there or in the block, is an error that names it."""
    import pyarrow.parquet as pq  # takes a while to load, and other formats do without

    try:
        # Pages as they are needed: by default all of the file's bytes would stay in memory.
        with pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False) as file:
            yield file
    except FileNotFoundError:
        raise NamesakeError(f"{path}: no such file") from None
    except (pa.ArrowException, OSError) as problem:
        raise NamesakeError(f"{path} cannot be read as Parquet ({problem})") from None


def _batch_rows(metadata: pq.FileMetaData, most: int) -> int:
    """How many rows at a time: fewer where they are large, so that a batch stays bounded."""
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    largest = max((group.total_byte_size / max(group.num_rows, 1) for group in groups), default=0)
    return max(1, min(most, int(MOST_BYTES / max(largest, 1))))


def _checked(table: pa.Table, path: Path, before: int, rejects: Rejects) -> pa.Table:
    """The table with the columns of `ARTICLES`, less the rows that do not fit; `before` is how many came earlier."""
    try:
        return check_articles(table, str(path))
    except NamesakeError:
        kept = [check_articles(table.slice(0, 0), str(path))]  # columns that no row could fit are a fault of the file
    for row in range(table.num_rows):
        try:
            kept.append(check_articles(table.slice(row, 1), ""))
        except NamesakeError as problem:
            identifier = table.column("id")[row].as_py()
            reason = str(problem).removeprefix(": ")
            rejects.add(Reject(reason, str(path), before + row + 1, None if identifier is None else str(identifier)))
    return pa.concat_tables(kept)


def with_extra(table: pa.Table) -> pa.Table:
    """The table with the columns we do not know in its column `extra`, together with what that holds already."""
    columns = table.column_names
    unknown = [name for name in columns if name not in ARTICLES.names]
    if not unknown and "extra" not in columns:
        return table
    given = table.column("extra").to_pylist() if "extra" in columns else [None] * table.num_rows
    rows = table.select(unknown).to_pylist()
    extra = pa.array([_joined(one, row) for one, row in zip(given, rows, strict=True)], pa.string())
    return table.select([name for name in columns if name != "extra"]).append_column("extra", extra)


def _joined(extra: object, columns: dict[str, Any]) -> str | None:
    """A row's column `extra` and its columns that we do not know as one JSON object.

    What `link` and its readers write as `extra` is such an object. Anything else in a column of that name, or an
    object that has a field called like a column, is a field `extra` like any other.
    """
    if extra is None:
        return _json(columns) if columns else None
    try:
        fields: dict[str, Any] | None = _fields.decode(extra) if isinstance(extra, str) else None
    except (msgspec.MsgspecError, RecursionError):
        fields = None
    if fields is None or fields.keys() & columns.keys():
        return _json({"extra": extra} | columns)
    return _json(fields | columns) if columns else str(extra)


def _json(fields: dict[str, Any]) -> str:
    """Fields as a JSON object; a value that JSON has no form for, such as a calendar interval, is written as text."""
    return msgspec.json.encode(fields, enc_hook=str).decode()
