"""A scorer from outside the package: declared, named in a recipe, linked, explained, evaluated and tuned with."""

import json
import math
import runpy
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from namesake import Linker, Recipe, scorer
from namesake.articles.builder import text_table
from namesake.errors import NamesakeError
from namesake.sample import ARTICLES, EXPECTED
from namesake.scorers import SCORERS, Candidate, Match, Need, Source

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "own_scorer.py"
MINE = 'name = "mine"\ntie_break = ["LQID"]\n[[parts]]\nscorer = "{}"\n'


@pytest.fixture(autouse=True)
def registry() -> Iterator[None]:
    """A test begins and ends with the scorers of the package alone."""

    def forget() -> None:
        for name in [name for name, each in SCORERS.items() if not each.module.startswith("namesake.")]:
            del SCORERS[name]

    forget()
    yield
    forget()


def label_length(batch) -> np.ndarray:
    return np.array([len(batch.kb.label(int(row))) if row >= 0 else 0 for row in batch.rows])


def test_it_links_and_explains(sample_kb, articles):
    @scorer("LabelLength")
    def own(batch, *rest):
        """Letters of the label."""
        assert rest == (batch.kb,)
        return label_length(batch)

    assert own.formula == "Letters of the label."
    linker = Linker(sample_kb, Recipe.parse(MINE.format("LabelLength")))
    lengths = 0
    for link in linker.link(articles, scores=True).to_pylist():
        for candidate in link["candidates"]:
            [row] = sample_kb.rows(np.array([int(candidate["qid"][1:])]))
            assert candidate["score"] == candidate["parts"]["LabelLength"] == len(sample_kb.label(int(row)))
            lengths += 1
    rows = [row for row in linker.explain(articles).to_pylist() if row["role"] == "part"]
    assert len(rows) == lengths > 100
    assert {row["part"] for row in rows} == {"LabelLength"}
    assert all(row["matches"] == [] and row["value"] == row["contribution"] for row in rows)


@pytest.mark.parametrize("takes", ["batch", "batch and KB", "batch and an option"])
def test_a_function_of_the_batch_or_of_batch_and_kb(sample_kb, takes):
    functions = {
        "batch": lambda batch: label_length(batch),
        "batch and KB": lambda batch, kb: label_length(batch) if kb is batch.kb else None,
        "batch and an option": lambda batch, factor=1: label_length(batch) * factor,
    }
    scorer("Own")(functions[takes])
    [link] = Linker(sample_kb, Recipe.parse(MINE.format("Own"))).link_text("Chris Carter.")
    assert link.score == len("Chris Carter")


def test_its_matches_are_shown(sample_kb):
    import io

    from rich.console import Console

    from namesake.apps.terminal.explanations import show_explanation

    def why(candidate: Candidate) -> Iterator[Match]:
        start = candidate.reading.text.find("back")
        yield Match("back", [(start, start + 4)], [Source("label", value=candidate.kb.label(candidate.row))])
        yield Match("unplaced")
        yield Match(sources=[Source("luck")])

    scorer("Own", explain=why)(label_length)
    linker = Linker(sample_kb, Recipe.parse(MINE.format("Own")))
    table = text_table("Chris Carter is back.", None, None)
    rows = linker.explain(table).to_pylist()
    for row in rows:
        if row["role"] == "part":
            back, unplaced, luck = row["matches"]
            assert (back["word"], back["spans"]) == ("back", [[16, 20]])
            assert [source["value"] for source in back["sources"]] == ["Chris Carter"]
            assert (unplaced["spans"], unplaced["sources"]) == ([], [])
            assert (luck["word"], luck["sources"][0]["source"]) == (None, "luck")
    console = Console(width=80, record=True, file=io.StringIO())
    show_explanation(table, linker.explain(table), console)
    drawn = " ".join(console.export_text().split())
    assert "back ← label: Chris Carter" in drawn
    assert "unplaced" in drawn
    assert "luck" in drawn


def test_a_need_that_a_kb_does_not_meet_makes_it_absent(sample_kb, articles):
    from namesake.scoring import lacking

    scorer("Own", needs=Need("a moon of green cheese", lambda kb: False))(label_length)
    recipe = Recipe.parse(MINE.format("Own") + '[[parts]]\nscorer = "NS"\nunless = "Own"\n')
    assert {name: need.what for name, need in lacking(recipe, sample_kb).items()} == {"Own": "a moon of green cheese"}
    links = Linker(sample_kb, recipe).link(articles, scores=True).to_pylist()
    assert {part for link in links for c in link["candidates"] for part in c["parts"]} == {"NS", "LQID"}


