"""AIDA-CoNLL as the AIDA-CoNLL-YAGO release has it, one token per line.

`-DOCSTART- (1 EU)` begins an article; then come its tokens, with an empty line after each sentence. A token of a
mention has, after tabs: `B` or `I`, the whole mention, the YAGO2 entity (or `--NME--`: nobody), the address of the
Wikipedia page, its number and the Freebase id.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from namesake.articles.article import Article
from namesake.articles.rejects import Reject, Rejects
from namesake.datasets.labelled import Labelled, Occurrence, label, page_title
from namesake.errors import NamesakeError
from namesake.files import open_lines
from namesake.files.lines import lines_of

NOBODY = "--NME--"
DOCUMENT = re.compile(r"-DOCSTART-(?:\s+\((.*)\))?\s*")


@dataclass
class _Document:
    """An article in the making: its text so far, and the mention that is open, if one is: its start and title."""

    id: str
    line: int
    parts: list[str] = field(default_factory=list)
    """The text, a part for each token and what stands before it."""
    size: int = 0
    """How many characters it has."""
    occurrences: list[Occurrence] = field(default_factory=list)
    open: tuple[int, str | None] | None = None

    def append(self, token: str) -> int:
        """Write a token after what is there and tell where it begins."""
        if self._within_sentence:
            self._write(" ")
        self._write(token)
        return self.size - len(token)

    def _write(self, part: str) -> None:
        if part:
            self.parts.append(part)
            self.size += len(part)

    @property
    def _within_sentence(self) -> bool:
        return self.size > 0 and not self.parts[-1].endswith("\n")

    def close(self) -> None:
        """End the open mention where the text ends."""
        if self.open is not None:
            start, title = self.open
            columns = {"split": _split(self.id)}
            self.occurrences.append(Occurrence([(start, self.size)], None, title, None, columns))
        self.open = None

    def end_sentence(self) -> None:
        """Sentences end in a line end; a mention never reaches past one."""
        self.close()
        if self._within_sentence:
            self._write("\n")

    def labelled(self, path: Path) -> Labelled:
        """The article with its mentions."""
        self.close()
        article = Article(self.id, "".join(self.parts).rstrip("\n"))
        return label(article, self.occurrences, f"{path} line {self.line} (article {self.id})")


def read_aida_tsv(path: Path, rejects: Rejects) -> Iterator[Labelled]:
    """The release's articles: tokens joined by spaces, sentences by line ends."""
    document: _Document | None = None
    with open_lines(path) as stream:
        for number, raw in lines_of(stream, path):
            line = _text(raw, path, number)
            start = DOCUMENT.fullmatch(line)
            if start:
                if document is not None:
                    yield document.labelled(path)
                document = _Document(start[1] or str(number), number)
            elif document is None:
                if line.strip():
                    raise NamesakeError(f"{path} line {number}: a token before the first -DOCSTART- line")
            elif not line.strip():
                document.end_sentence()
            elif not _token(document, line.split("\t"), f"{path} line {number}"):
                rejects.add(Reject("a mention whose entity is `null`", str(path), number, document.id))
    if document is None:
        raise NamesakeError(f"{path}: no -DOCSTART- line, so no articles")
    yield document.labelled(path)


def _text(raw: bytes, path: Path, number: int) -> str:
    try:
        return raw.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError as problem:
        raise NamesakeError(f"{path} line {number}: not UTF-8 ({problem.reason})") from None


def _token(document: _Document, columns: list[str], where: str) -> bool:
    """Take one token; False where a mention begins that says nothing about its entity."""
    token, tag = columns[0], columns[1] if len(columns) > 1 else "O"
    if tag in {"B", "O"}:
        document.close()
    elif tag != "I":
        raise NamesakeError(
            f"{where}: the second column is {tag!r}, not B or I; the file of annotations alone holds no text: "
            "join it with CoNLL 2003 by the release's program first"
        )
    elif document.open is None and not _says_nothing(columns):
        raise NamesakeError(f"{where}: {token!r} continues a mention (I), but none is open")
    start = document.append(token)
    if tag != "B":
        return True
    if len(columns) < 4:
        raise NamesakeError(f"{where}: a mention needs token, B, mention and entity; this has {len(columns)} columns")
    if _says_nothing(columns):
        return False
    document.open = (start, _title(columns))
    return True


def _says_nothing(columns: list[str]) -> bool:
    return len(columns) > 3 and columns[3] == "null"


def _title(columns: list[str]) -> str | None:
    """The page a mention links to: by its address, or else by YAGO's name, which is the title with escapes."""
    if columns[3] == NOBODY:
        return None
    address = columns[4] if len(columns) > 4 else ""
    if "/wiki/" in address:
        return page_title(address.partition("/wiki/")[2])
    return page_title(re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), columns[3]))


def _split(document: str) -> str:
    """The release numbers its documents through and marks those for validation and test: `947testa`, `1163testb`."""
    part = re.search(r"\d(testa|testb)\b", document)
    return part[1] if part else "train"
