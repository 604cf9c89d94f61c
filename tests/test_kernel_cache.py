"""Compiled code belongs to the sources it was made from, also those it only uses, and comes from safe folders only."""

import os
import pickle
import re
import subprocess
import sys
from pathlib import Path
from types import FunctionType

import numpy as np
import pytest

import namesake
from namesake.compiling import NOTICE
from namesake.kernels import code_cache
from namesake.kernels.code_cache import ROOT, digest
from namesake.kernels.compiled import Kernel, entry_points
from namesake.kernels.link.candidate_tables import beats, top_two
from namesake.kernels.text.characters import write_words

TWO_KERNELS = """
import numpy as np
from namesake import compiling
compiling.PATIENCE = {patience}
import namesake
namesake.build_kb  # from which on compiling is announced
from namesake.kernels.link.candidate_tables import top_two
from namesake.kernels.search import first_at_least
assert top_two(np.array([0, 2]), np.array([[1.0, 2.0]]))[0].tolist() == [1]
if {second}:
    first_at_least(np.array([0, 2], np.int32), 0, 2, np.int32(1))
"""
NOT_WRITABLE = """
import os
real = os.access
os.access = lambda path, mode: not (mode & os.W_OK and str(path).startswith({folder!r})) and real(path, mode)
"""


def compiling(folder: Path, patience: float = 0, second: bool = True, before: str = "", **variables: str) -> list[str]:
    """Use one or two kernels in a process whose compiled code belongs in `folder`: the lines on standard error."""
    program = before + TWO_KERNELS.format(patience=patience, second=second)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder), "XDG_CACHE_HOME": str(folder.parent / "user")}
    ran = subprocess.run(
        [sys.executable, "-c", program], env=environment | variables, capture_output=True, text=True, check=True
    )
    assert ran.stdout == ""
    return ran.stderr.splitlines()


def code_in(folder: Path) -> set[str]:
    """The kernels whose compiled code a folder holds."""
    return {path.name.partition("-")[0] for path in folder.rglob("*.obj")}


def test_the_digest_is_of_all_sources(tmp_path, monkeypatch):
    monkeypatch.setattr(code_cache, "ROOT", tmp_path)
    (tmp_path / "low").mkdir()
    found = [digest.__wrapped__()]
    for name, text in (("high.py", "x = 1\n"), ("low/deep.py", "x = 1\n"), ("low/deep.py", "x = 2\n")):
        (tmp_path / name).write_text(text)
        found.append(digest.__wrapped__())
    assert len(set(found)) == 4
    assert found[-1] == digest.__wrapped__()


def test_kernels_load_when_they_are_used():
    """In a process of its own: importing compiles nothing, a call loads that kernel alone, not those inside it."""
    program = """
import numpy as np
from namesake.kernels.link.candidate_tables import beats, top_two
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
    assert (beats.__name__, beats.__module__) == ("beats", "namesake.kernels.link.candidate_tables")


def test_who_waits_for_the_compiler_is_told_once(tmp_path):
    """In a process without logging: one line on standard error while kernels compile, none from the cache."""
    assert [compiling(tmp_path / "cache") for _ in range(2)] == [[NOTICE], []]


def test_who_does_not_wait_long_is_told_nothing(tmp_path):
    assert compiling(tmp_path / "cache", patience=3600) == []
    assert code_in(tmp_path / "cache") >= {"candidate_tables.top_two", "search.first_at_least"}


def test_a_cache_that_cannot_be_written_is_read(tmp_path):
    """What is missing in it is compiled into the user's cache."""
    cache, user = tmp_path / "cache", tmp_path / "user" / "namesake" / "kernels"
    assert compiling(cache, second=False) == [NOTICE]
    there = code_in(cache)
    closed = NOT_WRITABLE.format(folder=str(cache))
    assert compiling(cache, second=False, before=closed) == []
    assert not code_in(user)
    assert [compiling(cache, before=closed) for _ in range(2)] == [[NOTICE], []]
    assert code_in(cache) == there
    assert "search.first_at_least" in code_in(user)
    assert "candidate_tables.top_two" not in code_in(user)


