"""Labelled raw text, linked and judged: what evaluate, tune and threshold begin with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from namesake.articles.article import Article
from namesake.articles.builder import ArticleBuilder
from namesake.errors import NamesakeError
from namesake.evaluation.labelled.documents import LabelledCorpus, read_corpora
from namesake.evaluation.labelled.judged import Answers, Judged, Outcome, judge
from namesake.evaluation.scores import BoolArray
from namesake.files.several import Paths
from namesake.kb.columns.column_files import Strings
from namesake.kb.names.normalise import normalise_many
from namesake.kb.store import KB
from namesake.linker import Linker
from namesake.recipe import Recipe


@dataclass(frozen=True)
class LinkedCorpus:
    """A corpus, linked by a recipe without a threshold: every threshold's answers can be told from it."""

    judged: Judged
    links: pa.Table

    @property
    def outcome(self) -> Outcome:
        """How the recipe's answers fare."""
        return Outcome.of(self.judged, Answers.of(self.links, self.judged.mentions))


@dataclass(frozen=True)
class Labelled:
    """Labelled files, linked with a KB; `remarks` say what of the labels and the KB to know."""

    kb: KB
    corpora: Sequence[LinkedCorpus]
    remarks: Sequence[str]


def link_labelled(paths: Paths, kb: KB | str | Path | None, recipe: Recipe, scores: bool = False) -> Labelled:
    """Read labelled files and link them; with `scores`, links have every candidate and its parts."""
    if kb is None:
        raise NamesakeError("labelled text is linked first, which takes a KB: name one with `kb=`")
    opened = kb if isinstance(kb, KB) else KB.open(kb)
    linker = Linker(opened, recipe if recipe.decide is None else recipe.at(0.0))
    corpora = []
    for corpus in read_corpora(paths):
        links = pa.concat_tables(
            [linker.empty_links(scores), *(linker.link(table, scores) for table in _articles(corpus))]
        )
        corpora.append(LinkedCorpus(judge(corpus, known_labels(corpus, opened), links), links))
    if not any(each.judged.known.any() for each in corpora):
        raise NamesakeError(f"no label has the QID of an entity of {opened.path}: there is nothing to measure")
    return Labelled(opened, corpora, [*_about_labels(corpora), *_about_kb(opened)])


def known_labels(corpus: LabelledCorpus, kb: KB) -> BoolArray:
    """Which labels' QIDs a KB has."""
    qids = [label.qid for document in corpus.documents for label in document.labels]
    return np.asarray(kb.rows(np.array([int(qid[1:]) if qid else -1 for qid in qids], np.int64)) >= 0)


def are_names(judged: Judged, kb: KB) -> BoolArray:
    """Which labels are names of the KB as they stand: label or alias of an entity, titles and all."""
    names = []
    for label, document in zip(judged.labels, judged.label_document, strict=True):
        start, end = label.name_span
        names.append(judged.corpus.documents[document].text[start:end])
    asked = normalise_many(Strings.of(names))
    found = kb.names.find(asked)
    texts = kb.names.texts
    return np.array([at >= 0 and texts[int(at)] == asked[i] for i, at in enumerate(found)], np.bool_)


def _articles(corpus: LabelledCorpus) -> Iterator[pa.Table]:
    """The documents as articles, called by their numbers, whatever ids they have."""
    builder = ArticleBuilder()
    for number, document in enumerate(corpus.documents):
        builder.add(Article(str(number), document.text, date=document.date))
        if builder.full:
            yield builder.table()
    if builder.articles:
        yield builder.table()


def _about_labels(corpora: Sequence[LinkedCorpus]) -> Iterator[str]:
    overlapping, repeated, unknown, without = {}, {}, {}, []
    for each in corpora:
        name, judged = each.judged.name, each.judged
        overlapping[name], repeated[name] = judged.corpus.overlapping, judged.corpus.repeated
        unknown[name] = sum(label.qid is not None for label in judged.labels) - int(judged.known.sum())
        without += [] if judged.known.any() else [name]
    if any(overlapping.values()):
        yield f"Labels that overlap another: {_counted(overlapping)}; an answer that fits one of them is right."
    if any(repeated.values()):
        yield f"Ids that stand for several documents, which are measured apart: {_counted(repeated)}."
    if any(unknown.values()):
        yield f"Labels whose QID is no entity of the KB: {_counted(unknown)}; nobody is right there."
    if without:
        yield f"No label is an entity of the KB in {', '.join(without)}: figures of linking are 0 there."


def _counted(counts: dict[str, int]) -> str:
    """The sum, and what it is made of where that is more than one number."""
    some = [f"{name} {count:,}" for name, count in counts.items() if count]
    return (
        f"{sum(counts.values()):,} in {some[0].rpartition(' ')[0]}"
        if len(some) == 1
        else (f"{sum(counts.values()):,} ({', '.join(some)})")
    )


def _about_kb(kb: KB) -> Iterator[str]:
    if not len(kb.names.short_entities):
        yield f"{kb.path} has no names of one word, so none is found: build the KB again with `namesake kb build`."
