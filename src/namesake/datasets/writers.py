"""Articles with their truth in the formats that others read, one file for both; the counterpart of the readers.

What a format has no place for is left out: NIF has neither titles nor dates, ELEVANT no dates. Quotebank counts
whitespace tokens, so a span grows to the tokens that it touches.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec

from namesake.articles.article import Mention
from namesake.datasets.convert import Counts, resolved
from namesake.datasets.labelled import Labelled, Truth
from namesake.datasets.nelight import token_spans
from namesake.datasets.nif_graph import iri_of
from namesake.datasets.nif_write import ENTITY, PAGE, Annotation, Document, nobody, turtle
from namesake.errors import NamesakeError
from namesake.files import create, keep_apart, kind, published
from namesake.kb.store import KB

BY = "namesake"
"""What ELEVANT is told recognised and linked a mention."""


def _pairs(one: Labelled) -> Iterator[tuple[Mention, Truth | None]]:
    """Each mention with its truth, where it has one."""
    truths = {truth.name: truth for truth in one.truths}
    return ((mention, truths.get(mention.name)) for mention in one.article.mentions or ())


def _qid(mention: Mention, truth: Truth | None) -> str | None:
    """The QID of the truth, which may be an index of the candidates."""
    gold = None if truth is None else truth.gold
    return (mention.candidates or ())[gold] if isinstance(gold, int) else gold


def _known(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def plain(one: Labelled) -> bytes:
    """Our own JSON lines, as the reader `plain` has them."""
    article = one.article
    mentions = [
        _known({"name": mention.name, "spans": mention.spans, "candidates": mention.candidates})
        | ({} if truth is None else {"gold": _qid(mention, truth)})
        for mention, truth in _pairs(one)
    ]
    fields = _known({"id": article.id, "text": article.text, "title": article.title, "date": article.date})
    return msgspec.json.encode(fields | {"mentions": mentions}) + b"\n"


def quotebank(one: Labelled) -> bytes:
    """Quotebank's article-centric records, as the reader `nelight` has them."""
    article = one.article
    tokens = token_spans(article.text)
    names = [
        _known({"name": mention.name, "ids": mention.candidates})
        | {"offsets": [_tokens(span, tokens) for span in mention.spans]}
        | ({} if truth is None else {"gold": truth.gold})
        for mention, truth in _pairs(one)
    ]
    fields = {"articleID": article.id, "content": article.text}
    return (
        msgspec.json.encode(fields | _known({"title": article.title, "date": article.date}) | {"names": names}) + b"\n"
    )


def _tokens(span: tuple[int, int], tokens: list[tuple[int, int]]) -> tuple[int, int]:
    """The whitespace tokens that a span of characters touches."""
    start, end = span
    return bisect_right(tokens, start, key=lambda token: token[1]), bisect_left(tokens, end, key=lambda token: token[0])


def elevant(one: Labelled) -> bytes:
    """ELEVANT's linked articles: each occurrence is an entity mention, its id null where nobody is meant."""
    article = one.article
    mentions: list[dict[str, Any]] = [
        {"span": span, "recognized_by": BY, "id": qid, "linked_by": BY, "candidates": mention.candidates or _one(qid)}
        for mention, truth in _pairs(one)
        for qid in [_qid(mention, truth)]
        for span in mention.spans
    ]
    mentions.sort(key=lambda mention: mention["span"])
    fields = {"id": article.id, "title": article.title or "", "text": article.text, "entity_mentions": mentions}
    return msgspec.json.encode(fields | {"evaluation_span": [0, len(article.text)]}) + b"\n"


def _one(qid: str | None) -> list[str]:
    return [] if qid is None else [qid]


def nif(one: Labelled) -> bytes:
    """NIF in Turtle: each occurrence that has a truth is an annotation."""
    annotations = tuple(
        Annotation(span, _entity(one, mention, truth))
        for mention, truth in _pairs(one)
        if truth is not None
        for span in mention.spans
    )
    return turtle([Document(iri_of(one.article.id), one.article.text, annotations)], prefixes=False)


def _entity(one: Labelled, mention: Mention, truth: Truth) -> str:
    qid = _qid(mention, truth)
    if qid is not None:
        return ENTITY + qid
    return nobody(truth.surface) if truth.title is None else PAGE + quote(truth.title.replace(" ", "_"), safe="_()',")


WRITERS: dict[str, tuple[Callable[[Labelled], bytes], tuple[str, ...]]] = {
    "plain": (plain, (".jsonl", ".ndjson")),
    "quotebank": (quotebank, (".jsonl", ".ndjson")),
    "elevant": (elevant, (".jsonl", ".ndjson")),
    "nif": (nif, (".ttl", ".nif")),
}
"""What `namesake datasets convert --to` takes: the writer, and the suffixes that its files may have."""


def write(labelled: Iterable[Labelled], kb: KB | None, to: str, out: Path, inputs: Iterable[Path] = ()) -> Counts:
    """Write articles with their truth as one file, which appears whole or not at all; `inputs` are not overwritten."""
    if to not in WRITERS:
        raise NamesakeError(f"no format {to!r} to convert to; there are: {', '.join(WRITERS)}")
    writer, suffixes = WRITERS[to]
    if kind(out) not in suffixes:
        raise NamesakeError(
            f"{out}: {to} is written as {' or '.join(suffixes)}, perhaps with .gz, .bz2 or .zst behind it"
        )
    keep_apart([out], inputs)
    counts: Counts = Counter()
    seen: set[str] = set()
    with published(out) as partial, create(partial, out.suffix) as file:
        for one in resolved(labelled, kb):
            if one.article.id in seen:
                raise NamesakeError(f"article {one.article.id} stands twice in the data set")
            seen.add(one.article.id)
            file.write(writer(one))
            counts.update(truth.kind for truth in one.truths)
            counts["mentions"] += len(one.article.mentions or ())
            counts["articles"] += 1
    return counts
