"""The formats of data sets: articles with the truth about their mentions, and readers. See docs/datasets.md.

In these data sets a mention is one occurrence of a name. In Namesake a mention is a name in an article. To keep
occurrences apart, `label` numbers a name that appears again: `Japan`, then `Japan #2`. The number is a token of its
own and starts with no letter, so the words of the name do not change. The gold column `surface` has the plain name.
In `aida-json` a name is one occurrence and ends in a number (`japan0`). The mention is named after its text; the
authors' name is the column `original`.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar
from urllib.parse import unquote

import msgspec

from namesake.articles.article import Article, Mention, Span
from namesake.articles.rejects import Reject, Rejects
from namesake.errors import NamesakeError
from namesake.files import open_lines
from namesake.files.lines import json_lines, lines_of
from namesake.formats.json_articles import INVALID, is_array_file, json_records

R = TypeVar("R")
Gold = int | str | None
"""The index of a candidate, a QID, or None for NIL."""


@dataclass(frozen=True)
class Truth:
    """The entity of a mention: `gold`, or the title of a Wikipedia page that no KB has resolved to a QID yet."""

    name: str
    surface: str
    gold: Gold
    title: str | None = None
    columns: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """`entity`, `nil`, or `unresolved` for a title without a QID."""
        if self.gold is not None:
            return "entity"
        return "unresolved" if self.title is not None else "nil"


@dataclass(frozen=True)
class LabelledArticle:
    """An article and the truth about its mentions, in the order of the mentions."""

    article: Article
    truths: Sequence[Truth]

    def pairs(self) -> Iterator[tuple[Mention, Truth | None]]:
        """Each mention with its truth, or None."""
        truths = {truth.name: truth for truth in self.truths}
        return ((mention, truths.get(mention.name)) for mention in self.article.mentions or ())


Reader = Callable[[Path, Rejects], Iterator[LabelledArticle]]
"""Reads one file of a data set. Annotations that are not scored go to `rejects`; an unreadable file is an error."""


@dataclass(frozen=True)
class Occurrence:
    """One annotation of a data set: with a name of its own, or with at least one span."""

    spans: Sequence[Span]
    gold: Gold | msgspec.UnsetType = None
    title: str | None = None
    candidates: Sequence[str] | None = None
    columns: Mapping[str, str | None] = field(default_factory=dict)
    name: str | None = None


def read_records(path: Path, kind: type[R], what: str) -> Iterator[tuple[str, R]]:
    """Yield every record of a file of JSON lines with its place, for messages; a file without records is an error."""
    number = 0
    for number, record in json_lines(path, kind, what):
        yield f"{path} line {number}", record
    if not number:
        raise NamesakeError(f"{path}: no articles")


def label(article: Article, occurrences: Iterable[Occurrence], where: str) -> LabelledArticle:
    """Return the article with each occurrence as a mention with a unique name; messages begin with `where`."""
    taken: dict[str, int] = {}  # the last number of each name
    mentions, truths = [], []
    for occurrence in occurrences:
        if occurrence.name in taken:
            raise NamesakeError(f"{where}: two names {occurrence.name!r}; list each name once, with all its spans")
        for span in occurrence.spans:
            check_span(span, article.text, where)
        surface = article.text[slice(*occurrence.spans[0])] if occurrence.name is None else occurrence.name
        name = surface
        while name in taken:
            taken[surface] += 1
            name = f"{surface} #{taken[surface]}"
        taken[name] = 1
        mentions.append(Mention(name, occurrence.spans, occurrence.candidates))
        if occurrence.gold is not msgspec.UNSET:
            check_gold(occurrence.gold, occurrence.candidates, name, where)
            truths.append(Truth(name, surface, occurrence.gold, occurrence.title, occurrence.columns))
    return LabelledArticle(replace(article, mentions=mentions), truths)


def check_span(span: Span, text: str, where: str) -> None:
    """Raise an error for a span that is empty, reversed or outside the text."""
    start, end = span
    if not 0 <= start < end <= len(text):
        raise NamesakeError(f"{where}: span [{start}, {end}] does not fit the text of {len(text)} characters")


def check_gold(gold: Gold, candidates: Sequence[str] | None, name: str, where: str) -> None:
    """Raise an error for an index outside the candidates, or a text that is not a QID."""
    if isinstance(gold, str) and not re.fullmatch(r"Q\d+", gold):
        raise NamesakeError(f"{where}: gold of {name!r} is {gold!r}, not an index, a QID or null")
    count = len(candidates or ())
    if isinstance(gold, int) and not 0 <= gold < count:
        raise NamesakeError(f"{where}: gold of {name!r} is candidate {gold}, but it has {count} candidates")


def page_title(address: str) -> str:
    """Return the title of a Wikipedia page as Wikidata spells it, from a title or the last part of an address.

    `Michael_Collins_%28astronaut%29#Career` is `Michael Collins (astronaut)`.
    """
    title = " ".join(unquote(address.partition("#")[0]).replace("_", " ").split())
    return title[:1].upper() + title[1:]


NIL, UNKNOWN = "--NME--", "null"
DOCUMENT = re.compile(r"-DOCSTART-(?:\s+\((.*)\))?\s*")


@dataclass
class _Document:
    """An article under construction; `inside` says whether its last token belongs to its last mention."""

    id: str
    line: int
    text: str = ""
    mentions: list[tuple[int, int, str | None]] = field(default_factory=list)
    """Start, end and title of the page."""
    inside: bool = False

    def append(self, part: str) -> None:
        """Add a token after a space, or the end of a sentence."""
        if self.text and not self.text.endswith("\n"):
            self.text += part if part == "\n" else f" {part}"
        elif part != "\n":
            self.text += part

    def labelled(self, path: Path) -> LabelledArticle:
        """Return the finished article."""
        split = re.search(r"\d(testa|testb)\b", self.id)  # such as `947testa`; the other articles are for training
        columns = {"split": split[1] if split else "train"}
        found = (Occurrence([(start, end)], None, title, None, columns) for start, end, title in self.mentions)
        return label(Article(self.id, self.text.rstrip("\n")), found, f"{path} line {self.line} (article {self.id})")


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
                document.inside = False
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
    if tag not in {"B", "I", "O"}:
        remedy = "join the file of annotations alone with CoNLL 2003 by the release's program first"
        raise NamesakeError(f"{where}: the second column is {tag!r}, not B or I; {remedy}")
    if tag == "I" and not document.inside and entity != UNKNOWN:
        raise NamesakeError(f"{where}: {token!r} continues a mention (I), but none is open")
    if tag == "B" and entity is None:
        raise NamesakeError(f"{where}: token, B, mention and entity are needed, not {len(columns)} columns")
    document.append(token)
    end = len(document.text)
    if tag == "I" and document.inside:
        start, _, title = document.mentions.pop()
        document.mentions.append((start, end, title))
    document.inside = tag == "I" and document.inside
    if tag == "B" and entity != UNKNOWN:
        document.mentions.append((end - len(token), end, None if entity == NIL else _title(columns)))
        document.inside = True
    return tag != "B" or entity != UNKNOWN


def _title(columns: list[str]) -> str:
    """The title of the page: from its address, else from YAGO's name, which is the title with escapes."""
    address = columns[4] if len(columns) > 4 else ""
    if "/wiki/" in address:
        return page_title(address.partition("/wiki/")[2])
    return page_title(re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), columns[3]))


