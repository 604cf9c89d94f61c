"""The default recipe on labelled text: fitted again, and its figures with each corpus left out.

    python -m benchmarks.entities --kb KB [--people KB] [--labelled PATH…] [--slice KB --quotebank FOLDER]
                                  [--recipe RECIPE…] [--fit RECIPE.toml] [--left-out FOLDER] [--write all|thresholds]

The weights are fitted as `benchmarks.fit_default` describes, on all corpora of `../shared/people` and
`../shared/entities` with a KB of every kind, and with `--people` also with a KB of people. With `--slice`, a KB of the
Wikidata slice, Quotebank's tune split is added: names and candidates as its articles have them, if that KB has the
candidates. With several recipes, the corpora are linked with each of them, and all results are samples of the fit; the
first recipe is the one that is fitted and measured. The output is the figures of each corpus with weights that have
seen it and with weights that have not, and the thresholds. `--fit` writes the recipe to a file, and `--left-out` the
recipes that have not seen a corpus, one file per corpus. `--write` puts the numbers, or the thresholds alone, into
`recipes/default.toml` and keeps the comments. `namesake eval run --labelled` measures a recipe unchanged.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet as pq

import namesake
from benchmarks.fit_default import Fitting, write_sentences
from namesake.analysis.evaluate import Corpus, link_text, only_known
from namesake.apps.cli.common import show
from namesake.evaluation import text_figures, tuning
from namesake.evaluation.gold import align, in_split, read_gold, read_scores, resolved
from namesake.evaluation.labelled_text import Outcome, read_corpora
from namesake.evaluation.reports.report import View
from namesake.evaluation.text_figures import Trade, thresholds_view
from namesake.evaluation.tuning import Sample
from namesake.recipe import Recipe

COMPLETE = (
    *("aida-conll-dev", "gum-news-interview", "gum-rest", "hipe2020-en", "iitb"),
    *("oke-2016-train", "tweeki-gold", "wiki-fair-v2-rest"),
)
"""Corpora in which every name is labelled."""
SHARED = Path(__file__).resolve().parents[2] / "shared"
DEFAULT = Path(namesake.__file__).parent / "recipes" / "default.toml"


@dataclass(frozen=True)
class Fitted:
    """The fitted recipe with its thresholds, the recipes that have not seen a corpus, and tables of figures."""

    recipe: Recipe
    left_out: dict[str, Recipe]
    views: list[View]


def refitted(
    recipes: list[Recipe], kbs: list[Path], labelled: list[Path], sliced: Path | None, quotebank: Path
) -> Fitted:
    """The first recipe with weights from labelled text and, with a KB of the slice, from Quotebank's tune split."""
    fitting, samples = prepared(recipes, kbs, labelled, sliced, quotebank)
    found = fitting.fitted()
    left_out = {name: fitting.fitted(name) for name in fitting.corpora}
    assert found.decide is not None
    unseen = [Outcome.of(sample.answered(left_out[sample.labels.name])) for sample in samples]
    trade = Trade.of(unseen)
    found = found.replace(decide=found.decide.replace(thresholds=text_figures.thresholds(trade)))
    at, names = found.decide.threshold, [sample.labels.name for sample in samples]
    seen, new = (
        [text_figures.plain_figures(outcome, at) for outcome in some]
        for some in ([Outcome.of(sample.answered(found)) for sample in samples], unseen)
    )
    shown = {f"{name} = {value}": value for name, value in found.decide.thresholds.items()}
    caption = "Over all corpora as one, with weights that were not fitted on them."
    views = [tuning.corpora_view(names, seen, new, "the others"), thresholds_view(trade, shown, caption)]
    return Fitted(found, left_out, views)


