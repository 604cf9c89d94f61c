"""Compile kernels, which happens once per machine and version, and what users see meanwhile.

A program that uses the library gets a message by the logger `namesake`. The command line compiles all kernels at once
on all cores, with a progress bar.
"""

import gc
import logging
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module

from namesake.kernels import compiled
from namesake.machine import cores

NOTICE = "compiling for this machine, which is done once; `namesake compile` does it ahead of time …"
RARE = "namesake.kernels.vectors"  # kernels that only KBs with vectors need
PATIENCE = 3.0  # seconds of compiling after which the message appears


def announce_compiling() -> None:
    """Log the message once per process, when kernels have been compiling for some seconds."""
    if compiled.around_compiling is not compiled.nothing:
        return
    left = PATIENCE

    def announce() -> None:
        compiled.around_compiling = compiled.nothing
        logging.getLogger("namesake").warning(NOTICE)

    @contextmanager
    def announced() -> Iterator[None]:
        """Around the compilation of one kernel: adds up the time."""
        nonlocal left
        began = time.monotonic()
        timer = threading.Timer(max(left, 0), announce)
        timer.daemon = True
        timer.start()
        yield
        timer.cancel()
        left -= time.monotonic() - began

    compiled.around_compiling = announced


def compile_kernels(with_rare: bool = False) -> int:
    """Compile all kernels that are not in the cache, with a progress bar; returns how many there are.

    Kernels of `RARE` are compiled when they are used, unless `with_rare`. So is each kernel if processes cannot be
    started.
    """
    from concurrent.futures import BrokenExecutor

    from namesake.kernels.code_cache import prune

    kernels = [one for one in compiled.entry_points() if with_rare or not one.__module__.startswith(RARE)]
    missing = [one for one in kernels if not one.is_cached()]
    if missing and compiled.is_tested():
        with suppress(BrokenExecutor, OSError):  # such as no memory for more processes
            _compile_in_processes(missing)
            prune()
    return len(kernels)


def _compile_in_processes(kernels: Sequence[compiled.Kernel]) -> None:
    """Compile kernels on all cores: those of a module in one process, because they share code; the largest first."""
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from multiprocessing import get_context

    from namesake.kernels.library import prepare
    from namesake.progress import reporter

    prepare()  # before processes are started, so that they need not
    modules: dict[str, list[str]] = {}
    sizes: dict[str, int] = {}
    for one in kernels:
        modules.setdefault(one.__module__, []).append(one.__name__)
        sizes[one.__module__] = sizes.get(one.__module__, 0) + one.size
    can_fork = sys.platform == "linux" and threading.active_count() == 1
    pool = ProcessPoolExecutor(cores(), get_context("fork" if can_fork else "spawn"), _start_worker)
    ordered = sorted(modules, key=sizes.__getitem__, reverse=True)
    waiting = {pool.submit(_work, module, modules[module]): module for module in ordered}
    try:
        progress, count, share = reporter(), 0, 0.0  # after the processes are started, because a bar has a thread
        with progress.stage("compiling for this machine, once"):
            for future in as_completed(list(waiting)):
                future.result()
                module = waiting.pop(future)
                count, share = count + len(modules[module]), share + sizes[module] / sum(sizes.values())
                progress.advance(share, count, "functions")
    finally:
        for process in list((pool._processes or {}).values()) if waiting else ():
            process.terminate()
        pool.shutdown(wait=not waiting, cancel_futures=True)


def _start_worker() -> None:
    """Leave Ctrl-C to the process that started this one, and do without what slows the compiler down."""
    from llvmlite.binding import ffi

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.disable()  # a compiler makes objects by the million that live until the end
    with suppress(AttributeError):
        ffi.lib._lock._cblist.clear()  # Numba notes the time of every single call of LLVM


def _work(module: str, names: Sequence[str]) -> None:
    """Compile some kernels of a module into the cache."""
    for name in names:
        getattr(import_module(module), name).compiled  # noqa: B018 - which compiles it


@contextmanager
def compiled_first() -> Iterator[None]:
    """Compile all kernels, once: a kernel that is still not in the cache then is compiled by itself."""
    modules = [module for name, module in sys.modules.items() if name.startswith("namesake.kernels.")]
    if not any(getattr(module.__spec__, "_initializing", False) for module in modules):  # all kernels are known
        compiled.around_compiling = compiled.nothing
        compile_kernels()
    yield
