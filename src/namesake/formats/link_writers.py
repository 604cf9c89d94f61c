"""Writers of links: Parquet, JSON lines, CSV, TSV, .xlsx, and SQLite with articles, mentions, candidates, entities."""

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
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
from namesake.formats.table_files import BINARY, ROWS_AT_ONCE, row_writer, writer_suffix

MOST_DICTIONARY = 1 << 30
MOST_REPEATED = 1 << 20
"""How many bytes of `extra` the lines of one article may repeat; longer ones are only in the first line."""
SELDOM_TWICE = ("spans", "title_spans", "score", "margin", "confidence", "known")
"""Columns of numbers that seldom repeat: a dictionary would cost time and space."""
WITH_STATISTICS = ["article_id", "score", "margin", "confidence", "known"]
"""Columns whose minimum and maximum help to skip rows; those of names and QIDs do not."""
SQLITE = (".db", ".sqlite")
FROM_KB = ("label", "description", "best_label", "runner_up_label")  # columns with texts of the KB
MOST_CANDIDATES = 5
"""Candidates of each name that SQLite stores, unless all scores are asked for."""
OF_LINKS = ("name", "qid", "label", "kind", "confidence", "known", "reason", "best", "runner_up", "score", "margin")
"""Columns of links that mentions in SQLite have, too."""
Row = dict[str, Any]
Write = Callable[[pa.Table, pa.Table | None], None]
"""Writes a table of links, and the articles that they are from if the format stores them."""
Describe = Callable[[Iterable[str]], Mapping[str, Any]]
"""Gives the entities with some QIDs that a KB has, with `label`, `description`, `kind` and `url`."""


def _parquet_writer(partial: Path, metadata: dict[str, str], stack: ExitStack) -> Write:
    """Writes Parquet; the metadata becomes that of the file, and the first table sets the columns."""
    file: Any = None

    def write(links: pa.Table, _: pa.Table | None = None) -> None:
        nonlocal file
        if file is None:
            import pyarrow.parquet as pq  # slow to import, and other formats do not need it

            schema = links.schema.with_metadata({f"namesake.{key}": value for key, value in metadata.items()})
            again = [path for path in _columns(schema) if path.partition(".")[0] not in SELDOM_TWICE]
            # The dictionary stores the extra fields of an article once; above the limit every row would repeat them.
            options = {"use_dictionary": again, "dictionary_pagesize_limit": MOST_DICTIONARY}
            writer = pq.ParquetWriter(partial, schema, write_statistics=WITH_STATISTICS, **options)
            file = stack.enter_context(writer)
        for batch in links.replace_schema_metadata(file.schema.metadata).to_batches():
            file.write_batch(batch)  # one dictionary each: two in one row group would be given up

    return write


def _columns(schema: pa.Schema) -> list[str]:
    """The paths of the columns in Parquet, such as `spans.list.element`: several for a nested field."""
    import pyarrow.parquet as pq

    pq.write_table(schema.empty_table(), empty := pa.BufferOutputStream())
    return [column.path for column in pq.ParquetFile(empty.getvalue()).schema]


def _lines_writer(path: Path, suffix: str, metadata: dict[str, str], stack: ExitStack) -> Write:
    """Writes JSON lines, CSV, TSV or .xlsx, with the metadata in `PATH.meta.json`; standard output has none."""
    is_json = suffix in (".jsonl", ".ndjson")
    file = stack.enter_context(written(path))
    if str(path) != STDIN:
        beside = stack.enter_context(published(metadata_path(path)))
        beside.write_bytes(msgspec.json.format(msgspec.json.encode(metadata), indent=2) + b"\n")
    write_rows = stack.enter_context(row_writer(file, path, suffix, from_kb=FROM_KB))

    def write(links: pa.Table, _: pa.Table | None = None) -> None:
        write_rows(links.column_names, [])  # the header, also without links
        for batch in links.to_batches(None if is_json else ROWS_AT_ONCE):
            place = batch.schema.get_field_index("extra")
            rows = batch.set_column(place, "extra", pa.nulls(batch.num_rows)).to_pylist()
            for row, extra in zip(rows, _extras(batch.column("article_id"), batch.column(place)), strict=True):
                row["extra"] = extra if extra is None or is_json else bytes(extra).decode()
                if is_json and row.get("title_spans", "") is None:
                    del row["title_spans"]  # articles without titles have no such field
            write_rows(links.column_names, rows)

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


