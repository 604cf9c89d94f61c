"""Runs into a folder: files cut into shards, which are linked, written and recorded in a journal one by one.

The cuts depend on the files alone, not on workers or time. JSON lines are cut at line ends, by the bytes of their
unpacked text; Parquet files between row groups. Any other file is one shard.
"""

import io
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, get_args

import msgspec
import pyarrow as pa

from namesake import __version__
from namesake.articles.rejects import Reject, Rejects
from namesake.engines.file_linker import Input, described, with_dates
from namesake.errors import NamesakeError
from namesake.files import open_unpacked
from namesake.files.lines import BUFFER, cut_lines
from namesake.files.outputs import Journal, sync
from namesake.formats import Cut, read_articles
from namesake.formats.arrow_articles import open_parquet, read_parquet
from namesake.formats.field_names import Reading
from namesake.formats.json_articles import read_lines
from namesake.formats.link_writers import LinkWriter
from namesake.kb.manifest import MANIFEST
from namesake.kb.vectors.stored import FOLDER, Kind, has_vectors
from namesake.linker import Linker
from namesake.machine import cores, in_order
from namesake.printable import listed
from namesake.scorers.registry import named


class Plan(msgspec.Struct, frozen=True):
    """What a run is. A folder holds the parts of one plan."""

    facts: dict[str, str]
    """What its links depend on besides the inputs: the value of each option, the KB, the recipe."""
    inputs: list[Input]

    @staticmethod
    def of(linker: Linker, inputs: list[Input], reading: Reading, options: dict[str, str]) -> "Plan":
        """The plan of a run with this linker; `options` are the others of `link_folder`."""
        recipe, kb, hashed = tomllib.loads(linker.recipe.toml()), linker.kb, sha256()
        needs_data = any(named(scorer).needs is not None for scorer in linker.recipe.scorers)
        for kind in get_args(Kind):  # vectors can be replaced while the KB stays
            if needs_data and has_vectors(kb, kind):
                hashed.update((kb.path / FOLDER / kind / MANIFEST).read_bytes())
        threshold = recipe.get("decide", {}).pop("threshold", "")
        facts = {
            "version of namesake": __version__,
            "KB": kb.manifest.digest,
            "recipe": linker.recipe.name,
            "version of the recipe": sha256(repr(recipe).encode()).hexdigest(),
            "set of vectors": hashed.hexdigest() if needs_data else "",
            "threshold": str(threshold),
            "`mentions=`": linker.detector,
            "`kinds=`": linker.kind_names or "",
            "`decisions=`": linker.decisions.digest if linker.decisions else "",
            **{f"`{name}=`": value for name, value in options.items()},
            **{f"`{name}=`": value for name, value in reading.named.items()},
            "`encoding=`": reading.encoding or "",
            "`sheet=`": reading.sheet or "",
        }
        return Plan(facts, inputs)


def difference(held: Plan, asked: Plan) -> str | None:
    """How the run in a folder differs from the requested one; None if it does not, or only the files have changed."""
    for name in held.facts | asked.facts:
        one, other = held.facts.get(name) or "none", asked.facts.get(name) or "none"
        if one != other:
            return f"with another {name} ({one:.40}, not {other:.40})"
    before, now = [one.path for one in held.inputs], [one.path for one in asked.inputs]
    gone, new = sorted(set(before) - set(now)), sorted(set(now) - set(before))
    if gone or new:
        return f"of other inputs ({(gone or new)[0]} was {'one' if gone else 'not one'} of them)"
    return None if before == now else "of these inputs in another order"


class Begun(msgspec.Struct, frozen=True, tag="run"):
    """The first line."""

    plan: Plan
    time: str


class Done(msgspec.Struct, frozen=True, tag="shard"):
    """The part of a shard is in its place."""

    file: int
    number: int
    digest: str  # of its links and its rejected records
    counts: dict[str, int]
    """One number for each of `COUNTED`; `undated` are articles with a date that could not be read."""
    unread_date: str | None = None


class Ended(msgspec.Struct, frozen=True, tag="file"):
    """A file has no more than these shards."""

    file: int
    shards: int


class Changed(msgspec.Struct, frozen=True, tag="input"):
    """A file has changed: its finished shards no longer count."""

    file: int
    input: Input


Entry = Done | Ended | Changed
COUNTED = ("articles", "mentions", "linked", "rejects", "undated")
JOURNAL = "journal.jsonl"
LINKS, REJECTS = "links", "rejects"
SUFFIXES = {LINKS: ".parquet", REJECTS: ".jsonl"}
_NAME = re.compile(r"part-(\d{5,})-(\d{5,})(\.\w+)", re.ASCII)


def part_name(file: int, number: int) -> str:
    """The name of the part of a shard, without the suffix; names are in the order of the articles."""
    return f"part-{file:05}-{number:05}"


