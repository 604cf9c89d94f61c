"""Stopping in order: what asks a run to end lets it clean up first."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn


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


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt
