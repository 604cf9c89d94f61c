"""Spark for real: the links are those of the linker here, on two threads and on a cluster that loses a machine."""

import gzip
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

pytest.importorskip("pyspark")

from namesake.apps.cli.commands import app
from namesake.apps.cli.link import cause
from namesake.articles.rejects import Rejects
from namesake.engines.file_linker import described
from namesake.engines.folder import link_folder
from namesake.engines.spark_files import find_java, link_with_spark, session
from namesake.engines.spark_linker import PLACE, SPANS, Job, SparkRejects, Tally, link, link_lines, read_lines
from namesake.errors import NamesakeError
from namesake.formats import read_articles
from namesake.kb.publish.pack import pack
from namesake.linker import Linker
from namesake.sample import ARTICLES
from several_kinds import TEXT, WORLD

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # pyspark's own
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module", autouse=True)
def environment(tmp_path_factory) -> Iterator[None]:
    """Workers find this checkout, and unpack into a cache of their own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]))
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.delenv("SPARK_HOME", raising=False)
        yield


@pytest.fixture(scope="module")
def spark(environment) -> Iterator[Any]:
    with session("local[2]") as opened:
        yield opened


def rows(table: pa.Table) -> list[str]:
    """Links in an order of their own: Spark has none."""
    return sorted(json.dumps(row) for row in table.to_pylist())


def local(linker: Linker, table: pa.Table, scores: bool = False) -> list[str]:
    """The links of a local run."""
    return rows(described(linker.kb, linker.link(table, scores)))


def collected(df: Any) -> list[str]:
    return sorted(json.dumps(row.asDict(recursive=True)) for row in df.collect())


def test_executors_are_told_the_same_kb_as_the_driver(sample_kb, monkeypatch):
    monkeypatch.setenv("HOME", str(sample_kb.path.parent))
    options = {"scores": False, "threshold": None, "date": None, "rejects": None}
    job = Job(Mock(), f"~/{sample_kb.path.name}", "default", **options)
    assert Path(job.where) == job.linker.kb.path == sample_kb.path.absolute()


def test_a_dataframe_of_articles(spark, linker, articles, tmp_path):
    given = articles.append_column("source", pa.array([f"s{k}" for k in range(len(articles))]))
    pq.write_table(given, tmp_path / "a.parquet")
    [table] = read_articles(tmp_path / "a.parquet", Rejects())
    df = spark.read.parquet(str(tmp_path / "a.parquet"))
    for scores in (False, True):
        links = link(df.repartition(2), linker.kb.path, scores=scores)
        assert collected(links) == local(linker, table, scores)
        assert links.columns == described(linker.kb, linker.empty_links(scores)).column_names
    assert collected(link(df, linker.kb.path, "uiscore-paper")) == local(Linker(linker.kb, "uiscore-paper"), table)


def test_kinds_are_filtered_as_in_a_local_run(spark, world_kb, tmp_path, monkeypatch):
    names = [one.label for one in WORLD.values()]
    table = pa.table({"id": ["a"], "text": [TEXT], "mentions": pa.array([names], pa.list_(pa.string()))})
    df = spark.createDataFrame([("a", TEXT, names)], "id string, text string, mentions array<string>")
    kinds = Linker(world_kb, threshold=0.0, kinds="places,works")
    expected = local(kinds, table)
    assert {json.loads(row)["kind"] for row in expected} == {"place", "work", None}
    assert collected(link(df, world_kb.path, threshold=0.0, kinds=["work", "location"])) == expected
    with pytest.raises(NamesakeError, match="did you mean 'people'"):
        link(df, world_kb.path, kinds="peple")
    monkeypatch.setattr("namesake.engines.spark_files.session", lambda master: nullcontext(spark))
    mentions = [{"name": name, "spans": [[TEXT.index(name), TEXT.index(name) + len(name)]]} for name in names]
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "text": TEXT, "mentions": mentions}) + "\n")
    given = [str(tmp_path / "a.jsonl"), "--kb", str(world_kb.path), "-o", f"{tmp_path}/out/", "--threshold", "0"]
    ran = CliRunner().invoke(app, ["link", *given, "--engine", "spark", "--kinds", "places,works"])
    assert ran.exit_code == 0, ran.output
    assert rows(ds.dataset(tmp_path / "out" / "links", format="parquet").to_table()) == expected
    assert json.loads((tmp_path / "out" / "_run.json").read_text())["options"]["kinds"] == "places,works"


BODY = "Michael Jordan, the basketball player, met Chris Carter of The X-Files."


def test_a_dataframe_with_columns_of_other_names(spark, linker):
    """As `link_frame` takes them: named or guessed, with names given as lists of text."""
    rows_in = [("u1", BODY, "1996-05-01", ["Chris Carter"]), ("u2", BODY, None, []), ("u3", BODY, None, None)]
    df = spark.createDataFrame(rows_in, "url string, body string, when string, people array<string>")
    table = pa.table(
        {
            "id": ["u1", "u2", "u3"],
            "text": [BODY] * 3,
            "date": ["1996-05-01", None, None],
            "mentions": pa.array([["Chris Carter"], [], None], pa.list_(pa.string())),
        }
    )
    named = link(df, linker.kb.path, text="body", id="url", date="when", mentions="people")
    assert collected(named) == local(linker, table)
    assert [row for row in collected(named) if '"u1"' in row] != []
    with pytest.warns(UserWarning, match="text is `body`, id is `url`") as warned:
        guessed = link(df.select("url", "body"), linker.kb.path)
    assert warned[0].filename == __file__
    assert collected(guessed) == local(linker, table.select(["id", "text"]))
    places = link(df.select("url", "body"), linker.kb.path, text="body", one_per_span=True)
    assert collected(places) == rows(described(linker.kb, linker.link(table.select(["id", "text"])), one_per_span=True))


def test_columns_and_arguments_are_checked_before_the_job(spark, linker, tmp_path):
    df = spark.createDataFrame([("u1", BODY, [1], "")], "url string, body string, numbers array<int>, note string")
    place = linker.kb.path
    for arguments, message in [
        ({"text": "bdy"}, "the DataFrame: no field 'bdy' .did you mean 'body'"),
        ({"mentions": "peple"}, "the DataFrame: no field 'peple'"),
        ({"text": "numbers"}, "the DataFrame: column `text`, which is list<.*>, cannot be read"),
        ({"mentions": "note"}, "the DataFrame: column `mentions`, which is string, cannot be read"),
        ({"recipe": "defalt"}, "did you mean 'default'"),
        ({"threshold": "p999"}, "p999"),
        ({"default_date": "tomorrow"}, "`default_date='tomorrow'`: not a date"),
        ({"kb": tmp_path / "absent"}, "no such KB"),
    ]:
        with pytest.raises(NamesakeError, match=message):  # and no job was started: nothing is collected
            link(df, **{"kb": place, "text": "body", "id": "url"} | arguments)
    with pytest.raises(NamesakeError, match=r"which column is the id. Name it with `id=`"):
        link(df.select("body"), place, text="body")
    with pytest.raises(NamesakeError, match=r"which field is the text. Name it with `text=`"):
        link(df.select("url"), place)
    with pytest.raises(TypeError, match="df must be a DataFrame of Spark's, not list"):
        link([1], place)


def test_workers_run_the_python_of_the_driver(spark, linker, monkeypatch):
    """In a session that was opened by somebody else, unless a Python is named."""
    df = spark.createDataFrame([("u1", BODY)], "id string, text string")
    context = spark.sparkContext
    monkeypatch.setattr(context, "pythonExec", "python-of-somebody-else")
    link(df, linker.kb.path)
    assert context.pythonExec == "python-of-somebody-else"  # PYSPARK_PYTHON is set
    monkeypatch.delenv("PYSPARK_PYTHON")
    links = link(df, linker.kb.path)
    assert context.pythonExec == os.environ["PYSPARK_PYTHON"] == sys.executable
    assert links.count() == linker.link(pa.table({"id": ["u1"], "text": [BODY]})).num_rows


def test_json_lines_and_a_kb_that_is_shipped_packed(spark, linker, articles, tmp_path):
    """Quotebank's layout, too: its offsets count tokens."""
    source, packed = tmp_path / "a.jsonl", tmp_path / "sample.tar.zst"
    record = {"articleID": "q", "content": "Chris Carter made The X-Files .", "date": "2015-01-01", "url": "u"}
    record["names"] = [{"name": "Chris Carter", "ids": None, "offsets": [[0, 2]]}]
    source.write_bytes(ARTICLES.read_bytes() + b"\n" + json.dumps(record).encode() + b"\n")
    pack(linker.kb.path, packed)
    [table] = read_articles(source, Rejects())
    assert collected(link_lines(spark.read.text(str(source)), packed)) == local(linker, table)


