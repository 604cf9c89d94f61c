"""`POST /nif`: NIF in Turtle, as GERBIL sends it to annotators.

If a document has phrases, they are linked (D2KB); if it has none, the detector finds names (A2KB). Positions are
characters, or UTF-16 units if the length that the document states counts these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from namesake.apps.server.endpoint import BAD_BODY, TURTLE, Endpoint, content_type
from namesake.apps.server.limits import Limits
from namesake.apps.server.pool import Pool
from namesake.apps.server.problems import RequestError, too_large
from namesake.apps.server.rel_api import by_surface
from namesake.apps.server.schema import GivenArticle, GivenMention, LinkAnswer, articles_of, check_given, weight
from namesake.apps.server.work import Job, Links
from namesake.datasets.nif import (
    BEGIN,
    END,
    ENTITY,
    NIF,
    REFERENCE,
    TYPE,
    Annotation,
    Document,
    Node,
    Text,
    contexts_of,
    nil_iri,
    nodes_of,
    placed,
    turtle,
)
from namesake.errors import NamesakeError

SENT = (TURTLE, "application/x-turtle")
KINDS = (*SENT, "application/turtle", "application/n-triples")
"""Content types of Turtle; N-Triples is a subset of it."""
NO_NAMES = {f"{NIF}{kind}" for kind in ("Context", "Sentence", "Paragraph", "Word", "Title")}
PHRASE = f"{NIF}Phrase"


@dataclass(frozen=True)
class Asked:
    """A document of a request; without `mentions`, the detector finds its names."""

    iri: str
    text: Text
    java: bool
    """Whether positions are UTF-16 units."""
    mentions: list[str | GivenMention] | None


def endpoints(pool: Pool) -> list[Endpoint]:
    """The endpoint of this module."""
    summary = "Link the phrases of NIF documents in Turtle, or the names in their contexts, to Wikidata."
    text = {"type": "string"}
    return [Endpoint("POST", "/nif", partial(link, pool), summary, text, text, KINDS, SENT, BAD_BODY)]


async def link(pool: Pool, request: Request, body: bytes) -> Response:
    """The documents with annotations."""
    limits = pool.limits
    asked = await pool.run(lambda: read(body, limits), large=len(body) > limits.small)
    given = [GivenArticle(one.text.characters, mentions=one.mentions) for one in asked]
    check_given(given, limits)
    job = Job(len(given), weight(given), partial(articles_of, given, limits), partial(written, asked))
    kind = content_type(request)
    return Response(await pool.link(job), media_type=kind if kind in SENT else TURTLE)


def read(body: bytes, limits: Limits) -> list[Asked]:
    """The documents of a request. They must be within the limits."""
    try:
        nodes = nodes_of(body, "the body")
    except NamesakeError as problem:
        raise RequestError(400, str(problem), "send NIF 2 as Turtle, in UTF-8") from None
    try:
        contexts = contexts_of(nodes, "the body")
        if len(contexts) > limits.articles:
            raise too_large("the list of contexts", limits.articles, "contexts")
        check_given([GivenArticle(text.characters) for text in contexts.values()], limits)
        phrases: dict[str, list[Node]] = {iri: [] for iri in contexts}
        for iri, node in nodes.items():
            context = iri if iri in contexts else node.get(REFERENCE, [""])[0]
            if context in phrases and _is_name(node):
                phrases[context].append(node)
        if sum(map(len, phrases.values())) > limits.mentions:
            raise too_large("the list of phrases", limits.mentions, "names")
        return [_asked(iri, text, nodes[iri], phrases[iri], limits) for iri, text in contexts.items()]
    except NamesakeError as problem:
        raise RequestError(422, str(problem), "send contexts with isString, and phrases that fit them") from None


def _is_name(node: Node) -> bool:
    """Whether a node is a name. A name that spans the whole text has the IRI and the types of its context."""
    kinds = node.get(TYPE, [])
    return PHRASE in kinds or not NO_NAMES.intersection(kinds)


def _asked(iri: str, text: Text, context: Node, phrases: Sequence[Node], limits: Limits) -> Asked:
    spans = []
    for node in phrases:
        _check_length(node, limits)
        span = placed(node, text, "a phrase")
        if span is None or not span[0] < span[1] <= len(text.characters):
            raise NamesakeError("the text at the place of a phrase is not its anchorOf")
        spans.append(span)
    stated = context.get(END, [""])[0].strip()
    java = not text.characters.isascii() and stated == str(int(text.starts[-1])) and stated != str(len(text.characters))
    return Asked(iri, text, java, by_surface(text.characters, spans, limits) if spans else None)


def _check_length(node: Node, limits: Limits) -> None:
    """Refuse a phrase that is too long for a name before its text is read; UTF-16 has up to two units per character."""
    stated = [node.get(place, [""])[0].strip() for place in (BEGIN, END)]
    begin, end = (int(one) if one.isdecimal() and len(one) < 19 else 0 for one in stated)
    if end - begin > 2 * limits.longest:
        raise NamesakeError(f"the phrase at {begin} has more than {limits.longest:,} characters")


def written(asked: Sequence[Asked], links: Links) -> bytes:
    """The documents with their annotations. Names of the detector that are linked to NIL are left out."""
    return turtle(
        Document(one.iri, one.text.characters, tuple(_annotations(found, one.mentions is not None)), one.java)
        for one, found in zip(asked, links, strict=True)
    )


def _annotations(links: Sequence[LinkAnswer], given: bool) -> list[Annotation]:
    found = [
        Annotation((start, end), nil_iri(link.name) if link.qid is None else ENTITY + link.qid, link.confidence)
        for link in links
        if given or link.qid is not None
        for start, end in link.spans
    ]
    return sorted(found, key=lambda one: one.span)
