"""Files that are read unpacked and written whole: the standard library and pyarrow pack what is read here."""

import bz2
import gzip
import io
import os
import signal
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesake.errors import NamesakeError
from namesake.files import create, keep_apart, kind, open_lines, published
from namesake.files.lines import bounded_lines, read_whole

TEXT = b"".join(b"line %d of the file\n" % number for number in range(50_000))
PACK = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".zst": lambda text: pa.Codec("zstd").compress(text, asbytes=True),
}


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("renamed", [True, False])
def test_lines_come_out_of_every_packing_whatever_the_name(tmp_path: Path, suffix: str, renamed: bool) -> None:
    path = tmp_path / f"news.jsonl{'' if renamed else suffix}"
    path.write_bytes(PACK[suffix](TEXT))
    with open_lines(path) as lines:
        assert list(lines) == TEXT.splitlines(keepends=True)


@pytest.mark.parametrize("suffix", PACK)
def test_standard_input_is_unpacked(monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(PACK[suffix](TEXT)))))
    with open_lines(Path("-")) as lines:
        assert b"".join(lines) == TEXT


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst"])
@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "not packed"])
def test_damage_is_named_and_never_read_as_less(tmp_path: Path, suffix: str, damage: str) -> None:
    packed = bytearray(PACK[suffix](TEXT))
    packed[5 if suffix == ".zst" else len(packed) // 2] ^= 0x55  # pyarrow packs zstandard without a checksum
    content = {"cut": PACK[suffix](TEXT)[:-9], "changed": bytes(packed), "empty": b"", "not packed": TEXT}[damage]
    path = tmp_path / f"news.jsonl{suffix}"
    path.write_bytes(content)
    with (
        pytest.raises(NamesakeError, match=rf"news\.jsonl\{suffix} cannot be read .*is it whole"),
        open_lines(path) as f,
    ):
        f.read()


@pytest.mark.parametrize("suffix", [".gz", ".bz2"])
@pytest.mark.parametrize("kept", [5, 0.5, -9], ids=["its head", "half", "all but its end"])
@pytest.mark.parametrize("one_block", [14, 1 << 30], ids=["all cores", "one core"])
def test_a_file_that_was_cut_is_called_truncated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str, kept: float, one_block: int
) -> None:
    monkeypatch.setattr("namesake.files.lines.ONE_BLOCK", one_block)
    packed = PACK[suffix](TEXT)
    path = tmp_path / f"news.jsonl{suffix}"
    path.write_bytes(packed[: int(len(packed) * kept) if kept == 0.5 else int(kept)])
    with pytest.raises(NamesakeError, match=r"cannot be read to its end \(truncated\)"), open_lines(path) as f:
        f.read()


@pytest.mark.parametrize("one_block", [14, 1 << 30], ids=["all cores", "one core"])
def test_bzip2_of_any_size_reads_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, one_block: int) -> None:
    monkeypatch.setattr("namesake.files.lines.ONE_BLOCK", one_block)
    path = tmp_path / "news.jsonl.bz2"
    path.write_bytes(bz2.compress(TEXT[:1000]) + bz2.compress(TEXT[1000:]))
    with open_lines(path) as lines:
        assert lines.read() == TEXT


def test_errors_of_the_reader_stay_its_own(tmp_path: Path) -> None:
    path = tmp_path / "news.jsonl"
    path.write_bytes(TEXT)
    with pytest.raises(ValueError, match="mine"), open_lines(path):
        raise ValueError("mine")


def test_what_is_no_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(NamesakeError, match=r"absent\.jsonl: no such file"), open_lines(tmp_path / "absent.jsonl"):
        pass
    with pytest.raises(NamesakeError, match="is a folder"), open_lines(tmp_path):
        pass


@pytest.mark.parametrize("suffix", PACK)
def test_what_is_published_reads_back(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"out.jsonl{suffix}"
    assert kind(path) == ".jsonl"
    with published(path) as partial, create(partial, path.suffix) as file:
        file.write(TEXT)
    with open_lines(path) as lines:
        assert lines.read() == TEXT
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("suffix", PACK)
def test_the_same_content_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: str) -> None:
    written = []
    for clock, name in ((1_000_000_000.0, "a.csv"), (1_700_000_000.0, "another.csv")):
        monkeypatch.setattr("time.time", lambda clock=clock: clock)
        path = tmp_path / f"{name}{suffix}"
        with published(path) as partial, create(partial, path.suffix) as file:
            file.write(TEXT)
        written.append(path.read_bytes())
    assert written[0] == written[1]
    assert b"namesake" not in written[0][:64] or suffix == ""


def test_nothing_is_published_when_the_block_fails(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old")
    with pytest.raises(KeyError), published(path) as partial:  # noqa: PT012
        partial.write_bytes(b"half")
        raise KeyError
    assert [found.read_bytes() for found in tmp_path.iterdir()] == [b"old"]


def partials(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name.endswith(".partial"))


@pytest.mark.parametrize("stage", ["os.open", "fcntl.flock"])
def test_a_stop_in_the_moment_in_which_the_file_is_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str
) -> None:
    module, _, name = stage.partition(".")
    done = getattr(sys.modules[module], name)

    def stopped(*arguments: object, **options: object) -> None:
        done(*arguments, **options)
        raise KeyboardInterrupt

    monkeypatch.setattr(stage, stopped)
    with pytest.raises(KeyboardInterrupt), published(tmp_path / "out"):
        raise AssertionError("the block must not begin")
    monkeypatch.undo()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda s: s.name)
