"""What users see while kernels compile, which happens once per machine and version.

A program that uses the library gets a message by the logger `namesake`. Python prints it as one line on standard error
where a program has set up no logging, and `logging.getLogger("namesake").setLevel("ERROR")` silences it. The command
line compiles all kernels at once on all cores, with a progress bar.
"""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Any

from namesake.kernels import compiled

NOTICE = "compiling for this machine, which is done once; `namesake compile` does it ahead of time …"
RARE = "namesake.kernels.vectors"
"""Kernels that only KBs with vectors need."""
PATIENCE = 3.0
"""Seconds of compiling after which the message appears."""


def announce_compiling() -> None:
    """Log the message once per process, when kernels have been compiling for some seconds."""
    if compiled.around_compiling is compiled.nothing:
        compiled.around_compiling = _Announcer().announced


def compile_on_all_cores() -> None:
    """When a kernel is not in the cache, compile all kernels that are not."""
    compiled.around_compiling = _compiled_first


def compile_kernels(with_rare: bool = False) -> int:
    """Compile all kernels that are not in the cache, with a progress bar; returns how many there are.

    Kernels of `RARE` are compiled when they are used, unless `with_rare`.
    """
    from namesake.kernels.parallel import compile_all
    from namesake.progress import reporter

    kernels = [one for one in compiled.entry_points() if with_rare or not one.__module__.startswith(RARE)]
    steps = compile_all(kernels)
    if next(steps, None):  # processes are started before the bar starts a thread
        progress = reporter()
        with progress.stage("compiling for this machine, once"):
            for share, count in steps:
                progress.advance(share, count, "functions")
    return len(kernels)


@contextmanager
def _compiled_first() -> Iterator[None]:
    """Compile all kernels, once: a kernel that is still not in the cache then is compiled by itself.

    So is a kernel that is called while modules of kernels are being imported, as not all kernels are known yet.
    """
    modules = [module for name, module in sys.modules.items() if name.startswith("namesake.kernels.")]
    if not any(getattr(module.__spec__, "_initializing", False) for module in modules):
        compiled.around_compiling = compiled.nothing
        compile_kernels()
    yield


class _Announcer:
    """Adds up the time that kernels compile."""

    def __init__(self) -> None:
        self.left = PATIENCE

    @contextmanager
    def announced(self) -> Iterator[Any]:
        """Around the compilation of one kernel."""
        began = time.monotonic()
        timer = Timer(max(self.left, 0), self.announce)
        timer.daemon = True
        if self.left <= 0:
            self.announce()
        else:
            timer.start()
        yield
        timer.cancel()
        self.left -= time.monotonic() - began

    def announce(self) -> None:
        """Log the message, and never again."""
        compiled.around_compiling = compiled.nothing
        logging.getLogger("namesake").warning(NOTICE)
