"""The paper's Quotebank tables again, from the authors' own scores, next to what is printed.

Composites and tie-breaks are not read but made: every system runs through its recipe, as in the linker.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from namesake.errors import NamesakeError
from namesake.evaluation.gold import Dataset, GoldRow, align, in_split, read_gold
from namesake.evaluation.measures import bootstrap, metrics
from namesake.evaluation.measures.methods import PAPER, Method, from_recipe, method
from namesake.evaluation.paper import printed
from namesake.evaluation.paper.printed import COLUMNS, Cell
from namesake.evaluation.scores import ScoreTable, read_lines, read_scores
from namesake.rank import FloatArray
from namesake.recipe import Part, Recipe

SCORES, GOLD, ARTICLES = "reference_scores.parquet", "gold.jsonl", "articles.jsonl.gz"

VALUE_TOLERANCE = 0.001
HALF_WIDTH_TOLERANCE = 0.005


@dataclass(frozen=True)
class PaperRow:
    """One cell of one of the paper's tables: what we get, and what is printed."""

    table: str
    method: str
    column: str
    value: float
    half_width: float | None
    printed: float
    printed_half_width: float | None

    def asdict(self) -> dict[str, Any]:
        """The row as `tables.json` has it."""
        return asdict(self)

    @property
    def why(self) -> str | None:
        """Why it differs from print by more than rounding; None where it does not."""
        erratum = printed.ERRATA.get((self.table, self.method, self.column))
        if erratum is not None:
            return erratum
        if abs(self.value - self.printed) <= VALUE_TOLERANCE:
            wide = abs((self.half_width or 0) - (self.printed_half_width or 0)) > HALF_WIDTH_TOLERANCE
            return printed.HALF_WIDTHS if wide else None
        if self.method == "Random":
            return printed.RANDOM
        return "Not explained."


@dataclass(frozen=True)
class Reproduction:
    """All cells, and what else was found out on the way."""

    rows: list[PaperRow]
    remarks: list[str]


def reproduce(folder: Path, samples: int = bootstrap.SAMPLES, seed: int = bootstrap.SEED) -> Reproduction:
    """Tables 1, 2, 5, 8, 9 and 11 for Quotebank from a folder with the authors' scores, gold and articles."""
    for name in (SCORES, GOLD, ARTICLES):
        if not (folder / name).is_file():
            raise NamesakeError(f"{folder}: no {name}; reproduce needs {SCORES}, {GOLD} and {ARTICLES} in one folder")
    table, gold = read_scores(folder / SCORES), read_gold(folder / GOLD)
    data = test_data(table, gold)
    derived = metrics.derived_difficulty(data.offsets, data.gold, data.table.scores["NS"], data.table.scores["LQID"])
    rows = [*_counts(data, derived), *_ground_truth(folder / ARTICLES, gold)]
    rows += _measured(data, samples, seed)
    agree = sum(a == b for a, b in zip(derived, data.columns["difficulty"], strict=True))
    as_written = float(from_recipe(Recipe.load("ucse-paper"), data, "UCSE").hit.mean())
    return Reproduction(
        sorted(rows, key=lambda row: int(row.table)),
        [
            f"Easy and hard derived from NS (ties by LQID) agree with the given column on {agree} of {len(derived)} "
            "mentions.",
            *printed.REMARKS[:1],
            printed.REMARKS[1].replace("see below", f"P@1 {as_written:.3f}"),
        ],
    )


def test_data(table: ScoreTable, gold: list[GoldRow]) -> Dataset:
    """The paper's evaluation set: the test mentions whose gold entity is among their candidates."""
    data = align(table, [row for row in in_split(gold, "test") if row.gold is not None])
    if "difficulty" not in data.columns:
        raise NamesakeError(f"{GOLD}: no column `difficulty` (easy or hard), by which the paper's tables are divided")
    return data


