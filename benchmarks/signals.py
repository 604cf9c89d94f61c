"""What each signal of the default recipe is worth: leave one out, add one, with the weights fitted anew each time.

    python -m benchmarks.signals [--kb KB] [--quotebank FOLDER]

KB is the Wikidata slice built with `--ranks wikipedia=FOLDER/wikipedia.rank.tsv`; without it, it is built first.
Weights are fitted on the tune split, as docs/accuracy.md tells; P@1 is over gold mentions with a rival in the KB (all
of them, those whose candidates are all in the KB, those of the test split), accuracy with NIL over the test split's
mentions with rivals. Differences from the default are paired, with 95 % intervals over bootstrap samples of documents.
"""

import argparse
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from namesake.analysis.evaluate import Corpus, only_known
from namesake.evaluation import fit_weights, statistics
from namesake.evaluation.gold import (
    Dataset,
    GoldRow,
    ScoreTable,
    align,
    article_numbers,
    in_split,
    read_gold,
    read_scores,
    score_table,
)
from namesake.evaluation.measure import Method, from_recipe
from namesake.kb.build import build
from namesake.recipe import Part, Recipe

SHARED = Path(__file__).resolve().parents[2] / "shared"
DEFAULT = Recipe.load("default")
EVERY = ("IScore", "NIScore", "EEIScore", "IScore_IDF", "PR_WP", "NS", "NP", "PR_WD", "NotYetBorn", "LQID")


@dataclass(frozen=True)
class Source:
    """A score file and the KB whose entities alone count in it."""

    table: ScoreTable
    kb: Path | None

    def data(self, rows: list[GoldRow]) -> Dataset:
        """Gold with its scores: mentions that still have a rival."""
        data = align(self.table, rows)
        if self.kb is None:
            return data
        data = only_known(data, self.kb)
        return data.take([i for i, rivals in enumerate(data.columns["rivals"]) if rivals])


def without(recipe: Recipe, *names: str) -> Recipe:
    """The recipe without some parts; what stood in for them comes forward."""
    parts = [part for part in recipe.parts if part.scorer not in names]
    return recipe.replace(
        parts=tuple(p.replace(unless=tuple(n for n in p.stands_in_for if n not in names)) for p in parts)
    )


def variants() -> dict[str, Recipe]:
    """The recipes to compare, the default first."""
    found = {"default": DEFAULT}
    for name, gone in (
        ("without IScore", ("IScore", "ArticleWords")),
        ("without NIScore", ("NIScore", "SentenceWords")),
        ("without EEIScore", ("EEIScore", "SharedStatements")),
        ("without popularity", ("PR_WP", "NS")),
        ("NS instead of PR_WP", ("PR_WP",)),
        ("without dates", ("NotYetBorn", "YearsFromLifetime")),
        ("words counted, not weighed", ("ArticleWords", "SentenceWords")),
        ("statements counted, not weighed", ("SharedStatements",)),
        ("both counted, not weighed", ("ArticleWords", "SentenceWords", "SharedStatements")),
    ):
        found[name] = without(DEFAULT, *gone)
    found["anchor: the first only"] = DEFAULT.replace(anchors="first")
    for scorer, scale in (("NP", "log1p"), ("PR_WD", "log1p")):
        found[f"with {scorer}"] = DEFAULT.replace(parts=(*DEFAULT.parts, Part(scorer, scale=scale)))
    for sure in (0.95, 0.9, 0.8):
        found[f"second pass from {sure}"] = DEFAULT.replace(decide=DEFAULT.decide.replace(confirm=sure))
    return found


def sources(kb: Path, folder: Path, recipe: Recipe) -> list[Source]:
    """The authors' scores, ours on the KB, and ours as if the KB had no ranks."""
    ours = recipe
    if recipe.decide.confirm == 1:
        ours = Recipe("all", tuple(Part(name) for name in EVERY), anchors=recipe.anchors)
    table = score_table(Corpus(folder / "articles.jsonl.gz", kb).links(ours), "links")
    unranked = replace(table, scores={name: score for name, score in table.scores.items() if name != "PR_WP"})
    return [Source(read_scores(folder / "reference_scores.parquet"), None), Source(table, kb), Source(unranked, kb)]


def measure(recipe: Recipe, kb: Path, folder: Path, gold: list[GoldRow]) -> tuple[Recipe, Dataset, Method]:
    """The recipe fitted on the tune split, and its answers on all gold with rivals in the KB."""
    files = sources(kb, folder, recipe)
    if recipe.decide.confirm == 1:
        recipe = fit_weights.fit(recipe, [file.data(in_split(gold, "tune")) for file in files])[0]
    data = files[1].data(gold)
    return recipe, data, from_recipe(recipe, data, recipe.name)


def columns(data: Dataset, method: Method) -> np.ndarray:
    """P@1 of all, of those all known, of test; accuracy with NIL of test: NaN outside each."""
    test = np.array(data.columns["split"]) == "test"
    every = np.array(data.columns["known"]) == "all known"
    slices = ((method.hit, data.answerable), (method.hit, data.answerable & every))
    slices += ((method.hit, data.answerable & test), (method.right_with_nil, test))
    return np.column_stack([np.where(inside, values, np.nan) for values, inside in slices])


def main() -> None:
    """Print the table as Markdown."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--kb", type=Path)
    options.add_argument("--quotebank", type=Path, default=SHARED / "quotebank")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        kb = chosen.kb or Path(scratch) / "kb"
        if chosen.kb is None:
            ranks = {"wikipedia": chosen.quotebank / "wikipedia.rank.tsv"}
            build([SHARED / "wikidata" / "slice.json.gz"], kb, keep="people", ranks=ranks)
        table(kb, chosen.quotebank)


def table(kb: Path, folder: Path) -> None:
    """Measure every variant, and print a row of Markdown for each."""
    gold = read_gold(folder / "gold.jsonl")
    base = None
    for name, recipe in variants().items():
        fitted, data, method = measure(recipe, kb, folder, gold)
        values = columns(data, method)
        if base is None:
            base = values
            counts = np.count_nonzero(~np.isnan(values), axis=0)
            heads = ("P@1", "P@1, all known", "P@1, test", "accuracy with NIL, test")
            print(
                "| recipe |", " | ".join(f"{head} ({n})" for head, n in zip(heads, counts, strict=True)), "| weights |"
            )
            print("|---|---:|---:|---:|---:|---|")
        both = statistics.means(np.hstack([values, base]))
        plain = both(np.ones((1, len(values))))[0]
        sampled = statistics.resample(both, article_numbers([data]))
        low, high = np.quantile(sampled[:, :4] - sampled[:, 4:], [0.025, 0.975], axis=0)
        cells = [
            f"{plain[k]:.3f}"
            + ("" if name == "default" else f" ({plain[k] - plain[4 + k]:+.3f}: {low[k]:+.3f} to {high[k]:+.3f})")
            for k in range(4)
        ]
        weights = ", ".join(
            f"{part.scorer} {part.weight:.2f}" for part in fitted.parts if not part.unless and not part.fixed
        )
        print(f"| {name} |", " | ".join(cells), f"| {weights}, nobody {fitted.decide.nil:.2f} |", flush=True)


if __name__ == "__main__":
    main()
