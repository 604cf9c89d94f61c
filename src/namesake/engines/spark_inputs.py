"""Files of articles for Spark, by who reads them: Spark itself, which cuts JSON lines, or the readers of a local run.

A name without a scheme (`hdfs://`) is a file, pattern or folder that all machines see. JSON lines of our layouts, plain
or `.bz2`, are read by Spark, in pieces; a worker reads any other file, and of Parquet some groups of rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from namesake.engines.inputs import Input, common_folder, find_files, look_at
from namesake.engines.shards import SHARD_BYTES, pieces_of
from namesake.engines.spark_tally import Placed
from namesake.errors import NamesakeError
from namesake.files import kind
from namesake.files.compressed import COMPRESSED, MAGIC
from namesake.formats import JSON, READERS, SUFFIXES, read_articles, read_as_one
from namesake.formats.fields import Reading
from namesake.formats.parquet import read_row_groups

SHARDS = "path string, begin int, end int, before long"
"""The columns of a DataFrame of pieces of files; `end` is 0 for a whole one."""
READ_BY_SPARK = ("", ".gz", ".bz2")
HIDDEN = (".", "_")
Shard = tuple[str, int, int, int]


@dataclass
class Inputs:
    """What is to be read."""

    files: list[Input] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """JSON lines, as Spark names them."""
    parquet: list[str] = field(default_factory=list)
    """Parquet that only Spark can reach."""
    shards: list[Shard] = field(default_factory=list)
    """What workers read themselves."""
    reading: Reading = field(default_factory=Reading)
    notes: list[str] = field(default_factory=list)
    """What was passed over in the folders of articles."""


def has_scheme(name: str | Path) -> bool:
    """Whether it is a name of Spark's, such as `hdfs://host/folder`."""
    return re.match(r"[A-Za-z][\w+.-]*://", str(name)) is not None


def uri(name: str | Path) -> str:
    """The name for Spark, which takes one without a scheme for what its settings say."""
    return str(name) if has_scheme(name) else f"file://{Path(name).absolute()}"


def local_inputs(named: Sequence[str | Path], out: str | Path) -> Inputs:
    """The files that names without a scheme mean, none of them in `out`; what cannot be opened a worker will tell."""
    inputs = Inputs()
    if not named:
        return inputs
    listing = find_files(named, Path(out))
    inputs.notes, paths = listing.notes, listing.paths
    inputs.files = [look_at(path) for path in paths]
    inputs.reading = Reading(below=common_folder(paths))
    for path in paths:
        try:
            if _is_cut_by_spark(path):
                inputs.lines.append(_literally(uri(path)))
            else:
                inputs.shards += _shards(path)
        except (NamesakeError, OSError):
            inputs.shards.append(_whole(path))
    return inputs


def _is_cut_by_spark(path: Path) -> bool:
    """Whether Spark reads a file's lines as we do: it passes over hidden files, and knows a packing by its name."""
    if kind(path) not in JSON or path.name.startswith(HIDDEN) or read_as_one(path, Reading()):
        return False
    with path.open("rb") as file:
        start = file.read(4)
    packed = next((packing for magic, packing in MAGIC.items() if start.startswith(magic)), None)
    return packed in (None, "bzip2") and COMPRESSED.get(path.suffix) == packed


def _literally(name: str) -> str:
    """The name of one file, where Spark expects a pattern."""
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", name)


def _shards(path: Path) -> Iterator[Shard]:
    if kind(path) != ".parquet":
        yield _whole(path)
        return
    for piece in pieces_of(0, path, SHARD_BYTES, 0, bytearray()):
        begin, end = piece.shard.groups or (0, 0)
        yield str(path.absolute()), begin, end, piece.shard.before


def _whole(path: Path) -> Shard:
    return str(path.absolute()), 0, 0, 0


def read_shards(batches: Any, rejects: Placed, most_line: int, reading: Reading) -> Iterator[pa.Table]:
    """Tables of articles from pieces of files, as a local run reads them; one that breaks is told."""
    for batch in batches:
        for row in batch.to_pylist():
            path = Path(row["path"])
            rejects.go_to(str(path), lines_known=True)
            try:
                if row["end"]:
                    groups = range(row["begin"], row["end"])
                    yield from read_row_groups(path, rejects, groups=groups, before=row["before"], reading=reading)
                else:
                    yield from read_articles(path, rejects, most_line=most_line, reading=reading)
            except NamesakeError as problem:
                rejects.problem(str(problem))


def add_remote(inputs: Inputs, named: Sequence[str], spark: Any) -> None:
    """Add the files that are meant by names with a scheme, by their suffixes; what is in them is not looked at."""
    for name in named:
        pattern = spark._jvm.org.apache.hadoop.fs.Path(name)
        system = pattern.getFileSystem(spark._jsc.hadoopConfiguration())
        found = list(system.globStatus(pattern) or ())
        if not found:
            raise NamesakeError(f"{name}: no file is called so")
        files = [one for status in found for one in _remote_files(system, status)]
        if not files:
            raise NamesakeError(f"{name}: no file of articles is there; they are called {SUFFIXES}")
        for one in files:
            inputs.files.append(one)
            (inputs.parquet if kind(Path(one.path)) == ".parquet" else inputs.lines).append(_literally(one.path))


def _remote_files(system: Any, status: Any) -> Iterator[Input]:
    """A file, or the files of articles in a folder and below."""
    top = status.getPath().toString()
    if not status.isDirectory():
        yield _remote(top, status.getLen())
        return
    each = system.listFiles(status.getPath(), True)
    while each.hasNext():
        file = each.next()
        path = file.getPath().toString()
        inner = PurePosixPath(path.removeprefix(top))
        if kind(Path(inner)) in READERS and not any(part.startswith(HIDDEN) for part in inner.parts):
            yield _remote(path, file.getLen())


def _remote(path: str, size: int) -> Input:
    """A file that Spark alone can reach."""
    file = Path(path)
    packing = file.suffix if file.suffix in COMPRESSED else ""
    if not (kind(file) == ".parquet" or (kind(file) in JSON and packing in READ_BY_SPARK)):
        raise NamesakeError(
            f"{path}: from there Spark reads JSON lines (plain, .gz, .bz2) and .parquet; other formats need a folder "
            "that all machines see, named without a scheme"
        )
    if file.name.startswith(HIDDEN):
        raise NamesakeError(f"{path}: Spark passes over files whose names begin with . or _; call it otherwise")
    return Input(path, size, 0)
