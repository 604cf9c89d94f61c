"""The one decorator of kernels: compiled when first used, without the interpreter's lock, and cached on disk."""

import sys
from collections.abc import Callable
from functools import cached_property, partial, update_wrapper
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from numba import config, njit
from numba.core.compiler_lock import global_compiler_lock

from namesake.kernels.code_cache import ROOT, CodeCache


def load_without_scipy() -> None:
    """Load what Numba needs to run kernels, but not SciPy: it takes as long as all of Numba.

    Numba imports SciPy's BLAS only to see whether matrices can be multiplied, which no kernel does. For programs of
    our own: while this runs, no other thread may import SciPy, and compiled code of others cannot use `numpy.kron`.
    """
    if "scipy.linalg" in sys.modules:
        return
    sys.modules["scipy.linalg"] = None  # type: ignore[assignment]  # Python's way to say that it is not to be found
    try:
        import_module("numba.np.arraymath")
    finally:
        del sys.modules["scipy.linalg"]


class Kernel:
    """A function that is compiled, or loaded from the cache, when it is first called or compiled into another.

    A run uses a few of the kernels it imports, and those that only other kernels call are in their callers' code
    already. Loading all of them would take longer than linking a page.
    """

    def __init__(self, function: Callable[..., Any], signature: object, options: dict[str, object]) -> None:
        update_wrapper(self, function)
        self.function = function
        self.signatures = signature if isinstance(signature, list) else [signature]
        self.options = options

    def __call__(self, *arguments: Any) -> Any:
        """Run the compiled function."""
        return self.compiled(*arguments)

    @cached_property
    def compiled(self) -> Any:
        """The compiled function. Numba's own lock keeps threads from compiling it twice."""
        with global_compiler_lock:
            if "compiled" in self.__dict__:
                return self.__dict__["compiled"]
            dispatcher = njit(nogil=True, **self.options)(self.function)
            dispatcher._cache = CodeCache(self.function)
            for signature in self.signatures:
                dispatcher.compile(signature)
            dispatcher.disable_compile()
            return dispatcher

    @property
    def _numba_type_(self) -> object:
        """What Numba sees where another kernel calls this one."""
        return self.compiled._numba_type_


def kernel(signature: object, **options: object) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function for a signature, or for each of a list of them; `options` go to Numba."""
    return lambda function: function if config.DISABLE_JIT else Kernel(function, signature, options)


inner = partial(kernel, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""For kernels that only kernels call."""
inlined = partial(inner, forceinline=True)
"""For those that must be part of their callers."""


def entry_points() -> list[Kernel]:
    """Every kernel that Python calls, with those of all modules; the others are compiled into these."""
    modules = [import_module(found.name) for found in walk_packages([str(ROOT)], "namesake.kernels.")]
    kernels = (value for module in modules for value in vars(module).values() if isinstance(value, Kernel))
    return [one for one in dict.fromkeys(kernels) if not one.options.get("no_cpython_wrapper")]
