"""Arguments that take one or several values."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Paths = str | Path | Sequence[str | Path]
"""One path, or several."""


def several(given: object) -> list[Any]:
    """A list of the given values: of one text, path or other object that is not a collection, or of several."""
    one = isinstance(given, str | Path) or not isinstance(given, Iterable)
    return [given] if one else list(given)  # type: ignore[call-overload]
