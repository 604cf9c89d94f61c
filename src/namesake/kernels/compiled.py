"""The one decorator of kernels: compiled when first used, without the interpreter's lock, and cached on disk.

Numba notices a change of a kernel's own file, but not of another file whose functions are compiled into it. So the
cache of a module lies in a folder named by a digest of its source and of every kernel module that it imports.
"""

import os
import re
import sys
from collections.abc import Callable
from functools import cache, cached_property, partial, update_wrapper
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any

from numba import config, njit
from numba.core.caching import FunctionCache
from numba.core.compiler_lock import global_compiler_lock
from numba.core.runtime import rtsys

ROOT = Path(__file__).parent
IMPORT = re.compile(r"^from (namesake\.kernels[\w.]*) import (?:\(([^)]*)\)|(.*))", re.M)


@cache
def folder() -> Path:
    """Where compiled code is kept: what NUMBA_CACHE_DIR names, else beside the sources, else the user's cache."""
    if "NUMBA_CACHE_DIR" in os.environ:
        return Path(os.environ["NUMBA_CACHE_DIR"])
    if os.access(ROOT, os.W_OK):
        return ROOT / "__pycache__"
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "namesake" / "kernels"
    except RuntimeError:  # a user without a home, as in some containers
        return Path(_own_folder().name)


@cache
def _own_folder() -> Any:
    """A folder that goes with the process."""
    from tempfile import TemporaryDirectory

    return TemporaryDirectory(prefix="namesake-")


@cache
def source(module: str, root: Path = ROOT) -> tuple[bytes, list[str]] | None:
    """The source of a kernel module, and the names of what it imports of other kernels; None of what is no module."""
    path = root.joinpath(*module.split(".")[2:]).with_suffix(".py")
    if not path.is_file():
        return None
    text = path.read_bytes()
    imports = []
    for package, listed, inline in IMPORT.findall(text.decode()):
        names = (one.split()[0] for one in (listed or inline).split(",") if one.strip())
        imports += [package, *(f"{package}.{name}" for name in names)]
    return text, imports


def closure(module: str, root: Path = ROOT) -> dict[str, bytes]:
    """The source of a kernel module and of all that it imports, directly or not, by module name."""
    sources: dict[str, bytes] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        found = None if name in sources else source(name, root)
        if found is not None:
            sources[name], imports = found
            waiting += imports
    return sources


@cache
def digest(module: str) -> str:
    """What the compiled code of a module depends on, in 16 letters."""
    hashed = blake2b(digest_size=8)
    for name, source in sorted(closure(module).items()):
        hashed.update(name.encode() + b"\0" + source + b"\0")
    return hashed.hexdigest()


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


class _Cache(FunctionCache):  # type: ignore[misc]  # numba has no types
    """Numba's cache of a function, which loads compiled code without getting ready to compile.

    Numba's own first loads all that it knows of types and of how to compile them, which takes a tenth of a second.
    Compiled code needs none of it, and the compiler loads it where the cache has nothing.
    """

    def load_overload(self, signature: object, context: Any) -> Any:
        """The function as it was compiled for a signature, None where it was not."""
        rtsys.initialize(context)  # arrays are allocated and freed by it
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, context)


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
            dispatcher._cache = self._cache()
            for signature in self.signatures:
                dispatcher.compile(signature)
            dispatcher.disable_compile()
            return dispatcher

    def _cache(self) -> _Cache:
        """Where the compiled function is kept."""
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder() / digest(self.__module__))
        try:
            return _Cache(self.function)
        finally:
            config.CACHE_DIR = before

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
