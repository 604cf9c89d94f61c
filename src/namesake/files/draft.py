"""A folder that is made next to its place and put there in one step: KBs and their vectors.

The draft of OUT is the folder `OUT.building`, on the same file system. Its journal, locked while a process works there,
records the key of the run and its finished stages. These rules hold at any moment, also after `kill -9`:

- OUT is missing, or the old folder, or the new one. Nothing incomplete appears there.
- One process at a time works on OUT. A second one is refused.
- The next run with the same key resumes after the last finished stage. A run with another key starts again.
- A draft with a manifest is complete. The next run puts it in its place.
- Files are removed from a draft of ours, or because a manifest of ours lists them, and never otherwise.
"""

import os
import platform
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

import msgspec

from namesake.errors import NamesakeError
from namesake.files.digests import BLOCK, as_digest, damaged_file
from namesake.files.outputs import Journal, is_folder, is_vacant, locked, out_of_space, put_in_place, sync
from namesake.machine import stoppable, unstoppable

JOURNAL, MANIFEST = "journal.jsonl", "manifest.json"


class Begun(msgspec.Struct, frozen=True, tag="draft"):
    """A process works in the draft from here on."""

    key: str
    force: bool
    host: str
    boot: str


class Stage(msgspec.Struct, frozen=True, tag="stage"):
    """A stage is finished."""

    name: str
    facts: Any = None  # what later stages need to know
    digests: dict[str, str] = {}  # of the files of the result that the stage wrote
    sizes: dict[str, int] = {}  # of its temporary files: the bytes that count


