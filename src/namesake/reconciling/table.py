"""Whole tables of names: every row reconciled, its own columns kept, who it means added."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from namesake.articles.days import UNDATED, day_number, read_day
from namesake.errors import NamesakeError, did_you_mean
from namesake.kb.records import about
from namesake.kb.store import KB
from namesake.linker import Linker
from namesake.reconciling.because import PARTS, because
from namesake.reconciling.context import APART
from namesake.reconciling.properties import find_property, similar_properties
from namesake.reconciling.query import Candidate, Query
from namesake.reconciling.reconcile import AT_ONCE, TOLD, Reconciled, candidates_of, judge
from namesake.threads import in_order, threads_for

NAMES = ("name", "full_name", "full name", "fullname", "person", "author", "speaker", "label")
"""What people call a column of names, likeliest first."""
ADDED = pa.schema(
    [
        pa.field("qid", pa.string()),
        pa.field("label", pa.string()),
        pa.field("description", pa.string()),
        pa.field("confidence", pa.float64()),  # P(the best candidate is the one), also where it is not the answer
        pa.field("reason", pa.string()),
        pa.field("runner_up", pa.string()),  # the second candidate; the first where there is no answer
        pa.field("runner_up_confidence", pa.float64()),
    ]
)
"""What is added to a table."""
SHOWN = 6
"""Candidates of a doubtful row that are kept for review."""
CHOSEN, NOBODY_CHOSEN = "a person chose", "a person chose nobody"
"""The reasons of such rows; their confidence is 1 or 0."""
_SEVERAL = re.compile(r"\s*[;|]\s*")


@dataclass(frozen=True)
class Layout:
    """What the columns of a table of names are."""

    name: str
    context: tuple[str, ...] = ()
    """Columns of words about the person."""
    date: str | None = None
    """The column of when a row is true."""
    types: tuple[tuple[str, str], ...] = ()
    """Properties, and the columns that hold their values; several values of a cell stand between semicolons."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that a row is matched by."""
        return self.name, *self.context, *((self.date,) if self.date else ()), *(column for _, column in self.types)

    def check(self, table: pa.Table, kb: KB) -> None:
        """Refuse columns that the table has not, and properties that the KB does not know."""
        for column in self.columns:
            if column not in table.column_names:
                hint = did_you_mean(column, table.column_names)
                raise NamesakeError(f"no column {column!r}{hint}; there are {', '.join(table.column_names[:20])}")
        for property, _ in self.types:
            if find_property(kb, property) is None:
                near = ", ".join(similar_properties(kb, property)) or "occupation, country, birth date, P108"
                raise NamesakeError(
                    f"`type={property!r}`: no such property in {kb.path}; there are, among others: {near}"
                )


def column_of_names(columns: Sequence[str], where: str, say: Callable[[str], None]) -> str:
    """The column that has the names, where the user has not named one; `say` is called if its name is unusual."""
    by_lower = {column.casefold(): column for column in reversed(columns)}
    name = next((by_lower[guess] for guess in NAMES if guess in by_lower), None)
    if name is None:
        there = ", ".join(columns[:20]) or "none"
        raise NamesakeError(f"{where}: which column has the names? Name it with `name=`; there are {there}")
    if name != "name":
        say(f"{where}: names are in the column {name!r} (guessed; `name=` says otherwise)")
    return name


@dataclass(frozen=True)
class Doubtful:
    """A row whose answer somebody should look at."""

    row: int
    query: Query
    candidates: list[Candidate]
    """The best ones, at most `SHOWN`."""
    reason: str
    total: int
    """How many candidates there are."""


@dataclass(frozen=True)
class Answer:
    """Who one row means."""

    columns: tuple[object, ...]
    """The values of `ADDED`."""
    doubtful: Doubtful | None


