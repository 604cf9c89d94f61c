"""Every compiled function of the project, one idea a module.

Kernels import numpy and numba only, take flat arrays, allocate little and release the GIL. They are
compiled on first import and cached on disk; each has a slow, obvious twin in `tests/oracle.py` or an
independent library as its judge, and the kernel tests run once more with the JIT switched off.
"""
