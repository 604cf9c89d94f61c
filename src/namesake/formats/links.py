"""Links to a file: Parquet, JSON lines, CSV or TSV, by suffix; published whole when the run ends well."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import groupby, repeat
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Protocol

import msgspec
import pyarrow as pa

from namesake.errors import NamesakeError
from namesake.files import STDIN, create, kind, published
from namesake.files.outputs import to_stdout
from namesake.formats.tables import ROWS_AT_ONCE, line_writer

if TYPE_CHECKING:
    import pyarrow.parquet as pq

MOST_DICTIONARY = 1 << 30
MOST_REPEATED = 1 << 20
"""How many bytes of `extra` the lines of one article may repeat; more stands in the first of them only."""

SELDOM_TWICE = ("spans", "title_spans", "score", "margin", "confidence", "known")
"""Columns of numbers that hardly come again: a dictionary of them would take time, and more room than they do."""

WITH_STATISTICS = ["article_id", "score", "margin", "confidence", "known"]
"""Columns whose least and greatest values help to skip rows; those of names and QIDs tell nothing."""

FROM_KB = ("label", "description")
"""Columns whose texts come from the KB."""

SUFFIXES = ".parquet, .jsonl, .csv or .tsv (the last three also .gz, .bz2 or .zst)"

_encoder = msgspec.json.Encoder()
_raw = msgspec.json.Decoder(msgspec.Raw)


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
            again = [column for field in schema if field.name not in SELDOM_TWICE for column in _columns(field)]
            # What an article carries stands in the dictionary once; past the limit it would stand in every row.
            options = {"use_dictionary": again, "dictionary_pagesize_limit": MOST_DICTIONARY}
            writer = pq.ParquetWriter(self.partial, schema, write_statistics=WITH_STATISTICS, **options)
            self.file = self.stack.enter_context(writer)
        for batch in links.replace_schema_metadata(self.file.schema.metadata).to_batches():
            self.file.write_batch(batch)  # a dictionary for each: the writer gives up on two in one group of rows


def _columns(field: pa.Field, name: str | None = None) -> Iterator[str]:
    """The columns that a field is in Parquet, by their names there: several where it is nested."""
    name, kind = name or field.name, field.type
    if pa.types.is_struct(kind):
        for part in kind:
            yield from _columns(part, f"{name}.{part.name}")
    elif pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        yield from _columns(kind.value_field, f"{name}.list.element")
    else:
        yield name


def _text_file(path: Path, partial: Path, metadata: dict[str, str], stack: ExitStack) -> IO[bytes]:
    """The file that lines go to, with the metadata in `PATH.meta.json`; standard output has none."""
    if str(path) == STDIN:
        return stack.enter_context(to_stdout())
    beside = stack.enter_context(published(metadata_path(path)))
    beside.write_bytes(msgspec.json.format(msgspec.json.encode(metadata), indent=2) + b"\n")
    return stack.enter_context(create(partial, path.suffix))


class _Lines:
    """JSON lines."""

    def __init__(self, path: Path, partial: Path, metadata: dict[str, str], stack: ExitStack) -> None:
        self.file = _text_file(path, partial, metadata, stack)

    def write(self, links: pa.Table) -> None:
        """Add a table of links."""
        for batch in links.to_batches():
            place = batch.schema.get_field_index("extra")
            rows = batch.set_column(place, "extra", pa.nulls(batch.num_rows)).to_pylist()
            for row, extra in zip(rows, _extras(batch.column("article_id"), batch.column(place)), strict=True):
                if row.get("title_spans", "") is None:
                    del row["title_spans"]  # as in all rows of articles without titles
                self.file.write(_encoder.encode(row | {"extra": extra}) + b"\n")


class _Cells:
    """CSV or TSV: lists and objects are JSON in their cells."""

    suffix = ".csv"

    def __init__(self, path: Path, partial: Path, metadata: dict[str, str], stack: ExitStack) -> None:
        self.lines = line_writer(_text_file(path, partial, metadata, stack), self.suffix, from_kb=FROM_KB)

    def write(self, links: pa.Table) -> None:
        """Add a table of links. The first one sets the columns."""
        for batch in links.to_batches(ROWS_AT_ONCE):
            place = batch.schema.get_field_index("extra")
            rows = batch.set_column(place, "extra", pa.nulls(batch.num_rows)).to_pylist()
            extras = _extras(batch.column("article_id"), batch.column(place))
            cells = (None if extra is None else bytes(extra).decode() for extra in extras)
            self.lines(links.column_names, [row | {"extra": cell} for row, cell in zip(rows, cells, strict=True)])
        if not links.num_rows:
            self.lines(links.column_names, [])


class _TabbedCells(_Cells):
    """TSV."""

    suffix = ".tsv"


def _extras(articles: pa.Array, column: pa.DictionaryArray) -> Iterator[msgspec.Raw | None]:
    """What the article of each row carries through: with all of its rows, or with the first alone where it is long."""
    places = zip(articles.to_pylist(), column.indices.to_pylist(), strict=True)
    for (_, place), rows in groupby(places):
        extra = None if place is None else _as_json(column.dictionary[place].as_py())
        count = sum(1 for _ in rows)
        if extra is not None and len(memoryview(extra)) * count > MOST_REPEATED:
            yield extra
            yield from repeat(None, count - 1)
        else:
            yield from repeat(extra, count)


def _as_json(text: str) -> msgspec.Raw:
    """A text that is JSON as it is, on one line; any other as a JSON string."""
    try:
        _raw.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return msgspec.Raw(msgspec.json.encode(text))
    return msgspec.Raw(msgspec.json.format(text.encode(), indent=-1) if "\n" in text or "\r" in text else text.encode())


def metadata_path(path: Path) -> Path:
    """Where the metadata of JSON lines stands."""
    return path.with_name(path.name + ".meta.json")


def files_of(path: Path) -> list[Path]:
    """What is written for the links `path`."""
    if str(path) == STDIN:
        return []
    return [path] if WRITERS.get(kind(path)) is _Parquet else [path, metadata_path(path)]


WRITERS: dict[str, type[_Sink]] = {
    ".parquet": _Parquet,
    ".jsonl": _Lines,
    ".ndjson": _Lines,
    ".csv": _Cells,
    ".tsv": _TabbedCells,
}
"""The writers by the suffix of their files, compression apart."""


def link_suffix(path: Path, format: str | None = None) -> str:
    """The suffix that tells how links are to be written: that of the file, or the format that the user names."""
    suffix = f".{format}" if format else ".jsonl" if str(path) == STDIN else kind(path)
    if suffix not in WRITERS:
        raise NamesakeError(f"{path}: links are written as {SUFFIXES}")
    if suffix == ".parquet" and str(path) == STDIN:
        raise NamesakeError("Parquet is for files: name one with -o, or write .jsonl, .csv or .tsv to standard output")
    return suffix


class LinkWriter:
    """Writes tables of links to `path` (`-`: standard output); `metadata` says what made them.

    The suffix tells the format where `format` does not; `tidy` is as for `published`.
    """

    def __init__(self, path: Path, metadata: dict[str, str], format: str | None = None, tidy: bool = True) -> None:
        self.suffix = link_suffix(path, format)
        self.path = path
        self.metadata = metadata
        self.rows = 0
        self.tidy = tidy
        self._stack = ExitStack()

    def __enter__(self) -> LinkWriter:
        to_stdout = str(self.path) == STDIN
        partial = self.path if to_stdout else self._stack.enter_context(published(self.path, self.tidy))
        self._sink = WRITERS[self.suffix](self.path, partial, self.metadata, self._stack)
        return self

    def write(self, links: pa.Table) -> None:
        """Add a table of links. The first one sets the columns."""
        self.rows += links.num_rows
        self._sink.write(links)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)
