"""Compiled code belongs to the sources it was made from, also those it only uses."""

from namesake.kernels.compiled import closure, digest


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