@contextmanager
def _sqlite_writer(partial: Path, metadata: dict[str, str], describe: Describe) -> Iterator[Write]:
    """Writes links with candidates, and the articles they are from, to a new database; its tables are indexed last."""
    import sqlite3  # other formats do not need it

    scripts = Path(__file__).parent
    try:
        with closing(sqlite3.connect(partial, isolation_level=None)) as database:
            tables = (scripts / "sqlite_tables.sql").read_text()
            database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {tables} BEGIN;")
            database.executemany("INSERT INTO about VALUES (?, ?)", metadata.items())
            yield _Tables(database, describe).add
            database.executescript(f"{(scripts / 'sqlite_indexes.sql').read_text()} PRAGMA optimize;")  # commits first
    except sqlite3.Error as problem:
        raise NamesakeError(f"the SQLite database cannot be written ({problem})") from None


class _Tables:
    """The tables of an SQLite database: rows are numbered in the order of the articles."""

    def __init__(self, database: Any, describe: Describe) -> None:
        self.database, self.describe = database, describe
        self.articles = self.links = 0
        self.entities: set[str] = set()

    def add(self, links: pa.Table, articles: pa.Table | None) -> None:
        """Add a table of links, and the articles that they are from; without articles, there are no links."""
        if articles is None:
            return
        read = [*enumerate(articles.select(["id", "title", "date", "text", "extra"]).to_pylist(), self.articles + 1)]
        numbers = {article["id"]: at for at, article in reversed(read)}
        self._insert("articles", 6, ((at, *article.values()) for at, article in read))
        self.articles += len(read)
        for batch in links.drop_columns("extra").to_batches(4096):
            some = batch.to_pylist()
            self._add_entities(some)
            numbered = [*enumerate(some, self.links + 1)]
            self._insert("mentions", 18, (row for at, link in numbered for row in _mentions(at, link, numbers)))
            self._insert("candidates", 6, (row for at, link in numbered for row in _candidates(at, link)))
            self.links += len(some)

    def _insert(self, table: str, columns: int, rows: Iterator[Sequence[object]]) -> None:
        self.database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})", rows)

    def _add_entities(self, links: list[Row]) -> None:
        """Add the entities that are new: answers and candidates. Of those that the KB lacks, only the QID is known."""
        qids = {one["qid"] for link in links for one in link["candidates"]}
        new = sorted((qids | {link[name] for link in links for name in ("best", "runner_up")}) - self.entities - {None})
        self.entities.update(new)
        known = self.describe(new)
        fields = ("label", "description", "kind", "url")
        about = ([getattr(known.get(qid), name, None) for name in fields] for qid in new)
        self._insert("entities", 6, ((None, qid, *texts) for qid, texts in zip(new, about, strict=True)))


def _mentions(number: int, link: Row, articles: dict[str, int]) -> Iterator[tuple[object, ...]]:
    """One row per occurrence of a name, those in the title first."""
    article = articles[link["article_id"]], link["article_id"]
    for in_title, spans in ((1, link["title_spans"]), (0, link["spans"])):
        for start, end in spans or ():
            yield None, number, *article, start, end, in_title, *(link[name] for name in OF_LINKS)


def _candidates(number: int, link: Row) -> Iterator[tuple[object, ...]]:
    """The candidates of a name, best first."""
    sure, best = link["confidence"], link["score"]
    ordered = sorted(link["candidates"], key=lambda one: (one["qid"] != link["best"], -one["score"]))
    for rank, one in enumerate(ordered, 1):
        likely = None if sure is None else sure * math.exp(min(one["score"] - best, 0.0))
        parts = {name: value for name, value in one["parts"].items() if value}
        yield number, rank, one["qid"], one["score"], likely, msgspec.json.encode(parts).decode()


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
        self.has_articles = self.suffix in SQLITE  # and candidates
        self.path, self.metadata, self.tidy, self.describe = path, metadata, tidy, describe

    def __enter__(self) -> Self:
        if self.suffix not in BINARY or self.suffix == ".xlsx":
            self._write = _lines_writer(self.path, self.suffix, self.metadata, self)
            return self
        partial = self.enter_context(published(self.path, self.tidy))
        if self.has_articles:
            self._write = self.enter_context(_sqlite_writer(partial, self.metadata, self.describe))
        else:
            self._write = _parquet_writer(partial, self.metadata, self)
        return self

    def write(self, links: pa.Table, articles: pa.Table | None = None) -> None:
        """Add a table of links, and the articles that they are from. The first one sets the columns."""
        self._write(links, articles)


MOST = 1 << 20  # bytes of a file that are read
LINKS = {"article_id", "name", "qid", "score", "margin", "tie_break", "best", "confidence", "known", "reason"}
"""Fields of links in every format, with spans or with one row per span."""
RECONCILED = ("qid", "label", "description", "confidence", "reason", "runner_up", "runner_up_confidence")
"""Columns that `reconcile` adds to a table, with a prefix if the table has a column of that name."""
MADE_BY = {"kb", "recipe"}  # fields of the metadata of links
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
