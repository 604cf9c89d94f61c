"""Writers of links: Parquet, JSON lines, CSV, TSV, .xlsx or SQLite. A file appears only when the run succeeds."""

import csv
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import groupby, repeat
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile, ZipFile

import msgspec
import pyarrow as pa

from namesake.errors import NamesakeError
from namesake.files import STDIN, kind, open_lines, published
from namesake.files.outputs import written
from namesake.formats.arrow_articles import open_parquet
from namesake.formats.json_articles import object_of
from namesake.formats.sqlite_links import Describe, Write, sqlite_writer
from namesake.formats.table_files import BINARY, ROWS_AT_ONCE, row_writer, writer_suffix

MOST_DICTIONARY = 1 << 30
MOST_REPEATED = 1 << 20
"""How many bytes of `extra` the lines of one article may repeat; longer ones are only in the first line."""
SELDOM_TWICE = ("spans", "title_spans", "score", "margin", "confidence", "known")
"""Columns of numbers that seldom repeat: a dictionary would cost time and space."""
WITH_STATISTICS = ["article_id", "score", "margin", "confidence", "known"]
"""Columns whose minimum and maximum help to skip rows; those of names and QIDs do not."""
SQLITE = (".db", ".sqlite")
FROM_KB = ("label", "description", "best_label", "runner_up_label")
"""Columns with texts of the KB."""


def _parquet_writer(partial: Path, metadata: dict[str, str], stack: ExitStack) -> Write:
    """Writes Parquet; the metadata becomes that of the file, and the first table sets the columns."""
    file: Any = None

    def write(links: pa.Table, _: pa.Table | None = None) -> None:
        nonlocal file
        if file is None:
            import pyarrow.parquet as pq  # slow to import, and other formats do not need it

            schema = links.schema.with_metadata({f"namesake.{key}": value for key, value in metadata.items()})
            again = [column for field in schema if field.name not in SELDOM_TWICE for column in _columns(field)]
            # The dictionary stores the extra fields of an article once; above the limit every row would repeat them.
            options = {"use_dictionary": again, "dictionary_pagesize_limit": MOST_DICTIONARY}
            writer = pq.ParquetWriter(partial, schema, write_statistics=WITH_STATISTICS, **options)
            file = stack.enter_context(writer)
        for batch in links.replace_schema_metadata(file.schema.metadata).to_batches():
            file.write_batch(batch)  # one dictionary each: two in one row group would be given up

    return write


def _columns(field: pa.Field, name: str | None = None) -> Iterator[str]:
    """The names of a field's columns in Parquet: several if it is nested."""
    name, kind = name or field.name, field.type
    if pa.types.is_struct(kind):
        for part in kind:
            yield from _columns(part, f"{name}.{part.name}")
    elif pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        yield from _columns(kind.value_field, f"{name}.list.element")
    else:
        yield name


def _lines_writer(path: Path, suffix: str, metadata: dict[str, str], stack: ExitStack) -> Write:
    """Writes JSON lines, CSV, TSV or .xlsx, with the metadata in `PATH.meta.json`; standard output has none."""
    is_json = suffix in (".jsonl", ".ndjson")
    file = stack.enter_context(written(path))
    if str(path) != STDIN:
        beside = stack.enter_context(published(metadata_path(path)))
        beside.write_bytes(msgspec.json.format(msgspec.json.encode(metadata), indent=2) + b"\n")
    write_rows = stack.enter_context(row_writer(file, path, suffix, from_kb=FROM_KB))

    def write(links: pa.Table, _: pa.Table | None = None) -> None:
        for batch in links.to_batches(None if is_json else ROWS_AT_ONCE):
            place = batch.schema.get_field_index("extra")
            rows = batch.set_column(place, "extra", pa.nulls(batch.num_rows)).to_pylist()
            for row, extra in zip(rows, _extras(batch.column("article_id"), batch.column(place)), strict=True):
                row["extra"] = extra if extra is None or is_json else bytes(extra).decode()
                if is_json and row.get("title_spans", "") is None:
                    del row["title_spans"]  # articles without titles have no such field
            write_rows(links.column_names, rows)
        if not links.num_rows:
            write_rows(links.column_names, [])

    return write


def _extras(articles: pa.Array, column: pa.DictionaryArray) -> Iterator[msgspec.Raw | None]:
    """The extra fields of each row's article: with all of its rows, or with the first row alone if they are long."""
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
    """JSON on one line; a text that is not JSON becomes a JSON string."""
    try:
        msgspec.json.decode(text, type=msgspec.Raw)
    except (msgspec.DecodeError, RecursionError):
        return msgspec.Raw(msgspec.json.encode(text))
    return msgspec.Raw(msgspec.json.format(text.encode(), indent=-1) if "\n" in text or "\r" in text else text.encode())


