"""The formats of data sets: articles with the truth about their mentions, and readers. See docs/datasets.md.

A mention of these data sets is one occurrence of a name; a mention of Namesake is a name in an article. To keep
occurrences apart, `label` numbers a name that appears again: `Japan`, then `Japan #2`. The number is a token of its
own and starts with no letter, so the words of the name do not change.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar
from urllib.parse import unquote

import msgspec

from namesake.articles.article import Article, Mention, Span
from namesake.articles.rejects import Reject, Rejects
from namesake.errors import NamesakeError
from namesake.files import open_lines
from namesake.files.lines import lines_of
from namesake.formats.json_articles import INVALID, is_array_file, json_records

Gold = int | str | None  # the index of a candidate, a QID, or None for NIL


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


def label(article: Article, occurrences: Iterable[Occurrence], where: str) -> LabelledArticle:
    """Return the article with each occurrence as a mention with a unique name; messages begin with `where`."""
    taken: dict[str, int] = {}  # the last number of each name
    mentions, truths = [], []
    for occurrence in occurrences:
        if occurrence.name in taken:
            raise NamesakeError(f"{where}: two names {occurrence.name!r}; list each name once, with all its spans")
        for start, end in occurrence.spans:
            if not 0 <= start < end <= len(article.text):
                size = len(article.text)
                raise NamesakeError(f"{where}: span [{start}, {end}] does not fit the text of {size} characters")
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


def check_gold(gold: Gold, candidates: Sequence[str] | None, name: str, where: str) -> None:
    """Raise an error for an index outside the candidates, or a text that is not a QID."""
    if isinstance(gold, str) and not re.fullmatch(r"Q\d+", gold):
        raise NamesakeError(f"{where}: gold of {name!r} is {gold!r}, not an index, a QID or null")
    count = len(candidates or ())
    if isinstance(gold, int) and not 0 <= gold < count:
        raise NamesakeError(f"{where}: gold of {name!r} is candidate {gold}, but it has {count} candidates")


def page_title(address: str) -> str:
    """Return the title of a page from a part of its address: `Ann_Lee_%28poet%29#Life` is `Ann Lee (poet)`."""
    title = " ".join(unquote(address.partition("#")[0]).replace("_", " ").split())
    return title[:1].upper() + title[1:]


NIL, UNKNOWN = "--NME--", "null"
DOCUMENT = re.compile(r"-DOCSTART-(?:\s+\((.*)\))?\s*")
COLUMNS = ("token", "tag", "mention", "entity", "address")  # the first columns of AIDA-CoNLL-YAGO


def read_aida_tsv(path: Path, rejects: Rejects) -> Iterator[LabelledArticle]:
    """Read the release's articles: tokens are joined by spaces, sentences by line ends."""
    documents: list[tuple[str, int, list[tuple[int, str]]]] = []  # the id, the first line, all lines
    with open_lines(path) as stream:
        for number, raw in lines_of(stream, path):
            try:
                line = raw.decode("utf-8").rstrip("\r\n")
            except UnicodeDecodeError as problem:
                raise NamesakeError(f"{path} line {number}: not UTF-8 ({problem.reason})") from None
            if start := DOCUMENT.fullmatch(line):
                documents.append((start[1] or str(number), number, []))
            elif documents:
                documents[-1][2].append((number, line))
            elif line.strip():
                raise NamesakeError(f"{path} line {number}: a token before the first -DOCSTART- line")
    if not documents:
        raise NamesakeError(f"{path}: no -DOCSTART- line, so no articles")
    for identifier, first, lines in documents:
        text, mentions = _aida_mentions(path, identifier, lines, rejects)
        split = re.search(r"\d(testa|testb)\b", identifier)  # such as `947testa`; other articles are for training
        columns = {"split": split[1] if split else "train"}
        found = (Occurrence([(start, end)], None, title, None, columns) for start, end, title in mentions)
        yield label(Article(identifier, text.rstrip("\n")), found, f"{path} line {first} (article {identifier})")


