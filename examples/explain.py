"""Explain a link: the parts of every candidate's score, including NIL, as rows that add up.

Run: python examples/explain.py [KB]
"""

import sys
from itertools import groupby

import pyarrow as pa

from namesake import Linker
from namesake.apps.sample_kb import sample_kb

TEXT = "Steve Smith opened the batting for Australia, with Allan Border and Dennis Lillee."


def main() -> None:
    linker = Linker(sys.argv[1] if len(sys.argv) > 1 else sample_kb())
    articles = pa.table({"id": ["1984"], "text": [TEXT], "date": ["1984-01-10"]})
    rows = linker.explain(articles, "Steve Smith").to_pylist()
    for _, candidate in groupby(rows, key=lambda row: row["rank"]):
        parts = [row for row in candidate if row["role"] == "part" and row["contribution"]]
        first = parts[0]
        who = f"{first['qid']} {first['description']}" if first["qid"] else "NIL"
        sum_of = " ".join(f"{row['part']} {row['contribution']:+.2f}" for row in parts)
        print(f"{first['rank']}. {who}: confidence {first['confidence']:.0%}, {first['score']:.2f} = {sum_of}")


if __name__ == "__main__":
    main()
