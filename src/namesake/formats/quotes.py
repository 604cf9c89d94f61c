"""Quotebank's files: quotations with their speakers, each on its own or gathered by article.

Quotation-centric: `{"quoteID", "quotation", "speaker", "qids", "date"?, "numOccurrences"?, "urls"?, "phase"?, …}`.
Article-centric: `{"articleID", "names": [{"name", "ids", "offsets"}], "quotations": [{"quoteID", "quotation",
"leftContext", "rightContext", "localTopSpeaker", "globalTopSpeaker"}], "content"?, "title"?, "date"?, "url"?}`; where
there is no content, the text around the quotations stands for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from namesake.articles.article import Article, Mention
from namesake.articles.rejects import Reject, Rejects
from namesake.files import open_lines
from namesake.files.lines import MOST_LINE, bounded_lines, too_long
from namesake.formats.jsonl import BOM, QuotebankName
from namesake.formats.mojibake import mend, mend_apart

NO_SPEAKER = ("", "None")
"""What Quotebank calls the speaker of a quotation that it attributes to nobody."""


_ADDRESS = re.compile(r"[a-z]+://[^\s'\"]+")


class Quote(msgspec.Struct, kw_only=True, rename={"id": "quoteID", "occurrences": "numOccurrences"}):
    """A quotation and who said it, as Quotebank has it."""

    id: str
    quotation: str
    speaker: str | None = None
    qids: list[str] | None = None
    date: str | None = None
    occurrences: int | None = None
    urls: Any = None
    phase: str | None = None

    @property
    def addresses(self) -> list[str]:
        """Where it stands: a list, or the text of one as Python writes it."""
        urls = _ADDRESS.findall(self.urls) if isinstance(self.urls, str) else self.urls
        return [url for url in urls if isinstance(url, str)] if isinstance(urls, list) else []

    @property
    def day(self) -> str | None:
        """Its date, which its id begins with."""
        return self.date or (self.id[:10] if self.id[:4].isdecimal() else None)


class Said(msgspec.Struct, rename={"id": "quoteID"}):
    """A quotation within an article."""

    id: str = ""
    quotation: str = ""
    leftContext: Any = ""  # noqa: N815 - Quotebank's name
    rightContext: Any = ""  # noqa: N815
    localTopSpeaker: str | None = None  # noqa: N815
    globalTopSpeaker: str | None = None  # noqa: N815


class QuotedArticle(msgspec.Struct, rename={"id": "articleID"}):
    """An article with the names and the quotations in it."""

    id: str
    content: str | None = None
    title: str | None = None
    date: str | None = None
    url: str | None = None
    phase: str | None = None
    names: list[QuotebankName] = []
    quotations: list[Said] = []

    def article(self) -> Article:
        """As the linker takes it: text, names and their spans, mended."""
        text = self.content if self.content is not None else self._around()
        text = mend(text)
        mentions = [
            Mention(mend_apart(one.name), one.spans if self.content is not None else (), one.candidates)
            for one in self.names
        ]
        return Article(self.id, text, self.title, self.date, mentions, token_spans=self.content is not None)

    def quotes(self) -> list[Quote]:
        """Its quotations, each with the speaker whom Quotebank finds the most likely here."""
        ids = {one.name: one.candidates for one in self.names}
        return [
            Quote(
                id=one.id,
                quotation=one.quotation,
                speaker=(speaker := one.localTopSpeaker or one.globalTopSpeaker),
                qids=ids.get(speaker or ""),
                date=self.date,
                urls=[self.url] if self.url else None,
                phase=self.phase,
            )
            for one in self.quotations
        ]

    def _around(self) -> str:
        """The quotations with what stands around them."""
        parts = [[one.leftContext, f"“{one.quotation}”", one.rightContext] for one in self.quotations]
        return "\n".join(" ".join(_joined(part) for part in one) for one in parts)


def _joined(context: Any) -> str:
    """A context, which is a text or a list of tokens."""
    return " ".join(map(str, context)) if isinstance(context, list) else str(context or "")


_quote = msgspec.json.Decoder(Quote)
_article = msgspec.json.Decoder(QuotedArticle)


def read_quotes(path: Path, rejects: Rejects) -> Iterator[Quote | QuotedArticle]:
    """The quotations of a file, or its articles with their quotations; a line that is neither is set aside."""
    with open_lines(path) as stream:
        for number, line in bounded_lines(stream):
            if line is None:
                rejects.add(Reject(f"not a quotation: {too_long(MOST_LINE)}", str(path), number))
                continue
            record = line.removeprefix(BOM).strip() if number == 1 else line.strip()
            if not record:
                continue
            try:
                yield _article.decode(record) if b'"articleID"' in record else _quote.decode(record)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
                rejects.add(Reject(f"not a quotation: {problem}", str(path), number))
