"""Names of the fields of articles in files of other programs: given by the user, or guessed from common names."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from namesake.errors import NamesakeError, did_you_mean
from namesake.files import STDIN
from namesake.files.lines import MOST_LINE
from namesake.printable import listed

GUESSES = {
    "text": ("text", "body", "content", "article", "story", "full_text", "fulltext", "article_text", "abstract"),
    "id": ("id", "articleid", "article_id", "url", "uri", "link", "guid", "doc_id", "docid", "document_id", "key"),
    "title": ("title", "headline", "heading", "subject"),
    "date": ("date", "published", "published_at", "publish_date", "publication_date", "pubdate", "created_at", "day"),
}
"""Common names of the fields of articles, the most likely first; case is ignored."""
SHOWN = 12  # fields that a message lists


def silent(line: str) -> None:
    """Ignore a message."""


@dataclass(frozen=True)
class Reading:
    """How to read files of articles, beyond what follows from their suffixes."""

    text: str | None = None
    """The field or column of the text; `a.b` is the field b within a. None: `text`, or a guess that is reported."""
    id: str | None = None
    title: str | None = None
    date: str | None = None
    encoding: str | None = None
    """The encoding of CSV, TSV and text files; None: UTF-8, or that of a byte order mark."""
    format: str | None = None
    """The format of standard input, one of `formats.stdin_formats()`."""
    sheet: str | None = None
    """The name or number of the sheet of a spreadsheet; None: the first visible one with cells."""
    below: Path | None = None
    """Ids made of file names contain the path below this folder; None: only the name of the file."""
    most_line: int = MOST_LINE
    """The maximum size of a line or text file, in bytes; longer ones are rejected."""
    say: Callable[[str], None] = field(default=silent, compare=False)
    """Receives messages about guesses."""

    @property
    def named(self) -> dict[str, str]:
        """The fields that the user has named."""
        return {what: name for what in GUESSES if (name := getattr(self, what)) is not None}


def shown(path: Path, dash: str = "stdin") -> str:
    """The name of a file in messages; `dash` for `-`."""
    return dash if str(path) == STDIN else str(path)


def id_prefix(path: Path, reading: Reading) -> str:
    """The part of an id that names the file: its name, or its path below `reading.below`."""
    if str(path) == STDIN:
        return "stdin"
    whole = path.absolute()
    if reading.below is not None and whole.is_relative_to(reading.below):
        return whole.relative_to(reading.below).as_posix()
    return path.name


def choose_fields(
    names: Sequence[str],
    reading: Reading,
    where: str,
    nested: Sequence[str] = (),
    without_ids: str | None = "ids are file and line",
) -> dict[str, str]:
    """The fields of text, id, title and date that exist among `names` and the paths `nested`; guesses are reported."""
    by_lower = {name.casefold(): name for name in reversed(names)}
    chosen, guessed = dict[str, str](), []
    for what, guesses in GUESSES.items():
        found = reading.named.get(what)
        if found is None:
            found = next((by_lower[guess] for guess in guesses if guess in by_lower), None)
            if found not in (None, what):
                guessed.append(f"{what} is `{found}`")
        elif found not in names and found not in nested:
            hint = did_you_mean(found, names) or (" (nor is that a date)" if what == "date" else "")
            raise NamesakeError(f"{where}: no field {found!r}{hint}; it has {listed(names, SHOWN)}")
        if found is not None:
            chosen[what] = found
    if "text" not in chosen:
        raise NamesakeError(f"{where}: which field is the text? Name it with `text=`; it has {listed(names, SHOWN)}")
    if "id" not in chosen and without_ids:
        guessed.append(without_ids)
    if guessed:
        reading.say(f"{where}: {', '.join(guessed)} (guessed; `text=`, `id=`, `title=` and `date=` say otherwise)")
    return chosen
