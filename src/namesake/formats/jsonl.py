"""Articles from JSON lines: our plain layout, and Quotebank's article-centric one, told apart by their fields.

Plain: `{"id", "text", "title"?, "date"?, "mentions"?: [{"name", "spans": [[start, end]], "candidates"?: [qid]}]}`
with spans in characters; a mention may also be a name alone, which is meant wherever it stands in the text.
Quotebank: `{"articleID", "content", "title", "date", "names": [{"name", "ids", "offsets"}]}` with offsets in
whitespace tokens. Fields we do not know are carried through as `extra`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from namesake.articles.article import Article, Mention
from namesake.articles.builder import MOST_ARTICLES, MOST_BYTES, ArticleBuilder
from namesake.articles.check import located
from namesake.articles.days import date_text
from namesake.articles.rejects import Reject, Rejects
from namesake.files import open_lines
from namesake.files.compressed import Stream
from namesake.files.lines import MOST_LINE, Block, bounded_lines, cut_lines, too_long
from namesake.formats.scanned import scan

Fields = dict[str, msgspec.Raw]
Place = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]


class PlainMention(msgspec.Struct):
    """A mention as plain JSON has it."""

    name: str
    spans: list[tuple[Place, Place]] = []
    candidates: list[str] | None = None


class QuotebankName(msgspec.Struct, rename={"spans": "offsets", "candidates": "ids"}):
    """A speaker candidate as Quotebank has it."""

    name: str
    spans: list[tuple[Place, Place]] = []
    candidates: list[str] | None = None


@dataclass(frozen=True)
class Layout:
    """What an article's fields are called, and how its mentions are written."""

    id: str
    text: str
    mentions: str
    decoder: msgspec.json.Decoder[Any]
    """Reads the field of mentions."""
    token_spans: bool = False
    """Spans count whitespace tokens, not characters."""


LAYOUTS = {
    "articleID": Layout(
        "articleID", "content", "names", msgspec.json.Decoder(list[QuotebankName] | None), token_spans=True
    ),
    "id": Layout("id", "text", "mentions", msgspec.json.Decoder(list[PlainMention | str] | None)),
}
"""The layouts by the field that holds the id; a line with none of these fields is told what plain JSON lacks."""

_fields = msgspec.json.Decoder(Fields)
_text = msgspec.json.Decoder(str)
_optional = msgspec.json.Decoder(str | None)
_id = msgspec.json.Decoder(str | int)
_date = msgspec.json.Decoder(str | int | None)
_null = msgspec.Raw(b"null")
MOST_SLOWLY = 1024  # lines that are read one by one where the scanner gets nowhere
BLOCK = 8 << 20  # bytes of text that are scanned at a time
BOM = b"\xef\xbb\xbf"  # what some editors write before the first line
BLANKS = b" \t\r\n"  # what JSON allows around a value: less than Python takes for white space


def read_jsonl(path: Path, rejects: Rejects, most_articles: int, most_line: int) -> Iterator[pa.Table]:
    """Tables of articles from a file of JSON lines; a line that is no article, or too long, is set aside."""
    with open_lines(path) as stream:
        if path.is_file():
            yield from read_blocks(
                cut_lines(cast(Stream, stream), BLOCK, most_line), path, rejects, most_articles, most_line
            )
        else:  # lines as they come: a block would wait until it is full
            lines = bounded_lines(stream, most_line)
            yield from LineReader(path, rejects, most_articles, most_line).tables(lines)


def read_blocks(
    blocks: Iterable[Block],
    path: Path,
    rejects: Rejects,
    most_articles: int = MOST_ARTICLES,
    most_line: int = MOST_LINE,
    *,
    places: Places | None = None,
) -> Iterator[pa.Table]:
    """Tables of articles from blocks of whole JSON lines.

    A compiled scanner reads them. A line that it does not expect goes to msgspec, which reads it or says what is wrong.

    Args:
        blocks: the lines.
        path: the file that they come from.
        rejects: takes the lines that are no articles.
        most_articles: the size of a table; those with long articles are smaller.
        most_line: how many bytes a line may have.
        places: told the line of every article.
    """
    reader = LineReader(path, rejects, most_articles, most_line, places)
    parts = Parts(most_articles)
    for before, block, size in blocks:
        start, lines, slowly = 0, before, 1
        while start < size:
            scanned = scan(block, start, size, parts.left, most_line)
            if scanned.table.num_rows:
                parts.add(reader.builder)
                parts.add_table(scanned.table)
            if places is not None:
                places.note_all(scanned.table.column("id"), scanned.places + lines + 1)
            start, lines = scanned.end, lines + scanned.lines
            if scanned.is_stuck:
                slowly = 1 if scanned.lines > slowly else min(2 * slowly, MOST_SLOWLY)
                for _ in range(slowly):
                    end = block.find(b"\n", start, size) + 1 or size
                    lines += 1
                    reader.take(lines, bytes(block[start:end]))
                    start = end
                    if start == size or parts.is_full(reader.builder):
                        break
            if parts.is_full(reader.builder):
                yield parts.table(reader.builder)
    if parts.tables or reader.builder.articles:
        yield parts.table(reader.builder)


