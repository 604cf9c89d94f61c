"""Declare your own scorer outside the package, and link and explain with it.

Run: python examples/own_scorer.py
"""

from collections.abc import Iterator

import numpy as np
from rich.console import Console

from namesake import Linker, Recipe, scorer
from namesake.apps.sample_kb import sample_kb
from namesake.apps.terminal.explanations import show_explanation
from namesake.articles.rejects import Rejects
from namesake.formats import read_articles
from namesake.sample import ARTICLES
from namesake.scorers import Candidate, Match, Source

YEAR = 9  # precision of a date whose year is known


def year_of_birth(candidate: Candidate) -> Iterator[Match]:
    """What the explanation of a candidate shows."""
    kb, row = candidate.kb, candidate.row
    if kb.birth_precision[row] >= YEAR:
        born = np.datetime64(int(kb.birth[row]), "D").astype("datetime64[Y]")
        yield Match(sources=[Source("born", value=str(born))])


@scorer("InPrime", explain=year_of_birth)
def in_prime(batch, kb):
    """1 if the candidate is 18 to 60 years old on the day of the article, otherwise 0."""
    day = np.repeat(batch.days[batch.article], np.diff(batch.offsets)).astype(np.int64)
    age = (day - kb.birth[batch.rows]) / 365.25
    known = (batch.rows >= 0) & (kb.birth_precision[batch.rows] >= YEAR)
    return (known & (age >= 18) & (age <= 60)).astype(np.float64)


RECIPE = Recipe.parse("""
name = "prime"
description = "Shared words, and people in their prime."
tie_break = ["NS", "LQID"]

[[parts]]
scorer = "IScore"

[[parts]]
scorer = "InPrime"
weight = 3.0
""")


def main() -> None:
    """In 1984 one cricketer named Steve Smith was of this age, and the other was not yet born."""
    linker = Linker(sample_kb(), RECIPE)
    [articles] = read_articles(ARTICLES, Rejects())
    one = articles.filter([identifier == "one-day-opener" for identifier in articles.column("id").to_pylist()])
    for link in linker.link(one).to_pylist():
        print(link["name"], link["qid"], link["score"])
    show_explanation(one, linker.explain(one, "Steve Smith"), Console())


if __name__ == "__main__":
    main()
