"""Files of decisions: one JSON object per line, each about one name in one place, or about a name everywhere.

A decision is found again by content: the name and the words around it (`context`), or the cells of a row (`cells`).
Article, span and text only say where it was made. docs/review.md describes every field.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal
from unicodedata import normalize

import msgspec

from namesake.errors import NamesakeError, warn
from namesake.files import Paths, open_lines, several
from namesake.files.lines import bounded_lines
from namesake.files.outputs import wait_for_lock
from namesake.kb.names.normalise import normalise
from namesake.kb.store import KB
from namesake.printable import counted

ID = r"Q[1-9]\d{0,17}|[A-Za-z][\w.-]*:\S{1,200}"  # a QID, or an id of your own such as acme:jane-doe
MOST_LINE = 1 << 20  # bytes of one decision
_normalised = lru_cache(1 << 17)(normalise)
_is_id, _is_fingerprint = (re.compile(one, re.ASCII).fullmatch for one in (ID, "[0-9a-f]{16}"))
Cells = dict[str, str]
Key = tuple[str, str, tuple[tuple[str, str], ...]]
"""What a decision is about: the normalised name, the context, the cells. The last two are empty for "everywhere"."""


class Decision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One decision of a person."""

    decision: Literal["entity", "nil", "never", "alias", "withdrawn"]
    """It is this entity; NIL; it is not this entity; the name means this entity everywhere; an earlier one is void."""
    name: str
    entity: str | None = None
    context: str | None = None
    """The fingerprint of the words around the name (`kernels.text.fingerprints`), 16 hexadecimal digits."""
    cells: Cells | None = None  # the cells of the row, by column
    article: str | None = None
    span: tuple[int, int] | None = None
    text: str | None = None  # the sentence, or the row as one text
    date: str | None = None
    by: str = ""
    at: str = ""
    kb: str = ""
    recipe: str = ""

    def __post_init__(self) -> None:
        """Raise ValueError for a decision that cannot be applied."""
        if self.decision in ("entity", "never", "alias") and not _is_id(self.entity or ""):
            raise ValueError(f"entity is {self.entity!r}, not a QID such as Q76 or an id such as acme:jane-doe")
        if not _normalised(self.name):
            raise ValueError("the name is empty")
        if self.decision == "entity" and not (self.context or self.cells):
            raise ValueError("it has neither context nor cells; for a name everywhere, the decision is `alias`")
        if self.context is not None and not _is_fingerprint(self.context):
            raise ValueError(f"context is {self.context!r}, not 16 hexadecimal digits")

    @property
    def key(self) -> Key:
        """What it is about."""
        if self.decision == "alias":
            return _normalised(self.name), "", ()
        if not self.cells:
            return _normalised(self.name), self.context or "", ()
        return "", "", tuple(sorted((column, plain(cell)) for column, cell in self.cells.items()))


class _Choice(msgspec.Struct, frozen=True):
    """A decision as pages saved it in earlier versions."""

    name: str
    gold: str | None
    cells: Cells


def plain(cell: str) -> str:
    """A cell in the form in which cells are compared: programs save blanks and composed characters differently."""
    return " ".join(normalize("NFC", cell).split())


class Placed(msgspec.Struct, frozen=True, gc=False):
    """A decision with its file and line, and what it is about."""

    decision: Decision
    file: Path
    line: int
    key: Key

    @property
    def where(self) -> str:
        """The file and the line in words."""
        return f"{self.file} line {self.line}"

    def __str__(self) -> str:
        meant = "NIL" if self.decision.decision == "nil" else f"{self.decision.decision} {self.decision.entity}"
        return f"{self.decision.name!r} = {meant} ({self.where})"


def read_file(path: Path, rejected: list[str]) -> Iterator[Placed]:
    """The decisions of a file. Lines that are none are added to `rejected`, with file, line and reason."""
    decoder, choice = msgspec.json.Decoder(Decision), msgspec.json.Decoder(_Choice)
    with open_lines(path) as stream:
        for number, line in bounded_lines(stream, MOST_LINE):
            if line is not None and not line.strip():
                continue
            try:
                if line is None:
                    raise ValueError(f"longer than {MOST_LINE:,} bytes")
                if b'"gold"' in line and b'"decision"' not in line:
                    old = choice.decode(line)
                    what: Any = "nil" if old.gold is None else "entity"
                    found = Decision(decision=what, name=old.name, entity=old.gold, cells=old.cells)
                else:
                    found = decoder.decode(line)
            except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
                rejected.append(f"{path} line {number}: not a decision ({problem})")
                continue
            yield Placed(found, path, number, found.key)


