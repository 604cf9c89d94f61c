"""Nothing that is not ours is removed, no input is overwritten, and an open KB stays what it was."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from hostile.kills import whole
from hostile.sandbox import COMMAND, Sandbox
from hostile.world import QID, World

ARTICLE = '{"id": "1", "text": "Chris Carter is back."}\n'


def test_force_spares_a_folder_that_is_no_kb(world: World, sandbox: Sandbox, tmp_path: Path):
    thesis = tmp_path / "work" / "thesis.txt"
    thesis.parent.mkdir()
    thesis.write_text("x")
    (tmp_path / "work" / "manifest.json").write_text("{}")
    outcome = sandbox.run("kb", "build", world.dump, "--out", thesis.parent, "--force")
    assert thesis.exists()
    assert outcome.kind == "refused", outcome


def test_force_spares_what_else_lies_in_a_kb(world: World, sandbox: Sandbox, tmp_path: Path):
    shutil.copytree(world.kb, tmp_path / "kb")
    notes = tmp_path / "kb" / "notes.txt"
    notes.write_text("x")
    outcome = sandbox.run("kb", "build", world.dump, "--out", tmp_path / "kb", "--force")
    assert notes.exists() or outcome.kind == "done", "a KB is replaced as a whole, or not at all"


def test_build_spares_its_neighbours(world: World, sandbox: Sandbox, tmp_path: Path):
    for name in ("house.building-plans", "house.replaced-windows", ".house.partial"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_text("x")
    whole(sandbox.run("kb", "build", world.dump, "--out", tmp_path / "house"))
    kept = [path.name for path in tmp_path.iterdir() if (path / "a").exists()]
    assert len(kept) == 3, kept


def test_build_into_the_root_is_refused(world: World, sandbox: Sandbox):
    outcome = sandbox.run("kb", "build", world.dump, "--out", "/")
    assert outcome.kind == "refused", outcome


def test_two_builds_with_one_name_at_once(world: World, tmp_path: Path):
    """Both end well, or one says that another is at work; whichever it is, a whole KB stands there."""
    argv = [*COMMAND, "kb", "build", str(world.dump), "--out", str(tmp_path / "kb"), "--force"]
    both = [subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for _ in range(2)]
    outputs = [process.communicate(timeout=120)[0] for process in both]
    assert all(process.returncode in (0, 2) for process in both), outputs
    assert not any("Traceback" in output for output in outputs), outputs
    assert [path.name for path in tmp_path.iterdir()] == ["kb"]


THREADS = """
import sys, threading
import namesake
from namesake import KB, NamesakeError

build = getattr(namesake, "build_kb", None) or namesake.build
together = threading.Barrier(3)
failed = []

def one():
    together.wait()
    try:
        build([sys.argv[1]], sys.argv[2])
    except NamesakeError:
        pass  # another was first
    except Exception as problem:
        failed.append(repr(problem))

