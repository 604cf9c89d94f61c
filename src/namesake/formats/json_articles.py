"""Articles from files of JSON lines or of one JSON array."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import Int64
from namesake.articles.builder import MOST_ARTICLES, ArticleBuilder, in_tables
from namesake.articles.rejects import Rejects
from namesake.errors import NamesakeError
from namesake.files import kind, open_lines
from namesake.files.lines import MOST_LINE, Block, bounded_lines, cut_lines, read_whole
from namesake.formats.field_names import GUESSES, Reading, shown
from namesake.formats.json_layouts import BLANKS, BOM, INVALID, RecordReader, has_known_layout, object_of

Record = tuple[int, bytes | None]
"""A JSON value with its line, or its place in an array, from 1; None if it is too long."""
FIRST_LINES, FIRST_BYTES = 5, 16 << 20
"""How many lines of a file, and how much of each, are read to find out the names of its fields."""
MOST_SLOWLY = 1024  # lines that are decoded one by one if the scanner cannot read them
BLOCK = 8 << 20  # bytes of text per scan


def read_json(path: Path, rejects: Rejects, most_articles: int, most_line: int, reading: Reading) -> Iterator[pa.Table]:
    """JSON lines, or an array. The compiled scanner reads lines of a known layout from a regular file."""
    is_one_array = reading.format == "json"
    if path.is_file():
        if not is_whole(path, reading):
            with open_lines(path) as stream:
                blocks = cut_lines(stream, BLOCK, most_line)
                yield from read_blocks(blocks, path, rejects, most_articles, most_line)
            return
        start = _first_lines(path)[0]
        is_one_array = kind(path) == ".json" and _is_array(start)
        if not is_one_array and not reading.named:
            _refuse_other_text(path, start)
    records = array_records(path) if is_one_array else line_records(path, most_line)
    reader = RecordReader(path, rejects, most_line, reading)
    articles = (reader.article(number, record) for number, record in records)
    yield from in_tables((article for article in articles if article is not None), most_articles)


def array_records(path: Path) -> Iterator[Record]:
    """Every element of a file that is one JSON array."""
    with open_lines(path) as stream:
        data = read_whole(stream, path).removeprefix(BOM)
    try:
        elements = msgspec.json.decode(data, type=list[msgspec.Raw])
    except INVALID as problem:
        raise NamesakeError(f"{shown(path)}: not a JSON array ({problem})") from None
    for number, element in enumerate(elements, 1):
        yield number, bytes(element)


def line_records(path: Path, most_line: int) -> Iterator[Record]:
    """Every line of a file that is not blank."""
    with open_lines(path) as stream:
        for number, line in bounded_lines(stream, most_line):
            if line is None or line.strip(BLANKS):
                yield number, line


def is_whole(path: Path, reading: Reading) -> bool:
    """Whether a file must be read from its beginning: an array, or lines with other field names than ours."""
    if not path.is_file():
        return False
    lines = _first_lines(path)
    return bool(reading.named) or _have_other_names(lines) or (kind(path) == ".json" and _is_array(lines[0]))


def _is_array(start: bytes) -> bool:
    return start.removeprefix(BOM).lstrip(BLANKS).startswith(b"[")


def _first_lines(path: Path) -> list[bytes]:
    """The first lines that are not blank, or their beginnings; one empty line if there is none."""
    lines: list[bytes] = []
    with open_lines(path) as stream:
        while len(lines) < FIRST_LINES and (line := stream.readline(FIRST_BYTES)):
            if line.removeprefix(BOM).strip(BLANKS):
                lines.append(line)
            if not line.endswith(b"\n"):
                break
    return lines or [b""]


def _have_other_names(lines: list[bytes]) -> bool:
    """Whether the first line has a text, but not our layout: no id, or another name that no other line contradicts."""
    first, *others = map(object_of, lines)
    texts = {name.casefold() for name, value in first.items() if isinstance(value, str)} & set(GUESSES["text"])
    if has_known_layout(first) or not texts:
        return False
    return "text" in texts or not any(map(has_known_layout, others))


def _refuse_other_text(path: Path, line: bytes) -> None:
    """Refuse JSON lines whose text has another name than `text`, and suggest options."""
    names = {name.casefold(): name for name in object_of(line)}
    if "text" in names:
        return
    meant = {what: next((names[one] for one in called if one in names), None) for what, called in GUESSES.items()}
    options = " ".join(f"`{what}={name!r}`" for what, name in meant.items() if name)
    raise NamesakeError(f"{path}: its lines have no `text`; did you mean {options}?")


@dataclass
class Places:
    """The line of each article by its id, for messages about articles that can be read but not linked."""

    lines: dict[str, int] = field(default_factory=dict)
    tables: list[tuple[pa.ChunkedArray, Int64]] = field(default_factory=list)
    """Ids and lines of scanned articles."""

    def line_of(self, article: str) -> int | None:
        """The line of an article; None if the id is unknown."""
        for articles, lines in self.tables:
            at = pc.index(articles, article).as_py()
            if at >= 0:
                return int(lines[at])
        return self.lines.get(article)


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

    The compiled scanner reads them. msgspec decodes a line that the scanner cannot read, or says what is wrong with it.
    `places` receives the line of every article; the other arguments are as for `formats.read_articles`.
    """
    from namesake.formats.json_scanner import scan  # loads kernels that other formats do not need

    reader, builder = RecordReader(path, rejects, most_line), ArticleBuilder(most_articles)
    for before, block, size in blocks:
        start, lines, slowly = 0, before, 1
        while start < size:
            scanned = scan(block, start, size, max(most_articles - builder.rows, 1), most_line)
            if scanned.table.num_rows:
                builder.add_table(scanned.table)
            if places is not None:
                places.tables.append((scanned.table.column("id"), scanned.places + lines + 1))
            start, lines = scanned.end, lines + scanned.lines
            if scanned.is_stuck:
                slowly = 1 if scanned.lines > slowly else min(2 * slowly, MOST_SLOWLY)
                for _ in range(slowly):
                    end = block.find(b"\n", start, size) + 1 or size
                    line, lines = bytes(block[start:end]), lines + 1
                    article = reader.article(lines, None if len(line.removesuffix(b"\n")) > most_line else line)
                    if article is not None:
                        builder.add(article)
                        if places is not None:
                            places.lines[article.id] = lines
                    start = end
                    if start == size or builder.full:
                        break
            if builder.full:
                yield builder.table()
    if builder.tables or builder.articles:
        yield builder.table()
