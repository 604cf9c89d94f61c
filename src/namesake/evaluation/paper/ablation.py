"""The paper's ablations of IScore (Tables 6 and 7): which words of an entity, how normalised, of which context."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from namesake.evaluation.gold import Dataset
from namesake.evaluation.measures import bootstrap
from namesake.evaluation.measures.methods import from_recipe
from namesake.evaluation.measures.tables import Evaluation, Row, evaluate_scores
from namesake.evaluation.reports.evaluation import pivot
from namesake.evaluation.reports.report import Report, Section
from namesake.recipe import Part, Recipe

FEATURES = ("D", "P", "S", "S_A", "D+P", "D+S", "D+S_A", "P+S", "P+S_A", "D+P+S", "D+P+S_A")
TIES = ("NS", "LQID")

NORMALISATION = {"none": "no normalisation", "lemma": "lemmatisation", "stem": "stemming"}


def feature_recipes(paragraphs: bool) -> dict[str, Recipe]:
    """IScore over every combination of features; those with P only where the KB has first paragraphs."""
    return {
        words: Recipe(words, (Part("IScore"),), words=words, tie_break=TIES)
        for words in FEATURES
        if paragraphs or "P" not in words.split("+")
    }


def context_recipes(vectors: bool = False) -> dict[str, Recipe]:
    """IScore over the sentences that hold the name, over the whole article, and the sum of both.

    With `vectors`, the same for CSE.
    """
    systems = {"": ("NIScore", "IScore")} | ({"CSE, ": ("NCSE", "CSE")} if vectors else {})
    recipes: dict[str, Recipe] = {}
    for kind, (narrow, entire) in systems.items():
        for name, scorers in (("narrow", [narrow]), ("entire", [entire]), ("ensemble", [entire, narrow])):
            recipes[kind + name] = Recipe(kind + name, tuple(map(Part, scorers)), tie_break=TIES)
    return recipes


def measure(
    scored: Mapping[str, tuple[Recipe, Dataset]],
    label: str,
    samples: int = bootstrap.SAMPLES,
    seed: int = bootstrap.SEED,
) -> list[Row]:
    """P@1 and MRR of recipes that were each scored on their own, over the same mentions; `label` names the slice."""
    methods = [from_recipe(recipe, data, name) for name, (recipe, data) in scored.items()]
    data = next(data for _, data in scored.values())
    evaluation: Evaluation = evaluate_scores(data, methods, samples=samples, seed=seed)
    return [replace(row, slice=label) for row in evaluation.rows if row.metric in {"P@1", "MRR"}]


def ablation_report(features: Sequence[Row], context: Sequence[Row], about: Sequence[str]) -> Report:
    """Tables 6 and 7 for any KB and gold."""
    first = (
        "Words of the entity: D its description, S the labels of its statements' values, S_A these with their aliases, "
        "P the first paragraph of its Wikipedia page."
    )
    second = "Words of the text: the sentences that hold the name (narrow), the article (entire), the sum of both."
    sections = [
        Section("Table 6: features and normalisation", [first], [pivot(features, "table_6", "IScore by features.")]),
        Section("Table 7: context", [second], [pivot(context, "table_7", "IScore by context.")]),
    ]
    rows = [{"table": table, **row.asdict()} for table, part in (("6", features), ("7", context)) for row in part]
    short = [view for section in sections for view in section.views]
    return Report("Which words matter? IScore taken apart", sections, rows, about, short)