class _Mention(msgspec.Struct):
    """A mention of `plain`, `nelight` (`ids`, `offsets`) or `aida-json`."""

    name: str
    spans: list[Span] = []
    offsets: list[Span] = []
    ids: list[str] | None = None
    candidates: list[str] | None = None
    gold: int | str | msgspec.UnsetType | None = msgspec.UNSET
    split: str | None = None
    difficulty: str | None = None

    @property
    def options(self) -> list[str] | None:
        """The candidates, under either name."""
        return self.candidates if self.ids is None else self.ids

    @property
    def columns(self) -> dict[str, str | None]:
        return {"split": self.split, "difficulty": self.difficulty}


class _Record(msgspec.Struct, kw_only=True):
    id: str | int
    text: str
    title: str | None = None
    date: str | None = None

    @property
    def article(self) -> Article:
        return Article(str(self.id), self.text, self.title, self.date)


class _Plain(_Record):
    mentions: list[_Mention] | None = None


class _Quotebank(_Record, rename={"id": "articleID", "text": "content"}):
    id: str | int
    text: str
    names: list[_Mention]


class _Label(msgspec.Struct):
    span: Span
    entity_id: str | None
    parent: int | None = None
    optional: bool = False
    type: str | None = None


class _EntityMention(msgspec.Struct):
    span: Span
    id: str | None = None
    candidates: list[str] | None = None


class _Elevant(_Record):
    labels: list[_Label] | None = None
    entity_mentions: list[_EntityMention] | None = None
    evaluation_span: Span | None = None

    def __post_init__(self) -> None:
        self.title = self.title or None


class _Zelda(_Record):
    index: list[Span]
    wikipedia_titles: list[str | None]
    wikipedia_ids: list[int | str | None]


def read_plain(path: Path, rejects: Rejects) -> Iterator[LabelledArticle]:
    """Read our own JSON lines. A name may appear once per article, with all its spans."""
    for where, record in read_records(path, _Plain, "an article"):
        given = (Occurrence(one.spans, one.gold, None, one.options, {}, one.name) for one in record.mentions or ())
        yield label(record.article, given, where)


def read_nelight(path: Path, rejects: Rejects) -> Iterator[LabelledArticle]:
    """Read Quotebank's articles, each name with all its spans."""
    for where, record in _quotebank_records(path):
        tokens = token_spans(record.text)
        located = ((one, _characters(one, tokens, where)) for one in record.names)
        names = (Occurrence(spans, one.gold, None, one.options, one.columns, one.name) for one, spans in located)
        yield label(record.article, names, where)


