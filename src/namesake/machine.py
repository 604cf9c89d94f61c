"""The cores that this process may use, threads, Ctrl-C and SIGTERM, the cache folder, and folders safe to use."""

import grp
import os
import pwd
import signal
import stat
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, TypeVar

NAMESAKE_KB = "NAMESAKE_KB"  # the environment variable with the default KB


def cores() -> int:
    """The number of cores that this process may use: its CPU affinity if the system has that, else all cores."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def keep_freed_memory() -> None:
    """Keep up to 256 MB of freed arrays for the next batch, with glibc: the system would clear each page again."""
    import ctypes

    if (set_option := getattr(ctypes.CDLL(None), "mallopt", None)) is not None:
        trim_threshold, map_threshold = -1, -3  # M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
        set_option(trim_threshold, 256 << 20)
        set_option(map_threshold, 32 << 20)


def named_kb() -> Path | None:
    """The KB in the variable NAMESAKE_KB."""
    folder = os.environ.get(NAMESAKE_KB)
    return from_home(folder) if folder else None


def from_home(path: str | Path) -> Path:
    """A path with `~` replaced by the user's home, if there is such a user."""
    return Path(os.path.expanduser(path))  # noqa: PTH111 - Path's raises an error if there is no such user


def cache_folder() -> Path:
    """The folder for files that can be made again: only this user can write to it.

    It is `namesake` in XDG_CACHE_HOME or `~/.cache`; if that is unusable, a temporary folder, with a warning.
    """
    folders = [Path(os.environ.get("XDG_CACHE_HOME", "")), Path(os.environ.get("HOME", ""), ".cache")]
    with suppress(KeyError):  # a user without an entry, as in some containers
        folders.append(Path(pwd.getpwuid(os.geteuid()).pw_dir, ".cache"))
    return _usable(next((folder for folder in folders if folder.is_absolute()), None))


@cache
def _usable(caches: Path | None) -> Path:
    """Our folder in the folder for caches, or a private one for temporary files if that cannot be used."""
    if caches is None:
        problem = "this user has no home folder"
    elif not (problem := make_private(caches / "namesake")):
        return real_path(caches / "namesake")
    from tempfile import gettempdir

    chosen = real_path(Path(gettempdir()) / f"namesake-{os.geteuid()}")
    if make_private(chosen):  # another user has made it first
        chosen = Path(_own_folder().name)
    warn_once(f"{problem}: caching in {chosen} instead (set XDG_CACHE_HOME to choose another folder)")
    return chosen


@cache
def _own_folder() -> Any:
    """A folder that is removed when the process ends."""
    from tempfile import TemporaryDirectory

    return TemporaryDirectory(prefix="namesake-")


@cache
def warn_once(line: str) -> None:
    """Log a warning once per process; worker processes log nothing."""
    import logging
    from multiprocessing import parent_process

    if parent_process() is None:
        logging.getLogger("namesake").warning(line)


def real_path(path: Path) -> Path:
    """The absolute path without symbolic links, so that the folder that was checked is the one that is used."""
    return Path(os.path.realpath(path))


def make_private(folder: Path) -> str:
    """Make a private folder, and its missing parents; returns why it cannot be used, or an empty text."""
    folder = real_path(folder)
    try:
        for at in reversed((folder, *folder.parents)):
            if not at.exists():
                at.mkdir(0o700, exist_ok=True)
    except OSError as problem:
        return f"{folder} cannot be made ({problem.strerror})"
    return cannot_write(folder) or danger(folder)


def cannot_write(folder: Path) -> str:
    """Why no file can be made in a folder, in one line; an empty text if one can."""
    can_write = folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)
    return "" if can_write else f"{folder} cannot be written to"


def danger(path: Path) -> str:
    """Why a file or folder may have content from a user other than root or this one, in one line; an empty text if not.

    A user who can write to a folder above it can replace it, unless that folder has the sticky bit, as /tmp has.
    """
    path = real_path(path)
    for at in (path, *path.parents):
        try:
            found = at.stat()
        except FileNotFoundError:
            continue
        except OSError as problem:
            return f"{at} cannot be read ({problem.strerror})"
        if found.st_uid not in (0, os.geteuid()):
            return f"{at} belongs to another user"
        if others_write(found) and (at == path or not found.st_mode & stat.S_ISVTX):
            return f"other users can write to {at} (mode {stat.S_IMODE(found.st_mode):o})"
    return ""


def others_write(found: os.stat_result) -> bool:
    """Whether others than root, the owner and a group of the owner alone may write to what has this status."""
    by_group = bool(found.st_mode & stat.S_IWGRP) and not _is_own_group(found.st_gid)
    return by_group or bool(found.st_mode & stat.S_IWOTH)


@cache
def _is_own_group(number: int) -> bool:
    with suppress(KeyError):
        user, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(number)
        return number == 0 or (group.gr_name == user and set(group.gr_mem) <= {user})
    return number == 0


A = TypeVar("A")
B = TypeVar("B")

MOST_FOR_A_CORE = 4


def threads_for(asked: int) -> int:
    """As many threads as requested, or one per core for 0 or less; at most a few per core."""
    return min(asked if asked > 0 else cores(), MOST_FOR_A_CORE * cores())


def in_order(function: Callable[[A], B], items: Iterable[A], threads: int) -> Generator[B, None, None]:
    """The result of `function` for each item, in the order of the items; at most two items per thread are in memory."""
    from concurrent.futures import Future, ThreadPoolExecutor  # slow to import

    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[Future[B]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(copy_context().run, function, item))
                if len(waiting) >= 2 * threads:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


STOPS = (signal.SIGINT, signal.SIGTERM)
AGAIN = 0.05  # seconds after which a lost signal is sent again


class StoppedError(Exception):
    """Stands for KeyboardInterrupt on the command line, because Typer handles that itself and prints an empty line."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM raise KeyboardInterrupt inside the block, as Ctrl-C does; only in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        came.append(number)
        raise KeyboardInterrupt

    is_pythons = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ours = STOPS if is_pythons else (signal.SIGTERM,)
    with _handled(interrupt, ours), _none_lost(came):
        yield


@contextmanager
def _none_lost(came: list[int]) -> Iterator[None]:
    """Send signals again that arrive where Python can only print an exception and continue.

    This happens in callbacks of the compiler into Python: a signal that is lost there makes it fail a moment later, or
    not at all. An object that a signal left half made fails when it is deleted, and nothing is printed about that.
    `came` has the signals so far.
    """
    waiting: list[threading.Timer] = []
    print_it = sys.unraisablehook

    def lost(unraisable: Any) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            waiting.append(threading.Timer(AGAIN, os.kill, [os.getpid(), signal.SIGTERM]))
            waiting[-1].start()
        elif not came:
            print_it(unraisable)

    sys.unraisablehook = lost
    try:
        yield
    except Exception:
        if waiting:
            raise KeyboardInterrupt from None
        raise
    finally:
        for timer in waiting:
            timer.cancel()
            timer.join()
        sys.unraisablehook = print_it


@contextmanager
def unstoppable() -> Iterator[None]:
    """Ignore Ctrl-C and SIGTERM while finished work is put in its place."""
    is_main = threading.current_thread() is threading.main_thread()
    with _handled(lambda number, frame: None, STOPS if is_main else ()):
        yield


@contextmanager
def _handled(handler: Callable[[int, FrameType | None], None], signals: Sequence[signal.Signals]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in signals}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old or signal.SIG_DFL)
