"""NIF 2 corpora in Turtle or N-Triples, as GERBIL uses them; pyoxigraph (the extra `nif`) parses and writes them.

docs/datasets.md describes the nodes that are read. Positions count characters. If the text there differs from
`nif:anchorOf`, they are tried as UTF-16 units, as Java counts. An annotation that fits neither way is rejected.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote, unquote

import numpy as np

from namesake.arrays import Int64, indptr
from namesake.articles.article import Article, Span
from namesake.articles.rejects import Reject, Rejects
from namesake.datasets.corpus_formats import LabelledArticle, Occurrence, gold_qid, label, page_title
from namesake.errors import NamesakeError, lacking
from namesake.files import open_lines
from namesake.files.lines import read_whole
from namesake.kb.ids import Ids

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
ITS = "http://www.w3.org/2005/11/its/rdf#"
XSD = "http://www.w3.org/2001/XMLSchema#"
CONTEXT, TEXT, ANCHOR = f"{NIF}Context", f"{NIF}isString", f"{NIF}anchorOf"
BEGIN, END, REFERENCE = f"{NIF}beginIndex", f"{NIF}endIndex", f"{NIF}referenceContext"
IDENTITY, CONFIDENCE = f"{ITS}taIdentRef", f"{ITS}taConfidence"
SAME = "http://www.w3.org/2002/07/owl#sameAs"
USED = {TYPE, TEXT, ANCHOR, BEGIN, END, REFERENCE, IDENTITY, SAME}
PREFIXES = {"nif": NIF, "itsrdf": ITS, "xsd": XSD}

ENTITY, PAGE = "http://www.wikidata.org/entity/", "https://en.wikipedia.org/wiki/"
NOT_IN_WIKI = "http://aksw.org/notInWiki/"
ARTICLE = "urn:article:"  # the prefix of IRIs for article ids that are not IRIs
QID_IRI = re.compile(r"https?://(?:www\.)?wikidata\.org/(?:entity|wiki)/(Q\d+)")
PAGE_IRI = re.compile(r"https?://(?:en\.wikipedia\.org/wiki|dbpedia\.org/(?:resource|page))/(.+)")
NIL_IRI = re.compile(r"https?://(?:www\.)?aksw\.org/notInWiki\b", re.IGNORECASE)

Node = dict[str, list[str]]  # the values of a node by predicate


@lru_cache(maxsize=4)
def utf16_starts(text: str) -> Int64:
    """Return the UTF-16 unit at which each character starts, and the one at which the text ends."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    return indptr(1 + (codes >= 0x10000))


def _pyoxigraph() -> Any:
    try:
        import pyoxigraph
    except ImportError:
        raise lacking("NIF corpora need", "pyoxigraph", "nif") from None
    return pyoxigraph


def nodes_of(data: bytes, where: str) -> dict[str, Node]:
    """Parse Turtle into nodes, with the predicates that are used here; messages begin with `where`."""
    rdf = _pyoxigraph()
    nodes: dict[str, Node] = defaultdict(lambda: defaultdict(list))
    try:
        # lenient: corpora have IRIs with characters that the standard requires to be escaped
        for triple in rdf.parse(data.decode("utf-8-sig"), format=rdf.RdfFormat.TURTLE, lenient=True):
            if triple.predicate.value in USED:
                nodes[triple.subject.value][triple.predicate.value].append(triple.object.value)
    except UnicodeDecodeError as problem:
        raise NamesakeError(f"{where}: not UTF-8 ({problem.reason} at byte {problem.start})") from None
    except (SyntaxError, ValueError) as problem:
        line = f" line {problem.lineno}" if isinstance(problem, SyntaxError) else ""
        raise NamesakeError(f"{where}{line}: not Turtle ({getattr(problem, 'msg', problem)})") from None
    return nodes


def contexts_of(nodes: dict[str, Node], where: str) -> dict[str, str]:
    """Return the texts by the IRIs of their contexts; there must be at least one."""
    contexts = {iri: node[TEXT][0] for iri, node in nodes.items() if CONTEXT in node.get(TYPE, ()) and TEXT in node}
    if not contexts:
        raise NamesakeError(f"{where}: no nif:Context with nif:isString, so no articles")
    return contexts


def placed(node: Node, text: str, where: str) -> Span | None:
    """Return the span of a mention in characters; None if the text there is not the mention's."""
    stated = [_value(node, predicate, where) for predicate in (BEGIN, END)]
    if wrong := [value for value in stated if not re.fullmatch(r"[0-9]{1,18}", value.strip())]:
        raise NamesakeError(f"{where}: position {wrong[0][:40]!r} is not a position in a text")
    begin, end = map(int, stated)
    anchor = node[ANCHOR][0] if ANCHOR in node else None
    if anchor is None or text[begin:end] == anchor:
        return begin, end
    begin, end = np.searchsorted(utf16_starts(text), (begin, end)).tolist()
    return (begin, end) if text[begin:end] == anchor else None


def _value(node: Node, predicate: str, where: str) -> str:
    if predicate not in node:
        raise NamesakeError(f"{where}: no {predicate.replace(NIF, 'nif:')}")
    return node[predicate][0]


