"""AIDA-CoNLL in the format of the AIDA-CoNLL-YAGO release, one token per line; docs/datasets.md has the columns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from namesake.articles.article import Article
from namesake.articles.rejects import Reject, Rejects
from namesake.datasets.labelled_article import LabelledArticle, Occurrence, label, page_title
from namesake.errors import NamesakeError
from namesake.files import open_lines
from namesake.files.lines import lines_of

NIL, UNKNOWN = "--NME--", "null"
DOCUMENT = re.compile(r"-DOCSTART-(?:\s+\((.*)\))?\s*")


@dataclass
class _Document:
    """An article under construction: `open` is the start and the title of the current mention."""

    id: str
    line: int
    parts: list[str] = field(default_factory=list)
    size: int = 0
    occurrences: list[Occurrence] = field(default_factory=list)
    open: tuple[int, str | None] | None = None

    def append(self, part: str) -> None:
        """Add text: a token after a space, or the end of a sentence."""
        inside = self.size > 0 and not self.parts[-1].endswith("\n")
        if part == "\n":
            part = "\n" if inside else ""
        elif inside:
            part = f" {part}"
        if part:
            self.parts.append(part)
            self.size += len(part)

    def close(self) -> None:
        """End the current mention where the text ends."""
        if self.open is not None:
            start, title = self.open
            split = re.search(r"\d(testa|testb)\b", self.id)  # such as `947testa`; the other articles are for training
            columns: dict[str, str | None] = {"split": split[1] if split else "train"}
            self.occurrences.append(Occurrence([(start, self.size)], None, title, None, columns))
        self.open = None

    def labelled(self, path: Path) -> LabelledArticle:
        """Return the finished article."""
        self.close()
        article = Article(self.id, "".join(self.parts).rstrip("\n"))
        return label(article, self.occurrences, f"{path} line {self.line} (article {self.id})")


def read_aida_tsv(path: Path, rejects: Rejects) -> Iterator[LabelledArticle]:
    """Read the release's articles: tokens are joined by spaces, sentences by line ends."""
    document: _Document | None = None
    with open_lines(path) as stream:
        for number, raw in lines_of(stream, path):
            where = f"{path} line {number}"
            try:
                line = raw.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as problem:
                raise NamesakeError(f"{where}: not UTF-8 ({problem.reason})") from None
            if start := DOCUMENT.fullmatch(line):
                if document is not None:
                    yield document.labelled(path)
                document = _Document(start[1] or str(number), number)
            elif document is None:
                if line.strip():
                    raise NamesakeError(f"{where}: a token before the first -DOCSTART- line")
            elif not line.strip():
                document.close()
                document.append("\n")
            elif not _add_token(document, line.split("\t"), where):
                rejects.add(Reject("a mention whose entity is `null`", str(path), number, document.id))
    if document is None:
        raise NamesakeError(f"{path}: no -DOCSTART- line, so no articles")
    yield document.labelled(path)


def _add_token(document: _Document, columns: list[str], where: str) -> bool:
    """Add one token; return False if it begins a mention without information about its entity."""
    token, tag = columns[0], columns[1] if len(columns) > 1 else "O"
    entity = columns[3] if len(columns) > 3 else None
    if tag in {"B", "O"}:
        document.close()
    elif tag != "I":
        remedy = "join the file of annotations alone with CoNLL 2003 by the release's program first"
        raise NamesakeError(f"{where}: the second column is {tag!r}, not B or I; {remedy}")
    elif document.open is None and entity != UNKNOWN:
        raise NamesakeError(f"{where}: {token!r} continues a mention (I), but none is open")
    document.append(token)
    if tag == "B":
        if entity is None:
            raise NamesakeError(f"{where}: token, B, mention and entity are needed, not {len(columns)} columns")
        if entity == UNKNOWN:
            return False
        document.open = (document.size - len(token), None if entity == NIL else _title(columns))
    return True


def _title(columns: list[str]) -> str:
    """The title of the page: from its address, else from YAGO's name, which is the title with escapes."""
    address = columns[4] if len(columns) > 4 else ""
    if "/wiki/" in address:
        return page_title(address.partition("/wiki/")[2])
    return page_title(re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), columns[3]))
