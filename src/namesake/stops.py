"""Ctrl-C and SIGTERM end a run in order: it cleans up first."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

STOPS = (signal.SIGINT, signal.SIGTERM)
AGAIN = 0.05
"""Seconds after which a lost signal is sent again."""


class StoppedError(Exception):
    """Stands for KeyboardInterrupt on the command line, because Typer handles that itself and prints an empty line."""


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM raise KeyboardInterrupt inside the block, as Ctrl-C does, so that the work cleans up.

    Only the main thread receives signals; in other threads this does nothing.
    """
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
