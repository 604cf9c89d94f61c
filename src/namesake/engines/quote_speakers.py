"""Speakers of Quotebank's quotations, linked by the articles that contain the quotation, or by the quotation itself.

A speaker is linked in every given article that has the quotation, found by its URL or the quotation's id. The answer
with the highest confidence wins. Without such an article, the quotation and the words of its URLs are the text.
Files of articles are read twice: many articles contain the same quotation, which gets one row and one speaker.
The answers are stored in flat arrays, because a year of Quotebank has tens of millions of names.
"""

import re
import sys
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from namesake.arrays import UInt64, positions
from namesake.articles.article import Article, Mention
from namesake.articles.builder import MOST_ARTICLES, ArticleBuilder
from namesake.articles.rejects import NoRejects, Reject, Rejects
from namesake.errors import NamesakeError
from namesake.files import STDIN, Paths, check_place, keep_apart, published, several
from namesake.files.lines import Meter
from namesake.formats import quotebank_records
from namesake.formats.quotebank_records import ArticleQuote, Found, Quote, QuotedArticle, mend_apart
from namesake.kb.names.normalise import normalise
from namesake.linker import Linker
from namesake.machine import in_order, threads_for
from namesake.names.wildcards import fill
from namesake.progress import Reporter

ANSWER = ("qid", "confidence", "reason", "best")  # columns of links
Answer = dict[str, Any]


class Pairs:
    """Pairs of 64-bit numbers in flat arrays: all are added one by one, and then looked up by the first number."""

    def __init__(self) -> None:
        self.pairs = array("Q")

    def add(self, key: int, value: int) -> None:
        """Add a pair."""
        self.pairs.extend((key, value))

    @cached_property
    def sorted(self) -> tuple[UInt64, UInt64]:
        """The numbers by which pairs are looked up, ascending, and the others."""
        keys, values = np.frombuffer(self.pairs, np.uint64).reshape(-1, 2).T
        order = np.argsort(keys, kind="stable")
        del self.pairs
        return keys[order], values[order]

    def __getitem__(self, key: int) -> list[int]:
        keys, values = self.sorted
        begin, end = (np.searchsorted(keys, np.uint64(key), side) for side in ("left", "right"))
        found: list[int] = values[begin:end].tolist()
        return found


class Evidence:
    """The links of the names of articles, found by the articles' URLs and the ids of their quotations."""

    def __init__(self) -> None:
        self.articles = Pairs()
        """The hash of an article's id, by the hash of a URL or of a quotation's id."""
        self.rows = Pairs()  # the row of the answer, by the hash of an article and a name in it
        self.answers: list[pa.Table] = []
        self.size = 0

    def add(self, record: QuotedArticle, names: Iterable[Iterable[str]], row: int) -> None:
        """Store where an article is found, and the spellings of its names: rows of the next table from `row` on."""
        article = _key(record.id)
        for key in filter(None, (record.url, *(one.id for one in record.quotations))):
            self.articles.add(_key(key), article)
        for place, spellings in enumerate(names, self.size + row):
            for name in spellings:
                self.rows.add(_key(article, name), place)

    @cached_property
    def table(self) -> pa.Table:
        """All answers."""
        return pa.concat_tables(self.answers).combine_chunks()

    def find(self, quote: Quote, speaker: str) -> tuple[Answer | None, int]:
        """The answer with the highest confidence for a quotation's speaker, and how many articles have one."""
        articles = {article for place in (*quote.addresses, quote.id) for article in self.articles[_key(place)]}
        names = sorted({normalise(speaker), normalise(quote.speaker or "")})
        rows = [[row for name in names for row in self.rows[_key(one, name)][:1]] for one in sorted(articles)]
        found: list[Answer] = [self.table.slice(row, 1).to_pylist()[0] for row in chain.from_iterable(rows)]
        return max(found, key=lambda answer: answer["confidence"] or 0.0, default=None), sum(map(bool, rows))


