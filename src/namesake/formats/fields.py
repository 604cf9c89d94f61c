"""What the fields of articles are called in files that others made: as the user says, else as people call them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from namesake.errors import NamesakeError, did_you_mean
from namesake.files import STDIN

GUESSES = {
    "text": ("text", "body", "content", "article", "story", "full_text", "fulltext", "article_text", "abstract"),
    "id": ("id", "articleid", "article_id", "url", "uri", "link", "guid", "doc_id", "docid", "document_id", "key"),
    "title": ("title", "headline", "heading", "subject"),
    "date": ("date", "published", "published_at", "publish_date", "publication_date", "pubdate", "created_at", "day"),
}
"""What people call the fields of articles, likeliest first; upper and lower case are one."""

SHOWN = 12
"""Fields that a message names."""


def silent(line: str) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Reading:
    """How files of articles are to be read, beyond what their suffixes tell."""

    text: str | None = None
    """The field or column of the text; `a.b` is the field b within a. None: it is called so, or guessed aloud."""
    id: str | None = None
    title: str | None = None
    date: str | None = None
    encoding: str | None = None
    """Of CSV, TSV and text files; None: UTF-8, or what a byte order mark says."""
    format: str | None = None
    """Of standard input: text, csv, tsv, json or jsonl."""
    below: Path | None = None
    """The folder that ids made of files begin at; None: they begin with the file's name."""
    say: Callable[[str], None] = field(default=silent, compare=False)
    """Told what was guessed."""

    @property
    def named(self) -> dict[str, str]:
        """The fields that the user has named."""
        given = {"text": self.text, "id": self.id, "title": self.title, "date": self.date}
        return {what: name for what, name in given.items() if name is not None}


def place(path: Path, reading: Reading) -> str:
    """What ids call a file: its name, or its path from the folder that all files have in common where names repeat."""
    if str(path) == STDIN:
        return "stdin"
    whole = path.absolute()
    if reading.below is not None and whole.is_relative_to(reading.below):
        return whole.relative_to(reading.below).as_posix()
    return path.name


@dataclass(frozen=True)
class Fields:
    """Where the parts of an article stand; None where it has none."""

    text: str
    id: str | None
    title: str | None
    date: str | None


def choose_fields(
    names: Sequence[str],
    reading: Reading,
    where: str,
    nested: Sequence[str] = (),
    without_ids: str | None = "ids are file and line",
) -> Fields:
    """The fields that hold text, id, title and date, of those a file has; says aloud which it had to guess.

    Args:
        names: the fields of the file.
        reading: what the user has named; a name that the file has not is an error.
        where: the file, for messages.
        nested: paths such as `a.b` that also lead to something.
        without_ids: what to say where there is no field of ids.
    """
    by_lower = {name.casefold(): name for name in reversed(names)}
    chosen: dict[str, str | None] = {}
    guessed = []
    for what, guesses in GUESSES.items():
        given = reading.named.get(what)
        if given is not None:
            if given not in names and given not in nested:
                other = " (nor is that a date)" if what == "date" else ""
                hint = did_you_mean(given, names) or other
                raise NamesakeError(f"{where}: no field {given!r}{hint}; it has {listed(names)}")
            chosen[what] = given
            continue
        chosen[what] = next((by_lower[guess] for guess in guesses if guess in by_lower), None)
        if chosen[what] not in (None, what):
            guessed.append(f"{what} is `{chosen[what]}`")
    if chosen["text"] is None:
        raise NamesakeError(f"{where}: which field is the text? Name it with `text=`; it has {listed(names)}")
    if chosen["id"] is None and without_ids:
        guessed.append(without_ids)
    if guessed:
        reading.say(f"{where}: {', '.join(guessed)} (guessed; `text=`, `id=`, `title=` and `date=` say otherwise)")
    return Fields(chosen["text"], chosen["id"], chosen["title"], chosen["date"])


def listed(names: Sequence[str]) -> str:
    """The fields that a file has, for a message: the first of many."""
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return (", ".join(name[:60] for name in names[:SHOWN]) or "none") + more
