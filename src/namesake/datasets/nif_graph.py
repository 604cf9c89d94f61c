"""NIF 2 as a graph: what Turtle says of contexts and of what stands in them. Corpora and the server read it so."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from urllib.parse import quote, unquote

import numpy as np
import numpy.typing as npt

from namesake.articles.article import Span
from namesake.errors import NamesakeError, lacking

TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
NIF = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
ITS = "http://www.w3.org/2005/11/its/rdf#"
XSD = "http://www.w3.org/2001/XMLSchema#"
CONTEXT, TEXT, ANCHOR = f"{NIF}Context", f"{NIF}isString", f"{NIF}anchorOf"
BEGIN, END, REFERENCE = f"{NIF}beginIndex", f"{NIF}endIndex", f"{NIF}referenceContext"
IDENTITY, CONFIDENCE = f"{ITS}taIdentRef", f"{ITS}taConfidence"
SAME = "http://www.w3.org/2002/07/owl#sameAs"
USED = {TYPE, TEXT, ANCHOR, BEGIN, END, REFERENCE, IDENTITY, SAME}
OURS = "urn:article:"
"""Before the ids of articles that are no IRIs."""

Node = dict[str, list[str]]


def nodes_of(data: bytes, where: str) -> dict[str, Node]:
    """What Turtle says of each node, as far as we use it; messages begin with `where`."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise NamesakeError(f"{where}: not UTF-8 ({problem.reason} at byte {problem.start})") from None
    nodes: dict[str, Node] = defaultdict(lambda: defaultdict(list))
    for subject, predicate, value in _triples(text, where):
        if predicate in USED:
            nodes[subject][predicate].append(value)
    return nodes


def _triples(text: str, where: str) -> Iterator[tuple[str, str, str]]:
    """Subject, predicate and object of each triple: IRIs, names of blank nodes, texts of literals."""
    try:
        from pyoxigraph import RdfFormat, parse
    except ImportError:
        raise lacking("NIF corpora need", "pyoxigraph", "nif") from None
    try:
        # lenient: corpora have IRIs with characters that the standard wants escaped
        for triple in parse(text, format=RdfFormat.TURTLE, lenient=True):
            yield triple.subject.value, triple.predicate.value, triple.object.value
    except (SyntaxError, ValueError) as problem:
        line = f" line {problem.lineno}" if isinstance(problem, SyntaxError) else ""
        raise NamesakeError(f"{where}{line}: not Turtle ({getattr(problem, 'msg', problem)})") from None


def contexts_of(nodes: dict[str, Node], where: str) -> dict[str, Text]:
    """The texts by the IRIs of their contexts, of which there must be some."""
    contexts = {
        iri: Text(node[TEXT][0]) for iri, node in nodes.items() if CONTEXT in node.get(TYPE, ()) and TEXT in node
    }
    if not contexts:
        raise NamesakeError(f"{where}: no nif:Context with nif:isString, so no articles")
    return contexts


def one_of(node: Node, predicate: str, where: str) -> str:
    """The first value that a node has; it must have one."""
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


def placed(node: Node, text: Text, where: str) -> Span | None:
    """Where the mention stands, in characters; None where the text there is another."""
    begin, end = (_index(one_of(node, predicate, where), where) for predicate in (BEGIN, END))
    anchor = node[ANCHOR][0] if ANCHOR in node else None
    if anchor is None or text.characters[begin:end] == anchor:
        return begin, end
    span = text.character(begin), text.character(end)
    return span if text.characters[slice(*span)] == anchor else None


def _index(value: str, where: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", value.strip()):
        raise NamesakeError(f"{where}: position {value[:40]!r} is not a number that a text could have")
    return int(value)


def iri_of(article: str) -> str:
    """The IRI of an article: its id, where that is one."""
    return (
        article if re.match(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]+$", article) else OURS + quote(article, safe="")
    )


def id_of(iri: str) -> str:
    """The id of an article, from its IRI."""
    return unquote(iri.removeprefix(OURS)) if iri.startswith(OURS) else iri