class Votes:
    """The speakers that articles name for each quotation, and the choice of one of them."""

    def __init__(self) -> None:
        self.votes = {"quote": array("Q"), "speaker": array("Q"), "rank": array("b")}

    def add(self, said: ArticleQuote) -> None:
        """Count the vote of one article."""
        self.votes["quote"].append(_key(said.id))
        self.votes["speaker"].append(_speaker(said.speaker))
        self.votes["rank"].append(0 if said.speaker is None else 2 if said.is_global else 1)

    def count(self) -> None:
        """Choose a speaker for each quotation: one found over all articles, else in one; the most frequent or first."""
        votes = pa.table({name: np.frombuffer(values, values.typecode) for name, values in self.votes.items()})
        votes = votes.append_column("place", pa.array(np.arange(votes.num_rows)))
        ranks = [("rank", "max"), ("place", "count"), ("place", "min")]
        order = [("quote", "ascending"), ("rank_max", "descending"), ("place_count", "descending")]
        speakers = votes.group_by(["quote", "speaker"]).aggregate(ranks).sort_by([*order, ("place_min", "ascending")])
        self.quote_keys, first = np.unique(speakers.column("quote").to_numpy(), return_index=True)
        self.elected = speakers.column("speaker").to_numpy()[first]
        self.asked = np.zeros(len(first), np.bool_)
        del self.votes

    def elects(self, said: ArticleQuote) -> bool:
        """Whether this is the first article that names the chosen speaker of a quotation; true once per quotation."""
        [at] = positions(self.quote_keys, np.array([_key(said.id)], np.uint64))
        if at < 0:
            raise NamesakeError(f"the quotation {said.id} was not in its file before: has the file changed?")
        if self.asked[at] or int(self.elected[at]) != _speaker(said.speaker):
            return False
        self.asked[at] = True
        return True


def _speaker(name: str | None) -> int:
    return _key("" if name is None else normalise(mend_apart(name)))


def _key(*parts: str | int) -> int:
    return int.from_bytes(blake2b("\0".join(map(str, parts)).encode("utf-8", "replace"), digest_size=8).digest())


QUOTES = pa.schema(
    [
        pa.field("quoteID", pa.string(), nullable=False),
        pa.field("quotation", pa.string()),
        pa.field("speaker", pa.string()),  # with lost letters restored
        pa.field("qid", pa.string()),  # null: NIL, or too uncertain
        pa.field("confidence", pa.float64()),
        pa.field("reason", pa.string()),  # why qid is null
        pa.field("best", pa.string()),  # the first candidate, even if it is too uncertain
        pa.field("context", pa.string()),  # what decided: articles, or the quotation alone
        pa.field("articles", pa.int32()),  # how many of them have the quotation with this speaker
        pa.field("date", pa.string()),
        pa.field("numOccurrences", pa.int64()),
        pa.field("phase", pa.string()),
    ]
)

NO_SPEAKER, REJECTED = (dict.fromkeys(ANSWER) | {"reason": reason} for reason in ("no speaker", "rejected"))
STRAY = "an article among quotations, or from standard input: articles are read twice, from files of their own"


@dataclass
class Tally:
    """Counts of a run."""

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
    """Write a Parquet file with one row per quotation: the QID of its speaker, the confidence, or the reason for none.

    Args:
        linker: links the speakers.
        quotes: quotation-centric or article-centric files of Quotebank, plain or compressed.
        out: the Parquet file (`QUOTES`), which appears when the run succeeds.
        articles: article-centric files that contain the articles of the quotations.
        threads: how many threads link; 0 is one per core.
        rejects: receives invalid lines; without it, the first of them is an error.
        reporter: shows progress.
    """
    out, paths, texts = Path(out), [Path(path) for path in several(quotes)], [Path(path) for path in several(articles)]
    rejects, reporter = NoRejects() if rejects is None else rejects, reporter or Reporter()
    if out.suffix != ".parquet":
        raise NamesakeError(f"{out}: quotations are written as .parquet")
    keep_apart([out] if rejects.path is None else [out, rejects.path], [*paths, *texts, linker.kb.path])
    check_place(out)
    run = _Run(linker, threads_for(threads), rejects, paths)
    first = list(dict.fromkeys([*texts, *run.by_article]))
    with reporter.stage("linking articles"), Meter(first) as meter:
        for seen in run.read_articles(first):
            reporter.advance(meter.fraction(), seen, "articles")
    import pyarrow.parquet as pq  # slow to import

    schema = QUOTES.with_metadata({f"namesake.{key}": value for key, value in linker.metadata.items()})
    with (
        published(out) as place,
        pq.ParquetWriter(place, schema) as writer,
        reporter.stage("disambiguating quotations"),
        Meter(paths) as meter,
    ):
        for table in run.rows(paths):
            writer.write_table(table.cast(schema))
            reporter.advance(meter.fraction(), run.tally.quotes, "quotations")
    return run.tally


