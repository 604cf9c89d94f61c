"""KBs that travel: packed by us and read by tar, unpacked by us from what Python's tarfile writes, hostile or not."""

import errno
import fcntl
import io
import json
import ssl
import tarfile
import threading
from collections.abc import Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from namesake.apps.cli.commands import app
from namesake.errors import NamesakeError
from namesake.files.download import download
from namesake.kb import check as known
from namesake.kb.columns.derived import DERIVED
from namesake.kb.manifest import parse_manifest
from namesake.kb.publish.pack import _Members, get, pack
from namesake.kb.store import KB
from namesake.linker import Linker


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def packed(sample_kb, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("packed") / "sample.tar.zst"
    pack(sample_kb.path, out)
    return out


@pytest.fixture(scope="module")
def members(packed) -> dict[str, bytes]:
    """What Python's own tarfile finds in the pack."""
    with pa.input_stream(str(packed), compression="zstd") as stream:
        raw = io.BytesIO(stream.read())
    with tarfile.open(fileobj=raw) as tar:
        return {one.name: tar.extractfile(one).read() for one in tar.getmembers()}


@pytest.fixture
def made(tmp_path):
    """Writes a pack of given members with Python's tarfile: name, content, and a change to its header."""

    def write(listed: list[tuple[str, bytes, dict[str, Any]]], tail: bytes = b"") -> Path:
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
            for name, content, changes in listed:
                about = tarfile.TarInfo(name)
                about.size = len(content)
                for field, value in changes.items():
                    setattr(about, field, value)
                tar.addfile(about, io.BytesIO(content))
            end = tar.offset
        out = tmp_path / "made.tar.zst"
        with pa.output_stream(str(out), compression="zstd") as stream:
            stream.write(buffer.getvalue()[:end] + bytes(1024) + tail)
        return out

    return write


def plain(members: dict[str, bytes]) -> list[tuple[str, bytes, dict[str, Any]]]:
    return [(name, content, {}) for name, content in members.items()]


def refused(pack: Path, out: Path, message: str) -> None:
    """One line, nothing at `out`, nothing beside it."""
    before = sorted(out.parent.iterdir())
    with pytest.raises(NamesakeError, match=message) as problem:
        get(pack, out)
    assert "\n" not in str(problem.value)
    assert sorted(out.parent.iterdir()) == before


def test_a_pack_is_a_tar_of_the_kb_and_the_same_each_time(packed, members, sample_kb, tmp_path):
    assert members == files_of(sample_kb.path)
    assert list(members) == ["manifest.json", *sorted(sample_kb.manifest.files)]
    checksum = pack(sample_kb.path, tmp_path / "again.tar.zst")
    assert (tmp_path / "again.tar.zst").read_bytes() == packed.read_bytes()
    assert checksum == "sha256:" + sha256(packed.read_bytes()).hexdigest()


def test_what_comes_out_is_what_went_in(packed, sample_kb, tmp_path):
    folder, manifest = get(packed, tmp_path / "kb")
    assert files_of(folder) == files_of(sample_kb.path)
    assert manifest == sample_kb.manifest
    KB.open(folder).verify()
    with pytest.raises(NamesakeError, match="exists: choose another `out=`"):
        get(packed, folder)
    get(packed, folder, force=True)
    assert files_of(folder) == files_of(sample_kb.path)


def test_a_pack_that_tar_wrote_will_do(made, members, tmp_path):
    folder, _ = get(made(plain(members)), tmp_path / "kb")
    assert files_of(folder) == members


@pytest.mark.parametrize("share", [0.0, 0.3, 0.999])
def test_a_pack_cut_short_is_refused(share, packed, tmp_path):
    cut = tmp_path / "cut.tar.zst"
    raw = packed.read_bytes()
    cut.write_bytes(raw[: int(share * len(raw))])
    refused(cut, tmp_path / "kb", "is it whole|truncated")


@pytest.mark.parametrize("place", [0.01, 0.2, 0.5, 0.8])
def test_a_damaged_pack_is_refused(place, packed, tmp_path):
    raw = bytearray(packed.read_bytes())
    raw[int(place * len(raw))] ^= 0xFF
    (tmp_path / "bad.tar.zst").write_bytes(raw)
    refused(tmp_path / "bad.tar.zst", tmp_path / "kb", "bad.tar.zst")


def test_hostile_members_are_refused(made, members, tmp_path):
    listed = plain(members)
    first = listed[1][0]
    out = tmp_path / "kb"
    for changed, message in [
        ([*listed, ("../../escaped", b"x", {})], "more than its manifest lists"),
        ([listed[0], ("../escaped", b"x", {}), *listed[1:]], "escaped"),
        ([listed[0], ("/etc/escaped", b"x", {}), *listed[1:]], "escaped"),
        (
            [listed[0], (first, b"", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}), *listed[2:]],
            "not a regular file",
        ),
        ([listed[0], (first, b"", {"type": tarfile.LNKTYPE, "linkname": "x"}), *listed[2:]], "not a regular file"),
        ([listed[0], (first, b"", {"type": tarfile.CHRTYPE}), *listed[2:]], "not a regular file"),
        ([listed[0], (first, b"", {"type": tarfile.DIRTYPE}), *listed[2:]], "not a regular file"),
        ([listed[0], listed[1], *listed[1:]], "should be"),
        ([listed[0], *listed[2:]], "should be"),
        (listed[:-1], "should come next|truncated"),
        (listed[1:], "where manifest.json should be"),
    ]:
        refused(made(changed), out, message)
    refused(made(listed, tail=b"more"), out, "more than its manifest lists")
    assert not list(tmp_path.rglob("*escaped*"))


