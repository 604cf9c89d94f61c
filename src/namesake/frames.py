"""Linking and reconciliation of frames: pandas, Polars and others with the Arrow stream interface."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import decoded, from_stream
from namesake.articles.schema import ARTICLES
from namesake.engines.file_linker import described
from namesake.errors import NamesakeError, must_be, warn
from namesake.files import Paths, several
from namesake.formats.arrow_articles import ColumnNames
from namesake.formats.field_names import Reading
from namesake.linker import Linker
from namesake.printable import counted
from namesake.reconciling.table import Layout, column_of_names, reconcile_table

ADDED_TO_LINKS = ("label", "description", "url", "best_label", "runner_up_label", "start", "end", "in_title")
"""Columns that `described` and `flat` add."""
WHERE = "the frame"


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
    linked_only: bool = False,
) -> Any:
    """Link the names in the texts of a frame: one row per name, with the other columns of the frame.

    Args:
        frame: a pandas or Polars frame, a DuckDB relation, an Arrow table or reader, or another object with the Arrow
            stream interface (`__arrow_c_stream__`).
        linker: links the names.
        text: the column of the text; None: `text`, or another common name.
        id: the column of the id, which becomes `article_id`; None: `id`, `url` …, else the number of the row.
        title: the column of the title.
        date: the column of the date.
        mentions: the column of the names to link; None: `mentions`, if it exists. It contains lists of names, each of
            which stands for all its occurrences in the text, or of mentions with spans and candidates. If a row has no
            list, names are found in the text.
        one_per_span: one row per occurrence of a name, with `start` and `end`.
        scores: also return every candidate with its scores.
        linked_only: leave out names without a QID.

    Returns:
        A pandas or Polars frame for one of these, else an Arrow table. If a column of the frame has the name of one of
        ours, `_` is appended to its name. Rows without a text have no links. Their number, and guessed columns, are
        reported as a `UserWarning`.
    """
    must_be(linker, (Linker,), "linker", "a Linker")
    reading = Reading(text, id, title, date, say=warn)
    articles = ColumnNames(reading, WHERE, mentions=mentions).renamed(_table(frame))
    has_text = articles.column("text").is_valid()
    if articles.num_rows > (there := pc.sum(has_text).as_py() or 0):
        warn(f"{WHERE}: {articles.num_rows - there:,} of {articles.num_rows:,} rows have no text, and so no links")
        articles = articles.filter(has_text)
    inputs = articles.select([name for name in articles.column_names if name in ARTICLES.names and name != "extra"])
    own = articles.drop_columns(inputs.column_names)
    numbers = pa.array(np.arange(articles.num_rows)).cast(pa.string())
    links = linker.link(inputs.set_column(inputs.schema.get_field_index("id"), "id", numbers), scores)
    row = links.column("article_id").cast(pa.int64())
    try:
        ids = decoded(articles.column("id")).cast(pa.string())
    except pa.ArrowException as problem:
        kind = articles.column("id").type
        raise NamesakeError(f"{WHERE}: the ids, which are {kind}, cannot be read ({problem})") from None
    links = links.set_column(0, links.schema.field(0), pc.take(ids, row)).drop_columns(["extra"])
    for field in own.schema:
        name = field.name
        while name in links.column_names or name in ADDED_TO_LINKS:
            name += "_"
        links = links.append_column(field.with_name(name), own.column(field.name).take(row))
    return _like(frame, described(linker.kb, links, one_per_span, linked_only))


def reconcile_frame(
    frame: Any,
    linker: Linker,
    name: str | None = None,
    context: str | Sequence[str] = (),
    date: str | None = None,
    type: Mapping[str, str | Sequence[str]] | None = None,
    *,
    kind: str | Sequence[str] | None = None,
    decisions: Paths = (),
    threads: int = 0,
) -> Any:
    """Match each row of a frame of names to an entity, as the command `reconcile` does for a file.

    Args:
        frame: as for `link_frame`.
        linker: its KB and recipe are used.
        name: the column of names; None: `name`, or another common name.
        context: one or several columns of words about the entity, such as a team or notes.
        date: the column of the date at which a row is true: a year or a day.
        type: properties, and the columns with their values, such as `{"occupation": "Job", "P108": "Firm"}`. Semicolons
            separate several values in one cell.
        kind: the kinds of the entities, such as "organisation" or "people,places"; None: the kind of most names.
        decisions: files of decisions of people, which the rows have instead of computed answers (docs/review.md).
        threads: how many threads work; 0 is one per core. The result does not depend on it.

    Returns:
        The frame with the columns `qid`, `label`, `description`, `confidence`, `reason`, `runner_up`, `runner_up_label`
        and `runner_up_confidence`: a pandas or Polars frame for one of these, else an Arrow table. If the frame has
        such a column, the added one gets the prefix `namesake_`. A guessed column or kind, and dates that cannot be
        read, are reported as a `UserWarning`.
    """
    must_be(linker, (Linker,), "linker", "a Linker")
    must_be(type, (Mapping, None), "type", 'a dictionary such as {"occupation": "Job"}')
    table = _table(frame)
    name = column_of_names(table.column_names, WHERE, warn) if name is None else name
    types = tuple((property, column) for property, columns in (type or {}).items() for column in several(columns))
    layout = Layout(name, tuple(several(context)), date, types, kind)
    linker = linker.with_decisions(decisions) if several(decisions) else linker
    answers = reconcile_table(linker, table, layout, threads=threads)
    for column, cells in answers.unread_dates.items():
        rows, example = counted(len(cells), "row"), next(iter(cells.values()))
        warn(f"{WHERE}: {rows} without a date: {column} cannot be read as a date, such as {example[:60]!r}")
    added = answers.table.select(answers.added)
    if _library(frame) == "pandas":  # the columns of the frame keep their types
        return frame.assign(**added.to_pandas().set_index(frame.index))
    return frame.hstack(_like(frame, added)) if _library(frame) == "polars" else answers.table


def _table(frame: Any) -> pa.Table:
    table = from_stream(frame)
    if not isinstance(table, pa.Table):
        has = "have the Arrow stream interface (`__arrow_c_stream__`), as pandas has from 2.2 on"
        raise TypeError(f"frame must {has}, not be {type(frame).__name__}")
    return table


def _library(frame: Any) -> str:
    return str(type(frame).__module__.partition(".")[0])


def _like(frame: Any, table: pa.Table) -> Any:
    """The table as a frame of the same library, if that is pandas or Polars."""
    if _library(frame) == "pandas":
        return table.to_pandas()
    if _library(frame) == "polars":
        import polars

        return polars.from_arrow(table)
    return table
