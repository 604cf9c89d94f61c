"""Rows of a table explained: one sentence for each, the whole explanation of one, and a column of QIDs compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from namesake.articles.rejects import Rejects
from namesake.batch import Query
from namesake.decisions.lookup import OfRows, rows_from
from namesake.drawing.sentence import summary_sentence
from namesake.errors import NamesakeError
from namesake.explain import EXPLANATION, explain, explanation_rows
from namesake.formats import read_rows
from namesake.formats.field_names import Reading, silent
from namesake.kb.store import KB
from namesake.linker import Linker
from namesake.machine import in_order, threads_for
from namesake.reconciling.column_kind import kinds_of_column
from namesake.reconciling.matching import AT_ONCE, articles_of, judge, plain_query
from namesake.reconciling.name_forms import stated_qid

NULLS: dict[str, Any] = dict.fromkeys(EXPLANATION.names)
AGREES, ANOTHER, NO_ANSWER, NOT_IN_KB, NO_QID = "agrees", "another entity", "no answer", "not in the KB", "no QID"


def sentences(
    linker: Linker,
    queries: Sequence[Query],
    kinds: tuple[int, ...] | None,
    threads: int = 0,
    of_rows: OfRows | None = None,
) -> list[str | None]:
    """Why each row has its answer, in one sentence; None for a row without candidates."""
    found: list[str | None] = []
    work = partial(_sentences, linker, queries, kinds, of_rows)
    for some in in_order(work, range(0, len(queries), AT_ONCE), threads_for(threads)):
        found += some
    return found


def _sentences(
    linker: Linker, queries: Sequence[Query], kinds: tuple[int, ...] | None, of_rows: OfRows | None, begin: int
) -> list[str | None]:
    some = queries[begin : begin + AT_ONCE]
    judged = judge(linker, some, kinds, rows_from(of_rows, begin, len(some)))
    texts = articles_of(some).column("text")
    found: list[str | None] = [None] * len(some)
    explanations = (NULLS | row for row in explanation_rows(judged.scored, most=2))
    for row, rows in groupby(explanations, key=lambda row: int(row["article_id"])):
        found[row] = summary_sentence(list(rows), texts[row].as_py())
    return found


def explained_table_row(linker: Linker, path: Path, number: int, given: Mapping[str, Any]) -> tuple[pa.Table, pa.Table]:
    """A row of a table as an article, and the rows of its explanation.

    `number` is that of the spreadsheet program. `given` are the columns `name`, `context` and `date`, and `encoding`
    and `sheet` of the file.
    """
    from namesake.reconciling.table import Layout, column_of_names, queries_of

    read = read_rows(path, Rejects(), Reading(encoding=given["encoding"], sheet=given["sheet"]))
    if number not in read.numbers:
        raise NamesakeError(f"{path}: no row {number:,} with cells; the last row is {max(read.numbers, default=0):,}")
    name = given["name"] or column_of_names(read.table.column_names, str(path), silent)
    columns = [column.strip() for column in given["context"].split(",") if column.strip()]
    layout = Layout(name, tuple(columns), given["date"])
    layout.check(read.table, linker.kb)
    queries = queries_of(read.table, layout)
    kinds = kinds_of_column(linker, None, [query.name for query in queries], name, silent)
    place = read.numbers.index(number)
    query = plain_query(linker.kb, queries[place], kinds)
    of_rows = None if linker.decisions is None else linker.decisions.of_rows(read.table)
    article, rows = articles_of([query]), explain(judge(linker, [query], kinds, rows_from(of_rows, place, 1)).scored)
    if not rows.num_rows:
        raise NamesakeError(f"{path} row {number:,}: no candidates for {query.name!r}")
    where = f"{path.name} row {number:,}"
    named = (pa.array([where] * table.num_rows) for table in (article, rows))
    return article.set_column(0, article.schema.field(0), next(named)), rows.set_column(0, "article_id", next(named))


def checked(kb: KB, given: Sequence[str], answers: Sequence[str | None], say: Callable[[str], None]) -> list[str]:
    """For each row, whether its answer is the QID that the table gives; `say` receives the counts."""
    found = [_checked(kb, cell, answer) for cell, answer in zip(given, answers, strict=True)]
    counts = Counter(found)
    order = (AGREES, ANOTHER, NO_ANSWER, NOT_IN_KB, NO_QID)
    say(f"QIDs of the table: {', '.join(f'{counts[what]:,} {what}' for what in order if counts[what])}")
    return found


def _checked(kb: KB, cell: str, answer: str | None) -> str:
    qid = stated_qid(kb, cell)
    if qid is None:
        return NO_QID
    if qid == answer:
        return AGREES
    return NOT_IN_KB if kb.row(qid) < 0 else NO_ANSWER if answer is None else ANOTHER