def metadata_path(path: Path) -> Path:
    """The path of the metadata of JSON lines, CSV, TSV or .xlsx."""
    return path.with_name(path.name + ".meta.json")


def files_of(path: Path) -> list[Path]:
    """The files that are written for the links `path`."""
    if str(path) == STDIN:
        return []
    return [path] if kind(path) in (".parquet", *SQLITE) else [path, metadata_path(path)]


class LinkWriter(ExitStack):
    """Writes tables of links to `path` (`-`: standard output), in `format` or by its suffix, and what made them.

    `tidy` is as for `published`. SQLite also has articles, candidates, and the entities that `describe` gives.
    """

    def __init__(
        self,
        path: Path,
        metadata: dict[str, str],
        format: str | None = None,
        tidy: bool = True,
        describe: Describe = lambda _: {},
    ) -> None:
        super().__init__()
        self.suffix = writer_suffix(path, format, "links", ".jsonl")
        self.has_articles = self.suffix in SQLITE
        """Whether the format stores articles and candidates, too."""
        self.path, self.metadata, self.tidy, self.describe = path, metadata, tidy, describe
        self.rows = 0

    def __enter__(self) -> Self:
        if self.suffix not in BINARY or self.suffix == ".xlsx":
            self._write = _lines_writer(self.path, self.suffix, self.metadata, self)
            return self
        partial = self.enter_context(published(self.path, self.tidy))
        if self.has_articles:
            self._write = self.enter_context(sqlite_writer(partial, self.metadata, self.describe))
        else:
            self._write = _parquet_writer(partial, self.metadata, self)
        return self

    def write(self, links: pa.Table, articles: pa.Table | None = None) -> None:
        """Add a table of links, and the articles that they are from. The first one sets the columns."""
        self.rows += links.num_rows
        self._write(links, articles)


MOST = 1 << 20
"""How many bytes of a file are read."""
LINKS = {"article_id", "name", "qid", "score", "margin", "tie_break", "best", "confidence", "known", "reason"}
"""Fields of links in every format, with spans or with one row per span."""
RECONCILED = ("qid", "label", "description", "confidence", "reason", "runner_up", "runner_up_confidence")
"""Columns that `reconcile` adds to a table, with a prefix if the table has a column of that name."""
MADE_BY = {"kb", "recipe"}
"""Fields of the metadata of links."""
SIGNATURES = (
    MADE_BY | {"versions", "counts", "problems"},  # run.json
    {"type", "plan", "time"},  # journal.jsonl of a run
    {"type", "key", "host", "boot"},  # journal.jsonl of a draft
    {"format_version", "entities", "digest", "files"},  # manifest.json of a KB
    {"reason", "file", "line"},  # rejects
    {"articleID", "name", "gold"},  # gold
)
ROW = "row-"
"""The prefix of the ids of a table's rows in the articles of a review page."""


def is_ours(path: Path) -> bool:
    """Whether Namesake wrote a file: links and files next to them, tables of `reconcile`, a KB's manifest."""
    suffix = kind(path)
    try:
        if suffix == ".parquet":
            with open_parquet(path) as file:
                schema = file.schema_arrow
            made = any(key.startswith(b"namesake.") for key in schema.metadata or {})
            return made or _has_our_columns(set(schema.names))
        if suffix == ".xlsx":
            with ZipFile(path) as book:
                return b"<dc:creator>Namesake<" in book.read("docProps/core.xml")
        if suffix not in (".csv", ".tsv", ".json", ".jsonl", ".ndjson"):
            beside = metadata_path(path)
            return beside.is_file() and is_ours(beside)
        with open_lines(path) as stream:
            start = stream.read(MOST)
        if suffix in (".csv", ".tsv"):
            line = start.partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")
            headers = (next(csv.reader([line], delimiter=between), []) for between in ",\t;|")
            return any(_has_our_columns(set(header)) for header in headers)
        start = start.lstrip()  # one object per line, or a small file that is one object
        return _is_our_record(object_of(start.partition(b"\n")[0]) or object_of(start))
    except (NamesakeError, OSError, BadZipFile, KeyError):  # its reader reports what is wrong with it
        return False


def _has_our_columns(names: set[str]) -> bool:
    added = all(any(name.removeprefix("namesake_") == ours for name in names) for ours in RECONCILED)
    return names >= LINKS or added


def _is_our_record(record: dict[str, Any]) -> bool:
    names = set(record)
    if names & {"text", "content"}:
        return str(record.get("id")).startswith(ROW)
    if _has_our_columns(names) or any(names >= signature for signature in SIGNATURES):
        return True
    return MADE_BY <= names <= MADE_BY | {"mentions"}
