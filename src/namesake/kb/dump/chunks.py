"""Stream dumps in constant memory: chunks of whole lines from plain or compressed files, or from standard input."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from namesake.errors import NamesakeError
from namesake.files import STDIN, open_unpacked
from namesake.files.lines import Unpacked, cut_lines, too_long
from namesake.kernels.simd import LANES

CHUNK = 8 << 20
PIECE = 1 << 18  # bytes read at a time, small enough to stay in the processor's cache until they are copied
LONGEST_LINE = 256 << 20


@dataclass(frozen=True)
class Chunk:
    """Some whole lines of a dump."""

    file: str
    first_line: int  # number of its first line in the file, from 1
    lines: int
    text: bytes  # the lines, then at least 64 zero bytes, because the scanner reads ahead
    size: int  # bytes of the lines
    problem: str = ""  # why a line that is too long for a chunk is rejected; the chunk is then empty


def read_chunks(paths: Sequence[Path | str], workers: int, chunk_bytes: int = CHUNK) -> Iterator[Chunk]:
    """The lines of dumps, about `chunk_bytes` at a time; NamesakeError for a damaged file, or one without an entity."""
    for given in (Path(path) for path in paths if str(path) != STDIN):
        if given.is_dir():
            raise NamesakeError(f"{given} is a folder; give the dump file in it")
        if not given.exists():
            raise NamesakeError(f"{given}: no such file; give a Wikidata dump, or - for standard input")
    for path in paths:
        with open_unpacked(path, workers) as source:
            yield from _chunks(source, chunk_bytes)


def _chunks(source: Unpacked, chunk_bytes: int) -> Iterator[Chunk]:
    """The lines of a stream. A line that is too long begins a block, and is left out."""
    line, holds_entity = 0, False
    try:
        for text in cut_lines(io.BufferedReader(source, PIECE), chunk_bytes, LONGEST_LINE, bytes(LANES)):
            size = len(text) - LANES
            end = text.find(b"\n", 0, LONGEST_LINE + 1) + 1 or text.find(b"\n") + 1 or size
            if end > LONGEST_LINE + 1:
                yield Chunk(source.name, line + 1, 1, bytes(LANES), 0, too_long(LONGEST_LINE))
                line, text, size = line + 1, text[end:], size - end
            if size:
                lines = text.count(b"\n") + (text[size - 1] != ord("\n"))
                holds_entity = holds_entity or b"{" in text
                yield Chunk(source.name, line + 1, lines, text, size)
                line += lines
    except NamesakeError as problem:
        raise NamesakeError(f"{problem} It is damaged after line {line:,}: download it again") from None
    if not holds_entity:
        empty = "is empty and " if not line else ""
        raise NamesakeError(f"{source.name} {empty}contains no entity; is it a Wikidata JSON dump?")
