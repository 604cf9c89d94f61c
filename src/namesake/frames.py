"""Frames in, frames out: names in a column of text, or in a table of names, of any table that speaks Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import decoded, from_stream
from namesake.articles.schema import ARTICLES
from namesake.engines.described import described, flat
from namesake.errors import NamesakeError, must_be, warn
from namesake.files.several import several
from namesake.formats.columns import Naming
from namesake.formats.fields import Reading
from namesake.linker import Linker
from namesake.printable import counted
from namesake.reconciling.table import ADDED, Layout, column_of_names, reconcile_table

WHERE = "the frame"
"""What messages call a frame."""


def link_frame(
    frame: Any,
    linker: Linker,
    text: str | None = None,
    id: str | None = None,
    title: str | None = None,
    date: str | None = None,
    mentions: str | None = None,
    *,
    one_per_span: bool = False,
    scores: bool = False,
) -> Any:
    """Link the names in a frame's texts: one row for each name, with the frame's other columns.

    Args:
        frame: a pandas or Polars frame, a DuckDB relation, an Arrow table or reader, or whatever else has the Arrow
            stream interface (`__arrow_c_stream__`).
        linker: what links them.
        text: the column of the text; None: `text`, or what people call it.
        id: the column of the id, which becomes `article_id`; None: `id`, `url` …, else the number of the row.
        title: the column of the title.
        date: the column of the date.
        mentions: the column of the names to link; None: `mentions`, if there is one. It has lists of names, which are
            meant wherever they stand in the text, or of mentions with spans and candidates. Where a row has none, names
            are found in the text.
        one_per_span: one row for each place of a name, with `start` and `end`.
        scores: also every candidate with its scores.

    Returns:
        A pandas or Polars frame where one was given, else an Arrow table. A column of the frame that is called like
        one of ours has `_` behind its name. Rows without a text have no links; how many, and which columns were
        guessed, is warned of (`UserWarning`).
    """
    must_be(linker, (Linker,), "linker", "a Linker")
    reading = Reading(text, id, title, date, say=warn)
    articles = Naming(reading, WHERE, mentions=mentions).renamed(_table(frame))
    said = articles.column("text").is_valid()
    if articles.num_rows > (there := pc.sum(said).as_py() or 0):
        warn(f"{WHERE}: {articles.num_rows - there:,} of {articles.num_rows:,} rows have no text, and so no links")
        articles = articles.filter(said)
    own = articles.select([name for name in articles.column_names if name not in ARTICLES.names or name == "extra"])
    ids = _ids(articles.column("id"))
    numbered = pa.array(np.arange(articles.num_rows)).cast(pa.string())
    inputs = articles.select([name for name in articles.column_names if name in ARTICLES.names and name != "extra"])
    links = linker.link(inputs.set_column(inputs.schema.get_field_index("id"), "id", numbered), scores)
    row = links.column("article_id").cast(pa.int64())
    links = links.set_column(0, links.schema.field(0), pc.take(ids, row)).drop_columns(["extra"])
    for field in own.schema:
        field_out = field.with_name(_free(field.name, links.column_names))
        links = links.append_column(field_out, own.column(field.name).take(row))
    links = described(linker.kb, flat(links) if one_per_span else links)
    return _like(frame, links)


def reconcile_frame(
    frame: Any,
    linker: Linker,
    name: str | None = None,
    context: str | Sequence[str] = (),
    date: str | None = None,
    type: Mapping[str, str | Sequence[str]] | None = None,
    *,
    threads: int = 0,
) -> Any:
    """Match each row of a frame of names to an entity, as the command `reconcile` does for a file.

    Args:
        frame: a pandas or Polars frame, a DuckDB relation, an Arrow table or reader, or whatever else has the Arrow
            stream interface (`__arrow_c_stream__`).
        linker: its KB and recipe.
        name: the column of names; None: `name`, or what people call it.
        context: one or several columns of words about the person, such as a team or notes.
        date: the column of when a row is true: a year or a day.
        type: properties, and the columns that have their values, such as `{"occupation": "Job", "P108": "Firm"}`.
            Several values in one cell are separated by semicolons.
        threads: how many threads work; 0 is one for each core. The result does not depend on it.

    Returns:
        The frame with the columns `qid`, `label`, `description`, `confidence`, `reason`, `runner_up` and
        `runner_up_confidence`: a pandas or Polars frame where one was given, else an Arrow table. An added column whose
        name the frame has already begins with `namesake_`. A guessed column and dates that cannot be read are warned of
        (`UserWarning`).
    """
    must_be(linker, (Linker,), "linker", "a Linker")
    must_be(type, (Mapping, None), "type", 'a dictionary such as {"occupation": "Job"}')
    table = _table(frame)
    name = column_of_names(table.column_names, WHERE, warn) if name is None else name
    types = tuple((property, column) for property, columns in (type or {}).items() for column in several(columns))
    answers = reconcile_table(linker, table, Layout(name, tuple(several(context)), date, types), threads=threads)
    for column, cells in answers.unread_dates.items():
        rows, example = counted(len(cells), "row"), next(iter(cells.values()))
        warn(f"{WHERE}: {rows} without a date: {column} cannot be read as a date, such as {example[:60]!r}")
    return _beside(frame, answers.table)


def _table(frame: Any) -> pa.Table:
    """The frame as an Arrow table in plain layouts."""
    table = from_stream(frame)
    if not isinstance(table, pa.Table):
        raise TypeError(
            f"frame must speak Arrow (`__arrow_c_stream__`), as pandas does from 2.2 on, not {type(frame).__name__}"
        )
    return table


def _ids(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of ids as text."""
    try:
        return decoded(column).cast(pa.string())
    except pa.ArrowException as problem:
        raise NamesakeError(f"{WHERE}: the ids, which are {column.type}, cannot be read ({problem})") from None


def _free(name: str, taken: list[str]) -> str:
    """A name that no column of links has."""
    while name in taken or name in ("label", "description", "url", "start", "end", "in_title"):
        name += "_"
    return name


def _kind(frame: Any) -> str:
    """The library that a frame is of."""
    return str(type(frame).__module__.partition(".")[0])


def _like(frame: Any, table: pa.Table) -> Any:
    """The table as a frame of the same kind, where that is pandas or Polars."""
    kind = _kind(frame)
    if kind == "pandas":
        return table.to_pandas()
    if kind == "polars":
        import polars

        return polars.from_arrow(table)
    return table


def _beside(frame: Any, table: pa.Table) -> Any:
    """The added columns of a reconciled table beside those of the frame, which pandas and Polars keep unchanged."""
    kind, added = _kind(frame), table.select(table.column_names[-len(ADDED) :])
    if kind == "pandas":
        return frame.assign(**added.to_pandas().set_index(frame.index))
    return frame.hstack(_like(frame, added)) if kind == "polars" else table