class Places:
    """The line of each article, by its id: looked up where an article that could be read cannot be linked."""

    def __init__(self) -> None:
        self._single: dict[str, int] = {}
        self._tables: list[tuple[pa.ChunkedArray, npt.NDArray[np.int64]]] = []

    def note(self, article: str, line: int) -> None:
        """An article stands on this line."""
        self._single[article] = line

    def note_all(self, articles: pa.ChunkedArray, lines: npt.NDArray[np.int64]) -> None:
        """Articles stand on these lines."""
        self._tables.append((articles, lines))

    def line_of(self, article: str) -> int | None:
        """The line of an article; None where there is none of this id."""
        for articles, lines in self._tables:
            at = pc.index(articles, article).as_py()
            if at >= 0:
                return int(lines[at])
        return self._single.get(article)


class Parts:
    """Tables, some of the scanner's, some of a builder's, in the order of their lines: joined when there is enough."""

    def __init__(self, most_articles: int) -> None:
        self.most_articles = most_articles
        self.tables: list[pa.Table] = []
        self.rows = 0
        self.size = 0

    @property
    def left(self) -> int:
        """How many articles the table may still take."""
        return max(self.most_articles - self.rows, 1)

    def is_full(self, builder: ArticleBuilder) -> bool:
        """Whether it is time for a table, with what the builder holds."""
        return self.rows + len(builder.articles) >= self.most_articles or self.size + builder.size >= MOST_BYTES

    def add(self, builder: ArticleBuilder) -> None:
        """Take what the builder holds."""
        if builder.articles:
            self.add_table(builder.table())

    def add_table(self, table: pa.Table) -> None:
        """Take a table."""
        self.tables.append(table)
        self.rows += table.num_rows
        self.size += table.nbytes

    def table(self, builder: ArticleBuilder) -> pa.Table:
        """All of it in one table; the next begins."""
        self.add(builder)
        table = self.tables[0] if len(self.tables) == 1 else pa.concat_tables(self.tables).combine_chunks()
        self.tables, self.rows, self.size = [], 0, 0
        return table


class LineReader:
    """Reads lines one by one, as Python objects: slower than the scanner, and it knows everything that JSON can be."""

    def __init__(
        self,
        path: Path,
        rejects: Rejects,
        most_articles: int = MOST_ARTICLES,
        most_line: int = MOST_LINE,
        places: Places | None = None,
    ) -> None:
        self.path = str(path)
        self.rejects = rejects
        self.most_line = most_line
        self.places = places
        self.builder = ArticleBuilder(most_articles)

    def tables(self, lines: Iterable[tuple[int, bytes | None]]) -> Iterator[pa.Table]:
        """Tables of articles from numbered lines; None is one that is too long."""
        for number, line in lines:
            self.take(number, line)
            if self.builder.full:
                yield self.builder.table()
        if self.builder.articles:
            yield self.builder.table()

    def take(self, number: int, line: bytes | None) -> None:
        """Add the article of a line to the builder, or set the line aside."""
        if line is None or len(line) - line.endswith(b"\n") > self.most_line:
            self.rejects.add(Reject(f"not an article: {too_long(self.most_line)}", self.path, number))
            return
        record = (line if number > 1 else line.removeprefix(BOM)).strip(BLANKS)
        if not record:
            return
        try:
            article = read_article(record)
            self.builder.add(article)
            if self.places is not None:
                self.places.note(article.id, number)
        except (msgspec.MsgspecError, ValueError, KeyError, RecursionError) as problem:
            reason = f"no `{problem.args[0]}`" if isinstance(problem, KeyError) else f"not an article: {problem}"
            self.rejects.add(Reject(reason, self.path, number, id_of(record)))


def read_article(line: bytes) -> Article:
    """One article from one line of JSON."""
    try:
        return _article(_fields.decode(line))
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        if isinstance(problem, msgspec.ValidationError):
            raise
        mended = _without_surrogates(line)
        if mended is None:
            raise
        return _article(_fields.decode(mended))


def id_of(line: bytes) -> str | None:
    """The id of a line that is no article, where it has one."""
    try:
        fields = _fields.decode(line)
        return str(_id.decode(fields[_layout(fields).id]))
    except (msgspec.MsgspecError, ValueError, KeyError, RecursionError):
        return None


def _layout(fields: Fields) -> Layout:
    return next((layout for field, layout in LAYOUTS.items() if field in fields), LAYOUTS["id"])


def _article(fields: Fields) -> Article:
    """The article of a line; fields that its layout does not know are carried along."""
    layout = _layout(fields)
    mentions = _decode(layout.decoder, fields, layout.mentions)
    identifier = str(_decode(_id, fields, layout.id, required=True))
    text = _decode(_text, fields, layout.text, required=True)
    return Article(
        id=identifier,
        text=text,
        title=_decode(_optional, fields, "title"),
        date=date_text(_decode(_date, fields, "date")),
        mentions=None if mentions is None else _mentions(mentions, text),
        extra=msgspec.json.encode(fields).decode() if fields else None,
        token_spans=layout.token_spans,
    )


def _mentions(given: list[PlainMention | QuotebankName | str], text: str) -> list[Mention]:
    """The mentions of an article; a name alone is meant wherever it stands in the text."""
    named = iter(located(text, [one for one in given if isinstance(one, str)]))
    return [next(named) if isinstance(one, str) else Mention(one.name, one.spans, one.candidates) for one in given]


def _decode(decoder: msgspec.json.Decoder[Any], fields: Fields, name: str, required: bool = False) -> Any:
    """One field, taken out of `fields`, so that what remains is what we do not know."""
    raw = fields.pop(name) if required else fields.pop(name, _null)
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as problem:
        raise msgspec.ValidationError(f"`{name}`: {problem}") from None


def _without_surrogates(line: bytes) -> bytes | None:
    """The line with lone surrogates and bytes that are no UTF-8 replaced, or None if it is no JSON even so."""
    try:
        value = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
