"""Links and explanations of one text. Notebooks show them as HTML with its own style."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from namesake.drawing.candidates import side_by_side
from namesake.drawing.text import marked_article, name_marks, who
from namesake.drawing.theme import notebook_style, percent, render
from namesake.printable import one_line

if TYPE_CHECKING:
    from namesake.kb.records import Found

Row = Mapping[str, Any]
One = TypeVar("One")


class Links(list[One]):
    """The links of one text: a list. A notebook shows the text with its names marked.

    `rows` are the same links with labels; changing the list does not change them.
    """

    def __init__(self, links: Iterable[One] = (), text: str = "", title: str | None = None, rows: Sequence[Row] = ()):
        super().__init__(links)
        self.text, self.title, self.rows = text, title, rows

    def _repr_html_(self) -> str:
        return _shown(self.text, self.title, self.rows)


@dataclass(frozen=True, repr=False)
class Explanation:
    """The explanation of the links of one text: `table` has one row per candidate and part of its score.

    A notebook shows the text with its names marked, and below it the candidates of each name with their waterfalls.
    """

    text: str
    title: str | None
    links: Sequence[Row]
    """One row per explained name: its link, with labels and the second candidate."""
    table: pa.Table
    """Rows of `explain.EXPLANATION`."""
    people: Mapping[str, Found] = field(default_factory=dict)
    """Descriptions and years of the candidates, by QID."""

    @cached_property
    def rows(self) -> list[list[Row]]:
        """The rows of the table for each link; empty if a name has no candidates."""
        own: dict[str, list[Row]] = {_key(link): [] for link in self.links}
        for row in self.table.to_pylist():
            own[_key(row)].append(row)
        return [own[_key(link)] for link in self.links]

    def _repr_html_(self) -> str:
        names = [
            (link["name"], side_by_side(rows, self.text, self.people, link))
            for link, rows in zip(self.links, self.rows, strict=True)
        ]
        return _shown(self.text, self.title, self.links, names)

    def __repr__(self) -> str:
        """One line per name: its entity, or why it is NIL."""
        count = "1 name" if len(self.links) == 1 else f"{len(self.links)} names"
        lines = [f"Explanation of {count} ({self.table.num_rows:,} rows in .table)"]
        for link in self.links:
            if link["qid"] is not None:
                said = who(link["qid"], link["label"], link["confidence"])
            else:
                best = f"; best {link['best']} {percent(link['confidence'])}".rstrip() if link["best"] else ""
                said = f"NIL ({link['reason']}{best})"
            lines.append(one_line(f"  {link['name']}: {said}"))
        return "\n".join(lines)


def _key(row: Row) -> str:
    """What distinguishes the names of one text: the name and its places."""
    return repr((row["name"], row["spans"], row["title_spans"]))


def _shown(text: str, title: str | None, links: Sequence[Row], names: Sequence[tuple[str, str]] = ()) -> str:
    """A text with its names marked, then each name with its candidates. One name is open, several unfold."""
    article = marked_article(text, title, name_marks(links), name_marks(links, "title_spans"))
    return render("drawing/notebook.html", style=notebook_style(), heading="", article=article, names=names)


def facts_html(heading: str, facts: Iterable[tuple[str, str]]) -> str:
    """A heading and a list of names and values, for a notebook."""
    return render("drawing/notebook.html", style=notebook_style(), heading=heading, facts=facts)