class Attack:
    """Makes a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, ...]:
        return open, (str(self.file), "w")


def poison(cache: Path, file: Path) -> None:
    """Have all that a cache holds make a file when it is loaded."""
    for code in cache.rglob("*.obj"):
        mode = code.stat().st_mode
        code.write_bytes(pickle.dumps(Attack(file)))
        code.chmod(mode)


def test_code_that_another_user_may_have_written_is_not_loaded(tmp_path):
    cache, user, made = tmp_path / "above" / "cache", tmp_path / "user", tmp_path / "made by the attack"
    compiling(cache, second=False)
    assert cache.stat().st_mode & 0o777 == 0o700
    poison(cache, made)
    for folder in (cache, cache.parent):  # who can write to the folder above can replace the cache
        mode = folder.stat().st_mode
        folder.chmod(0o777)
        told = compiling(cache, patience=3600, second=False, XDG_CACHE_HOME=str(user))
        folder.chmod(mode)
        assert told == [f"NUMBA_CACHE_DIR is not used: other users can write to {folder} (mode 777)"]
    assert "candidate_tables.top_two" in code_in(user)
    for code in cache.rglob("*.obj"):
        code.chmod(0o666)
    compiling(cache, second=False)
    assert not made.exists()
    assert {code.stat().st_mode & 0o022 for code in cache.rglob("*.obj")} == {0}, "unsafe files are replaced"
    poison(cache, made)
    with pytest.raises(subprocess.CalledProcessError):  # what the attack returns is no compiled code
        compiling(cache, second=False)
    assert made.exists(), "the attack does nothing, so this test shows nothing"


def test_the_entry_points_are_what_python_calls():
    if not isinstance(top_two, Kernel):
        return  # the JIT is switched off: nothing is compiled
    found = entry_points()
    assert top_two in found
    assert write_words not in found, "which only kernels call"
    assert 100 > len(found) == len(set(found)) > 50


def test_only_functions_that_python_calls_are_entry_points():
    """Each entry point is optimised by itself: a function that only kernels call would be so for nothing."""
    if not isinstance(top_two, Kernel):
        return
    sources = {path: path.read_text() for path in Path(namesake.__file__).parent.rglob("*.py")}
    outside = "\n".join(text for path, text in sources.items() if ROOT not in path.parents)
    for one in entry_points():
        plain = [each for each in vars(sys.modules[one.__module__]).values() if isinstance(each, FunctionType)]
        called = any(one.__name__ in each.__code__.co_names for each in plain)
        assert called or re.search(rf"\b{one.__name__}\b", outside), one.__name__


def test_all_kernels_are_compiled_by_one_command(tmp_path):
    """On all cores, with what they call; a second run compiles nothing, and old folders are removed in time."""
    old, recent = (tmp_path / "cache" / (letter * 16) for letter in "ab")
    for folder in (old, recent):
        folder.mkdir(parents=True)
    os.utime(old, (0, 0))
    program = """
from namesake.kernels import compiled
from namesake.kernels.link.candidate_tables import beats, top_two
from namesake.kernels.search import first_at_least
compiled.entry_points = lambda: [top_two, first_at_least]
from namesake.apps.cli import demo as command
command.compile()
"""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    (tmp_path / "cache").chmod(0o700)
    runs = [
        subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    assert [ran.stdout for ran in runs] == [f"2 kernels are compiled, in {tmp_path / 'cache'}\n"] * 2
    assert ["compiling" in ran.stderr for ran in runs] == [True, False]
    assert code_in(tmp_path / "cache") >= {"candidate_tables.top_two", "search.first_at_least"}
    assert [folder.exists() for folder in (old, recent)] == [False, True]


def test_another_version_of_numba_is_warned_of_and_works(caplog):
    """In a process that is told of a version to come: one warning, and the kernel runs."""
    program = TWO_KERNELS.format(patience=3600, second=True)
    program = "import numba\nnumba.version_info = numba.version_info._replace(minor=99)\n" + program
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    [line] = ran.stderr.splitlines()
    assert line.startswith("Namesake is tested with Numba 0.60 to 0.68, and this is 0.99: ")


BOTH = """
from namesake.kernels.names.tokens import room_for_tokens
from namesake.kernels.names.lattice import cut_texts
callers
print(len(room_for_tokens(50).starts))
"""


@pytest.mark.slow
def test_a_function_can_be_an_entry_point_and_part_of_another(tmp_path):
    """Both have a copy of its code and its constants, and the copies must not be mixed up when they are loaded."""
    variables = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    for callers in ("", "cut_texts.compiled", "cut_texts.compiled"):
        script = [sys.executable, "-c", BOTH.replace("callers", callers)]
        ran = subprocess.run(script, capture_output=True, text=True, env=variables, check=False)
        assert (ran.returncode, ran.stdout) == (0, "50\n"), ran.stderr[-500:]
