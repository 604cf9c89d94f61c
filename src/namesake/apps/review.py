"""Review as functions: the page for links, decisions about rows by their numbers, agreement of reviewers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from namesake.apps.reconcile_file import layout_of
from namesake.apps.review_cases import text_cases, write_page
from namesake.articles.rejects import Rejects
from namesake.decisions.lookup import cells_of
from namesake.decisions.records import Decision, agreement, answers_by, append, contradict, now, origin, read_file
from namesake.engines.file_linker import read_files
from namesake.errors import NamesakeError, warn
from namesake.files import Paths, check_place, keep_apart, several
from namesake.formats import read_rows
from namesake.formats.field_names import Reading
from namesake.linker import Linker
from namesake.printable import counted
from namesake.reconciling.table import column_of_names, queries_of


def review_links(
    linker: Linker,
    links: str | Path,
    articles: Paths,
    out: str | Path,
    *,
    below: float = 0.8,
    blind: bool = False,
    rejects: Rejects,
    say: Callable[[str], None] = warn,
) -> int:
    """Write a page on which people decide the uncertain mentions of links; returns how many cases are on it.

    Args:
        linker: its KB and recipe, with which the articles of uncertain mentions are linked again.
        links: the output of `namesake link`: Parquet, JSONL or CSV.
        articles: the articles that were linked.
        out: the HTML page.
        below: mentions whose most likely answer has a lower probability are uncertain.
        blind: do not show what the linker answered, and list candidates by their ids.
        rejects: receives articles that cannot be read.
        say: receives messages.
    """
    source, page, texts = Path(links), Path(out), [Path(file) for file in several(articles)]
    keep_apart([page], [source, *texts, linker.kb.path])
    check_place(page)
    table = read_rows(source, rejects, Reading(say=say)).table
    cases = list(text_cases(linker, table, read_files(texts, rejects), below))
    shown = write_page(cases, page, source.name, linker, blind)
    more = "" if shown == len(cases) else f", the {shown:,} on the page settle most"
    say(f"{page}: {counted(len(cases), 'name')} to review{more}")
    return shown


def decide_rows(
    linker: Linker,
    table: str | Path,
    out: str | Path,
    answers: Iterable[str],
    *,
    name: str | None = None,
    context: str | Sequence[str] = (),
    date: str | None = None,
    type: Mapping[str, str | Sequence[str]] | None = None,
    by: str = "",
    encoding: str | None = None,
    rejects: Rejects,
    say: Callable[[str], None] = warn,
) -> int:
    """Append decisions about rows of a table to a file of decisions; returns their number.

    Args:
        linker: its KB and recipe are recorded.
        table: the table.
        out: the file of decisions.
        answers: `ROW=QID`, `ROW=nil`, or `ROW=not:QID` for "not this entity"; rows as the spreadsheet counts them.
        name: the column of names; `context`, `date` and `type` as for `reconcile`.
        by: the reviewer.
        encoding: the encoding of CSV and TSV.
        rejects: receives rows that cannot be read.
        say: receives messages.
    """
    source, target = Path(table), Path(out)
    keep_apart([target], [source, linker.kb.path])
    check_place(target)
    read = read_rows(source, rejects, Reading(encoding=encoding, say=say))
    named = column_of_names(read.table.column_names, str(source), say) if name is None else name
    layout = layout_of(read.table, named, context, date, type)
    layout.check(read.table, linker.kb)
    queries, place = queries_of(read.table, layout), {number: at for at, number in enumerate(read.numbers)}
    shared: dict[str, Any] = {"by": by, "at": now()} | origin(linker.kb, linker.recipe.name)
    made = []
    for answer in answers:
        found = re.fullmatch(r"(\d+)=(nil|(?P<never>not:)?(?P<entity>\S+))", answer, re.I)
        if found is None or int(found[1]) not in place:
            rows = f"rows {min(place, default=0)} to {max(place, default=0)}" if found else "ROW=QID or ROW=nil"
            raise NamesakeError(
                f"`decide={answer!r}`: {source} has {rows}" if found else f"`decide={answer!r}`: write {rows}"
            )
        row, entity = place[int(found[1])], found["entity"]
        [cells] = cells_of(read.table, layout.columns, [row])
        what: Any = "nil" if entity is None else "never" if found["never"] else "entity"
        text = ", ".join(filter(None, [queries[row].context, *(value for _, value in queries[row].values)]))
        try:
            made.append(
                Decision(
                    decision=what,
                    name=queries[row].name,
                    entity=entity,
                    cells=cells,
                    text=f"{queries[row].name}: {text}",
                    date=queries[row].date,
                    **shared,
                )
            )
        except ValueError as problem:
            raise NamesakeError(f"`decide={answer!r}`: {problem}") from None
    _refuse_contradiction(target, made)
    append(target, made)
    return len(made)


def _refuse_contradiction(path: Path, new: Sequence[Decision]) -> None:
    """Raise an error if a new decision contradicts one of the file, or another new one."""
    known = [(one.decision, str(one)) for one in read_file(path, [])] if path.exists() else []
    for one in new:
        for other, shown in known:
            if one.key == other.key and other.decision != "withdrawn" and contradict(one, other):
                raise NamesakeError(f"{one.name!r} = {one.entity or 'NIL'} contradicts {shown}: remove one of them")
        known.append((one, f"{one.name!r} = {one.entity or 'NIL'}"))


def agreement_lines(files: Paths) -> list[str]:
    """The agreement of each two reviewers: files if there are several, else the reviewers named in one file."""
    paths, rejected = [Path(file) for file in several(files)], list[str]()
    placed = [(path, one) for path in paths for one in read_file(path, rejected)]
    if len(paths) > 1:
        reviewers = {
            str(path): answers_by([one for own, one in placed if own == path], lambda _: "").get("", {})
            for path in paths
        }
    else:
        reviewers = answers_by([one for _, one in placed], lambda one: one.decision.by or "no name")
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