@dataclass
class _Batch:
    """Texts to link, their records, and the rows of quotations whose speakers they may contain."""

    builder: ArticleBuilder = field(default_factory=ArticleBuilder)
    origins: list[Found] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    """Rows of `QUOTES`, with their answer or else the number of the `text` whose link will be the answer."""

    def add(self, article: Article, origin: Found) -> int:
        """Add one text; returns its number here, which is also its id."""
        number = len(self.origins)
        self.builder.add(replace(article, id=str(number)))
        self.origins.append(origin)
        return number


class _Run:
    """One run: the answers of articles, then the quotations."""

    def __init__(self, linker: Linker, threads: int, rejects: Rejects, quotes: Sequence[Path]) -> None:
        self.linker, self.threads, self.rejects = linker, threads, rejects
        self.by_article = dict.fromkeys(path for path in quotes if _has_articles(path))
        """Files of articles, in their order."""
        self.tally = Tally()
        self.evidence, self.votes = Evidence(), Votes()
        self.fill = lru_cache(maxsize=1 << 16)(partial(fill, linker.kb))

    def read_articles(self, paths: Sequence[Path]) -> Iterator[int]:
        """Link the names of article-centric files and store the answers; yields how many articles were read."""
        seen = 0
        own = {path: Rejects() for path in self.by_article}  # they are read once more
        each = (quotebank_records.read_quotes(path, own.get(path, self.rejects)) for path in paths)
        for batch, articles, first, answers in self._link(_batches(chain.from_iterable(each), self._add_article)):
            for number, (found, article) in enumerate(zip(batch.origins, articles, strict=True)):
                record = found.record
                assert isinstance(record, QuotedArticle)
                both = zip(article.mentions or (), record.names, strict=True)
                names = [{normalise(ours.name), normalise(theirs.name)} for ours, theirs in both]
                self.evidence.add(record, names if number in first else (), first.get(number, 0))
                for one in record.quotations if found.file in self.by_article else ():
                    if one.id:
                        self.votes.add(one)
            self.evidence.answers.append(answers)
            self.evidence.size += answers.num_rows
            seen += len(articles)
            yield seen
        self.votes.count()

    def _add_article(self, batch: _Batch, found: Found) -> None:
        if isinstance(found.record, QuotedArticle):
            article = found.record.article()
            batch.add(replace(article, mentions=[self._mention(one) for one in article.mentions or ()]), found)

    def rows(self, paths: Sequence[Path]) -> Iterator[pa.Table]:
        """Tables of `QUOTES`, one row per quotation in the order of the files."""
        records = chain.from_iterable(quotebank_records.read_quotes(path, self.rejects) for path in paths)
        for batch, _, first, table in self._link(_batches(records, self._add_quotes)):
            answers = table.to_pylist()
            linked = {number: answers[row] for number, row in first.items()}
            for row in batch.rows:
                if "text" in row:
                    row.update(linked.get(row.pop("text"), REJECTED))
                self.tally.quotes += 1
                self.tally.linked += row["qid"] is not None
                self.tally.by_articles += row["articles"] > 0
                if row["reason"]:
                    self.tally.reasons[row["reason"]] += 1
            yield pa.Table.from_pylist(batch.rows, schema=QUOTES)

    def _ask(self, batch: _Batch, quote: Quote, origin: Found) -> None:
        """Add the row of a quotation; without an article, it and the words of its URLs are the text to link."""
        quotation = mend_apart(quote.quotation)
        row = {"quoteID": quote.id, "quotation": quotation, "articles": 0, "date": quote.day, **NO_SPEAKER}
        row |= {"numOccurrences": quote.occurrences, "phase": quote.phase}
        if not quotebank_records.has_no_speaker(quote.speaker):
            mention = self._mention(Mention(mend_apart(quote.speaker or ""), (), quote.candidates or None))
            answer, row["articles"] = self.evidence.find(quote, mention.name)
            row |= {"speaker": mention.name, "context": "articles" if row["articles"] else "quotation"}
            if answer is None:
                words = dict.fromkeys(map(address_words, quote.addresses[:MOST_ADDRESSES]))
                text = Article("", "\n".join([quotation, *words]), date=quote.day, mentions=[mention])
                answer = {"text": batch.add(text, origin)}
            row |= answer
        batch.rows.append(row)

    def _add_quotes(self, batch: _Batch, found: Found) -> None:
        """Ask for the speaker of a quotation, or of those quotations of an article that it represents."""
        record = found.record
        if isinstance(record, Quote):
            self._ask(batch, record, found)
        elif found.file not in self.by_article:
            self.rejects.add(Reject(STRAY, str(found.file), found.line, record.id))
        else:
            for said in record.quotations:
                if not said.id:
                    self.rejects.add(Reject("a quotation has no quoteID", str(found.file), found.line, record.id))
                elif self.votes.elects(said):
                    self._ask(batch, record.quote(said), found)

    def _mention(self, mention: Mention) -> Mention:
        """The mention with lost letters restored, and with the candidates for them if none were given."""
        if "?" not in mention.name:
            return mention
        filled = self.fill(mention.name, tuple(mention.candidates or ()))
        return replace(mention, name=filled.name, candidates=mention.candidates or filled.qids or None)

    def _link(self, batches: Iterable[_Batch]) -> Iterator[tuple[_Batch, list[Article], dict[int, int], pa.Table]]:
        """Each batch with its articles, the first row of each, and the answers for their mentions as a table."""

        def link(batch: _Batch) -> tuple[_Batch, list[Article], Rejects, pa.Table]:
            articles, rejects = batch.builder.articles, Rejects(most=sys.maxsize)
            return batch, articles, rejects, self.linker.link_counted(batch.builder.table(), rejects=rejects).links

        for batch, articles, rejects, links in in_order(link, batches, self.threads):
            for reject in rejects.first:
                origin = batch.origins[int(reject.article_id or 0)]
                self.rejects.add(Reject(reject.reason, str(origin.file), origin.line, origin.record.id))
            self.rejects.unread_dates.update(rejects.unread_dates)
            ids = links.column("article_id").to_pylist()
            first = {int(article): row for row, article in reversed([*enumerate(ids)])}
            yield batch, articles, first, links.select(ANSWER)


def _batches(records: Iterable[Found], add: Callable[[_Batch, Found], None]) -> Iterator[_Batch]:
    batch = _Batch()
    for found in records:
        add(batch, found)
        if batch.builder.full or len(batch.rows) >= MOST_ARTICLES:
            yield batch
            batch = _Batch()
    if batch.origins or batch.rows:
        yield batch


def _has_articles(path: Path) -> bool:
    """Whether the first record of a file is an article. Standard input cannot be read twice."""
    if str(path) == STDIN:
        return False
    first = next(quotebank_records.read_quotes(path, Rejects()), None)
    return first is not None and isinstance(first.record, QuotedArticle)


_WORDS = re.compile(r"[A-Za-z]{2,}(?:[-_+][A-Za-z0-9]+)+")
MOST_ADDRESSES = 8
"""How many URLs of a quotation are used: those of later copies of an article add nothing."""


def address_words(url: str) -> str:
    """The words of a URL, which often contains the headline: `/2015/edward-snowden-director-moves` has four."""
    path = re.split("[?#]", url.partition("://")[2].partition("/")[2], maxsplit=1)[0]
    return re.sub("[-_+]", " ", ". ".join(_WORDS.findall(path)))