def systems(data: Dataset) -> dict[str, Method]:
    """The systems of Table 2, by the paper's names, with the recipes behind its Quotebank numbers."""
    recipe_of = PAPER | {"UCSE": "ucse-paper-quotebank"}
    return {
        name: method(name, data) if name == "Random" else from_recipe(Recipe.load(recipe_of[name]), data, name)
        for name in printed.P_AT_1
    }


def _measured(data: Dataset, samples: int, seed: int) -> list[PaperRow]:
    """Tables 2, 11, 8 and 9: every figure is a mean over mentions, and all share one bootstrap."""
    figures = [*_main_tables(data), *_mgenre_context(data), *_tie_breakers(data)]
    values = np.column_stack([figure.values for figure in figures])
    statistic = metrics.Means(values)
    plain = statistic(np.ones((1, len(values))))[0]
    sampled = bootstrap.resample(statistic, bootstrap.by_mention(len(values)), samples, seed)
    return [
        PaperRow(figure.table, figure.method, figure.column, interval.value, interval.half_width, *figure.printed)
        for figure, interval in zip(figures, bootstrap.intervals(plain, sampled), strict=True)
    ]


@dataclass(frozen=True)
class _Figure:
    """One cell to measure: a value per mention, NaN outside its slice."""

    table: str
    method: str
    column: str
    values: FloatArray
    printed: Cell


def _main_tables(data: Dataset) -> Iterator[_Figure]:
    difficulty = np.array(data.columns["difficulty"])
    inside = {"easy": difficulty == "easy", "hard": difficulty == "hard", "overall": np.ones(len(difficulty), bool)}
    for name, system in systems(data).items():
        assert system.reciprocal_rank is not None
        for table, values, cells in (
            ("2", system.hit, printed.P_AT_1[name]),
            ("11", system.reciprocal_rank, printed.MRR[name]),
        ):
            for column, cell in zip(COLUMNS, cells, strict=True):
                yield _Figure(table, name, column, metrics.as_slice(values, inside[column]), cell)


def _mgenre_context(data: Dataset) -> Iterator[_Figure]:
    for name, cells in printed.MGENRE_CONTEXT.items():
        system = from_recipe(Recipe(name, (Part(name),), tie_break=()), data, name)
        assert system.reciprocal_rank is not None
        yield _Figure("8", name, "P@1", system.hit, cells["P@1"])
        yield _Figure("8", name, "MRR", system.reciprocal_rank, cells["MRR"])


def _tie_breakers(data: Dataset) -> Iterator[_Figure]:
    for name, cells in printed.TIES.items():
        recipe = Recipe.load(PAPER[name])
        for breaker, cell in zip(printed.TIE_BREAKERS, cells, strict=True):
            chain = (breaker,) if breaker == "LQID" else (breaker, "LQID")
            yield _Figure("9", name, breaker, from_recipe(recipe.replace(tie_break=chain), data, name).hit, cell)


def _counts(data: Dataset, derived: Sequence[str | None]) -> Iterator[PaperRow]:
    """Table 1, with easy and hard as derived from NS."""
    count = {"easy": derived.count("easy"), "hard": derived.count("hard"), "overall": len(derived)}
    for column, expected in printed.MENTIONS.items():
        yield PaperRow("1", "Quotebank", column, count[column], None, expected, None)


def _ground_truth(articles: Path, gold: list[GoldRow]) -> Iterator[PaperRow]:
    """Table 5: names with one candidate, and those with several by whether one of them is right."""
    names = [name for article in read_lines(articles) for name in article["names"]]
    answered = sum(row.gold is not None for row in gold)
    count = {
        "Unambiguous": sum(len(name["ids"]) == 1 for name in names),
        "Gold entity exists": answered,
        "No gold entity": len(gold) - answered,
        "Total": len(names),
    }
    for category, expected in printed.GROUND_TRUTH.items():
        yield PaperRow("5", category, "mentions", count[category], None, expected, None)
