"""Every limit of the server. They bound the memory and the time that clients can make it use."""

from dataclasses import dataclass

MB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """The limits of one server process. A request beyond one gets the status in brackets and an error that names it."""

    body: int = 8 * MB
    """Bytes of a request's body, after unpacking (413)."""
    text: int = 1_000_000
    """Characters of a text with its title (413)."""
    explained: int = 200_000
    """Characters of all texts of a request for candidates or explanations, whose answer is many times as long (413)."""
    mentions: int = 10_000
    """Mentions of a request (413)."""
    places: int = 100_000
    """Places of all these mentions in the texts (413)."""
    searched: int = 1_000_000_000
    """Characters searched for mentions without spans: the length of the text, once per mention (413)."""
    longest: int = 1000
    """Characters of a name (422)."""
    candidates: int = 10_000
    """Candidates of all names in one answer (413)."""
    explanations: int = 500
    """Candidates of all names in one explanation (413)."""
    listed: int = 200_000
    """Rows, places, matches and sources that one explanation lists (413)."""
    articles: int = 256
    """Articles of one request (413)."""
    queries: int = 256
    """Queries of one request to `/reconcile` (413)."""
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
    """Time that a client may take to send a request, and to receive its answer (408)."""
    threads: int = 1
    """Threads that link small requests; as many others link large ones, and as many do look-ups and draw."""
    batch: int = 64
    """Articles per batch of small requests."""
    small: int = 32 << 10
    """Characters up to which a request is small; larger ones are linked alone. A given mention counts as 50 characters,
    each of its candidates as one."""
    linger: float = 0.002
    """Seconds that a batch waits at most for as many requests as the batch before it had."""
