"""Compiled code goes stale with the sources it was made from, also those it only uses."""

import json
import os

import namesake.kernels.json  # noqa: F401  (a module of ours by that name must not stand in for Python's)
from namesake.kernels import forget_stale_code


def test_a_changed_source_takes_the_code_of_its_users_with_it(tmp_path):
    (tmp_path / "low.py").write_text("x = 1\n")
    (tmp_path / "middle.py").write_text("from namesake.kernels.low import x\n")
    (tmp_path / "high.py").write_text("from namesake.kernels import middle, other\n")
    (tmp_path / "apart.py").write_text("import numpy\n")
    cache = tmp_path / "__pycache__"
    forget_stale_code(tmp_path)
    codes = [cache / f"{name}.f-1.py311.nbi" for name in ("low", "middle", "high", "apart")]
    for code in codes:
        code.touch()
    forget_stale_code(tmp_path)
    assert all(code.exists() for code in codes)  # nothing has changed
    os.utime(tmp_path / "low.py", (1, 1))
    forget_stale_code(tmp_path)
    assert [code.exists() for code in codes] == [False, False, False, True]
    assert set(json.loads((cache / "sources.json").read_text())) == {"low", "middle", "high", "apart"}
