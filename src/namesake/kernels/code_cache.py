"""Compiled code on disk: which folders hold it, which of them are safe, and when it is out of date.

Numba notices a change of a kernel's own file, but not of another file whose functions are compiled into it. So the
cache of a module lies in a folder named by a digest of its source and of every kernel module that it imports.

Numba stores compiled code as pickles, and a pickle can run anything. So code is loaded only from files that root or
this user has written, in folders to which nobody else can write.
"""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from inspect import getfile
from pathlib import Path
from typing import Any

from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile, _CacheLocator
from numba.core.runtime import rtsys

from namesake.machine import cache_folder, cannot_write, danger, make_private, others_write, real_path, warn_once

ROOT = Path(__file__).parent
IMPORT = re.compile(r"^from (namesake\.kernels[\w.]*) import (?:\(([^)]*)\)|(.*))", re.M)
NAMED = "NUMBA_CACHE_DIR"
"""The variable that names the folder for compiled code."""


@cache
def folders() -> tuple[Path, ...]:
    """The folders in which compiled code is looked for. New code goes into the last.

    The first is the folder that NUMBA_CACHE_DIR names, else the one beside the sources. If it is safe, it is read, also
    where this user may not write to it. If it cannot be written to, the user's cache folder is the second.
    """
    named, beside = os.environ.get(NAMED), ROOT / "__pycache__"
    first = real_path(Path(named or beside))
    place = beside if beside.exists() else ROOT
    problem = make_private(first) if named else danger(first) or cannot_write(place)
    if not problem:
        return (first,)
    is_read = first.is_dir() and not danger(first)
    if named and not is_read:
        warn_once(f"{NAMED} is not used: {problem}")
    own = cache_folder() / "kernels"
    return (first, own) if is_read else (own,)


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


class CodeCache(FunctionCache):  # type: ignore[misc]  # numba has no types
    """Numba's cache of a function, with several folders, which loads code without getting ready to compile.

    Numba's own first loads all that it knows of types and of how to compile them, which takes a tenth of a second.
    Compiled code needs none of it, and the compiler loads it where the cache has nothing.
    """

    def __init__(self, function: Any) -> None:
        self._impl_class = _Implementation
        super().__init__(function)
        own, stamp = Path(self._cache_path), self._impl.locator.get_source_stamp()
        self._files = [
            _File(str(folder / own.relative_to(folders()[-1])), self._impl.filename_base, stamp) for folder in folders()
        ]
        self._cache_file = self._files[-1]

    def load_overload(self, signature: object, context: Any) -> Any:
        """The function as it was compiled for a signature, None where it was not."""
        rtsys.initialize(context)  # arrays are allocated and freed by it
        key = self._index_key(signature, context.codegen())
        found = next((data for file in self._files if (data := file.load(key)) is not None), None)
        return None if found is None else self._impl.rebuild(context, found)

    def save_overload(self, signature: object, compiled: Any) -> None:
        """Keep the function as it was compiled for a signature. Where that fails, it is compiled again next time."""
        try:
            super().save_overload(signature, compiled)
        except OSError as problem:
            warn_once(f"compiled code cannot be kept in {folders()[-1]} ({problem.strerror})")


class _Implementation(CompileResultCacheImpl):  # type: ignore[misc]
    """What Numba keeps of a function, in our folder."""

    def __init__(self, function: Any) -> None:
        self._lineno = function.__code__.co_firstlineno
        self._locator = _Locator(function)
        name = f"{Path(getfile(function)).stem}.{function.__qualname__}"
        self._filename_base = self.get_filename_base(name, sys.abiflags)


class _Locator(_CacheLocator):  # type: ignore[misc]
    """The folder of a function. It is made when there is something to put into it."""

    def __init__(self, function: Any) -> None:
        self._py_file, self._lineno = getfile(function), function.__code__.co_firstlineno
        self._digest = digest(function.__module__)
        self._folder = folders()[-1] / self._digest / self.get_suitable_cache_subpath(self._py_file)

    def get_cache_path(self) -> str:
        """The folder."""
        return str(self._folder)

    def get_source_stamp(self) -> str:
        """What tells whether code is out of date."""
        return self._digest

    def get_disambiguator(self) -> str:
        """What tells functions with the same name apart."""
        return str(self._lineno)

    def ensure_cache_path(self) -> None:
        """Make the folder, to which only this user can write; others may read it if they may read `folders()`."""
        for at in reversed((self._folder, *self._folder.parents[:2])):
            at.mkdir(0o755, exist_ok=True)
            if others_write(found := at.stat()):
                at.chmod(found.st_mode & ~0o022)


class _File(IndexDataCacheFile):  # type: ignore[misc]
    """The files of a function in one folder: those that are not safe to load are as if they were not there."""

    def _load_index(self) -> Any:
        return super()._load_index() if _is_safe(self._index_path) else {}

    def _load_data(self, name: str) -> Any:
        return super()._load_data(name) if _is_safe(self._data_path(name)) else None

    @contextmanager
    def _open_for_write(self, path: str) -> Iterator[Any]:
        with super()._open_for_write(path) as file:
            os.fchmod(file.fileno(), os.fstat(file.fileno()).st_mode & ~0o022)
            yield file


def _is_safe(path: str) -> bool:
    """Whether a file in one of `folders()` can be read, and none but root and this user can have written it."""
    if not os.access(path, os.R_OK):
        return False
    trusted = (0, os.geteuid())
    for _ in range(4):  # itself, the folders of its source and of its module, and the one of `folders()`
        found = os.stat(path)  # noqa: PTH116 - a Path takes four times as long, for hundreds of files
        if found.st_uid not in trusted or others_write(found):
            return False
        path = os.path.dirname(path)  # noqa: PTH120
    return True
