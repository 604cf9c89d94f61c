"""Review: the cases to decide, the page on which people decide them, and agreement of reviewers.

A case is an uncertain mention of a text or an uncertain row of a table. It is decided once for all mentions of its name
in its article, or for all rows with the same content. docs/review.md describes the order of the cases.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.articles.builder import check_articles, pieces
from namesake.articles.rejects import Rejects
from namesake.decisions.lookup import contexts_of
from namesake.decisions.records import Cells, agreement, answers_by, origin, read_file
from namesake.drawing.evidence import for_and_against
from namesake.drawing.theme import render, style_sheet
from namesake.engines.file_linker import read_files
from namesake.errors import NamesakeError
from namesake.files import Paths, check_place, keep_apart, published, several
from namesake.formats import read_rows
from namesake.formats.field_names import Reading
from namesake.kb.names.normalise import normalise
from namesake.kb.records import found, values_of
from namesake.kb.store import KB
from namesake.kernels.dump import wikidata
from namesake.linker import Linker
from namesake.printable import counted
from namesake.reconciling import Candidate, Query, Reconciled
from namesake.reconciling.table import SHOWN, Doubtful
from namesake.scoring import Scored

MOST_CASES = 10_000  # cases on one page
NEEDED = ("article_id", "name", "confidence", "known")  # columns of links that a review reads
NEARBY = 300  # characters before and after a name that are searched for the ends of its sentence
_END = re.compile(r"(?<!\b[A-Z])(?<!\b[A-Z]\w)[.!?][\"”’')]*\s+(?=[\"“‘'(]*[A-Z0-9])|\n+")


class Option(msgspec.Struct, frozen=True):
    """A candidate of a case."""

    id: str
    confidence: float | None
    why: str


class Case(msgspec.Struct, frozen=True):
    """One question to a reviewer."""

    name: str
    where: str
    sentence: tuple[str, str, str]  # the text before the name, the name as it is written, and the text after it
    facts: list[tuple[str, str]]
    reason: str | None
    answer: str | None  # the linker's answer; None for NIL
    options: list[Option]
    total: int  # how many candidates there are
    mentions: int  # how many mentions or rows the decision settles
    uncertainty: float  # 1 minus the probability of the most likely answer, NIL included
    decided: list[dict[str, Any]]  # the fields of the decisions to write that say what they are about

    @property
    def group(self) -> str:
        """The same for similar cases: the same name and the same candidates."""
        return "\t".join([normalise(self.name), *sorted(one.id for one in self.options)])


def ordered(cases: Iterable[Case]) -> list[Case]:
    """The cases in the order of the review."""
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.group, []).append(case)
    worth: list[tuple[float, Case]] = []
    for group in groups.values():
        own = sorted(((case.uncertainty * case.mentions, case) for case in group), key=lambda pair: -pair[0])
        worth += [(sum(value for value, _ in own), own[0][1]), *own[1:]]
    return [case for _, case in sorted(worth, key=lambda pair: -pair[0])]


# texts
def text_cases(linker: Linker, links: pa.Table, articles: Iterable[pa.Table], below: float) -> Iterator[Case]:
    """The cases of texts: mentions of `links` that are less sure than `below`. Their articles are linked again."""
    if absent := [name for name in NEEDED if name not in links.column_names]:
        raise NamesakeError(f"the links have no column {absent[0]!r}: give the output of `namesake link`")
    cells = (links[name].to_pylist() for name in ("confidence", "known"))  # CSV has texts
    numbers = ([None if cell in (None, "") else float(str(cell)) for cell in column] for column in cells)
    chance, known = (pa.array(column, pa.float64()) for column in numbers)
    sure = pc.max_element_wise(chance, pc.subtract(1.0, known))
    rows = links.select(["article_id", "name"]).filter(pc.less(sure, below))
    wanted = set(zip(*(rows.column(name).to_pylist() for name in rows.column_names), strict=True))
    ids = pa.array({article for article, _ in wanted}, pa.string())
    for table in articles:
        some = check_articles(table.filter(pc.is_in(table.column("id"), ids)))
        for piece in pieces(some):
            yield from _cases_of_batch(linker.scored(piece), wanted, below)


def _cases_of_batch(scored: Scored, wanted: set[tuple[str, str]], below: float) -> Iterator[Case]:
    batch, names = scored.batch, scored.batch.names.to_pylist()
    if scored.probabilities is None:
        raise NamesakeError(f"recipe {scored.recipe.name} has no [decide] table, so it has no uncertain links")
    sure = np.maximum(scored.decision.confidence, scored.probabilities[1])
    ids = batch.ids.take(pa.array(batch.article)).to_pylist()
    asked = [m for m in np.flatnonzero(sure < below).tolist() if (ids[m], names[m]) in wanted]
    contexts = contexts_of(batch.mentions, batch.texts, np.array(asked, np.int64))
    judged = Reconciled(scored, np.arange(len(names)))
    for m, context in zip(asked, contexts, strict=True):
        text, spans = batch.texts[int(batch.article[m])].as_py(), batch.placed.span_lists[m].as_py()
        span = max(spans, key=lambda one: one[1] - one[0], default=[0, 0])  # not a part of the name
        sentence = sentence_at(text, *span) if spans else ("", names[m], "")
        date = batch.dates[int(batch.article[m])].as_py()
        about = {"name": names[m], "context": context, "article": ids[m], "span": span, "text": "".join(sentence)}
        yield _case(
            batch.kb,
            judged.candidates(batch.kb, m, SHOWN),
            name=names[m],
            where=ids[m],
            sentence=sentence,
            facts=[("date", date)] if date else [],
            reason=judged.reason(m),
            total=int(np.diff(batch.offsets[m : m + 2])[0]),
            mentions=max(len(spans), 1),
            uncertainty=1 - float(sure[m]),
            decided=[about | ({"date": date} if date else {})],
        )


def sentence_at(text: str, start: int, end: int) -> tuple[str, str, str]:
    """The sentence around a span: the part before it, the span, the part after it."""
    low, high = max(start - NEARBY, 0), min(end + NEARBY, len(text))
    ends = [found.end() for found in _END.finditer(text, low, high)]
    begin = max((one for one in ends if one <= start), default=low)
    stop = min((one for one in ends if one > end), default=high)
    return text[begin:start], text[start:end], text[end:stop].rstrip()


def _case(kb: KB, candidates: Sequence[Candidate], **about: Any) -> Case:
    """A case with its best candidates, and what speaks for and against each of them in one sentence."""
    rows = [kb.row(one.qid) for one in candidates]
    kinds = [kb.kind_of(row).name if row >= 0 else "" for row in rows]
    whys = for_and_against([one.parts for one in candidates], kinds)
    options = [Option(one.qid, one.confidence, why) for one, why in zip(candidates, whys, strict=True)]
    return Case(options=options, answer=next((one.qid for one in candidates if one.matched), None), **about)


# tables
def row_case(same: Sequence[tuple[Doubtful, int, Cells]], kb: KB) -> Case:
    """The case of rows with the same content, each with its number in the table and its cells."""
    row, query = same[0][0], same[0][0].query
    facts = [*([("date", query.date)] if query.date else []), *query.values]
    distinct = {tuple(sorted(cells.items())): cells for _, _, cells in same}
    more = f" and {len(same) - 1} with the same content" if len(same) > 1 else ""
    chances = [one.confidence or 0.0 for one in row.candidates]
    return _case(
        kb,
        row.candidates,
        name=query.name,
        where=f"row {same[0][1]}{more}",
        sentence=("", query.name, f": {query.context}" if query.context else ""),
        facts=facts,
        reason=row.reason,
        total=row.total,
        mentions=len(same),
        uncertainty=1 - max([*chances, 1 - sum(chances)], default=0.0),
        decided=[decided_row(query, cells) for cells in distinct.values()],
    )


def decided_row(query: Query, cells: Cells) -> dict[str, Any]:
    """The fields of a decision that say which row it is about."""
    text = ", ".join(filter(None, [query.context, *(value for _, value in query.values)]))
    about = {"name": query.name, "text": f"{query.name}: {text}", "cells": cells}
    return about | ({"date": query.date} if query.date else {})


# the page
def write_page(cases: Iterable[Case], page: Path, title: str, linker: Linker, blind: bool = False) -> int:
    """Write the page for at most `MOST_CASES` cases, with their contents as JSON, never as markup; returns how many."""
    every = ordered(cases)
    some = every[:MOST_CASES]
    groups = {name: number for number, name in enumerate(dict.fromkeys(case.group for case in some))}
    ids = [sha256(msgspec.json.encode(case.decided, order="sorted")).hexdigest()[:16] for case in some]
    numbered = zip(some, ids, strict=True)
    listed = [msgspec.to_builtins(case) | {"group": groups[case.group], "id": id} for case, id in numbered]
    entities = {option.id: entity_facts(linker.kb, option.id) for case in some for option in case.options}
    data = {"title": title, "all": len(every), "blind": blind, "cases": listed, "entities": entities}
    data["id"] = sha256("".join(ids).encode()).hexdigest()[:16]
    with published(page) as partial:
        data["origin"] = origin(linker.kb, linker.recipe.name)
        text = render("apps/review.html", style=style_sheet("colours"), data=data)
        partial.write_text(text, encoding="utf-8")
    return len(some)


def entity_facts(kb: KB, id: str) -> dict[str, str]:
    """What the page shows of an entity: label, years, description and occupations."""
    row = kb.row(id)
    if row < 0:
        return {"label": id, "years": "", "description": "", "occupation": ""}
    one = found(kb, row)
    jobs = [kb.item_labels[value] for value in values_of(kb, row, wikidata.OCCUPATION) if value >= 0]
    more = ", ".join([job for job in dict.fromkeys(jobs) if job and job not in one.description][:3])
    return {"label": one.label, "years": one.years, "description": one.description, "occupation": more}


def review_links(
    linker: Linker,
    source: Path,
    articles: Sequence[Path],
    page: Path,
    below: float,
    blind: bool,
    rejects: Rejects,
    say: Callable[[str], None],
) -> None:
    """Write a page on which people decide the mentions of `source`, a file of links, that are less sure than `below`.

    A page that is `blind` does not show what the linker answered, and lists candidates by their ids.
    """
    keep_apart([page], [source, *articles, linker.kb.path])
    check_place(page)
    table = read_rows(source, rejects, Reading(say=say)).table
    cases = list(text_cases(linker, table, read_files(articles, rejects), below))
    shown = write_page(cases, page, source.name, linker, blind)
    more = "" if shown == len(cases) else f", the {shown:,} on the page settle most"
    say(f"{page}: {counted(len(cases), 'name')} to review{more}")


# reviewers
def agreement_lines(files: Paths) -> list[str]:
    """The agreement of each two reviewers: files if there are several, else the reviewers named in one file."""
    paths, rejected = [Path(file) for file in several(files)], list[str]()
    placed = [one for path in paths for one in read_file(path, rejected)]
    if len(paths) > 1:
        reviewers: dict[str, dict[Any, str]] = {str(path): {} for path in paths}
        reviewers |= answers_by(placed, lambda one: str(one.file))
    else:
        reviewers = answers_by(placed, lambda one: one.decision.by or "no name")
    if len(reviewers) < 2:
        raise NamesakeError(f"{paths[0]}: decisions of one reviewer only; agreement needs two files or two reviewers")
    lines = [f"{counted(len(rejected), 'line')} rejected, such as {rejected[0]}"] if rejected else []
    for one, other in combinations(reviewers, 2):
        both = [key for key in reviewers[one] if key in reviewers[other]]
        pairs = [reviewers[one][key] for key in both], [reviewers[other][key] for key in both]
        same = sum(map(str.__eq__, *pairs))
        kappa = f"Cohen's kappa {agreement(*pairs):.3f}" if both else "no case was decided by both"
        lines.append(f"{one} and {other}: {same:,} of {counted(len(both), 'case')} alike, {kappa}")
    return lines
