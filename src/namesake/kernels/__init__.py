"""Every compiled function of the project, in folders by use.

Kernels import numpy and numba only, take flat arrays, allocate little and release the interpreter's lock
(`compiled.kernel`). Tests compare each with a slow, simple function or an independent library, and run once more with
the JIT switched off.
"""
