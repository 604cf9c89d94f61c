"""Compile kernels on all cores: functions after the functions that they call, each in one of several processes."""

import gc
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, ProcessPoolExecutor, wait
from contextlib import suppress
from functools import cache
from importlib import import_module
from multiprocessing import get_context

import numba
from llvmlite.binding import ffi
from numba.core.registry import cpu_target
from numba.core.runtime import rtsys

from namesake.kernels.code_cache import digest, prune
from namesake.kernels.compiled import Kernel, all_kernels, is_tested
from namesake.machine import cores

Task = tuple[Kernel, str]
"""A kernel, and which of its files to make: `ir` or `obj`."""
FIXED_COST, OPTIMISING = 200, 0.4
"""The time for a function: these many bytes of bytecode more than it has. The time to optimise a byte of bytecode."""


def compile_all(kernels: Iterable[Kernel]) -> Iterator[tuple[float, int]]:
    """Compile entry points and all that they call, as far as the cache lacks them.

    If processes cannot be started, nothing is compiled here, and each kernel is compiled when it is used.

    Yields:
        The share of the work that is done, and the number of functions: first 0 and 0, once processes have started.
        Nothing if the cache has everything.
    """
    entries = [one for one in kernels if not one.is_cached("obj")]
    if not entries or not is_tested(numba.version_info[:2]):
        return
    needed = dict.fromkeys(callee for entry in entries for callee in (entry, *_all_callees(entry)))
    lacking = [one for one in needed if not one.is_cached("ir")]
    after: dict[Task, set[Task]] = {(one, "ir"): {(callee, "ir") for callee in one.callees} for one in lacking}
    after |= {(one, "obj"): {(one, "ir")} for one in entries}
    for task, before in after.items():
        after[task] = before & after.keys()
    with suppress(BrokenExecutor, OSError):  # such as no memory for more processes
        yield from _run(after)
        prune({digest(one.__module__) for one in all_kernels()})


@cache
def _all_callees(kernel: Kernel) -> tuple[Kernel, ...]:
    return tuple(dict.fromkeys(one for callee in kernel.callees for one in (callee, *_all_callees(callee))))


def _cost(task: Task) -> float:
    """The expected time of a task; for machine code, that of optimising all that is compiled into it."""
    kernel, kind = task
    if kind == "ir":
        return (len(kernel.function.__code__.co_code) + FIXED_COST) * len(kernel.signatures)
    return OPTIMISING * sum(len(one.function.__code__.co_code) for one in (kernel, *_all_callees(kernel)))


def _urgency(after: dict[Task, set[Task]]) -> dict[Task, float]:
    """The time of the longest chain of tasks that begins with each."""
    then: dict[Task, list[Task]] = {task: [] for task in after}
    for task, before in after.items():
        for one in before:
            then[one].append(task)

    @cache
    def longest(task: Task) -> float:
        return _cost(task) + max(map(longest, then[task]), default=0)

    return {task: longest(task) for task in after}


def _run(after: dict[Task, set[Task]]) -> Iterator[tuple[float, int]]:
    """Run tasks, of those that are ready the most urgent first."""
    cpu_target.target_context.refresh()  # before processes are started, so that they need not
    rtsys.initialize(cpu_target.target_context)
    urgency, total = _urgency(after), sum(map(_cost, after))
    waiting = {task: set(before) for task, before in after.items()}
    done, cost = 0, 0.0
    running: dict[Future[None], Task] = {}
    can_fork = sys.platform == "linux" and threading.active_count() == 1
    workers = cores()
    pool = ProcessPoolExecutor(workers, get_context("fork" if can_fork else "spawn"), _start_worker)
    try:
        while waiting or running:
            ready = sorted((task for task, before in waiting.items() if not before), key=urgency.__getitem__)
            while ready and len(running) < workers:
                task = ready.pop()
                del waiting[task]
                running[pool.submit(_work, task[0].__module__, task[0].__name__, task[1])] = task
            if done == 0:
                yield 0.0, 0
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                future.result()
                task = running.pop(future)
                for before in waiting.values():
                    before.discard(task)
                done, cost = done + 1, cost + _cost(task)
                yield cost / total, done
    finally:
        for process in list((pool._processes or {}).values()) if running else ():
            process.terminate()
        pool.shutdown(wait=not running, cancel_futures=True)


def _start_worker() -> None:
    """Leave Ctrl-C to the process that started this one, and do without what slows the compiler down.

    Compilers make objects by the million that live until the end, and the collector would visit all of them.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    gc.disable()
    with suppress(AttributeError):
        ffi.lib._lock._cblist.clear()  # Numba notes the time of every single call of LLVM


def _work(module: str, name: str, kind: str) -> None:
    """Compile one kernel into the cache."""
    kernel = getattr(import_module(module), name)
    if kind == "ir":
        kernel.lowered  # noqa: B018 - which compiles it
    else:
        kernel.compiled  # noqa: B018
