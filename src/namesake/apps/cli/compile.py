"""`namesake compile`: everything is compiled at once, when Namesake is installed."""

from __future__ import annotations

from namesake.progress import reporter


def compile() -> None:
    """Compile all kernels for this machine, so that no later command has to wait for it.

    The compiled code goes into the folder that NUMBA_CACHE_DIR names, else beside the installed package, else into your
    cache folder. Other users read it there if only you, or root, can write to it. Kernels that are compiled already are
    not compiled again.

    Example: namesake compile
    """
    from namesake.kernels.code_cache import folders
    from namesake.kernels.compiled import entry_points

    kernels = entry_points()
    progress = reporter()
    with progress.stage("compiling"):
        for count, kernel in enumerate(kernels, 1):
            kernel.compiled  # noqa: B018 - which compiles it
            progress.advance(count / len(kernels), count, "kernels")
    print(f"{len(kernels)} kernels are compiled, in {folders()[-1]}")
