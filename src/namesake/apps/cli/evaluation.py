"""`namesake eval`: measure links, choose thresholds, fit weights, and examine errors."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import namesake
from namesake.apps.cli import common
from namesake.errors import NamesakeError

if TYPE_CHECKING:
    from namesake.evaluation.reports.report import Report

group = common.group("Measure links, choose thresholds, fit weights, and examine errors.")


@group.command()
def run(
    out: common.Out,
    more: common.MoreLabelled = None,
    gold: Path | None = None,
    labelled: list[Path] | None = None,
    links: Path | None = None,
    scores: Path | None = None,
    kb: Path | None = None,
    articles: Path | None = None,
    recipe: common.Recipe = "default",
    threshold: str | None = None,
    complete: str = "",
    known: Path | None = None,
    split: str | None = None,
    methods: str = "",
    by: str = "",
    unit: Literal["mention", "document"] = "mention",
    samples: common.Samples = 10_000,
    seed: int = 2022,
) -> None:
    """Measure accuracy with confidence intervals, on labelled text or against gold."""
    given = locals()
    texts, minimum = common.listed(labelled, more), common.threshold_of(threshold)
    shared: dict[str, Any] = {"samples": samples, "seed": seed}
    against_gold = {name: given[name] for name in ("links", "scores", "articles", "known", "split")}
    against_gold |= {name: [one.strip() for one in given[name].split(",") if one.strip()] for name in ("methods", "by")}
    inputs = [gold, *texts, links, scores, articles, known, kb, Path(recipe)]
    if texts:
        if excess := [f"--{name}" for name, value in (against_gold | {"gold": gold}).items() if value]:
            raise NamesakeError(f"--labelled text has its own gold and is linked with --recipe: omit {excess[0]}")
        shared |= {"threshold": minimum, "complete": complete}
        report = namesake.evaluate_text(texts, common.default_kb(kb, texts), recipe, **shared)
        _write(report, out, inputs)
        return
    if gold is None:
        raise NamesakeError("eval run needs --gold for links and scores, or --labelled text")
    if complete:
        raise NamesakeError("--complete applies to --labelled text")
    if threshold is not None:
        raise NamesakeError("--threshold applies to --labelled text; links and recipes have their own threshold")
    if links is not None and scores is not None:
        raise NamesakeError("eval run needs one of --links, --scores, or --kb with --articles")
    against_gold["scores"] = against_gold.pop("links") or scores
    folder = common.default_kb(kb, [articles]) if articles else kb
    with common.reported_rejects() as rejects:
        _write(namesake.evaluate(gold, kb=folder, unit=unit, **against_gold, **shared, rejects=rejects), out, inputs)


@group.command()
def threshold(
    labelled: list[Path] | None = None,
    more: common.MoreLabelled = None,
    target_precision: float = 0.95,
    kb: Path | None = None,
    recipe: common.Recipe = "default",
    out: common.OptionalOut = None,
    samples: common.Samples = 10_000,
    seed: int = 2022,
) -> None:
    """Show precision, recall and coverage by threshold on labelled text, and suggest a threshold."""
    files = common.listed(labelled, more)
    folder = common.default_kb(kb, files)
    from namesake.apps.terminal import plot
    from namesake.files import keep_apart

    settings: dict[str, Any] = {"target_precision": target_precision, "samples": samples, "seed": seed}
    found = namesake.threshold(files, folder, recipe=recipe, **settings)
    lines = list(found.lines)
    if out is not None:
        keep_apart([out], [*files, recipe, folder if isinstance(folder, Path) else folder.path])
        found.recipe.save(out)
        rule = found.recipe.decide
        names = ", ".join(rule.thresholds) if rule is not None else ""
        lines.append(f"wrote {out} with thresholds {names or 'for no precision'}; use it with --recipe {out}")
    common.show([found.view])
    curves = {"precision": found.trade.precision, "recall": found.trade.recall, "coverage": found.trade.coverage}
    plot(curves, found.trade.at, found.suggested)
    common.show([], lines)
    if found.suggested is None:
        raise typer.Exit(common.NO_RESULT)


@group.command()
def tune(
    more: common.MoreLabelled = None,
    labelled: list[Path] | None = None,
    kb: Path | None = None,
    complete: str = "",
    scores: list[Path] | None = None,
    gold: list[Path] | None = None,
    split: str | None = None,
    recipe: common.Recipe = "default",
    how: Literal["fit", "grid"] = "fit",
    step: Annotated[float, typer.Option(min=0.01, max=1.0)] = 0.05,
    folds: Annotated[int, typer.Option(min=2)] = 10,
    known: Path | None = None,
    hold: bool = False,
    decisions: common.Decided = None,
    articles: list[Path] | None = None,
    out: common.OptionalOut = None,
) -> None:
    """Fit a recipe's weights to labelled text, to scores or to decisions, and write a recipe."""
    if decisions:
        _learn(decisions, articles or [], kb, recipe, out)
        return
    settings = {name: value for name, value in locals().items() if name not in ("more", "out", "decisions", "articles")}
    from namesake.files import keep_apart

    files = common.listed(labelled, more)
    settings |= {"scores": scores or (), "gold": gold or (), "labelled": files}
    settings |= {"kb": common.default_kb(kb, files) if files else None}
    tuning = namesake.tune(**settings, name=out.stem if out else None)
    out = out or Path(f"{tuning.recipe.name}.toml")
    keep_apart([out], [*files, *(scores or ()), *(gold or ()), recipe, *([known] if known else [])])
    tuning.recipe.save(out)
    if tuning.warning:
        common.say(f"warning: {tuning.warning}")
    common.show(tuning.views, [f"wrote {out}; use it with --recipe {out}"])


