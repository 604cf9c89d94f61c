"""`namesake serve`."""

from __future__ import annotations

import re
from typing import Annotated

import typer

from namesake.apps.cli import options
from namesake.apps.cli.output import default_kb, say, warn_of_sample
from namesake.apps.server.limits import MB, Limits
from namesake.errors import NamesakeError


def serve(
    kb: Path | None = None,
    host: Annotated[
        str, typer.Option("--host", help="Address to listen at; 0.0.0.0 means all addresses of the machine.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 means a free one.")] = 8000,
    recipe: options.Recipe = "default",
    threshold: str | None = None,
    threads: Annotated[int, typer.Option("--threads", min=1, max=64, help="Threads that link small requests.")] = 1,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-origin", help="Origin whose pages may read answers in a browser; * means any. Repeatable."
        ),
    ] = None,
    public_url: Annotated[
        str | None,
        typer.Option(
            "--public-url",
            help="Address under which clients reach the server, such as https://names.example behind a proxy. The "
            "manifest of /reconcile announces it; by default, the address at which a request came in.",
        ),
    ] = None,
    max_body: Annotated[int, typer.Option("--max-body", min=1, max=1024, help="Largest request, in MB.")] = 8,
    max_text: Annotated[int, typer.Option("--max-text", min=1, help="Most characters per text.")] = 1_000_000,
    max_articles: Annotated[int, typer.Option("--max-articles", min=1, help="Most articles per request.")] = 256,
    max_requests: Annotated[
        int, typer.Option("--max-requests", min=1, help="Most requests at a time; others get status 503.")
    ] = 1024,
    max_per_client: Annotated[
        int, typer.Option("--max-per-client", min=1, help="Most requests at a time per client; others get status 429.")
    ] = 256,
    seconds: Annotated[
        float, typer.Option("--seconds", min=0.1, help="Time that a client may take to send a request, in seconds.")
    ] = 20.0,
) -> None:
    """Serve links, explanations, OpenRefine and a web page over HTTP.

    Example: namesake serve --kb kb/ --port 8000
    """
    limits = Limits(
        body=max_body * MB,
        text=max_text,
        articles=max_articles,
        requests=max_requests,
        per_client=max_per_client,
        seconds=seconds,
        threads=threads,
    )
    if public_url is not None and not re.fullmatch(r"https?://[^\s/?#]+(/[^\s?#]*)?", public_url):
        raise NamesakeError(f"--public-url {public_url!r} is not an address: write it as https://names.example")
    chosen = options.threshold_of(threshold)
    folder = default_kb(kb)
    from namesake import Linker
    from namesake.apps.server.serving import serve as run

    linker = Linker(folder, recipe, chosen)
    warn_of_sample(folder, kb)

    def ready(address: str) -> None:
        say(f"{len(linker.kb):,} entities of {folder.name} at {address} (API: {address}/docs); press Ctrl-C to stop")

    run(linker, host, port, limits, allow_origin or (), public_url, ready)