@dataclass(frozen=True)
class Answers:
    """A table with what was added, how many rows have an answer, and the doubtful ones."""

    table: pa.Table
    matched: int
    doubtful: list[Doubtful]
    unread_dates: dict[str, dict[int, str]]
    """Dates that cannot be read, by their column and the place of their row: they are ignored."""
    as_chosen: int
    """Of the rows for which a person chose, those that would have the same answer without."""
    added: list[str]
    """What the added columns are called."""


def reconcile_table(
    linker: Linker,
    table: pa.Table,
    layout: Layout,
    *,
    threads: int = 0,
    review_below: float | None = None,
    unread: Mapping[int, str] | None = None,
    choices: Mapping[int, str | None] | None = None,
    advance: Callable[[int], None] | None = None,
) -> Answers:
    """Add to each row of a table whom it means.

    Args:
        linker: its KB and recipe.
        table: one name per row.
        layout: what its columns are.
        threads: how many threads work; 0 is one for each core. They change nothing in the result.
        review_below: keep the rows that are less sure than this, with their candidates.
        unread: why some rows, by their place, could not be read: they have no answer.
        choices: whom a person chose for some rows, by their place: a QID, or None for nobody.
        advance: told how many rows are done.
    """
    layout.check(table, linker.kb)
    queries = queries_of(table, layout)
    for at in unread or ():
        queries[at] = Query("")
    added: list[tuple[object, ...]] = []
    doubtful: list[Doubtful] = []
    for answers in _in_order(linker, queries, threads_for(threads), review_below):
        for answer in answers:
            added.append(answer.columns)
            if answer.doubtful is not None and answer.doubtful.row not in (choices or ()):
                doubtful.append(answer.doubtful)
        if advance is not None:
            advance(len(added))
    for at, why in (unread or {}).items():
        added[at] = (None, None, None, None, f"not read: {why}", None, None)
    as_chosen = sum(added[at][0] == qid for at, qid in (choices or {}).items())
    for at, qid in (choices or {}).items():
        added[at] = _chosen(linker.kb, qid)
    own = table.num_columns
    for at, field in enumerate(ADDED):
        column = pa.array([row[at] for row in added], field.type)
        table = table.append_column(field.with_name(_free(field.name, table.column_names)), column)
    matched = sum(1 for row in added if row[0] is not None)
    bad_dates = unread_dates(table, layout, linker.kb)
    return Answers(table, matched, doubtful, bad_dates, as_chosen, table.column_names[own:])


def queries_of(table: pa.Table, layout: Layout) -> list[Query]:
    """The rows of a table as queries; a date that cannot be read is left out."""
    names = texts(table, layout.name)
    contexts = [texts(table, column) for column in layout.context]
    typed = [(property, texts(table, column)) for property, column in layout.types]
    told = [None] * len(names) if layout.date is None else texts(table, layout.date)
    dates = {text for text in set(told) if text and day_number(text) != UNDATED}
    return [
        Query(
            name,
            ", ".join(filter(None, words)),
            date if date in dates else None,
            tuple((property, value) for property, cells in typed if cells[at] for value in _SEVERAL.split(cells[at])),
        )
        for at, (name, date, *words) in enumerate(zip(names, told, *contexts, strict=True))
    ]


def unread_dates(table: pa.Table, layout: Layout, kb: KB) -> dict[str, dict[int, str]]:
    """The dates that cannot be read, by their column and the place of their row; columns without any are left out."""
    properties = ((find_property(kb, called), column) for called, column in layout.types)
    columns = [] if layout.date is None else [layout.date]
    columns += [column for property, column in properties if property is not None and property.is_date]
    unread = {
        column: {
            at: cell
            for at, cell in enumerate(texts(table, column))
            if cell and any(read_day(value) is None for value in _SEVERAL.split(cell))
        }
        for column in columns
    }
    return {column: cells for column, cells in unread.items() if cells}


def texts(table: pa.Table, column: str) -> list[str]:
    """A column as texts; nothing is the empty text."""
    return ["" if value is None else str(value).strip() for value in table.column(column).to_pylist()]


