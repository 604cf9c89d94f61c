"""A bare server for tests of the page: its files and `draw`, with the policy that the page promises to keep."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from namesake import Linker, NamesakeError
from namesake.apps.page import FILES, draw

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
JSON = "application/json"


def handler(linker: Linker) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: object) -> None:
            pass

        def answer(self, status: int, kind: str, body: bytes) -> None:
            self.send_response(status)
            for name, value in (("Content-Type", kind), ("Content-Length", len(body))):
                self.send_header(name, str(value))
            self.send_header("Content-Security-Policy", POLICY)
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.answer(200, *FILES[self.path]) if self.path in FILES else self.answer(404, JSON, b"{}")

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            try:
                drawn = draw(linker, asked["text"], asked.get("title"), asked.get("date"))
                self.answer(200, JSON, json.dumps(drawn, allow_nan=False).encode())
            except NamesakeError as problem:
                self.answer(422, JSON, json.dumps({"error": str(problem)}).encode())

    return Handler


@contextmanager
def serving(linker: Linker) -> Iterator[str]:
    """The address of the page, as long as the context lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(linker))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