def read_aida_json(path: Path, rejects: Rejects) -> Iterator[LabelledArticle]:
    """Read the authors' AIDA-CoNLL, with one mention for each occurrence."""
    for where, record in _quotebank_records(path):
        tokens = token_spans(record.text)
        occurrences = []
        for one in record.names:
            spans = _characters(one, tokens, where)
            if not spans:
                raise NamesakeError(f"{where}: name {one.name!r} has no offsets")
            surface = record.text[slice(*spans[0])]
            if not re.fullmatch(re.escape(_letters(surface)) + r"\d+", _letters(one.name)):
                raise NamesakeError(f"{where}: name {one.name!r} is not {surface!r}, its text, and a number")
            if one.gold is msgspec.UNSET:
                raise NamesakeError(f"{where}: name {one.name!r} has no `gold`; write null if no candidate is right")
            occurrences.append(Occurrence(spans, one.gold, None, one.options, {**one.columns, "original": one.name}))
        yield label(record.article, occurrences, where)


def read_zelda(path: Path, rejects: Rejects) -> Iterator[LabelledArticle]:
    """Read ZELDA's documents. A link without a title is NIL."""
    for where, record in read_records(path, _Zelda, "a ZELDA document"):
        columns = (record.index, record.wikipedia_titles, record.wikipedia_ids)
        sizes = [len(column) for column in columns]
        if len(set(sizes)) > 1:
            raise NamesakeError(f"{where}: {sizes[0]} spans, {sizes[1]} titles and {sizes[2]} page ids: must be equal")
        occurrences = []
        for span, title, page in zip(*columns, strict=True):
            given = {"page": None if page is None else f"{page}"}
            known = page_title(title) if title else None
            occurrences.append(Occurrence([span], title=known, columns=given))
        yield label(record.article, occurrences, where)


def read_elevant(path: Path, rejects: Rejects) -> Iterator[LabelledArticle]:
    """Read ELEVANT's benchmarks, with the labels that ELEVANT scores."""
    for where, record in read_records(path, _Elevant, "an ELEVANT article"):
        occurrences = []
        for one in record.labels or ():
            reason = _unscored(one, record.evaluation_span)
            if reason is None:
                occurrences.append(Occurrence([one.span], _entity(one.entity_id), columns={"type": one.type}))
            else:
                rejects.add(Reject(reason, str(path), int(where.rpartition(" ")[2]), str(record.id)))
        yield label(record.article, occurrences, where)


def read_elevant_links(path: Path, rejects: Rejects) -> Iterator[LabelledArticle]:
    """Read ELEVANT's linked articles: the linker's answers are the truth."""
    for where, record in read_records(path, _Elevant, "a linked article of ELEVANT"):
        if record.entity_mentions is None:
            raise NamesakeError(f"{where}: not a linked article of ELEVANT (no field `entity_mentions`)")
        found = [Occurrence([one.span], _entity(one.id), None, one.candidates) for one in record.entity_mentions]
        yield label(record.article, found, where)


def _quotebank_records(path: Path) -> Iterator[tuple[str, _Quotebank]]:
    """Each article with its place, from a JSON array or from JSON lines."""
    number = 0
    for number, (_, raw) in enumerate(json_records(path, is_array_file(path)), 1):
        where = f"{path} article {number}"
        try:
            record = msgspec.json.decode(raw or b"", type=_Quotebank)
        except INVALID as problem:
            raise NamesakeError(f"{where}: not an article ({problem})") from None
        yield f"{where} ({record.id})", record
    if not number:
        raise NamesakeError(f"{path}: no articles")


def token_spans(text: str) -> list[Span]:
    """Return the spans of the whitespace tokens of a text, in characters."""
    return [match.span() for match in re.finditer(r"\S+", text)]


def _characters(one: _Mention, tokens: list[Span], where: str) -> list[Span]:
    for start, end in one.offsets:
        if not 0 <= start < end <= len(tokens):
            raise NamesakeError(f"{where}: [{start}, {end}] of {one.name!r} does not fit {len(tokens)} tokens")
    return [(tokens[start][0], tokens[end - 1][1]) for start, end in one.offsets]


def _letters(text: str) -> str:
    return re.sub(r"[\W_]", "", text.casefold())


def _unscored(one: _Label, evaluated: Span | None) -> str | None:
    """Why ELEVANT does not score a label; None if it does."""
    if one.optional or one.type in {"QUANTITY", "DATETIME"}:
        return "an optional label"
    if one.parent is not None:
        return "a label nested in another"
    if evaluated is not None and not evaluated[0] <= one.span[0] < one.span[1] <= evaluated[1]:
        return "a label outside the evaluation span"
    return None


def _entity(identifier: str | None) -> str | None:
    return None if identifier is None or identifier.startswith("Unknown") else identifier


def gold_qid(mention: Mention, truth: Truth | None) -> str | None:
    """Return the QID of the truth, which may be the index of a candidate."""
    gold: Gold = None if truth is None else truth.gold
    return (mention.candidates or ())[gold] if isinstance(gold, int) else gold
