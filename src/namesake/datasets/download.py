"""Fetch one file, when asked: whole, checked and in place, or not at all."""

import http.client
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from urllib.error import URLError
from urllib.parse import unquote, urlsplit
from urllib.request import Request, urlopen

from namesake.errors import NamesakeError
from namesake.files import published

BLOCK = 1 << 20
SCHEMES = ("https", "http", "file")
SECONDS = 60  # of silence before we give up

Progress = Callable[[float | None, int, str], None]
"""Told the fraction done (where the size is known), the bytes so far and their unit."""


def file_name(url: str) -> str:
    """The name a downloaded file gets: the last part of its address."""
    name = unquote(urlsplit(url).path).rsplit("/", 1)[-1]
    if not name or name in {".", ".."} or "\\" in name:
        raise NamesakeError(f"{url} does not end in a file's name")
    return name


def download(url: str, folder: Path, checksum: str | None, progress: Progress) -> tuple[Path, str]:
    """The file at `url` in `folder`, and its checksum; one that is there already is checked and kept."""
    if urlsplit(url).scheme not in SCHEMES:
        raise NamesakeError(f"{url}: only {', '.join(SCHEMES)} addresses are fetched")
    target = folder / file_name(url)
    if target.is_file():
        found = _checksum(target)
        if checksum not in {None, found}:
            raise NamesakeError(f"{target} is there already and is another file ({found}): move it away")
        return target, found
    folder.mkdir(parents=True, exist_ok=True)
    with published(target) as partial:
        found = _fetch(url, partial, progress)
        if checksum not in {None, found}:
            raise NamesakeError(f"{url}: its checksum is {found}, not {checksum}; nothing was kept")
    return target, found


def _fetch(url: str, partial: Path, progress: Progress) -> str:
    """Stream the address into a file and tell its checksum."""
    digest, done = sha256(), 0
    request = Request(url, headers={"User-Agent": "namesake"})
    try:
        with urlopen(request, timeout=SECONDS) as answer, partial.open("wb") as out:
            size = int(answer.headers.get("Content-Length") or 0)
            while block := answer.read(BLOCK):
                out.write(block)
                digest.update(block)
                done += len(block)
                progress(done / size if size else None, done, "bytes")
    except (URLError, TimeoutError, ConnectionError, http.client.HTTPException) as problem:
        raise NamesakeError(f"{url} cannot be fetched ({problem})") from None
    if size and done != size:
        raise NamesakeError(f"{url}: {done:,} of {size:,} bytes came; nothing was kept, try again")
    return f"sha256:{digest.hexdigest()}"


def _checksum(path: Path) -> str:
    digest = sha256()
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
    return f"sha256:{digest.hexdigest()}"
