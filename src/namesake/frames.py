"""Frames in, frames out: names in a column of text of any table that speaks Arrow."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import from_stream
from namesake.articles.schema import ARTICLES
from namesake.engines.described import described, flat
from namesake.errors import must_be
from namesake.formats.columns import Naming
from namesake.formats.fields import Reading
from namesake.linker import Linker


def link_frame(
    frame: Any,
    linker: Linker,
    text: str | None = None,
    id: str | None = None,
    title: str | None = None,
    date: str | None = None,
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
        one_per_span: one row for each place of a name, with `start` and `end`.
        scores: also every candidate with its scores.

    Returns:
        A pandas or Polars frame where one was given, else an Arrow table. A column of the frame that is called like
        one of ours has `_` behind its name. Rows without a text have no links; how many, and which columns were
        guessed, is warned of (`UserWarning`).
    """
    must_be(linker, (Linker,), "linker", "a Linker")
    table = from_stream(frame)
    if not isinstance(table, pa.Table):
        raise TypeError(
            f"frame must speak Arrow (`__arrow_c_stream__`), as pandas does from 2.2 on, not {type(frame).__name__}"
        )
    articles = Naming(Reading(text, id, title, date, say=_warn), "the frame").renamed(table)
    said = articles.column("text").is_valid()
    if articles.num_rows > (there := pc.sum(said).as_py() or 0):
        _warn(f"the frame: {articles.num_rows - there:,} of {articles.num_rows:,} rows have no text, and so no links")
        articles = articles.filter(said)
    own = articles.select([name for name in articles.column_names if name not in ARTICLES.names or name == "extra"])
    ids = articles.column("id").cast(pa.string())
    numbered = pa.array(np.arange(articles.num_rows)).cast(pa.string())
    inputs = articles.select([name for name in articles.column_names if name in ARTICLES.names and name != "extra"])
    links = linker.link(inputs.set_column(inputs.schema.get_field_index("id"), "id", numbered), scores)
    row = links.column("article_id").cast(pa.int64())
    links = links.set_column(0, links.schema.field(0), pc.take(ids, row)).drop_columns(["extra"])
    for name in own.column_names:
        links = links.append_column(_free(name, links.column_names), own.column(name).take(row))
    links = described(linker.kb, flat(links) if one_per_span else links)
    return _like(frame, links)


def _warn(line: str) -> None:
    """Warn whoever called `link_frame`; advice for the command line is left out."""
    warnings.warn(re.sub(r" \(guessed;.*", " (guessed)", line), UserWarning, stacklevel=4)


def _free(name: str, taken: list[str]) -> str:
    """A name that no column of links has."""
    while name in taken or name in ("label", "description", "url", "start", "end", "in_title"):
        name += "_"
    return name


def _like(frame: Any, table: pa.Table) -> Any:
    """The table as a frame of the same kind, where that is pandas or Polars."""
    kind = type(frame).__module__.partition(".")[0]
    if kind == "pandas":
        return table.to_pandas()
    if kind == "polars":
        import polars

        return polars.from_arrow(table)
    return table
