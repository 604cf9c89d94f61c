"""Files: read as unpacked streams, written whole or not at all, and work on them that can be resumed."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from namesake.files.lines import STDIN, kind, open_lines, open_unpacked
from namesake.files.outputs import check_place, create, keep_apart, published

__all__ = ["STDIN", "check_place", "create", "keep_apart", "kind", "open_lines", "open_unpacked", "published"]

Paths = str | Path | Sequence[str | Path]


def several(given: object) -> list[Any]:
    """A list of the given values: of one text, path or other object that is not a collection, or of several."""
    one = isinstance(given, str | Path) or not isinstance(given, Iterable)
    return [given] if one else list(given)  # type: ignore[call-overload]
