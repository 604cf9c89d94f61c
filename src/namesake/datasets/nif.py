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
from collections.abc import Iterator
from pathlib import Path

from namesake.articles.article import Article
from namesake.articles.rejects import Reject, Rejects
from namesake.datasets.labelled import Labelled, Occurrence, label, page_title
from namesake.datasets.nif_graph import IDENTITY, REFERENCE, SAME, Node, contexts_of, id_of, nodes_of, one_of, placed
from namesake.errors import NamesakeError
from namesake.files import open_lines
from namesake.files.lines import read_whole

QID = re.compile(r"https?://(?:www\.)?wikidata\.org/(?:entity|wiki)/(Q\d+)")
PAGE = re.compile(r"https?://(?:en\.wikipedia\.org/wiki|dbpedia\.org/(?:resource|page))/(.+)")
NOBODY = re.compile(r"https?://(?:www\.)?aksw\.org/notInWiki\b", re.IGNORECASE)


def read_nif(path: Path, rejects: Rejects) -> Iterator[Labelled]:
    """Articles in the order of the file, mentions in the order of the text."""
    with open_lines(path) as stream:
        nodes = nodes_of(read_whole(stream, path), str(path))
    contexts = contexts_of(nodes, str(path))
    mentions: dict[str, list[Occurrence]] = {iri: [] for iri in contexts}
    for iri, node in nodes.items():
        if IDENTITY not in node:
            continue
        where = f"{path} annotation {iri}"
        context = one_of(node, REFERENCE, where)
        if context not in contexts:
            raise NamesakeError(f"{where}: its context {context} is not in the file, or has no text")
        span = placed(node, contexts[context], where)
        if span is None:
            reason = "an annotation whose position does not hold its anchorOf"
            rejects.add(Reject(reason, str(path), None, iri))
            continue
        qid, title = _entity(node[IDENTITY], nodes)
        mentions[context].append(Occurrence([span], qid, title))
    for iri, text in contexts.items():
        found = sorted(mentions[iri], key=lambda occurrence: occurrence.spans[0])
        yield label(Article(id_of(iri), text.characters), found, f"{path} article {iri}")


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
