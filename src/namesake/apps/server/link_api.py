"""`POST /link` and `POST /explain`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
import numpy as np
import pyarrow as pa

from namesake.apps.server.http import JSON, Call, Reply, Route
from namesake.apps.server.pool import Pool
from namesake.apps.server.problems import RequestError, too_large
from namesake.apps.server.schema import (
    ArticleAnswer,
    ExplainRequest,
    GivenArticle,
    LinkRequest,
    LinkResponse,
    articles_of,
    check_explained,
    check_given,
    weight,
)
from namesake.apps.server.work import Links, Texts, Wish
from namesake.articles.builder import ArticleBuilder
from namesake.explain import EXPLANATION, Row, explanation_rows, mentions_called

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
                "Why: a row for each of the best candidates and part of its score, none of them included.",
                {JSON: ExplainRequest},
                {JSON: {"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object"}}}}},
                fails=BAD_BODY,
            ),
        ]

    async def link(self, call: Call) -> Reply:
        """Links of a text or of articles."""
        asked = await call.json(_link)
        given = self._given(asked)
        check_given(given, self.limits)
        ids = None if asked.articles is None else [one.id or str(number) for number, one in enumerate(given)]
        wish = Wish(asked.threshold, asked.candidates or asked.parts, asked.parts, asked.limit)
        if wish.candidates:
            check_explained(given, self.limits)
        if wish.threshold is not None:
            self.pool.at(wish.threshold)  # refused here where the recipe does not know it
        texts = Texts(len(given), weight(given), lambda: articles_of(given, self.limits, ids is not None))
        return Reply(await self.pool.link(texts, wish, lambda links: _rendered(links, ids)))

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
        check_given([given], self.limits)
        linker = self.pool.at(asked.threshold)

        def work() -> bytes:
            builder = ArticleBuilder()
            builder.add(*articles_of([given], self.limits, several=False))
            scored = linker.scored(builder.table())
            candidates = np.diff(scored.batch.offsets)[mentions_called(scored, asked.name)]
            if np.minimum(candidates, asked.limit).sum() > self.limits.explanations:
                raise RequestError(
                    413,
                    f"more than {self.limits.explanations:,} candidates are to be explained",
                    "say which name with `name`, or ask for fewer of each with `limit`",
                )
            rows = _bounded(explanation_rows(scored, asked.name, asked.limit), self.limits.listed)
            table = pa.Table.from_pylist(list(rows), EXPLANATION).drop_columns("article_id")
            return _encode({"rows": table.to_pylist()})

        return Reply(await self.pool.run(work))


def _bounded(rows: Iterable[Row], most: int) -> Iterator[Row]:
    """The rows of an explanation; refused as soon as they list more than `most` rows, places, matches and sources."""
    listed = 0
    for row in rows:
        matches = row.get("matches", ())
        listed += 1 + len(row["spans"]) + len(matches)
        listed += sum(len(match["spans"]) + len(match["sources"]) for match in matches)
        if listed > most:
            raise RequestError(
                413,
                f"the explanation would list more than {most:,} places, matches and sources",
                "say which name with `name`, ask for fewer candidates with `limit`, or send a shorter text",
            )
        yield row


def _rendered(links: Links, ids: list[str] | None) -> bytes:
    if ids is None:
        return _encode(LinkResponse(links=links[0]))
    return _encode(LinkResponse(articles=[ArticleAnswer(*pair) for pair in zip(ids, links, strict=True)]))
