"""Quotebank, disambiguated: every quotation with the one who said it, by the articles it stands in or by itself.

A speaker is linked in every article at hand that has the quotation, by its address or the quotation's id, and the
article that is surest decides. Where there is none, the quotation itself and the words of its addresses are the text.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from namesake.articles.article import Article, Mention
from namesake.articles.builder import MOST_ARTICLES, ArticleBuilder
from namesake.articles.rejects import NoRejects, Rejects
from namesake.engines.local import link_tables
from namesake.errors import NamesakeError
from namesake.files import keep_apart, kind, published
from namesake.files.meter import Meter
from namesake.formats.mojibake import mend_apart
from namesake.formats.quotes import NO_SPEAKER, Quote, QuotedArticle, read_quotes
from namesake.kb.spelling import normalise
from namesake.linker import Linker
from namesake.machine import cores
from namesake.names.wildcards import Filled, fill
from namesake.progress import Reporter

QUOTES = pa.schema(
    [
        pa.field("quoteID", pa.string(), nullable=False),
        pa.field("quotation", pa.string()),
        pa.field("speaker", pa.string()),  # with letters put back where they were lost
        pa.field("qid", pa.string()),  # null: nobody we know, or nobody we are sure of
        pa.field("confidence", pa.float64()),
        pa.field("reason", pa.string()),  # why qid is null
        pa.field("best", pa.string()),  # the first candidate, also where it is too unsure to be the answer
        pa.field("context", pa.string()),  # what decided: articles, or the quotation alone
        pa.field("articles", pa.int32()),  # how many of them have the quotation with this speaker
        pa.field("date", pa.string()),
        pa.field("numOccurrences", pa.int64()),
        pa.field("phase", pa.string()),
    ]
)
T = TypeVar("T")

NOBODY_SPOKE = "no speaker"
SET_ASIDE = "set aside"


class Answer(NamedTuple):
    """What became of a speaker."""

    qid: str | None
    confidence: float | None
    reason: str | None
    best: str | None


@dataclass
class Tally:
    """What a run disambiguated."""

    quotes: int = 0
    linked: int = 0
    by_articles: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


def disambiguate(
    linker: Linker,
    quotes: Sequence[str | Path],
    out: str | Path,
    *,
    articles: Sequence[str | Path] = (),
    threads: int = 0,
    rejects: Rejects | None = None,
    reporter: Reporter | None = None,
) -> Tally:
    """Write a Parquet file with a row for each quotation: its speaker as a QID, how sure, and why not.

    Args:
        linker: what links the speakers.
        quotes: quotation-centric or article-centric files of Quotebank, plain or compressed.
        out: the Parquet file (`QUOTES`), which appears when all is done.
        articles: article-centric files that have the quotations' articles.
        threads: how many threads link; 0 is one for each core.
        rejects: takes lines that are neither; without it, the first of them is an error.
        reporter: told how far the work is.
    """
    out, paths, texts = Path(out), [Path(path) for path in quotes], [Path(path) for path in articles]
    rejects, reporter = NoRejects() if rejects is None else rejects, reporter or Reporter()
    if kind(out) != ".parquet" or out.suffix != ".parquet":
        raise NamesakeError(f"{out}: quotations are written as .parquet")
    keep_apart([out] if rejects.path is None else [out, rejects.path], [*paths, *texts, linker.kb.path])
    work = _Quotebank(linker, threads or cores(), rejects)
    with reporter.stage("linking articles"), Meter(texts) as meter:
        for seen in work.learn(texts):
            reporter.advance(meter.fraction(), seen, "articles")
    import pyarrow.parquet as pq  # takes a while to load

    metadata = {f"namesake.{key}": value for key, value in linker.metadata.items()}
    with ExitStack() as stack:
        partial = stack.enter_context(published(out))
        writer = stack.enter_context(pq.ParquetWriter(partial, QUOTES.with_metadata(metadata)))
        stack.enter_context(reporter.stage("disambiguating quotations"))
        meter = stack.enter_context(Meter(paths))
        for table in work.rows(paths):
            writer.write_table(table.replace_schema_metadata(metadata))
            reporter.advance(meter.fraction(), work.tally.quotes, "quotations")
    return work.tally


class _Asked(NamedTuple):
    """A quotation whose speaker is asked for, and the mention that stands for him in its batch, if one does."""

    quote: Quote
    speaker: str | None
    article: int
    mention: int


class _Batch:
    """Some texts to link, and the quotations whose speakers they have."""

    def __init__(self) -> None:
        self.builder = ArticleBuilder()
        self.asked: list[_Asked] = []

    def add(self, article: Article) -> int:
        """Take one more text; returns its number here, which is its id as well."""
        number = len(self.builder.articles)
        self.builder.add(replace(article, id=str(number)))
        return number

    @property
    def full(self) -> bool:
        return self.builder.full or len(self.asked) >= MOST_ARTICLES


class _Quotebank:
    """One run: what articles said of speakers, and the quotations."""

    def __init__(self, linker: Linker, threads: int, rejects: Rejects) -> None:
        self.linker = linker
        self.threads = threads
        self.rejects = rejects
        self.tally = Tally()
        self.known = _Known()
        self.fill = lru_cache(maxsize=1 << 16)(self._fill)

    # articles
    def learn(self, paths: Sequence[Path]) -> Iterator[int]:
        """Link the speakers of article-centric files, and remember who was meant; yields how many were seen."""
        seen = 0
        read = (one for path in paths for one in read_quotes(path, self.rejects))
        for found in _in_lots(one for one in read if isinstance(one, QuotedArticle)):
            builder, given = ArticleBuilder(len(found) + 1), []
            for number, one in enumerate(found):
                article = replace(self._spelled(one.article()), id=str(number))
                builder.add(article)
                given.append(article)
            rows = self._link([builder.table()])[0]
            for number, (one, article) in enumerate(zip(found, given, strict=True)):
                addresses = [*([one.url] if one.url else []), *(said.id for said in one.quotations)]
                for at, mention in enumerate(article.mentions or ()):
                    answer = rows.get((number, at))
                    if answer is not None:
                        names = {normalise(mention.name), normalise(one.names[at].name)}
                        self.known.add({_key(address, name) for address in addresses for name in names}, answer)
            seen += len(found)
            yield seen
        self.known.index()

    # quotations
    def rows(self, paths: Sequence[Path]) -> Iterator[pa.Table]:
        """Tables of `QUOTES`, a row for each quotation in the order of the files."""
        batches = self._batches(one for path in paths for one in read_quotes(path, self.rejects))
        for group in _in_lots(batches, self.threads):
            tables = [batch.builder.table() for batch in group]
            for batch, answers in zip(group, self._link(tables), strict=True):
                yield self._table(batch, answers)

    def _batches(self, records: Iterable[Quote | QuotedArticle]) -> Iterator[_Batch]:
        batch = _Batch()
        for record in records:
            if isinstance(record, Quote):
                self._ask(batch, record)
            else:
                self._ask_within(batch, record)
            if batch.full:
                yield batch
                batch = _Batch()
        if batch.asked:
            yield batch

    def _ask(self, batch: _Batch, quote: Quote) -> None:
        """A quotation on its own: it and the words of its addresses are the text."""
        if (quote.speaker or "") in NO_SPEAKER:
            batch.asked.append(_Asked(quote, None, -1, -1))
            return
        mention = self._mention(Mention(mend_apart(quote.speaker or ""), (), quote.qids or None))
        text = "\n".join(
            [mend_apart(quote.quotation), *dict.fromkeys(map(address_words, quote.addresses[:MOST_ADDRESSES]))]
        )
        number = batch.add(Article("", text, date=quote.day, mentions=[mention]))
        batch.asked.append(_Asked(quote, mention.name, number, 0))

    def _ask_within(self, batch: _Batch, record: QuotedArticle) -> None:
        """The quotations of an article: its names are linked together."""
        article = self._spelled(record.article())
        places = {name.name: at for at, name in enumerate(record.names)}
        number = batch.add(article)
        for quote in record.quotes():
            at = places.get(quote.speaker or "", -1)
            if (quote.speaker or "") in NO_SPEAKER:
                batch.asked.append(_Asked(quote, None, -1, -1))
            elif at < 0:
                self._ask(batch, quote)
            else:
                batch.asked.append(_Asked(quote, (article.mentions or ())[at].name, number, at))

    def _table(self, batch: _Batch, answers: dict[tuple[int, int], Answer]) -> pa.Table:
        columns: dict[str, list[object]] = {name: [] for name in QUOTES.names}
        for quote, speaker, article, mention in batch.asked:
            surest, count = self.known.find(quote, speaker) if speaker else (None, 0)
            if speaker is None:
                answer = Answer(None, None, NOBODY_SPOKE, None)
            else:
                answer = surest or answers.get((article, mention)) or Answer(None, None, SET_ASIDE, None)
            values = {
                "quoteID": quote.id,
                "quotation": mend_apart(quote.quotation),
                "speaker": speaker,
                "context": None if speaker is None else "articles" if surest else "quotation",
                "articles": count,
                "date": quote.day,
                "numOccurrences": quote.occurrences,
                "phase": quote.phase,
                **answer._asdict(),
            }
            for name, column in columns.items():
                column.append(values[name])
            self.tally.quotes += 1
            self.tally.linked += answer.qid is not None
            self.tally.by_articles += surest is not None
            if answer.reason:
                self.tally.reasons[answer.reason] += 1
        return pa.table(columns, schema=QUOTES)

    # names
    def _spelled(self, article: Article) -> Article:
        return replace(article, mentions=[self._mention(one) for one in article.mentions or ()])

    def _mention(self, mention: Mention) -> Mention:
        """A mention whose lost letters are put back, and who may be meant if that was not given."""
        if "?" not in mention.name:
            return mention
        filled = self.fill(mention.name, tuple(mention.candidates or ()))
        return replace(mention, name=filled.name, candidates=mention.candidates or filled.qids or None)

    def _fill(self, name: str, candidates: tuple[str, ...]) -> Filled:
        return fill(self.linker.kb, name, list(candidates))

    # links
    def _link(self, tables: list[pa.Table]) -> list[dict[tuple[int, int], Answer]]:
        """What became of each mention of each table, by the number of its article and its own."""
        found = []
        for _, links in link_tables(self.linker, tables, self.threads, rejects=self.rejects):
            answers: dict[tuple[int, int], Answer] = {}
            counted: Counter[str] = Counter()
            columns = (links.column(name).to_pylist() for name in ("article_id", *Answer._fields))
            for article, *answer in zip(*columns, strict=True):
                answers[int(article), counted[article]] = Answer(*answer)
                counted[article] += 1
            found.append(answers)
        return found


class _Known:
    """What articles said of speakers: answers by the hash of an address, or a quotation's id, and a name.

    Flat arrays, 33 bytes for each: a year of Quotebank has tens of millions.
    """

    def __init__(self) -> None:
        self.keys, self.confidence = array("Q"), array("d")
        self.qid, self.best = array("q"), array("q")
        self.reason = array("b")
        self.reasons: list[str | None] = [None]
        self.order, self.sorted = np.empty(0, np.int64), np.empty(0, np.uint64)

    def add(self, keys: Iterable[int], answer: Answer) -> None:
        """Remember an answer under some keys."""
        if answer.reason not in self.reasons:
            self.reasons.append(answer.reason)
        for key in keys:
            self.keys.append(key)
            self.confidence.append(np.nan if answer.confidence is None else answer.confidence)
            self.qid.append(_number(answer.qid))
            self.best.append(_number(answer.best))
            self.reason.append(self.reasons.index(answer.reason))

    def index(self) -> None:
        """Make what was added ready to be found."""
        keys = np.array(self.keys, np.uint64)
        self.order = np.argsort(keys, kind="stable")
        self.sorted = keys[self.order]

    def find(self, quote: Quote, speaker: str) -> tuple[Answer | None, int]:
        """The surest answer for a quotation's speaker, and how many articles have one."""
        if not len(self.sorted):
            return None, 0
        names = {normalise(speaker), normalise(quote.speaker or "")}
        wanted = sorted({_key(address, name) for address in (*quote.addresses, quote.id) for name in names})
        keys = np.array(wanted, np.uint64)
        begins, ends = np.searchsorted(self.sorted, keys), np.searchsorted(self.sorted, keys, "right")
        found = [self._answer(int(at)) for b, e in zip(begins, ends, strict=True) for at in self.order[b:e]]
        surest = max(found, key=lambda answer: answer.confidence or 0.0, default=None)
        return surest, len(found)

    def _answer(self, at: int) -> Answer:
        confidence = self.confidence[at]
        return Answer(
            f"Q{self.qid[at]}" if self.qid[at] >= 0 else None,
            None if np.isnan(confidence) else confidence,
            self.reasons[self.reason[at]],
            f"Q{self.best[at]}" if self.best[at] >= 0 else None,
        )


def _number(qid: str | None) -> int:
    return -1 if qid is None else int(qid[1:])


def _key(address: str, name: str) -> int:
    return int.from_bytes(blake2b(f"{address}\0{name}".encode(), digest_size=8).digest())


_WORDS = re.compile(r"[A-Za-z]{2,}(?:[-_+][A-Za-z0-9]+)+")
_PATH_END = re.compile(r"[?#]")
_BLANKS = str.maketrans("-_+", "   ")
MOST_ADDRESSES = 8
"""Whose words are read: the hundredth copy of an article has nothing new in its address."""


def address_words(url: str) -> str:
    """The words of an address, which often has the headline in it: `/2015/edward-snowden-director-moves` has four."""
    path = _PATH_END.split(url.partition("://")[2].partition("/")[2], maxsplit=1)[0]
    return ". ".join(_WORDS.findall(path)).translate(_BLANKS)


def _in_lots(things: Iterable[T], size: int = MOST_ARTICLES) -> Iterator[list[T]]:
    lot: list[T] = []
    for thing in things:
        lot.append(thing)
        if len(lot) == size:
            yield lot
            lot = []
    if lot:
        yield lot
