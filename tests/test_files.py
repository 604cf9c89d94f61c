"""Files that are read unpacked and written whole: the standard library and pyarrow pack what is read here."""

import bz2
import gzip
import io
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from namesake.errors import NamesakeError
from namesake.files import create, kind, open_lines, published

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


def test_nothing_is_published_when_the_block_fails(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"old")
    with pytest.raises(KeyError), published(path) as partial:  # noqa: PT012
        partial.write_bytes(b"half")
        raise KeyError
    assert [found.read_bytes() for found in tmp_path.iterdir()] == [b"old"]
