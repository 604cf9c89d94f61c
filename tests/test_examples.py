"""Every example runs on the sample, and prints what it is about."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from namesake.apps import spacy  # noqa: F401 - what its entry point does where the package is installed with it

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PRINTED = {
    "link_text": ["Michael Jordan (0–14): Q41421", "Scottie Pippen", "David Mitchell", "NIL: "],
    "explain": ["1. Q5368718 Australian cricketer (born 1961)", " NIL: ", "YearsFromLifetime"],
    "reconcile": ["Michael Jordan → Q41421", "Michael Jordan → Q3308285", "Imran Khan → Q312781"],
    "frame": ["x/1  sports Michael Jordan   Q41421", "x/2 culture     Imran Khan  Q312781"],
    "own_scorer": ["Steve Smith Q5368718", "InPrime"],
    "in_spacy": ["Michael Jordan Q41421", "Michael Collins Q104859", "5 links"],
}
EXTRAS = {"frame": "pandas", "in_spacy": "spacy"}
"""What an example needs beside the package itself: the extra, and the package that it brings."""
WITHOUT = """
import runpy, sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {missing!r}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Missing())
runpy.run_path({example!r}, run_name="__main__")
"""


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_an_example_runs_and_says_what_it_is_about(name, sample_kb, monkeypatch, capsys):
    if name in EXTRAS:
        pytest.importorskip(EXTRAS[name])
    monkeypatch.setattr("namesake.apps.sample_kb.sample_kb", lambda: sample_kb.path)
    monkeypatch.setattr(sys, "argv", [f"{name}.py"])
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert [words for words in PRINTED[name] if words not in printed] == [], printed


def test_every_example_is_here_short_and_says_how_to_run_it():
    files = sorted(EXAMPLES.glob("*.py"))
    assert [file.stem for file in files] == sorted(PRINTED)
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert f"Run: python examples/{file.name}" in text
        assert len(text.splitlines()) <= 70


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_without_extras_an_example_runs_or_names_the_one_that_it_needs(name, tmp_path):
    program = WITHOUT.format(missing=("pandas", "polars", "spacy", "torch"), example=str(EXAMPLES / f"{name}.py"))
    environment = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    if name not in EXTRAS:
        assert ran.returncode == 0, ran.stderr
        return
    assert (ran.returncode, ran.stdout) == (2, "")
    [line] = ran.stderr.splitlines()
    assert f"install namesake with its extra `{EXTRAS[name]}`" in line
