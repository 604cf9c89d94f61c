"""Evaluation of links and scores, of labelled text, of the paper's tables, and ablation of IScore.

`Corpus` and `link_text` are the input: articles, or labelled text, linked with a KB and a recipe.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa

from namesake.arrays import Bool
from namesake.articles.article import Article, Mention, Span
from namesake.articles.builder import in_tables
from namesake.articles.rejects import NoRejects, Rejects
from namesake.engines.file_linker import read_files
from namesake.errors import NamesakeError
from namesake.evaluation.gold import Dataset, GoldRow, align, in_split, read_gold, read_scores, resolved, score_table
from namesake.evaluation.labelled_text import Alignment, Outcome, align_labels, of_every_kind, read_corpora
from namesake.evaluation.measure import PAPER, Method, Row, evaluate_scores, from_recipe, linked, method
from namesake.evaluation.measure import methods as named_methods
from namesake.evaluation.reports.evaluation_report import evaluation_report, pivot, text_report
from namesake.evaluation.reports.report import TEXTS, Report, Section
from namesake.evaluation.reproduction import paper_report, reproduce_tables
from namesake.evaluation.statistics import DEFAULT, SAMPLES, SEED, Bootstrap
from namesake.evaluation.text_figures import misses
from namesake.files import Paths, several
from namesake.kb.columns import Strings
from namesake.kb.names.normalise import normalise_many
from namesake.kb.store import KB
from namesake.kb.vectors.stored import has_vectors
from namesake.kernels.kinds import PERSON
from namesake.linker import Linker
from namesake.parts import Part
from namesake.recipe import Recipe
from namesake.scoring import runs_on
from namesake.text import sentences

AnyKB = KB | str | Path  # a KB, or its path


def opened(kb: AnyKB) -> KB:
    """Return the KB, opened if it is given by its path."""
    return kb if isinstance(kb, KB) else KB.open(kb)


class Corpus:
    """The articles of a file, read once and linked with one recipe after another; each reject is reported once."""

    def __init__(
        self, articles: str | Path, kb: AnyKB, rejects: Rejects | None = None, tables: Sequence[pa.Table] | None = None
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


def labelled_corpus(path: str | Path, kb: AnyKB) -> tuple[Corpus, list[GoldRow]]:
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
    return np.asarray(kb.rows(np.array([kb.ids.number(qid) if qid else -1 for qid in qids], np.int64)) >= 0)


def only_known(data: Dataset, kb: AnyKB | None) -> Dataset:
    """Return the data set with only the candidates that are in a KB; without a KB, unchanged."""
    return data if kb is None else data.only(in_kb(data.table.qids, opened(kb)))


class LinkedText(NamedTuple):
    """Labelled files, linked with a KB without a threshold, and remarks on the labels and the KB."""

    kb: KB
    corpora: Sequence[tuple[Alignment, pa.Table]]  # the labels and the links of each file
    remarks: Sequence[str]

    @property
    def outcomes(self) -> list[Outcome]:
        """The results of the recipe on each corpus."""
        return [Outcome.of(labels) for labels, _ in self.corpora]


def link_text(
    labelled: Paths, kb: AnyKB | None, recipe: Recipe, scores: bool = False, complete: str | Sequence[str] = ()
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


def evaluate(
    gold: str | Path,
    *,
    scores: str | Path | None = None,
    articles: str | Path | None = None,
    kb: KB | str | Path | None = None,
    known: KB | str | Path | None = None,
    split: str | None = None,
    methods: str | Sequence[str] = (),
    by: str | Sequence[str] = (),
    unit: Literal["mention", "document"] = "mention",
    samples: int = SAMPLES,
    seed: int = SEED,
    rejects: Rejects | None = None,
) -> Report:
    """Measure P@1, MRR, NIL and confidence against gold, each figure with its interval.

    Measured are `scores`, or `articles`, which are linked with a `kb` first. The report's `rows` are the figures;
    `write(folder)` writes the files. For labelled text, see `evaluate_text`.

    Args:
        gold: a file with `articleID`, `name`, `gold` (the index of a candidate, a QID or null) and columns to slice by.
        scores: a file that `namesake link` wrote, or a file with the scores of every candidate.
        articles: a file of articles, which are linked with the recipe of each method.
        kb: the KB to link them with.
        known: ignore candidates that are not in this KB, and treat gold entities that are not in it as NIL.
        split: use only gold of this split.
        methods: recipes, systems of the paper, score columns, `links`, `Random`; default: all that the scores allow.
        by: gold columns to slice by, such as `difficulty`.
        unit: what the bootstrap draws.
        samples: the number of bootstrap samples.
        seed: the seed of the bootstrap.
        rejects: collects articles that cannot be used; without it, the first of them is an error.
    """
    if unit not in {"mention", "document"}:
        raise NamesakeError(f"`unit={unit!r}`: must be mention or document")
    if (scores is None) == (articles is None):
        raise NamesakeError("evaluate needs one of `links=`, `scores=`, or `kb=` with `articles=`")
    if (kb is None) != (articles is None):
        raise NamesakeError("articles are linked with a KB: give `articles=` and `kb=`, or neither")
    methods, by = several(methods), several(by)
    rows, unresolved = resolved(in_split(read_gold(Path(gold)), split))
    if articles is not None and kb is not None:
        data, chosen = _linked(methods, Corpus(articles, kb, rejects), rows, known)
    elif scores is not None:
        data = only_known(align(read_scores(Path(scores)), rows), known)
        chosen = named_methods(methods, data)
    evaluation = evaluate_scores(data, chosen, by, unit, Bootstrap(samples, seed))
    about = [
        f"{scores or articles} against {gold}" + (f", split {split}" if split else "") + ".",
        f"Intervals: 95 %, {samples:,} bootstrap samples by {unit} of all {len(data.gold):,} mentions, seed {seed}.",
    ]
    caveats = [f"Left out: {unresolved:,} mentions whose truth is unresolved."] if unresolved else []
    if data.unscored:
        caveats.append(f"{len(data.unscored):,} mentions of the gold have no candidates: they count as missed.")
    if known is not None:
        where = known.path if isinstance(known, KB) else known
        caveats.append(TEXTS["known"].format(where))
    return evaluation_report(evaluation, "How good are the links?", about, caveats)


def _linked(
    names: Sequence[str], corpus: Corpus, gold: list[GoldRow], known: AnyKB | None
) -> tuple[Dataset, list[Method]]:
    """Link the articles with the recipe of each method; with `known`, take the scores instead of the answers."""
    if not names:
        runs_here = [name for name, system in PAPER.items() if runs_on(Recipe.load(system), corpus.kb)]
        names = ["Random", *runs_here, "default"]
    systems = {name: Recipe.load(PAPER.get(name, name)) for name in names if name != "Random"}
    runs = {name: only_known(corpus.dataset(system, gold), known) for name, system in systems.items()}
    if not runs:
        raise NamesakeError("Random alone needs no linking: name a recipe, too")
    data = next(iter(runs.values()))
    if known is None:
        answers = {name: linked(name, run) for name, run in runs.items()}
    else:
        answers = {name: from_recipe(systems[name], run, name) for name, run in runs.items()}
    return data, [answers.get(name) or method(name, data) for name in names]


def evaluate_text(
    labelled: Paths,
    kb: KB | str | Path | None,
    recipe: Recipe | str | Path = "default",
    *,
    threshold: float | str | None = None,
    complete: str | Sequence[str] = (),
    samples: int = SAMPLES,
    seed: int = SEED,
) -> Report:
    """Find and link the names in labelled raw text, and measure precision, recall, F1 and the reasons for misses.

    Args:
        labelled: files of raw text with labels, each a corpus (`evaluation.labelled_text` describes the format).
        kb: the KB to link them with.
        recipe: a recipe, the name of a shipped recipe or a `.toml` file.
        threshold: the minimum confidence of an answer, or a calibrated threshold of the recipe, such as "p95".
        complete: names of corpora in which every name is labelled: links that overlap no label are wrong there.
        samples: the number of bootstrap samples.
        seed: the seed of the bootstrap.
    """
    system = Recipe.load(recipe)
    system = system if threshold is None else system.at(threshold)
    text = link_text(labelled, kb, system, complete=complete)
    at = 0.0 if system.decide is None else system.decide.threshold
    outcomes, missed = text.outcomes, []
    for outcome in outcomes:
        missed += misses(outcome, at, are_names(outcome.labels, text.kb), lambda one: sentences(one, text.kb.language))
    documents = sum(len(outcome.labels.corpus.documents) for outcome in outcomes)
    answered = "without a threshold" if system.decide is None else f"with the threshold {at:g}"
    about = [
        f"{documents:,} labelled documents, linked with {text.kb.path} by {system.name}, {answered}.",
        f"Intervals: 95 %, {samples:,} bootstrap samples by document, seed {seed}.",
    ]
    report = text_report(outcomes, missed, at, system.name, Bootstrap(samples, seed))
    return replace(report, intro=[*about, *text.remarks], remarks=text.remarks)


def reproduce(
    folder: str | Path, *, kb: KB | str | Path | None = None, samples: int = SAMPLES, seed: int = SEED
) -> Report:
    """Make the paper's Quotebank tables from the authors' scores, next to the printed values.

    Args:
        folder: contains `reference_scores.parquet`, `gold.jsonl` and `articles.jsonl.gz`.
        kb: also run every system that this KB suffices for, on the candidates that are in it.
        samples: the number of bootstrap samples.
        seed: the seed of the bootstrap.
    """
    folder = Path(folder)
    report = paper_report(*reproduce_tables(folder, Bootstrap(samples, seed)))
    if kb is None:
        return report
    corpus, truth = folder / "articles.jsonl.gz", folder / "gold.jsonl"
    run = evaluate(truth, articles=corpus, kb=kb, known=kb, split="test", samples=samples, seed=seed, rejects=Rejects())
    ours = []
    for section in run.sections:
        views = [replace(view, name=f"own_{view.name}") for view in section.views]
        ours.append(replace(section, title=f"Our own run: {section.title}", views=views))
    rows = [*report.rows, *({"table": "own run", **row} for row in run.rows)]
    short = [*report.short, *(view for section in ours for view in section.views[:1])]
    return replace(report, sections=[*report.sections, *ours], rows=rows, short=short)


FEATURES = ("D", "P", "S", "S_A", "D+P", "D+S", "D+S_A", "P+S", "P+S_A", "D+P+S", "D+P+S_A")
TIES = ("NS", "LQID")
NORMALISATION = {"none": "no normalisation", "lemma": "lemmatisation", "stem": "stemming"}


def ablate(
    articles: str | Path,
    gold: str | Path,
    kbs: KB | str | Path | Sequence[KB | str | Path],
    *,
    split: str | None = None,
    rejects: Rejects | None = None,
) -> Report:
    """Measure IScore with each kind of words and each context, as in the paper's Tables 6 and 7.

    Args:
        articles: a file of articles.
        gold: a file with `articleID`, `name`, `gold` (the index of a candidate, a QID or null).
        kbs: KBs to compare, such as KBs that were built with different `words`.
        split: use only gold of this split.
        rejects: collects articles that cannot be used; without it, the first of them is an error.
    """
    rows = in_split(read_gold(Path(gold)), split)
    features, context = list[Row](), list[Row]()
    for number, kb in enumerate(several(kbs)):
        corpus = Corpus(articles, kb, Rejects() if number else rejects)  # the same articles are rejected each time
        label = NORMALISATION[corpus.kb.manifest.words_how]
        words, places = len(corpus.kb.words_p.values) > 0, has_vectors(corpus.kb, "text")
        for found, recipes in ((features, feature_recipes(words)), (context, context_recipes(places))):
            scored = {name: (recipe, corpus.dataset(recipe, rows)) for name, recipe in recipes.items()}
            found += measure_recipes(scored, label)
    by_words = pivot(features, "table_6", "IScore by features.")
    by_place = pivot(context, "table_7", "IScore by context.")
    sections = [
        Section("Table 6: features and normalisation", [TEXTS["words_of_entities"]], [by_words]),
        Section("Table 7: context", [TEXTS["words_of_texts"]], [by_place]),
    ]
    tables = [{"table": table, **asdict(row)} for table, part in (("6", features), ("7", context)) for row in part]
    title = "Which words matter? An ablation of IScore"
    return Report(title, sections, tables, [f"{articles} against {gold}."], [by_words, by_place])


def feature_recipes(paragraphs: bool) -> dict[str, Recipe]:
    """Return IScore with every combination of features; those with P only if the KB has first paragraphs."""
    return {
        words: Recipe(words, (Part("IScore"),), words=words, tie_break=TIES)
        for words in FEATURES
        if paragraphs or "P" not in words.split("+")
    }


def context_recipes(vectors: bool = False) -> dict[str, Recipe]:
    """Return IScore over the sentences with the name, over the article, and their sum; with `vectors` also CSE."""
    systems = {"": ("NIScore", "IScore")} | ({"CSE, ": ("NCSE", "CSE")} if vectors else {})
    recipes: dict[str, Recipe] = {}
    for kind, (narrow, entire) in systems.items():
        for name, scorers in (("narrow", [narrow]), ("entire", [entire]), ("ensemble", [entire, narrow])):
            recipes[kind + name] = Recipe(kind + name, tuple(map(Part, scorers)), tie_break=TIES)
    return recipes


def measure_recipes(
    scored: Mapping[str, tuple[Recipe, Dataset]], label: str, bootstrap: Bootstrap = DEFAULT
) -> list[Row]:
    """Return P@1 and MRR of recipes that were scored separately on the same mentions; `label` names the slice."""
    methods = [from_recipe(recipe, data, name) for name, (recipe, data) in scored.items()]
    data = next(data for _, data in scored.values())
    evaluation = evaluate_scores(data, methods, bootstrap=bootstrap)
    return [replace(row, slice=label) for row in evaluation.rows if row.metric in {"P@1", "MRR"}]
