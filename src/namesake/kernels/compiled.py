"""The one decorator of kernels: compiled when first used, without the interpreter's lock, and cached on disk."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property, partial, update_wrapper
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import numba
from numba.core.compiler_lock import global_compiler_lock

from namesake.kernels.code_cache import ROOT, CodeFile
from namesake.machine import warn_once

TESTED = ("0.60", "0.68")
"""The oldest and the newest version of Numba that tests run with. Keep `pyproject.toml` in step."""
nothing: Callable[[], AbstractContextManager[Any]] = nullcontext
around_compiling = nothing
"""Entered before an entry point is compiled that is not in the cache; `namesake.compiling` sets it."""


class Kernel:
    """A function that is compiled, or loaded from the cache, when it is first called or compiled into another.

    A run uses a few of the kernels it imports, and those that only other kernels call are in their callers' code
    already. Loading all of them would take longer than linking a page.
    """

    __name__: str

    def __init__(self, function: Callable[..., Any], signature: object, is_entry: bool, options: dict[str, Any]):
        update_wrapper(self, function)
        self.function = function
        self.signatures = signature if isinstance(signature, list) else [signature]
        self.is_entry = is_entry
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
            if not is_tested():
                return self.lowered
            from namesake.kernels.library import load_entry, make_entry

            dispatcher = numba.njit(nogil=True)(self.function)
            for number in range(len(self.signatures)):
                found = load_entry(self, number)
                if found is None:
                    with around_compiling():
                        found = load_entry(self, number) or make_entry(self, number)
                dispatcher.add_overload(found)
            dispatcher.disable_compile()
            return dispatcher

    @cached_property
    def lowered(self) -> Any:
        """The function for kernels that call it, not optimised yet; Numba's own with a version that is not tested."""
        with global_compiler_lock:
            if "lowered" in self.__dict__:
                return self.__dict__["lowered"]
            if is_tested():
                from namesake.kernels.library import lower

                return lower(self)
            dispatcher = numba.njit(self.signatures, nogil=True, **self.options)(self.function)
            dispatcher.disable_compile()
            return dispatcher

    @cached_property
    def callees(self) -> tuple["Kernel", ...]:
        """The kernels that the code names."""
        names = self.function.__code__.co_names  # kernels contain no closures, which would have their own code
        named = [self.function.__globals__.get(name) for name in names]
        in_modules = [getattr(one, name, None) for one in named if isinstance(one, ModuleType) for name in names]
        return tuple(dict.fromkeys(one for one in named + in_modules if isinstance(one, Kernel)))

    @cached_property
    def size(self) -> int:
        """The bytes of bytecode of the function and of all that it calls: a measure of the time to compile."""
        return len(self.function.__code__.co_code) + sum(callee.size for callee in self.callees)

    @property
    def _numba_type_(self) -> object:
        """What Numba sees where another kernel calls this one."""
        return self.lowered._numba_type_

    def file(self, number: int) -> CodeFile:
        """The file with the machine code for one of the signatures."""
        return CodeFile(self.__module__, self.__name__, self.signatures[number])

    def is_cached(self) -> bool:
        """Whether the cache has the machine code for all signatures."""
        return all(self.file(number).found() for number in range(len(self.signatures)))


def is_tested() -> bool:
    """Whether the tests run with this version of Numba. If not, a warning is logged, once."""
    version = numba.version_info[:2]
    oldest, newest = (tuple(map(int, one.split("."))) for one in TESTED)
    if oldest <= version <= newest:
        return True
    warn_once(
        f"Namesake is tested with Numba {TESTED[0]} to {TESTED[1]}, and this is {'.'.join(map(str, version))}: "
        "kernels are compiled in every process, and may fail; install another version of Numba"
    )
    return False


def kernel(
    signature: object, is_entry: bool = True, **options: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function for a signature, or for each of a list of them; `options` go to Numba."""
    return lambda function: function if numba.config.DISABLE_JIT else Kernel(function, signature, is_entry, options)


inner = partial(kernel, is_entry=False)  # for kernels that only kernels call
inlined = partial(inner, forceinline=True)  # for those that must be part of their callers


def entry_points() -> list[Kernel]:
    """Every kernel that Python calls. The others are compiled into these."""
    modules = [import_module(found.name) for found in walk_packages([str(ROOT)], "namesake.kernels.")]
    kernels = (value for module in modules for value in vars(module).values() if isinstance(value, Kernel))
    return [one for one in dict.fromkeys(kernels) if one.is_entry]