def sealed(members: dict[str, bytes], changed: dict[str, bytes], **facts: Any) -> dict[str, bytes]:
    """The members with some changed and a manifest that vouches for them: a pack by somebody who knows how."""
    manifest = json.loads(members["manifest.json"]) | facts
    manifest["files"] |= {name: "sha256:" + sha256(content).hexdigest() for name, content in changed.items()}
    again = parse_manifest(json.dumps(manifest).encode(), Path("x")).sealed()
    files = members | changed
    listed = sorted(manifest["files"].keys() - {"manifest.json"})
    return {"manifest.json": again} | {name: files[name] for name in listed}


def saved(column: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, column)
    return buffer.getvalue()


def refused_by_all(hostile: dict[str, bytes], pack: Path, folder: Path, message: str) -> None:
    """`get` refuses the pack, and `KB.verify` the same files in a folder that somebody copied."""
    refused(pack, folder / "kb", message)
    copied = folder / "copied"
    copied.mkdir()
    for name, content in hostile.items():
        (copied / name).write_bytes(content)
    with pytest.raises(NamesakeError, match=message):
        KB.open(copied).verify()


def test_a_pack_that_vouches_for_hostile_columns_is_refused(made, members, tmp_path):
    """Digests fit, values lead astray: what kernels index with is looked at."""
    name = "statement.indptr.npy" if "statement.indptr.npy" in members else next(n for n in members if "indptr" in n)
    column = np.load(io.BytesIO(members[name]))
    column[len(column) // 2] = 1 << 40
    refused(made(plain(sealed(members, {name: saved(column)}))), tmp_path / "kb", "is damaged")
    column = np.load(io.BytesIO(members["name.entity.values.npy"]))
    column[-1] = 1 << 30
    hostile = sealed(members, {"name.entity.values.npy": saved(column)})
    refused(made(plain(hostile)), tmp_path / "kb", "name.entity is damaged")


@pytest.mark.parametrize("column", DERIVED, ids=[column.file for column in DERIVED])
def test_a_column_that_does_not_follow_from_the_others_is_refused(column, made, members, tmp_path):
    """Possible values, right digests: what other columns tell is made again and compared."""
    name = f"{column.file}.npy"
    forged = np.load(io.BytesIO(members[name]))
    forged[:] = 0
    hostile = sealed(members, {name: saved(forged)})
    refused_by_all(hostile, made(plain(hostile)), tmp_path, rf"{column.file}.* is damaged \(it does not follow")


@pytest.mark.parametrize("facts", [{"language": "../../etc"}, {"words_how": "guess"}], ids=str)
def test_a_manifest_that_no_command_could_use_is_refused(facts, made, members, tmp_path):
    hostile = sealed(members, {}, **facts)
    refused_by_all(hostile, made(plain(hostile)), tmp_path, f"{next(iter(facts.values()))}'; known are")


@pytest.mark.parametrize("name", ["sitecustomize.py", "z\nz", "lock", "vectors", "manifest.json", "a.npy"])
def test_a_file_that_is_no_part_of_a_kb_is_refused(name, made, members, tmp_path):
    hostile = sealed(members, {name: b"x"})
    refused(made(plain(hostile)), tmp_path / "kb", "is no part of a KB")
    if name == "sitecustomize.py":
        refused_by_all(hostile, made(plain(hostile)), tmp_path, "sitecustomize.py' is no part of a KB")


def test_only_what_was_checked_is_known(made, members, tmp_path, monkeypatch):
    """Nothing that an earlier version passed with fewer checks is known to this one."""
    folder, _ = get(made(plain(members)), tmp_path / "kb")
    states = KB.open(folder).columns.opened
    before = known.mark(states)
    monkeypatch.setattr(known, "CHECKS", known.CHECKS - 1)
    assert known.mark(states) != before


def test_sizes_are_bound_by_that_of_the_pack(members, tmp_path):
    """A member that is too large is refused at its header, before a byte of it is written."""
    about = tarfile.TarInfo("alias.bytes.npy")
    about.size = 1 << 50
    pack = tmp_path / "huge.tar.zst"
    manifest = tarfile.TarInfo("manifest.json")
    manifest.size = len(members["manifest.json"])
    body = members["manifest.json"] + bytes(-manifest.size % 512)
    with pa.output_stream(str(pack), compression="zstd") as stream:
        stream.write(manifest.tobuf(tarfile.GNU_FORMAT) + body + about.tobuf(tarfile.GNU_FORMAT))
    refused(pack, tmp_path / "kb", "far more than a pack of this size can hold")


@pytest.mark.parametrize(("rejected", "size"), [(0, 2 << 30), (10**9, 2 << 30)])
def test_rejects_are_bound_by_the_size_of_the_pack(rejected, size, members, tmp_path):
    """Lines of zeros pack well: two gigabytes of them into a few kilobytes."""
    hostile = sealed(members, {"rejects.jsonl": b"x"}, rejected=rejected)
    assert list(hostile)[-1] > "rejects.jsonl"  # what follows is never reached
    out = tmp_path / "rejects.tar.zst"
    with pa.output_stream(str(out), compression="zstd") as stream:
        for name, content in hostile.items():
            about = tarfile.TarInfo(name)
            about.size = size if name == "rejects.jsonl" else len(content)
            stream.write(about.tobuf(tarfile.GNU_FORMAT))
            if name == "rejects.jsonl":
                break
            stream.write(content + bytes(-len(content) % 512))
    refused(out, tmp_path / "kb", r"rejects\.jsonl has [\d,]+ bytes, far more than a pack of this size can hold")


# from the web


class Cutting(BaseHTTPRequestHandler):
    """Serves `content` with ranges; sends `most` bytes of an answer and then hangs up."""

    content = b""
    tag = '"one"'
    most: int | None = None
    asked: list[str | None] = []  # noqa: RUF012 - reset by the fixture

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        type(self).asked.append(asked)
        begin = 0
        if asked and self.headers.get("If-Range") == self.tag:
            begin = int(asked.removeprefix("bytes=").removesuffix("-"))
            if begin >= len(self.content):
                self.send_error(416)
                return
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {begin}-{len(self.content) - 1}/{len(self.content)}")
        else:
            self.send_response(200)
        if self.tag:
            self.send_header("ETag", self.tag)
        body = self.content[begin:]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if self.most is None else body[: self.most])

    def log_message(self, format: str, *args: Any) -> None:
        """Silence."""