def test_what_cannot_be_linked_is_counted_or_refused(spark, linker, tmp_path):
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    lines = [line.decode() for line in ARTICLES.read_bytes().splitlines()]
    df = spark.createDataFrame([(line,) for line in [*lines, "{", '{"id": 1}', "{"]], ["value"])
    counted = SparkRejects(spark)
    links = link_lines(df, linker.kb.path, rejects=counted)
    assert len(links.collect()) == linker.link(next(read_articles(ARTICLES, Rejects()))).num_rows
    assert counted.count == 3
    assert counted.reasons["no `text`"] == 1
    with pytest.raises((Py4JError, PySparkException), match="pass `rejects` to continue"):
        link_lines(df, linker.kb.path).collect()
    with pytest.raises(NamesakeError, match="no such file; make one with"):
        link_lines(df, tmp_path / "absent.tar.zst")
    with pytest.raises(NamesakeError, match="not a date"):
        link_lines(df, linker.kb.path, date="tomorrow")


def test_lines_are_known_from_a_files_beginning():
    lines = [b'{"id": "\xe9", "text": "t"}', b"", b"{", b"{", b"{"]
    places = ["0:file:///a%20b"] * 3 + ["900:file:///a%20b"] + ["0:hdfs://h/c"]
    batch = pa.record_batch({"value": pa.array(lines).view(pa.string()), PLACE: places})
    rejects = Tally()
    [table] = read_lines([batch], rejects)
    assert table.column("id").to_pylist() == ["\ufffd"]
    assert [(one.file, one.line) for one in rejects.first] == [("/a b", 3), ("/a b", None), ("hdfs://h/c", 1)]


