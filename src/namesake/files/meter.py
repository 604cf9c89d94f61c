"""How much of some files has been read, whoever reads them: what a progress bar needs to show a percentage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

_meters: list[Meter] = []


class Meter:
    """Measures, inside its `with` block, how far the files `paths` have been read."""

    def __init__(self, paths: Sequence[str | Path]) -> None:
        self._sizes = {str(path): Path(path).stat().st_size if Path(path).is_file() else None for path in paths}
        self._positions: dict[str, Callable[[], int]] = {}

    def __enter__(self) -> Meter:
        _meters.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _meters.remove(self)

    def watch(self, path: str, position: Callable[[], int]) -> None:
        """Have `position` tell how many bytes of the file have been read; it may fail when the file is closed."""
        if path in self._sizes:
            self._positions[path] = position

    def fraction(self) -> float | None:
        """The share of all bytes that have been read; None where a size is not known, as that of standard input."""
        sizes = [size for size in self._sizes.values() if size is not None]
        if len(sizes) < len(self._sizes) or not sum(sizes):
            return None
        return min(sum(map(self._read, self._positions)) / sum(sizes), 1.0)

    def _read(self, path: str) -> int:
        size = self._sizes[path] or 0
        try:
            return min(self._positions[path](), size)
        except (OSError, RuntimeError, ValueError):  # closed, so read to its end
            return size


def watch(path: str | Path, position: Callable[[], int]) -> None:
    """Let the meters that run know of a file that has been opened."""
    for meter in _meters:
        meter.watch(str(path), position)
