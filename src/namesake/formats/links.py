"""Links to a file: Parquet, or JSON lines, by suffix; published whole when the run ends well."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
import pyarrow as pa

from namesake.errors import NamesakeError
from namesake.files import create, kind, published

if TYPE_CHECKING:
    import pyarrow.parquet as pq

SUFFIXES = ".parquet, .jsonl, .jsonl.gz, .jsonl.bz2 or .jsonl.zst"

_encoder = msgspec.json.Encoder()


class _Sink(Protocol):
    """Takes tables of links for the file `path`, which is `partial` until it is whole."""

    def __init__(self, path: Path, partial: Path, metadata: dict[str, str], stack: ExitStack) -> None: ...

    def write(self, links: pa.Table) -> None:
        """Add a table of links. The first one sets the columns."""
        ...


class _Parquet:
    """Parquet, with the metadata in the file's own."""

    def __init__(self, path: Path, partial: Path, metadata: dict[str, str], stack: ExitStack) -> None:
        self.partial = partial
        self.metadata = {f"namesake.{key}": value for key, value in metadata.items()}
        self.stack = stack
        self.file: pq.ParquetWriter | None = None

    def write(self, links: pa.Table) -> None:
        """Add a table of links. The first one sets the columns."""
        if self.file is None:
            import pyarrow.parquet as pq  # takes a while to load, and JSON lines do without

            schema = links.schema.with_metadata(self.metadata)
            self.file = self.stack.enter_context(pq.ParquetWriter(self.partial, schema))
        self.file.write_table(links.replace_schema_metadata(self.file.schema.metadata))


class _Lines:
    """JSON lines, with the metadata in `PATH.meta.json`."""

    def __init__(self, path: Path, partial: Path, metadata: dict[str, str], stack: ExitStack) -> None:
        beside = stack.enter_context(published(metadata_path(path)))
        beside.write_bytes(msgspec.json.format(msgspec.json.encode(metadata), indent=2) + b"\n")
        self.file = stack.enter_context(create(partial, path.suffix))

    def write(self, links: pa.Table) -> None:
        """Add a table of links."""
        self.file.write(b"".join(map(_json_line, links.to_pylist())))


def _json_line(row: dict[str, Any]) -> bytes:
    """A link as a line of JSON; what the article carries through is JSON already."""
    if row.get("extra") is not None:
        row["extra"] = msgspec.Raw(row["extra"].encode())
    return _encoder.encode(row) + b"\n"


def metadata_path(path: Path) -> Path:
    """Where the metadata of JSON lines stands."""
    return path.with_name(path.name + ".meta.json")


def files_of(path: Path) -> list[Path]:
    """What is written for the links `path`."""
    return [path] if WRITERS.get(kind(path)) is _Parquet else [path, metadata_path(path)]


WRITERS: dict[str, type[_Sink]] = {".parquet": _Parquet, ".jsonl": _Lines, ".ndjson": _Lines}
"""The writers by the suffix of their files, compression apart."""


class LinkWriter:
    """Writes tables of links to `path`, whose suffix tells the format; `metadata` says what made them."""

    def __init__(self, path: Path, metadata: dict[str, str]) -> None:
        if kind(path) not in WRITERS:
            raise NamesakeError(f"{path}: links are written as {SUFFIXES}")
        self.path = path
        self.metadata = metadata
        self.rows = 0
        self._stack = ExitStack()

    def __enter__(self) -> LinkWriter:
        partial = self._stack.enter_context(published(self.path))
        self._sink = WRITERS[kind(self.path)](self.path, partial, self.metadata, self._stack)
        return self

    def write(self, links: pa.Table) -> None:
        """Add a table of links. The first one sets the columns."""
        self.rows += links.num_rows
        self._sink.write(links)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)
