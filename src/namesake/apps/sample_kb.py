"""The sample KB: built from the embedded dump on first use and kept in the user's cache folder."""

from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from namesake import __version__
from namesake.errors import NamesakeError
from namesake.files.outputs import locked
from namesake.kb.manifest import FORMAT_VERSION
from namesake.kb.store import KB
from namesake.machine import cache_folder
from namesake.sample import DUMP, WIKIPEDIA


def sample_kb() -> Path:
    """The folder of the sample KB."""
    return open_sample().path


def open_sample() -> KB:
    """The sample KB. It is rebuilt for a new version of the sample or format, and if it is damaged."""
    cache = cache_folder()
    made_of = DUMP.read_bytes() + WIKIPEDIA.read_bytes() + f"{__version__} {FORMAT_VERSION}".encode()
    folder = cache / f"sample-{sha256(made_of).hexdigest()[:12]}"
    with suppress(NamesakeError):
        return KB.open(folder)
    cache.mkdir(parents=True, exist_ok=True)
    with locked(cache / "sample.lock"):  # one of two concurrent first runs waits for the other
        with suppress(NamesakeError):
            return KB.open(folder)
        from namesake import build_kb

        build_kb([DUMP], folder, wikipedia=WIKIPEDIA, force=folder.exists())
    return KB.open(folder)
