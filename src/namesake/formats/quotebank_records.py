"""Records of Quotebank: quotations with their speakers, each on its own or grouped by article.

Quotation-centric: `{"quoteID", "quotation", "speaker", "qids", "date"?, "numOccurrences"?, "urls"?, "phase"?, …}`.
Article-centric: `{"articleID", "names": [{"name", "ids", "offsets"}], "quotations": [{"quoteID", "quotation",
"leftContext", "rightContext", "localTopSpeaker", "globalTopSpeaker"}], "content"?, "title"?, "date"?, "url"?}`; without
content, the quotations and their contexts are the text. UTF-8 that was decoded with another encoding ("JosÃ©" for
"José") is corrected where no writer would have meant these characters; the "É’" of "CAFÉ’S" stays unchanged.
"""

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from namesake.articles.article import Article, Mention
from namesake.articles.rejects import Reject, Rejects
from namesake.files.lines import MOST_LINE, too_long
from namesake.formats.json_articles import BOM, INVALID, QuotebankName, json_records

_LATER = "".join(re.escape(bytes(range(0x80, 0xC0)).decode(code, "ignore")) for code in ("cp1252", "latin-1"))
"""The later bytes of a UTF-8 character, decoded as Windows-1252 and as ISO Latin-1."""
_SIGNS = "\u00a0-\u00aa\u00ac-\u00ba\u00bc-\u00bf"
"""Those of them that do not follow a letter in correct text."""
_CLOSING = "’”“»›…–—™®°ªº·´\u00a0\u00ad"
"""Those that may follow a letter: "CAFÉ™", "«ÜBER»"; below, those after another one, and those before no letter."""
_CLOSED = "…–—’”\u00a0"
_JOINING = "’“”…–—·´\u00a0\u00ad"

_CHARACTER = f"[Â-ß][{_LATER}]|[à-ï][{_LATER}]{{2}}|[ð-ô][{_LATER}]{{3}}"
_LOWERED = f"[ãäå][{_SIGNS}]"
_characters, _lowered = re.compile(_CHARACTER), re.compile(_LOWERED)
_MIS_DECODED = re.compile(f"(?P<run>(?:{_CHARACTER})+)|{_LOWERED}")
_APART = re.compile(f"([ÂÃÄÅ]) ([{_LATER}])(?= |$)|([ãäå]) ([{_SIGNS}])(?= |$)")

LATIN, SIGN = "latin", "sign"


def mend(text: str) -> str:
    """The text with mis-decoded UTF-8 corrected where that is certain; whitespace tokens keep their numbers."""
    return text if text.isascii() else _MIS_DECODED.sub(_mended, text)


def mend_apart(text: str) -> str:
    """`mend`, also if a tokenizer has separated the two halves of a letter: "courrã © ges" is "courré ges"."""
    return text if text.isascii() else mend(_APART.sub(lambda match: match[0].replace(" ", ""), text))


def _mended(match: re.Match[str]) -> str:
    if not match["run"]:
        return _raised(match)
    found = _characters.findall(match["run"])
    read = [_read(one) for one in found]
    kinds = [_kind(one) for one in read]
    before, after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    mended: list[str] = []
    sure = False
    for at, one in enumerate(found):
        left = mended[-1][-1:] if mended else before
        right = found[at + 1][0] if at + 1 < len(found) else after
        beside = {*kinds[max(at - 1, 0) : at], *kinds[at + 1 : at + 2]}
        sure = (
            (sure and kinds[at] is not None)  # errors come in runs
            or _is_sure(one, kinds[at], left, right)
            or (kinds[at] not in (None, LATIN, SIGN) and kinds[at] in beside)
        )
        mended.append(read[at] if sure else _lowered.sub(_raised, one))
    return "".join(mended)


def _raised(match: re.Match[str]) -> str:
    """A letter whose first half was lowercased, "ã©"."""
    letter = _read(match[0][0].upper() + match[0][1:])
    return letter if _kind(letter) else match[0]


def _read(found: str) -> str:
    """The characters decoded as UTF-8; empty if they are not UTF-8."""
    try:
        return b"".join(one.encode("latin-1") if ord(one) < 0x100 else one.encode("cp1252") for one in found).decode()
    except UnicodeError:
        return ""


