"""A simulated review: F1 on labelled corpora by the number of decisions, chosen by our order and at random.

    python -m benchmarks.review --kb KB [CORPUS …]

Needs ../shared beside the project. The labels answer each case. `applied` is F1 with the decisions as answers; `refit`
is F1 with a recipe refitted to them as well. Half of the documents are never reviewed: `unseen` is the share of right
answers there, NIL included, with the refitted recipe. Figures of random order are means of three runs.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from namesake import decide, rank
from namesake.analysis.evaluate import link_text
from namesake.analysis.tune import fit_near, near
from namesake.apps.review import Case, Option, ordered
from namesake.evaluation.fit_weights import Problem, fold_of, weights_of, with_learnt
from namesake.evaluation.labelled_text import Outcome
from namesake.evaluation.measure import from_recipe
from namesake.evaluation.text_figures import plain_figures
from namesake.evaluation.tuning import Sample
from namesake.kb.store import KB
from namesake.recipe import Recipe

PEOPLE = Path(__file__).resolve().parents[2] / "shared" / "people"
CORPORA = ("knowledgenet", "gum-rest", "tweeki-gold", "iitb")
NUMBERS = (0, 10, 30, 100, 300, 1000)


def case_of(sample: Sample, mention: int, unsure: float, spans: int) -> Case:
    """A mention as a case, with what the order of a review depends on."""
    begin, end = sample.data.offsets[mention : mention + 2]
    options = [Option(qid, None, "") for qid in sample.data.table.qids[begin:end][:6]]
    name = sample.data.table.mentions[mention][1].rsplit(" ", 1)[0]
    return Case(name, str(mention), ("", name, ""), [], None, None, options, 0, spans, unsure, [])


def order_of(sample: Sample, recipe: Recipe, asked: np.ndarray) -> list[int]:
    """The mentions in our order."""
    combined, offsets = sample.data.table.combined(recipe), sample.data.offsets
    chance, none = decide.probabilities(combined.total, offsets, combined.nil)
    likeliest = np.maximum(rank.reduce_mentions(np.maximum, chance, offsets, 0.0), none)
    spans = np.bincount(sample.labels.span_mention, minlength=len(sample.labels.mentions))
    return [int(one.where) for one in ordered(case_of(sample, m, 1 - likeliest[m], int(spans[m])) for m in asked)]


def f1(sample: Sample, recipe: Recipe, decided: list[int]) -> float:
    """F1 with a recipe, and with the gold of some mentions as their answers."""
    labels = sample.answered(recipe)
    best, confidence, person = list(labels.best), labels.confidence.copy(), labels.person.copy()
    for m in decided:
        at = int(sample.data.gold[m])
        best[m], confidence[m], person[m] = sample.data.table.qids[at] if at >= 0 else best[m], float(at >= 0), True
    outcome = Outcome.of(replace(labels, best=best, confidence=confidence, person=person))
    return plain_figures(outcome, recipe.decide.threshold)["F1"]


def refitted(sample: Sample, recipe: Recipe, decided: list[int]) -> Recipe:
    """The recipe refitted to some mentions, as `namesake eval tune --decisions` refits it."""
    data = sample.data.take(decided)
    if len(decided) < 10 or not data.answerable.any():
        return recipe
    problem = near(Problem.of(recipe, [data]), recipe)
    return with_learnt(recipe, problem, weights_of(recipe) + fit_near(problem, np.arange(len(problem.gold)), 0))


def right_unseen(sample: Sample, recipe: Recipe, seen: np.ndarray) -> float:
    """The share of right answers, NIL included, to the labelled mentions of documents that are never reviewed."""
    kept = np.array([m for m in sample.learnable(recipe) if not seen[m]])
    data = sample.data.take(kept.tolist())
    return float(from_recipe(recipe, data, "").right_with_nil.mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kb", required=True)
    parser.add_argument("corpora", nargs="*", default=CORPORA)
    given = parser.parse_args()
    kb, recipe = KB.open(given.kb), Recipe.load("default")
    print("| corpus | decisions | order | F1 applied | F1 refit | right, unseen |\n|---|---:|---|---:|---:|---:|")
    for corpus in given.corpora:
        [linked] = link_text(PEOPLE / f"{corpus}.jsonl.gz", kb, recipe, scores=True).corpora
        sample = Sample.of(*linked)
        seen = fold_of(sample.documents, 2, 0) == 0
        asked = np.array([m for m in sample.learnable(recipe) if seen[m]])
        orders = {"ours": [order_of(sample, recipe, asked)]}
        orders["random"] = [np.random.default_rng(seed).permutation(asked).tolist() for seed in range(3)]
        for number in (n for n in NUMBERS if n <= len(asked)):
            for name, several in orders.items():
                rows = []
                for order in several if number else several[:1]:
                    found = refitted(sample, recipe, order[:number])
                    rows.append([f1(sample, recipe, order[:number]), f1(sample, found, order[:number])])
                    rows[-1].append(right_unseen(sample, found, seen))
                figures = " | ".join(f"{value:.3f}" for value in np.mean(rows, axis=0))
                print(f"| {corpus} | {number:,} | {name} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