def test_one_that_looks_at_anchors_runs_again_in_a_second_pass(sample_kb, articles):
    passes = []

    def own(batch):
        passes.append(int((batch.anchors >= 0).sum()))
        return np.zeros(len(batch.rows))

    decide = '[[parts]]\nscorer = "IScore"\n[decide]\nnil = 1.0\nconfirm = 0.6\n'
    for anchors in (False, True):
        scorer("Own", anchors=anchors)(own)
        Linker(sample_kb, Recipe.parse(MINE.format("Own") + decide)).link(articles)
    once, first, second = passes
    assert once == first < second


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda batch: np.zeros(3), "the scorer Own gave 3 numbers for 4 candidates: one for each is needed"),
        (lambda batch: 1.0, "the scorer Own gave one number for 4 candidates"),
        (lambda batch: [math.nan] * 4, "the scorer Own gave a score that is no finite number"),
        (lambda batch: [math.inf] * 4, "the scorer Own gave a score that is no finite number"),
        (lambda batch: ["a"] * 4, "the scorer Own gave no array of numbers"),
    ],
)
def test_what_is_no_score_is_refused_by_its_name(sample_kb, function, message):
    scorer("Own")(function)
    table = text_table("Steve Smith bats.", ["Steve Smith"], None)
    rows = table.to_pylist()
    rows[0]["mentions"][0]["candidates"] = ["Q1", "Q2", "Q3", "Q4"]
    with pytest.raises(NamesakeError, match=message):
        Linker(sample_kb, Recipe.parse(MINE.format("Own"))).link(pa.Table.from_pylist(rows, table.schema))


def test_its_name_and_shape_are_checked_when_it_is_declared():
    for name in ("IScore", "CSE", "score", "", 3):
        with pytest.raises(NamesakeError, match="choose another name"):
            scorer(name)(label_length)
    for function in (lambda: None, lambda a, b, c: None):
        with pytest.raises(NamesakeError, match="must be a function of the batch"):
            scorer("Own")(function)
    first, second = (scorer("Own")(function) for function in (label_length, lambda batch: label_length(batch)))
    assert SCORERS["Own"] is second is not first  # a notebook's cell is run again
    with pytest.raises(NamesakeError, match=r"unknown scorer 'Onw' \(did you mean 'Own'\?\)"):
        Recipe.parse(MINE.format("Onw"))


def test_it_is_evaluated_and_tuned(run, tmp_path):
    """With the label's length, which tells nothing, and the words that article and entity share, which do."""
    scorer("LabelLength")(label_length)
    mine = tmp_path / "mine.toml"
    mine.write_text(MINE.format("LabelLength") + '[[parts]]\nscorer = "IScore"\n')
    gold = tmp_path / "gold.jsonl"
    truth = [json.loads(line) for line in EXPECTED.read_text().splitlines()]
    rows = [{"articleID": t["id"], "name": t["name"], "gold": t["qid"]} for t in truth]
    gold.write_text("\n".join(map(json.dumps, rows)))
    scores, tuned = tmp_path / "links.parquet", tmp_path / "tuned.toml"

    assert run("link", ARTICLES, "--recipe", mine, "--scores", "-o", scores).code == 0
    by_hand = ["--methods", f"LabelLength,{mine},links"]
    measured = ("evaluate", "--scores", scores, "--gold", gold, "--samples", 200)
    assert run(*measured, "--out", "report", *by_hand, kb=None).code == 0
    rows = json.loads((tmp_path / "report" / "tables.json").read_text())
    figures = {row["method"]: row["value"] for row in rows if (row["metric"], row["slice"]) == ("P@1", "all")}
    assert figures["mine"] == figures["links"] > figures["LabelLength"]

    ran = run("tune", "--scores", scores, "--gold", gold, "--recipe", mine, "-o", tuned, kb=None)
    assert (ran.code, "LabelLength" in ran.out) == (0, True)
    weights = {part.scorer: part.weight for part in Recipe.load(tuned).parts}
    assert weights["IScore"] > weights["LabelLength"]

    SCORERS.pop("LabelLength")  # as for somebody else, who has the file and not the program
    assert run(*measured, "--out", "again", kb=None).code == 0
    with pytest.raises(NamesakeError, match=r"unknown scorer 'LabelLength'.*declare your own scorer"):
        Recipe.load(mine)


def test_the_example_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "80")
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    out = capsys.readouterr().out
    assert "Steve Smith Q5368718" in out  # born in 1961
    assert "InPrime 1 → 3 born: 1961" in " ".join(out.split())
