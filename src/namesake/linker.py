"""The linker: articles in, one link per mention out, Arrow at both ends."""

from __future__ import annotations

import datetime
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from namesake.arrays import from_stream, one_chunk
from namesake.articles.article import Mention
from namesake.articles.check import check_articles
from namesake.articles.days import unread_dates, warn_of_unread
from namesake.articles.one_text import text_table
from namesake.articles.pieces import pieces
from namesake.articles.rejects import Reject, Rejects
from namesake.articles.schema import ARTICLES
from namesake.batch import Batch, without
from namesake.compiling import announce_compiling
from namesake.drawing.meanings import percent
from namesake.drawing.notebook import facts_html
from namesake.drawing.results import Explanation, Links
from namesake.errors import NamesakeError, must_be
from namesake.explain import EXPLANATION, explain, mentions_called, no_such_name
from namesake.kb.records import found_all
from namesake.kb.store import KB
from namesake.links import candidate_column, doubt_column, link_columns, link_rows
from namesake.machine import NAMESAKE_KB, from_home, named_kb
from namesake.names.sources import KINDS, Detector, source_of
from namesake.recipe import Recipe
from namesake.scoring import Scored, refuse_lacking, score
from namesake.text import Lexicon


@dataclass(frozen=True)
class Link:
    """One name of one text and whom it means: `qid` is None where nobody fits."""

    name: str
    spans: list[tuple[int, int]]
    qid: str | None
    label: str | None
    description: str | None
    score: float | None
    margin: float | None
    tie_break: str | None
    best: str | None
    confidence: float | None
    known: float | None
    reason: str | None
    title_spans: list[tuple[int, int]] = field(default_factory=list)
    """Where the name stands in the title, if there is one."""
    runner_up: str | None = None
    """The second candidate, if there is one."""


