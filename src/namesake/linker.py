"""The linker: articles in, one link per mention out, as Arrow tables."""

from __future__ import annotations

import datetime
import math
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec
import numpy as np
import pyarrow as pa

from namesake.arrays import arrow_numbers, from_stream, one_chunk
from namesake.articles.article import Mention
from namesake.articles.builder import check_articles, pieces, text_table
from namesake.articles.days import unread_dates, warn_of_unread
from namesake.articles.rejects import NoRejects, Reject, Rejects
from namesake.articles.schema import ARTICLES
from namesake.batch import Batch, Query
from namesake.compiling import announce_compiling
from namesake.decisions.lookup import Decisions, OfRows
from namesake.errors import NamesakeError, must_be, warn
from namesake.files import Paths, several
from namesake.kb.records import found_all
from namesake.kb.store import KB
from namesake.kinds import all_kinds, kind_counts, parse_kinds
from namesake.machine import NAMESAKE_KB, from_home, keep_freed_memory, named_kb
from namesake.names.mentions import Source, faults
from namesake.names.sources import KINDS, Detector, source_of
from namesake.parts import Part
from namesake.recipe import Recipe
from namesake.scoring import Scored, link_columns, link_rows, refuse_lacking, refuse_unkept, score, score_columns

if TYPE_CHECKING:  # functions that draw and explain import what a command that links files does not need
    from namesake.drawing.text import Explanation, Links


@dataclass(frozen=True)
class Link:
    """One name of one text and its entity: `qid` is None for NIL ("not in the knowledge base")."""

    name: str
    spans: list[tuple[int, int]]
    qid: str | None
    kind: str | None
    """The kind of the entity, such as place."""
    label: str | None
    description: str | None
    score: float | None
    margin: float | None
    tie_break: str | None
    best: str | None
    confidence: float | None
    probability_known: float | None
    """The probability that the KB has the entity; the column `known` of link files."""
    reason: str | None
    title_spans: list[tuple[int, int]] = field(default_factory=list)
    """Where the name is in the title, if there is one."""
    runner_up: str | None = None
    """The second candidate, if there is one."""

    @property
    def known(self) -> float | None:
        """The former name of `probability_known`."""
        warn("Link.known is now called Link.probability_known", DeprecationWarning)
        return self.probability_known


class Linked(NamedTuple):
    """Links of a table of articles, and the articles that could be linked; the others are rejected."""

    links: pa.Table
    articles: pa.Table

    @property
    def counts(self) -> dict[str, int]:
        """The numbers of articles, of mentions, and of mentions with a QID."""
        mentions, nil = self.links.num_rows, self.links.column("qid").null_count
        return {"articles": self.articles.num_rows, "mentions": mentions, "linked": mentions - nil}


