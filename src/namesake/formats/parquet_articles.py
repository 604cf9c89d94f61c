"""Articles from Parquet files."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from namesake.articles.builder import MOST_ARTICLES
from namesake.articles.rejects import Rejects
from namesake.errors import NamesakeError
from namesake.files.meter import watch
from namesake.formats.arrow_articles import ColumnNames, valid_articles, with_extra
from namesake.formats.field_names import Reading, id_prefix

if TYPE_CHECKING:
    import pyarrow.parquet as pq

BUFFER = 1 << 20
MOST_BYTES = 64 << 20


def read_parquet(
    path: Path, rejects: Rejects, most_articles: int, most_line: int, reading: Reading
) -> Iterator[pa.Table]:
    """Tables of articles from a Parquet file; invalid rows are rejected. `most_line` has no effect."""
    return read_row_groups(path, rejects, most_articles, reading=reading)


def read_row_groups(
    path: Path,
    rejects: Rejects,
    most_articles: int = MOST_ARTICLES,
    groups: range | None = None,
    before: int = 0,
    reading: Reading | None = None,
) -> Iterator[pa.Table]:
    """Tables of articles from some row groups of a Parquet file, or all; `before` is how many rows precede them."""
    reading = reading or Reading()
    names = ColumnNames(reading, str(path), f"{id_prefix(path, reading)}:")
    with open_parquet(path) as file:
        wanted = range(file.metadata.num_row_groups) if groups is None else groups
        rows = _batch_rows(file.metadata, most_articles)
        seen, each = 0, path.stat().st_size / max(file.metadata.num_rows, 1)
        watch(path, lambda: int(seen * each))
        for batch in file.iter_batches(rows, row_groups=list(wanted), use_threads=False):
            seen += batch.num_rows
            table = with_extra(names.renamed(pa.Table.from_batches([batch]), before))
            yield valid_articles(table, str(path), before, rejects, str(path))
            before += batch.num_rows


@contextmanager
def open_parquet(path: Path) -> Iterator[pq.ParquetFile]:
    """An open Parquet file; an error of Arrow, also within the block, becomes a NamesakeError that names the file."""
    import pyarrow.parquet as pq  # slow to import, and other formats do not need it

    try:
        # Without these settings, all bytes of the file would stay in memory.
        with pq.ParquetFile(path, buffer_size=BUFFER, pre_buffer=False) as file:
            yield file
    except FileNotFoundError:
        raise NamesakeError(f"{path}: no such file") from None
    except (pa.ArrowException, OSError) as problem:
        raise NamesakeError(f"{path} cannot be read as Parquet ({problem})") from None


def _batch_rows(metadata: pq.FileMetaData, most: int) -> int:
    """How many rows per batch: fewer if they are large, so that memory stays bounded."""
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    largest = max((group.total_byte_size / max(group.num_rows, 1) for group in groups), default=0)
    return max(1, min(most, int(MOST_BYTES / max(largest, 1))))