def _in_order(
    linker: Linker, queries: Sequence[Query], threads: int, review_below: float | None
) -> Iterator[list[Answer]]:
    """The answers of all queries, by parts, in their order; few parts wait in memory."""

    def answers(begin: int) -> list[Answer]:
        return _answers(linker, queries[begin : begin + AT_ONCE], begin, review_below)

    return in_order(answers, range(0, len(queries), AT_ONCE), threads)


def _answers(linker: Linker, queries: Sequence[Query], before: int, review_below: float | None) -> list[Answer]:
    judged = judge(linker, queries)
    top = _Top(linker.kb, judged)
    return [top.answer(query, at, before + at, review_below) for at, query in enumerate(queries)]


class _Top:
    """The best candidate of each query and what its answer is made of, as lists: rows are many."""

    def __init__(self, kb: KB, judged: Reconciled) -> None:
        self.kb, self.judged = kb, judged
        offsets, order = judged.scored.batch.offsets, np.append(judged.order, -1)
        size = np.diff(offsets)
        self.size: list[int] = size.tolist()
        first = np.where(size > 0, order[offsets[:-1]], -1)
        second = np.where(size > 1, order[np.minimum(offsets[:-1] + 1, len(order) - 1)], -1)
        self.best = list(zip(first.tolist(), second.tolist(), strict=True))
        sure = np.append(judged.confidence, np.nan).round(4)
        self.sure = list(zip(sure[first].tolist(), sure[second].tolist(), strict=True))
        parts = judged.scored.combined.contributions | judged.evidence
        self.parts = {name: np.append(parts[name], 0.0)[first].tolist() for name in PARTS if name in parts}
        told = {name.removeprefix(TOLD): added for name, added in judged.evidence.items() if name != APART}
        self.told = {name: np.append(added, 0.0)[first].tolist() for name, added in told.items()}
        self.mention: list[int] = judged.mention.tolist()

    def answer(self, query: Query, at: int, row: int, review_below: float | None) -> Answer:
        """Who a row means, why, and who else may be meant."""
        mention, why = self.mention[at], self.judged.reason(at)
        if mention < 0 or not self.size[mention]:
            return Answer((None, None, None, None, why if query.name.strip() else "no name", None, None), None)
        parts, told = ({name: v[mention] for name, v in each.items()} for each in (self.parts, self.told))
        reason = because(parts, told, self.size[mention] - 1)
        reason = reason if why is None else f"{why}: {reason}"
        sure = [None if one != one else one for one in self.sure[mention]]
        who: tuple[object, ...] = (None, None, None)
        if why is None:
            found = self.judged.who(self.kb, self.best[mention][0])
            who = (found.qid, found.label, found.description)
        other = self.best[mention][0 if why is not None else 1]
        runner_up = f"Q{self.judged.scored.batch.qids[other]}" if other >= 0 else None
        columns = (*who, sure[0], reason, runner_up, sure[0 if why is not None else 1])
        looked_at = review_below is not None and (
            why is not None or (1.0 if sure[0] is None else sure[0]) < review_below
        )
        if not looked_at:
            return Answer(columns, None)
        shown = candidates_of(self.kb, self.judged, at, SHOWN)
        return Answer(columns, Doubtful(row, query, shown, reason, self.size[mention]))


def _chosen(kb: KB, qid: str | None) -> tuple[object, ...]:
    """The values of `ADDED` where a person chose; somebody whom the KB does not have is just the QID."""
    if qid is None:
        return None, None, None, 0.0, NOBODY_CHOSEN, None, None
    row = int(kb.rows(np.array([int(qid[1:])], np.int64))[0])
    label, description = (kb.label(row), about(kb, row)) if row >= 0 else (None, None)
    return qid, label, description, 1.0, CHOSEN, None, None


def _free(name: str, taken: Sequence[str]) -> str:
    """The name of an added column; one that the table has already gets `namesake_` before it."""
    while name in taken:
        name = f"namesake_{name}"
    return name
