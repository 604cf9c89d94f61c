"""Links to a file: Parquet, or JSON lines, by suffix; published whole when the run ends well."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from namesake.errors import NamesakeError
from namesake.files import create, kind, published

SUFFIXES = ".parquet, .jsonl, .jsonl.gz, .jsonl.bz2 or .jsonl.zst"


_encoder = msgspec.json.Encoder()


def _json_line(row: dict[str, Any]) -> bytes:
    """A link as a line of JSON; what the article carries through is JSON already."""
    if row.get("extra") is not None:
        row["extra"] = msgspec.Raw(row["extra"].encode())
    return _encoder.encode(row) + b"\n"


class LinkWriter:
    """Writes tables of links; KB and recipe go to Parquet's metadata, or to `OUT.meta.json` beside JSON lines."""

    def __init__(self, path: Path, metadata: dict[str, str]) -> None:
        if kind(path) not in {".parquet", ".jsonl", ".ndjson"}:
            raise NamesakeError(f"{path}: links are written as {SUFFIXES}")
        self.path = path
        self.metadata = metadata
        self.rows = 0
        self._stack = ExitStack()
        self._parquet: pq.ParquetWriter | None = None
        self._lines: IO[bytes] | None = None

    def __enter__(self) -> LinkWriter:
        self._partial = self._stack.enter_context(published(self.path))
        if kind(self.path) != ".parquet":
            meta = self.path.with_name(self.path.name + ".meta.json")
            meta_partial = self._stack.enter_context(published(meta))
            meta_partial.write_bytes(msgspec.json.format(msgspec.json.encode(self.metadata), indent=2) + b"\n")
            self._lines = self._stack.enter_context(create(self._partial, self.path.suffix))
        return self

    def write(self, links: pa.Table) -> None:
        """Add a table of links. The first one sets the columns."""
        self.rows += links.num_rows
        if self._lines is not None:
            self._lines.write(b"".join(map(_json_line, links.to_pylist())))
            return
        if self._parquet is None:
            schema = links.schema.with_metadata({f"namesake.{key}": value for key, value in self.metadata.items()})
            self._parquet = self._stack.enter_context(pq.ParquetWriter(self._partial, schema))
        self._parquet.write_table(links.replace_schema_metadata(self._parquet.schema.metadata))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)
