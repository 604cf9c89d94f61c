"""What is measured: a method's answers on a data set, from a recipe, a score column, a linker's output or chance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from namesake import decide, rank
from namesake.errors import NamesakeError, did_you_mean
from namesake.evaluation.gold import Dataset
from namesake.evaluation.measures import metrics
from namesake.evaluation.scores import BoolArray
from namesake.rank import FloatArray
from namesake.recipe import Part, Recipe, column, recipes

PAPER = {
    **{name: f"{name.lower()}-paper" for name in ("LQID", "NP", "NS", "PR_WD", "PR_WP", "IScore", "NIScore")},
    **{name: f"{name.lower()}-paper" for name in ("CSE", "NCSE", "EEIScore", "CSSVE", "UIScore", "UCSE")},
    **{name: f"{name.lower()}-paper" for name in ("Eigen", "Eigen_IScore", "mGENRE")},
}
"""The paper's names of its systems, and the recipes they stand for."""

REMARKS = {
    "UCSE": "as the paper's text has it; its printed Quotebank figures come from the recipe ucse-paper-quotebank",
}
"""What a reader who compares a system with the paper should know."""


@dataclass(frozen=True)
class Method:
    """One system's answers: each array has a value per mention."""

    name: str
    hit: FloatArray
    """1 where the first candidate is the gold one; the chance of it for Random."""
    reciprocal_rank: FloatArray | None
    """1 / place of the gold candidate, 0 where it is none; None where the order is not known."""
    right_with_nil: FloatArray
    """1 where the answer is right, and "nobody" is the right answer to NIL gold."""
    confidence: FloatArray | None = None
    """What the method thinks of its first candidate; NaN where there is none."""
    is_probability: bool = False
    absent: tuple[str, ...] = ()
    """Scorers that its recipe names and the score file lacks."""

    @property
    def right(self) -> BoolArray:
        """Where the first candidate is the gold one."""
        return np.equal(self.hit, 1)


def methods(names: Sequence[str], data: Dataset) -> list[Method]:
    """The named methods on a data set; without names, chance and every system the scores suffice for."""
    return [method(name, data) for name in (names or available(data))]


def available(data: Dataset) -> list[str]:
    """The systems whose scorers are all in the data: chance, the linker's own answers, the paper's, the default."""
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
    """One method by name: Random, links, one of the paper's, a recipe (shipped or .toml) or a score column."""
    if name == "Random":
        hit = metrics.random_hits(data.offsets, data.gold)
        return Method(name, hit, metrics.random_reciprocal_ranks(data.offsets, data.gold), hit)
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
    """A recipe's answers from the scores of a file.

    With a rule to decide by, the confidence is P(first candidate | m), and nobody is answered below the threshold;
    without, the first candidate always is the answer, and its score stands for confidence.
    """
    combined = recipe.combine(data.table.scores, data.offsets, data.table.doubts)
    if all(part.scorer in combined.absent for part in recipe.parts):
        needed = ", ".join(part.scorer for part in recipe.parts)
        raise NamesakeError(f"{name} needs {needed}, but the scores have {', '.join(data.table.scores)}")
    place = metrics.gold_ranks(data.offsets, data.gold, *combined.keys)
    first = rank.winner(data.offsets, *combined.keys, names=combined.names)
    decision = decide.decide(combined.total, combined.nil, data.offsets, first, recipe.decide)
    sureness = combined.total[first] if recipe.decide is None and len(combined.total) else decision.confidence
    confidence = np.where(first == rank.NOBODY, np.nan, sureness)
    hit = (place == 1).astype(np.float64)
    right = _with_nil(hit, decision.reason == decide.ANSWERED, data)
    return Method(name, hit, 1 / place, right, confidence, recipe.decide is not None, combined.absent)


def linked(name: str, data: Dataset) -> Method:
    """A linker's own answers: its QID for each mention, its order where it wrote its candidates' scores."""
    if data.table.chosen is None:
        raise NamesakeError("no links in this file: it has scores only; name a recipe or a score column instead")
    chosen = data.table.chosen
    hit = np.array([qid is not None and qid == gold for qid, gold in zip(chosen, data.gold_qids, strict=True)], float)
    answered = np.array([qid is not None for qid in chosen])
    reciprocal = confidence = None
    score = data.table.scores.get("score")
    if score is not None:
        of_mention = np.repeat(np.arange(len(chosen)), np.diff(data.offsets))
        picked = [float(qid == chosen[m]) for qid, m in zip(data.table.qids, of_mention, strict=True)]
        ties = [column(data.table.scores, breaker) for breaker in data.table.tie_break]
        keys = (score, np.array(picked, np.float64), *(key for key in ties if key is not None))
        place = metrics.gold_ranks(data.offsets, data.gold, *keys)
        reciprocal = 1 / place
        hit = np.where(answered, hit, place == 1)  # what it would have said, had it been made to answer
        confidence = np.append(score, np.nan)[rank.winner(data.offsets, *keys)]
    if data.table.confidence is not None and data.table.first is not None:
        confidence = data.table.confidence
        first = [qid is not None and qid == gold for qid, gold in zip(data.table.first, data.gold_qids, strict=True)]
        hit = np.where(answered, hit, first)
    right = _with_nil(hit, answered, data)
    return Method(name, hit, reciprocal, right, confidence, data.table.confidence is not None)


def _with_nil(hit: FloatArray, answered: BoolArray, data: Dataset) -> FloatArray:
    """1 where an answer is the gold entity, or where nobody is answered and nobody is right."""
    return np.where(answered, hit, data.unanswerable.astype(np.float64))
