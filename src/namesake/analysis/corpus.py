"""Input of evaluation: articles, or labelled text, linked with a KB and a recipe."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from namesake.arrays import Bool
from namesake.articles.article import Article, Mention, Span
from namesake.articles.builder import in_tables
from namesake.articles.rejects import NoRejects, Rejects
from namesake.engines.file_linker import read_files
from namesake.errors import NamesakeError
from namesake.evaluation.gold import Dataset, GoldRow, align, score_table
from namesake.evaluation.labelled_text import Alignment, Outcome, align_labels, of_every_kind, read_corpora
from namesake.files import Paths
from namesake.kb.columns import Strings
from namesake.kb.names.normalise import normalise_many
from namesake.kb.store import KB
from namesake.kernels.kinds import PERSON
from namesake.linker import Linker
from namesake.recipe import Recipe


def opened(kb: KB | str | Path) -> KB:
    """Return the KB, opened if it is given by its path."""
    return kb if isinstance(kb, KB) else KB.open(kb)


class Corpus:
    """The articles of a file, read once and linked with one recipe after another; each reject is reported once."""

    def __init__(
        self,
        articles: str | Path,
        kb: KB | str | Path,
        rejects: Rejects | None = None,
        tables: Sequence[pa.Table] | None = None,
    ) -> None:
        self.path, self.kb = Path(articles), opened(kb)
        self.rejects = NoRejects() if rejects is None else rejects
        self.tables = list(read_files([self.path], self.rejects) if tables is None else tables)
        if not any(table.num_rows for table in self.tables):
            raise NamesakeError(f"{self.path}: no articles")

    def links(self, recipe: Recipe) -> pa.Table:
        """Return the links of all articles, with the scores of every candidate."""
        linker = Linker(self.kb, recipe)
        tables = [linker.link(table, scores=True, rejects=self.rejects) for table in self.tables]
        self.rejects = Rejects()  # the same articles are rejected with every recipe
        return pa.concat_tables(tables).replace_schema_metadata({"namesake.recipe": recipe.toml()})

    def dataset(self, recipe: Recipe, gold: list[GoldRow]) -> Dataset:
        """Return the mentions that have gold, scored by a recipe."""
        return align(score_table(self.links(recipe), str(self.path)), gold)


def labelled_corpus(path: str | Path, kb: KB | str | Path) -> tuple[Corpus, list[GoldRow]]:
    """Labelled text as articles whose mentions are the labels with a QID, and as gold; a text in a document is one."""
    articles, gold = [], []
    for corpus in read_corpora(path):
        for number, document in enumerate(corpus.documents):
            spans: dict[str, list[Span]] = {}
            identifier = f"{corpus.name}:{document.id}:{number}"
            for label in document.labels:
                if label.qid is not None:
                    name = document.text[slice(*label.name_span)]
                    if name not in spans:
                        gold.append(GoldRow((identifier, name), label.qid, {}))
                    spans.setdefault(name, []).append(label.name_span)
            mentions = [Mention(name, places) for name, places in spans.items()]
            articles.append(Article(identifier, document.text, date=document.date, mentions=mentions))
    return Corpus(path, kb, tables=list(in_tables(articles))), gold


def in_kb(qids: Sequence[str | None], kb: KB) -> Bool:
    """Return which QIDs are in a KB."""
    numbers = [kb.ids.number(qid) if qid else -1 for qid in qids]
    return np.asarray(kb.rows(np.array(numbers, np.int64)) >= 0)


def only_known(data: Dataset, kb: KB | str | Path | None) -> Dataset:
    """Return the data set with only the candidates that are in a KB; without a KB, unchanged."""
    return data if kb is None else data.only(in_kb(data.table.qids, opened(kb)))


@dataclass(frozen=True)
class LinkedText:
    """Labelled files, linked with a KB without a threshold, and remarks on the labels and the KB."""

    kb: KB
    corpora: Sequence[tuple[Alignment, pa.Table]]
    """The labels and the links of each file."""
    remarks: Sequence[str]

    @property
    def outcomes(self) -> list[Outcome]:
        """The results of the recipe on each corpus."""
        return [Outcome.of(labels) for labels, _ in self.corpora]


def link_text(
    labelled: Paths,
    kb: KB | str | Path | None,
    recipe: Recipe,
    scores: bool = False,
    complete: str | Sequence[str] = (),
) -> LinkedText:
    """Read labelled files and link them; `complete` are names of corpora, separated by commas if they are one text."""
    if kb is None:
        raise NamesakeError("labelled text is linked with a KB: name one with `kb=`")
    kb = opened(kb)
    linker = Linker(kb, recipe if recipe.decide is None else recipe.at(0.0))
    corpora = []
    several = any(kind.number != PERSON for kind in kb.kinds)
    whole = [name.strip() for name in complete.split(",") if name.strip()] if isinstance(complete, str) else complete
    for read in read_corpora(labelled, whole):
        corpus = of_every_kind(read) if several else read
        numbered = enumerate(corpus.documents)  # ids are the numbers of documents, since the given ids may repeat
        articles = in_tables(Article(str(number), each.text, date=each.date) for number, each in numbered)
        links = pa.concat_tables([linker.empty_links(scores), *(linker.link(table, scores) for table in articles)])
        qids = [label.qid for document in corpus.documents for label in document.labels]
        stated = (qid for qid in {*qids, *links["best"].to_pylist()} if qid)
        kinds = {qid: kb.kind_of(row).name for qid in stated if (row := kb.row(qid)) >= 0}
        corpora.append((align_labels(corpus, in_kb(qids, kb), links, kinds), links))
    if not any(labels.known.any() for labels, _ in corpora):
        raise NamesakeError(f"no label has the QID of an entity of {kb.path}: there is nothing to measure")
    return LinkedText(kb, corpora, list(_remarks([labels for labels, _ in corpora], kb)))


def are_names(labels: Alignment, kb: KB) -> Bool:
    """Return which labels are names in the KB: the label or an alias of an entity."""
    documents = labels.corpus.documents
    pairs = zip(labels.labels, labels.label_document, strict=True)
    asked = normalise_many(Strings.of([documents[at].text[slice(*label.name_span)] for label, at in pairs]))
    found, texts = kb.names.find(asked), kb.names.texts
    return np.array([at >= 0 and texts[int(at)] == asked[i] for i, at in enumerate(found)], np.bool_)


def _remarks(corpora: Sequence[Alignment], kb: KB) -> Iterator[str]:
    if overlapping := _counted({each.name: each.corpus.overlapping for each in corpora}):
        yield f"Labels that overlap another: {overlapping}; an answer that fits one of them is right."
    if repeated := _counted({each.name: each.corpus.repeated for each in corpora}):
        yield f"Ids that several documents have, which are measured separately: {repeated}."
    labels = {each.name: sum(label.qid is not None for label in each.labels) for each in corpora}
    if unknown := _counted({each.name: labels[each.name] - int(each.known.sum()) for each in corpora}):
        yield f"Labels whose QID is not in the KB: {unknown}; NIL is right there."
    if without := [each.name for each in corpora if not each.known.any()]:
        yield f"No label is in the KB in {', '.join(without)}: figures of linking are 0 there."
    if not len(kb.names.short_entities):
        yield f"{kb.path} has no names of one word, so none is found: build the KB again with `namesake kb build`."


def _counted(counts: dict[str, int]) -> str:
    """The sum, and its parts if there are several; empty for 0."""
    some = [name for name, count in counts.items() if count]
    if len(some) < 2:
        return f"{counts[some[0]]:,} in {some[0]}" if some else ""
    return f"{sum(counts.values()):,} ({', '.join(f'{name} {counts[name]:,}' for name in some)})"
