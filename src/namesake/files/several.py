"""Arguments that take one or several values: a path or a name alone is one of them, not its letters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

Paths = str | Path | Sequence[str | Path]
"""One path, or several."""


def several(given: object) -> list[Any]:
    """What was given as a list: one text, path or other object that is not a collection, or several of them."""
    one = isinstance(given, str | Path) or not isinstance(given, Iterable)
    return [given] if one else list(given)  # type: ignore[call-overload]
