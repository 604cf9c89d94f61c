"""Articles with a KB, linked with one recipe after another, for evaluation to look at."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pyarrow as pa

from namesake.articles.rejects import NoRejects, Rejects
from namesake.engines.article_files import read_files
from namesake.errors import NamesakeError
from namesake.evaluation.gold import Dataset, GoldRow, align
from namesake.evaluation.scores import BoolArray, ScoreTable, score_table
from namesake.kb.store import KB
from namesake.linker import Linker
from namesake.recipe import Recipe


class Corpus:
    """The articles of a file, read once; what cannot be used is set aside in `rejects`, once.

    Without `rejects`, the first record that cannot be used is an error.
    """

    def __init__(self, articles: str | Path, kb: KB | str | Path, rejects: Rejects | None = None) -> None:
        self.path = Path(articles)
        self.kb = kb if isinstance(kb, KB) else KB.open(kb)
        self.rejects = NoRejects() if rejects is None else rejects
        self.tables = list(read_files([self.path], self.rejects))
        if not any(table.num_rows for table in self.tables):
            raise NamesakeError(f"{self.path}: no articles")

    def links(self, recipe: Recipe) -> pa.Table:
        """The links of all articles, with the scores of every candidate."""
        linker = Linker(self.kb, recipe)
        tables = [linker.link(table, scores=True, rejects=self.rejects) for table in self.tables]
        self.rejects = Rejects()  # whatever recipe comes next, the same articles cannot be linked
        return pa.concat_tables(tables).replace_schema_metadata({"namesake.recipe": recipe.toml()})

    def dataset(self, recipe: Recipe, gold: list[GoldRow]) -> Dataset:
        """The mentions that have gold, with what a recipe makes of them."""
        return align(score_table(self.links(recipe), str(self.path)), gold)


def known_candidates(table: ScoreTable, kb: KB | str | Path) -> BoolArray:
    """Which candidates of a score table a KB has."""
    numbers = [int(qid[1:]) if re.fullmatch(r"Q\d{1,18}", qid) else -1 for qid in table.qids]
    opened = kb if isinstance(kb, KB) else KB.open(kb)
    return np.asarray(opened.rows(np.array(numbers, np.int64)) >= 0)


def only_known(data: Dataset, kb: KB | str | Path | None) -> Dataset:
    """The data set without the candidates that a KB lacks; as it is without a KB."""
    return data if kb is None else data.only(known_candidates(data.table, kb))
