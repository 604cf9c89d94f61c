"""Error analysis: every wrong link next to the right entity, with the evidence for each and the paper's error sources.

Rules assign the error sources. The other mistakes are for manual review: the table has one row per mistake.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from namesake.analysis.evaluate import Corpus, in_kb, labelled_corpus
from namesake.arrays import Bool
from namesake.articles.article import Span
from namesake.articles.rejects import Rejects
from namesake.drawing.evidence import number, steps
from namesake.drawing.text import excerpt
from namesake.drawing.theme import PARTS
from namesake.evaluation.gold import Dataset, in_split, read_gold
from namesake.evaluation.measure import linked
from namesake.evaluation.reports.report import TEXTS, Report, Section, View
from namesake.kb.store import KB
from namesake.linker import Linker
from namesake.printable import one_line
from namesake.recipe import Recipe
from namesake.scorers.evidence_shown import statement_source
from namesake.text import sentences

DOMAIN = ("P106", "P101", "P641")  # occupation, field of work, sport
SIMILAR, UNKNOWN, ABSENT = "similar domain", "gold entity not in the KB", "key property absent from the KB"
DECOY, UNASSIGNED = "decoy mention", "to be assigned by hand"
SOURCES = (UNKNOWN, SIMILAR, ABSENT, DECOY, UNASSIGNED)


def mistakes(
    articles: str | Path,
    gold: str | Path | None,
    kb: KB | str | Path,
    recipe: Recipe | str | Path = "default",
    *,
    split: str | None = None,
    known: bool = False,
    rejects: Rejects | None = None,
) -> Report:
    """Show every wrong link next to the right entity, with the evidence for each and the likely error source.

    Refused mentions whose best candidate is wrong are listed as well, and marked as refused.

    Args:
        articles: a file of articles, or of labelled text, whose labels with a QID are linked and compared.
        gold: a file with `articleID`, `name`, `gold` (the index of a candidate, a QID or null); None: labelled text.
        kb: the KB to link them with.
        recipe: a recipe, the name of a shipped recipe or a `.toml` file.
        split: use only gold of this split.
        known: leave out gold entities that are not in the KB, which no linker can find.
        rejects: collects articles that cannot be used; without it, the first of them is an error.
    """
    if gold is None:
        corpus, truth = labelled_corpus(articles, kb)
    else:
        corpus, truth = Corpus(articles, kb, rejects), in_split(read_gold(Path(gold)), split)
    linker = Linker(corpus.kb, recipe)
    data = corpus.dataset(linker.recipe, truth)
    intro = [f"{articles} linked with {linker.recipe.name}, against {gold or 'its labels'}."]
    measured = data.answerable
    if known:
        measured = measured & in_kb(data.gold_qids, corpus.kb)
        left_out = int(data.answerable.sum() - measured.sum())
        intro.append(f"Mentions left out because their gold entity is not in the KB: {left_out}.")
    links = linked("links", data)
    wrong = list(_mistakes(linker, corpus, data, measured & ~links.right))
    refused = int((measured & links.right & (links.right_with_nil == 0)).sum())
    return mistakes_report(wrong, int(measured.sum()), intro, refused)


@dataclass(frozen=True)
class Side:
    """The gold entity or the chosen candidate: its evidence."""

    qid: str
    label: str
    description: str
    score: float
    parts: dict[str, float]  # the contribution of each part; their sum is the score
    words: dict[str, list[Span]]  # matched words, normalised, with their spans in the article
    shared: list[str]
    statements: frozenset[tuple[str, str]]  # the id of the property and the label of the value of each
    known: bool = True
    text: str = ""

    def as_written(self, words: Iterable[str]) -> list[str]:
        """Return matched words as the article writes them at their first occurrence."""
        first = {word: (self.words[word] or [(0, 0)])[0] for word in words}
        return list(dict.fromkeys(one_line(self.text[start:end]) or word for word, (start, end) in first.items()))

    def __str__(self) -> str:
        """The entity, its score and the contributions of the parts."""
        if not self.known:
            return f"{self.qid}: not in the KB"
        rows = ({"part": name, "role": "part", "contribution": value} for name, value in self.parts.items())
        parts = ", ".join(f"{PARTS.get(step.part, step.part)} {step.written}" for step in steps(rows))
        score = number(self.score).removeprefix("+") + (f" = {parts}" if parts else "")
        return f"{self.qid} {self.label or '?'} ({self.description or 'no description'}): {score}"

    def beyond(self, other: "Side") -> str:
        """Return the words and statements that only this side matched."""
        words = self.as_written(word for word in self.words if word not in other.words)
        return "; ".join([", ".join(words), *(s for s in self.shared if s not in other.shared)]).strip("; ")


class Context(NamedTuple):
    """The sentences of an article, and the spans of this name and of the other names."""

    sentences: Sequence[Span]
    own: Sequence[Span]
    others: Sequence[Span]

    def around(self, span: Span) -> tuple[bool, bool]:
        """Return whether the sentence of a span contains this name, and whether it contains another."""
        low, high = next((s for s in self.sentences if s[0] <= span[0] < s[1]), span)
        own, others = (any(low <= start < high for start, _ in spans) for spans in (self.own, self.others))
        return own, others


@dataclass(frozen=True)
class Mistake:
    """A mention whose first candidate is not the gold entity: a wrong link, or a refusal."""

    article: str
    name: str
    gold: Side
    chosen: Side
    context: Context
    tie_break: str | None = None
    sentence: str = ""  # the first sentence with the name, which is marked (`drawing.text`)
    refused: str | None = None  # why it has no answer (`decide.REASONS`); None if it is linked to the chosen candidate

    @cached_property
    def sources(self) -> list[str]:
        """The error sources of the paper that apply, by rule, and UNKNOWN, which the paper lacks."""
        found = []
        if any(statement[0] in DOMAIN for statement in self.gold.statements & self.chosen.statements):
            found.append(SIMILAR)
        if not self.gold.known:
            found.append(UNKNOWN)
        elif not any(self.context.around(span)[0] for spans in self.gold.words.values() for span in spans):
            found.append(ABSENT)  # no word in the sentences with the name matches the gold entity
        if self.decoys:
            found.append(DECOY)
        return found or [UNASSIGNED]

    @cached_property
    def decoys(self) -> list[str]:
        """Words that only the chosen candidate matched, if most of them are in sentences about other mentions."""
        extra = {word: spans for word, spans in self.chosen.words.items() if word not in self.gold.words}
        elsewhere = [
            word for word, spans in extra.items() if all(self.context.around(span) == (False, True) for span in spans)
        ]
        return elsewhere if 2 * len(elsewhere) > len(extra) else []

    @property
    def row(self) -> dict[str, Any]:
        """The mistake as a row of `tables.json`."""
        row: dict[str, Any] = {name: getattr(self, name) for name in ("article", "name", "sentence", "tie_break")}
        row |= {"categories": self.sources, "refused": self.refused, "decoys": self.chosen.as_written(self.decoys)}
        fields = ("qid", "known", "label", "description", "score", "parts")
        for role, one in (("gold", self.gold), ("chosen", self.chosen)):
            row[role] = {name: getattr(one, name) for name in fields}
            row[role] |= {"words": one.as_written(one.words), "shared": one.shared}
        return row


def _mistakes(linker: Linker, corpus: Corpus, data: Dataset, asked: Bool) -> Iterator[Mistake]:
    """Explain the flagged mentions, whose first candidate is not the gold one, article by article."""
    articles = pa.concat_tables(corpus.tables)
    place = {identifier: at for at, identifier in enumerate(articles.column("id").to_pylist())}
    flagged = zip(data.table.mentions, data.gold_qids, asked, strict=True)
    wrong = [(place[article], name, qid) for (article, name), qid, flag in flagged if flag]
    for at, name, qid in sorted(wrong, key=lambda one: one[0]):
        article = articles.slice(at, 1)
        rows = linker.explain(article, name).to_pylist()
        entities = [row for row in rows if row["qid"] is not None]  # without NIL
        sides = [row for row in rows if row["qid"] == qid], [r for r in entities if r["rank"] == entities[0]["rank"]]
        [record] = article.select(["id", "text", "title", "mentions"]).to_pylist()
        gold, chosen = (side(linker.kb, some, record["text"]) for some in sides)
        spans = {mention["name"]: mention["spans"] or [] for mention in record["mentions"] or []}
        own = spans.pop(name, [])
        others = [span for places in spans.values() for span in places]
        context = Context(sentences(record["text"], linker.kb.language), own, others)
        sentence, first = "", rows[0]
        if first["spans"]:
            sentence = excerpt(record["text"], first["spans"][0], context.sentences)
        elif first["title_spans"]:
            sentence = excerpt(record["title"], first["title_spans"][0], [(0, len(record["title"]))])
        yield Mistake(record["id"], name, gold, chosen, context, first["tie_break"], sentence, first["reason"])


def side(kb: KB, rows: Sequence[Mapping[str, Any]], text: str) -> Side:
    """Return an entity from its rows of an explanation, with its statements from the KB; `text` is the article's."""
    first, at = rows[0], kb.row(rows[0]["qid"])
    sources = [statement_source(kb, pair) for pair in kb.statements[at].tolist()] if at >= 0 else []
    statements = frozenset((source.property or "", source.value or "") for source in sources)
    parts = [row for row in rows if row["role"] == "part"]
    words: dict[str, list[Span]] = {}
    shared: dict[str, None] = {}
    for match in (match for row in parts for match in row["matches"] or []):
        if match["word"] is not None:
            words.setdefault(match["word"], [(start, end) for start, end in match["spans"]])
        for source in () if match["word"] is not None else match["sources"]:
            what = source["property_label"] or source["property"] or source["source"]
            shared[f"{what}: {source['value']}"] = None
    described = first["label"] or "", first["description"] or "", float(first["score"])
    shares = {row["part"]: float(row["contribution"]) + 0.0 for row in parts}  # + 0.0: a penalty of -0 is 0
    return Side(first["qid"], *described, shares, words, list(shared), statements, at >= 0, text)


