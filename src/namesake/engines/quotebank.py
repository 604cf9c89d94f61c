"""Quotebank, disambiguated: every quotation with the one who said it, by the articles it stands in or by itself.

A speaker is linked in every article at hand that has the quotation, by its address or the quotation's id, and the
article that is surest decides. Where there is none, the quotation itself and the words of its addresses are the text.
Files of articles are read twice: a quotation stands in many of them and is told once, with one speaker.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, TypeVar

import pyarrow as pa

from namesake.articles.article import Article, Mention
from namesake.articles.builder import MOST_ARTICLES, ArticleBuilder
from namesake.articles.rejects import NoRejects, Reject, Rejects
from namesake.engines.local import link_tables
from namesake.engines.quote_evidence import Answer, Evidence, Votes
from namesake.errors import NamesakeError
from namesake.files import STDIN, check_place, keep_apart, published
from namesake.files.meter import Meter
from namesake.files.several import Paths, several
from namesake.formats.mojibake import mend_apart
from namesake.formats.quotes import Found, Quote, QuotedArticle, nobody, read_quotes
from namesake.kb.names.normalise import normalise
from namesake.linker import Linker
from namesake.names.wildcards import Filled, fill
from namesake.progress import Reporter
from namesake.threads import threads_for

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

Answers = dict[tuple[int, int], Answer]
"""What became of mentions, by the number of a text and the number of the mention in it."""

NOBODY_SPOKE = "no speaker"
SET_ASIDE = "set aside"
STRAY = "an article among quotations, or from standard input: articles are read twice, from files of their own"


@dataclass
class Tally:
    """What a run disambiguated."""

    quotes: int = 0
    linked: int = 0
    by_articles: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


def disambiguate(
    linker: Linker,
    quotes: Paths,
    out: str | Path,
    *,
    articles: Paths = (),
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
    out, paths, texts = Path(out), [Path(path) for path in several(quotes)], [Path(path) for path in several(articles)]
    rejects, reporter = NoRejects() if rejects is None else rejects, reporter or Reporter()
    if out.suffix != ".parquet":
        raise NamesakeError(f"{out}: quotations are written as .parquet")
    keep_apart([out] if rejects.path is None else [out, rejects.path], [*paths, *texts, linker.kb.path])
    check_place(out)
    work = _Quotebank(linker, threads_for(threads), rejects, paths)
    learnt = list(dict.fromkeys([*texts, *work.by_article]))
    with reporter.stage("linking articles"), Meter(learnt) as meter:
        for seen in work.learn(learnt):
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
    """A quotation whose speaker is asked for: what articles say, or else the text of its batch that stands for it."""

    quote: Quote
    speaker: str | None
    surest: Answer | None = None
    articles: int = 0
    text: int = -1


class _Batch:
    """Some texts to link, where they come from, and the quotations that they are about."""

    def __init__(self) -> None:
        self.builder = ArticleBuilder()
        self.origins: list[Found] = []
        self.asked: list[_Asked] = []

    def add(self, article: Article, origin: Found) -> int:
        """Take one more text; returns its number here, which is its id as well."""
        number = len(self.origins)
        self.builder.add(replace(article, id=str(number)))
        self.origins.append(origin)
        return number

    @property
    def full(self) -> bool:
        return self.builder.full or len(self.asked) >= MOST_ARTICLES


class _Quotebank:
    """One run: what articles said of speakers, and the quotations."""

    def __init__(self, linker: Linker, threads: int, rejects: Rejects, quotes: Sequence[Path]) -> None:
        self.linker = linker
        self.threads = threads
        self.rejects = rejects
        self.by_article = dict.fromkeys(path for path in quotes if _by_article(path))
        """Files of articles, in their order."""
        self.tally = Tally()
        self.evidence, self.votes = Evidence(), Votes()
        self.fill = lru_cache(maxsize=1 << 16)(self._fill)

    # articles
    def learn(self, paths: Sequence[Path]) -> Iterator[int]:
        """Link the names of article-centric files, and remember who was meant; yields how many were seen."""
        seen = 0
        for group in _in_lots(self._texts(paths), self.threads):
            given = [batch.builder.articles for batch in group]
            for batch, articles, answers in zip(group, given, self._link(group), strict=True):
                for number, (found, article) in enumerate(zip(batch.origins, articles, strict=True)):
                    self._remember(found, article, answers, number)
                seen += len(articles)
            yield seen
        self.evidence.index()
        self.votes.count()

    def _texts(self, paths: Sequence[Path]) -> Iterator[_Batch]:
        batch = _Batch()
        for path in paths:
            for found in read_quotes(path, Rejects() if path in self.by_article else self.rejects):
                if isinstance(found.record, QuotedArticle):
                    batch.add(self._spelled(found.record.article()), found)
                if batch.full:
                    yield batch
                    batch = _Batch()
        if batch.origins:
            yield batch

    def _remember(self, found: Found, article: Article, answers: Answers, number: int) -> None:
        """Remember who the names of an article mean, and whom it says its quotations are by."""
        record = found.record
        assert isinstance(record, QuotedArticle)
        said = [one for one in record.quotations if one.id]
        self.evidence.place(record.id, [*([record.url] if record.url else []), *(one.id for one in said)])
        for at, mention in enumerate(article.mentions or ()):
            if answer := answers.get((number, at)):
                names = {normalise(mention.name), normalise(record.names[at].name)}
                self.evidence.add(record.id, names, answer)
        if found.file in self.by_article:
            for one in said:
                self.votes.add(one)

    # quotations
    def rows(self, paths: Sequence[Path]) -> Iterator[pa.Table]:
        """Tables of `QUOTES`, a row for each quotation in the order of the files."""
        for group in _in_lots(self._batches(paths), self.threads):
            for batch, answers in zip(group, self._link(group), strict=True):
                yield self._table(batch, answers)

    def _batches(self, paths: Sequence[Path]) -> Iterator[_Batch]:
        batch = _Batch()
        for found in (one for path in paths for one in read_quotes(path, self.rejects)):
            if isinstance(found.record, Quote):
                self._ask(batch, found.record, found)
            else:
                self._ask_within(batch, found.record, found)
            if batch.full:
                yield batch
                batch = _Batch()
        if batch.asked:
            yield batch

    def _ask(self, batch: _Batch, quote: Quote, origin: Found) -> None:
        """A quotation: where no article tells, it and the words of its addresses are the text."""
        if nobody(quote.speaker):
            batch.asked.append(_Asked(quote, None))
            return
        mention = self._mention(Mention(mend_apart(quote.speaker or ""), (), quote.qids or None))
        surest, articles = self.evidence.find(quote, mention.name)
        if surest:
            batch.asked.append(_Asked(quote, mention.name, surest, articles))
            return
        text = "\n".join(
            [mend_apart(quote.quotation), *dict.fromkeys(map(address_words, quote.addresses[:MOST_ADDRESSES]))]
        )
        number = batch.add(Article("", text, date=quote.day, mentions=[mention]), origin)
        batch.asked.append(_Asked(quote, mention.name, text=number))

    def _ask_within(self, batch: _Batch, record: QuotedArticle, found: Found) -> None:
        """Those quotations of an article that no other article is to answer for."""
        if found.file not in self.by_article:
            self.rejects.add(Reject(STRAY, str(found.file), found.line, record.id))
            return
        for said in record.quotations:
            if not said.id:
                self.rejects.add(Reject("a quotation has no quoteID", str(found.file), found.line, record.id))
            elif self.votes.elects(said):
                self._ask(batch, record.quote(said), found)

    def _table(self, batch: _Batch, answers: Answers) -> pa.Table:
        columns: dict[str, list[object]] = {name: [] for name in QUOTES.names}
        for quote, speaker, surest, articles, text in batch.asked:
            if speaker is None:
                answer = Answer(None, None, NOBODY_SPOKE, None)
            else:
                answer = surest or answers.get((text, 0)) or Answer(None, None, SET_ASIDE, None)
            values = {
                "quoteID": quote.id,
                "quotation": mend_apart(quote.quotation),
                "speaker": speaker,
                "context": None if speaker is None else "articles" if surest else "quotation",
                "articles": articles,
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
    def _link(self, batches: list[_Batch]) -> Iterator[Answers]:
        """What became of each mention of each batch, by the number of its text and its own."""
        tables, aside = [batch.builder.table() for batch in batches], Rejects(most=sys.maxsize)
        linked = link_tables(self.linker, tables, self.threads, rejects=aside)
        for batch, (_, links) in zip(batches, linked, strict=True):
            for reject in aside.first:
                origin = batch.origins[int(reject.article_id or 0)]
                self.rejects.add(Reject(reject.reason, str(origin.file), origin.line, origin.record.id))
            aside.first.clear()
            self.rejects.unread_dates.update(aside.unread_dates)
            aside.unread_dates.clear()
            answers: Answers = {}
            counted: Counter[str] = Counter()
            columns = (links.column(name).to_pylist() for name in ("article_id", *Answer._fields))
            for article, *answer in zip(*columns, strict=True):
                answers[int(article), counted[article]] = Answer(*answer)
                counted[article] += 1
            yield answers


def _by_article(path: Path) -> bool:
    """Whether a file has articles in it, by its first record; standard input cannot be read twice."""
    if str(path) == STDIN:
        return False
    first = next(read_quotes(path, Rejects()), None)
    return first is not None and isinstance(first.record, QuotedArticle)


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
