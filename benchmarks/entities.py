"""The default recipe on labelled text: fitted again, and its figures with each corpus left out.

    python -m benchmarks.entities --kb KB [--people KB] [--labelled PATH…] [--slice KB --quotebank FOLDER]
                                  [--recipe RECIPE] [--fit RECIPE.toml] [--left-out FOLDER] [--write all|thresholds]

This is `namesake eval tune` on all corpora of `../shared/people` and `../shared/entities` with a KB of every kind, and
with `--people` also with a KB of people. With `--slice`, a KB of the Wikidata slice, Quotebank's tune split is added:
names and candidates as its articles have them, if that KB has the candidates. The output is the weights, the figures of
each corpus with weights that have seen it and with weights that have not, and the thresholds. `--fit` writes the recipe
to a file, and `--left-out` the recipes that have not seen a corpus, one file for each corpus. `--write` puts the
numbers, or the thresholds alone, into `recipes/default.toml` and keeps the comments. `namesake eval run --labelled`
measures a recipe unchanged.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

import namesake
from namesake.analysis.evaluate import Corpus
from namesake.analysis.tune import Tuning
from namesake.apps.cli.common import show
from namesake.evaluation.labelled_text import read_corpora
from namesake.recipe import Recipe

COMPLETE = (
    *("aida-conll-dev", "gum-news-interview", "gum-rest", "hipe2020-en", "iitb"),
    *("oke-2016-train", "tweeki-gold", "wiki-fair-v2-rest"),
)
"""Corpora in which every name is labelled."""
SHARED = Path(__file__).resolve().parents[2] / "shared"
DEFAULT = Path(namesake.__file__).parent / "recipes" / "default.toml"


def refitted(recipe: Recipe, kbs: list[Path], labelled: list[Path], sliced: Path | None, quotebank: Path) -> Tuning:
    """The recipe with weights from labelled text and, with a KB of the slice, from Quotebank's tune split."""
    names = {corpus.name for corpus in read_corpora(labelled)}
    complete = [name for name in COMPLETE if name in names]
    text = {"labelled": labelled, "kb": kbs[0], "further": kbs[1:], "complete": complete}
    if sliced is None:
        return namesake.tune(recipe=recipe, name=recipe.name, **text)
    with tempfile.TemporaryDirectory() as folder:
        links = Path(folder) / "quotebank.parquet"
        pq.write_table(Corpus(quotebank / "articles.jsonl.gz", sliced).links(recipe), links)
        return namesake.tune(
            [links],
            [quotebank / "gold.jsonl"],
            recipe,
            split="tune",
            known=sliced,
            name=recipe.name,
            **text,
        )


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
    parser.add_argument("--recipe", default="default")
    parser.add_argument("--quotebank", type=Path, default=SHARED / "quotebank")
    parser.add_argument("--slice", type=Path)
    parser.add_argument("--fit", type=Path)
    parser.add_argument("--left-out", type=Path)
    parser.add_argument("--write", choices=("all", "thresholds"))
    options = parser.parse_args()
    kbs = [options.kb, *options.people]
    tuning = refitted(Recipe.load(options.recipe), kbs, options.labelled, options.slice, options.quotebank)
    show(tuning.views)
    if options.fit:
        tuning.recipe.save(options.fit)
    for name, recipe in tuning.left_out.items() if options.left_out else ():
        recipe.save(options.left_out / f"{name}.toml")
    if options.write:
        found = tuning.recipe if options.write == "all" else with_thresholds(Recipe.load("default"), tuning.recipe)
        DEFAULT.write_text(rewritten(DEFAULT.read_text(encoding="utf-8"), found), encoding="utf-8")


if __name__ == "__main__":
    main()
