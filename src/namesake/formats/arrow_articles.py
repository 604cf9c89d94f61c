"""Articles from Arrow tables of other programs (Parquet, frames, Spark DataFrames): their columns get our names."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import decoded
from namesake.articles.builder import MOST_ARTICLES, check_articles
from namesake.articles.rejects import Reject, Rejects
from namesake.articles.schema import ARTICLES
from namesake.errors import NamesakeError, did_you_mean
from namesake.files.lines import watch
from namesake.formats.field_names import SHOWN, Reading, choose_fields, id_prefix
from namesake.printable import listed

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw])


class ColumnNames:
    """Gives the columns of tables the names of `ARTICLES`: given by the user, or guessed from the first table."""

    def __init__(self, reading: Reading, where: str, prefix: str = "", mentions: str | None = None) -> None:
        self.reading, self.where, self.prefix, self.mentions = reading, where, prefix, mentions
        self.fields: dict[str, str] | None = None

    def renamed(self, table: pa.Table, numbers: Sequence[int] | None = None) -> pa.Table:
        """The table with our names; without a column of ids, ids are the prefix and the `numbers` of the rows."""
        names = table.column_names
        if self.mentions is not None:
            if self.mentions not in names:
                hint = did_you_mean(self.mentions, names)
                raise NamesakeError(f"{self.where}: no field {self.mentions!r}{hint}; it has {listed(names, SHOWN)}")
            made = {"mentions": table.column(self.mentions)}
            table = _with_rest(made, table, [name for name in names if name != self.mentions])
        named = self.reading.named
        if not named and {"id", "text"} <= set(table.column_names):
            return table
        if self.fields is None:
            paths = [path for path in named.values() if _column(table, path) is not None]
            numbered = "ids are file and row" if self.prefix else None
            self.fields = choose_fields(table.column_names, self.reading, self.where, paths, numbered)
        columns = {ours: _column(table, theirs) for ours, theirs in self.fields.items()}
        rows = pa.array(np.arange(1, table.num_rows + 1) if numbers is None else numbers, pa.int64()).cast(pa.string())
        made = {"id": pc.binary_join_element_wise(pa.scalar(self.prefix), rows, "")}
        made |= {ours: _text(column, ours) for ours, column in columns.items() if column is not None}
        return _with_rest(made, table, [name for name in table.column_names if name not in self.fields.values()])


def _with_rest(made: dict[str, Any], table: pa.Table, rest: list[str]) -> pa.Table:
    """The columns `made` and the other columns of a table, with `_` after names that are taken."""
    for name in rest:
        free = name
        while free in made or (free != name and free in rest):
            free += "_"
        made[free] = table.column(name)
    return pa.table(made)


def _column(table: pa.Table, path: str) -> pa.ChunkedArray | None:
    """The column of that name, or the field b within the column a for `a.b`."""
    if path in table.column_names:
        return table.column(path)
    head, *rest = path.split(".")
    if head not in table.column_names or not rest:
        return None
    try:
        return pc.struct_field(table.column(head), rest)
    except (pa.ArrowException, TypeError):
        return None


def _text(column: pa.ChunkedArray, what: str) -> pa.ChunkedArray:
    """A column of texts, numbers or dates as texts; other types are unchanged."""
    column = decoded(column)
    kind = column.type
    try:
        if pa.types.is_timestamp(kind):
            return pc.strftime(column.cast(pa.timestamp("s", kind.tz), safe=False), "%Y-%m-%d")
        is_plain = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_temporal(kind)
        return column.cast(pa.string()) if is_plain else column
    except pa.ArrowException as problem:
        raise NamesakeError(f"the column of the {what}, which is {kind}, cannot be read ({problem})") from None


def with_extra(table: pa.Table) -> pa.Table:
    """The table with the columns that articles do not have in its column `extra`, added to its present content."""
    columns = table.column_names
    unknown = [name for name in columns if name not in ARTICLES.names]
    if not unknown and "extra" not in columns:
        return table
    given = table.column("extra").to_pylist() if "extra" in columns else [None] * table.num_rows
    rows = table.select(unknown).to_pylist()
    extra = pa.array([_joined(one, row) for one, row in zip(given, rows, strict=True)], pa.string())
    return table.select([name for name in columns if name != "extra"]).append_column("extra", extra)


def _joined(extra: object, columns: dict[str, Any]) -> str | None:
    """The `extra` of a row, a JSON object as our readers write it or any value, and its other columns, as JSON."""
    fields: dict[str, Any] | None = {} if extra is None else None
    if isinstance(extra, str):
        with suppress(msgspec.MsgspecError, RecursionError):
            fields = _fields.decode(extra)
    if fields is None or fields.keys() & columns.keys():
        fields = {"extra": extra}
    elif not columns:
        return None if extra is None else str(extra)
    return msgspec.json.encode(fields | columns, enc_hook=str).decode()  # as texts if they have no JSON form


def valid_articles(table: pa.Table, where: str, before: int, rejects: Rejects, file: str = "") -> pa.Table:
    """The table as valid articles: other columns in `extra`, and invalid rows rejected; `before` rows precede it."""
    table = with_extra(table)
    try:
        return check_articles(table, where)
    except NamesakeError:
        kept = [check_articles(table.slice(0, 0), where)]  # raises if the columns fit no row
    for row in range(table.num_rows):
        try:
            kept.append(check_articles(table.slice(row, 1), ""))
        except NamesakeError as problem:
            identifier = table.column("id")[row].as_py()
            article = None if identifier is None else str(identifier)
            rejects.add(Reject(str(problem).removeprefix(": "), file, before + row + 1, article))
    return pa.concat_tables(kept)


BUFFER = 1 << 20
MOST_BYTES = 64 << 20


def read_parquet(
    path: Path, rejects: Rejects, reading: Reading, groups: range | None = None, before: int = 0
) -> Iterator[pa.Table]:
    """Tables of articles from some row groups of a Parquet file, or all; `before` is how many rows precede them."""
    names = ColumnNames(reading, str(path), f"{id_prefix(path, reading)}:")
    with open_parquet(path) as file:
        all_groups = [file.metadata.row_group(index) for index in range(file.metadata.num_row_groups)]
        largest = max((group.total_byte_size / max(group.num_rows, 1) for group in all_groups), default=0)
        rows = max(1, min(MOST_ARTICLES, int(MOST_BYTES / max(largest, 1))))  # so that memory stays bounded
        seen, each = 0, path.stat().st_size / max(file.metadata.num_rows, 1)
        watch(path, lambda: int(seen * each))
        for batch in file.iter_batches(rows, row_groups=None if groups is None else list(groups), use_threads=False):
            seen += batch.num_rows
            table = names.renamed(pa.Table.from_batches([batch]), range(before + 1, before + 1 + batch.num_rows))
            yield valid_articles(table, str(path), before, rejects, str(path))
            before += batch.num_rows


@contextmanager
def open_parquet(path: Path) -> Iterator[Any]:
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
