"""Articles from Parquet: the columns of `schema.ARTICLES`; columns we do not know are carried through as `extra`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from namesake.errors import NamesakeError
from namesake.schema import ARTICLES, check


def read_parquet(path: Path, batch_articles: int) -> Iterator[pa.Table]:
    """Tables of articles from a Parquet file."""
    try:
        with pq.ParquetFile(path, memory_map=True) as file:
            for batch in file.iter_batches(batch_articles, use_threads=False):
                yield check(_with_extra(pa.Table.from_batches([batch])), ARTICLES, str(path))
    except FileNotFoundError:
        raise NamesakeError(f"{path}: no such file") from None
    except (pa.ArrowException, OSError) as problem:
        raise NamesakeError(f"{path} cannot be read as Parquet ({problem})") from None


def _with_extra(table: pa.Table) -> pa.Table:
    unknown = [name for name in table.column_names if name not in ARTICLES.names]
    if not unknown or "extra" in table.column_names:
        return table
    rows = table.select(unknown).to_pylist()
    extra = pa.array([msgspec.json.encode(row).decode() for row in rows], pa.string())
    return table.append_column("extra", extra)
