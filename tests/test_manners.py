"""The command line behaves: completion, plain help, hints, every name marked, wrong links of the demo named."""

import ast
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import typer
from rich.console import Console

import namesake
from namesake import KB, Linker, NamesakeError, build_kb
from namesake.apps.cli.commands import COMMANDS, OLD_NAMES, app
from namesake.apps.cli.common import as_options
from namesake.apps.sample_kb import sample_kb as cached_sample
from namesake.apps.terminal.explanations import linked_text, show_links, show_mistakes
from namesake.articles.builder import text_table
from namesake.evaluation.gold import read_gold
from namesake.kb.records import about, describe
from namesake.recipe import recipes
from namesake.sample import ARTICLES, DUMP, EXPECTED
from small_kb import writable

PROGRAM = "import sys; sys.argv[0] = 'namesake'; from namesake.apps.cli.main import main; main()"


def complete(*words: str) -> list[str]:
    """What the shell is offered behind these words."""
    asked = {"_NAMESAKE_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1)}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=os.environ | asked, capture_output=True, text=True, check=False
    )
    return ran.stdout.split()


def test_the_shell_completes_commands_options_and_recipes():
    assert set(complete("namesake", "")) >= set(COMMANDS)
    assert complete("namesake", "kb", "sh") == ["show"]
    assert "--threshold" in complete("namesake", "link", "--th")
    assert complete("namesake", "link", "--recipe", "u") == [name for name in recipes() if name.startswith("u")]


def every_command() -> Iterator[str]:
    def walk(group, prefix: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
        yield prefix
        for name, command in group.commands.items():
            if hasattr(command, "commands"):
                yield from walk(command, (*prefix, name))
            else:
                yield (*prefix, name)

    yield from (" ".join(words) for words in walk(typer.main.get_command(app), ()))


@pytest.mark.parametrize("command", list(every_command()))
def test_no_help_shows_a_type_for_a_switch(command, run):
    ran = run(*command.split(), "--help", kb=None)
    assert ran.code == 0
    assert "--help" in ran.said
    assert "bool" not in ran.said.lower()


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("lnik", "a.jsonl"), "Did you mean 'link'?"),
        (("kb", "shwo"), "Did you mean 'show'?"),
        (("link", "a.jsonl", "--recpie", "x"), "--recipe"),
        (("link", "{articles}", "--kb", "{kb}", "--recipe", "defualt"), "did you mean 'default'?"),
        (
            (
                "evaluate",
                "--articles",
                "{articles}",
                "--gold",
                "{gold}",
                "--kb",
                "{kb}",
                "-o",
                "r",
                "--by",
                "dificulty",
            ),
            "did you mean 'difficulty'?",
        ),
    ],
)
def test_a_slip_is_answered_with_what_was_meant(words, hint, run, sample_kb):
    gold = Path("gold.jsonl")
    rows = [json.loads(line) | {"difficulty": "easy"} for line in EXPECTED.read_text("utf-8").splitlines()]
    gold.write_text("\n".join(map(json.dumps, rows)))
    filled = [word.format(articles=ARTICLES, kb=sample_kb.path, gold=gold) for word in words]
    ran = run(*filled, kb=None)
    assert ran.code == 2
    assert hint in ran.said


@pytest.mark.parametrize(("old", "new"), OLD_NAMES.items())
def test_old_names_of_commands_work_with_a_notice(old, new, run):
    ran = run(old, "--help", kb=None)
    assert ran.code == 0
    assert f"notice: `namesake {old}` is now `namesake eval {new}`" in ran.err
    assert old not in complete("namesake", "")
    assert f"namesake {old}" not in run("--help", kb=None).out
    assert run("eval", new, "--help", kb=None).err == ""


def test_an_empty_date_is_an_error(run):
    ran = run("link", ARTICLES, "--date", "", "-o", "o.jsonl")
    assert ran.code == 2
    assert "--date is empty: name the field of the date, or write a date as 2016-12-26" in ran.err


