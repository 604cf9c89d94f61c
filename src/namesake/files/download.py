"""Fetch one file, when asked: whole, checked and in place, or not at all; what was cut short goes on where it ended.

What has come of a file lies beside its place as `NAME.part`, with `NAME.part.json` to say of which state of which
address it is a part. A server that cannot tell that its file is still the same one is asked for all of it again.
"""

from __future__ import annotations

import fcntl
import http.client
import os
import re
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

import msgspec

from namesake.errors import NamesakeError

BLOCK = 1 << 20
SCHEMES = ("https", "http", "file")
SECONDS = 60  # of silence before we give up
PARTIAL, WHOLE, BEYOND_THE_END = 206, 200, 416
_SHA256 = re.compile(r"[0-9a-f]{64}")

Progress = Callable[[float | None, int, str], None]
"""Told the fraction done (where the size is known), the bytes so far and their unit."""


class Origin(msgspec.Struct, frozen=True):
    """What a part is a part of: the address, and what its server calls the state of the file."""

    url: str
    validator: str = ""
    """A strong ETag, else the date of the last change; empty where the server gives neither."""


def is_address(source: str) -> bool:
    """Whether this is the address of a file rather than its path."""
    return urlsplit(source).scheme in SCHEMES and "://" in source


def file_name(url: str) -> str:
    """The name a downloaded file gets: the last part of its address."""
    name = unquote(urlsplit(url).path).rsplit("/", 1)[-1]
    if not name or name in {".", ".."} or "\\" in name:
        raise NamesakeError(f"{url} does not end in a file's name")
    return name


def download(url: str, folder: Path, checksum: str | None, progress: Progress) -> tuple[Path, str]:
    """The file at `url` in `folder`, and its checksum; one that is there already is checked and kept.

    What an earlier call had fetched before it was cut short is not fetched again.
    """
    if urlsplit(url).scheme not in SCHEMES:
        raise NamesakeError(f"{url}: only {', '.join(SCHEMES)} addresses are fetched")
    target = folder / file_name(url)
    if target.is_file():
        found = file_checksum(target)
        if checksum not in {None, found}:
            raise NamesakeError(f"{target} is there already and is another file ({found}): move it away")
        return target, found
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with _part(target) as part:
            found = part.fetch(url, progress)
            if checksum not in {None, found}:
                part.forget()
                raise NamesakeError(f"{url}: its checksum is {found}, not {checksum}; nothing was kept")
            part.publish(target)
    except OSError as problem:
        raise NamesakeError(f"{target} cannot be written ({problem.strerror or problem})") from None
    return target, found


class _Part:
    """What has come of a file so far."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path = path
        self.facts = path.with_name(path.name + ".json")
        self.file = file

    def fetch(self, url: str, progress: Progress) -> str:
        """Get what is missing, and tell the checksum of all."""
        origin = self._origin(url)
        held = os.fstat(self.file.fileno()).st_size if origin.validator else 0
        request = Request(url, headers={"User-Agent": "namesake"})
        if held:
            request.add_header("Range", f"bytes={held}-")
            request.add_header("If-Range", origin.validator)
        try:
            with _opened(request) as answer:
                self._take(url, answer, held, progress)
        except (URLError, TimeoutError, ConnectionError, ssl.SSLError, http.client.HTTPException) as problem:
            raise NamesakeError(f"{url} cannot be fetched ({problem}); {self._left()}") from None
        return file_checksum(self.path)

    def _take(self, url: str, answer: http.client.HTTPResponse, held: int, progress: Progress) -> None:
        """Add what the server sends to what is held, or begin anew where it sends all."""
        begin = held if answer.status == PARTIAL and _begin(answer) == held else 0
        if answer.status == PARTIAL and begin != held:
            self.forget()
            raise NamesakeError(f"{url}: the server sent another part than was asked for; nothing was kept, try again")
        self.file.truncate(begin)
        self.file.seek(begin)
        self.facts.write_bytes(msgspec.json.encode(Origin(url, _validator(answer))))
        rest = int(answer.headers.get("Content-Length") or 0)
        done, size = begin, begin + rest if rest else 0
        while block := answer.read(BLOCK):
            self.file.write(block)
            done += len(block)
            progress(done / size if size else None, done, "bytes")
        self.file.flush()
        if size and done != size:
            raise NamesakeError(f"{url}: {done:,} of {size:,} bytes came; {self._left()}")

    def _origin(self, url: str) -> Origin:
        """What the part at hand is a part of, if it is one of this address."""
        try:
            origin = msgspec.json.decode(self.facts.read_bytes(), type=Origin)
        except (OSError, ValueError):
            return Origin(url)
        return origin if origin.url == url else Origin(url)

    def _left(self) -> str:
        """What to say of what has come; it stays if it can be gone on with."""
        if os.fstat(self.file.fileno()).st_size and self._origin_known():
            return "the same command goes on there"
        self.forget()
        return "nothing was kept, try again"

    def _origin_known(self) -> bool:
        try:
            return bool(msgspec.json.decode(self.facts.read_bytes(), type=Origin).validator)
        except (OSError, ValueError):
            return False

    def publish(self, target: Path) -> None:
        """Put the whole file in its place."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.path.replace(target)
        self.facts.unlink(missing_ok=True)

    def forget(self) -> None:
        """Remove what has come."""
        self.path.unlink(missing_ok=True)
        self.facts.unlink(missing_ok=True)


@contextmanager
def _part(target: Path) -> Iterator[_Part]:
    """The part of a file that is to be at `target`, for one process at a time."""
    path = target.with_name(target.name + ".part")
    with os.fdopen(os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o666), "r+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NamesakeError(f"{target} is being fetched by another process: wait for it") from None
        if not _is_at(file, path):
            raise NamesakeError(f"{target} was being fetched by another process, which has just ended: try again")
        yield _Part(path, file)


def _is_at(file: IO[bytes], path: Path) -> bool:
    """Whether an open file still has its name: else who had locked it has put it in its place, or removed it."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def _opened(request: Request) -> Iterator[http.client.HTTPResponse]:
    """The server's answer; once more for all of the file where it has no more than is held."""
    try:
        answer = urlopen(request, timeout=SECONDS)
    except HTTPError as problem:
        if problem.code != BEYOND_THE_END:
            raise
        request.remove_header("Range")
        request.remove_header("If-range")
        answer = urlopen(request, timeout=SECONDS)
    with answer:
        yield answer


def _begin(answer: http.client.HTTPResponse) -> int:
    """Where the part that was sent begins, by its header `Content-Range: bytes 5-9/10`; -1 where it does not say."""
    unit, _, span = (answer.headers.get("Content-Range") or "").partition(" ")
    begin = span.partition("-")[0]
    return int(begin) if unit == "bytes" and begin.isdecimal() else -1


def _validator(answer: http.client.HTTPResponse) -> str:
    """What tells this state of the file from others, as `If-Range` takes it."""
    tag = answer.headers.get("ETag") or ""
    return tag if tag.startswith('"') else answer.headers.get("Last-Modified") or ""


def parse_checksum(given: str) -> str:
    """A checksum as people copy them, `SHA256:0A…` or its digits alone, as we write them."""
    digits = given.strip().lower().removeprefix("sha256:")
    if not _SHA256.fullmatch(digits):
        raise NamesakeError(f"{given!r:.100} is no checksum: sha256: and 64 hexadecimal digits, as `kb pack` says them")
    return f"sha256:{digits}"


def file_checksum(path: Path) -> str:
    """SHA-256 of a file."""
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return f"sha256:{digest.hexdigest()}"
