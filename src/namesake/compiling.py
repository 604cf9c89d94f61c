"""A word to whoever waits: kernels that this machine has not compiled yet take a minute or two, once.

It goes to the logger `namesake` as a warning. Python prints that as one line on standard error where a program has set
up no logging, and `logging.getLogger("namesake").setLevel("ERROR")` silences it.
"""

import logging
from functools import cache
from typing import Any

from numba.core import event

NOTICE = "compiling for this machine, once: up to a minute or two …"


@cache
def announce_compiling() -> None:
    """Say so when a kernel of ours is about to be compiled, not loaded from the cache: once per process."""
    event.register("numba:compile", _Announcer())


class _Announcer(event.Listener):  # type: ignore[misc]  # numba has no types
    """What Numba tells of each function that it compiles; other people's are none of our business."""

    said = False

    def on_start(self, compiling: Any) -> None:
        """Before a function is compiled."""
        if not self.said and compiling.data["dispatcher"].py_func.__module__.startswith("namesake."):
            self.said = True
            logging.getLogger("namesake").warning(NOTICE)

    def on_end(self, compiling: Any) -> None:
        """After it is compiled: nothing to say."""
