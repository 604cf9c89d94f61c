"""`namesake threshold`: from which confidence on enough answers are right."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from namesake.apps.cli import options
from namesake.apps.cli.output import default_kb, show, warn_of_sample

OUT_OF_REACH = 3
"""The exit code where no threshold is precise enough."""

if TYPE_CHECKING:
    from namesake.evaluation.thresholds import Trade


def threshold(
    labelled: options.Labelled = None,
    more: options.MoreLabelled = None,
    target_precision: Annotated[
        float, typer.Option("--target-precision", help="the share of the answers that must be right")
    ] = 0.95,
    kb: options.Kb = None,
    recipe: options.Recipe = "default",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="a .toml file: the recipe with thresholds p80 to p99 as found")
    ] = None,
    samples: options.Samples = 10_000,
    seed: options.Seed = 2022,
) -> None:
    """Show precision, recall and coverage by threshold on labelled text, and suggest a threshold.

    Example: namesake threshold --kb kb/ --labelled news.jsonl.gz --target-precision 0.95 -o mine.toml
    """
    files = options.listed(labelled, more)
    folder = default_kb(kb)
    warn_of_sample(folder, kb, files)
    from namesake import threshold
    from namesake.apps.terminal.console import Console
    from namesake.apps.terminal.plot import plot
    from namesake.files import keep_apart

    found = threshold(files, folder, target_precision=target_precision, recipe=recipe, samples=samples, seed=seed)
    lines = list(found.lines)
    if out is not None:
        keep_apart([out], [*files, recipe, folder])
        found.recipe.save(out)
        rule = found.recipe.decide
        names = ", ".join(rule.thresholds) if rule is not None else ""
        lines.append(f"wrote {out} with thresholds {names or 'for no precision'}; use it with --recipe {out}")
    show([found.view])
    plot(_curves(found.trade), "threshold", Console(), found.suggested)
    show([], lines)
    if found.suggested is None:
        raise typer.Exit(OUT_OF_REACH)


def _curves(trade: Trade) -> dict[str, list[float | None]]:
    from namesake.apps.terminal.plot import WIDTH

    entries = [trade.at(column / (WIDTH - 1)) for column in range(WIDTH)]
    columns = {"precision": trade.precision, "recall": trade.recall, "coverage": trade.coverage}
    return {
        name: [None if entry is None else float(column[entry]) for entry in entries] for name, column in columns.items()
    }