def test_one_article_needs_no_name(run):
    lines = ARTICLES.read_text("utf-8").splitlines()
    Path("one.jsonl").write_text(lines[4] + "\n")
    Path("two.jsonl").write_text("\n".join(lines[4:6]) + "\n")
    Path("own.txt").write_text("Michael Jordan, the basketball player, came.")
    Path("none.jsonl").write_text("")
    ran = run("explain", "one.jsonl", "--name", "Chris Carter")
    assert (ran.code, "→ Q437267 Chris Carter" in ran.said) == (0, True)
    ran = run("explain", "own.txt")
    assert (ran.code, "→ Q41421 Michael Jordan" in ran.said) == (0, True)
    for words, line in (
        (("two.jsonl",), "which article? Name it with --article; there are amazon-pilots, bulls-champions"),
        (("two.jsonl", "--article", "bulls-champion"), "(did you mean 'bulls-champions'?); there are amazon-pilots, "),
        (("none.jsonl",), "none.jsonl: no article"),
    ):
        ran = run("explain", *words)
        assert ran.code == 2
        assert line in ran.said


# --- what is drawn


def printed(draw, *arguments) -> str:
    console = Console(file=io.StringIO(), width=160)
    draw(*arguments, console)
    return console.file.getvalue()


def test_every_span_of_a_name_is_marked():
    text = "Ann Lee met Bo. Lee left, and Ann Lee came back."
    links = [
        {"spans": [[30, 37], [0, 7], [16, 19]], "qid": "Q1", "reason": None},
        {"spans": [[12, 14]], "qid": None, "reason": "none fits"},
    ]
    marked = linked_text(text, links)
    assert marked.plain == "Ann Lee [Q1] met Bo [none fits]. Lee [Q1] left, and Ann Lee [Q1] came back."
    styled = [marked.plain[span.start : span.end] for span in marked.spans if "bold" in str(span.style)]
    assert styled == ["Ann Lee", "Lee", "Ann Lee"]


def test_rows_without_a_description_say_occupation_and_country(tmp_path):
    people = json.loads(DUMP.read_text("utf-8"))
    labels = {one["id"]: one["labels"]["en"]["value"] for one in people}
    [jordan] = [one for one in people if one["id"] == "Q41421"]
    jordan["descriptions"] = {}
    values = [
        labels[claim["mainsnak"]["datavalue"]["value"]["id"]]
        for prop, claims in jordan["claims"].items()
        if prop in ("P106", "P27")
        for claim in claims
    ]
    (tmp_path / "dump.json").write_text("[\n" + ",\n".join(map(json.dumps, people)) + "\n]\n")
    build_kb([tmp_path / "dump.json"], tmp_path / "kb", keep="people")
    linker = Linker(tmp_path / "kb", "ns-paper")
    row = int(linker.kb.rows(np.array([41421]))[0])
    assert describe(linker.kb, row).description == ""
    assert sorted(about(linker.kb, row).split(", ")) == sorted(values)
    assert len(values) >= 2
    article = text_table("Michael Jordan came.", None, None)
    links = linker.link(article).to_pylist()
    shown = printed(lambda console: show_links(linker, article, links, console))
    assert about(linker.kb, row) in " ".join(shown.split())
    told = {row["description"] for row in linker.explain(article).to_pylist() if row["qid"] == "Q41421"}
    assert told == {about(linker.kb, row)}


def test_the_demo_names_every_wrong_link_and_only_those(linker, articles):
    gold = read_gold(EXPECTED)
    links = {(row["article_id"], row["name"]): row["qid"] for row in linker.link(articles).to_pylist()}
    truth = {row.mention: row.gold for row in gold}
    wrong = [mention for mention in truth if links[mention] != truth[mention]]
    told = " ".join(printed(lambda console: show_mistakes(linker, articles, truth, console)).split())
    assert f"{len(gold) - len(wrong)} of {len(gold)} links are right" in told
    for article, name in links:
        assert (f"{name} in {article}" in told) == ((article, name) in wrong)
    assert told.count("Why:") == len(wrong) > 0


def test_the_samples_expected_answers_evaluate(run):
    ran = run("evaluate", "--articles", ARTICLES, "--gold", EXPECTED, "--samples", 100, "--out", "report")
    assert ran.code == 0, ran.said
    answers = [json.loads(line)["qid"] for line in EXPECTED.read_text("utf-8").splitlines()]
    assert f"P@1 (n={sum(qid is not None for qid in answers)})" in ran.said
    assert Path("report", "report.html").is_file()


