"""Endpoints that link, explain and look up, also in the formats of REL and GERBIL (docs/http-api.md)."""

from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Annotated

import msgspec
import numpy as np
import pyarrow as pa
from msgspec import Meta
from starlette.requests import Request
from starlette.responses import Response

from namesake.apps.server import schema
from namesake.apps.server.endpoint import TURTLE, Endpoint, RequestError, check_size, content_type, url_parameters
from namesake.apps.server.limits import Limits
from namesake.apps.server.pool import Job, LinkOptions, Links, Pool
from namesake.apps.server.schema import ExplainRequest, GivenArticle, GivenMention, LinkRequest, LinkResponse
from namesake.articles.builder import ArticleBuilder
from namesake.datasets import nif
from namesake.drawing.theme import symbol
from namesake.errors import NamesakeError
from namesake.explain import EXPLANATION, Row, explanation_rows, mentions_called
from namesake.kb.records import Entity, Found

ROWS = {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object"}}}}
Results = Annotated[int, Meta(ge=1, le=100, description="the largest number of results")]


class SearchResponse(msgspec.Struct, frozen=True):
    """The entities with a name, those with the most sitelinks first."""

    name: str
    results: list[Found]


def endpoints(pool: Pool) -> list[Endpoint]:
    """The endpoints of this module."""
    kb = pool.linker.kb

    def entity(qid: schema.Qid) -> Entity:
        """Everything that the KB stores about an entity."""
        if (found := kb.entity(qid)) is None:
            raise RequestError(404, f"the KB has no {qid}", "search by name: /search?name=…")
        return found

    def search(name: schema.Name, limit: Results = 20, kinds: schema.KindList | None = None) -> SearchResponse:
        """The entities with a name, those with the most sitelinks first."""
        return SearchResponse(name, kb.search(name, limit, pool.kinds(kinds)))

    text = {"type": "string"}
    return [
        Endpoint("POST", "/link", partial(link, pool), LinkRequest, LinkResponse),
        Endpoint("POST", "/explain", partial(explain, pool), ExplainRequest, ROWS),
        pool.lookup("/entity/{qid}", entity, Entity, errors=(404,)),
        pool.lookup("/search", search, SearchResponse),
        Endpoint("POST", "/rel", partial(link_rel, pool), RelRequest, REL_ROWS),
        Endpoint("POST", "/nif", partial(link_nif, pool), text, text, TURTLES, SENT, query=NifParameters),
    ]


async def link(pool: Pool, request: Request, asked: LinkRequest) -> bytes:
    """Link the names in a text, or in articles, to Wikidata."""
    given = _given(asked, pool.limits)
    ids = None if asked.articles is None else [one.id or str(number) for number, one in enumerate(given)]
    kinds, candidates = pool.kinds(asked.kinds), asked.candidates or asked.parts
    options = LinkOptions(asked.threshold, kinds, candidates, asked.parts, asked.limit)
    if options.candidates:
        schema.check_explained(given, pool.limits)
    pool.at(options.threshold, kinds)  # an unknown threshold is an error of this request alone

    def render(links: Links) -> bytes:
        if ids is None:
            return msgspec.json.encode(LinkResponse(links=links[0]))
        return msgspec.json.encode(LinkResponse(articles=list(map(schema.ArticleAnswer, ids, links))))

    return await pool.link(Job(given, render, options, ids is not None))


def _given(asked: LinkRequest, limits: Limits) -> Sequence[GivenArticle]:
    """The articles of a request. A text is one article."""
    if (asked.text is None) == (asked.articles is None):
        raise RequestError(422, "a request has either `text` or `articles`", "send one of them")
    if asked.articles is None:
        return [GivenArticle(asked.text or "", title=asked.title, date=asked.date, mentions=asked.mentions)]
    if asked.title is not None or asked.date is not None or asked.mentions is not None:
        raise RequestError(422, "`title`, `date` and `mentions` belong to a text", "put them into each of the articles")
    check_size("the list of articles", len(asked.articles), limits.articles, "articles")
    return asked.articles


async def explain(pool: Pool, request: Request, asked: ExplainRequest) -> bytes:
    """Explain links: one row per candidate and part of its score, including NIL."""
    given, limits = GivenArticle(asked.text, title=asked.title, date=asked.date, mentions=asked.mentions), pool.limits
    schema.check_explained([given], limits)
    schema.check_given([given], limits)
    linker = pool.at(asked.threshold, pool.kinds(asked.kinds))

    def explained() -> dict[str, list[Row]]:
        builder = ArticleBuilder()
        builder.add(*schema.articles_of([given], limits, several=False))
        scored = linker.scored(builder.table())
        candidates = np.diff(scored.batch.offsets)[mentions_called(scored, asked.name)]
        if np.minimum(candidates, asked.limit).sum() > limits.explanations:
            error = f"the request asks for explanations of more than {limits.explanations:,} candidates"
            raise RequestError(413, error, "give one name with `name`, or ask for fewer candidates with `limit`")
        rows, listed = [], 0
        for row in explanation_rows(scored, asked.name, asked.limit):
            matches = row.get("matches", ())
            listed += 1 + len(row["spans"]) + len(matches)
            listed += sum(len(match["spans"]) + len(match["sources"]) for match in matches)
            if listed > limits.listed:
                error = f"the explanation would list more than {limits.listed:,} places, matches and sources"
                advice = "give one name with `name`, ask for fewer candidates with `limit`, or send a shorter text"
                raise RequestError(413, error, advice)
            rows.append(row)
        return {"rows": pa.Table.from_pylist(rows, EXPLANATION).drop_columns("article_id").to_pylist()}

    return await pool.json(explained, large=True)


# the formats of other linkers
REL_TAGS, OTHER_TAG = ("PER", "LOC", "ORG"), "MISC"  # tags of REL: symbols of kinds, and the tag of all other kinds
NifDocument = tuple[nif.Document, list[str | GivenMention] | None]
"""A document without annotations, and its mentions; without mentions, the detector finds its names."""
REL_ROWS = {"type": "array", "items": {"type": "array", "minItems": 7, "maxItems": 7}}
SENT = (TURTLE, "application/x-turtle")
TURTLES = (*SENT, "application/turtle", "application/n-triples")  # content types of Turtle; N-Triples is a subset of it
NO_NAMES = {f"{nif.NIF}{kind}" for kind in ("Context", "Sentence", "Paragraph", "Word", "Title")}
PHRASE = f"{nif.NIF}Phrase"


class RelSpan(schema.StrictStruct, frozen=True):
    """The place of a name, in characters."""

    start: schema.Place
    length: schema.Place


class RelRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A text and the places of its names: [start, length] in characters. Without places, the detector finds names."""

    text: str
    spans: Annotated[list[tuple[schema.Place, schema.Place] | RelSpan], Meta(max_length=100_000)] = []
    kinds: schema.Kinds | None = None


class NifParameters(msgspec.Struct, frozen=True):
    """The parameters of `/nif`."""

    kinds: schema.KindList | None = None


def by_surface(text: str, spans: list[tuple[int, int]], limits: Limits) -> list[str | GivenMention]:
    """Mentions at some places of a text. Places with the same text are one mention."""
    for start, end in spans:
        if end - start > limits.longest:
            error = f"the name at {start} has more than {limits.longest:,} characters"
            raise RequestError(422, error, "give the places of names")
    read = sorted((text[start:end], start, end) for start, end in set(spans))
    return [
        GivenMention(surface, [(start, end) for _, start, end in places])
        for surface, places in groupby(read, key=lambda one: one[0])
    ]


# REL
async def link_rel(pool: Pool, request: Request, asked: RelRequest) -> bytes:
    """Links in the format of REL: rows of start, length, mention, entity, conf_ed, conf_md, tag."""
    limits = pool.limits
    schema.check_given([GivenArticle(asked.text)], limits)
    check_size("the list of spans", len(asked.spans), limits.mentions, "names")
    options = LinkOptions(kinds=pool.kinds(asked.kinds))

    def mentions() -> list[str | GivenMention]:
        places = [(one.start, one.length) if isinstance(one, RelSpan) else one for one in asked.spans]
        for start, length in places:
            if not 0 < length <= len(asked.text) - start:
                error = f"span [{start}, {length}] does not fit the text of {len(asked.text)} characters"
                raise RequestError(422, error, "give start and length in characters")
        return by_surface(asked.text, [(start, start + length) for start, length in places], limits)

    def render(links: Links) -> bytes:
        rows = []
        for link in (one for one in links[0] if one.qid is not None):
            confidences = [1.0 if one is None else one for one in (link.confidence, link.known)]
            tag = tag if (tag := symbol(link.kind)) in REL_TAGS else OTHER_TAG
            rows += [(start, end - start, link.name, link.qid, *confidences, tag) for start, end in link.spans]
        return msgspec.json.encode(sorted(rows))

    given = GivenArticle(asked.text, mentions=await pool.run(mentions) if asked.spans else None)
    return await pool.link(Job([given], render, options, several=False))


# NIF
async def link_nif(pool: Pool, request: Request, body: bytes) -> Response:
    """Link the phrases of NIF documents in Turtle, or the names in their contexts, to Wikidata."""
    limits, given_kinds = pool.limits, url_parameters(request, NifParameters).kinds
    options = LinkOptions(kinds=pool.kinds(given_kinds))
    asked = await pool.run(lambda: _documents(body, limits), large=len(body) > limits.small)
    given = [GivenArticle(document.text, mentions=mentions) for document, mentions in asked]
    kind = content_type(request)

    def render(links: Links) -> bytes:
        """The documents with their annotations. Names of the detector that are linked to NIL are left out."""
        documents, ids = [], pool.linker.kb.ids
        for (document, mentions), found in zip(asked, links, strict=True):
            annotations = [
                nif.Annotation(span, ids.iri(one.qid, nif.ENTITY) if one.qid else nif.nil_iri(one.name), one.confidence)
                for one in found
                if mentions is not None or one.qid is not None
                for span in one.spans
            ]
            ordered = tuple(sorted(annotations, key=lambda annotation: annotation.span))
            documents.append(document._replace(annotations=ordered))
        return nif.turtle(documents)

    answer = await pool.link(Job(given, render, options))
    return Response(answer, media_type=kind if kind in SENT else TURTLE)


def _documents(body: bytes, limits: Limits) -> list[NifDocument]:
    """The documents of a request. They must be within the limits."""
    try:
        nodes = nif.nodes_of(body, "the body")
    except NamesakeError as problem:
        raise RequestError(400, str(problem), "send NIF 2 as Turtle, in UTF-8") from None
    try:
        contexts = nif.contexts_of(nodes, "the body")
        check_size("the list of contexts", len(contexts), limits.articles, "contexts")
        schema.check_given([GivenArticle(text) for text in contexts.values()], limits)
        phrases: dict[str, list[nif.Node]] = {iri: [] for iri in contexts}
        for iri, node in nodes.items():
            context = iri if iri in contexts else node.get(nif.REFERENCE, [""])[0]
            types = node.get(nif.TYPE, [])  # a name that spans the whole text has the IRI and the types of its context
            if context in phrases and (PHRASE in types or not NO_NAMES.intersection(types)):
                phrases[context].append(node)
        check_size("the list of phrases", sum(map(len, phrases.values())), limits.mentions, "names")
        return [_document(iri, text, nodes[iri], phrases[iri], limits) for iri, text in contexts.items()]
    except NamesakeError as problem:
        raise RequestError(422, str(problem), "send contexts with isString, and phrases that fit them") from None


def _document(iri: str, text: str, context: nif.Node, phrases: Sequence[nif.Node], limits: Limits) -> NifDocument:
    spans = []
    for node in phrases:
        stated = [node.get(place, [""])[0].strip() for place in (nif.BEGIN, nif.END)]
        begin, end = (int(one) if one.isdecimal() and len(one) < 19 else 0 for one in stated)
        if end - begin > 2 * limits.longest:  # checked before its text is read; UTF-16 has up to two units a character
            raise NamesakeError(f"the phrase at {begin} has more than {limits.longest:,} characters")
        span = nif.placed(node, text, "a phrase")
        if span is None or not span[0] < span[1] <= len(text):
            raise NamesakeError("the text at the place of a phrase is not its anchorOf")
        spans.append(span)
    length = context.get(nif.END, [""])[0].strip()
    java = not text.isascii() and length == str(int(nif.utf16_starts(text)[-1])) and length != str(len(text))
    mentions = by_surface(text, spans, limits) if spans else None
    return nif.Document(iri, text, java=java), mentions