threads = [threading.Thread(target=one) for _ in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
KB.open(sys.argv[2])
sys.exit("; ".join(failed) or 0)
"""


def test_builds_with_one_process_number(world: World, sandbox: Sandbox, tmp_path: Path):
    """Threads have one process number, as containers on one volume may: none destroys what another makes."""
    (tmp_path / "threads.py").write_text(THREADS)
    outcome = sandbox.run(world.dump, tmp_path / "kb", program=tmp_path / "threads.py")
    assert outcome.kind == "done", outcome
    assert not [path.name for path in tmp_path.iterdir() if path.name not in ("threads.py", "kb")]
    whole(sandbox.run("kb", "info", tmp_path / "kb", "--verify"))


@pytest.mark.parametrize("suffix", [".rejects.jsonl", ".meta.json"])
def test_link_spares_an_input_named_like_an_output(suffix: str, world: World, sandbox: Sandbox, tmp_path: Path):
    path = tmp_path / f"x.jsonl{suffix}"
    content = ARTICLE + "no json\n"
    path.write_text(content)
    sandbox.run("link", path, "--kb", world.kb, "-o", tmp_path / "x.jsonl")
    assert path.exists()
    assert path.read_text() == content


def test_link_spares_an_input_by_another_name(world: World, sandbox: Sandbox, tmp_path: Path):
    (tmp_path / "a.jsonl").write_text(ARTICLE)
    (tmp_path / "b.jsonl").hardlink_to(tmp_path / "a.jsonl")
    (tmp_path / "c.jsonl").symlink_to("a.jsonl")
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        sandbox.run("link", tmp_path / "a.jsonl", "--kb", world.kb, "-o", tmp_path / name)
    assert (tmp_path / "a.jsonl").read_text() == ARTICLE


def test_link_spares_the_recipe(world: World, sandbox: Sandbox, tmp_path: Path):
    recipe = tmp_path / "mine.jsonl.meta.json"
    recipe.write_text(world.recipe.read_text())
    articles = tmp_path / "a.jsonl"
    articles.write_text(ARTICLE)
    sandbox.run("link", articles, "--kb", world.kb, "--recipe", recipe, "-o", tmp_path / "mine.jsonl")
    assert recipe.read_text() == world.recipe.read_text()


@pytest.mark.parametrize("output", ["--articles", "--gold"])
def test_convert_spares_its_input(output: str, sandbox: Sandbox, tmp_path: Path):
    path = tmp_path / "zelda.jsonl"
    record = {"id": 1, "text": "Chris Carter.", "index": [[0, 12]], "wikipedia_titles": ["X"], "wikipedia_ids": [1]}
    path.write_text(json.dumps(record) + "\n")
    outputs = {"--articles": tmp_path / "a.jsonl", "--gold": tmp_path / "g.jsonl", output: path}
    words = [word for pair in outputs.items() for word in pair]
    sandbox.run("datasets", "convert", path, "--reader", "zelda", *words)
    assert json.loads(path.read_text()) == record


def test_convert_takes_two_paths_of_one_file_for_one(sandbox: Sandbox, tmp_path: Path):
    path = tmp_path / "zelda.jsonl"
    path.write_text('{"id": 1, "text": "Chris.", "index": [[0, 5]], "wikipedia_titles": ["X"], "wikipedia_ids": [1]}\n')
    one, other = tmp_path / "a.jsonl", tmp_path / "folder" / ".." / "a.jsonl"
    (tmp_path / "folder").mkdir()
    outcome = sandbox.run("datasets", "convert", path, "--reader", "zelda", "--articles", one, "--gold", other)
    assert outcome.kind == "refused", outcome
    assert not one.exists()


OPEN = """
import json, shutil, sys
from pathlib import Path
from namesake import KB, Linker

kb, other, how = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
linker = Linker(KB.open(kb))
text = "Chris Carter, who created The X-Files, met Michael Jordan."
if how.startswith("used"):
    linker.link_text(text)
if how != "nothing":
    kb.rename(kb.with_name("aside"))
if how.endswith("replaced"):
    other.rename(kb)
if how == "deleted":
    shutil.rmtree(kb.with_name("aside"))
print(json.dumps([(link.name, link.best, link.label, link.description) for link in linker.link_text(text)]))
"""


@pytest.mark.parametrize("how", ["used, then replaced", "replaced", "deleted"])
def test_an_open_kb_stays_what_it_was(how: str, world: World, sandbox: Sandbox, tmp_path: Path):
    """The other KB has one person less, so that every row means somebody else."""
    lines = [line for line in world.dump.read_text().splitlines() if f'"id":"{QID}"' not in line[:40]]
    (tmp_path / "dump.json").write_text("\n".join(lines) + "\n")
    whole(sandbox.run("kb", "build", tmp_path / "dump.json", "--out", tmp_path / "other"))
    shutil.copytree(world.kb, tmp_path / "kb")
    program = tmp_path / "open.py"
    program.write_text(OPEN)
    expected = whole(sandbox.run(tmp_path / "kb", tmp_path / "other", "nothing", program=program))
    outcome = sandbox.run(tmp_path / "kb", tmp_path / "other", how, program=program)
    assert outcome.kind == "done", outcome
    assert json.loads(outcome.out) == json.loads(expected.out)
