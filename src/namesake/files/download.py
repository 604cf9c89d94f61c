"""Download one file: complete, checked and in its place, or not at all. An interrupted download is resumed.

The bytes received so far are in `NAME.part`. `NAME.part.json` is a journal that holds their address and what the server
calls this version of the file. If the server gives no version, the next download starts again.
"""

import http.client
import os
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import IO, cast
from urllib.error import HTTPError, URLError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

import msgspec

from namesake.errors import NamesakeError
from namesake.files.digests import file_digest
from namesake.files.outputs import Journal

BLOCK = 1 << 20
SCHEMES = ("https", "http", "file")
SECONDS = 60  # without a byte before the download fails
PARTIAL_CONTENT, RANGE_NOT_SATISFIABLE = 206, 416

Progress = Callable[[float | None, int, str], None]
"""Called with the fraction done (if the size is known), the bytes so far and their unit."""


class Origin(msgspec.Struct, frozen=True):
    """Where a part comes from: the address, and the server's name for this version of the file."""

    url: str
    validator: str = ""
    """A strong ETag, else the date of the last change; empty if the server gives neither."""


def is_address(source: str) -> bool:
    """Whether this is the address of a file rather than its path."""
    return urlsplit(source).scheme in SCHEMES and "://" in source


def file_name(url: str) -> str:
    """The name of a downloaded file: the last part of its address."""
    name = unquote(urlsplit(url).path).rsplit("/", 1)[-1]
    if not name or name in {".", ".."} or "\\" in name:
        raise NamesakeError(f"{url} does not end in the name of a file")
    return name


def download(url: str, folder: Path, checksum: str | None, progress: Progress) -> tuple[Path, str]:
    """The file at `url` in `folder`, and its checksum. A file that exists already is checked and kept."""
    if urlsplit(url).scheme not in SCHEMES:
        raise NamesakeError(f"{url}: only {', '.join(SCHEMES)} addresses can be downloaded")
    target = folder / file_name(url)
    if target.is_file():
        found = file_digest(target)
        if checksum not in {None, found}:
            raise NamesakeError(f"{target} exists and is another file ({found}): move it away")
        return target, found
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with _Part(target) as part:
            found = part.fetch(url, progress)
            if checksum not in {None, found}:
                part.remove()
                raise NamesakeError(f"{url}: its checksum is {found}, not {checksum}; nothing was kept")
            part.publish()
    except OSError as problem:
        raise NamesakeError(f"{target} cannot be written ({problem.strerror or problem})") from None
    return target, found


class _Part(Journal[Origin]):
    """The bytes of a file that have been received, for one process at a time."""

    def __init__(self, target: Path) -> None:
        self.target, self.part = target, target.with_name(f"{target.name}.part")
        busy = f"{target} is being downloaded by another process: wait until it ends, and try again"
        super().__init__(target.with_name(f"{target.name}.part.json"), Origin, busy)
        self.origin = self.entries[-1] if self.entries else Origin("")
        self.file: IO[bytes] = self.part.open("a+b")

    def close(self) -> None:
        """Close both files."""
        self.file.close()
        super().close()

    def fetch(self, url: str, progress: Progress) -> str:
        """Receive what is missing; returns the checksum of the whole file."""
        known = self.origin.url == url and self.origin.validator
        held = self.part.stat().st_size if known else 0
        request = Request(url, headers={"User-Agent": "namesake"})
        if held:
            request.add_header("Range", f"bytes={held}-")
            request.add_header("If-Range", self.origin.validator)
        try:
            with _opened(request) as answer:
                self._receive(url, answer, held, progress)
        except (URLError, TimeoutError, ConnectionError, ssl.SSLError, http.client.HTTPException) as problem:
            raise NamesakeError(f"{url} cannot be downloaded ({problem}); {self._left()}") from None
        return file_digest(self.part)

    def _receive(self, url: str, answer: http.client.HTTPResponse, held: int, progress: Progress) -> None:
        """Append what the server sends, or start again if it sends the whole file."""
        begin = held if answer.status == PARTIAL_CONTENT else 0
        sent = answer.headers.get("Content-Range") or ""  # such as `bytes 5-9/10`
        if answer.status == PARTIAL_CONTENT and not sent.startswith(f"bytes {held}-"):
            self.remove()
            raise NamesakeError(f"{url}: the server sent another range than requested; nothing was kept, try again")
        self.file.truncate(begin)
        if begin == 0:
            tag, changed = (answer.headers.get(name) or "" for name in ("ETag", "Last-Modified"))
            self.origin = Origin(url, tag if tag.startswith('"') else changed)
            self.add(self.origin)
        rest = int(answer.headers.get("Content-Length") or 0)
        done, size = begin, begin + rest if rest else 0
        while block := answer.read(BLOCK):
            self.file.write(block)
            done += len(block)
            progress(done / size if size else None, done, "bytes")
        self.file.flush()
        if size and done != size:
            raise NamesakeError(f"{url}: {done:,} of {size:,} bytes received; {self._left()}")

    def _left(self) -> str:
        """What to say about the part, which is kept only if it can be resumed."""
        self.file.flush()
        if self.part.stat().st_size and self.origin.validator:
            return "the same command resumes the download"
        self.remove()
        return "nothing was kept, try again"

    def publish(self) -> None:
        """Put the complete file in its place."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.part.replace(self.target)
        self.remove()

    def remove(self) -> None:
        """Remove what was received."""
        self.part.unlink(missing_ok=True)
        super().remove()


def _opened(request: Request) -> http.client.HTTPResponse:
    """The server's answer. If the part is as long as the file, the whole file is requested again."""
    try:
        return cast(http.client.HTTPResponse, urlopen(request, timeout=SECONDS))
    except HTTPError as problem:
        if problem.code != RANGE_NOT_SATISFIABLE:
            raise
        request.remove_header("Range")
        request.remove_header("If-range")
        return _opened(request)
