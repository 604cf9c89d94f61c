"""`POST /link` and `POST /explain`."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from namesake.apps.server.http import JSON, Call, Reply, Route
from namesake.apps.server.pool import Links, Pool, Wish
from namesake.apps.server.problems import RequestError, too_large
from namesake.apps.server.schema import (
    ArticleAnswer,
    ExplainRequest,
    GivenArticle,
    LinkRequest,
    LinkResponse,
    article_of,
    check_explained,
)
from namesake.articles.builder import ArticleBuilder

_link = msgspec.json.Decoder(LinkRequest)
_explain = msgspec.json.Decoder(ExplainRequest)
_encode = msgspec.json.Encoder().encode

BAD_BODY = (400, 408, 413, 415, 422, 429, 503)


class LinkApi:
    """Texts in, links out, and why."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.limits = pool.limits

    def routes(self) -> list[Route]:
        """What it answers."""
        return [
            Route(
                "POST",
                "/link",
                self.link,
                "Link the names in a text, or in articles, to Wikidata.",
                {JSON: LinkRequest},
                {JSON: LinkResponse},
                fails=BAD_BODY,
            ),
            Route(
                "POST",
                "/explain",
                self.explain,
                "Why: a row for each candidate and part of its score, none of them included.",
                {JSON: ExplainRequest},
                {JSON: {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object"}}}}},
                fails=BAD_BODY,
            ),
        ]

    async def link(self, call: Call) -> Reply:
        """Links of a text or of articles."""
        asked = await call.json(_link)
        given = self._given(asked)
        articles = [
            article_of(one, number, "the request" if asked.articles is None else f"articles[{number}]", self.limits)
            for number, one in enumerate(given)
        ]
        ids = None if asked.articles is None else [one.id or str(number) for number, one in enumerate(given)]
        wish = Wish(asked.threshold, asked.candidates or asked.parts, asked.parts)
        if wish.candidates:
            check_explained(given, self.limits)
        if wish.threshold is not None:
            self.pool.at(wish.threshold)  # refused here where the recipe does not know it
        return Reply(await self.pool.link(articles, wish, lambda links: _rendered(links, ids)))

    def _given(self, asked: LinkRequest) -> Sequence[GivenArticle]:
        """The articles of a request; a text is one."""
        if (asked.text is None) == (asked.articles is None):
            raise RequestError(422, "a request has either `text` or `articles`", "send one of them")
        if asked.articles is None:
            return [GivenArticle(asked.text or "", None, asked.title, asked.date, asked.mentions)]
        if asked.title is not None or asked.date is not None or asked.mentions is not None:
            raise RequestError(
                422, "`title`, `date` and `mentions` belong to a text", "put them into each of the articles"
            )
        if len(asked.articles) > self.limits.articles:
            raise too_large("the list of articles", self.limits.articles, "articles")
        return asked.articles

    async def explain(self, call: Call) -> Reply:
        """Rows of explanations."""
        asked = await call.json(_explain)
        given = GivenArticle(asked.text, None, asked.title, asked.date, asked.mentions)
        check_explained([given], self.limits)
        article = article_of(given, 0, "the request", self.limits)
        linker = self.pool.at(asked.threshold)

        def work() -> bytes:
            builder = ArticleBuilder()
            builder.add(article)
            rows = linker.explain(builder.table(), asked.name).drop_columns("article_id")
            return _encode({"rows": rows.to_pylist()})

        return Reply(await self.pool.run(work))


def _rendered(links: Links, ids: list[str] | None) -> bytes:
    if ids is None:
        return _encode(LinkResponse(links=links[0]))
    return _encode(LinkResponse(articles=[ArticleAnswer(*pair) for pair in zip(ids, links, strict=True)]))
