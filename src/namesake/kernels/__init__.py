"""Every compiled function of the project, in folders by use, one idea per module.

Kernels import numpy and numba only, take flat arrays, allocate little and release the interpreter's lock
(`compiled.kernel`). Each has a slow, obvious twin in `tests/` or an independent library as its judge, and the kernel
tests run once more with the JIT switched off.
"""