class Linker:
    """Links names to the entities of a KB with a recipe.

    The result for an article depends only on the article, the KB and the recipe, not on other articles or the number of
    threads. One linker may be used from many threads.

    Args:
        kb: a KB or its folder, by default the value of the environment variable NAMESAKE_KB.
        recipe: a recipe, the name of a shipped one, or a `.toml` file.
        threshold: the confidence for an answer, from 0 to 1, or the name of a calibrated one such as "p95", from which
            95 of 100 answers are right; by default the recipe's.
        mentions: how to find names in articles that list no mentions: "names" (built-in detector), "spacy:MODEL", a
            `Detector`, or "given" (link listed mentions only).
        kinds: the kinds of entities to link to, such as "people,places"; None for all. Entities of other kinds still
            compete for names: a mention of one has no `qid`, and the reason "another kind".
        prior: what is added to the log-odds of own entities of the KB (`namesake kb add`).
        decisions: files of decisions of people (docs/review.md), in the order in which they apply.
    """

    def __init__(
        self,
        kb: KB | str | Path | None = None,
        recipe: Recipe | str | Path = "default",
        threshold: float | str | None = None,
        mentions: str | Detector = "names",
        kinds: str | Iterable[str] | None = None,
        prior: float = 0.0,
        decisions: Decisions | Paths = (),
    ) -> None:
        must_be(kb, (KB, str, Path, None), "kb", "a KB or the folder of one")
        must_be(recipe, (Recipe, str, Path), "recipe", "a Recipe, the name of one that ships, or a .toml file")
        must_be(threshold, (int, float, str, None), "threshold", 'a number from 0 to 1, or such as "p95"')
        if not callable(mentions):
            must_be(mentions, (str,), "mentions", KINDS)
        announce_compiling()
        keep_freed_memory()
        self.mentions = mentions
        if kb is None and (kb := named_kb()) is None:
            raise NamesakeError(f"which KB? Give its folder, as in Linker('kb'), or set {NAMESAKE_KB} to it")
        self.kb = kb if isinstance(kb, KB) else KB.open(from_home(kb))
        self.recipe = Recipe.load(recipe)
        if threshold is not None:
            self.recipe = self.recipe.at(threshold)
        if not math.isfinite(prior):
            raise NamesakeError(f"`prior={prior}`: must be a number")
        if prior:
            own = Part(scorer="OwnEntity", weight=prior, above=None if prior >= 0 else 0.0, fixed=True)
            others = (part for part in self.recipe.parts if part.scorer != own.scorer)
            self.recipe = self.recipe.replace(parts=(*others, own))
        refuse_lacking(self.recipe, self.kb)
        self.kinds = None if kinds is None else parse_kinds(kinds)
        refuse_unkept(self.kinds, self.kb)
        self._source = source_of(mentions, self.kb.kinds)
        self.decisions = decisions if isinstance(decisions, Decisions) else None
        if self.decisions is None and several(decisions):
            self.decisions = Decisions(cast("Paths", decisions), self.kb)
        self._own = threading.local()

    def __reduce__(self) -> tuple[type[Linker], tuple[Any, ...]]:
        """Another process opens the KB by its folder; the prior is part of the recipe."""
        folder = str(self.kb.path.absolute())
        return Linker, (folder, self.recipe, None, self.mentions, self.kind_names, 0.0, self.decisions or ())

    def with_decisions(self, decisions: Paths, say: Callable[[str], None] = warn) -> Linker:
        """The same linker with more files of decisions; `say` receives messages about them."""
        other, files = copy(self), [] if self.decisions is None else self.decisions.files
        other.decisions = Decisions([*files, *several(decisions)], self.kb, say)
        return other

    def reopened(self) -> Linker:
        """The same linker with the KB that is in the folder now."""
        kb = KB.open(self.kb.path.absolute())
        decisions = () if self.decisions is None else Decisions(self.decisions.files, kb)
        return Linker(kb, self.recipe, None, self.mentions, self.kind_names, decisions=decisions)

    def __repr__(self) -> str:
        return f"<Linker: {kind_counts(self.kb.manifest.kinds)} of {self.kb.path}, recipe {self.recipe.name}>"

    @property
    def metadata(self) -> dict[str, str]:
        """The origin of links for a file's metadata: the KB's manifest, the recipe, and another detector."""
        manifest = self.kb.manifest
        facts: dict[str, object] = {"path": self.kb.path.name, "created": manifest.created}
        facts |= {"dump_date": manifest.dump_date, "dumps": manifest.dumps}
        facts |= {"entities": manifest.entities, "words": manifest.words_how}
        made_by = {"kb": msgspec.json.encode(facts).decode(), "recipe": self.recipe.toml()}
        made_by |= {} if self.mentions == "names" else {"mentions": self.detector}
        made_by |= {} if self.decisions is None else {"decisions": self.decisions.digest}
        return made_by | ({} if self.kinds is None else {"kinds": self.kind_names or ""})

    @property
    def kind_names(self) -> str | None:
        """The value of `kinds` in its one spelling, such as "people,places"; None for all."""
        return None if self.kinds is None else ",".join(all_kinds()[number].plural for number in self.kinds)

    @property
    def detector(self) -> str:
        """The value of `mentions` as a text that is the same in every process."""
        return re.sub(r" at 0x[0-9a-fA-F]+", "", str(self.mentions))

    def link(
        self, articles: Any, scores: bool = False, rejects: Rejects | None = None, most: int | None = None
    ) -> pa.Table:
        """Links of a table of articles: one row per mention, in the order of the input.

        Args:
            articles: an Arrow table, or an object with the Arrow stream interface such as a pandas or Polars frame. It
                has the columns `id` and `text`, and may have `title`, `date` and `mentions` (`schema.ARTICLES`).
                `mentions` may be lists of names: a name is linked wherever it is in the text. Other columns are copied
                to `extra`. `link_frame` accepts other names of columns.
            scores: also return every candidate with its parts.
            rejects: collects articles that cannot be linked; without it, such an article raises an error. It also
                counts dates that cannot be read; without it, one warning reports them.
            most: with `scores`, the number of candidates per mention, best first.
        """
        return self.link_counted(articles, scores, rejects, most).links

    def link_counted(
        self, articles: Any, scores: bool = False, rejects: Rejects | None = None, most: int | None = None
    ) -> Linked:
        """Like `link`, and the articles that could be linked."""
        articles = _checked(articles, rejects)
        links, read = [], [articles.slice(0, 0)]
        for piece in pieces(articles):
            scored = self.scored(piece, rejects=rejects)
            links.append(_table(scored, scores, most))
            read.append(scored.batch.table)
        return Linked(pa.concat_tables(links) if links else self.empty_links(scores), pa.concat_tables(read))

    def empty_links(self, scores: bool = False) -> pa.Table:
        """A table without rows that has the columns of `link`, with `scores` or without."""
        return _table(self.scored(ARTICLES.empty_table()), scores, None)

    def link_text(
        self,
        text: str,
        mentions: Sequence[str | Mention] | None = None,
        date: str | datetime.date | None = None,
        title: str | None = None,
    ) -> Links[Link]:
        """Links of one text, as a list that notebooks can display.

        Args:
            text: the text.
            mentions: the names to link, each wherever it is in the text, or `Mention` objects with spans and
                candidates. Without it, the detector finds names in the text and its title.
            date: the date of the text, such as 2016-12-26, or a `datetime.date`.
            title: the title of the text.
        """
        from namesake.drawing.text import Links

        table = text_table(text, mentions, date, title)
        rows = link_rows(self.scored(table))
        renamed = ({"probability_known": row["known"], "title_spans": row["title_spans"] or []} for row in rows)
        links = [msgspec.convert(row | new, Link) for row, new in zip(rows, renamed, strict=True)]
        [article] = table.select(["text", "title"]).to_pylist()
        return Links(links, **article, rows=rows)

    def explain_text(
        self,
        text: str,
        name: str | None = None,
        date: str | datetime.date | None = None,
        title: str | None = None,
        most: int = 8,
    ) -> Explanation:
        """The explanation of the links of one text, which notebooks can display.

        Args:
            text: the text.
            name: explain only mentions with this name; an error if there is none.
            date: the date of the text.
            title: the title of the text.
            most: the number of candidates per mention, best first; NIL is always explained.
        """
        from namesake.drawing.text import Explanation
        from namesake.explain import explain, mentions_called, no_such_name

        table = text_table(text, None, date, title)
        scored = self.scored(table)
        links = link_rows(scored)
        called = mentions_called(scored, name)
        if name is not None and not called:
            raise NamesakeError(no_such_name(name, (link["name"] for link in links)))
        links = [links[m] for m in called]
        rows = explain(scored, name, most)
        people = found_all(self.kb, (qid for qid in rows.column("qid").to_pylist() if qid is not None))
        [article] = table.select(["text", "title"]).to_pylist()
        return Explanation(**article, links=links, table=rows, people=people)

    def _repr_html_(self) -> str:
        """The KB and the recipe for notebooks."""
        from namesake.drawing.theme import notebook_style, percent, render

        manifest, rule = self.kb.manifest, self.recipe.decide
        facts = [
            ("KB", f"{self.kb.path.name}: {kind_counts(manifest.kinds)}, {manifest.statements:,} statements"),
            ("dump", manifest.dump_date or ""),
            ("recipe", f"{self.recipe.name}: {self.recipe.description}"),
            ("answers", f"from a confidence of {percent(rule.threshold)}" if rule else "always the best candidate"),
            ("names", "found in the text" if self.mentions == "names" else self.detector),
        ]
        return render("drawing/notebook.html", style=notebook_style(), heading="Namesake linker", facts=facts)

    def explain(self, articles: Any, name: str | None = None) -> pa.Table:
        """One row for each candidate and part (`explain.EXPLANATION`), including NIL.

        `articles` are as for `link`; with `name`, only mentions with this name are explained.
        """
        from namesake.explain import EXPLANATION, explain

        tables = [explain(self.scored(piece), name) for piece in pieces(_checked(articles))]
        return pa.concat_tables(tables) if tables else EXPLANATION.empty_table()

    def naming(self, articles: pa.Table, name: str, rejects: Rejects | None = None) -> pa.Table:
        """The articles that contain a mention with this name."""
        from namesake.explain import mentions_called

        found = [ARTICLES.empty_table()]
        for piece in pieces(check_articles(articles)):
            scored = self.scored(piece, rejects=rejects)
            own = {int(scored.batch.article[m]) for m in mentions_called(scored, name)}
            found.append(scored.batch.table.take(pa.array(sorted(own), pa.int64())))
        return pa.concat_tables(found)

    def scored(
        self,
        articles: pa.Table,
        recipe: Recipe | None = None,
        table_rows: Sequence[Query] | None = None,
        source: Source | None = None,
        of_rows: OfRows | None = None,
        rejects: Rejects | None = None,
    ) -> Scored:
        """The scores of all candidates in a table of articles, in one batch.

        Args:
            articles: the articles.
            recipe: another recipe than the linker's.
            table_rows: the row of each article, if the articles are rows of a table.
            source: finds the mentions of articles that list none, instead of the linker's detector.
            of_rows: the decisions about each row.
            rejects: collects articles that cannot be linked, which the batch then lacks.
        """
        self.kb.check_unchanged()
        if not hasattr(self._own, "lexicon"):  # one for each thread, as its cache is not shared
            self._own.lexicon = self.kb.lexicon()
        articles, given = check_articles(articles), (self.kb, self._own.lexicon, recipe or self.recipe)
        batch = Batch(articles, *given, source or self._source, table_rows, self.decisions, of_rows)
        if wrong := faults(batch.mentions, articles.column("mentions")):
            rejects = NoRejects() if rejects is None else rejects
            for article, reason in sorted(wrong.items()):
                rejects.add(Reject(reason, article_id=batch.ids[article].as_py()))
            kept = np.isin(np.arange(articles.num_rows), list(wrong), invert=True)
            batch = Batch(articles.filter(arrow_numbers(kept)), *given, self._source, None, self.decisions)
        scored = replace(score(batch, recipe or self.recipe), kinds=self.kinds)
        self.kb.check_unchanged()
        return scored


def _table(scored: Scored, scores: bool, most: int | None) -> pa.Table:
    """The links of scored articles, with `scores` also their candidates and doubts."""
    links = link_columns(scored, one_chunk(scored.batch.table.column("extra")))
    for column in score_columns(scored, most) if scores else ():
        links = links.append_column(*column)
    return links


def _checked(given: object, rejects: Rejects | None = None) -> pa.Table:
    """A table of articles whose other columns are copied to `extra`; dates that cannot be read are reported."""
    articles: Any = from_stream(given)
    if isinstance(articles, pa.Table) and not set(articles.column_names) <= set(ARTICLES.names):
        from namesake.formats.arrow_articles import with_extra

        articles = with_extra(articles)
    articles = check_articles(articles)
    if rejects is None:
        warn_of_unread(articles.column("date"))
    else:
        rejects.unread_dates.update(unread_dates(articles.column("date")))
    return articles