def _kind(letter: str) -> str | None:
    """Latin, a sign, or the name of another script; None for a character that texts do not contain."""
    if not letter or letter.isspace() or unicodedata.category(letter) in ("Cc", "Cn", "Co"):
        return None
    name = unicodedata.name(letter, "")
    script = name.partition(" ")[0]
    if script in ("SYRIAC", "THAANA", "NKO") or ("\u0234" <= letter <= "\u02af" and letter != "ə"):
        return None  # rarer than "Ü", "ß" or "É" before a mark
    if unicodedata.category(letter)[0] in "PSC":
        return LATIN if ord(letter) < 0x100 else SIGN
    if name.startswith(("LATIN", "MODIFIER LETTER", "COMBINING")) or ord(letter) < 0x100:
        return LATIN
    return "CJK" if script in ("HIRAGANA", "KATAKANA", "HANGUL", "KATAKANA-HIRAGANA") else script


def _is_sure(found: str, kind: str | None, left: str, right: str) -> bool:
    """Whether no writer would have meant these characters between these neighbours."""
    first, later = found[0], found[1:]
    if kind is None:
        return False
    natural = later in _CLOSING if len(later) == 1 else later[0] in _CLOSING and later[1] in _CLOSED
    if kind not in (LATIN, SIGN):
        alone = not (left.isalpha() or right.isalpha())  # "π", and words of one letter
        return not natural and (len(later) > 2 or (alone and kind in ("GREEK", "CYRILLIC")))
    if not natural or (first.isupper() and left.islower()):
        return True
    if first in "ÂÃÄÅ":
        unit = first == "Å" and not left.isalpha() and later in "’”»…–—"  # “5 Å”
        return (not left.isupper() and not unit) or (right.isalpha() and later != "’")
    return right.isalpha() and later[-1] not in (_JOINING if len(later) == 1 else "–—")


_ID = re.compile(r"Q[1-9][0-9]{0,17}|[A-Za-z][\w.-]*:\S+")  # a QID, or the id of an own entity
_ADDRESS = re.compile(r"[a-z]+://[^\s'\"]+")


def has_no_speaker(speaker: str | None) -> bool:
    """Whether a quotation has no speaker: Quotebank then writes "None"."""
    return (speaker or "").strip().lower() in ("", "none")


OF_QUOTES = {"id": "quoteID", "occurrences": "numOccurrences", "candidates": "qids"}
"""Quotebank's names of fields."""


class Quote(msgspec.Struct, kw_only=True, rename=OF_QUOTES):
    """A quotation and its speaker."""

    id: str
    quotation: str
    speaker: str | None = None
    candidates: list[str] | None = None
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
        mentions = [Mention(mend_apart(n.name), n.spans if has_content else (), n.candidates) for n in self.names]
        text = self.content
        if text is None:  # the quotations with their contexts, each of which is a text or a list of tokens
            parts = ([one.leftContext, f"“{one.quotation}”", one.rightContext] for one in self.quotations)
            joined = ([" ".join(map(str, c)) if isinstance(c, list) else str(c or "") for c in one] for one in parts)
            text = "\n".join(map(" ".join, joined))
        return Article(self.id, mend(text), self.title, self.date, mentions, token_spans=has_content)

    def quote(self, said: ArticleQuote) -> Quote:
        """One of its quotations as a quotation on its own."""
        return Quote(
            id=said.id,
            quotation=said.quotation,
            speaker=said.speaker,
            candidates=next((one.candidates for one in self.names if one.name == said.speaker), None),
            date=self.date,
            urls=[self.url] if self.url else None,
            phase=self.phase,
        )


_quote: msgspec.json.Decoder[Quote | QuotedArticle] = msgspec.json.Decoder(Quote)
_article: msgspec.json.Decoder[Quote | QuotedArticle] = msgspec.json.Decoder(QuotedArticle)


class Found(NamedTuple):
    """A quotation or an article, and its place."""

    record: Quote | QuotedArticle
    file: Path
    line: int


def read_quotes(path: Path, rejects: Rejects) -> Iterator[Found]:
    """The quotations of a file, or its articles with their quotations; other lines are rejected."""
    for number, line in json_records(path, is_array=False):
        try:
            if line is None:
                raise ValueError(too_long(MOST_LINE))
            found = (_article if b'"articleID"' in line else _quote).decode(line.removeprefix(BOM))
        except INVALID as problem:
            rejects.add(Reject(f"not a quotation: {problem}", str(path), number))
            continue
        for name in [found] if isinstance(found, Quote) else found.names:
            wrong = [one for one in name.candidates or () if not _ID.fullmatch(one)]
            for one in wrong:
                rejects.add(Reject(f"candidate {one!r:.80} is no QID", str(path), number, found.id))
            if wrong:  # if no candidate is a QID, none counts as given
                name.candidates = [one for one in name.candidates or () if one not in wrong] or None
        yield Found(found, path, number)
