"""Methods to measure: answers on a data set from a recipe, a score column, a linker's output or chance."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from namesake import decide, rank
from namesake.errors import NamesakeError, did_you_mean
from namesake.evaluation import statistics
from namesake.evaluation.gold import Dataset
from namesake.evaluation.scores import BoolArray
from namesake.rank import FloatArray
from namesake.recipe import Part, Recipe, column, recipes

_SYSTEMS = "LQID NP NS PR_WD PR_WP IScore NIScore CSE NCSE EEIScore CSSVE UIScore UCSE Eigen Eigen_IScore mGENRE"
PAPER = {name: f"{name.lower()}-paper" for name in _SYSTEMS.split()}
"""The paper's systems, and their recipes."""

REMARKS = {
    "UCSE": "as the paper's text has it; its printed Quotebank figures come from the recipe ucse-paper-quotebank",
}
"""Remarks on systems whose figures differ from the paper's."""


@dataclass(frozen=True)
class Method:
    """The answers of a method: each array has one value per mention."""

    name: str
    hit: FloatArray
    """1 if the first candidate is the gold one; for Random, the probability."""
    reciprocal_rank: FloatArray
    """1 / rank of the gold candidate, 0 without one; NaN if the order is unknown."""
    right_with_nil: FloatArray
    """1 for a right answer; NIL is the right answer to NIL gold."""
    confidence: FloatArray = field(default_factory=lambda: np.array([np.nan]))
    """The confidence in the first candidate; NaN without one, and for methods without confidence."""
    is_probability: bool = False
    absent: tuple[str, ...] = ()
    """Scorers of the recipe that the score file lacks."""

    @property
    def right(self) -> BoolArray:
        """Mentions whose first candidate is the gold one."""
        return np.equal(self.hit, 1)


def methods(names: Sequence[str], data: Dataset) -> list[Method]:
    """Return the named methods on a data set; without names, all that the scores suffice for."""
    return [method(name, data) for name in (names or available(data))]


def available(data: Dataset) -> list[str]:
    """Return the methods whose scorers are all in the data: Random, the linker's answers, the paper's, the default."""
    scores = data.table.scores
    if not data.table.lists_candidates:
        return ["links"]
    paper = [
        name
        for name, recipe in PAPER.items()
        if all(column(scores, part.scorer) is not None for part in Recipe.load(recipe).parts)
    ]
    default = [part for part in Recipe.load("default").parts if column(scores, part.scorer) is not None]
    linked = ["links"] if data.table.chosen is not None else []
    return ["Random", *linked, *paper, *(["default"] if default else [])]


def method(name: str, data: Dataset) -> Method:
    """Return a method by name: Random, links, a system of the paper, a recipe (shipped or .toml) or a score column."""
    if name == "Random":
        hit = statistics.random_hits(data.offsets, data.gold)
        return Method(name, hit, statistics.random_reciprocal_ranks(data.offsets, data.gold), hit)
    if name == "links":
        return linked(name, data)
    if name.endswith(".toml") or name in recipes():
        recipe = Recipe.load(name)
        return from_recipe(recipe, data, recipe.name)
    if name in PAPER:
        return from_recipe(Recipe.load(PAPER[name]), data, name)
    if name in data.table.scores:
        return from_recipe(Recipe(name, (Part(name),), tie_break=("LQID",)), data, name)
    known = ["Random", "links", *PAPER, *recipes(), *data.table.scores]
    raise NamesakeError(
        f"no method named {name!r}{did_you_mean(name, known)}: it is no recipe ({', '.join(recipes())}), "
        f"and the scores have {', '.join(data.table.scores)}"
    )


def from_recipe(recipe: Recipe, data: Dataset, name: str) -> Method:
    """Return a recipe's answers from the scores of a file.

    With a `[decide]` rule, the confidence is P(first candidate | m), and the answer is NIL below the threshold.
    Without, the first candidate is always the answer, and its score is the confidence.
    """
    combined = recipe.combine(data.table.scores, data.offsets, data.table.doubts)
    if all(part.scorer in combined.absent for part in recipe.parts):
        needed = ", ".join(part.scorer for part in recipe.parts)
        raise NamesakeError(f"{name} needs {needed}, but the scores have {', '.join(data.table.scores)}")
    place = statistics.gold_ranks(data.offsets, data.gold, *combined.keys)
    first = rank.winner(data.offsets, *combined.keys, names=combined.names)
    decision = decide.decide(combined.total, combined.none, data.offsets, first, recipe.decide)
    sureness = combined.total[first] if recipe.decide is None and len(combined.total) else decision.confidence
    confidence = np.where(first == rank.NOBODY, np.nan, sureness)
    hit = (place == 1).astype(np.float64)
    right = np.where(decision.reason == decide.ANSWERED, hit, data.unanswerable)
    return Method(name, hit, 1 / place, right, confidence, recipe.decide is not None, combined.absent)


def linked(name: str, data: Dataset) -> Method:
    """Return a linker's own answers: its QID for each mention, and its order if the file has candidates' scores."""
    if data.table.chosen is None:
        raise NamesakeError("no links in this file: it has scores only; name a recipe or a score column instead")
    chosen, golds = data.table.chosen, data.gold_qids
    hit = np.array([qid is not None and qid == gold for qid, gold in zip(chosen, golds, strict=True)], float)
    answered = np.array([qid is not None for qid in chosen])
    reciprocal = confidence = np.full(len(chosen), np.nan)
    score = data.table.scores.get("score")
    if score is not None:
        of_mention = np.repeat(np.arange(len(chosen)), np.diff(data.offsets))
        picked = [float(qid == chosen[m]) for qid, m in zip(data.table.qids, of_mention, strict=True)]
        ties = [column(data.table.scores, breaker) for breaker in data.table.tie_break]
        keys = (score, np.array(picked, np.float64), *(key for key in ties if key is not None))
        reciprocal = 1 / statistics.gold_ranks(data.offsets, data.gold, *keys)
        hit = np.where(answered, hit, reciprocal == 1)  # the answer without a threshold
        confidence = np.append(score, np.nan)[rank.winner(data.offsets, *keys)]
    if data.table.confidence is not None and data.table.first is not None:
        confidence = data.table.confidence
        first = [qid is not None and qid == gold for qid, gold in zip(data.table.first, golds, strict=True)]
        hit = np.where(answered, hit, first)
    right = np.where(answered, hit, data.unanswerable)
    return Method(name, hit, reciprocal, right, confidence, data.table.confidence is not None)
