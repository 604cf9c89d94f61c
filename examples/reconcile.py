"""Match rows of a table: each has a name and other values as evidence.

`namesake.reconcile` matches files, and `namesake.reconcile_frame` pandas and Polars frames.

Run: python examples/reconcile.py [KB]
"""

import sys

from namesake import Linker
from namesake.apps.sample_kb import sample_kb
from namesake.reconciling import Query, reconcile_queries

ROWS = [
    Query("Michael Jordan", context="Chicago Bulls, basketball player from the USA", date="1996"),
    Query("Michael Jordan", context="professor of machine learning and statistics", date="2014"),
    Query("Imran Khan", values=(("occupation", "actor"), ("birth date", "1983"))),
]


def main() -> None:
    linker = Linker(sys.argv[1] if len(sys.argv) > 1 else sample_kb())
    for row, candidates in zip(ROWS, reconcile_queries(linker, ROWS, limit=2), strict=True):
        for candidate in candidates:
            sign = "→" if candidate.matched else " "
            print(f"{row.name} {sign} {candidate.qid} {candidate.description}, confidence {candidate.confidence:.0%}")


if __name__ == "__main__":
    main()