def read_decisions(files: Paths, say: Callable[[str], None] = warn) -> list[Placed]:
    """The decisions of some files that hold. `say` receives messages about rejected lines and replaced decisions.

    A contradiction within a file is an error. If two files contradict each other, the later file counts.
    """
    rejected: list[str] = []
    held: dict[Key, list[Placed]] = {}
    replaced: list[tuple[Placed, Placed]] = []
    for path in dict.fromkeys(Path(file) for file in several(files)):
        own: dict[Key, list[Placed]] = {}
        for one in read_file(path, rejected):
            same, by = own.setdefault(one.key, []), one.decision.by
            if one.decision.decision == "withdrawn":
                own[one.key] = [other for other in same if other.decision.by != by]
                continue
            for other in same:
                if contradict(one.decision, other.decision):
                    raise NamesakeError(f"two decisions contradict each other: {other} and {one}; remove one of them")
            same.append(one)
        for key, placed in own.items():
            before = held.get(key, [])
            void = {id(a): b for a in before for b in placed if contradict(a.decision, b.decision)}
            replaced += [(one, void[id(one)]) for one in before if id(one) in void]
            held[key] = [one for one in before if id(one) not in void] + placed
    if rejected:
        say(f"{counted(len(rejected), 'line')} of decisions rejected, such as {rejected[0]}")
    if replaced:
        old, new = replaced[0]
        say(f"{counted(len(replaced), 'decision')} replaced by a later file, such as {old} by {new}")
    return [one for placed in held.values() for one in placed]


def contradict(one: Decision, other: Decision) -> bool:
    """Whether two decisions about the same cannot both hold."""
    if "never" in (both := {one.decision, other.decision}):
        return both != {"never"} and one.entity == other.entity
    return one.entity != other.entity


def append(path: Path, decisions: Iterable[Decision]) -> None:
    """Add decisions to a file, which others may write at the same time; what is written stays whole lines."""
    lines = b"".join(msgspec.json.encode(one) + b"\n" for one in decisions)
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_CLOEXEC, 0o666)
    with os.fdopen(handle, "r+b", buffering=0) as file:
        wait_for_lock(file.fileno())
        end = file.seek(0, os.SEEK_END)
        if end and os.pread(handle, 1, end - 1) != b"\n":  # a line that was cut off when its writer was killed
            lines = b"\n" + lines
        while lines:
            lines = lines[file.write(lines) or 0 :]
        os.fsync(handle)


def now() -> str:
    """The time for `at`."""
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def origin(kb: KB, recipe: str) -> dict[str, str]:
    """The fields `kb` and `recipe` of decisions."""
    return {"kb": f"{kb.path.name} {kb.manifest.dump_date or kb.manifest.created}", "recipe": recipe}


def agreement(one: Sequence[str], other: Sequence[str]) -> float:
    """Cohen's kappa of two reviewers' answers to the same cases, (p₀ − pₑ) / (1 − pₑ); NaN without cases.

    p₀ is the share of equal answers, pₑ the share that chance gives: Σ over the answers of the product of both shares.
    """
    size = len(one)
    if not size:
        return float("nan")
    same = sum(a == b for a, b in zip(one, other, strict=True)) / size
    of_other = Counter(other)
    chance = sum(count * of_other[answer] for answer, count in Counter(one).items()) / size**2
    return 1.0 if chance == 1 else (same - chance) / (1 - chance)


def answers_by(placed: Iterable[Placed], reviewer: Callable[[Placed], str]) -> dict[str, dict[Any, str]]:
    """The answer of each reviewer to each case."""
    found: dict[str, dict[Any, str]] = {}
    for one in placed:
        if one.decision.decision in ("entity", "nil"):
            found.setdefault(reviewer(one), {})[one.key] = one.decision.entity or "NIL"
        elif one.decision.decision == "withdrawn":
            found.get(reviewer(one), {}).pop(one.key, None)
    return found
