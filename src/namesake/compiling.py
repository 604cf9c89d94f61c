"""A message while kernels compile that this machine has not compiled yet.

It goes to the logger `namesake` as a warning. Python prints that as one line on standard error where a program has set
up no logging, and `logging.getLogger("namesake").setLevel("ERROR")` silences it.
"""

import logging
import time
from functools import cache
from threading import Timer
from typing import Any

from numba.core import event

NOTICE = "compiling for this machine, which is done once; `namesake compile` does it ahead of time …"
PATIENCE = 3.0
"""Seconds of compiling after which the message appears."""


@cache
def announce_compiling() -> None:
    """Log the message once per process, when kernels of ours have been compiling for some seconds."""
    event.register("numba:compile", _Announcer())


class _Announcer(event.Listener):  # type: ignore[misc]  # numba has no types
    """Adds up the time that kernels of ours compile; compiling one kernel begins others, and ends after they end."""

    def __init__(self) -> None:
        self.is_announced = False
        self.left = PATIENCE
        self.depth = 0

    def on_start(self, compiling: Any) -> None:
        """Before a function is compiled."""
        if self.is_announced or not _is_ours(compiling):
            return
        self.depth += 1
        if self.depth == 1:
            self.began = time.monotonic()
            self.timer = Timer(self.left, self.announce)
            self.timer.daemon = True
            if self.left > 0:
                self.timer.start()
            else:
                self.announce()

    def on_end(self, compiling: Any) -> None:
        """After a function is compiled."""
        if self.is_announced or not _is_ours(compiling):
            return
        self.depth -= 1
        if self.depth == 0:
            self.timer.cancel()
            self.left -= time.monotonic() - self.began

    def announce(self) -> None:
        """Log the message."""
        self.is_announced = True
        logging.getLogger("namesake").warning(NOTICE)


def _is_ours(compiling: Any) -> bool:
    """Whether an event is about a function of this package."""
    name: str = compiling.data["dispatcher"].py_func.__module__
    return name.startswith("namesake.")