def part_files(out: Path, part: str) -> list[Path]:
    """The files of a part: its links, and its rejected records if there are any."""
    return [out / folder / f"{part}{suffix}" for folder, suffix in SUFFIXES.items()]


def digest(out: Path, part: str) -> str:
    """SHA-256 over the links and the rejected records of a part; missing files count as empty."""
    return sha256(b"".join(path.read_bytes() for path in part_files(out, part) if path.is_file())).hexdigest()


class RunJournal(Journal[Begun | Entry]):
    """The journal of the run in `folder`, for one process at a time. A new journal begins with `plan`."""

    def __init__(self, folder: Path, plan: Plan, now: str) -> None:
        """Open the journal; refuse a folder with other content, or with the run of another plan."""
        path = folder / JOURNAL
        new = not path.exists()
        if new and any(folder.iterdir()):
            raise NamesakeError(f"{folder} is not empty and has no {JOURNAL} of a run: name another folder")
        super().__init__(path, Begun | Entry, f"{folder}: another run is at work there; wait until it ends")
        self.folder, self.plan, self.begun, self.inputs = folder, plan, now, list(plan.inputs)
        self.done: dict[tuple[int, int], Done] = {}
        self.ended: dict[int, int] = {}
        self.changed: list[str] = []
        """Inputs that have changed since an earlier run, which could not link all of them."""
        try:
            self._resume()
            if new:
                sync(folder)
        except BaseException:
            self.close()
            raise

    def record(self, entry: Entry) -> None:
        """Add an entry. It is on the disk within about a second: a power cut costs the work of that second."""
        self._apply(entry)
        self.add(entry, wait=False)

    def is_complete(self, file: int) -> bool:
        """Whether all shards of this file are done."""
        return file in self.ended and all((file, number) in self.done for number in range(self.ended[file]))

    def totals(self) -> Counter[str]:
        """The counts of all shards that are done."""
        total = Counter(dict.fromkeys(COUNTED, 0))
        for done in self.done.values():
            total.update(done.counts)
        return total

    def _resume(self) -> None:
        """Apply the entries of earlier runs; refuse another plan, and a change of a file that was linked completely."""
        begun = self.entries[0] if self.entries else None
        if not isinstance(begun, Begun):
            if any(other != self.path for other in self.folder.iterdir()):
                raise NamesakeError(f"{self.path} is damaged, or from another version: name another folder")
            self.clear()
            self.add(Begun(self.plan, self.begun))
            return
        if words := difference(begun.plan, self.plan):
            raise NamesakeError(f"{self.folder} holds a run {words}: name another folder, or delete this one")
        self.begun, self.inputs = begun.time, list(begun.plan.inputs)
        for entry in self.entries[1:]:
            self._apply(entry)
        pairs = zip(self.inputs, self.plan.inputs, strict=True)
        changed = [Changed(file, new) for file, (old, new) in enumerate(pairs) if old != new]
        self.changed = [entry.input.path for entry in changed]
        for entry in changed:
            if self.ended.get(entry.file) and self.is_complete(entry.file):
                changes = f"inputs that have changed since, such as {entry.input.path}"
                raise NamesakeError(f"{self.folder} holds a run with {changes}: name another, or delete it")
        for entry in changed:
            self.record(entry)

    def _apply(self, entry: Begun | Entry) -> None:
        if isinstance(entry, Done):
            self.done[entry.file, entry.number] = entry
        elif isinstance(entry, Ended):
            self.ended[entry.file] = entry.shards
        elif isinstance(entry, Changed):
            self.inputs[entry.file] = entry.input
            self.ended.pop(entry.file, None)
            self.done = {key: done for key, done in self.done.items() if key[0] != entry.file}

    def settle(self, say: Callable[[str], None]) -> None:
        """Refuse files that readers would take for links of the run, forget damaged parts, and remove leftovers."""
        for path, shard in self._parts():
            file, number = shard or (len(self.plan.inputs), 0)
            if file >= len(self.plan.inputs) or number >= self.ended.get(file, number + 1):
                raise NamesakeError(f"{path}: not part of this run, but would be read with it; move it elsewhere")
        if self.changed:
            say(f"linked again, because they have changed: {listed(self.changed)}")
        done = list(self.done.items())
        found = in_order(lambda each: digest(self.folder, part_name(*each[0])), done, cores())
        damaged = [key for (key, each), now in zip(done, found, strict=True) if each.digest != now]
        if damaged:
            self.done = {key: each for key, each in done if key not in damaged}
            parts = [part_name(*key) for key in damaged]
            say(f"made again, because they are missing or damaged: {listed(parts)}")
        self.remove_leftovers()

    def remove_leftovers(self) -> None:
        """Remove the parts of shards that are not done: of a stopped run, damaged, or of a changed input."""
        for path, shard in self._parts():
            if shard is not None and shard not in self.done:
                path.unlink()

    def _parts(self) -> Iterator[tuple[Path, tuple[int, int] | None]]:
        """Every file in the folders of parts, with the shard in its name; hidden files are ignored."""
        for folder, suffix in SUFFIXES.items():
            for path in sorted((self.folder / folder).iterdir()):
                name = _NAME.fullmatch(path.name)
                if not path.name.startswith((".", "_")):
                    yield path, (int(name[1]), int(name[2])) if name and name[3] == suffix else None


