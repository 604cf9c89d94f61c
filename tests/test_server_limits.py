"""What a server refuses, and that it lives on: bad bodies, too much of anything, slow and broken clients."""

from __future__ import annotations

import contextlib
import gzip
import json
import logging
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesake.apps.server import schema
from namesake.apps.server.limits import Limits
from namesake.apps.server.serving import LogLimit
from namesake.articles.article import all_occurrences
from namesake.kb.store import KB
from namesake.linker import Linker
from serving import Answer, Client, received, running

FORM = "application/x-www-form-urlencoded"
TEXT = "Barack Obama spoke."
SMALL = Limits(
    body=20_000,
    text=1000,
    explained=500,
    mentions=20,
    places=100,
    searched=5000,
    longest=50,
    candidates=30,
    explanations=3,
    listed=1000,
    articles=3,
    queries=2,
    seconds=0.5,
    head=8000,
    url=4000,
    held=30_000,
)


@pytest.fixture(scope="module")
def client(sample_kb: KB) -> Iterator[Client]:
    with running(Linker(sample_kb), SMALL, ["https://news.example"]) as one:
        yield one
        assert one.post("/link", {"text": TEXT}).status == 200, "the server did not live through this"
        assert one.metric("namesake_held_bytes") == 0
        assert one.metric("namesake_open_requests") == 1


def refused(answer: Answer, *statuses: int) -> str:
    """The error that was told, in JSON, without a word about our insides."""
    assert answer.status in statuses, answer
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json) == {"error", "what_to_do"}
    for word in (b"Traceback", b"site-packages", b".py", b"/tmp", b"/home"):
        assert word not in answer.body
    return str(answer.json["error"])


def test_json_that_is_none(client: Client) -> None:
    for body in (b"", b'{"text":', b"{]", b'{"text": "a"} x', b'{"text": "\xff\xfe"}', b"\x00", b'{"text": "\\ud800"'):
        refused(client.post("/link", body), 400)
    assert "UTF-8" in refused(client.post("/link", b'{"text": "\xff\xfe"}'), 400)


@pytest.mark.parametrize("body", [b"[" * 19_000, b'{"text": ' + b"[" * 19_000, b'{"mentions":[' + b"[" * 19_000])
def test_deep_nesting(client: Client, body: bytes) -> None:
    refused(client.post("/link", body), 400, 422)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ([], "object"),
        ({}, "either `text` or `articles`"),
        ({"text": "a", "articles": []}, "either `text` or `articles`"),
        ({"text": 7}, "$.text"),
        ({"text": TEXT, "colour": 1}, "unknown field `colour`"),
        ({"articles": [{"text": TEXT, "body": "x"}]}, "$.articles[0]"),
        ({"articles": [{"text": TEXT}], "date": "2016"}, "belong to a text"),
        ({"text": TEXT, "date": "yesterday"}, "date"),
        ({"text": TEXT, "threshold": 1.5}, "$.threshold"),
        ({"text": TEXT, "threshold": "p7"}, "no threshold 'p7'"),
        ({"text": TEXT, "threshold": "high"}, "$.threshold"),
        ({"text": TEXT, "mentions": [""]}, "$.mentions"),
        ({"text": TEXT, "mentions": [{"name": "x", "spans": [[0, 99]]}]}, "[0, 99]"),
        ({"text": TEXT, "mentions": [{"name": "x", "spans": [[5, 5]]}]}, "[5, 5]"),
        ({"text": TEXT, "mentions": [{"name": "x", "spans": [[-1, 5]]}]}, "$.mentions"),
        ({"text": TEXT, "mentions": [{"name": "x", "spans": [[0, 2**40]]}]}, "$.mentions"),
        ({"text": TEXT, "mentions": [{"name": "x", "spans": [[0]]}]}, "$.mentions"),
        ({"text": TEXT, "mentions": [{"name": "x", "candidates": ["P1"]}]}, "candidates[0]"),
        (
            {"articles": [{"text": TEXT}, {"text": TEXT, "mentions": [{"name": "x", "spans": [[0, 99]]}]}]},
            "articles[1]",
        ),
    ],
)
def test_what_does_not_fit_is_named(client: Client, body: Any, told: str) -> None:
    assert told in refused(client.post("/link", body), 422)


