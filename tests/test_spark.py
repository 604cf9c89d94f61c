"""Spark for real: the links are those of the linker here, on two threads and on a cluster that loses a machine."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark")

from namesake.articles.rejects import Rejects
from namesake.engines.spark import SetAside, link, link_lines
from namesake.engines.spark_session import find_java, session
from namesake.errors import NamesakeError
from namesake.formats import read_articles
from namesake.kb.pack import pack
from namesake.linker import Linker
from namesake.sample import ARTICLES

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]  # pyspark's own
ROOT = Path(__file__).resolve().parents[1]
KEYS = ("article_id", "name", "spans", "qid", "score", "best", "confidence", "reason", "extra")


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
    return sorted(json.dumps([row[key] for key in KEYS]) for row in table.select(list(KEYS)).to_pylist())


def collected(df: Any) -> list[str]:
    found = [row.asDict(recursive=True) for row in df.collect()]
    return sorted(json.dumps([row[key] for key in KEYS]) for row in found)


def test_a_dataframe_of_articles(spark, linker, articles, tmp_path):
    given = articles.append_column("source", pa.array([f"s{k}" for k in range(len(articles))]))
    pq.write_table(given, tmp_path / "a.parquet")
    [table] = read_articles(tmp_path / "a.parquet", Rejects())
    df = spark.read.parquet(str(tmp_path / "a.parquet"))
    for scores in (False, True):
        links = link(df.repartition(2), linker.kb.path, scores=scores)
        assert collected(links) == rows(linker.link(table))
        assert ("candidates" in links.columns) == scores
    assert collected(link(df, linker.kb.path, "uiscore-paper")) == rows(Linker(linker.kb, "uiscore-paper").link(table))


def test_json_lines_and_a_kb_that_is_shipped_packed(spark, linker, articles, tmp_path):
    """Quotebank's layout, too: its offsets count tokens."""
    source, packed = tmp_path / "a.jsonl", tmp_path / "sample.tar.zst"
    record = {"articleID": "q", "content": "Chris Carter made The X-Files .", "date": "2015-01-01", "url": "u"}
    record["names"] = [{"name": "Chris Carter", "ids": None, "offsets": [[0, 2]]}]
    source.write_bytes(ARTICLES.read_bytes() + b"\n" + json.dumps(record).encode() + b"\n")
    pack(linker.kb.path, packed)
    [table] = read_articles(source, Rejects())
    assert collected(link_lines(spark.read.text(str(source)), packed)) == rows(linker.link(table))


def test_what_cannot_be_linked_is_counted_or_refused(spark, linker, tmp_path):
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    lines = [line.decode() for line in ARTICLES.read_bytes().splitlines()]
    df = spark.createDataFrame([(line,) for line in [*lines, "{", '{"id": 1}', "{"]], ["value"])
    counted = SetAside(spark)
    links = link_lines(df, linker.kb.path, set_aside=counted)
    assert len(links.collect()) == linker.link(next(read_articles(ARTICLES, Rejects()))).num_rows
    assert counted.count == 3
    assert counted.reasons["no `text`"] == 1
    with pytest.raises((Py4JError, PySparkException), match="pass `set_aside` to go on"):
        link_lines(df, linker.kb.path).collect()
    with pytest.raises(NamesakeError, match="no such file; make one with"):
        link_lines(df, tmp_path / "absent.tar.zst")
    with pytest.raises(NamesakeError, match="not a date"):
        link_lines(df, linker.kb.path, date="tomorrow")


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
    monkeypatch.setattr("namesake.engines.spark_session.version", lambda package: "4.0.0")
    with pytest.raises(NamesakeError, match="Spark 4 needs a complete Java"):
        find_java()
    monkeypatch.setattr("namesake.engines.spark_session.version", lambda package: "3.5.9")
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
            expected += rows(linker.link(table))
    assert rows(ds.dataset(tmp_path / "out" / "links", format="parquet").to_table()) == sorted(expected)


def test_the_command_refuses_in_one_line(tmp_path, sample_kb):
    from typer.testing import CliRunner

    from namesake.apps.cli.commands import app

    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    for more, message in [
        (["--engine", "spark", "-o", "x.parquet"], "Spark writes a folder"),
        (["--engine", "spark", "-o", f"{tmp_path}/full/"], "is not empty"),
        (["--master", "local[2]", "-o", "x/"], "--master is for Spark"),
    ]:
        ran = CliRunner().invoke(app, ["link", str(ARTICLES), "--kb", str(sample_kb.path), *more])
        assert isinstance(ran.exception, NamesakeError)
        assert message in str(ran.exception)