def _aida_mentions(
    path: Path, article: str, lines: Iterable[tuple[int, str]], rejects: Rejects
) -> tuple[str, list[tuple[int, int, str | None]]]:
    """The text of an article, and the start, the end and the title of the page of each mention."""
    text, inside = "", False  # inside: the last token belongs to the last mention
    mentions: list[tuple[int, int, str | None]] = []
    for number, line in lines:
        where, columns = f"{path} line {number}", line.split("\t")
        begins = not text or text.endswith("\n")
        if not line.strip():
            text, inside = text if begins else f"{text}\n", False
            continue
        given = dict(zip(COLUMNS, columns, strict=False))
        token, tag, entity = given["token"], given.get("tag", "O"), given.get("entity")
        if tag not in {"B", "I", "O"}:
            remedy = "join the file of annotations alone with CoNLL 2003 by the release's program first"
            raise NamesakeError(f"{where}: the second column is {tag!r}, not B or I; {remedy}")
        if tag == "I" and not inside and entity != UNKNOWN:
            raise NamesakeError(f"{where}: {token!r} continues a mention (I), but none is open")
        if tag == "B" and entity is None:
            raise NamesakeError(f"{where}: token, B, mention and entity are needed, not {len(columns)} columns")
        text += token if begins else f" {token}"
        inside = tag == "I" and inside
        if inside:
            mentions[-1] = (mentions[-1][0], len(text), mentions[-1][2])
        elif tag == "B" and entity == UNKNOWN:
            rejects.add(Reject("a mention whose entity is `null`", str(path), number, article))
        elif tag == "B":
            title = None if entity == NIL else _title(given["entity"], given.get("address", ""))
            mentions.append((len(text) - len(token), len(text), title))
            inside = True
    return text, mentions


def _title(entity: str, address: str) -> str:
    """The title of the page: from its address, else from YAGO's name, which is the title with escapes."""
    if "/wiki/" in address:
        return page_title(address.partition("/wiki/")[2])
    return page_title(re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), entity))


class Record(msgspec.Struct, kw_only=True):
    """An article of a file of JSON lines, or of a JSON array."""

    what: ClassVar[str] = "an article"
    id: str | int
    text: str
    title: str | None = None
    date: str | None = None

    def occurrences(self, where: str, rejects: Rejects) -> Iterator[Occurrence]:
        """Yield the annotations that are scored; the others go to `rejects`."""
        raise NotImplementedError


def json_reader(kind: type[Record]) -> Reader:
    """Return the reader of one kind of records, as JSON lines or as a JSON array."""

    def read(path: Path, rejects: Rejects) -> Iterator[LabelledArticle]:
        is_array, where = path.is_file() and is_array_file(path), ""
        for number, raw in json_records(path, is_array):
            where = f"{path} {'article' if is_array else 'line'} {number}"
            try:
                one = msgspec.json.decode(raw or b"", type=kind)
            except INVALID as problem:
                raise NamesakeError(f"{where}: not {kind.what} ({problem})") from None
            yield label(Article(str(one.id), one.text, one.title, one.date), one.occurrences(where, rejects), where)
        if not where:
            raise NamesakeError(f"{path}: no articles")

    return read


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


class Plain(Record):
    """Our own JSON lines. A name may appear once per article, with all its spans."""

    mentions: list[_Mention] | None = None

    def occurrences(self, where: str, rejects: Rejects) -> Iterator[Occurrence]:
        """Yield all mentions."""
        for one in self.mentions or ():
            yield Occurrence(one.spans, one.gold, None, one.options, {}, one.name)


class Quotebank(Record, rename={"id": "articleID", "text": "content"}):
    """An article of Quotebank; each name has all its spans."""

    id: str | int
    text: str
    names: list[_Mention]

    def occurrences(self, where: str, rejects: Rejects) -> Iterator[Occurrence]:
        """Yield all names, with their tokens as characters."""
        tokens = token_spans(self.text)
        for one in self.names:
            for start, end in one.offsets:
                if not 0 <= start < end <= len(tokens):
                    raise NamesakeError(f"{where}: [{start}, {end}] of {one.name!r} does not fit {len(tokens)} tokens")
            spans = [(tokens[start][0], tokens[end - 1][1]) for start, end in one.offsets]
            columns = {"split": one.split, "difficulty": one.difficulty}
            yield Occurrence(spans, one.gold, None, one.options, columns, one.name)