def test_content_types(client: Client) -> None:
    body = json.dumps({"text": TEXT}).encode()
    for kind in ("application/xml", "text/plain", FORM, "", "application/json; charset=latin-1"):
        assert "content type" in refused(client.post("/link", body, kind), 415)
    assert "missing" in refused(client.post("/link", body, None), 415)
    assert client.post("/link", body, "Application/JSON; charset=UTF-8").status == 200
    refused(client.post("/nif", body, "application/json"), 415)
    refused(client.post("/reconcile", body, "application/json"), 415)


def test_too_much_of_anything(client: Client) -> None:
    assert "1,000 characters" in refused(client.post("/link", {"text": "x" * 1001}), 413)
    assert "1,000 characters" in refused(client.post("/link", {"text": "x" * 900, "title": "y" * 101}), 413)
    assert "3 articles" in refused(client.post("/link", {"articles": [{"text": "a"}] * 4}), 413)
    assert "20,000 bytes" in refused(client.post("/link", {"text": "x" * 30_000}), 413)
    long = {"text": "x" * 501}
    assert client.post("/link", long).status == 200
    for path, body in (("/link", long | {"parts": True}), ("/explain", long)):
        assert "500 characters" in refused(client.post(path, body), 413)
    queries = json.dumps({str(key): {"query": "x"} for key in range(3)})
    assert "2 queries" in refused(client.get(f"/reconcile?queries={queries.replace(' ', '')}"), 413)
    refused(client.get("/search?" + "&".join(f"a{number}=1" for number in range(200))), 400)


def test_too_many_names(client: Client) -> None:
    """Those that are given, their places, and the text that would have to be searched for them."""
    one = {"name": "Barack Obama", "spans": [[0, 12]]}
    assert client.post("/link", {"text": TEXT, "mentions": [one] * 20}).status == 200
    assert "20 names" in refused(client.post("/link", {"text": TEXT, "mentions": [one] * 21}), 413)
    some = {"text": TEXT, "mentions": [one] * 11}
    assert "20 names" in refused(client.post("/link", {"articles": [some] * 2}), 413)
    many = {"name": "Barack Obama", "spans": [[0, 12]] * 51}
    assert "100 places" in refused(client.post("/link", {"text": TEXT, "mentions": [many] * 2}), 413)
    for sent in ({"text": "a" * 101, "mentions": ["a"]}, {"text": "a" * 40, "mentions": ["a"] * 3}):
        assert "100 places" in refused(client.post("/link", sent), 413)
        assert "100 places" in refused(client.post("/explain", sent), 413)
    assert "100 places" in refused(client.post("/link", {"articles": [{"text": "a" * 60, "mentions": ["a"]}] * 2}), 413)
    assert client.post("/link", {"text": "a" * 100, "mentions": ["a"]}).status == 200
    assert "5,000 characters" in refused(client.post("/link", {"text": "x" * 900, "mentions": ["y"] * 6}), 413)


