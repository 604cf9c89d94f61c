"""`namesake compile`: compiles all kernels at once, for installers."""

from __future__ import annotations


def compile() -> None:
    """Compile all kernels for this machine, so that no later command has to wait for it.

    The compiled code goes into the folder that NUMBA_CACHE_DIR names, else beside the installed package, else into your
    cache folder. Other users can use it there if only you, or root, can write to it. Kernels that are already compiled
    are not compiled again.

    Example: namesake compile
    """
    from namesake.compiling import compile_kernels
    from namesake.kernels.code_cache import folders

    print(f"{compile_kernels(with_rare=True)} kernels are compiled, in {folders()[-1]}")