class FolderDraft:
    """The draft of the folder `out`, inside a `with` block. Subclasses define what may be replaced."""

    def __init__(
        self, out: Path, force: bool = False, key: str = "", say: Callable[[str], None] = lambda _: None
    ) -> None:
        """Describe the draft: `force` replaces an older result, and a stopped run with the same `key` is resumed."""
        self.out, self.key, self.force, self.say = out, key, force, say
        self.folder = out.with_name(f"{out.name}.building")
        self.aside = out.with_name(f"{out.name}.replaced")
        self.files: dict[str, str] = {}  # the digest of each finished file
        self.stages: dict[str, Stage] = {}
        self.finished = False
        self.journal: Journal[Begun | Stage] | None = None

    def listed(self, folder: Path) -> dict[str, str] | None:
        """The digest of each file of a finished folder; None if the folder is not one of this kind."""
        raise NotImplementedError

    def check_free(self, force: bool) -> None:
        """Raise NamesakeError if the result may not be put at `out`."""
        raise NotImplementedError

    def remove_old(self, folder: Path) -> None:
        """Remove a folder that was replaced: the files that its manifest lists, the manifest last."""
        listed = self.listed(folder)
        if listed is not None:
            with suppress(OSError):
                for name in (*listed, JOURNAL, MANIFEST):
                    (folder / name).unlink(missing_ok=True)
                folder.rmdir()

    def keeps(self, problem: BaseException | None) -> bool:
        """Whether finished stages are kept after this problem."""
        return isinstance(problem, KeyboardInterrupt) or out_of_space(problem)

    def sealed(self) -> None:
        """Called when all files are complete and read-only, before the folder is put in its place."""

    def __enter__(self) -> Self:
        self.check_free(self.force)
        if os.path.lexists(self.out.parent) and not self.out.parent.is_dir():
            raise NamesakeError(f"{self.out.parent} is in the way: remove it")
        self.out.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.out.parent):
            try:
                self._settle()
                self.check_free(self.force)
                self._begin()
            except BaseException as problem:
                self.__exit__(type(problem), problem)
                raise
        return self

    def _begin(self) -> None:
        """Lock the folder; continue with the finished stages of the same run, or start with an empty folder."""
        is_ours = is_folder(self.folder) and ((self.folder / JOURNAL).is_file() or is_vacant(self.folder))
        if os.path.lexists(self.folder) and not is_ours:
            raise NamesakeError(f"{self.folder} is in the way: remove it")
        self.folder.mkdir(exist_ok=True)
        journal = self._open_journal()
        begun = _last_begun(journal)
        is_foreign = begun is None and any(path.name != JOURNAL for path in self.folder.iterdir())
        # Locks on a shared disk may not be visible to another machine.
        is_elsewhere = begun and begun.host != platform.node() and begun.boot != _boot()
        if is_foreign or is_elsewhere:
            journal.close()
            whose = f"{begun.host} may be at work there; if it is not, " if begun else ""
            raise NamesakeError(f"{self.folder} is in the way: {whose}remove it")
        stages = {entry.name: entry for entry in journal.entries if isinstance(entry, Stage)}
        sizes = [(self.folder / name, size) for stage in stages.values() for name, size in stage.sizes.items()]
        is_there = all(path.is_file() and path.stat().st_size >= size for path, size in sizes)
        if begun and self.key and begun.key == self.key and is_there:
            self.stages = stages  # from here on an interrupt keeps them
        self.journal = journal
        self.stages = {name: one for name, one in self.stages.items() if not damaged_file(self.folder, one.digests)}
        if not self.stages:
            if begun:
                self.say(f"removed {self.folder}, which a stopped run had left")
            self._remove_files(keep={JOURNAL})
            journal.clear()
        for stage in self.stages.values():
            self.files |= stage.digests
        journal.add(Begun(self.key, self.force, platform.node(), _boot()))

    def __exit__(self, kind: object, problem: BaseException | None, *_: object) -> None:
        with unstoppable():  # the folder is removed, unless it is finished or a later run can resume it
            if not self.finished and not (self.stages and self.keeps(problem)):
                new = self.folder / JOURNAL
                if self.journal or not new.exists() or (is_folder(self.folder) and not new.stat().st_size):
                    with suppress(OSError):
                        if self.journal:
                            self._remove_files(keep={JOURNAL})
                        new.unlink(missing_ok=True)
                        self.folder.rmdir()
            if self.journal:
                self.journal.close()

    def _remove_files(self, keep: Iterable[str]) -> None:
        for path in self.folder.iterdir():
            if path.name not in keep:
                shutil.rmtree(path) if is_folder(path) else path.unlink()

    def note(self, stage: Stage) -> None:
        """Record that a stage is finished. Its files are on the disk."""
        if self.key and self.journal:
            self.journal.add(stage)
            self.stages[stage.name] = stage

    def write_blocks(self, name: str, blocks: Iterable[bytes | memoryview]) -> str:
        """Write a file of the result; returns its digest."""
        hashed = sha256()
        with (self.folder / name).open("wb", buffering=0) as file:
            for block in blocks:
                view = memoryview(block)
                for start in range(0, len(view), BLOCK):
                    hashed.update(view[start : start + BLOCK])
                    write_all(file, view[start : start + BLOCK])
        self.files[name] = as_digest(hashed)
        return self.files[name]

    def put(self, manifest: bytes) -> None:
        """Make all files durable, write the manifest last, and put the folder in its place."""
        for name in sorted(self.files):
            sync(self.folder / name)
        with unstoppable(), locked(self.out.parent):
            self.check_free(self.force)  # it may have appeared in the meantime
            (self.folder / MANIFEST).write_bytes(manifest)
            sync(self.folder / MANIFEST)
            self.finished = True
            self._put_in_place(self.files)

    def _put_in_place(self, files: Iterable[str]) -> None:
        """Remove temporary files, make the others read-only, and rename the folder."""
        names = {*files, MANIFEST}
        try:
            self._remove_files(keep={*names, JOURNAL})
            for path in (self.folder / name for name in names):
                path.chmod(path.stat().st_mode & 0o444)  # a process that has it mapped may crash if it is written to
            sync(self.folder)
            if self.finished:
                self.sealed()
            old = put_in_place(self.folder, self.out, self.aside)
        except OSError as problem:
            raise NamesakeError(f"{problem}; {self.folder} is finished: the next run puts it in its place") from None
        (self.out / JOURNAL).unlink(missing_ok=True)
        sync(self.out.parent)
        if old:
            self.remove_old(old)

    def settle(self) -> None:
        """Finish or remove what killed runs left at `out`."""
        if self.out.parent.is_dir():
            with locked(self.out.parent):
                self._settle()

    def _settle(self) -> None:
        listed = self.listed(self.folder)
        if listed is not None and (self.folder / JOURNAL).is_file() and not damaged_file(self.folder, listed):
            with self._open_journal() as journal:
                begun = _last_begun(journal)
            self.check_free(self.force or (begun is not None and begun.force))
            self._put_in_place(listed)
            self.say(f"put {self.out} in its place, which a stopped run had finished")
        for folder in (self.folder, self.aside):
            self._settle_old(folder)
        if self.listed(self.out) is not None:
            (self.out / JOURNAL).unlink(missing_ok=True)

    def _open_journal(self) -> Journal[Begun | Stage]:
        busy = f"{self.folder}: another process is at work there; wait until it ends"
        return Journal(self.folder / JOURNAL, Begun | Stage, busy)

    def _settle_old(self, folder: Path) -> None:
        """What was to be replaced: put back if nothing has replaced it, else removed."""
        listed = self.listed(folder)
        if listed is None or {path.name for path in folder.iterdir()} - {*listed, MANIFEST}:
            return
        if is_vacant(self.out) and not damaged_file(folder, listed):
            folder.rename(self.out)
            self.say(f"put {self.out} back, which a killed run had moved away")
        elif self.listed(self.out) is not None:
            self.remove_old(folder)
            self.say(f"removed {folder}, which a killed run had replaced")


