"""What stopped builds left beside a KB's place: put right by the next build, and told.

Folders are known by their names, `OUT.building-TOKEN` and `OUT.replaced-TOKEN`, and by what is in them: a draft has a
lock with that token, a KB its manifest. Whatever else bears such a name is somebody else's, and is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

from namesake.errors import NamesakeError
from namesake.kb.columns.npy import damaged_file
from namesake.kb.manifest import listed_files
from namesake.kb.publish.journal import goes_on
from namesake.kb.publish.lock import LOCK, alone, owner_of, take_over
from namesake.kb.publish.replace import check_free, is_vacant, put_in_place, remove_draft, remove_kb, strangers


def building(out: Path, token: str) -> Path:
    """The folder beside `out` where the build with this token works."""
    return out.with_name(f"{out.name}.building-{token}")


def replaced(out: Path, token: str) -> Path:
    """Where the build with this token puts the KB that was at `out`, if it must."""
    return out.with_name(f"{out.name}.replaced-{token}")


def spill_of(draft: Path) -> Path:
    """The folder in a draft for what is no part of the KB."""
    return draft / "spill"


def settle(out: Path, key: str = "") -> list[str]:
    """Finish or remove what stopped builds of `out` left, and say what was done.

    A draft in which the build with this key can go on is left to it.
    """
    if not out.parent.is_dir():
        return []
    with alone(out.parent):
        return list(_settle(out, key))


def unfinished(out: Path, key: str) -> tuple[str, FileIO] | None:
    """A draft in which the build with this key can go on: its token, and its lock, held. For those `alone`."""
    for folder, token in _beside(out):
        owner = owner_of(folder)
        if owner is None or owner.token != token or owner.is_of_another_machine():
            continue
        if goes_on(folder, spill_of(folder), key) and (lock := take_over(folder)):
            return token, lock
    return None


def kept(out: Path, key: str) -> Path | None:
    """The draft that a stopped build with this key left to go on in."""
    if not out.parent.is_dir():
        return None
    with alone(out.parent):
        found = unfinished(out, key)
    if found is None:
        return None
    token, lock = found
    lock.close()
    return building(out, token)


def _beside(out: Path) -> list[tuple[Path, str]]:
    """The folders of builds of `out`, with their tokens."""
    name = re.compile(re.escape(out.name) + r"\.(building|replaced)-([0-9a-f]{16})")
    beside = sorted(out.parent.iterdir())
    return [(path, match[2]) for path in beside if (match := name.fullmatch(path.name)) and path.is_dir()]


def _settle(out: Path, key: str) -> Iterator[str]:
    found = _beside(out)
    for folder, token in found:
        yield from _settle_draft(folder, token, out, key)
    for folder, token in found:
        if owner_of(building(out, token)) is None:  # else that build may still be at work
            yield from _settle_kb(folder, out)
    if listed_files(out) is not None and (lock := take_over(out)):
        (out / LOCK).unlink(missing_ok=True)
        lock.close()


def _settle_draft(folder: Path, token: str, out: Path, key: str) -> Iterator[str]:
    """A draft: put in its place if it is finished, else removed, but for one that the build with the key goes on in."""
    owner = owner_of(folder)
    if owner is not None and owner.is_of_another_machine():
        yield f"left {folder} alone: {owner.host} may be at work there; if it is not, delete it"
        return
    inside = [path.name for path in folder.iterdir()]
    if not inside:
        folder.rmdir()  # stopped before it had begun
        return
    ours = inside == [LOCK] if owner is None else owner.token == token
    lock = take_over(folder) if ours else None
    if lock is None:
        return
    with lock:
        files = listed_files(folder)
        if files is None and goes_on(folder, spill_of(folder), key):
            return
        if files is None or damaged_file(folder, files):
            remove_draft(folder)
            yield f"removed {folder}, which a stopped build had left"
            return
        try:
            check_free(out, force=owner is not None and owner.force)
        except NamesakeError as problem:
            yield f"left {folder} alone, which is a finished KB: {problem}"
            return
        old = put_in_place(folder, out, replaced(out, token))
        (out / LOCK).unlink(missing_ok=True)
        if old:
            remove_kb(old)
        yield f"put {out} in its place, which a stopped build had finished"


def _settle_kb(folder: Path, out: Path) -> Iterator[str]:
    """A KB that was to be replaced: put back if nothing has replaced it, else removed."""
    files = listed_files(folder)
    if files is None or strangers(folder, files):
        return
    if is_vacant(out) and not damaged_file(folder, files):
        folder.rename(out)
        yield f"put {out} back, which a killed build had moved away"
    elif listed_files(out) is not None:
        remove_kb(folder)
        yield f"removed {folder}, the KB that a killed build had replaced"