@pytest.fixture
def server() -> Iterator[tuple[str, type[Cutting]]]:
    handler = type("Handler", (Cutting,), {"asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as served:
        thread = threading.Thread(target=served.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{served.server_port}", handler
        served.shutdown()
        thread.join()


def test_a_download_cut_short_goes_on(server, packed, sample_kb, tmp_path):
    address, handler = server
    handler.content = packed.read_bytes()
    third = len(handler.content) // 3
    handler.most = third
    out = tmp_path / "kb"
    for _ in range(2):
        with pytest.raises(NamesakeError, match=r"bytes received; the same command resumes the download"):
            get(f"{address}/sample.tar.zst", out)
        assert not out.exists()
    handler.most = None
    get(f"{address}/sample.tar.zst", out)
    assert handler.asked == [None, f"bytes={third}-", f"bytes={2 * third}-"]
    assert files_of(out) == files_of(sample_kb.path)
    assert [path.name for path in tmp_path.iterdir()] == ["kb"]  # neither the pack nor a part of it is left


def test_a_file_that_changed_meanwhile_is_fetched_anew(server, tmp_path):
    address, handler = server
    handler.content, handler.most = b"old" * 1000, 1000
    with pytest.raises(NamesakeError, match="resumes the download"):
        download(f"{address}/x", tmp_path, None, lambda *_: None)
    handler.content, handler.most, handler.tag = b"new" * 1000, None, '"two"'
    file, checksum = download(f"{address}/x", tmp_path, None, lambda *_: None)
    assert file.read_bytes() == b"new" * 1000
    assert checksum == "sha256:" + sha256(b"new" * 1000).hexdigest()


def test_a_server_that_cannot_tell_its_files_apart_is_asked_for_all(server, tmp_path):
    address, handler = server
    handler.content, handler.most, handler.tag = b"old" * 1000, 1000, ""
    with pytest.raises(NamesakeError, match="nothing was kept"):
        download(f"{address}/x", tmp_path, None, lambda *_: None)
    assert list(tmp_path.iterdir()) == []
    handler.most = None
    assert download(f"{address}/x", tmp_path, None, lambda *_: None)[0].read_bytes() == handler.content
    assert handler.asked == [None, None]


def test_a_part_as_long_as_the_file_does_no_harm(server, tmp_path):
    address, handler = server
    handler.content = b"whole" * 100
    (tmp_path / "x.part").write_bytes(handler.content)
    (tmp_path / "x.part.json").write_text(json.dumps({"url": f"{address}/x", "validator": handler.tag}) + "\n")
    assert download(f"{address}/x", tmp_path, None, lambda *_: None)[0].read_bytes() == handler.content
    assert handler.asked == [f"bytes={len(handler.content)}-", None]


def test_another_checksum_is_refused_before_unpacking(server, packed, tmp_path):
    address, handler = server
    handler.content = packed.read_bytes()
    for source in (f"{address}/sample.tar.zst", packed):
        with pytest.raises(NamesakeError, match=r"its checksum is sha256:.*, not sha256:0"):
            get(source, tmp_path / "kb", checksum="0" * 64)
        assert list(tmp_path.iterdir()) == []


def test_a_checksum_is_taken_as_people_copy_it_and_looked_at_first(server, packed, tmp_path):
    address, handler = server
    handler.content = packed.read_bytes()
    digits = sha256(handler.content).hexdigest()
    for number, right in enumerate((digits, digits.upper(), f"SHA256:{digits.upper()}", f" sha256:{digits}\n")):
        get(f"{address}/sample.tar.zst", tmp_path / f"kb{number}", checksum=right)
    handler.asked.clear()
    for wrong in ("", "sha256:", digits[:-1], f"{digits}0", f"md5:{digits}", "g" * 64):
        with pytest.raises(NamesakeError, match="is not a checksum: write sha256: and 64 hexadecimal digits"):
            get(f"{address}/sample.tar.zst", tmp_path / "kb", checksum=wrong)
    assert handler.asked == []


@pytest.mark.parametrize("full", ["told", "found", "in memory", "not to be written to"])
def test_what_there_was_no_room_to_unpack_is_kept(full, server, packed, sample_kb, tmp_path, monkeypatch):
    """Whether the disk says so before a file is written or while it is, or another thing stands in the way."""
    address, handler = server
    handler.content = packed.read_bytes()
    out, kept = tmp_path / "kb", tmp_path / "kb.download" / "sample.tar.zst"
    with monkeypatch.context() as small:
        if full == "told":
            small.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
        else:
            problems = {
                "found": OSError(errno.ENOSPC, "No space left on device"),
                "in memory": MemoryError(),
                "not to be written to": PermissionError(errno.EACCES, "Permission denied"),
            }
            small.setattr(_Members, "file", Mock(side_effect=problems[full]))
        with pytest.raises(NamesakeError, match=rf"{kept} is kept, and the same command uses it"):
            get(f"{address}/sample.tar.zst", out)
    assert kept.read_bytes() == handler.content
    get(f"{address}/sample.tar.zst", out)
    assert handler.asked == [None]  # once
    assert files_of(out) == files_of(sample_kb.path)
    assert [path.name for path in tmp_path.iterdir()] == ["kb"]


def test_what_was_kept_of_another_address_is_not_taken(server, packed, sample_kb, tmp_path, monkeypatch):
    address, handler = server
    handler.content = packed.read_bytes()
    with monkeypatch.context() as small:
        small.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
        with pytest.raises(NamesakeError, match="is kept"):
            get(f"{address}/one/sample.tar.zst", tmp_path / "kb")
    get(f"{address}/two/sample.tar.zst", tmp_path / "kb")
    assert len(handler.asked) == 2


def test_a_part_that_another_process_has_just_put_in_its_place_is_not_written_to(tmp_path, monkeypatch):
    """Opened before that moment, locked behind it: it is the whole file by now, under its own name."""
    source, folder = tmp_path / "kb.tar.zst", tmp_path / "folder"
    source.write_bytes(b"new")
    folder.mkdir()
    journal, lock = folder / "kb.tar.zst.part.json", fcntl.flock

    def others_go_first(file, how):
        (folder / "kb.tar.zst").write_bytes(b"whole")
        journal.unlink()
        lock(file, how)

    monkeypatch.setattr("fcntl.flock", others_go_first)
    with pytest.raises(NamesakeError, match="is being downloaded by another process: wait until"):
        download(source.as_uri(), folder, None, lambda *_: None)
    assert [path.read_bytes() for path in folder.iterdir()] == [b"whole"]


def test_an_encrypted_connection_that_breaks_is_no_fault_of_the_disk(server, tmp_path, monkeypatch):
    address, handler = server
    handler.content = bytes(3 << 20)
    broken = Mock(side_effect=[bytes(1 << 20), ssl.SSLEOFError("EOF occurred in violation of protocol")])
    monkeypatch.setattr("http.client.HTTPResponse.read", broken)
    with pytest.raises(NamesakeError, match=r"cannot be downloaded \(.*EOF.*\); the same command resumes the download"):
        download(f"{address}/kb.tar.zst", tmp_path, None, lambda *_: None)


def test_a_download_that_fails_leaves_nothing(server, tmp_path):
    address, handler = server
    handler.content = b"no pack"
    for source, message in [
        (f"{address}/sample.tar.zst", "cannot be read as zstandard"),
        ("http://127.0.0.1:1/sample.tar.zst", "cannot be downloaded"),
        ((tmp_path / "absent.tar.zst").as_uri(), "cannot be downloaded"),
    ]:
        with pytest.raises(NamesakeError, match=message):
            get(source, tmp_path / "kb")
        assert list(tmp_path.iterdir()) == []


# the commands


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, list(arguments))


def test_the_commands(sample_kb, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("kb", "pack", str(sample_kb.path), "-o", "mine.tar.zst").exit_code == 0
    assert run("kb", "get", "mine.tar.zst").exit_code == 0
    assert files_of(tmp_path / "mine") == files_of(sample_kb.path)
    with pytest.raises(NamesakeError, match=r"the name of a packed KB ends in .tar.zst"):
        pack(sample_kb.path, "kb.zip")


def test_the_variable_names_the_default_kb(sample_kb, tmp_path, monkeypatch):
    (tmp_path / "a.jsonl").write_text('{"id": "a", "text": "Chris Carter spoke."}\n')
    monkeypatch.setenv("NAMESAKE_KB", str(tmp_path / "absent"))
    ran = run("link", str(tmp_path / "a.jsonl"))
    assert isinstance(ran.exception, NamesakeError)
    assert "absent: no such KB" in str(ran.exception)
    monkeypatch.setenv("NAMESAKE_KB", str(sample_kb.path))
    assert "Chris Carter" in run("link", str(tmp_path / "a.jsonl")).output
    shown = run("kb", "show", "Chris Carter")
    assert shown.output == run("kb", "show", str(sample_kb.path), "Chris Carter").output
    assert "Q437267" in shown.output
    assert run("kb", "info").output == run("kb", "info", str(sample_kb.path)).output
    assert Linker().kb.path == sample_kb.path


def test_without_the_variable_a_kb_must_be_named(monkeypatch):
    monkeypatch.delenv("NAMESAKE_KB", raising=False)
    for arguments in (("kb", "info"), ("kb", "show", "Chris Carter")):
        assert str(run(*arguments).exception).startswith("no KB is named")
    assert "put quotes around" in str(run("kb", "show", "kb", "Chris", "Carter").exception)
    with pytest.raises(NamesakeError, match=r"^which KB\? .* NAMESAKE_KB"):
        Linker()
