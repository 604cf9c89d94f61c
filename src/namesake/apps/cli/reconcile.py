"""`namesake reconcile`: match the rows of a table to entities."""

import time
from pathlib import Path
from typing import Annotated

import typer

from namesake.apps.cli import common
from namesake.errors import NamesakeError
from namesake.printable import counted


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
    """Match each row of a table to a Wikidata entity. The table's own columns are kept.

    Example: namesake reconcile people.csv --name Name --context Team,Notes --type occupation=Job -o out.csv
    """
    if out is None and review is None:
        raise NamesakeError("no output is named: add -o FILE, such as -o out.csv, or -o - for standard output")
    settings = {name: value for name, value in locals().items() if name not in ("kb", "recipe", "threshold")}
    settings |= {"type": common.properties(type), "context": context or (), "decisions": decisions or ()}
    linker = common.open_linker(kb, recipe, threshold)
    from namesake import reconcile
    from namesake.progress import reporter

    began = time.perf_counter()
    with common.reported_rejects(out) as rejects:
        done = reconcile(linker, **settings, rejects=rejects, reporter=reporter(), say=common.say)
        rows = done.table.num_rows
        pace = common.rate(rows, time.perf_counter() - began, "row")
        common.say(f"{counted(rows, 'row')}, {done.matched:,} with an answer, {pace}")
        if done.chosen:
            same = f"{done.as_chosen:,} would have the same answer otherwise"
            common.say(f"{done.chosen:,} of them decided by people; {same}")
    if done.unread and done.unread == rows:
        common.say("no row could be read")
        raise typer.Exit(common.NO_RESULT)