def _last_begun(journal: Journal[Begun | Stage]) -> Begun | None:
    return next((entry for entry in reversed(journal.entries) if isinstance(entry, Begun)), None)


def _boot() -> str:
    """Identifies this run of the kernel; empty if the system does not say."""
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return ""


def write_all(file: Any, block: memoryview) -> None:
    """Write every byte: an unbuffered file may write fewer at a time."""
    while len(block):
        block = block[file.write(block) :]


def state_key(inputs: Iterable[Path], *options: object) -> str:
    """The key of a run: its inputs by path, size and time, and its options; empty if an input is not a regular file."""
    states = []
    for path in inputs:
        try:
            status = path.stat()
        except (OSError, ValueError):  # standard input, or what its reader complains about
            return ""
        if not stat.S_ISREG(status.st_mode):
            return ""
        states.append((str(path.resolve()), status.st_size, status.st_mtime_ns, status.st_ino))
    return sha256(msgspec.json.encode((states, [str(option) for option in options]))).hexdigest()


class HinderedError(NamesakeError):
    """The machine is the cause, not the input: the same command may succeed later."""


@contextmanager
def clean_exit(draft: FolderDraft) -> Iterator[None]:
    """Handle SIGTERM as Ctrl-C, and turn errors of the disk and the memory into one line that states what is kept."""
    try:
        with stoppable():
            yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"stopped; {_left(draft)}") from None
    except OSError as problem:
        where = problem.filename or draft.out
        if out_of_space(problem):
            raise HinderedError(f"{where}: the disk is full: free some space and try again; {_left(draft)}") from None
        raise HinderedError(f"{where}: {problem.strerror or problem}; {draft.out} was not built") from None
    except MemoryError:
        raise HinderedError(f"out of memory, and more of it is needed; {_left(draft)}") from None


def _left(draft: FolderDraft) -> str:
    if not draft.folder.exists():
        return f"{draft.out} was not built and nothing is left of it"
    return f"finished stages are kept in {draft.folder}: the same command resumes there, or delete it"