def _learn(decisions: list[Path], articles: list[Path], kb: Path | None, recipe: str, out: Path | None) -> None:
    """Refit a recipe to decisions, and write it if it is better."""
    linker = common.open_linker(kb, recipe, None)
    from namesake.analysis.tune import learn
    from namesake.files import keep_apart

    with common.reported_rejects() as rejects:
        found = learn(decisions, linker, articles=articles, name=out.stem if out else None, rejects=rejects)
    out = out or Path(f"{found.recipe.name}.toml")
    keep_apart([out], [*decisions, *articles, recipe])
    if found.better:
        found.recipe.save(out)
    result = f"wrote {out}; use it with --recipe {out}" if found.better else "no recipe written"
    common.show([found.view], [*found.lines, result])
    if not found.better:
        raise typer.Exit(common.NO_RESULT)


@group.command()
def errors(
    out: common.Out,
    articles: Path | None = None,
    gold: Path | None = None,
    labelled: Path | None = None,
    kb: Path | None = None,
    recipe: common.Recipe = "default",
    split: str | None = None,
    known: bool = False,
) -> None:
    """List every wrong link next to the right one, with the matches and a likely cause."""
    source = labelled or articles
    if source is None or (labelled is None) == (gold is None) or (labelled and articles):
        raise NamesakeError("eval errors needs --articles with --gold, or --labelled text")
    folder = common.default_kb(kb, [source])
    with common.reported_rejects() as rejects:
        report = namesake.mistakes(source, gold, folder, recipe, split=split, known=known, rejects=rejects)
        _write(report, out, [source, gold, kb, Path(recipe)])


@group.command()
def ablate(
    articles: common.Required,
    gold: common.Required,
    out: common.Out,
    kb: list[Path] | None = None,
    split: str | None = None,
) -> None:
    """Measure IScore over each kind of words and each context (Tables 6 and 7 of the paper)."""
    kbs = [common.default_kb(one, [articles]) for one in kb or (None,)]
    with common.reported_rejects() as rejects:
        report = namesake.ablate(articles, gold, kbs, split=split, rejects=rejects)
        _write(report, out, [articles, gold, *(kb or ())])


@group.command()
def reproduce(
    folder: Path, out: common.Out, kb: Path | None = None, samples: common.Samples = 10_000, seed: int = 2022
) -> None:
    """Recompute the paper's Quotebank tables from the authors' scores, next to the printed values."""
    _write(namesake.reproduce(folder, kb=kb, samples=samples, seed=seed), out)


def _write(report: "Report", out: Path, inputs: Sequence[Path | None] = ()) -> None:
    """Write a report into a folder, none of whose files is an input, and print its short form."""
    report.write(out, inputs)
    wrote = f"wrote {out / 'report.html'}, report.md, tables.json, CSV and LaTeX"
    common.show(report.short, [*report.remarks, wrote])
