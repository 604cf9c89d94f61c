"""What makes the links wrong: every wrong link next to the right one, with what matched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.analysis.corpus import Corpus
from namesake.articles.rejects import Rejects
from namesake.drawing.excerpt import excerpt
from namesake.evaluation.gold import Dataset, in_split, read_gold
from namesake.evaluation.measures.methods import linked
from namesake.evaluation.reports.errors import Context, Mistake, Side, errors_report, side
from namesake.evaluation.reports.report import Report
from namesake.evaluation.scores import BoolArray
from namesake.kb.records import about
from namesake.kb.store import KB
from namesake.language import Language
from namesake.linker import Linker
from namesake.recipe import Recipe
from namesake.scorers.evidence_shown import statement_source
from namesake.text import sentences


def mistakes(
    articles: str | Path,
    gold: str | Path,
    kb: KB | str | Path,
    recipe: Recipe | str | Path = "default",
    *,
    split: str | None = None,
    known: bool = False,
    rejects: Rejects | None = None,
) -> Report:
    """Show every wrong link next to the right one, with what matched and why it may have gone wrong.

    Refused mentions whose best candidate is wrong are listed as well, and marked as refused.

    Args:
        articles: a file of articles.
        gold: a file with `articleID`, `name`, `gold` (a candidate's index, a QID or null).
        kb: the KB to link them with.
        recipe: a recipe, a shipped recipe's name or a `.toml` file.
        split: only gold of this split.
        known: leave out gold entities that the KB lacks, which no linker could be right about.
        rejects: takes articles that cannot be used; without it, the first of them is an error.
    """
    corpus = Corpus(articles, kb, rejects)
    linker = Linker(corpus.kb, recipe)
    data = corpus.dataset(linker.recipe, in_split(read_gold(Path(gold)), split))
    intro = [f"{articles} linked with {linker.recipe.name}, against {gold}."]
    measured = data.answerable
    if known:
        measured = measured & _known(corpus.kb, data)
        left_out = int(data.answerable.sum() - measured.sum())
        intro.append(f"Mentions left out because the KB lacks their gold entity: {left_out}.")
    links = linked("links", data)
    wrong = list(_mistakes(linker, corpus, data, measured & ~links.right))
    refused = int((measured & links.right & (links.right_with_nil == 0)).sum())
    return errors_report(wrong, int(measured.sum()), intro, refused)


def _known(kb: KB, data: Dataset) -> BoolArray:
    """Mentions whose gold entity the KB has."""
    numbers = [int(qid[1:]) if qid is not None else -1 for qid in data.gold_qids]
    return kb.rows(np.array(numbers, np.int64)) >= 0


def _mistakes(linker: Linker, corpus: Corpus, data: Dataset, asked: BoolArray) -> Iterator[Mistake]:
    """Explain the mentions asked for, whose first candidate is not the gold one."""
    wrong: dict[str, dict[str, str | None]] = {}
    for (article, name), qid, explained in zip(data.table.mentions, data.gold_qids, asked, strict=True):
        if explained:
            wrong.setdefault(article, {})[name] = qid
    for table in corpus.tables:
        for identifier in table.column("id").to_pylist():
            if identifier not in wrong:
                continue
            one = table.filter(pc.equal(table.column("id"), identifier))
            for name, qid in wrong[identifier].items():
                rows = linker.explain(one, name).to_pylist()
                gold = [row for row in rows if row["qid"] == qid]
                people = [row for row in rows if row["qid"] is not None]  # "none of them" is no link
                chosen = [row for row in people if row["rank"] == people[0]["rank"]]
                text = one.column("text")[0].as_py()
                sides = (_side(linker.kb, gold, text), _side(linker.kb, chosen, text))
                context = _context(one, name, linker.kb.language)
                said = _sentence(one, rows[0], context)
                yield Mistake(identifier, name, *sides, context, rows[0]["tie_break"], said, rows[0]["reason"])


def _sentence(article: pa.Table, row: dict[str, Any], context: Context) -> str:
    """The sentence that a name first stands in, or the title where it stands there only."""
    [record] = article.select(["text", "title"]).to_pylist()
    if row["spans"]:
        return excerpt(record["text"], row["spans"][0], context.sentences)
    if row["title_spans"]:
        return excerpt(record["title"], row["title_spans"][0], [(0, len(record["title"]))])
    return ""


def _side(kb: KB, rows: list[dict[str, Any]], text: str) -> Side:
    """A candidate's explanation with its statements from the KB; these also tell who has no description."""
    at = kb.row(rows[0]["qid"])
    if at >= 0:
        rows = [row | {"description": about(kb, at)} for row in rows]
    pairs = kb.statements[at].tolist() if at >= 0 else []
    sources = [statement_source(kb, pair) for pair in pairs]
    return side(rows, [(source.property or "", source.value or "") for source in sources], at >= 0, text)


def _context(article: pa.Table, name: str, language: Language) -> Context:
    """Sentences and names of an article (a table of one row)."""
    spans = {mention["name"]: mention["spans"] or [] for mention in article.column("mentions")[0].as_py() or []}
    own = spans.pop(name, [])
    return Context(sentences(article.column("text")[0].as_py(), language), own, spans)
