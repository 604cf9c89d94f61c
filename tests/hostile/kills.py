"""What a killed run may leave: the old whole, the new whole or nothing, and no litter.

A build that was stopped behind reading its dumps may leave one thing beside its output, and must say so: its draft, in
which the next run goes on.
"""

from __future__ import annotations

import json
import re
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from hostile.sandbox import Outcome, Sandbox, Stop

STOPPED = 130
GOES_ON = b"resuming a stopped build, which had read the dumps"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


def contents(path: Path) -> dict[str, str]:
    """Digests of a file, or of the files that a KB's manifest lists (of any other folder, of all files)."""
    if not path.is_dir():
        return {path.name: sha256(path.read_bytes()).hexdigest()} if path.exists() else {}
    try:
        manifest = json.loads((path / "manifest.json").read_bytes())
        files = [path / name for name in manifest["files"]]
        lasting = {**manifest, "created": "", "digest": ""}  # the digest is of the date too
        made = {"manifest.json": sha256(json.dumps(lasting, sort_keys=True).encode()).hexdigest()}
    except (OSError, ValueError, KeyError):
        files, made = [file for file in path.rglob("*") if file.is_file()], {}
    return made | {file.name: sha256(file.read_bytes()).hexdigest() if file.exists() else "" for file in files}


@dataclass(frozen=True)
class Target:
    """A command that writes `out` in a folder of its own; `whole` is what it writes when nobody stops it."""

    folder: Path
    out: Path
    argv: tuple[str | Path, ...]
    own: frozenset[str]
    """Names that may stand in the folder."""
    old: dict[str, str]
    """What stood at `out` before; empty for nothing."""
    new: dict[str, str]
    check: tuple[str | Path, ...] | None = None
    """A command that must find what stands at `out` in order."""

    def state(self) -> str:
        """What stands at `out` now."""
        now = contents(self.out)
        if now and now == self.new:
            return "new"
        if now == self.old:
            return "old" if self.old else "nothing"
        return "half" if now else "lost"

    def litter(self) -> list[str]:
        """Names in the folder, or beside what a link points to, that nobody asked for."""
        folders = {self.folder, self.out.resolve().parent}
        return sorted(path.name for folder in folders for path in folder.iterdir() if path.name not in self.own)

    def kept(self, litter: list[str], outcome: Outcome) -> bool:
        """Whether all that was left is the draft of a build, with its dumps read, and people were told."""
        if len(litter) != 1 or not re.fullmatch(re.escape(self.out.name) + r"\.building-[0-9a-f]{16}", litter[0]):
            return False
        draft = self.out.resolve().parent / litter[0]
        told = re.search(r"stopped; what is done is kept in (.*): the same command goes on", outcome.err.decode())
        read = json.loads((draft / "journal.json").read_bytes())["stages"] if (draft / "journal.json").exists() else {}
        return outcome.code == STOPPED and told is not None and Path(told[1]).samefile(draft) and "dumps" in read


def steps(sandbox: Sandbox, target: Target, log: Path) -> list[str]:
    """Every change of the disk that the command makes, in order, when nobody stops it."""
    log.unlink(missing_ok=True)
    outcome = sandbox.run(*target.argv, log=log)
    assert outcome.kind == "done", outcome
    return log.read_text().splitlines()


def verdict(sandbox: Sandbox, target: Target, stop: Stop, again: tuple[str | Path, ...]) -> tuple[str, str]:
    """Kill the command, look at what it left, run it again, look again; the worst of what was seen, and a note."""
    outcome = sandbox.run(*target.argv, stop=stop)
    state, litter = target.state(), target.litter()
    note = f"{stop.signal.name} {_moment(stop)}, exit {outcome.code}"
    if outcome.hang:
        return "hang", note
    if state in ("lost", "half"):
        return state, f"{note}: beside it {litter}"
    if target.check and state != "nothing" and (found := sandbox.run(*target.check)).kind != "done":
        return "half", f"{note}: {found}"
    if b"Traceback" in outcome.err:
        return "traceback", f"{note}: {outcome}"
    kept = stop.signal != signal.SIGKILL and target.kept(litter, outcome)
    if stop.signal != signal.SIGKILL and litter and not kept:
        return "left behind", f"{note}: {litter}"
    following = sandbox.run(*again)
    if following.kind != "done":
        return following.kind if following.kind != "refused" else "lost", f"{note}: and the next run: {following}"
    if kept and GOES_ON not in following.err:
        return "lost", f"{note}: and the next run began anew"
    if target.state() != "new":
        return "half", f"{note}: after the next run it is {target.state()}"
    if target.litter():
        return "left behind", f"{note}: after the next run {target.litter()}"
    return state, note


def _moment(stop: Stop) -> str:
    return f"after {stop.after:.3f} s" if stop.after is not None else f"before step {stop.step}"


def emptied(folder: Path, keep: frozenset[str] = frozenset()) -> None:
    """Remove everything in a folder but the names to keep."""
    for path in folder.iterdir():
        if path.name not in keep:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def around_renames(log: list[str]) -> Iterator[int]:
    """The steps that are renames and those right after one: where most can be lost."""
    for number, line in enumerate(log):
        if line.startswith("os.rename") or (number and log[number - 1].startswith("os.rename")):
            yield number


def whole(outcome: Outcome) -> Outcome:
    """The outcome, if it is a success."""
    assert outcome.kind == "done", outcome
    return outcome