def test_footnotes_of_two_anchors_are_not_the_number_twelve():
    from namesake.apps.terminal.explanations import _statements

    def source(anchor: int) -> dict[str, str]:
        about = {"source": "anchor", "property": "P106", "property_label": "occupation", "value": "writer"}
        return about | {"anchor": f"Q{anchor}", "anchor_label": f"Anchor {anchor}"}

    lines = [line.plain for line in _statements([{"sources": [source(1), source(2)]}])]
    assert lines == ["like Anchor 1¹, Anchor 2²", "occupation: writer¹ ²"]


def test_a_damaged_sample_is_built_anew(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = cached_sample()
    manifest = folder / "manifest.json"
    writable(manifest).write_bytes(manifest.read_bytes().replace(b"people", b"poeple"))
    with pytest.raises(NamesakeError):
        KB.open(folder)
    assert cached_sample() == folder
    KB.open(folder).verify()
    shutil.rmtree(folder)
    folder.mkdir()
    assert KB.open(cached_sample()).manifest.people == 117


def test_help_and_version_are_what_people_type_first(run):
    assert run("version", kb=None) == run("--version", kb=None)
    assert run("help", kb=None) == run("--help", kb=None)
    assert run("help", "kb", "show", kb=None) == run("kb", "show", "--help", kb=None)


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("Micheal Jordan", "Michael Jordan"),
        ("Barack Obuma", "Barack Obama"),
        ("Pippen", "Scottie Pippen"),
    ],
)
def test_near_names_are_suggested(asked, meant, run, sample_kb):
    ran = run("kb", "show", sample_kb.path, asked, kb=None)
    assert ran.code == 2
    assert f"with the name {asked!r} (did you mean " in ran.err
    assert repr(meant) in ran.err
    assert "did you mean" not in run("kb", "show", sample_kb.path, "Nobody Atall", kb=None).err


# messages of the library name Python's arguments, and those of the command its options

OPTION = re.compile(r"(?<![\w-])--[a-z]")
COMMAND = re.compile(r"`(?:namesake|kb|\{\}) [^`]*`|^namesake .*")
DRAWN = ("drawing", "evaluation/reports/report.py")  # `--ink` is a colour of CSS


def told(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every text of a module but docstrings, with its line; what an f-string fills in is left out."""
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    inside: set[int] = set()
    for node in ast.walk(tree):
        if id(node) in docs | inside:
            continue
        if isinstance(node, ast.JoinedStr):
            inside |= {id(part) for part in node.values}
            yield node.lineno, "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value


def test_no_message_of_the_library_names_an_option():
    package = Path(namesake.__file__).parent
    for path in sorted(package.rglob("*.py")):
        where = path.relative_to(package).as_posix()
        if where.startswith(("apps/", *DRAWN)):
            continue
        for line, text in told(ast.parse(path.read_text("utf-8"))):
            assert not OPTION.search(COMMAND.sub("", text)), f"{where}:{line}: write `argument=` for --argument: {text}"


@pytest.mark.parametrize(
    ("message", "printed"),
    [
        ("name it with `text=`; it has a", "name it with --text; it has a"),
        ("`date='soon'`: not a date", "--date soon: not a date"),
        ('`keep="all"` or `force=True`', "--keep all or --force"),
        ("`target_precision=2` and `most_line=`", "--target-precision 2 and --max-line"),
        ("no `text`; `namesake kb build` and a=b", "no `text`; `namesake kb build` and a=b"),
    ],
)
def test_arguments_are_printed_as_options(message, printed):
    assert as_options(message) == printed


def test_the_library_and_the_command_say_the_same_in_their_own_words(run, tmp_path, sample_kb):
    (tmp_path / "a.csv").write_text("one,two\n1,2\n")
    linker = Linker(sample_kb)
    with pytest.raises(NamesakeError, match=r"which field is the text. Name it with `text=`"):
        namesake.link_files(linker, tmp_path / "a.csv", tmp_path / "o.jsonl")
    ran = run("link", tmp_path / "a.csv", "-o", tmp_path / "o.jsonl")
    assert ran.code == 2
    assert "which field is the text? Name it with --text" in ran.said
