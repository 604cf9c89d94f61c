"""Links as an SQLite database for Datasette and other SQL tools: articles, mentions, candidates, entities.

`sqlite_tables.sql` creates the tables, and `sqlite_indexes.sql` indexes them when they are complete.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from namesake.errors import NamesakeError

if TYPE_CHECKING:
    import sqlite3

MOST_CANDIDATES = 5
"""Candidates of each name that are stored, unless all scores are asked for."""
OF_LINKS = ("name", "qid", "label", "kind", "confidence", "known", "reason", "best", "runner_up", "score", "margin")
"""Columns of links that mentions have, too."""
Row = dict[str, Any]
Write = Callable[[pa.Table, pa.Table | None], None]
"""Writes a table of links, and the articles that they are from if the format stores them."""
Describe = Callable[[Iterable[str]], Mapping[str, Any]]
"""Gives the entities with some QIDs that a KB has, with `label`, `description`, `kind` and `url`."""


@contextmanager
def sqlite_writer(partial: Path, metadata: dict[str, str], describe: Describe) -> Iterator[Write]:
    """A function that writes links with candidates, and the articles they are from, to a new database."""
    import sqlite3  # other formats do not need it

    scripts = Path(__file__).parent
    try:
        with closing(sqlite3.connect(partial, isolation_level=None)) as database:
            tables = (scripts / "sqlite_tables.sql").read_text()
            database.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {tables} BEGIN;")
            database.executemany("INSERT INTO about VALUES (?, ?)", metadata.items())
            yield _Tables(database, describe).add
            database.executescript(f"{(scripts / 'sqlite_indexes.sql').read_text()} PRAGMA optimize;")  # commits first
    except sqlite3.Error as problem:
        raise NamesakeError(f"the SQLite database cannot be written ({problem})") from None


class _Tables:
    """The tables of a database: rows are numbered in the order of the articles."""

    def __init__(self, database: sqlite3.Connection, describe: Describe) -> None:
        self.database, self.describe = database, describe
        self.articles = self.links = 0
        self.entities: set[str] = set()

    def add(self, links: pa.Table, articles: pa.Table | None) -> None:
        """Add a table of links, and the articles that they are from; without articles, there are no links."""
        if articles is None:
            return
        read = articles.select(["id", "title", "date", "text", "extra"]).to_pylist()
        numbers = {article["id"]: self.articles + at for at, article in reversed([*enumerate(read, 1)])}
        rows = ((self.articles + at, *article.values()) for at, article in enumerate(read, 1))
        self._insert("articles", 6, rows)
        self.articles += len(read)
        for batch in links.drop_columns("extra").to_batches(4096):
            some = batch.to_pylist()
            self._add_entities(some)
            numbered = [*enumerate(some, self.links + 1)]
            self._insert("mentions", 18, (row for at, link in numbered for row in _mentions(at, link, numbers)))
            self._insert("candidates", 6, (row for at, link in numbered for row in _candidates(at, link)))
            self.links += len(some)

    def _insert(self, table: str, columns: int, rows: Iterator[Sequence[object]]) -> None:
        self.database.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})", rows)

    def _add_entities(self, links: list[Row]) -> None:
        """Add the entities that are new: answers and candidates. Of those that the KB lacks, only the QID is known."""
        qids = {one["qid"] for link in links for one in link["candidates"]}
        new = sorted((qids | {link[name] for link in links for name in ("best", "runner_up")}) - self.entities - {None})
        self.entities.update(new)
        known = self.describe(new)
        fields = ("label", "description", "kind", "url")
        about = ([getattr(known.get(qid), name, None) for name in fields] for qid in new)
        self._insert("entities", 6, ((None, qid, *texts) for qid, texts in zip(new, about, strict=True)))


def _mentions(number: int, link: Row, articles: dict[str, int]) -> Iterator[tuple[object, ...]]:
    """One row per occurrence of a name, those in the title first."""
    article = articles[link["article_id"]], link["article_id"]
    for in_title, spans in ((1, link["title_spans"]), (0, link["spans"])):
        for start, end in spans or ():
            yield None, number, *article, start, end, in_title, *(link[name] for name in OF_LINKS)


def _candidates(number: int, link: Row) -> Iterator[tuple[object, ...]]:
    """The candidates of a name, best first."""
    sure, best = link["confidence"], link["score"]
    ordered = sorted(link["candidates"], key=lambda one: (one["qid"] != link["best"], -one["score"]))
    for rank, one in enumerate(ordered, 1):
        likely = None if sure is None else sure * math.exp(min(one["score"] - best, 0.0))
        parts = {name: value for name, value in one["parts"].items() if value}
        yield number, rank, one["qid"], one["score"], likely, msgspec.json.encode(parts).decode()
