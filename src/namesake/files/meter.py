"""The share of some files that has been read, for progress bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

_meters: list[Meter] = []


class Meter:
    """Measures, inside its `with` block, how much of the files `paths` has been read."""

    def __init__(self, paths: Sequence[str | Path]) -> None:
        self._sizes = {str(path): Path(path).stat().st_size if Path(path).is_file() else None for path in paths}
        self._whole = None if None in self._sizes.values() else sum(size or 0 for size in self._sizes.values())
        self._positions: dict[str, Callable[[], int]] = {}
        """Of the files that are being read."""
        self._ended: set[str] = set()
        self._ended_bytes = 0

    def __enter__(self) -> Meter:
        _meters.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _meters.remove(self)

    def watch(self, path: str, position: Callable[[], int]) -> None:
        """Call `position` for the number of bytes read of a file; it may fail when the file is closed."""
        if path in self._sizes:
            self._positions[path] = position
            if path in self._ended:  # it is read again
                self._ended.remove(path)
                self._ended_bytes -= self._sizes[path] or 0

    def fraction(self) -> float | None:
        """The share of all bytes that have been read; None if a size is unknown, as that of standard input."""
        if not self._whole:
            return None
        reading = sum(self._read(path) for path in list(self._positions))
        return min((self._ended_bytes + reading) / self._whole, 1.0)

    def _read(self, path: str) -> int:
        """The bytes read of a file. A closed file counts as read to its end, and is not asked again."""
        size = self._sizes[path] or 0
        try:
            return min(self._positions[path](), size)
        except (OSError, RuntimeError, ValueError):
            del self._positions[path]
            self._ended.add(path)
            self._ended_bytes += size
            return 0


def watch(path: str | Path, position: Callable[[], int]) -> None:
    """Add a file that has been opened to all meters at work."""
    for meter in _meters:
        meter.watch(str(path), position)
