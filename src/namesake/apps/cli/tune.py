"""`namesake tune`: the weights of a recipe, and what they are worth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from namesake.apps.cli import options
from namesake.apps.cli.output import default_kb, say, show, warn_of_sample


def tune(
    more: options.MoreLabelled = None,
    labelled: options.Labelled = None,
    kb: Annotated[Path | None, typer.Option("--kb", help="links --labelled; default: the embedded sample")] = None,
    scores: Annotated[
        list[Path] | None, typer.Option("--scores", help="scores of every candidate; files are fitted as one")
    ] = None,
    gold: Annotated[list[Path] | None, typer.Option("--gold", help="one for all score files, or one for each")] = None,
    split: Annotated[str | None, typer.Option("--split", help="gold to find the weights on; default: all")] = None,
    recipe: Annotated[str, typer.Option("--recipe", help="whose parts to weigh: shipped, or a .toml")] = "default",
    how: Annotated[str, typer.Option("--how", help="which weights to write: fit (log-linear) or grid")] = "fit",
    step: Annotated[float, typer.Option("--step", min=0.01, max=1.0, help="of the grid")] = 0.05,
    folds: Annotated[int, typer.Option("--folds", min=2, help="by document, over all gold")] = 10,
    known: Annotated[
        Path | None, typer.Option("--known", help="leave out candidates this KB lacks in files that `link` wrote")
    ] = None,
    hold: Annotated[
        bool, typer.Option("--hold", help="keep the weights, and fit only when to say nobody: nil and alone")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="the recipe to write; default: NAME-HOW.toml")] = None,
) -> None:
    """Find a recipe's weights, from labelled text or from scores, by a fitted model or a grid, and write a recipe.

    Example: namesake tune --kb kb/ --labelled news.jsonl.gz web.jsonl.gz -o mine.toml

    Example: namesake tune --scores scores.parquet --gold gold.jsonl --split tune --recipe uiscore-paper -o mine.toml
    """
    from namesake import tune
    from namesake.files import keep_apart

    files = options.listed(labelled, more)
    folder = default_kb(kb) if files else None
    if folder is not None:
        warn_of_sample(folder, kb, files)
    tuning = tune(
        scores or (),
        gold or (),
        recipe,
        labelled=files,
        kb=folder,
        how=cast(Literal["fit", "grid"], how),
        split=split,
        step=step,
        folds=folds,
        known=known,
        hold=hold,
        name=out.stem if out else None,
    )
    out = out or Path(f"{tuning.recipe.name}.toml")
    keep_apart([out], [*files, *(scores or ()), *(gold or ()), recipe, *([known] if known else [])])
    tuning.recipe.save(out)
    if tuning.warning:
        say(f"warning: {tuning.warning}")
    show(tuning.views, [f"wrote {out}; use it with --recipe {out}"])
