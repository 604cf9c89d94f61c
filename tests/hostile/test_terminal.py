"""What others wrote never steers the terminal: escapes and line ends are cleaned wherever we print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from hostile.kills import whole
from hostile.sandbox import Outcome, Sandbox
from hostile.world import World, person, write_dump

EVIL = "\x1b[2J\x1b]0;owned\x07\x9b31m"
ESCAPES = (b"\x1b[2J", b"\x1b]0;", b"\x07", "\x9b".encode())


def clean(outcome: Outcome) -> bool:
    """Whether none of the escapes comes through, and no line stands alone that an id has smuggled in."""
    printed = outcome.out + outcome.err
    return not any(escape in printed for escape in ESCAPES) and b"\nsmuggled" not in printed


@pytest.fixture(scope="module")
def evil_kb(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A KB whose labels, descriptions and aliases hold escapes."""
    folder = tmp_path_factory.mktemp("evil")
    entities = [person(qid, f"Eve{EVIL} Example\nsmuggled", (f"Evie{EVIL}",)) for qid in (901, 902)]
    entities.append(person(903, "Eve Example"))
    entities[-1]["descriptions"]["en"]["value"] = f"a writer{EVIL}\nsmuggled"
    write_dump(folder / "dump.json", entities)
    whole(sandbox.run("kb", "build", folder / "dump.json", "--out", folder / "kb"))
    return folder / "kb"


@pytest.mark.parametrize("who", ["Q901", "Q903", "Eve Example", "[/red]", EVIL])
def test_kb_show(who: str, evil_kb: Path, sandbox: Sandbox):
    assert clean(sandbox.run("kb", "show", evil_kb, who))


@pytest.mark.parametrize("out", [True, False], ids=["to a file", "to the terminal"])
def test_link_of_evil_articles(out: bool, evil_kb: Path, sandbox: Sandbox, tmp_path: Path):
    articles = tmp_path / "a.jsonl"
    bad = {"id": f"bad{EVIL}id\nsmuggled", "text": "x", "mentions": [{"name": f"A{EVIL}", "spans": [[5, 9]]}]}
    odd = {
        "id": f"odd{EVIL}\nsmuggled",
        "text": f"Eve Example{EVIL} spoke.",
        "date": f"{EVIL}\nsmuggled",
        "title": EVIL,
    }
    named = {
        "id": "n",
        "text": f"Eve{EVIL} spoke.",
        "mentions": [{"name": f"Eve{EVIL}\nsmuggled", "candidates": ["Q901", "Q903"]}],
    }
    articles.write_text("".join(json.dumps(one) + "\n" for one in (bad, odd, named)))
    words = ("-o", tmp_path / "out.jsonl") if out else ()
    assert clean(sandbox.run("link", articles, "--kb", evil_kb, *words))
    assert clean(sandbox.run("explain", articles, "--article", "n", "--kb", evil_kb))
    assert clean(sandbox.run("explain", articles, "--article", f"none{EVIL}", "--kb", evil_kb))


@pytest.mark.parametrize(
    "words",
    [
        ("link", f"{EVIL}.jsonl"),
        ("link", "--kb", EVIL, "a.jsonl"),
        ("link", "--recipe", EVIL, "a.jsonl"),
        ("link", "--date", EVIL, "a.jsonl"),
        ("kb", "info", EVIL),
        ("kb", "build", f"{EVIL}.json", "--out", "kb"),
        ("datasets", "get", EVIL, "--out", "x"),
        ("datasets", "convert", "a", "--reader", EVIL, "--articles", "a.jsonl", "--gold", "g.jsonl"),
    ],
    ids=lambda words: " ".join(words).replace(EVIL, "EVIL"),
)
def test_errors(words: tuple[str, ...], sandbox: Sandbox, tmp_path: Path):
    assert clean(sandbox.run(*words, cwd=tmp_path))


def test_reports_hold_no_markup_of_others(world: World, sandbox: Sandbox, tmp_path: Path):
    scores = [{"articleID": "a", "name": "x", "candidate": k, "qid": f"Q{k + 1}", "NS": k} for k in range(2)]
    gold = {"articleID": "a", "name": "x", "gold": 1, "kind": "<script>alert(1)</script>", "split": "[/red]"}
    (tmp_path / "scores.jsonl").write_text("".join(json.dumps(row) + "\n" for row in scores))
    (tmp_path / "gold.jsonl").write_text(json.dumps(gold) + "\n")
    argv = ("evaluate", "--scores", "scores.jsonl", "--gold", "gold.jsonl", "--by", "kind,split", "--samples", "100")
    outcome = sandbox.run(*argv, "--out", "report", cwd=tmp_path)
    assert outcome.kind == "done", outcome
    holding = [file.name for file in (tmp_path / "report").glob("report.*") if "<script>alert" in file.read_text()]
    assert not holding
