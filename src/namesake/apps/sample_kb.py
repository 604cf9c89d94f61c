"""The sample KB: built from the embedded dump on first use and kept in the user's cache folder."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from namesake import __version__
from namesake.kb.manifest import FORMAT_VERSION
from namesake.sample import DUMP, WIKIPEDIA


def sample_kb() -> Path:
    """The folder of the sample KB. A new version of the sample, or of the KB format, is built anew."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "namesake"
    made_of = DUMP.read_bytes() + WIKIPEDIA.read_bytes() + f"{__version__} {FORMAT_VERSION}".encode()
    folder = cache / f"sample-{sha256(made_of).hexdigest()[:12]}"
    if not (folder / "manifest.json").is_file():
        from namesake import build_kb

        cache.mkdir(parents=True, exist_ok=True)
        build_kb([DUMP], folder, wikipedia=WIKIPEDIA)
    return folder