def test_names_are_looked_for_in_threads(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not on the event loop, where all other clients would wait."""
    seen = []

    def watched(names: Iterable[str], text: str) -> dict[str, list[tuple[int, int]]]:
        seen.append(threading.current_thread().name)
        return all_occurrences(names, text)

    monkeypatch.setattr(schema, "all_occurrences", watched)
    for path in ("/link", "/explain"):
        assert client.post(path, {"text": TEXT, "mentions": ["Barack Obama"]}).status == 200
    assert [name.split("_")[0] for name in seen] == ["link-small", "link-large"]


def test_a_request_that_is_too_much_fails_alone(sample_kb: KB) -> None:
    """Others are answered that were linked together with it."""
    name = {"name": "Michael Jordan", "spans": [[0, 14]]}
    sent = [{"text": "Michael Jordan spoke.", "mentions": [name] * count, "candidates": True} for count in (1, 9)]
    sent.append({"text": "a" * 101, "mentions": ["a"], "candidates": True})
    limits = Limits(linger=0.5, places=100, candidates=15)
    with running(Linker(sample_kb), limits) as client, ThreadPoolExecutor(9) as others:
        alone = client.post("/link", sent[0]).json
        assert len(alone["links"][0]["candidates"]) <= 15 < 9 * len(alone["links"][0]["candidates"])
        answers = list(others.map(lambda number: client.post("/link", sent[number % 3]), range(9)))
    assert [one.json for one in answers[::3]] == [alone] * 3
    assert all("15 candidates" in refused(one, 413) for one in answers[1::3])
    assert all("100 places" in refused(one, 413) for one in answers[2::3])


def test_answers_are_bounded(client: Client) -> None:
    """Candidates of an answer, and names that are explained at a time."""
    name = {"name": "Michael Jordan", "spans": [[0, 14]]}
    sent = {"text": "Michael Jordan spoke.", "mentions": [name] * 20, "parts": True}
    assert "30 candidates" in refused(client.post("/link", sent), 413)
    assert len(client.post("/link", sent | {"limit": 1}).json["links"]) == 20
    assert client.post("/link", {"articles": [], "candidates": True}).json == {"articles": []}
    for limit in (0, 101):
        refused(client.post("/link", sent | {"limit": limit}), 422)
    text = "Barack Obama, Michael Jordan and Adam Smith met."
    assert "3 candidates" in refused(client.post("/explain", {"text": text, "limit": 2}), 413)
    for fewer in ({"limit": 1}, {"limit": 2, "name": "Michael Jordan"}):
        assert client.post("/explain", {"text": text} | fewer).json["rows"]
    often = {"text": "Barack Obama met. " * 25, "limit": 1}
    assert "1,000 places" in refused(client.post("/explain", often), 413)
    long = {"text": f"{text} {'x' * 480}"}
    assert client.post("/draw", long).status == 200
    assert "500 characters" in refused(client.post("/draw", long | {"mention": 0}), 413)


def test_places_that_are_too_long_for_names(client: Client) -> None:
    text = "x" * 900
    assert "more than 50 characters" in refused(client.post("/rel", {"text": text, "spans": [[3, 51]]}), 422)
    assert client.post("/rel", {"text": text, "spans": [[3, 50]]}).status == 200
    assert "20 names" in refused(client.post("/rel", {"text": text, "spans": [[0, 1]] * 21}), 413)
    assert "1,000 characters" in refused(client.post("/rel", {"text": "x" * 1001, "spans": [[0, 900]]}), 413)

    def nif(length: int, *ends: int) -> bytes:
        names = "http://persistence.uni-leipzig.org/nlp2rdf/ontologies/nif-core#"
        phrases = "".join(
            f'<urn:p{at}> a nif:Phrase ; nif:referenceContext <urn:d> ; nif:beginIndex "0" ; nif:endIndex "{end}" .\n'
            for at, end in enumerate(ends)
        )
        return f'@prefix nif: <{names}> .\n<urn:d> a nif:Context ; nif:isString "{"x" * length}" .\n{phrases}'.encode()

    assert client.post("/nif", nif(900, 50), "text/turtle").status == 200
    for end in (51, 900):
        assert "more than 50 characters" in refused(client.post("/nif", nif(900, end), "text/turtle"), 422)
    assert "20 names" in refused(client.post("/nif", nif(900, *[9] * 21), "text/turtle"), 413)
    assert "1,000 characters" in refused(client.post("/nif", nif(1001, 900), "text/turtle"), 413)


def test_a_large_body_is_not_even_read(client: Client) -> None:
    """By its length alone; the client may send it all, and gets the answer, on a connection that still serves."""
    with client.raw(b"POST /link HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n") as connection:
        connection.sendall(b"content-length: 5000000\r\n\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 413")
        connection.sendall(b"x" * 5_000_000 + b"GET /health HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        assert received(connection).startswith(b"HTTP/1.1 200")


def test_a_large_body_without_a_length(client: Client) -> None:
    with client.raw(b"POST /link HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n") as connection:
        connection.sendall(b"transfer-encoding: chunked\r\n\r\n")
        for _ in range(5):
            connection.sendall(b"1770\r\n" + b"x" * 6000 + b"\r\n")
        assert connection.recv(65536).startswith(b"HTTP/1.1 413")


def test_bodies_that_are_too_much_together(client: Client) -> None:
    """Two clients hold most of what may be held: a third is told to come again."""
    head = b"POST /link HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 18000\r\n\r\n"
    with client.raw(head + b"x" * 17_000):
        while client.metric("namesake_held_bytes") < 17_000:
            pass
        answer = client.post("/link", {"text": "x" * 15_000})
        assert "bytes" in refused(answer, 503)
        assert answer.headers["retry-after"] == "1"


def test_slow_clients_are_not_waited_for(client: Client) -> None:
    """Neither for a head, nor for a body, nor for one who says nothing at all."""
    with client.raw(b"GET /health HTT") as slow_head, client.raw() as silent:
        body = b"POST /link HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9\r\n\r\n{"
        with client.raw(body) as slow_body:
            assert received(slow_body).startswith(b"HTTP/1.1 408")
        assert received(slow_head).startswith(b"HTTP/1.1 408")
        assert received(silent).startswith(b"HTTP/1.1 408")


def test_a_client_that_takes_no_answers(client: Client) -> None:
    """It asks and asks and reads nothing: its connection is cut before its answers fill the memory."""
    one = len(client.get("/openapi.json").body)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.connect(("127.0.0.1", client.port))
    connection.settimeout(30)
    size = 0
    with connection:
        connection.sendall(b"GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n" * 2000)
        time.sleep(4 * SMALL.seconds)
        with contextlib.suppress(ConnectionError):
            while part := connection.recv(1 << 20):
                size += len(part)
    assert size < 1000 * one


def test_what_is_no_http(client: Client) -> None:
    with client.raw(b"hello\r\n\r\n") as connection:
        head, _, body = received(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert json.loads(body)["error"] == "this is not HTTP"
    with client.raw(b"GET /health HTTP/1.1\r\n" + b"x-long: y\r\n" * 900) as connection:
        assert received(connection).startswith(b"HTTP/1.1 431")
    with client.raw(b"POST /link HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{"):
        pass  # and away


def test_bodies_that_are_packed(client: Client) -> None:
    """They are limited by what they unpack to; a bomb is not unpacked further than that."""
    body = json.dumps({"text": TEXT}).encode()
    plain = client.post("/link", body)
    for encoding in ("gzip", "GZIP", "x-gzip"):
        answer = client.post("/link", gzip.compress(body), **{"content-encoding": encoding})
        assert (answer.status, answer.json) == (200, plain.json)
    assert client.post("/link", body, **{"content-encoding": "identity"}).json == plain.json
    parts = gzip.compress(body[:9]) + gzip.compress(body[9:])
    assert client.post("/link", parts, **{"content-encoding": "gzip"}).json == plain.json
    bomb = gzip.compress(b" " * 50_000_000)
    assert len(bomb) > SMALL.body > 0
    bombs = [gzip.compress(b" " * (SMALL.body + 1)), gzip.compress(body + b" " * 1_000_000)]
    assert all(len(one) < SMALL.body for one in bombs)
    for one in (*bombs, bomb):
        assert "larger than" in refused(client.post("/link", one, **{"content-encoding": "gzip"}), 413)
    for one in (body, gzip.compress(body)[:-3], gzip.compress(body)[:20], gzip.compress(body) + b"x", b""):
        refused(client.post("/link", one, **{"content-encoding": "gzip"}), 400)
    for encoding in ("br", "deflate", "zstd", "gzip, gzip", "x"):
        answer = client.post("/link", body, **{"content-encoding": encoding})
        assert "encoding" in refused(answer, 415)
        assert answer.headers["accept-encoding"] == "gzip"


def test_answers_are_packed_for_clients_that_ask(client: Client) -> None:
    for path in ("/openapi.json", "/docs", "/"):
        plain = client.get(path)
        assert "content-encoding" not in plain.headers
        for accepted in ("gzip", "br, GZIP;q=0.5", "deflate , gzip ; q=1"):
            answer = client.get(path, **{"accept-encoding": accepted})
            assert answer.headers["content-encoding"] == "gzip"
            assert "Accept-Encoding" in answer.headers["vary"]
            assert int(answer.headers["content-length"]) == len(answer.body) < len(plain.body)
            assert gzip.decompress(answer.body) == plain.body
        head = client.ask("HEAD", path, None, {"accept-encoding": "gzip"})
        assert int(head.headers["content-length"]) == len(client.get(path, **{"accept-encoding": "gzip"}).body)
        for accepted in ("", "identity", "br", "gzip;q=0", "gzip; q=0.000", "xgzip"):
            answer = client.get(path, **{"accept-encoding": accepted})
            assert "content-encoding" not in answer.headers
            assert answer.body == plain.body
    assert "content-encoding" not in client.get("/health", **{"accept-encoding": "gzip"}).headers


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"GET /health HTTP/1.1\r\n\r\n", 400),
        (b"GET /health HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n", 400),
        (b"GET /health HTTP/1.0\r\n\r\n", 200),
        (b"GET /health HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", 200),
        (b"GET /health HTTP/1.1\r\nhost: a\r\nx-long: " + b"y" * 7900 + b"\r\nconnection: close\r\n\r\n", 200),
        (b"GET /health HTTP/1.1\r\nhost: a\r\nx-long: " + b"y" * 8000 + b"\r\n\r\n", 431),
        (b"GET /health HTTP/1.1\r\nhost: a\r\n" + b"x: y\r\n" * 2000 + b"\r\n", 431),
        (b"POST /link HTTP/1.1\r\nhost: a\r\nx: " + b"y" * 8000 + b"\r\ncontent-length: 2\r\n\r\n{}", 431),
        (b"GET /health?" + b"x" * 3900 + b" HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n", 200),
        (b"GET /health?" + b"x" * 4000 + b" HTTP/1.1\r\nhost: a\r\n\r\n", 414),
    ],
    ids=lambda value: str(value)[:40],
)
def test_heads_of_requests(client: Client, sent: bytes, status: int) -> None:
    """The limits hold though the whole head comes at once; HTTP/1.1 needs one Host."""
    with client.raw(sent) as connection:
        head, _, body = received(connection).partition(b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status} ".encode())
    assert b"error" not in body if status == 200 else set(json.loads(body)) == {"error", "what_to_do"}
    assert client.get("/health").status == 200


def test_headers_behind_a_body_are_not_kept(client: Client) -> None:
    body = json.dumps({"text": TEXT}).encode()
    head = b"POST /link HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\nconnection: close\r\n"
    chunk = b"%x\r\n%s\r\n0\r\n" % (len(body), body)
    trailers = b"content-encoding: br\r\n" + b"x: y\r\n" * 50
    with client.raw(head + b"transfer-encoding: chunked\r\n\r\n" + chunk + trailers + b"\r\n") as connection:
        answer = received(connection)
    assert answer.startswith(b"HTTP/1.1 200")
    assert json.loads(answer.partition(b"\r\n\r\n")[2]) == client.post("/link", body).json


def test_malformed_requests_do_not_fill_the_log(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    """Ten lines per minute; the next one says how many were left out. Errors are all written."""
    log = logging.getLogger("uvicorn.error")
    [sparing] = [one for one in log.filters if isinstance(one, LogLimit)]
    sparing.began, sparing.count = -60.0, 0
    for _ in range(40):
        with client.raw(b"hello\r\n\r\n") as connection:
            assert received(connection).startswith(b"HTTP/1.1 400")
    assert len(caplog.records) == 10
    log.error("a fault")
    assert len(caplog.records) == 11
    sparing.began -= 60
    with client.raw(b"hello\r\n\r\n") as connection:
        received(connection)
    assert "30 such lines before were omitted" in caplog.records[-1].getMessage()


def test_addresses_and_methods(client: Client) -> None:
    for path in ("/nothing", "/entity/", "/entity", "/link/x", "//", "/../etc/passwd", "/%2e%2e/", "/entity/Q1/x"):
        refused(client.get(path), 404)
    answer = client.get("/link")
    refused(answer, 405)
    assert answer.headers["allow"] == "OPTIONS, POST"
    assert client.ask("HEAD", "/health").body == b""
    assert int(client.ask("HEAD", "/health").headers["content-length"]) == len(client.get("/health").body)
    refused(client.get("/entity/76"), 422)
    assert "Q999999999" in refused(client.get("/entity/Q999999999"), 404)
    refused(client.get("/search"), 422)
    refused(client.get("/search?name=x&limit=0"), 422)
    refused(client.get("/search?name=%ff"), 400)


def test_pages_of_other_origins(client: Client) -> None:
    """Only those named may read answers, save what OpenRefine's page asks."""

    def allowed(path: str, origin: str, method: str = "GET") -> str | None:
        headers = {"origin": origin} | ({"access-control-request-method": "POST"} if method == "OPTIONS" else {})
        return client.ask(method, path, None, headers).headers.get("access-control-allow-origin")

    assert allowed("/health", "https://news.example") == "https://news.example"
    assert allowed("/link", "https://news.example", "OPTIONS") == "https://news.example"
    for origin in ("https://evil.example", "null", "https://news.example.evil"):
        assert allowed("/health", origin) is None
        assert allowed("/link", origin, "OPTIONS") is None
        assert allowed("/reconcile", origin) == "*"
        assert allowed("/reconcile", origin, "OPTIONS") == "*"
    asked = client.ask("OPTIONS", "/reconcile")
    assert (asked.status, asked.headers["allow"]) == (204, "GET, HEAD, OPTIONS, POST")


def test_too_many_at_a_time(sample_kb: KB) -> None:
    """One address may have so many requests, all together so many: others are told, and the server is still well."""
    go_on, begun = threading.Event(), threading.Semaphore(0)

    def find(texts: list[str]) -> list[list[tuple[int, int]]]:
        if "wait" in texts:
            begun.release()
            assert go_on.wait(60)
        return [[] for _ in texts]

    for limits, status in ((Limits(per_client=2), 429), (Limits(requests=2), 503)):
        go_on.clear()
        with running(Linker(sample_kb, mentions=find), limits) as client, ThreadPoolExecutor(2) as others:
            waiting = [others.submit(client.post, "/link", {"text": "wait"}) for _ in range(2)]
            try:
                assert begun.acquire(timeout=60)
                while client.metric("namesake_open_requests") < 3:
                    pass
                answer = client.post("/link", {"text": "now"})
                refused(answer, status)
                assert answer.headers["retry-after"] == "1"
                assert client.get("/health").status == 200
            finally:
                go_on.set()
            assert [one.result().status for one in waiting] == [200, 200]
            assert client.post("/link", {"text": "now"}).status == 200


LITTLE = st.sampled_from(["text", "articles", "mentions", "spans", "name", "threshold", "candidates", "date", "x"])
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(LITTLE, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150)
@given(body=st.dictionaries(LITTLE, ANYTHING, max_size=5) | ANYTHING)
def test_any_json_is_answered(client: Client, body: Any) -> None:
    answer = client.post("/link", json.dumps(body).encode())
    if answer.status != 200:
        refused(answer, 400, 413, 422)


@settings(max_examples=60)
@given(text=st.text(st.characters(exclude_categories=[]), max_size=60))
def test_any_text_is_answered(client: Client, text: str) -> None:
    """Lone surrogates, which JSON can write and UTF-8 cannot, are refused; all else is a text."""
    answer = client.post("/link", json.dumps({"text": text, "mentions": [text] if text else []}).encode())
    whole = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if whole == text:
        assert answer.status == 200
    elif answer.status != 200:
        refused(answer, 400, 422)