SHARD_BYTES = 32 << 20  # of text: five thousand articles, half a second of work


class Shard(msgspec.Struct, frozen=True):
    """A piece of a file."""

    file: int  # the number of the file in the run, from 0
    number: int  # the number of the piece in the file, from 0
    path: str
    before: int = 0  # the number of lines, or rows, of the file before it
    groups: tuple[int, int] | None = None  # of Parquet: its first row group, and the one after its last

    def tables(self, rejects: Rejects, reading: Reading, lines: bytes | None = None) -> Iterator[pa.Table]:
        """Its articles, from its lines or read from the file."""
        if lines is not None:
            return read_lines(lines, Path(self.path), rejects, reading.most_line, self.before)
        if self.groups is not None:
            return read_parquet(Path(self.path), rejects, reading, range(*self.groups), self.before)
        return read_articles(self.path, rejects, reading)


class Piece(NamedTuple):
    """A shard with its lines, if it consists of lines, and the position of its end in the packed file."""

    shard: Shard
    lines: bytes | None
    position: int


def pieces_of(file: int, path: Path, size: int, most_line: int, cut: Cut | None) -> Iterator[Piece]:
    """The shards of a file, about `size` bytes of text each; without `cut`, the file is one shard."""
    if cut == "row groups":
        with open_parquet(path) as opened:
            groups = [opened.metadata.row_group(index) for index in range(opened.metadata.num_row_groups)]
        begin = before = held = rows = number = position = 0
        for end, group in enumerate(groups, start=1):
            held += group.total_byte_size
            rows += group.num_rows
            position += sum(group.column(at).total_compressed_size for at in range(group.num_columns))
            if held >= size or end == len(groups):
                yield Piece(Shard(file, number, str(path), before, (begin, end)), None, position)
                begin, before, held, number = end, rows, 0, number + 1
    elif cut is None:
        yield Piece(Shard(file, 0, str(path)), None, path.stat().st_size if path.is_file() else 0)
    else:
        with open_unpacked(path, cores()) as unpacked:
            stream = io.BufferedReader(unpacked, BUFFER)
            before = 0
            for number, lines in enumerate(cut_lines(stream, size, most_line)):
                position = 0
                with suppress(OSError, ValueError):  # a stream may be closed at its end
                    position = unpacked.position()
                yield Piece(Shard(file, number, str(path), before), lines, position)
                before += lines.count(b"\n")


class PlacedRejects(Rejects):
    """Rejects with the file that is being read, and the line of an article that could be read but not linked."""

    def go_to(self, file: str | None, lines_known: bool = False) -> None:
        """Begin with a file; `lines_known` if it is read from its beginning."""
        self.file, self.lines_known, self.places = file, lines_known, {}

    def add(self, reject: Reject) -> None:
        """Add one record, with its file and line."""
        line = (self.places or {}).get(reject.article_id or "") if reject.file is None else reject.line
        super().add(replace(reject, file=self.file, line=line if self.lines_known else None))


@dataclass(frozen=True)
class ShardLinker:
    """Links shards into the folder `out`."""

    linker: Linker
    out: Path
    scores: bool
    date: str | None
    reading: Reading = field(default_factory=Reading)
    linked_only: bool = False

    @cached_property
    def nothing(self) -> pa.Table:
        """An empty table with the columns of links, made once for all shards."""
        return described(self.linker.kb, self.linker.empty_links(self.scores))

    @cached_property
    def metadata(self) -> dict[str, str]:
        """The metadata of the links, the same for all shards."""
        return self.linker.metadata

    def link(self, shard: Shard, lines: bytes | None) -> Done:
        """Link a shard. Its part is on the disk when this returns; its name in the folder may not be yet."""
        name = part_name(shard.file, shard.number)
        part, rejected = part_files(self.out, name)
        counts = Counter(dict.fromkeys(COUNTED, 0))
        with PlacedRejects(rejected, tidy=False) as rejects:
            rejects.go_to(shard.path, lines_known=True)
            with LinkWriter(part, self.metadata, tidy=False) as writer:
                writer.write(self.nothing)
                for table in with_dates(shard.tables(rejects, self.reading, lines), rejects, self.date):
                    found = self.linker.link_counted(table, self.scores, rejects)
                    writer.write(described(self.linker.kb, found.links, linked_only=self.linked_only))
                    counts.update(found.counts)
            sync(part)
        dates = rejects.unread_dates
        counts.update(rejects=rejects.count, undated=dates.total())
        unread = next((text[:60] for text in dates), None)
        return Done(shard.file, shard.number, digest(self.out, name), counts, unread)
