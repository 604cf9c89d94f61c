"""Records of Quotebank: quotations with their speakers, each on its own or grouped by article.

Quotation-centric: `{"quoteID", "quotation", "speaker", "qids", "date"?, "numOccurrences"?, "urls"?, "phase"?, …}`.
Article-centric: `{"articleID", "names": [{"name", "ids", "offsets"}], "quotations": [{"quoteID", "quotation",
"leftContext", "rightContext", "localTopSpeaker", "globalTopSpeaker"}], "content"?, "title"?, "date"?, "url"?}`; without
content, the quotations and their contexts are the text.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from namesake.articles.article import Article, Mention
from namesake.articles.rejects import Reject, Rejects
from namesake.files import open_lines
from namesake.files.lines import MOST_LINE, bounded_lines, too_long
from namesake.formats.json_articles import BOM, INVALID, QuotebankName
from namesake.formats.mojibake import mend, mend_apart

_QID = re.compile(r"Q[1-9][0-9]{0,17}")
_ADDRESS = re.compile(r"[a-z]+://[^\s'\"]+")


def has_no_speaker(speaker: str | None) -> bool:
    """Whether a quotation has no speaker: Quotebank then writes "None"."""
    return (speaker or "").strip().lower() in ("", "none")


class Quote(msgspec.Struct, kw_only=True, rename={"id": "quoteID", "occurrences": "numOccurrences"}):
    """A quotation and its speaker."""

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
        """Its URLs: stored as a list, or as the text of a Python list."""
        urls = _ADDRESS.findall(self.urls) if isinstance(self.urls, str) else self.urls
        return [url for url in urls if isinstance(url, str)] if isinstance(urls, list) else []

    @property
    def day(self) -> str | None:
        """Its date, with which its id begins."""
        return self.date or (self.id[:10] if self.id[:4].isdecimal() else None)


class ArticleQuote(msgspec.Struct, rename={"id": "quoteID"}):
    """A quotation within an article."""

    id: str = ""
    quotation: str = ""
    leftContext: Any = ""  # noqa: N815 - Quotebank's name
    rightContext: Any = ""  # noqa: N815
    localTopSpeaker: str | None = None  # noqa: N815
    globalTopSpeaker: str | None = None  # noqa: N815

    @property
    def is_global(self) -> bool:
        """Whether Quotebank names a speaker by all articles with the quotation, not by this one alone."""
        return not has_no_speaker(self.globalTopSpeaker)

    @property
    def speaker(self) -> str | None:
        """The most likely speaker by all articles, or else by this one."""
        speaker = self.globalTopSpeaker if self.is_global else self.localTopSpeaker
        return None if has_no_speaker(speaker) else speaker


class QuotedArticle(msgspec.Struct, rename={"id": "articleID"}):
    """An article with its names and quotations."""

    id: str
    content: str | None = None
    title: str | None = None
    date: str | None = None
    url: str | None = None
    phase: str | None = None
    names: list[QuotebankName] = []
    quotations: list[ArticleQuote] = []

    def article(self) -> Article:
        """The article for the linker: text, names and spans, with mis-decoded characters corrected."""
        has_content = self.content is not None
        mentions = [
            Mention(mend_apart(one.name), one.spans if has_content else (), one.candidates) for one in self.names
        ]
        text = mend(self._contexts() if self.content is None else self.content)
        return Article(self.id, text, self.title, self.date, mentions, token_spans=has_content)

    def quote(self, said: ArticleQuote) -> Quote:
        """One of its quotations as a quotation on its own."""
        return Quote(
            id=said.id,
            quotation=said.quotation,
            speaker=said.speaker,
            qids=next((one.candidates for one in self.names if one.name == said.speaker), None),
            date=self.date,
            urls=[self.url] if self.url else None,
            phase=self.phase,
        )

    def _contexts(self) -> str:
        """The quotations with their contexts, each of which is a text or a list of tokens."""
        parts = [[one.leftContext, f"“{one.quotation}”", one.rightContext] for one in self.quotations]
        joined = ([" ".join(map(str, c)) if isinstance(c, list) else str(c or "") for c in one] for one in parts)
        return "\n".join(map(" ".join, joined))


_quote = msgspec.json.Decoder(Quote)
_article = msgspec.json.Decoder(QuotedArticle)


class Found(NamedTuple):
    """A quotation or an article, and its place."""

    record: Quote | QuotedArticle
    file: Path
    line: int


def read_quotes(path: Path, rejects: Rejects) -> Iterator[Found]:
    """The quotations of a file, or its articles with their quotations; other lines are rejected.

    A candidate that is not a QID is rejected and left out; if no candidate is a QID, none counts as given.
    """
    with open_lines(path) as stream:
        for number, line in bounded_lines(stream):
            try:
                if line is None:
                    raise ValueError(too_long(MOST_LINE))
                if not (record := line.removeprefix(BOM).strip()):
                    continue
                found: Quote | QuotedArticle
                found = _article.decode(record) if b'"articleID"' in record else _quote.decode(record)
            except INVALID as problem:
                rejects.add(Reject(f"not a quotation: {problem}", str(path), number))
                continue
            wrong: list[str] = []
            if isinstance(found, Quote):
                found.qids = _valid(found.qids, wrong)
            else:
                for name in found.names:
                    name.candidates = _valid(name.candidates, wrong)
            for one in wrong:
                rejects.add(Reject(f"candidate {one!r:.80} is no QID", str(path), number, found.id))
            yield Found(found, path, number)


def _valid(candidates: list[str] | None, wrong: list[str]) -> list[str] | None:
    """The QIDs among candidates, None if there are none; adds the others to `wrong`."""
    bad = [one for one in candidates or () if not _QID.fullmatch(one)]
    wrong += bad
    return [one for one in candidates or () if one not in bad] or None if bad else candidates
