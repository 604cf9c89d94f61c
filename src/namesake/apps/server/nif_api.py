"""`POST /nif`: NIF in Turtle in and out, as GERBIL asks annotators.

A document that has phrases is linked at these places (D2KB); in one that has none, names are found (A2KB). Places come
back as they were counted: in characters, or in UTF-16 units where the document's own length says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from namesake.apps.server.http import TURTLE, Call, Reply, Route
from namesake.apps.server.limits import Limits
from namesake.apps.server.link_api import BAD_BODY
from namesake.apps.server.pool import Pool
from namesake.apps.server.problems import RequestError, too_large
from namesake.apps.server.rel_api import by_surface
from namesake.apps.server.schema import GivenArticle, GivenMention, LinkAnswer, articles_of, check_given, weight
from namesake.apps.server.work import Links, Texts, Wish
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

KINDS = (TURTLE, "application/x-turtle", "application/turtle", "application/n-triples")
"""Content types of Turtle; N-Triples are Turtle, too."""
NO_NAMES = {f"{NIF}{kind}" for kind in ("Context", "Sentence", "Paragraph", "Word", "Title")}
PHRASE = f"{NIF}Phrase"


@dataclass(frozen=True)
class Asked:
    """A document of a request; without `mentions` names are to be found in it."""

    iri: str
    text: Text
    java: bool
    mentions: list[str | GivenMention] | None


class NifApi:
    """What GERBIL asks."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    def routes(self) -> list[Route]:
        """What it answers."""
        told = "NIF in Turtle: the names in its contexts, or its phrases, come back linked to Wikidata."
        schema = {"type": "string"}
        kinds = dict.fromkeys(KINDS[:2], schema)
        return [Route("POST", "/nif", self.link, told, kinds, kinds, fails=BAD_BODY)]

    async def link(self, call: Call) -> Reply:
        """The document with annotations."""
        call.must_be(*KINDS)
        body = await call.body()
        limits = self.pool.limits
        run = self.pool.look if len(body) <= limits.small else self.pool.run
        asked = await run(lambda: read(body, limits))
        given = [GivenArticle(one.text.characters, mentions=one.mentions) for one in asked]
        check_given(given, limits)
        texts = Texts(len(given), weight(given), lambda: articles_of(given, limits))
        answer = await self.pool.link(texts, Wish(), lambda links: written(asked, links))
        return Reply(answer, call.kind if call.kind in KINDS[:2] else TURTLE)


def read(body: bytes, limits: Limits) -> list[Asked]:
    """The documents of a request, as far as they are within the limits."""
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
    """Whether a node is a name; one that spans the whole text has the IRI of its context, and the types of both."""
    kinds = node.get(TYPE, [])
    return PHRASE in kinds or not NO_NAMES.intersection(kinds)


def _asked(iri: str, text: Text, context: Node, phrases: Sequence[Node], limits: Limits) -> Asked:
    spans = []
    for node in phrases:
        _check_length(node, limits)
        span = placed(node, text, "a phrase")
        if span is None or not span[0] < span[1] <= len(text.characters):
            raise NamesakeError("the place of a phrase does not hold its anchorOf")
        spans.append(span)
    told = context.get(END, [""])[0].strip()
    java = not text.characters.isascii() and told == str(int(text.starts[-1])) and told != str(len(text.characters))
    return Asked(iri, text, java, by_surface(text.characters, spans, limits) if spans else None)


def _check_length(node: Node, limits: Limits) -> None:
    """Refuse a phrase that is too long for a name before its text is looked at; UTF-16 has up to twice the units."""
    told = [node.get(place, [""])[0].strip() for place in (BEGIN, END)]
    begin, end = (int(one) if one.isdecimal() and len(one) < 19 else 0 for one in told)
    if end - begin > 2 * limits.longest:
        raise NamesakeError(f"the phrase at {begin} has more than {limits.longest:,} characters")


def written(asked: Sequence[Asked], links: Links) -> bytes:
    """The documents with their annotations; a phrase that nobody fits is nobody, a name that was found is left out."""
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
