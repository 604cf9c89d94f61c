"""A real server on loopback for tests, and a plain client for it."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from namesake.apps.server.limits import Limits
from namesake.apps.server.serving import bound, server_of
from namesake.linker import Linker

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Answer:
    """What a server said."""

    status: int
    body: bytes
    headers: Mapping[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Client:
    """Asks the server at a port; a connection for each request, so that threads may share it."""

    port: int

    def ask(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        connection = http.client.HTTPConnection(HOST, self.port, timeout=60)
        try:
            connection.request(method, path, body, dict(headers or {}))
            answer = connection.getresponse()
            return Answer(answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()})
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, None, headers)

    def post(self, path: str, body: Any, kind: str | None = "application/json", **headers: str) -> Answer:
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.ask("POST", path, data, headers | ({} if kind is None else {"content-type": kind}))

    def metric(self, name: str) -> float:
        lines = self.get("/metrics").body.decode().splitlines()
        return float(next(line.split()[-1] for line in lines if line.startswith(name + " ")))

    def raw(self, sent: bytes = b"") -> socket.socket:
        """A connection of one's own, on which this was sent."""
        connection = socket.create_connection((HOST, self.port), timeout=60)
        connection.sendall(sent)
        return connection


def received(connection: socket.socket) -> bytes:
    """All that comes until the server closes the connection."""
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


@contextmanager
def running(
    linker: Linker,
    limits: Limits | None = None,
    origins: Sequence[str] = (),
    public: str | None = None,
    watch: bool = False,
    review: Any = None,
) -> Iterator[Client]:
    """A server in a thread of this process, on a free port; it ends in order."""
    with bound(HOST, 0) as listening:
        server = server_of(linker, limits or Limits(), origins, public, watch, review)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        port = listening.getsockname()[1]
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(0.01)
            yield Client(port)
        finally:
            server.should_exit = True
            thread.join()
