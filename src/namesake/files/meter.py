"""How much of some files has been read, whoever reads them: what a progress bar needs to show a percentage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

_meters: list[Meter] = []


class Meter:
    """Measures, inside its `with` block, how far the files `paths` have been read."""

    def __init__(self, paths: Sequence[str | Path]) -> None:
        self._sizes = {str(path): Path(path).stat().st_size if Path(path).is_file() else None for path in paths}
        self._whole = None if None in self._sizes.values() else sum(size or 0 for size in self._sizes.values())
        self._positions: dict[str, Callable[[], int]] = {}
        """Of files that are being read."""
        self._ended: set[str] = set()
        self._ended_bytes = 0

    def __enter__(self) -> Meter:
        _meters.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _meters.remove(self)

    def watch(self, path: str, position: Callable[[], int]) -> None:
        """Have `position` tell how many bytes of the file have been read; it may fail when the file is closed."""
        if path in self._sizes:
            self._positions[path] = position
            if path in self._ended:  # it is read once more
                self._ended.remove(path)
                self._ended_bytes -= self._sizes[path] or 0

    def fraction(self) -> float | None:
        """The share of all bytes that have been read; None where a size is not known, as that of standard input."""
        if not self._whole:
            return None
        reading = sum(self._read(path) for path in list(self._positions))
        return min((self._ended_bytes + reading) / self._whole, 1.0)

    def _read(self, path: str) -> int:
        """How much of a file that is being read has been; one that is closed, and so read to its end, is so no more."""
        size = self._sizes[path] or 0
        try:
            return min(self._positions[path](), size)
        except (OSError, RuntimeError, ValueError):
            del self._positions[path]
            self._ended.add(path)
            self._ended_bytes += size
            return 0


def watch(path: str | Path, position: Callable[[], int]) -> None:
    """Let the meters that run know of a file that has been opened."""
    for meter in _meters:
        meter.watch(str(path), position)