class AidaJson(Quotebank):
    """The authors' AIDA-CoNLL, with one mention for each occurrence."""

    def occurrences(self, where: str, rejects: Rejects) -> Iterator[Occurrence]:
        """Yield all names, named after their text."""
        for one in super().occurrences(where, rejects):
            if not one.spans:
                raise NamesakeError(f"{where}: name {one.name!r} has no offsets")
            surface = self.text[slice(*one.spans[0])]
            bare, name = (re.sub(r"[\W_]", "", text.casefold()) for text in (surface, one.name or ""))
            if not re.fullmatch(re.escape(bare) + r"\d+", name):
                raise NamesakeError(f"{where}: name {one.name!r} is not {surface!r}, its text, and a number")
            if one.gold is msgspec.UNSET:
                raise NamesakeError(f"{where}: name {one.name!r} has no `gold`; write null if no candidate is right")
            yield replace(one, columns={**one.columns, "original": one.name}, name=None)


class Zelda(Record):
    """A document of ZELDA. A link without a title is NIL."""

    what = "a ZELDA document"
    index: list[Span]
    wikipedia_titles: list[str | None]
    wikipedia_ids: list[int | str | None]

    def occurrences(self, where: str, rejects: Rejects) -> Iterator[Occurrence]:
        """Yield all links."""
        columns = (self.index, self.wikipedia_titles, self.wikipedia_ids)
        sizes = [len(column) for column in columns]
        if len(set(sizes)) > 1:
            raise NamesakeError(f"{where}: {sizes[0]} spans, {sizes[1]} titles and {sizes[2]} page ids: must be equal")
        for span, title, page in zip(*columns, strict=True):
            known, number = page_title(title) if title else None, None if page is None else f"{page}"
            yield Occurrence([span], title=known, columns={"page": number})


class _Label(msgspec.Struct):
    span: Span
    entity_id: str | None
    parent: int | None = None
    optional: bool = False
    type: str | None = None


class Elevant(Record):
    """A benchmark of ELEVANT, with the labels that ELEVANT scores."""

    what = "an ELEVANT article"
    labels: list[_Label] | None = None
    evaluation_span: Span | None = None

    def __post_init__(self) -> None:
        self.title = self.title or None

    def occurrences(self, where: str, rejects: Rejects) -> Iterator[Occurrence]:
        """Yield the labels that count; numbers, dates, nested and optional labels do not."""
        low, high = self.evaluation_span or (0, len(self.text))
        file, _, line = where.rsplit(" ", 2)
        for one in self.labels or ():
            if one.optional or one.type in {"QUANTITY", "DATETIME"}:
                reason = "an optional label"
            elif one.parent is not None:
                reason = "a label nested in another"
            elif self.evaluation_span is not None and not low <= one.span[0] < one.span[1] <= high:
                reason = "a label outside the evaluation span"
            else:
                yield Occurrence([one.span], _known(one.entity_id), columns={"type": one.type})
                continue
            rejects.add(Reject(reason, file, int(line), str(self.id)))


class _EntityMention(msgspec.Struct):
    span: Span
    id: str | None = None
    candidates: list[str] | None = None


class ElevantLinks(Elevant):
    """A linked article of ELEVANT: the linker's answers are the truth."""

    what = "a linked article of ELEVANT"
    entity_mentions: list[_EntityMention] | None = None

    def occurrences(self, where: str, rejects: Rejects) -> Iterator[Occurrence]:
        """Yield the links."""
        if self.entity_mentions is None:
            raise NamesakeError(f"{where}: not a linked article of ELEVANT (no field `entity_mentions`)")
        for one in self.entity_mentions:
            yield Occurrence([one.span], _known(one.id), None, one.candidates)


def _known(identifier: str | None) -> str | None:
    return None if identifier is None or identifier.startswith("Unknown") else identifier


def token_spans(text: str) -> list[Span]:
    """Return the spans of the whitespace tokens of a text, in characters."""
    return [match.span() for match in re.finditer(r"\S+", text)]


def gold_qid(mention: Mention, truth: Truth | None) -> str | None:
    """Return the QID of the truth, which may be the index of a candidate."""
    gold: Gold = None if truth is None else truth.gold
    return (mention.candidates or ())[gold] if isinstance(gold, int) else gold
