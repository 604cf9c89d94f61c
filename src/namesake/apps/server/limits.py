"""What a server takes: every bound in one place, so that nobody can make it hold or do too much."""

from __future__ import annotations

from dataclasses import dataclass

MB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """The bounds of one server process. What is beyond one is refused with a status and a sentence that says so."""

    body: int = 8 * MB
    """Bytes of a request's body, unpacked where it comes packed (413)."""
    text: int = 1_000_000
    """Characters of a text with its title (413)."""
    explained: int = 200_000
    """Characters of all texts of a request that asks for candidates or explanations: its answer is many times as long
    (413)."""
    mentions: int = 10_000
    """Names that a request gives (413)."""
    places: int = 100_000
    """Places of all these names in the texts (413)."""
    searched: int = 1_000_000_000
    """Characters that are searched for names given without places: those of the text once for each (413)."""
    longest: int = 1000
    """Characters of a name (422)."""
    candidates: int = 10_000
    """Candidates of all names in one answer (413)."""
    explanations: int = 500
    """Candidates of all names that are explained at a time (413)."""
    listed: int = 200_000
    """Rows, places, matches and sources that one explanation lists (413)."""
    articles: int = 256
    """Articles of one request (413)."""
    queries: int = 256
    """Queries of one request to reconcile (413)."""
    requests: int = 1024
    """Requests at a time (503)."""
    per_client: int = 256
    """Requests at a time from one address (429)."""
    held: int = 256 * MB
    """Bytes of all bodies at a time (503)."""
    connections: int = 4096
    """Open connections (503)."""
    head: int = 64 << 10
    """Bytes of a request line with its headers (431)."""
    url: int = 32 << 10
    """Bytes of a request's URL (414)."""
    seconds: float = 20.0
    """How long a client may take to send a request, and to take what was sent (408)."""
    threads: int = 1
    """Threads that link small requests, together; as many again link large ones, as many look up and draw."""
    batch: int = 64
    """Articles of small requests that are linked together."""
    small: int = 32 << 10
    """Characters up to which a request is small: larger ones are linked on their own. A name that is given counts as
    50, each of its candidates as one."""
    linger: float = 0.002
    """Seconds that a batch waits at most until it has as much company as the one before it."""
