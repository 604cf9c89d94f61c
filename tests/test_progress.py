"""What a build says while it works: a line per minute in logs, a bar on terminals."""

import bz2
import io
import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from namesake import Linker, link_files, progress
from namesake.files import open_lines, open_unpacked
from namesake.files.lines import Meter


def test_one_line_per_minute_with_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    log = io.StringIO()
    lines = progress.reporter(log)
    with lines.stage("reading the dump"):
        for second in range(1, 151):
            now[0] = 1000.0 + second
            lines.advance(second / 600, 1000 * second)
    assert log.getvalue().splitlines() == [
        "reading the dump …",
        "reading the dump: 10 %, 60,000 items, 1,000/s, 0:09:00 left",
        "reading the dump: 20 %, 120,000 items, 1,000/s, 0:08:00 left",
    ]


def test_a_stream_of_unknown_length_has_no_percentage(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    log = io.StringIO()
    lines = progress.reporter(log)
    with lines.stage("reading Wikipedia"):
        now[0] = 100.0
        lines.advance(None, 5000, "pages")
    assert log.getvalue().splitlines()[1] == "reading Wikipedia: 5,000 pages, 50/s"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch, columns: int) -> tuple[Screen, progress.Reporter, list[float]]:
    """A terminal so wide, the bar on it, and the clock."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    screen = Screen()
    return screen, progress.reporter(screen), now


def test_a_terminal_gets_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    screen, bar, now = terminal(monkeypatch, 120)
    with bar.stage("reading the dump"):
        now[0] = 42.0
        bar.advance(0.42, 1234)
        bar.say("removed something")
    shown = screen.getvalue()
    assert "reading the dump" in shown
    assert "42 %, 1,234 items, 29/s, 0:00:58 left" in shown
    assert "removed something" in shown


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (160, "42 %, 1,234,567 articles, 29,394/s, 2,345,678 links, 23 % NIL, 12 rejected, 0:00:58 left"),
        (90, "42 %, 1,234,567 articles, 29,394/s, 12 rejected, 0:00:58 left"),
        (80, "42 %, 1,234,567 articles, 29,394/s, 0:00:58 left"),
        (60, "42 %, 1,234,567 articles, 0:00:58 left"),
        (40, "42 %, 0:00:58 left"),
    ],
)
def test_a_narrow_terminal_still_shows_the_time_left(monkeypatch, columns: int, shown: str) -> None:
    screen, bar, now = terminal(monkeypatch, columns)
    with bar.stage("linking"):
        now[0] = 42.0
        bar.advance(0.42, 1_234_567, "articles", "2,345,678 links, 23 % NIL, 12 rejected")
    assert f" {shown}" in screen.getvalue()


class Fractions(progress.Reporter):
    def __init__(self) -> None:
        self.seen: list[float | None] = []

    def advance(self, fraction, count, unit="items", more="", before=0.0) -> None:
        self.seen.append(fraction)


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz", ".jsonl.bz2", ".jsonl.zst", ".parquet"])
def test_linking_files_knows_how_far_it_is(suffix, sample_kb, tmp_path) -> None:
    noise = random.Random(7)  # which does not pack to nothing
    rows = [{"id": str(n), "text": noise.randbytes(150).hex()} for n in range(15_000)]
    files = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for file in files:
        if suffix == ".parquet":
            pq.write_table(pa.Table.from_pylist(rows), file)
        else:
            packed = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}.get(file.suffix)
            with pa.output_stream(file, compression=packed) as out:
                out.write("".join(json.dumps(row) + "\n" for row in rows).encode())
    told = Fractions()
    linker = Linker(sample_kb, "ns-paper", mentions="given")
    link_files(linker, files, tmp_path / "links.parquet", threads=1, reporter=told)
    assert len(told.seen) > 10
    assert all(fraction is not None and 0 < fraction <= 1 for fraction in told.seen)
    assert told.seen == sorted(told.seen)
    assert told.seen[-1] == pytest.approx(1)
    assert min(abs(fraction - 0.5) for fraction in told.seen) < 0.2


def test_files_that_have_been_read_count_once(tmp_path) -> None:
    paths = [tmp_path / f"{number}.jsonl" for number in range(50)]
    for path in paths:
        path.write_bytes(b"12345")
    with Meter(paths) as meter:
        for number, path in enumerate(paths, 1):
            with open_lines(path) as stream:
                stream.read()
            assert meter.fraction() == number / 50
        with open_lines(paths[0]):
            assert meter.fraction() == 49 / 50
        assert meter.fraction() == 1


def test_bzip2_unpacked_on_all_cores_ends_with_its_file(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("namesake.files.lines.ONE_BLOCK", 14)
    path = tmp_path / "news.jsonl.bz2"
    path.write_bytes(bz2.compress(random.Random(1).randbytes(2_000_000)))
    with Meter([path]) as meter:
        with open_unpacked(path, workers=2) as unpacked:
            unpacked.stream.readinto(bytearray(10))
        assert unpacked.stream.closed
        assert meter.fraction() == 1


def test_of_a_stream_nobody_knows_how_far_it_is(tmp_path) -> None:
    assert Meter(["-"]).fraction() is None
    assert Meter([tmp_path / "absent"]).fraction() is None
    (tmp_path / "there").write_bytes(b"123")
    with Meter([tmp_path / "there"]) as meter:
        assert meter.fraction() == 0
        with open_lines(tmp_path / "there") as stream:
            stream.read()
        assert meter.fraction() == 1
