"""Small changes of some weights of a recipe that raise the mean F1 of the labelled corpora.

    python -m benchmarks.steps --kb KB --recipe R1.toml R2.toml … --out RECIPE.toml [--without CORPUS]
                               [--labelled PATH…] [--precision 0.8425]

The start is the mean of the recipes, which `benchmarks.entities --fit` wrote. Each constant of a kind, six pieces of
evidence for NIL and four scorers are changed once by ±.2, then once by ±.1. A step remains if the mean F1 rises by
more than .0001, where precision below `--precision` counts against it. `--without` leaves a corpus out and prints its
figures at the end. A label counts if its text has a capital and its entity is in the KB; in corpora that label every
name, a link that overlaps no label is wrong.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.entities import COMPLETE, SHARED
from namesake import KB, Linker
from namesake.articles.article import Article
from namesake.articles.builder import in_tables
from namesake.recipe import Recipe

STEPS = (0.2, 0.1)
KINDS = ("place", "organisation", "work", "event", "product", "character", "other")
FOR_NIL = ("CapitalBefore", "CapitalAfter", "SentenceStart", "CandidateCount", "BestFame", "LowercaseUse")
SCORERS = ("NameMatchQuality", "FirstName", "LastWord", "NameOpening")
LEAST_GAIN, PENALTY = 0.0001, 5.0
SILENT = ("unmapped", "unlinked", "unannotated")
"""Values of `why` of labels that give no entity."""


class Corpus(NamedTuple):
    """A corpus: its texts, and the spans of each text that count (with QIDs) and that do not."""

    name: str
    articles: list[pa.Table]
    counted: list[list[tuple[list[int], str]]]
    others: list[list[list[int]]]
    judged: list[list[int]]


def read(path: Path, kb: KB) -> Corpus:
    """A corpus in the layout of `../shared/people`."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        documents = [json.loads(line) for line in lines]
    articles = [Article(str(at), one["text"], date=one.get("date")) for at, one in enumerate(documents)]
    judged = [one.get("evaluation_span") or [0, len(one["text"])] for one in documents]
    counted, others = [], []
    for one, (low, high) in zip(documents, judged, strict=True):
        labels = [label for label in one["labels"] if low <= label["span"][0] and label["span"][1] <= high]
        some = [label for label in labels if _counts(label, one["text"], kb)]
        counted.append([(label["span"], label["qid"]) for label in some])
        others.append([label["span"] for label in labels if label not in some])
    return Corpus(path.name.partition(".")[0], list(in_tables(articles)), counted, others, judged)


def _counts(label: dict[str, Any], text: str, kb: KB) -> bool:
    has_entity = not label.get("coref") and label.get("why") not in SILENT and label["qid"]
    begin, end = label["span"]
    return bool(has_entity and text[begin:end] != text[begin:end].lower() and kb.row(label["qid"]) >= 0)


def _overlap(one: Sequence[int], other: Sequence[int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def figures(recipe: Recipe, corpora: Sequence[Corpus], kb: KB) -> tuple[float, float, float]:
    """Mean precision, recall and F1 of some corpora."""
    linker, rows = Linker(kb, recipe), []
    for corpus in corpora:
        right = made = hit = 0
        found: list[list[tuple[list[int], str]]] = [[] for _ in corpus.counted]
        for article, spans, qid in _links(linker, corpus):
            low, high = corpus.judged[article]
            found[article] += [(span, qid) for span in spans if low <= span[0] and span[1] <= high]
        for links, counted, others in zip(found, corpus.counted, corpus.others, strict=True):
            for span, qid in links:
                near = [wanted for place, wanted in counted if _overlap(span, place)]
                is_free = corpus.name in COMPLETE and not any(_overlap(span, place) for place in others)
                made += bool(near) or is_free
                right += qid in near
            hit += sum(any(qid == one and _overlap(span, place) for place, one in links) for span, qid in counted)
        precision, recall = right / max(made, 1), hit / max(sum(map(len, corpus.counted)), 1)
        rows.append((precision, recall, 2 * precision * recall / max(precision + recall, 1e-9)))
    precision, recall, f1 = np.mean(rows, axis=0).tolist()
    return precision, recall, f1


def _links(linker: Linker, corpus: Corpus) -> Iterator[tuple[int, list[list[int]], str]]:
    for table in corpus.articles:
        links = linker.link(table).select(["article_id", "spans", "qid"])
        for article, spans, qid in zip(*(column.to_pylist() for column in links.columns), strict=True):
            if qid is not None:
                yield int(article), spans, qid


def mean_of(recipes: Sequence[Recipe]) -> Recipe:
    """The recipe with the mean of the weights of recipes with the same parts."""
    first, decides = recipes[0], [one.decide for one in recipes if one.decide is not None]
    parts = []
    for part, *others in zip(*(one.parts for one in recipes), strict=True):
        weights = {key: float(np.mean([one.weights[key] for one in (part, *others)])) for key in part.weights}
        parts.append(part.with_weights(weights))
    weighed = zip(*(one.parts for one in decides), strict=True)
    nil = tuple(some[0].replace(weight=float(np.mean([one.weight for one in some]))) for some in weighed)
    return first.replace(parts=tuple(parts), decide=decides[0].replace(parts=nil))


def moved(recipe: Recipe, name: str, by: float) -> Recipe:
    """The recipe with another constant of a kind, or another weight of a scorer or of evidence for NIL."""
    assert recipe.decide is not None
    if name in FOR_NIL:
        nil = (p.replace(weight=round(p.weight + by, 4)) if p.name == name else p for p in recipe.decide.parts)
        return recipe.replace(decide=recipe.decide.replace(parts=tuple(nil)))
    part_name, key = ("Constant", name) if name in KINDS else (name, "")
    parts = []
    for part in recipe.parts:
        if part.name == part_name:
            weight = part.weights[key] + by
            part = part.with_weights(part.weights | {key: round(weight if key else max(weight, 0.0), 4)})
        parts.append(part)
    return recipe.replace(parts=tuple(parts))


def main() -> None:
    """Move the weights, print each step, and write the recipe."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", required=True)
    parser.add_argument("--recipe", nargs="+", required=True)
    parser.add_argument("--labelled", type=Path, nargs="+", default=[SHARED / "people", SHARED / "entities"])
    parser.add_argument("--out", required=True)
    parser.add_argument("--without")
    parser.add_argument("--precision", type=float, default=0.8425)
    options = parser.parse_args()
    kb, recipe = KB.open(options.kb), mean_of([Recipe.load(each) for each in options.recipe])
    corpora = [read(path, kb) for folder in options.labelled for path in sorted(folder.glob("*.jsonl.gz"))]
    seen = [corpus for corpus in corpora if corpus.name != options.without]

    def value(one: Recipe) -> float:
        precision, _, f1 = figures(one, seen, kb)
        return f1 - PENALTY * max(0.0, options.precision - precision)

    best = value(recipe)
    for step in STEPS:
        for name in (*KINDS, *FOR_NIL, *SCORERS):
            for by in (step, -step):
                other = moved(recipe, name, by)
                if (better := value(other)) > best + LEAST_GAIN:
                    recipe, best = other, better
                    print(f"{name} {by:+g}: {best:.4f}", flush=True)
                    break
    recipe.save(options.out)
    shown = [corpus for corpus in corpora if corpus.name == options.without] or corpora
    print("precision {:.4f}, recall {:.4f}, F1 {:.4f}".format(*figures(recipe, shown, kb)))


if __name__ == "__main__":
    main()
