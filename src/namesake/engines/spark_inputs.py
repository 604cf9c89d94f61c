"""Files of articles for Spark, by their reader: Spark itself, which cuts JSON lines, or the readers of a local run.

A name without a scheme (`hdfs://`) is a file, pattern or folder that all machines can read. Spark reads JSON lines of
our layouts, plain or `.bz2`, in pieces. A worker reads any other file, and of Parquet some row groups.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from namesake.engines.article_files import Input, common_folder, find_files, look_at
from namesake.engines.shards import SHARD_BYTES, pieces_of
from namesake.engines.spark_rejects import TaskRejects
from namesake.errors import NamesakeError
from namesake.files.compressed import COMPRESSED, MAGIC
from namesake.formats import cut_of, format_of, read_articles, words
from namesake.formats.arrow_articles import read_row_groups
from namesake.formats.field_names import Reading

SHARDS = "path string, begin int, end int, before long"
"""The columns of a DataFrame of pieces of files; `end` is 0 for a whole one."""
HIDDEN = (".", "_")
Shard = tuple[str, int, int, int]


@dataclass
class Inputs:
    """The inputs of a job."""

    files: list[Input] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    """JSON lines, by their names for Spark."""
    parquet: list[str] = field(default_factory=list)
    """Parquet that only Spark can read."""
    shards: list[Shard] = field(default_factory=list)
    """Pieces that workers read themselves."""
    reading: Reading = field(default_factory=Reading)
    notes: list[str] = field(default_factory=list)
    """Messages about skipped files."""


def has_scheme(name: str | Path) -> bool:
    """Whether a name has a scheme, such as `hdfs://host/folder`."""
    return re.match(r"[A-Za-z][\w+.-]*://", str(name)) is not None


def uri(name: str | Path) -> str:
    """The name for Spark, whose settings decide about names without a scheme."""
    return str(name) if has_scheme(name) else f"file://{Path(name).absolute()}"


def local_inputs(named: Sequence[str | Path], out: str | Path) -> Inputs:
    """The files of names without a scheme, none of them in `out`; a worker reports a file that cannot be opened."""
    inputs = Inputs()
    if not named:
        return inputs
    listing = find_files(named, Path(out))
    inputs.notes, inputs.files = listing.notes, [look_at(path) for path in listing.paths]
    inputs.reading = Reading(below=common_folder(listing.paths))
    for path in listing.paths:
        whole = (str(path.absolute()), 0, 0, 0)
        try:
            cut = cut_of(path, Reading())
            if cut == "lines" and _is_cut_by_spark(path):
                inputs.lines.append(_literally(uri(path)))
            elif cut == "row groups":
                for piece in pieces_of(0, path, SHARD_BYTES, 0, bytearray(), cut):
                    begin, end = piece.shard.groups or (0, 0)
                    inputs.shards.append((whole[0], begin, end, piece.shard.before))
            else:
                inputs.shards.append(whole)
        except (NamesakeError, OSError):
            inputs.shards.append(whole)
    return inputs


def _is_cut_by_spark(path: Path) -> bool:
    """Whether Spark reads the lines of a file as we do: it skips hidden files, and tells compression by the name."""
    if path.name.startswith(HIDDEN):
        return False
    with path.open("rb") as file:
        start = file.read(4)
    packed = next((packing for magic, packing in MAGIC.items() if start.startswith(magic)), None)
    return packed in (None, "bzip2") and COMPRESSED.get(path.suffix) == packed


def _literally(name: str) -> str:
    """The name of one file, escaped as a pattern of Spark."""
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", name)


def read_shards(batches: Any, rejects: TaskRejects, most_line: int, reading: Reading) -> Iterator[pa.Table]:
    """Tables of articles from pieces of files, as in a local run; a broken file is reported."""
    for batch in batches:
        for row in batch.to_pylist():
            path = Path(row["path"])
            rejects.go_to(str(path), lines_known=True)
            try:
                if row["end"]:
                    groups = range(row["begin"], row["end"])
                    yield from read_row_groups(path, rejects, groups, row["before"], reading)
                else:
                    yield from read_articles(path, rejects, most_line=most_line, reading=reading)
            except NamesakeError as problem:
                rejects.add_problem(str(problem))


def add_remote(inputs: Inputs, named: Sequence[str], spark: Any) -> None:
    """Add the files of names with a scheme, by their suffixes; their content is not checked."""
    for name in named:
        pattern = spark._jvm.org.apache.hadoop.fs.Path(name)
        system = pattern.getFileSystem(spark._jsc.hadoopConfiguration())
        found = list(system.globStatus(pattern) or ())
        if not found:
            raise NamesakeError(f"{name}: no such file or folder")
        files = [one for status in found for one in _remote_files(system, status)]
        if not files:
            raise NamesakeError(f"{name}: no file of articles found; their suffixes are {words()}")
        for one in files:
            inputs.files.append(one)
            (inputs.parquet if one.path.endswith(".parquet") else inputs.lines).append(_literally(one.path))


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
        if format_of(Path(inner)) is not None and not any(part.startswith(HIDDEN) for part in inner.parts):
            yield _remote(path, file.getLen())


def _remote(path: str, size: int) -> Input:
    """A file that only Spark can read."""
    file = Path(path)
    found = format_of(file)
    if found is None or not found.by_spark or COMPRESSED.get(file.suffix) == "zstandard":
        raise NamesakeError(
            f"{path}: from there Spark reads JSON lines (plain, .gz, .bz2) and .parquet; other formats need a folder "
            "that all machines can read, named without a scheme"
        )
    if file.name.startswith(HIDDEN):
        raise NamesakeError(f"{path}: Spark skips files whose names begin with . or _; rename it")
    return Input(path, size, 0)
