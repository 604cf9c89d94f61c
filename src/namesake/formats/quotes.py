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
from typing import Any, NamedTuple

import msgspec

from namesake.articles.article import Article, Mention
from namesake.articles.rejects import Reject, Rejects
from namesake.files import open_lines
from namesake.files.lines import MOST_LINE, bounded_lines, too_long
from namesake.formats.jsonl import BOM, QuotebankName
from namesake.formats.mojibake import mend, mend_apart


def nobody(speaker: str | None) -> bool:
    """Whether this names no speaker: Quotebank calls it "None" where it attributes a quotation to nobody."""
    return (speaker or "").strip().lower() in ("", "none")


_QID = re.compile(r"Q[1-9][0-9]{0,17}")
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

    @property
    def overall(self) -> bool:
        """Whether Quotebank names a speaker by all articles that have the quotation, not by this one alone."""
        return not nobody(self.globalTopSpeaker)

    @property
    def speaker(self) -> str | None:
        """Whom Quotebank finds the most likely to have said it, by all articles or else by this one."""
        speaker = self.globalTopSpeaker if self.overall else self.localTopSpeaker
        return None if nobody(speaker) else speaker


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

    def quote(self, said: Said) -> Quote:
        """One of its quotations, as one on its own."""
        return Quote(
            id=said.id,
            quotation=said.quotation,
            speaker=said.speaker,
            qids=next((one.candidates for one in self.names if one.name == said.speaker), None),
            date=self.date,
            urls=[self.url] if self.url else None,
            phase=self.phase,
        )

    def _around(self) -> str:
        """The quotations with what stands around them."""
        parts = [[one.leftContext, f"“{one.quotation}”", one.rightContext] for one in self.quotations]
        return "\n".join(" ".join(_joined(part) for part in one) for one in parts)


def _joined(context: Any) -> str:
    """A context, which is a text or a list of tokens."""
    return " ".join(map(str, context)) if isinstance(context, list) else str(context or "")


_quote = msgspec.json.Decoder(Quote)
_article = msgspec.json.Decoder(QuotedArticle)


class Found(NamedTuple):
    """A quotation or an article, and where it stands."""

    record: Quote | QuotedArticle
    file: Path
    line: int


def read_quotes(path: Path, rejects: Rejects) -> Iterator[Found]:
    """The quotations of a file, or its articles with their quotations; a line that is neither is set aside.

    So is a candidate that is no QID; those beside it count.
    """
    with open_lines(path) as stream:
        for number, line in bounded_lines(stream):
            if line is None:
                rejects.add(Reject(f"not a quotation: {too_long(MOST_LINE)}", str(path), number))
                continue
            record = line.removeprefix(BOM).strip() if number == 1 else line.strip()
            if not record:
                continue
            try:
                found: Quote | QuotedArticle
                found = _article.decode(record) if b'"articleID"' in record else _quote.decode(record)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
                rejects.add(Reject(f"not a quotation: {problem}", str(path), number))
                continue
            for wrong in _leave_out(found):
                rejects.add(Reject(f"candidate {wrong!r:.80} is no QID", str(path), number, found.id))
            yield Found(found, path, number)


def _leave_out(found: Quote | QuotedArticle) -> list[str]:
    """Leave out what is no QID among the candidates, and return it."""
    if isinstance(found, Quote):
        found.qids, wrong = _told_apart(found.qids)
        return wrong
    left_out = []
    for name in found.names:
        name.candidates, wrong = _told_apart(name.candidates)
        left_out += wrong
    return left_out


def _told_apart(candidates: list[str] | None) -> tuple[list[str] | None, list[str]]:
    """The QIDs among candidates, and the others; where none is a QID, as if none had been given."""
    wrong = [one for one in candidates or () if not _QID.fullmatch(one)]
    if not wrong or candidates is None:
        return candidates, []
    return [one for one in candidates if _QID.fullmatch(one)] or None, wrong