def mistakes_report(mistakes: Sequence[Mistake], measured: int, about: Sequence[str], refused: int = 0) -> Report:
    """Return the mistakes by source, and each as a row; `refused` counts refusals whose first candidate is right."""
    counts = [[name, str(sum(name in mistake.sources for mistake in mistakes))] for name in SOURCES]
    header = ["article", "name", "sentence", "outcome", "gold", "chosen"]
    header += ["only gold matched", "only chosen matched", "category"]
    rows = []
    for one in mistakes:
        linked = "linked" if one.refused is None else f"refused ({one.refused}); chosen is the best candidate"
        sides = [str(one.gold), str(one.chosen), one.gold.beyond(one.chosen), one.chosen.beyond(one.gold)]
        rows.append([one.article, one.name, one.sentence, linked, *sides, "; ".join(one.sources)])
    caption = "A mistake may have several sources."
    summary = View("error_sources", "Error sources.", ["source", "mentions"], counts, caption)
    words, marked = range(len(header)), {4: "right", 5: "wrong"}
    table = View("errors", "Mistakes.", header, rows, words=words, qids=marked, kinds=marked, cards=True)
    wrong = [mistake.refused for mistake in mistakes]
    outcome = f"Linked to the wrong entity: {wrong.count(None)} of {measured} answerable mentions."
    if wrong.count(None) < len(wrong) or refused:
        outcome += f" Refused, and the best candidate is wrong: {len(wrong) - wrong.count(None)}."
        outcome += f" Refused, and the best candidate is right (not listed): {refused}."
    section = Section("Mistakes", [TEXTS["error_sources"]], [summary, table])
    data = [mistake.row for mistake in mistakes]
    return Report("Which links are wrong, and why?", [section], data, [*about, outcome], [summary], [outcome])
