"""`namesake review`: decide uncertain names and rows, and compare reviewers."""

from pathlib import Path
from typing import Annotated, Any

import typer

from namesake.apps.cli import common
from namesake.errors import NamesakeError
from namesake.printable import counted


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
    """Write a page on which you decide uncertain names of texts or rows of a table, or record decisions.

    Example: namesake review links.parquet --articles news.jsonl.gz --kb kb/ -o review.html

    Example: namesake review people.csv --name Name --decide 2=Q41421 --kb kb/ -o decisions.jsonl

    Example: namesake review --agreement anna.jsonl ben.jsonl
    """
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
    from namesake.apps.reconcile_file import decide_rows, reconcile
    from namesake.apps.review import review_links

    with common.reported_rejects() as rejects:
        if articles:
            review_links(linker, source, articles, out, below, blind, rejects, common.say)
            return
        columns = {"name": name, "context": context or (), "date": date, "type": types}
        table: dict[str, Any] = columns | {"encoding": encoding}
        if decide:
            count = decide_rows(linker, source, out, decide, **table, by=by, rejects=rejects, say=common.say)
            common.say(f"{out}: {counted(count, 'decision')} added; apply them with --decisions {out}")
            return
        more: dict[str, Any] = {"kind": kind, "review": out, "review_below": below, "blind": blind}
        reconcile(linker, source, **table, **more, rejects=rejects, say=common.say)