def read_nif(path: Path, rejects: Rejects) -> Iterator[LabelledArticle]:
    """Read articles in the order of the file, with mentions in the order of the text."""
    with open_lines(path) as stream:
        nodes = nodes_of(read_whole(stream, path), str(path))
    contexts = contexts_of(nodes, str(path))
    mentions: dict[str, list[Occurrence]] = {iri: [] for iri in contexts}
    for iri, node in nodes.items():
        if IDENTITY not in node:
            continue
        where = f"{path} annotation {iri}"
        context = _value(node, REFERENCE, where)
        if context not in contexts:
            raise NamesakeError(f"{where}: its context {context} is not in the file, or has no text")
        span = placed(node, contexts[context], where)
        if span is None:
            rejects.add(Reject("an annotation whose position does not hold its anchorOf", str(path), None, iri))
        else:
            mentions[context].append(Occurrence([span], *_entity(node[IDENTITY], nodes)))
    for iri, text in contexts.items():
        found = sorted(mentions[iri], key=lambda occurrence: occurrence.spans[0])
        identifier = unquote(iri.removeprefix(ARTICLE)) if iri.startswith(ARTICLE) else iri
        yield label(Article(identifier, text), found, f"{path} article {iri}")


def _entity(references: list[str], nodes: dict[str, Node]) -> tuple[str | None, str | None]:
    """The QID of what a mention refers to, else the title of its page, else another IRI; neither for NIL."""

    def same(iri: str) -> list[str]:
        return nodes[iri].get(SAME, []) if iri in nodes else []

    known = [other for iri in references for other in [iri, *same(iri)]]
    for iri in known:
        if found := QID_IRI.fullmatch(iri):
            return found[1], None
    for iri in known:
        if found := PAGE_IRI.fullmatch(iri):
            return None, page_title(found[1])
    made_up = all(NIL_IRI.match(iri) or (iri in nodes and not same(iri)) for iri in known)
    return None, None if made_up else known[-1]


class Annotation(NamedTuple):
    """A mention, in characters, and the IRI of its entity."""

    span: Span
    entity: str
    confidence: float | None = None


class Document(NamedTuple):
    """A text with annotations, by the IRI of its context; `java` counts positions in UTF-16 units."""

    iri: str
    text: str
    annotations: tuple[Annotation, ...] = ()
    java: bool = False


def nil_iri(surface: str) -> str:
    """Return an IRI for an entity that is not in the KB."""
    return NOT_IN_WIKI + quote(surface.replace(" ", "_"), safe="_")


def write_nif(one: LabelledArticle) -> bytes:
    """Write an article as Turtle: each occurrence that has a truth is an annotation. No titles, dates, candidates."""
    annotations = []
    for mention, truth in one.pairs():
        if truth is not None:
            qid = gold_qid(mention, truth)
            page = PAGE + quote((truth.title or "").replace(" ", "_"), safe="_()',")
            iri = nil_iri(truth.surface) if truth.title is None else page
            iri = iri if qid is None else Ids().iri(qid, ENTITY)
            annotations += [Annotation(span, iri) for span in mention.spans]
    article = one.article.id
    is_iri = re.match(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+$", article)
    iri = article if is_iri else ARTICLE + quote(article, safe="")
    return turtle([Document(iri, one.article.text, tuple(annotations))], prefixes=False)


def turtle(documents: Iterable[Document], prefixes: bool = True) -> bytes:
    """Return documents as Turtle."""
    rdf = _pyoxigraph()
    triples = (triple for document in documents for triple in _triples(document))
    try:
        written: bytes = rdf.serialize(triples, format=rdf.RdfFormat.TURTLE, prefixes=PREFIXES if prefixes else {})
    except ValueError as problem:
        raise NamesakeError(f"this cannot be written as Turtle ({problem})") from None
    return written


def _triples(document: Document) -> Iterator[Any]:
    from pyoxigraph import Literal, NamedNode, Triple

    starts = utf16_starts(document.text) if document.java else range(len(document.text) + 1)

    def about(iri: str, span: Span, kind: str, more: Iterable[tuple[str, Any]]) -> Iterator[Any]:
        number = NamedNode(f"{XSD}nonNegativeInteger")
        facts: list[tuple[str, Any]] = [(TYPE, NamedNode(kind)), (TYPE, NamedNode(f"{NIF}RFC5147String"))]
        facts += [(key, Literal(str(at), datatype=number)) for key, at in zip((BEGIN, END), span, strict=True)]
        return (Triple(NamedNode(iri), NamedNode(predicate), value) for predicate, value in [*facts, *more])

    yield from about(document.iri, (0, int(starts[len(document.text)])), CONTEXT, [(TEXT, Literal(document.text))])
    base = document.iri.partition("#")[0]
    for one in document.annotations:
        start, end = (int(starts[at]) for at in one.span)
        more: list[tuple[str, Any]] = [
            (REFERENCE, NamedNode(document.iri)),
            (ANCHOR, Literal(document.text[slice(*one.span)])),
            (IDENTITY, NamedNode(one.entity)),
        ]
        if one.confidence is not None:
            more.append((CONFIDENCE, Literal(repr(one.confidence), datatype=NamedNode(f"{XSD}double"))))
        yield from about(f"{base}#char={start},{end}", (start, end), f"{NIF}Phrase", more)
