"""Every limit of the server. They bound the memory and the time that clients can make it use."""

from dataclasses import dataclass

MB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """The limits of one server process. A request beyond one gets the status in brackets and an error that names it."""

    body: int = 8 * MB  # bytes of a request's body, after unpacking (413)
    text: int = 1_000_000  # characters of a text with its title (413)
    explained: int = 200_000  # characters of all texts of a request for candidates or explanations (413)
    mentions: int = 10_000  # mentions of a request (413)
    places: int = 100_000  # places of all these mentions in the texts (413)
    searched: int = 1_000_000_000  # characters searched: the text, once for each mention without spans (413)
    longest: int = 1000  # characters of a name (422)
    candidates: int = 10_000  # candidates of all names in one answer (413)
    explanations: int = 500  # candidates of all names in one explanation (413)
    listed: int = 200_000  # rows, places, matches and sources that one explanation lists (413)
    articles: int = 256  # articles of one request (413)
    queries: int = 256  # queries of one request to `/reconcile` (413)
    requests: int = 1024  # requests at a time (503)
    per_client: int = 256  # requests at a time from one address (429)
    held: int = 256 * MB  # bytes of all bodies at a time (503)
    connections: int = 4096  # open connections (503)
    head: int = 64 << 10  # bytes of a request line with its headers (431)
    url: int = 32 << 10  # bytes of a request's URL (414)
    seconds: float = 20.0  # time that a client may take to send a request, and to receive its answer (408)
    threads: int = 1  # threads for small requests; as many others link large ones, and as many do look-ups and draw
    batch: int = 64  # articles per batch of small requests
    small: int = 32 << 10  # `schema.weight` up to which a request is small; larger ones are linked alone
    linger: float = 0.002  # seconds that a batch waits at most for as many requests as the batch before it had
