"""A score file and a gold file small enough to check by hand."""

import json

import pyarrow as pa

LONG = [  # article, name, candidate, qid, NS, IScore
    ("a1", "john smith", 0, "Q10", 5.0, 0.0),
    ("a1", "john smith", 1, "Q20", 1.0, 3.0),
    ("a1", "ann lee", 0, "Q30", 2.0, 1.0),
    ("a1", "ann lee", 1, "Q40", 2.0, 1.0),
    ("a2", "john smith", 0, "Q10", 5.0, 2.0),
    ("a2", "john smith", 1, "Q20", 1.0, 0.0),
    ("a2", "bo chan", 0, "Q50", 1.0, 1.0),
    ("a2", "bo chan", 1, "Q60", 0.0, 0.0),
]
GOLD = [  # IScore: right, right by LQID, right, wrong (NIL); NS: wrong, right by LQID, right, wrong
    {"articleID": "a1", "name": "john smith", "gold": 1, "split": "test", "kind": "x"},
    {"articleID": "a1", "name": "ann lee", "gold": 0, "split": "test", "kind": "y"},
    {"articleID": "a2", "name": "john smith", "gold": "Q10", "split": "tune", "kind": "y"},
    {"articleID": "a2", "name": "bo chan", "gold": None, "split": "tune", "kind": None},
]


def long_table(rows=LONG):
    columns = list(zip(*rows, strict=True))
    names = ("articleID", "name", "candidate", "qid", "NS", "IScore")
    return pa.table(dict(zip(names, map(list, columns), strict=True)))


def gold_file(path, rows=GOLD):
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


def figures(evaluation):
    return {(row.method, row.slice, row.metric): (row.value, row.n) for row in evaluation.rows}
