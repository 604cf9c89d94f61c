"""NIF 2 corpora in Turtle or N-Triples, as GERBIL uses them, parsed by pyoxigraph (the extra `nif`).

A `nif:Context` with `nif:isString` is an article, by the name of its IRI. A node with `nif:referenceContext`,
`nif:beginIndex`, `nif:endIndex` and `itsrdf:taIdentRef` is a mention; nodes without the last (words, sentences) say
nothing about entities. `taIdentRef` names a Wikidata item, an English DBpedia resource or Wikipedia page, a node that
is `owl:sameAs` one of these (as in the OKE challenges), or something made up for an entity that has no page.

Positions count characters. Where the text there is not the mention's `nif:anchorOf`, they are tried as UTF-16 units,
as Java counts; an annotation that fits neither way is set aside.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from namesake.articles.article import Article, Span
from namesake.articles.rejects import Reject, Rejects
from namesake.datasets.labelled import Labelled, Occurrence, label, page_title
from namesake.errors import NamesakeError
from namesake.files import open_lines
from namesake.files.lines import read_whole

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
CONTEXT, TEXT, ANCHOR = f"{NIF}Context", f"{NIF}isString", f"{NIF}anchorOf"
BEGIN, END, REFERENCE = f"{NIF}beginIndex", f"{NIF}endIndex", f"{NIF}referenceContext"
IDENTITY = "http://www.w3.org/2005/11/its/rdf#taIdentRef"
SAME = "http://www.w3.org/2002/07/owl#sameAs"
USED = {TYPE, TEXT, ANCHOR, BEGIN, END, REFERENCE, IDENTITY, SAME}

QID = re.compile(r"https?://(?:www\.)?wikidata\.org/(?:entity|wiki)/(Q\d+)")
PAGE = re.compile(r"https?://(?:en\.wikipedia\.org/wiki|dbpedia\.org/(?:resource|page))/(.+)")
NOBODY = re.compile(r"https?://(?:www\.)?aksw\.org/notInWiki\b", re.IGNORECASE)

Node = dict[str, list[str]]


def read_nif(path: Path, rejects: Rejects) -> Iterator[Labelled]:
    """Articles in the order of the file, mentions in the order of the text."""
    nodes = _nodes(path)
    contexts = {
        iri: Text(node[TEXT][0]) for iri, node in nodes.items() if CONTEXT in node.get(TYPE, ()) and TEXT in node
    }
    if not contexts:
        raise NamesakeError(f"{path}: no nif:Context with nif:isString, so no articles")
    mentions: dict[str, list[Occurrence]] = {iri: [] for iri in contexts}
    for iri, node in nodes.items():
        if IDENTITY not in node:
            continue
        where = f"{path} annotation {iri}"
        context = _one(node, REFERENCE, where)
        if context not in contexts:
            raise NamesakeError(f"{where}: its context {context} is not in the file, or has no text")
        span = _placed(node, contexts[context], where)
        if span is None:
            reason = "an annotation whose position does not hold its anchorOf"
            rejects.add(Reject(reason, str(path), None, iri))
            continue
        qid, title = _entity(node[IDENTITY], nodes)
        mentions[context].append(Occurrence([span], qid, title))
    for iri, text in contexts.items():
        found = sorted(mentions[iri], key=lambda occurrence: occurrence.spans[0])
        yield label(Article(iri, text.characters), found, f"{path} article {iri}")


def _nodes(path: Path) -> dict[str, Node]:
    """What the file says of each node, as far as we use it."""
    with open_lines(path) as stream:
        data = read_whole(stream, path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise NamesakeError(f"{path}: not UTF-8 ({problem.reason} at byte {problem.start})") from None
    nodes: dict[str, Node] = defaultdict(lambda: defaultdict(list))
    for subject, predicate, value in _triples(text, path):
        if predicate in USED:
            nodes[subject][predicate].append(value)
    return nodes


def _triples(text: str, path: Path) -> Iterator[tuple[str, str, str]]:
    """Subject, predicate and object of each triple: IRIs, names of blank nodes, texts of literals."""
    try:
        from pyoxigraph import RdfFormat, parse
    except ImportError:
        raise NamesakeError("NIF corpora need pyoxigraph: pip install 'namesake[nif]'") from None
    try:
        # lenient: corpora have IRIs with characters that the standard wants escaped
        for triple in parse(text, format=RdfFormat.TURTLE, lenient=True):
            yield triple.subject.value, triple.predicate.value, triple.object.value
    except (SyntaxError, ValueError) as problem:
        where = f" line {problem.lineno}" if isinstance(problem, SyntaxError) else ""
        raise NamesakeError(f"{path}{where}: not Turtle ({getattr(problem, 'msg', problem)})") from None


def _one(node: Node, predicate: str, where: str) -> str:
    if predicate not in node:
        raise NamesakeError(f"{where}: no {predicate.replace(NIF, 'nif:')}")
    return node[predicate][0]


class Text:
    """The text of an article, with places in it counted in characters or as Java counts."""

    def __init__(self, characters: str) -> None:
        self.characters = characters

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:
        """Where each character starts, and the text ends, in UTF-16 units: two for one beyond the first 65,536."""
        codes = np.frombuffer(self.characters.encode("utf-32-le", "surrogatepass"), np.uint32)
        return np.concatenate([np.zeros(1, np.int64), np.cumsum(1 + (codes >= 0x10000))])

    def character(self, unit: int) -> int:
        """The first character that starts at this UTF-16 unit or behind it."""
        return int(np.searchsorted(self.starts, unit))


def _placed(node: Node, text: Text, where: str) -> Span | None:
    """Where the mention stands, in characters; None where the text there is another."""
    begin, end = (_index(_one(node, predicate, where), where) for predicate in (BEGIN, END))
    anchor = node[ANCHOR][0] if ANCHOR in node else None
    if anchor is None or text.characters[begin:end] == anchor:
        return begin, end
    span = text.character(begin), text.character(end)
    return span if text.characters[slice(*span)] == anchor else None


def _index(value: str, where: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", value.strip()):
        raise NamesakeError(f"{where}: position {value[:40]!r} is not a number that a text could have")
    return int(value)


def _entity(references: list[str], nodes: dict[str, Node]) -> tuple[str | None, str | None]:
    """The QID, or the page's title, or neither, of what a mention refers to; a QID is best.

    A reference to something we cannot name, such as another DBpedia's resource, stays as its IRI, unresolved.
    """
    known = [other for iri in references for other in [iri, *_same(iri, nodes)]]
    for iri in known:
        if found := QID.fullmatch(iri):
            return found[1], None
    for iri in known:
        if found := PAGE.fullmatch(iri):
            return None, page_title(found[1])
    made_up = all(NOBODY.match(iri) or (iri in nodes and not _same(iri, nodes)) for iri in known)
    return None, None if made_up else known[-1]


def _same(iri: str, nodes: dict[str, Node]) -> list[str]:
    return nodes[iri].get(SAME, []) if iri in nodes else []
