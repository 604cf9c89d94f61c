"""`namesake reconcile` matches rows of a table to entities; `namesake review` lets people decide uncertain cases."""

import time
from pathlib import Path
from typing import Annotated, Any

import typer

import namesake
from namesake.apps.cli import common
from namesake.errors import NamesakeError
from namesake.printable import counted
from namesake.progress import reporter


def reconcile(
    table: Path,
    name: str | None = None,
    kind: common.Kinds = None,
    context: list[str] | None = None,
    date: str | None = None,
    type: list[str] | None = None,
    out: common.OptionalOut = None,
    review: Path | None = None,
    review_below: common.Share = 0.8,
    decisions: Annotated[list[Path] | None, typer.Option("--decisions", "--choices", metavar="FILE")] = None,
    kb: Path | None = None,
    recipe: common.Recipe = "default",
    threshold: str | None = None,
    encoding: str | None = None,
    format: str | None = None,
    sheet: str | None = None,
    check: str | None = None,
    explain: bool = False,
    threads: common.Threads = 0,
) -> None:
    """Match each row of a table to a Wikidata entity. The table's own columns are kept."""
    if out is None and review is None:
        raise NamesakeError("no output is named: add -o FILE, such as -o out.csv, or -o - for standard output")
    settings = {name: value for name, value in locals().items() if name not in ("kb", "recipe", "threshold")}
    settings |= {"type": common.properties(type), "context": context or (), "decisions": decisions or ()}
    linker = common.open_linker(kb, recipe, threshold)
    began = time.perf_counter()
    with common.reported_rejects(out) as rejects:
        done = namesake.reconcile(linker, **settings, rejects=rejects, reporter=reporter(), say=common.say)
        rows = done.table.num_rows
        pace = common.rate(rows, time.perf_counter() - began, "row")
        common.say(f"{counted(rows, 'row')}, {done.matched:,} with an answer, {pace}")
        if done.chosen:
            same = f"{done.as_chosen:,} would have the same answer otherwise"
            common.say(f"{done.chosen:,} of them decided by people; {same}")
    if done.unread and done.unread == rows:
        common.say("no row could be read")
        raise typer.Exit(common.NO_RESULT)


def review(
    inputs: Annotated[list[Path], typer.Argument(metavar="INPUT…")],
    articles: list[Path] | None = None,
    name: str | None = None,
    context: list[str] | None = None,
    date: str | None = None,
    type: list[str] | None = None,
    kind: common.Kinds = None,
    decide: Annotated[list[str] | None, typer.Option(metavar="ROW=QID")] = None,
    by: str = "",
    below: common.Share = 0.8,
    blind: bool = False,
    agreement: bool = False,
    decisions: common.Decided = None,
    kb: Path | None = None,
    recipe: common.Recipe = "default",
    encoding: str | None = None,
    out: common.OptionalOut = None,
) -> None:
    """Write a page on which you decide uncertain names of texts or rows of a table, or record decisions."""
    if agreement:
        from namesake.apps.review import agreement_lines

        common.show([], agreement_lines(inputs))
        return
    if len(inputs) > 1:
        raise NamesakeError(f"{inputs[1]}: unexpected file; several are for --agreement only")
    if out is None:
        raise NamesakeError("no output is named: add -o review.html, or with --decide -o decisions.jsonl")
    [source], types = inputs, common.properties(type)
    linker = common.open_linker(kb, recipe, None, decisions=decisions)
    from namesake.apps.reconcile_file import decide_rows
    from namesake.apps.review import review_links

    with common.reported_rejects() as rejects:
        if articles:
            review_links(linker, source, articles, out, below, blind, rejects, common.say)
            return
        columns: dict[str, Any] = {"name": name, "context": context or (), "date": date, "type": types}
        if decide:
            count = decide_rows(linker, source, out, decide, columns, by, encoding, rejects, common.say)
            common.say(f"{out}: {counted(count, 'decision')} added; apply them with --decisions {out}")
            return
        more: dict[str, Any] = {"kind": kind, "encoding": encoding, "rejects": rejects, "say": common.say}
        namesake.reconcile(linker, source, **columns, **more, review=out, review_below=below, blind=blind)
