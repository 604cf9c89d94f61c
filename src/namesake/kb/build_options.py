"""The options of a build, and their checks."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from namesake import __version__
from namesake.errors import NamesakeError
from namesake.files.draft import state_key
from namesake.kb.dump.parse import Keep
from namesake.kb.dump.ranks import check_ranks
from namesake.kb.manifest import FORMAT_VERSION
from namesake.kb.publish.memory import Memory
from namesake.language import Language
from namesake.machine import from_home
from namesake.text import Normaliser


@dataclass(frozen=True)
class Options:
    """The options of a build; see `build.build`."""

    dumps: tuple[str, ...]
    out: Path
    keep: Keep
    wikipedia: Path | None
    ranks: Mapping[str, Path]
    language: Language
    words: str
    workers: int
    memory: Memory
    force: bool

    @property
    def key(self) -> str:
        """Identifies the build; memory and workers are left out because they do not change a KB."""
        inputs = [*map(Path, self.dumps), *([self.wikipedia] if self.wikipedia else []), *self.ranks.values()]
        chosen = self.dumps, self.keep, self.wikipedia, dict(self.ranks), self.language.name, self.words
        return state_key(inputs, __version__, FORMAT_VERSION, *chosen)

    @property
    def wikipedia_bytes(self) -> int:
        """The compressed size of the Wikipedia dump, about the memory that its kept part takes."""
        return self.wikipedia.stat().st_size if self.wikipedia else 0

    def check(self) -> None:
        """Raise NamesakeError for options that would fail later."""
        if self.keep not in ("people", "all"):
            raise NamesakeError(f"keep can be people or all, not {self.keep!r}")
        if self.wikipedia is not None and not self.wikipedia.is_file():
            raise NamesakeError(f"{self.wikipedia}: no such file; give a CirrusSearch content dump")
        for file in self.ranks.values():
            check_ranks(file)
        if not self.out.name:
            raise NamesakeError(f"{self.out} cannot be a KB: give a folder in it as `out=`")
        if not self.dumps:
            raise NamesakeError("no dump given: give a Wikidata dump, or - for standard input")
        Normaliser(self.language, self.words)  # raises NamesakeError if a package is missing


def place(out: str | Path) -> Path:
    """The folder `out` with `~` as the user's home folder, and the target of a link, so that the link is kept."""
    path = from_home(out)
    with suppress(OSError, ValueError):  # the build reports these later
        if path.is_symlink() and path.exists():
            return path.resolve()
    return path if path.name not in ("", "..") else path.resolve()
