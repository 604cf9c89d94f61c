"""Every example runs on the sample, and prints what it is about."""

import runpy
import sys
from pathlib import Path

import pytest

from namesake.apps import spacy  # noqa: F401 - what its entry point does where the package is installed with it

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
PRINTED = {
    "link_text": ["Michael Jordan (0–14): Q41421", "Scottie Pippen", "Adam Smith", "nobody: none fits"],
    "explain": ["1. Q5368718 Australian cricketer (born 1961)", "none of them", "Era"],
    "reconcile": ["Michael Jordan → Q41421", "Michael Jordan → Q3308285", "Imran Khan → Q312781"],
    "frame": ["x/1  sports Michael Jordan   Q41421", "x/2 culture     Imran Khan  Q312781"],
    "own_scorer": ["Steve Smith Q5368718", "InPrime"],
    "in_spacy": ["Michael Jordan Q41421", "Michael Collins Q104859", "5 links"],
}


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_an_example_runs_and_says_what_it_is_about(name, sample_kb, monkeypatch, capsys):
    for extra, user in (("spacy", "in_spacy"), ("pandas", "frame")):
        pytest.importorskip(extra) if name == user else None
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