def prepared(
    recipes: list[Recipe], kbs: list[Path], labelled: list[Path], sliced: Path | None, quotebank: Path
) -> tuple[Fitting, list[Sample]]:
    """The input of the fit, and the samples of the corpora with the KB of every kind, linked with the first recipe."""
    recipe = recipes[0]

    def linked(paths: list[Path], kb: Path) -> list[Sample]:
        names = {corpus.name for corpus in read_corpora(paths)}
        complete = [name for name in COMPLETE if name in names]
        links = (link_text(paths, kb, each, scores=True, complete=complete) for each in recipes)
        return [Sample.of(*corpus) for each in links for corpus in each.corpora]

    samples = {"corpora": linked(labelled, kbs[0])}
    with tempfile.TemporaryDirectory() as folder:
        for path in (path for each in labelled for path in (sorted(each.glob("*.gz")) if each.is_dir() else [each])):
            write_sentences(path, Path(folder))
        samples["sentences"] = linked([Path(folder)], kbs[0])
        samples["people"] = [sample for kb in kbs[1:] for sample in linked(labelled, kb)]
        more = []
        if sliced is not None:
            links = Path(folder) / "quotebank.parquet"
            pq.write_table(Corpus(quotebank / "articles.jsonl.gz", sliced).links(recipe), links)
            gold = in_split(resolved(read_gold(quotebank / "gold.jsonl"))[0], "tune")
            data = only_known(align(read_scores(links), gold), sliced)
            lost = zip(data.columns["known"], data.columns["rivals"], strict=True)  # names that lost their last rival
            more = [data.take([i for i, mention in enumerate(lost) if mention != ("some known", None)])]
    return Fitting(recipe, samples, more), samples["corpora"][: len(samples["corpora"]) // len(recipes)]


def rewritten(text: str, recipe: Recipe) -> str:
    """The text of a recipe with the numbers of another that has the same parts; comments and order stay."""
    assert recipe.decide is not None
    scorers = (part for part in recipe.parts if part.scorer)
    weights = iter([*(part.weight for part in scorers), *(part.weight for part in recipe.decide.parts)])
    text = re.sub(r"(?m)^weight = .*$", lambda _: f"weight = {next(weights)!r}", text)
    by_kind = iter(re.findall(r"(?m)^by_kind = .*$", recipe.toml()))
    text = re.sub(r"(?m)^by_kind = .*$", lambda _: next(by_kind), text)
    for key in ("nil", "alone"):
        text = re.sub(rf"(?m)^{key} = .*$", f"{key} = {getattr(recipe.decide, key)!r}", text)
    table = "".join(f"{name} = {number!r}\n" for name, number in recipe.decide.thresholds.items())
    text = re.sub(r"(?m)^(\[decide\.thresholds\]\n)(?:p\d+ = .*\n)*", rf"\g<1>{table}", text)
    assert Recipe.parse(text) == recipe, "the text is of another recipe"
    return text


def with_thresholds(recipe: Recipe, other: Recipe) -> Recipe:
    """A recipe with the thresholds of another."""
    assert recipe.decide is not None
    assert other.decide is not None
    return recipe.replace(decide=recipe.decide.replace(thresholds=other.decide.thresholds))


def main() -> None:
    """Fit, print the tables, and write the recipe where asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, required=True)
    parser.add_argument("--people", type=Path, action="append", default=[])
    parser.add_argument("--labelled", type=Path, nargs="+", default=[SHARED / "people", SHARED / "entities"])
    parser.add_argument("--recipe", nargs="+", default=["default"])
    parser.add_argument("--quotebank", type=Path, default=SHARED / "quotebank")
    parser.add_argument("--slice", type=Path)
    parser.add_argument("--fit", type=Path)
    parser.add_argument("--left-out", type=Path)
    parser.add_argument("--write", choices=("all", "thresholds"))
    options = parser.parse_args()
    kbs = [options.kb, *options.people]
    fitted = refitted(
        [Recipe.load(each) for each in options.recipe], kbs, options.labelled, options.slice, options.quotebank
    )
    show(fitted.views)
    if options.fit:
        fitted.recipe.save(options.fit)
    for name, recipe in fitted.left_out.items() if options.left_out else ():
        recipe.save(options.left_out / f"{name}.toml")
    if options.write:
        found = fitted.recipe if options.write == "all" else with_thresholds(Recipe.load("default"), fitted.recipe)
        DEFAULT.write_text(rewritten(DEFAULT.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main()