# files


@pytest.fixture
def link_here(spark, monkeypatch) -> Any:
    """`link_with_spark` in the session that is open."""
    monkeypatch.setattr("namesake.engines.spark_files.session", lambda master: nullcontext(spark))
    return link_with_spark


def as_spark_has_it(schema: pa.Schema) -> list[pa.Field]:
    """What docs/spark.md says of types: lists of no fixed size, `extra` as plain text."""
    types = {"extra": pa.string(), "spans": SPANS, "title_spans": SPANS}
    return [field.with_type(types.get(field.name, field.type)) for field in schema]


def rejects_of(out: Path) -> list[str]:
    return sorted(line for path in out.glob("*rejects/*.jsonl") for line in path.read_text().splitlines())


def test_a_folder_of_everything_as_a_local_run_reads_it(link_here, linker, tmp_path):
    """Formats, packings, folders in folders, odd names, bytes that are no UTF-8, bad lines, dates and long lines."""
    source = tmp_path / "in"
    (source / "more" / "lang=en").mkdir(parents=True)
    lines = ARTICLES.read_bytes().splitlines(keepends=True)
    text = "Chris Carter made The X-Files."
    odd = {"id": "no date", "text": text, "date": "soon", "from": "here"}
    far = {"id": "far", "text": text, "mentions": [{"name": "Chris Carter", "spans": [[5, 999]]}]}
    long = {"id": "long", "text": text + " " * (1 << 20)}
    hard = [b'{"id": "latin", "text": "caf\xe9: Chris Carter made The X-Files."}\n', b"\n", b"{\xe9\n", b'{"id": 1}\n']
    hard += [json.dumps(one).encode() + b"\r\n" for one in (odd, far, long)]
    (source / "a [1] 100%.jsonl").write_bytes(b"".join([b"\xef\xbb\xbf", *lines[:3], *hard, *lines[3:6]]))
    (source / "more" / "b.jsonl.gz").write_bytes(gzip.compress(b"".join([*lines[6:9], b"{\n"])))
    with pa.CompressedOutputStream(str(source / "more" / "c.jsonl.zst"), "zstd") as file:
        file.write(b"".join([*lines[9:12], b"{\n"]))
    (source / "art.csv").write_text(f"id,body\ncsv,{text}\n")
    (source / "foreign.jsonl").write_text(json.dumps({"text": text}) + "\n")
    (source / "t.txt").write_text(text)
    rest = next(read_articles(ARTICLES, Rejects())).slice(12)
    pq.write_table(rest.append_column("source", pa.array(["s"] * len(rest))), source / "more" / "lang=en" / "d.parquet")
    (source / "_SUCCESS").touch()
    limit = {"most_line": 1 << 20}
    here = link_folder(linker, [source], tmp_path / "here", workers=1, scores=True, **limit)
    tally = link_here([source], linker.kb.path, tmp_path / "there", scores=True, **limit)

    ours, theirs = (ds.dataset(tmp_path / run / "links", format="parquet").to_table() for run in ("here", "there"))
    assert list(theirs.schema) == as_spark_has_it(ours.schema)
    assert rows(theirs) == rows(ours)
    assert ds.dataset(tmp_path / "there", format="parquet").to_table().num_rows == len(ours)
    assert rejects_of(tmp_path / "there") == rejects_of(tmp_path / "here")
    assert len(rejects_of(tmp_path / "there")) == here.rejects == tally.reasons.total() == 6
    one, other = (json.loads(next((tmp_path / run).glob("*run.json")).read_text()) for run in ("here", "there"))
    assert one.keys() == other.keys()
    for key in ("complete", "kb", "recipe", "inputs", "problems"):
        assert other[key] == one[key]
    assert other["counts"] | {"parts": 0} == one["counts"] | {"parts": 0}
    assert other["counts"]["undated"] == 1
    metadata = pq.read_schema(next((tmp_path / "here" / "links").iterdir())).metadata
    assert other["recipe"]["toml"] == metadata[b"namesake.recipe"].decode()

    remote = tmp_path / "remote"  # what Spark alone can reach: here through its own file system
    remote.mkdir()
    pq.write_table(rest, remote / "rest.parquet")
    (remote / "b.jsonl.gz").write_bytes((source / "more" / "b.jsonl.gz").read_bytes())
    link_here([f"file://{remote}"], linker.kb.path, f"file://{tmp_path}/far")
    link_folder(linker, [remote], tmp_path / "near", workers=1)
    far_links, near_links = (ds.dataset(tmp_path / run / "links", format="parquet") for run in ("far", "near"))
    assert rows(far_links.to_table()) == rows(near_links.to_table())
    assert rejects_of(tmp_path / "far") == rejects_of(tmp_path / "near")
    for name, message in [("*.csv", "no such file or folder"), ("x.jsonl.zst", "from there Spark reads JSON lines")]:
        (remote / "x.jsonl.zst").touch()
        with pytest.raises(NamesakeError, match=message):
            link_here([f"file://{remote}/{name}"], linker.kb.path, tmp_path / "refused")
    with pytest.raises(NamesakeError, match="is not empty"):
        link_here([source], linker.kb.path, tmp_path / "there")


