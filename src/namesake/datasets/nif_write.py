"""NIF 2 as Turtle: articles with what stands in them, as GERBIL reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from namesake.articles.article import Span
from namesake.datasets.nif_graph import (
    ANCHOR,
    BEGIN,
    CONFIDENCE,
    CONTEXT,
    END,
    IDENTITY,
    ITS,
    NIF,
    REFERENCE,
    TEXT,
    TYPE,
    XSD,
    Text,
)
from namesake.errors import NamesakeError, lacking

ENTITY = "http://www.wikidata.org/entity/"
PAGE = "https://en.wikipedia.org/wiki/"
NOBODY = "http://aksw.org/notInWiki/"
PREFIXES = {"nif": NIF, "itsrdf": ITS, "xsd": XSD}


@dataclass(frozen=True)
class Annotation:
    """A name in a text, by its characters, and whom it means: an IRI."""

    span: Span
    entity: str
    confidence: float | None = None


@dataclass(frozen=True)
class Document:
    """A text by the IRI of its context, with its annotations; `java` counts places in UTF-16 units, as Java does."""

    iri: str
    text: str
    annotations: tuple[Annotation, ...] = ()
    java: bool = False


def nobody(surface: str) -> str:
    """An IRI for somebody of whom nothing is known but the name."""
    return NOBODY + quote(surface.replace(" ", "_"), safe="_")


def turtle(documents: Iterable[Document], prefixes: bool = True) -> bytes:
    """The documents as Turtle."""
    try:
        from pyoxigraph import RdfFormat, serialize
    except ImportError:
        raise lacking("NIF needs", "pyoxigraph", "nif") from None
    triples = (triple for document in documents for triple in _triples(document))
    try:
        written = serialize(triples, format=RdfFormat.TURTLE, prefixes=PREFIXES if prefixes else {})
    except ValueError as problem:
        raise NamesakeError(f"this cannot be written as Turtle ({problem})") from None
    assert written is not None
    return written


def _triples(document: Document) -> Iterator[Any]:
    from pyoxigraph import Literal, NamedNode, Triple

    text = Text(document.text)
    number = NamedNode(f"{XSD}nonNegativeInteger")

    def about(iri: str, start: int, end: int, kinds: tuple[str, ...]) -> Iterator[Any]:
        for kind in kinds:
            yield Triple(NamedNode(iri), NamedNode(TYPE), NamedNode(kind))
        for predicate, place in ((BEGIN, start), (END, end)):
            yield Triple(NamedNode(iri), NamedNode(predicate), Literal(str(place), datatype=number))

    def place(character: int) -> int:
        return int(text.starts[character]) if document.java else character

    yield from about(document.iri, 0, place(len(document.text)), (CONTEXT, f"{NIF}RFC5147String"))
    yield Triple(NamedNode(document.iri), NamedNode(TEXT), Literal(document.text))
    base = document.iri.partition("#")[0]
    for one in document.annotations:
        start, end = place(one.span[0]), place(one.span[1])
        iri = f"{base}#char={start},{end}"
        node = NamedNode(iri)
        yield from about(iri, start, end, (f"{NIF}Phrase", f"{NIF}RFC5147String"))
        yield Triple(node, NamedNode(REFERENCE), NamedNode(document.iri))
        yield Triple(node, NamedNode(ANCHOR), Literal(document.text[slice(*one.span)]))
        yield Triple(node, NamedNode(IDENTITY), NamedNode(one.entity))
        if one.confidence is not None:
            sure = Literal(repr(one.confidence), datatype=NamedNode(f"{XSD}double"))
            yield Triple(node, NamedNode(CONFIDENCE), sure)