def test_what_a_dead_run_leaves_is_removed_by_the_next_and_a_live_one_is_let_be(tmp_path: Path, ending: int) -> None:
    program = (
        "import sys, time; from pathlib import Path; from namesake.files import published\n"
        "from namesake.machine import stoppable\n"
        "with stoppable(), published(Path(sys.argv[1])) as partial:\n"
        "    partial.write_bytes(b'half'); print('ready', flush=True); time.sleep(60)\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "out.jsonl")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"ready\n"
        [theirs] = partials(tmp_path)
        with published(tmp_path / "mine.jsonl") as partial:
            partial.write_bytes(b"mine")
            assert len(partials(tmp_path)) == 2
        assert theirs.read_bytes() == b"half"
        other.send_signal(ending)
        other.wait(30)
    assert partials(tmp_path) == ([theirs] if ending == signal.SIGKILL else [])
    with published(tmp_path / "mine.jsonl") as partial:
        partial.write_bytes(b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.jsonl"]


def test_only_our_own_files_count_as_left_behind(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_bytes(b"x")
    (tmp_path / f".namesake-{'0' * 16}.partial").symlink_to(precious)
    (tmp_path / f".namesake-{'1' * 16}.partial").mkdir()
    (tmp_path / ".thesis.1234.partial").write_bytes(b"x")
    before = sorted(tmp_path.iterdir())
    with published(tmp_path / "out.jsonl") as partial:
        partial.write_bytes(b"new")
    assert sorted([*before, tmp_path / "out.jsonl"]) == sorted(tmp_path.iterdir())


def test_a_name_as_long_as_names_may_be(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 249 + ".jsonl")
    with published(path) as partial:
        partial.write_bytes(b"x")
    assert path.read_bytes() == b"x"


def test_where_the_output_is_a_link_its_target_is_written_and_the_link_stays(tmp_path: Path) -> None:
    disk, link, nowhere = tmp_path / "disk", tmp_path / "out.jsonl", tmp_path / "nowhere.jsonl"
    disk.mkdir()
    (disk / "there.jsonl").write_bytes(b"old")
    link.symlink_to(disk / "there.jsonl")
    nowhere.symlink_to(disk / "new.jsonl")
    for path in (link, nowhere):
        with published(path) as partial:
            assert partial.parent == disk, "on the disk on which it stays"
            partial.write_bytes(b"new")
    assert link.is_symlink()
    assert [path.read_bytes() for path in sorted(disk.iterdir())] == [b"new", b"new"]


def test_what_is_no_file_is_never_replaced_by_one(tmp_path: Path) -> None:
    """Whoever may write to /dev would lose the device."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for path in (tmp_path / "pipe", tmp_path / "link", Path("/dev/null")):
        with pytest.raises(NamesakeError, match="is a device or a pipe, not a file to write"), published(path):
            raise AssertionError("the block must not begin")
    assert (tmp_path / "pipe").is_fifo()
    assert Path("/dev/null").is_char_device()


# outputs and inputs
def test_outputs_are_kept_apart_from_inputs_and_from_each_other(tmp_path: Path) -> None:
    read, folder = tmp_path / "read.jsonl", tmp_path / "folder"
    read.write_bytes(b"x")
    folder.mkdir()
    (tmp_path / "linked").symlink_to(read)
    (tmp_path / "hard").hardlink_to(read)
    (tmp_path / "there").symlink_to(folder)
    for out in (read, tmp_path / "folder" / ".." / "read.jsonl", tmp_path / "linked", tmp_path / "hard"):
        with pytest.raises(NamesakeError, match=r"would overwrite .*read\.jsonl"):
            keep_apart([out], [read])
    with pytest.raises(NamesakeError, match="lies in"):
        keep_apart([tmp_path / "there" / "new.jsonl"], [folder])
    with pytest.raises(NamesakeError, match="are one file"):
        keep_apart([folder / "a.jsonl", tmp_path / "there" / "a.jsonl"])
    keep_apart([tmp_path / "a", folder / "a", tmp_path / "-"], [read, "-", tmp_path / "absent"])


# lines without end
@settings(max_examples=100)
@given(st.lists(st.binary(max_size=12)), st.integers(1, 8), st.booleans())
def test_lines_are_those_of_the_file_less_the_long_ones(lines: list[bytes], most: int, ended: bool) -> None:
    text = b"\n".join(lines) + b"\n" * ended
    whole = io.BytesIO(text).readlines()
    got = list(bounded_lines(io.BytesIO(text), most))
    assert [number for number, _ in got] == list(range(1, len(whole) + 1))
    for (_, line), wanted in zip(got, whole, strict=True):
        assert line == (wanted if len(wanted.removesuffix(b"\n")) <= most else None)


def test_what_is_read_whole_has_a_limit(tmp_path: Path) -> None:
    assert read_whole(io.BytesIO(b"12345"), tmp_path, 5) == b"12345"
    with pytest.raises(NamesakeError, match="longer than 4 bytes unpacked"):
        read_whole(io.BytesIO(b"12345"), tmp_path, 4)


def test_a_bomb_is_passed_over_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"before\n")
        for _ in range(200):
            file.write(bytes(1 << 20))
        file.write(b"\nafter\n")
    tracemalloc.start()
    with open_lines(path) as stream:
        assert list(bounded_lines(stream, 2 << 20)) == [(1, b"before\n"), (2, None), (3, b"after\n")]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 << 20
