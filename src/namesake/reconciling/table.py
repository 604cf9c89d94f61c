"""Whole tables: columns with the entity of each row are added to the table's own."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from namesake.articles.days import UNDATED, day_number, read_day
from namesake.batch import Query
from namesake.decide import DECIDED, REASONS, TOO_CLOSE
from namesake.decisions.lookup import rows_from, texts
from namesake.drawing.evidence import summary_sentence
from namesake.errors import NamesakeError, did_you_mean, warn
from namesake.explain import EXPLANATION, explanation_rows
from namesake.kb.records import about, rows_named
from namesake.kb.store import KB
from namesake.kinds import parse_kinds
from namesake.linker import Linker
from namesake.machine import in_order, threads_for
from namesake.reconciling import AT_ONCE, VALUES, Candidate, Reconciled, judge, kinds_of_column, plain_query, stated_qid
from namesake.scorers.table_rows import ENTITY_TYPE, WORDS_NOT_SHARED
from namesake.scorers.value_lookup import find_property, is_date, similar_properties
from namesake.scoring import refuse_unkept

NAMES = (  # usual headings of a column of names, most likely first
    *("name", "full_name", "full name", "fullname", "person", "author", "speaker", "label"),
    *("company", "organisation", "organization", "university", "city", "place", "title", "country"),
)
ADDED = pa.schema(  # the columns that are added to a table
    [
        pa.field("qid", pa.string()),
        pa.field("label", pa.string()),
        pa.field("description", pa.string()),
        pa.field("confidence", pa.float64()),  # P(the best candidate is right), also if it is not the answer
        pa.field("reason", pa.string()),
        # the second candidate; the first if there is no answer and the second is not close
        pa.field("runner_up", pa.string()),
        pa.field("runner_up_label", pa.string()),
        pa.field("runner_up_confidence", pa.float64()),
    ]
)
WHY = pa.field("why", pa.string())  # one sentence for each row
SHOWN = 6  # candidates of an uncertain row that are kept for review
CHOSEN, NOBODY_CHOSEN = "a person chose", "a person chose nobody"  # their confidence is 1 or 0
SHARED_WORDS = ("ArticleWords", "SentenceWords")
AGAINST = {  # the reasons that these parts give if they subtract more than WORTH_SAYING
    WORDS_NOT_SHARED: "shares few words of the row",
    "YearsFromLifetime": "lived at another time",
    "NotYetBorn": "born later",
}
WORTH_SAYING = 0.5
CHECKS = ("agrees", "another entity", "no answer", "not in the KB", "no QID")
AGREES, ANOTHER, NO_ANSWER, NOT_IN_KB, NO_QID = CHECKS
NULLS: dict[str, Any] = dict.fromkeys(EXPLANATION.names)
_SEVERAL = re.compile(r"\s*[;|]\s*")


@dataclass(frozen=True)
class Layout:
    """The roles of a table's columns."""

    name: str
    context: tuple[str, ...] = ()  # columns of words about the entity
    date: str | None = None  # the column with the date of the row
    types: tuple[tuple[str, str], ...] = ()  # properties, and the columns with their values, separated by semicolons
    kind: str | Iterable[str] | None = None  # the kinds of the entities, such as "people,places"; None: guessed

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are used for matching."""
        return self.name, *self.context, *((self.date,) if self.date else ()), *(column for _, column in self.types)

    def check(self, table: pa.Table, kb: KB) -> None:
        """Raise an error for columns that the table lacks, and for properties and kinds that the KB lacks."""
        refuse_unkept(None if self.kind is None else parse_kinds(self.kind), kb)
        for column in self.columns:
            if column not in table.column_names:
                hint = did_you_mean(column, table.column_names)
                raise NamesakeError(f"no column {column!r}{hint}; there are {', '.join(table.column_names[:20])}")
        for property, _ in self.types:
            if find_property(kb, property) is None:
                near = ", ".join(similar_properties(kb, property)) or "country, occupation, headquarters, P108"
                raise NamesakeError(f"`type={property!r}`: no such property in {kb.path}; there are {near}, …")


def column_of_names(columns: Sequence[str], where: str, say: Callable[[str], None]) -> str:
    """The column of names if the user chose none; `say` receives a notice if its heading is not "name"."""
    by_lower = {column.casefold(): column for column in reversed(columns)}
    name = next((by_lower[guess] for guess in NAMES if guess in by_lower), None)
    if name is None:
        there = ", ".join(columns[:20]) or "none"
        raise NamesakeError(f"{where}: which column has the names? Name it with `name=`; there are {there}")
    if name != "name":
        say(f"{where}: names are in the column {name!r} (guessed; `name=` says otherwise)")
    return name


class Doubtful(NamedTuple):
    """A row whose answer should be reviewed."""

    row: int
    query: Query
    candidates: list[Candidate]  # the best ones, at most `SHOWN`
    reason: str
    total: int  # how many candidates there are


class Answers(NamedTuple):
    """A table with the added columns, the number of rows with an answer, and the rows to review."""

    table: pa.Table
    matched: int
    doubtful: list[Doubtful]
    unread_dates: dict[str, dict[int, str]]  # dates that cannot be read and are ignored, by column and row number
    chosen: int  # the number of rows that people decided
    as_chosen: int  # of these, the rows whose answer would be the same without the decision
    added: list[str]  # the names of the added columns
    unread: int  # the number of rows that could not be read


def reconcile_table(
    linker: Linker,
    table: pa.Table,
    layout: Layout,
    *,
    threads: int = 0,
    review_below: float | None = None,
    unread: Mapping[int, str] = MappingProxyType({}),
    explain: bool = False,
    advance: Callable[[int], None] | None = None,
    say: Callable[[str], None] = warn,
) -> Answers:
    """Add the entity of each row to a table, as `namesake.reconcile` does for a file.

    `unread` says by row number why a row could not be read; it has no answer. Rows with a lower confidence than
    `review_below` are collected for review. `advance` is called with the number of rows that are done.
    """
    layout.check(table, linker.kb)
    queries = queries_of(table, layout)
    kinds = kinds_of_column(linker, layout.kind, [query.name for query in queries], layout.name, say)
    of_rows = None if linker.decisions is None else linker.decisions.of_rows(table)
    open_rows = range(len(queries)) if of_rows is None else np.flatnonzero(np.diff(of_rows[0]) == 0).tolist()
    stated = {at: qid for at in open_rows if (qid := stated_qid(linker.kb, queries[at].name))}
    queries = [plain_query(linker.kb, query, kinds) for query in queries]
    for at in (*unread, *stated):
        queries[at] = Query("")
    answers: list[Answer] = []

    def answered(begin: int) -> list[Answer]:
        """The answers of AT_ONCE queries from `begin` on."""
        some = queries[begin : begin + AT_ONCE]
        judged = judge(linker, some, kinds, rows_from(of_rows, begin, len(some)))
        found = [_answer(linker.kb, judged, query, at, begin + at, review_below) for at, query in enumerate(some)]
        rows = (NULLS | row for row in explanation_rows(judged.scored, most=2)) if explain else ()
        for at, explained in groupby(rows, key=lambda row: int(row["article_id"])):
            found[at].columns["why"] = summary_sentence(list(explained), judged.scored.batch.texts[at].as_py())
        return found

    for some in in_order(answered, range(0, len(queries), AT_ONCE), threads_for(threads)):
        answers += some
        if advance is not None:
            advance(len(answers))
    for at, why in unread.items():
        answers[at].columns["reason"] = f"not read: {why}"
    for at, qid in stated.items():
        answers[at].columns.update(_stated(linker.kb, qid))
    own = table.num_columns
    for field in (*ADDED, WHY) if explain else ADDED:
        name, column = field.name, pa.array([one.columns.get(field.name) for one in answers], field.type)
        while name in table.column_names:
            name = f"namesake_{name}"
        table = table.append_column(name, column)
    matched = sum("qid" in one.columns for one in answers)
    doubtful = [one.doubtful for one in answers if one.doubtful is not None]
    chosen = [one.as_decided for one in answers if one.as_decided is not None]
    dates, added = unread_dates(table, layout, linker.kb), table.column_names[own:]
    return Answers(table, matched, doubtful, dates, len(chosen), sum(chosen), added, len(unread))


def queries_of(table: pa.Table, layout: Layout) -> list[Query]:
    """The rows of a table as queries, without dates that cannot be read."""
    names = texts(table, layout.name)
    contexts = [texts(table, column) for column in layout.context]
    typed = [(property, texts(table, column)) for property, column in layout.types]
    dated = [None] * len(names) if layout.date is None else texts(table, layout.date)
    dates = {text for text in set(dated) if text and day_number(text) != UNDATED}
    return [
        Query(
            name,
            ", ".join(filter(None, words)),
            date if date in dates else None,
            tuple((property, value) for property, cells in typed if cells[at] for value in _SEVERAL.split(cells[at])),
        )
        for at, (name, date, *words) in enumerate(zip(names, dated, *contexts, strict=True))
    ]


def unread_dates(table: pa.Table, layout: Layout, kb: KB) -> dict[str, dict[int, str]]:
    """The dates that cannot be read, by column and row number."""
    columns = [] if layout.date is None else [layout.date]
    columns += [column for called, column in layout.types if any(map(is_date, find_property(kb, called) or ()))]
    unread = {
        column: {
            at: cell
            for at, cell in enumerate(texts(table, column))
            if cell and any(read_day(value) is None for value in _SEVERAL.split(cell))
        }
        for column in columns
    }
    return {column: cells for column, cells in unread.items() if cells}


class Answer(NamedTuple):
    """The answer for a row."""

    columns: dict[str, Any]  # the values of `ADDED` that are not null, and of `WHY`
    doubtful: Doubtful | None = None  # the row for review if it is uncertain
    as_decided: bool | None = None  # whether the answer is the same without its decision; None if there is none


def _answer(kb: KB, judged: Reconciled, query: Query, at: int, row: int, review_below: float | None) -> Answer:
    """The answer of query `at`, which is that of a row, with its reason and the runner-up."""
    best, why, as_decided = judged.best(at, 2), judged.reason(at), judged.as_decided(at)
    if why == REASONS[DECIDED]:
        return Answer({"confidence": 0.0, "reason": NOBODY_CHOSEN}, None, as_decided)
    if not best:
        return Answer({"reason": _missing(kb, query.name, why)})
    begin, end = judged.scored.batch.offsets[judged.mention[at] :][:2].tolist()
    described = [judged.who(kb, one) for one in best]
    sure = [None if one.confidence is None else float(np.round(one.confidence, 4)) for one in described]
    columns: dict[str, Any] = {"confidence": sure[0], "reason": CHOSEN}
    if why is None:
        columns |= {"qid": described[0].qid, "label": described[0].label, "description": described[0].description}
    if as_decided is not None:
        return Answer(columns, None, as_decided)
    is_close = why == REASONS[TOO_CLOSE] and len(best) > 1
    rivals = " and ".join(f"{one.qid} ({one.description or one.label})" for one in described)
    reason = _because(described[0].parts, end - begin - 1)
    if why is not None:
        reason = f"{why} between {rivals}: {reason}" if is_close else f"{why}: {reason}"
    columns["reason"] = reason
    next_best = 0 if why is not None and not is_close else 1
    if next_best < len(best):
        other = described[next_best]
        columns |= {
            "runner_up": other.qid,
            "runner_up_label": other.label or None,
            "runner_up_confidence": sure[next_best],
        }
    is_unsure = why is not None or (review_below is not None and sure[0] is not None and sure[0] < review_below)
    if review_below is None or not is_unsure:
        return Answer(columns)
    return Answer(columns, Doubtful(row, query, judged.candidates(kb, at, SHOWN), reason, end - begin))


def _missing(kb: KB, name: str, why: str | None) -> str | None:
    """The reason of a row without candidates: also the most famous entity with its name, which is of another kind."""
    others = rows_named(kb, name) if name.strip() else []
    if others:
        return f"{why} of this kind; {kb.ids.text(int(kb.qids[others[0]]))} is of the kind {kb.kind_of(others[0]).name}"
    return why if name.strip() else "no name"


def _because(adds: Mapping[str, float], rivals: int) -> str:
    """The reason for a candidate in a few words, by the summands of its score; `rivals` counts the other candidates."""
    cells = {"type": ENTITY_TYPE} | {name.removeprefix(VALUES): name for name in adds if VALUES in name}
    said = [f"{name} {'agrees' if adds[part] > 0 else 'differs'}" for name, part in cells.items() if part in adds]
    if sum(adds.get(part, 0.0) for part in SHARED_WORDS) > WORTH_SAYING:
        said.append("shares words of the row")
    said += [why for part, why in AGAINST.items() if adds.get(part, 0.0) < -WORTH_SAYING]
    others = "one other entity has" if rivals == 1 else f"{rivals:,} other entities have"
    said.append(f"{others} the name" if rivals else "no other entity has the name")
    return "; ".join(said)


def _stated(kb: KB, qid: str) -> dict[str, Any]:
    """The values of `ADDED` for a row whose name is a QID or an address."""
    row = kb.row(qid)
    if row < 0:
        return {"reason": f"{qid} is not in the KB"}
    found = {"qid": qid, "label": kb.label(row), "description": about(kb, row)}
    return found | {"confidence": 1.0, "reason": "the row names the entity itself"}


def checked(kb: KB, given: Sequence[str], answers: Sequence[str | None], say: Callable[[str], None]) -> list[str]:
    """For each row, whether its answer is the QID that the table gives; `say` receives the counts."""
    found = []
    for cell, answer in zip(given, answers, strict=True):
        qid = stated_qid(kb, cell)
        if qid is None or qid == answer:
            found.append(NO_QID if qid is None else AGREES)
        else:
            found.append(NOT_IN_KB if kb.row(qid) < 0 else NO_ANSWER if answer is None else ANOTHER)
    counts = Counter(found)
    say(f"QIDs of the table: {', '.join(f'{counts[what]:,} {what}' for what in CHECKS if counts[what])}")
    return found
