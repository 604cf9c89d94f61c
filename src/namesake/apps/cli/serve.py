"""`namesake serve`."""

import re
from pathlib import Path
from typing import Annotated

import typer

from namesake.apps.cli import common
from namesake.apps.server.limits import MB, Limits
from namesake.errors import NamesakeError, lacking


def serve(
    kb: Path | None = None,
    host: str = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535)] = 8000,
    recipe: common.Recipe = "default",
    threshold: str | None = None,
    kinds: common.Kinds = None,
    prior: float = 0.0,
    decisions: common.Decided = None,
    threads: Annotated[int, typer.Option(min=1, max=64)] = 1,
    review: Path | None = None,
    review_to: Path = Path("decisions.jsonl"),
    allow_origin: list[str] | None = None,
    public_url: str | None = None,
    max_body: Annotated[int, typer.Option(min=1, max=1024)] = 8,
    max_text: common.Positive = 1_000_000,
    max_articles: common.Positive = 256,
    max_requests: common.Positive = 1024,
    max_per_client: common.Positive = 256,
    seconds: Annotated[float, typer.Option(min=0.1)] = 20.0,
    watch: bool = False,
) -> None:
    """Serve links, explanations, OpenRefine and a web page over HTTP."""
    given = {"text": max_text, "articles": max_articles, "requests": max_requests, "per_client": max_per_client}
    limits = Limits(body=max_body * MB, seconds=seconds, threads=threads, **given)
    if public_url is not None and not re.fullmatch(r"https?://[^\s/?#]+(/[^\s?#]*)?", public_url):
        raise NamesakeError(f"--public-url {public_url!r} is not an address: write it as https://names.example")
    linker = common.open_linker(kb, recipe, threshold, kinds=kinds, prior=prior, decisions=decisions)
    try:
        from namesake.apps.server.serving import serve as run
    except ImportError:
        raise lacking("the server needs", "uvicorn, httptools, starlette and prometheus_client", "web") from None

    settings = {"limits": limits, "origins": allow_origin or (), "public": public_url, "watch": watch}
    run(linker, host, port, **settings, review=None if review is None else (review, review_to))
