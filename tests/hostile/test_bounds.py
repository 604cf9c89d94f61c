"""Every kernel test once more with bounds checked: the kernels stay inside their arrays on good input, too."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from hostile.bounds import BOUNDS, ROOT


@pytest.mark.hostile
def test_kernel_tests_with_bounds_checked():
    """Compiling all kernels anew takes a few minutes the first time."""
    argv = [sys.executable, "-m", "pytest", "-q", "-m", "kernel", "--ignore=tests/hostile", "-p", "no:cacheprovider"]
    env = {**os.environ, **BOUNDS}
    env = {key: value for key, value in env.items() if not key.startswith("PYTEST_")}
    run = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=1500, check=False)
    assert run.returncode == 0, run.stdout[-3000:]
