"""Every compiled function of the project, one idea a module.

Kernels import numpy and numba only, take flat arrays, allocate little and release the GIL. They are compiled on first
import and cached on disk; each has a slow, obvious twin in `tests/` or an independent library as its judge, and the
kernel tests run once more with the JIT switched off.
"""

import os
import re
import sys
from contextlib import suppress
from json import dumps, loads  # by name: `json` is one of our modules
from pathlib import Path


def forget_stale_code(folder: Path) -> None:
    """Delete the compiled code of every kernel module that uses, directly or not, one whose source has changed.

    Numba notices a change of a kernel's own file, but not of another file whose functions are compiled into it.
    """
    sources = {path.stem: [path.stat().st_mtime_ns, path.stat().st_size] for path in folder.glob("*.py")}
    cache = folder / "__pycache__"
    mark = cache / "sources.json"
    with suppress(OSError, ValueError):  # a read-only installation has no cache of its own to go stale
        before = loads(mark.read_text()) if mark.is_file() else {}
        if before == sources:
            return
        cache.mkdir(exist_ok=True)
        for module in _users_of({name for name in sources if sources[name] != before.get(name)}, folder):
            for compiled in cache.glob(f"{module}.*.nb[ic]"):
                compiled.unlink(missing_ok=True)
        mark.write_text(dumps(sources))


def _users_of(modules: set[str], folder: Path) -> set[str]:
    """The modules and all that import them, directly or not."""
    imports = {
        path.stem: set(re.findall(r"\w+", " ".join(re.findall(r"from namesake\.kernels\b(.*)", path.read_text()))))
        for path in folder.glob("*.py")
    }
    users = set(modules)
    while more := {name for name, used in imports.items() if used & users} - users:
        users |= more
    return users


def say_if_compiling(folder: Path) -> None:
    """On a terminal, tell why the first use after an installation takes a minute."""
    cache = folder / "__pycache__"
    if sys.stderr.isatty() and os.access(cache, os.W_OK) and not any(cache.glob("*.nbi")):
        print("namesake: compiling for this machine, once; half a minute to a minute …", file=sys.stderr)


forget_stale_code(Path(__file__).parent)
say_if_compiling(Path(__file__).parent)
