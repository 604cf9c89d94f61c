"""Compiled code belongs to the sources it was made from, also those it only uses."""

import os
import subprocess
import sys

import numpy as np

from namesake.compiling import NOTICE
from namesake.kernels.compiled import Kernel, closure, digest
from namesake.kernels.link.top_two import beats, top_two


def test_the_cache_of_a_module_depends_on_all_that_it_imports(tmp_path):
    (tmp_path / "low").mkdir()
    (tmp_path / "low" / "deep.py").write_text("x = 1\n")
    (tmp_path / "middle.py").write_text("from namesake.kernels.low.deep import x\n")
    (tmp_path / "high.py").write_text("from namesake.kernels import (\n    middle,\n    other,\n)\n")
    (tmp_path / "apart.py").write_text("import numpy\n")
    low, middle, high, apart = (f"namesake.kernels.{name}" for name in ("low.deep", "middle", "high", "apart"))
    assert set(closure(low, tmp_path)) == {low}
    assert set(closure(high, tmp_path)) == {low, middle, high}
    assert set(closure(apart, tmp_path)) == {apart}


def test_the_digest_is_of_the_sources():
    detect, overlap = (digest(f"namesake.kernels.{name}") for name in ("names.detect", "link.overlap"))
    assert detect != overlap
    assert detect == digest.__wrapped__("namesake.kernels.names.detect")
    assert "namesake.kernels.simd" in closure("namesake.kernels.names.index")


def test_kernels_load_when_they_are_used():
    """In a process of its own: importing compiles nothing, a call loads that kernel alone, not those inside it."""
    program = """
import numpy as np
from namesake.kernels.link.top_two import beats, top_two
assert "compiled" not in vars(top_two), "compiled when imported"
top_two(np.array([0, 2]), np.array([[1.0, 2.0]]))  # the cache has it, or has it now
"""
    for _ in range(2):
        subprocess.run([sys.executable, "-c", program], check=True)
    lazily = program + 'assert "compiled" in vars(top_two) and "compiled" not in vars(beats)\n'
    subprocess.run([sys.executable, "-c", lazily], check=True)


def test_a_kernel_is_its_function():
    if not isinstance(top_two, Kernel):
        return  # the JIT is switched off: it is the function
    first, second, _ = top_two(np.array([0, 3]), np.array([[1.0, 3.0, 2.0]]))
    assert (first.tolist(), second.tolist()) == ([1], [2])
    assert (beats.__name__, beats.__module__) == ("beats", "namesake.kernels.link.top_two")


def test_who_waits_for_the_compiler_is_told_once(tmp_path):
    """In a process without logging: one line on standard error before the first compilation, none from the cache."""
    program = """
import namesake
namesake.build_kb
import numpy as np
from namesake.kernels.link.top_two import top_two
from namesake.kernels.search import first_at_least
top_two(np.array([0, 2]), np.array([[1.0, 2.0]]))
first_at_least(np.array([0, 2], np.int32), 0, 2, np.int32(1))
"""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    told = [
        subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [(ran.stdout, ran.stderr) for ran in told] == [("", f"{NOTICE}\n"), ("", "")]
