"""What linking a text gives to somebody who works in a notebook: lists and tables that can show themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from namesake.drawing.meanings import percent
from namesake.drawing.notebook import explanation_html, links_html
from namesake.drawing.text import who
from namesake.printable import one_line

if TYPE_CHECKING:
    from namesake.kb.records import Found

Row = Mapping[str, Any]
One = TypeVar("One")


class Links(list[One]):
    """Links of one text: a list, which a notebook shows as the text with its names marked.

    `rows` are the links as they were found, with what drawing needs; changing the list does not change them.
    """

    def __init__(self, links: Iterable[One] = (), text: str = "", title: str | None = None, rows: Sequence[Row] = ()):
        super().__init__(links)
        self.text, self.title, self.rows = text, title, rows

    def _repr_html_(self) -> str:
        return links_html(self.text, self.title, self.rows)


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why the names of one text are linked as they are: `table` has a row for each candidate and part.

    A notebook shows the text with its names marked, and below it each name's candidates with their waterfalls.
    """

    text: str
    title: str | None
    links: Sequence[Row]
    """A row for each name that is explained: as `Linker.link` gives them, with labels and the runner-up."""
    table: pa.Table
    """Rows of `explain.EXPLANATION`."""
    people: Mapping[str, Found] = field(default_factory=dict)
    """Who the candidates are, by QID."""

    @cached_property
    def rows(self) -> list[list[Row]]:
        """The rows of the table for each of the links; none where a name has no candidates."""
        own: dict[str, list[Row]] = {_key(link): [] for link in self.links}
        for row in self.table.to_pylist():
            own[_key(row)].append(row)
        return [own[_key(link)] for link in self.links]

    def _repr_html_(self) -> str:
        return explanation_html(self.text, self.title, self.links, self.rows, self.people)

    def __repr__(self) -> str:
        """A line for each name: whom it means, or why nobody."""
        count = "1 name" if len(self.links) == 1 else f"{len(self.links)} names"
        lines = [f"Explanation of {count} ({self.table.num_rows:,} rows in .table)"]
        for link in self.links:
            if link["qid"] is not None:
                said = who(link["qid"], link["label"], link["confidence"])
            else:
                best = f"; best {link['best']} {percent(link['confidence'])}".rstrip() if link["best"] else ""
                said = f"nobody ({link['reason']}{best})"
            lines.append(one_line(f"  {link['name']}: {said}"))
        return "\n".join(lines)


def _key(row: Row) -> str:
    """What tells the names of one text apart: the name and where it stands."""
    return repr((row["name"], row["spans"], row["title_spans"]))