class Linker:
    """Links names to the entities of a KB as a recipe says.

    `kb` is a KB or its folder, by default the one that the variable NAMESAKE_KB names; `recipe` a recipe, the name of a
    shipped one, or a `.toml` file; `threshold` overrides the confidence at which the recipe answers: from 0 to 1, or
    one that it has calibrated, such as "p95", from which 95 of 100 answers are right. `mentions` says where names come
    from in articles that have no `mentions`: "names" finds those of the KB, "spacy:MODEL" takes the people of a spaCy
    model, a `Detector` its own, and with "given" there are none.

    The result for an article depends on the article, the KB and the recipe alone: not on the batch it comes
    in nor on the number of threads. One linker may be used from many threads.
    """

    def __init__(
        self,
        kb: KB | str | Path | None = None,
        recipe: Recipe | str | Path = "default",
        threshold: float | str | None = None,
        mentions: str | Detector = "names",
    ) -> None:
        must_be(kb, (KB, str, Path, None), "kb", "a KB or the folder of one")
        must_be(recipe, (Recipe, str, Path), "recipe", "a Recipe, the name of one that ships, or a .toml file")
        must_be(threshold, (int, float, str, None), "threshold", 'a number from 0 to 1, or such as "p95"')
        if not callable(mentions):
            must_be(mentions, (str,), "mentions", KINDS)
        announce_compiling()
        self.mentions = mentions
        self._source = source_of(mentions)
        self.kb = kb if isinstance(kb, KB) else KB.open(_folder(kb))
        self.recipe = recipe if isinstance(recipe, Recipe) else Recipe.load(recipe)
        if threshold is not None:
            self.recipe = self.recipe.at(threshold)
        refuse_lacking(self.recipe, self.kb)
        self._own = threading.local()

    def __reduce__(self) -> tuple[type[Linker], tuple[str, Recipe, None, str | Detector]]:
        """Another process opens the KB anew, by its folder."""
        return Linker, (str(self.kb.path.absolute()), self.recipe, None, self.mentions)

    def __repr__(self) -> str:
        return f"<Linker: {self.kb.manifest.people:,} people of {self.kb.path}, recipe {self.recipe.name}>"

    @property
    def metadata(self) -> dict[str, str]:
        """What made the links, as texts for a file's metadata: the KB's manifest, the recipe, another detector."""
        manifest = self.kb.manifest
        facts: dict[str, object] = {
            "path": self.kb.path.name,
            "created": manifest.created,
            "dump_date": manifest.dump_date,
        }
        facts |= {"dumps": manifest.dumps, "entities": manifest.entities, "words": manifest.words_how}
        made_by = {"kb": msgspec.json.encode(facts).decode(), "recipe": self.recipe.toml()}
        return made_by if self.mentions == "names" else made_by | {"mentions": self.detector}

    @property
    def detector(self) -> str:
        """What finds names in articles without mentions, in words that are the same in every process."""
        return re.sub(r" at 0x[0-9a-fA-F]+", "", str(self.mentions))

    def link(
        self, articles: Any, scores: bool = False, rejects: Rejects | None = None, most: int | None = None
    ) -> pa.Table:
        """Links of a table of articles: one row per mention, in the order of the input.

        `articles` is an Arrow table, or whatever has the Arrow stream interface, such as a pandas or Polars frame, with
        the columns `id` and `text`; it may have `title`, `date` and `mentions` (`schema.ARTICLES`). `mentions` may be
        lists of names: a name is meant wherever it stands in the text. Other columns are carried along in `extra`.
        `link_frame` takes columns of other names. With `scores`, links also have every candidate and its parts; with
        `most`, only so many of each mention, the best first. An article that cannot be linked goes to `rejects`, or
        raises an error that names it where there are none. Articles whose date cannot be read are linked as undated;
        `rejects.unread_dates` counts them, or one warning where there are no `rejects`.
        """
        articles = check_articles(_with_unknown(from_stream(articles)))
        if rejects is None:
            warn_of_unread(articles.column("date"))
        else:
            rejects.unread_dates.update(unread_dates(articles.column("date")))
        links = [self._link(piece, scores, rejects, most) for piece in pieces(articles)]
        return pa.concat_tables(links) if links else self.nothing(scores)

    def nothing(self, scores: bool = False) -> pa.Table:
        """A table of no links, with the columns that links have, with `scores` or without."""
        return self._link(ARTICLES.empty_table(), scores, None)

    def link_text(
        self,
        text: str,
        mentions: Sequence[str | Mention] | None = None,
        date: str | datetime.date | None = None,
        title: str | None = None,
    ) -> Links[Link]:
        """Links of one text, as a list that notebooks draw.

        `mentions` are the names to link: a name is meant wherever it stands in the text, a `Mention` has spans and
        perhaps candidates; without `mentions`, names are found in the text and its title. `date` is the text's, such
        as 2016-12-26, or a `datetime.date`.
        """
        table = text_table(text, mentions, date, title)
        rows = link_rows(self._scored(table, None)[1])
        names = [each.name for each in fields(Link) if each.name not in ("spans", "title_spans")]
        links = [
            Link(
                **{name: row[name] for name in names},
                spans=[(start, end) for start, end in row["spans"]],
                title_spans=[(start, end) for start, end in row["title_spans"] or ()],
            )
            for row in rows
        ]
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
        """Why the names of one text are linked as they are, to be drawn by a notebook or taken apart as a table.

        With `name`, only mentions that are called so in some place; one that the text has not is an error. Of each
        mention the `most` best candidates are explained, and "none of them".
        """
        table = text_table(text, None, date, title)
        scored = self._scored(table, None)[1]
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
        """What a notebook shows: the KB and the recipe."""
        manifest, rule = self.kb.manifest, self.recipe.decide
        facts = [
            ("KB", f"{self.kb.path.name}: {manifest.people:,} people, {manifest.statements:,} statements"),
            ("dump", manifest.dump_date or ""),
            ("recipe", f"{self.recipe.name}: {self.recipe.description}"),
            ("answers", f"from a confidence of {percent(rule.threshold)}" if rule else "always the best candidate"),
            ("names", "found in the text" if self.mentions == "names" else self.detector),
        ]
        return facts_html("Namesake linker", facts)

    def explain(self, articles: Any, name: str | None = None) -> pa.Table:
        """Why: one row for each candidate and part (`explain.EXPLANATION`), "none of them" included.

        `articles` are as for `link`; with `name`, only mentions that are called so in some place are explained.
        """
        articles = check_articles(_with_unknown(from_stream(articles)))
        warn_of_unread(articles.column("date"))
        tables = [explain(self._scored(piece, None)[1], name) for piece in pieces(articles)]
        return pa.concat_tables(tables) if tables else EXPLANATION.empty_table()

    def naming(self, articles: pa.Table, name: str, rejects: Rejects | None = None) -> pa.Table:
        """Those of the articles in which somebody is called `name`."""
        found = [ARTICLES.empty_table()]
        for piece in pieces(check_articles(articles)):
            linked, scored = self._scored(piece, rejects)
            own = {int(scored.batch.article[m]) for m in mentions_called(scored, name)}
            found.append(linked.take(pa.array(sorted(own), pa.int64())))
        return pa.concat_tables(found)

    def scored(self, articles: pa.Table) -> Scored:
        """The scores of all candidates in a table of articles, for those who go on from there: not cut into pieces."""
        return self._scored(check_articles(articles), None)[1]

    def _scored(self, articles: pa.Table, rejects: Rejects | None) -> tuple[pa.Table, Scored]:
        """The articles that can be linked, and the scores of their candidates."""
        self.kb.check_unchanged()
        batch = Batch(articles, self.kb, self._lexicon(), self.recipe, self._source)
        faults = batch.faults()
        if faults:
            self._set_aside(batch, faults, rejects)
            articles = without(articles, set(faults))
            batch = Batch(articles, self.kb, self._lexicon(), self.recipe, self._source)
        scored = score(batch, self.recipe)
        self.kb.check_unchanged()
        return articles, scored

    def _link(self, articles: pa.Table, scores: bool, rejects: Rejects | None, most: int | None = None) -> pa.Table:
        articles, scored = self._scored(articles, rejects)
        links = link_columns(scored, one_chunk(articles.column("extra")))
        if not scores:
            return links
        with_candidates = links.append_column(*candidate_column(scored, most))
        return with_candidates.append_column(*doubt_column(scored)) if scored.doubts else with_candidates

    def _lexicon(self) -> Lexicon:
        """This thread's own lexicon: what it remembers is not shared."""
        if not hasattr(self._own, "lexicon"):
            self._own.lexicon = self.kb.lexicon()
        lexicon: Lexicon = self._own.lexicon
        return lexicon

    def _set_aside(self, batch: Batch, faults: dict[int, str], rejects: Rejects | None) -> None:
        for article, reason in sorted(faults.items()):
            reject = Reject(reason, article_id=batch.ids[article].as_py())
            if rejects is None:
                raise NamesakeError(f"{reject}; mend it, or pass `rejects` to go on without it")
            rejects.add(reject)


def _folder(kb: str | Path | None) -> Path:
    """Where the KB is that was named, in the call or by the variable."""
    found = named_kb() if kb is None else from_home(kb)
    if found is None:
        raise NamesakeError(f"which KB? Give its folder, as in Linker('kb'), or set {NAMESAKE_KB} to it")
    return found


def _with_unknown(articles: object) -> Any:
    """A table of articles with the columns that we do not know in `extra`."""
    if isinstance(articles, pa.Table) and not set(articles.column_names) <= set(ARTICLES.names):
        from namesake.formats.parquet import with_extra

        return with_extra(articles)
    return articles
