"""Stopping in order: what asks a run to end lets it clean up first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

STOPS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGTERM stops the block as Ctrl-C does: with KeyboardInterrupt, so that blocks around the work clean up.

    Signals belong to the main thread; in any other the block runs as it is.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before or signal.SIG_DFL)


@contextmanager
def unstoppable() -> Iterator[None]:
    """Hold back Ctrl-C and SIGTERM for the moment in which finished work is put in its place."""
    here = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, _let_be) for number in STOPS} if here else {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)


def _let_be(number: int, frame: FrameType | None) -> None:
    """Do nothing about a signal."""


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
