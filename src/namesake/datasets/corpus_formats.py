"""The formats of data sets: readers, and writers of formats that other tools read. docs/datasets.md has the layouts.

In `aida-json` a name is one occurrence and ends in a number (`japan0`). The mention is named after its text; the
authors' name is the column `original`.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from namesake.articles.article import Article, Mention, Span
from namesake.articles.rejects import Reject, Rejects
from namesake.datasets import labelled_article
from namesake.datasets.labelled_article import Gold, LabelledArticle, Occurrence, Truth, label, page_title, read_records
from namesake.errors import NamesakeError
from namesake.files import open_lines
from namesake.files.lines import lines_of
from namesake.formats.json_articles import INVALID, is_array_file, json_records

NIL, UNKNOWN = "--NME--", "null"
DOCUMENT = re.compile(r"-DOCSTART-(?:\s+\((.*)\))?\s*")


@dataclass
class _Document:
    """An article under construction: `open` is the start and the title of the current mention."""

    id: str
    line: int
    text: str = ""
    occurrences: list[Occurrence] = field(default_factory=list)
    open: tuple[int, str | None] | None = None

    def append(self, part: str) -> None:
        """Add a token after a space, or the end of a sentence."""
        if self.text and not self.text.endswith("\n"):
            self.text += part if part == "\n" else f" {part}"
        elif part != "\n":
            self.text += part

    def close(self) -> None:
        """End the current mention where the text ends."""
        if self.open is not None:
            start, title = self.open
            split = re.search(r"\d(testa|testb)\b", self.id)  # such as `947testa`; the other articles are for training
            columns: dict[str, str | None] = {"split": split[1] if split else "train"}
            self.occurrences.append(Occurrence([(start, len(self.text))], None, title, None, columns))
        self.open = None

    def labelled(self, path: Path) -> LabelledArticle:
        """Return the finished article."""
        self.close()
        article = Article(self.id, self.text.rstrip("\n"))
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
        document.open = (len(document.text) - len(token), None if entity == NIL else _title(columns))
    return True


def _title(columns: list[str]) -> str:
    """The title of the page: from its address, else from YAGO's name, which is the title with escapes."""
    address = columns[4] if len(columns) > 4 else ""
    if "/wiki/" in address:
        return page_title(address.partition("/wiki/")[2])
    return page_title(re.sub(r"\\u([0-9a-fA-F]{4})", lambda code: chr(int(code[1], 16)), columns[3]))


LINKER = "namesake"
"""The linker that ELEVANT's linked articles name."""


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
        yield _named(record.article, ((one, one.spans, {}) for one in record.mentions or ()), where)


def read_nelight(path: Path, rejects: Rejects) -> Iterator[LabelledArticle]:
    """Read Quotebank's articles, each name with all its spans."""
    for where, record in _quotebank_records(path):
        tokens = token_spans(record.text)
        names = ((one, _characters(one, tokens, where), one.columns) for one in record.names)
        yield _named(record.article, names, where)


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


def _named(
    article: Article, given: Iterable[tuple[_Mention, list[Span], Mapping[str, str | None]]], where: str
) -> LabelledArticle:
    """The article with mentions that have names of their own, which must be unique."""
    mentions: dict[str, Mention] = {}
    truths = []
    for one, spans, columns in given:
        if one.name in mentions:
            raise NamesakeError(f"{where}: two names {one.name!r}; list each name once, with all its spans")
        for span in spans:
            labelled_article.check_span(span, article.text, where)
        mentions[one.name] = Mention(one.name, spans, one.options)
        if one.gold is not msgspec.UNSET:
            labelled_article.check_gold(one.gold, one.options, one.name, where)
            truths.append(Truth(one.name, one.name, one.gold, None, columns))
    return LabelledArticle(replace(article, mentions=list(mentions.values())), truths)


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


# writers


def gold_qid(mention: Mention, truth: Truth | None) -> str | None:
    """Return the QID of the truth, which may be the index of a candidate."""
    gold: Gold = None if truth is None else truth.gold
    return (mention.candidates or ())[gold] if isinstance(gold, int) else gold


def present(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def json_line(fields: Mapping[str, Any]) -> bytes:
    """Return an object as a line of JSON."""
    return msgspec.json.encode(fields) + b"\n"


def write_plain(one: LabelledArticle, with_gold: bool = True) -> bytes:
    """Write an article for the reader `plain`, and for `namesake link`."""
    article = one.article
    mentions = [
        present({"name": mention.name, "spans": mention.spans, "candidates": mention.candidates})
        | ({"gold": gold_qid(mention, truth)} if with_gold and truth is not None else {})
        for mention, truth in one.pairs()
    ]
    fields = {"id": article.id, "text": article.text, "title": article.title, "date": article.date}
    return json_line(present(fields) | {"mentions": mentions})


def write_quotebank(one: LabelledArticle) -> bytes:
    """Write an article for the reader `nelight`. A span grows to the whitespace tokens that it touches."""
    article, tokens = one.article, token_spans(one.article.text)
    names = [
        present({"name": mention.name, "ids": mention.candidates})
        | {"offsets": [_tokens(span, tokens) for span in mention.spans]}
        | ({} if truth is None else {"gold": truth.gold})
        for mention, truth in one.pairs()
    ]
    fields = {"articleID": article.id, "content": article.text, "title": article.title, "date": article.date}
    return json_line(present(fields) | {"names": names})


def _tokens(span: Span, tokens: list[Span]) -> Span:
    start, end = span
    return bisect_right(tokens, start, key=lambda token: token[1]), bisect_left(tokens, end, key=lambda token: token[0])


def write_elevant(one: LabelledArticle) -> bytes:
    """Write a linked article of ELEVANT: each occurrence is an entity mention, with the id null for NIL. No dates."""
    article = one.article
    mentions: list[dict[str, Any]] = []
    for mention, truth in one.pairs():
        qid = gold_qid(mention, truth)
        candidates = mention.candidates or ([] if qid is None else [qid])
        linked = {"recognized_by": LINKER, "id": qid, "linked_by": LINKER, "candidates": candidates}
        mentions += [{"span": span, **linked} for span in mention.spans]
    mentions.sort(key=lambda mention: mention["span"])
    fields = {"id": article.id, "title": article.title or "", "text": article.text, "entity_mentions": mentions}
    return json_line(fields | {"evaluation_span": [0, len(article.text)]})
