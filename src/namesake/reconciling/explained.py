"""Rows of a table explained: one sentence for each, the whole explanation of one, and a column of QIDs compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from itertools import groupby

import pyarrow as pa

from namesake.batch import Query
from namesake.drawing.sentence import summary_sentence
from namesake.explain import EXPLANATION, explain, explanation_rows
from namesake.kb.store import KB
from namesake.linker import Linker
from namesake.machine import in_order, threads_for
from namesake.reconciling.matching import AT_ONCE, articles_of, judge
from namesake.reconciling.name_forms import stated_qid

NULLS = dict.fromkeys(EXPLANATION.names)
AGREES, ANOTHER, NO_ANSWER, NOT_IN_KB, NO_QID = "agrees", "another entity", "no answer", "not in the KB", "no QID"


def sentences(
    linker: Linker, queries: Sequence[Query], kinds: tuple[int, ...] | None, threads: int = 0
) -> list[str | None]:
    """Why each row has its answer, in one sentence; None for a row without candidates."""
    found: list[str | None] = []
    work = partial(_sentences, linker, queries, kinds)
    for some in in_order(work, range(0, len(queries), AT_ONCE), threads_for(threads)):
        found += some
    return found


def _sentences(linker: Linker, queries: Sequence[Query], kinds: tuple[int, ...] | None, begin: int) -> list[str | None]:
    some = queries[begin : begin + AT_ONCE]
    judged = judge(linker, some, kinds)
    texts = articles_of(some).column("text")
    found: list[str | None] = [None] * len(some)
    explanations = (NULLS | row for row in explanation_rows(judged.scored, most=2))
    for row, rows in groupby(explanations, key=lambda row: int(row["article_id"])):
        found[row] = summary_sentence(list(rows), texts[row].as_py())
    return found


def explained_row(linker: Linker, query: Query, kinds: tuple[int, ...] | None) -> tuple[pa.Table, pa.Table]:
    """A row as an article, and the rows of its explanation."""
    judged = judge(linker, [query], kinds)
    return articles_of([query]), explain(judged.scored)


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