def cut_short(path: Path) -> Path:
    """A packed file whose beginning is whole: it breaks when the job is at work."""
    lines = [json.dumps({"id": k, "text": "Chris Carter", "noise": os.urandom(500).hex()}) for k in range(4000)]
    path.write_bytes(gzip.compress("\n".join(lines).encode())[:-1000])
    return path


def test_a_file_that_breaks_is_told(link_here, linker, tmp_path):
    source = cut_short(tmp_path / "cut.jsonl.gz")
    [problem] = link_here([source, ARTICLES], linker.kb.path, tmp_path / "out").problems
    assert problem.startswith(f"{source} cannot be read to its end")
    run = json.loads((tmp_path / "out" / "_run.json").read_text())
    assert (run["complete"], run["problems"]) == (False, [problem])


def test_a_job_that_fails_is_one_line_and_leaves_nothing(linker, tmp_path):
    """Spark itself reads what is named with a scheme."""
    source = cut_short(tmp_path / "cut.jsonl.gz")
    code = "import sys; from namesake.apps.cli.main import main; sys.argv = ['namesake', *sys.argv[1:]]; main()"
    arguments = ["link", f"file://{source}", "--kb", str(linker.kb.path), "-o", f"{tmp_path}/out/"]
    command = [sys.executable, "-c", code, *arguments, "--engine", "spark", "--master", "local[1]"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 2, ran.stderr
    [line] = ran.stderr.splitlines()
    assert line.startswith("namesake: Spark: java.io.EOFException: Unexpected end of input stream")
    assert not (tmp_path / "out").exists()


def test_the_line_of_a_report_that_matters():
    java = "An error occurred while calling o7.save.\n: org.X: aborted\n\tat org.Y\nCaused by: java.io.Z: cut\n\tat q"
    assert cause(java) == "Spark: java.io.Z: cut (NAMESAKE_DEBUG=1 shows the full report)"
    assert cause("\n  An exception was thrown\n  File x\nValueError: no\n") == "ValueError: no"
    assert cause("ValueError: x\nnamesake.errors.NamesakeError: kb: no such folder\n") == "kb: no such folder"
    assert cause("").startswith("Spark: no reason was given")


# a cluster


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def started(*arguments: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A daemon of Spark in a group of processes of its own, ended with the block."""
    import pyspark

    home = Path(pyspark.__file__).parent
    environment = os.environ | {"SPARK_HOME": str(home), "SPARK_DAEMON_MEMORY": "256m", "SPARK_WORKER_DIR": str(folder)}
    with (folder / "log").open("ab") as log:
        command = [str(home / "bin" / "spark-class"), *arguments]
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
    try:
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill a daemon and whatever it has started, at once."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def logged(folder: Path, text: str, seconds: float = 180) -> None:
    until = time.monotonic() + seconds
    while text not in (folder / "log").read_text(errors="replace"):
        assert time.monotonic() < until, (folder / "log").read_text(errors="replace")[-2000:]
        time.sleep(0.1)


def test_a_java_is_found_where_the_machine_has_none(monkeypatch, tmp_path):
    """The package's own runs; Spark 4 would die of a module that it lacks, so it is told beforehand."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("namesake.engines.spark_files.version", lambda package: "4.0.0")
    with pytest.raises(NamesakeError, match="Spark 4 needs a complete Java"):
        find_java()
    monkeypatch.setattr("namesake.engines.spark_files.version", lambda package: "3.5.9")
    find_java()
    java = Path(os.environ["JAVA_HOME"]) / "bin" / "java"
    said = subprocess.run([str(java), "-version"], capture_output=True, text=True, check=True).stderr
    assert 'version "17' in said


def test_a_cluster_that_loses_a_worker_during_the_job(linker, tmp_path):
    find_java()
    source = tmp_path / "in"
    source.mkdir()
    records = [json.loads(line) for line in ARTICLES.read_bytes().splitlines()]
    for file in range(4):
        lines = [json.dumps(r | {"id": f"{r['id']}-{file}-{k}"}) for k in range(300) for r in records]
        (source / f"{file}.jsonl").write_text("\n".join(lines) + "\n")
    port, folders = free_port(), [tmp_path / name for name in ("master", "one", "two")]
    for folder in folders:
        folder.mkdir()
    master = f"spark://127.0.0.1:{port}"
    deploy = "org.apache.spark.deploy"
    place = ["--host", "127.0.0.1", "--webui-port", "0"]
    worker = [f"{deploy}.worker.Worker", *place, "--cores", "1", "--memory", "1g", master]
    with (
        started(f"{deploy}.master.Master", *place, "--port", str(port), folder=folders[0]),
        started(*worker, folder=folders[1]) as lost,
        started(*worker, folder=folders[2]),
    ):
        for folder in folders[1:]:
            logged(folder, "Successfully registered with master")
        code = "import sys; from namesake.apps.cli.main import main; sys.argv = ['namesake', *sys.argv[1:]]; main()"
        command = [
            sys.executable,
            "-c",
            code,
            "link",
            str(source),
            "--kb",
            str(linker.kb.path),
            "-o",
            f"{tmp_path}/out/",
        ]
        job = subprocess.Popen(
            [*command, "--engine", "spark", "--master", master], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        until = time.monotonic() + 180
        while not list((tmp_path / "out").rglob("_temporary/0/_temporary/*")):  # a task has begun to write
            assert job.poll() is None, job.communicate()
            assert time.monotonic() < until
            time.sleep(0.05)
        end(lost)
        _, said = job.communicate(timeout=240)
        assert job.returncode == 0, said.decode()
    expected = []
    for path in sorted(source.iterdir()):
        for table in read_articles(path, Rejects()):
            expected += local(linker, table)
    counts = json.loads((tmp_path / "out" / "_run.json").read_text())["counts"]
    assert (counts["mentions"], counts["articles"]) == (len(expected), 4 * 300 * len(records))
    assert rows(ds.dataset(tmp_path / "out" / "links", format="parquet").to_table()) == sorted(expected)


def test_the_command_refuses_in_one_line(tmp_path, sample_kb):
    with pytest.raises(NamesakeError, match="nothing to link"):
        link_with_spark([], sample_kb.path, tmp_path / "out")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    for more, message in [
        (["--engine", "spark", "-o", "x.parquet"], "Spark writes a folder"),
        (["--engine", "spark", "-o", f"{tmp_path}/full/"], "is not empty"),
        (["--master", "local[2]", "-o", "x/"], "--master applies to Spark"),
    ]:
        ran = CliRunner().invoke(app, ["link", str(ARTICLES), "--kb", str(sample_kb.path), *more])
        assert isinstance(ran.exception, NamesakeError)
        assert message in str(ran.exception)
