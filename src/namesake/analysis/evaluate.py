"""How good are the links, and are they as good as the paper's?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from namesake.analysis.corpus import Corpus, only_known
from namesake.analysis.evaluate_labelled import evaluate_labelled
from namesake.articles.rejects import Rejects
from namesake.errors import NamesakeError
from namesake.evaluation.gold import Dataset, GoldRow, align, in_split, read_gold, resolved
from namesake.evaluation.measures.bootstrap import SAMPLES, SEED
from namesake.evaluation.measures.methods import PAPER, Method, from_recipe, linked, method
from namesake.evaluation.measures.methods import methods as named_methods
from namesake.evaluation.measures.tables import evaluate_scores
from namesake.evaluation.paper import reproduce as paper
from namesake.evaluation.paper.view import paper_report
from namesake.evaluation.reports.evaluation import evaluation_report
from namesake.evaluation.reports.report import Report, Section
from namesake.evaluation.scores import read_scores
from namesake.files.several import Paths, several
from namesake.kb.store import KB
from namesake.recipe import Recipe
from namesake.scoring import runs_on


def evaluate(
    gold: str | Path | None = None,
    *,
    labelled: Paths = (),
    links: str | Path | None = None,
    scores: str | Path | None = None,
    articles: str | Path | None = None,
    kb: KB | str | Path | None = None,
    recipe: Recipe | str | Path = "default",
    threshold: float | str | None = None,
    known: KB | str | Path | None = None,
    split: str | None = None,
    methods: str | Sequence[str] = (),
    by: str | Sequence[str] = (),
    unit: Literal["mention", "document"] = "mention",
    samples: int = SAMPLES,
    seed: int = SEED,
    rejects: Rejects | None = None,
) -> Report:
    """Measure links against gold, each figure with its interval.

    What is measured is one of `links`, `scores`, or `articles` with a `kb`, against `gold`: P@1, MRR, NIL, confidence.
    Or `labelled` text with a `kb`, from end to end: names found and linked, by precision, recall and F1, and where the
    misses go. The report's `rows` are the figures; its `write(folder)` makes the files.

    Args:
        labelled: files of raw text with labels, each a corpus (`evaluation.labelled.documents` has the layout).
        recipe: links the labelled text: a recipe, a shipped recipe's name or a `.toml` file.
        threshold: the confidence at which it answers, or what the recipe has calibrated, such as "p95".
        gold: a file with `articleID`, `name`, `gold` (a candidate's index, a QID or null) and columns to slice by.
        links: a file that `namesake link` wrote.
        scores: a file with the scores of every candidate.
        articles: a file of articles, which are linked with each method's recipe first.
        kb: the KB to link them with.
        known: leave out candidates that this KB lacks; where it lacks the gold entity, nobody is right.
        split: only gold of this split.
        methods: recipes, the paper's names, score columns, `links`, `Random`; default: all that the scores suffice for.
        by: gold columns to slice by, such as `difficulty`.
        unit: what the bootstrap draws.
        samples: how many bootstrap samples.
        seed: of the bootstrap.
        rejects: takes articles that cannot be used; without it, the first of them is an error.
    """
    if labelled:
        _alone(
            gold=gold, links=links, scores=scores, articles=articles, known=known, split=split, methods=methods, by=by
        )
        return evaluate_labelled(labelled, kb, recipe, threshold, samples, seed)
    if gold is None:
        raise NamesakeError("evaluate needs the truth: `gold=` for links and scores, or `labelled=` texts with a `kb=`")
    if threshold is not None:
        raise NamesakeError("`threshold=` is for `labelled=` text: links have theirs, and recipes say theirs")
    if unit not in {"mention", "document"}:
        raise NamesakeError(f"`unit={unit!r}`: the bootstrap draws by mention or by document")
    methods, by = several(methods), several(by)
    rows, unresolved = resolved(in_split(read_gold(Path(gold)), split))
    if articles is None:
        data = only_known(align(read_scores(_source(links, scores, kb)), rows), known)
        chosen = named_methods(methods, data)
    elif kb is None:
        raise NamesakeError("to link articles takes a KB: name one with `kb=`")
    else:
        data, chosen = _linked(methods, Corpus(articles, kb, rejects), rows, known)
    evaluation = evaluate_scores(data, chosen, by, unit, samples, seed)
    about = [
        f"{links or scores or articles} against {gold}" + (f", split {split}" if split else "") + ".",
        f"Intervals: 95 %, {samples:,} bootstrap samples by {unit} of all {len(data.gold):,} mentions, seed {seed}.",
    ]
    caveats = [f"Left out: {unresolved:,} mentions whose truth is unresolved."] if unresolved else []
    if data.unscored:
        caveats.append(f"{len(data.unscored):,} mentions of the gold have no candidates at all: they count as missed.")
    if known is not None:
        where = known.path if isinstance(known, KB) else known
        caveats.append(f"Candidates that {where} lacks are left out; where it lacks the gold entity, nobody is right.")
    return evaluation_report(evaluation, "How good are the links?", about, caveats)


def _alone(**others: object) -> None:
    """Refuse what means nothing beside labelled text."""
    for name, given in others.items():
        if given:
            raise NamesakeError(f"`labelled=` text has its own truth and is linked with `recipe=`: leave `{name}=` out")


def _source(links: str | Path | None, scores: str | Path | None, kb: object) -> Path:
    """The file to measure."""
    if kb is not None:
        raise NamesakeError("`kb=` links `articles=`; name them, or leave `kb=` out")
    if links is not None and scores is None:
        return Path(links)
    if scores is not None and links is None:
        return Path(scores)
    raise NamesakeError("evaluate needs one of `links=`, `scores=`, or `kb=` with `articles=`")


def _linked(
    names: Sequence[str], corpus: Corpus, gold: list[GoldRow], known: KB | str | Path | None
) -> tuple[Dataset, list[Method]]:
    """Link the articles with each method's recipe, and take its answers; among known candidates, its scores."""
    if not names:
        runs_here = [name for name, system in PAPER.items() if runs_on(Recipe.load(system), corpus.kb)]
        names = ["Random", *runs_here, "default"]
    systems = {name: Recipe.load(PAPER.get(name, name)) for name in names if name != "Random"}
    runs = {name: only_known(corpus.dataset(system, gold), known) for name, system in systems.items()}
    if not runs:
        raise NamesakeError("Random alone needs no linking: name a recipe, too")
    data = next(iter(runs.values()))
    if known is None:
        answers = {name: replace(linked("links", run), name=name) for name, run in runs.items()}
    else:
        answers = {name: from_recipe(systems[name], run, name) for name, run in runs.items()}
    return data, [answers.get(name) or method(name, data) for name in names]


def reproduce(
    folder: str | Path, *, kb: KB | str | Path | None = None, samples: int = SAMPLES, seed: int = SEED
) -> Report:
    """Make the paper's Quotebank tables again from the authors' scores, next to the printed values.

    Args:
        folder: holds `reference_scores.parquet`, `gold.jsonl` and `articles.jsonl.gz`.
        kb: also run every system that this KB suffices for, among the candidates that it knows.
        samples: how many bootstrap samples.
        seed: of the bootstrap.
    """
    report, folder = paper_report(paper.reproduce(Path(folder), samples, seed)), Path(folder)
    if kb is None:
        return report
    corpus, truth = folder / "articles.jsonl.gz", folder / "gold.jsonl"
    run = evaluate(truth, articles=corpus, kb=kb, known=kb, split="test", samples=samples, seed=seed, rejects=Rejects())
    ours = [_as_own(section) for section in run.sections]
    rows = [*report.rows, *({"table": "own run", **row} for row in run.rows)]
    short = [*report.short, *(view for section in ours for view in section.views[:1])]
    return replace(report, sections=[*report.sections, *ours], rows=rows, short=short)


def _as_own(section: Section) -> Section:
    """A section of our own run, to stand beside the paper's."""
    views = [replace(view, name=f"own_{view.name}") for view in section.views]
    return replace(section, title=f"Our own run: {section.title}", views=views)
