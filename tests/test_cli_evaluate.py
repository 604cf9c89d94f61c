"""The commands that evaluate, tune, ablate and show errors, on small files, the sample and Quotebank."""

import csv
import json
import re

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from namesake.analysis.evaluate import Corpus
from namesake.apps.cli.commands import app
from namesake.errors import NamesakeError
from namesake.evaluation.gold import read_gold, read_table, resolved
from namesake.recipe import Recipe
from namesake.sample import ARTICLES, EXPECTED
from small_gold import GOLD, gold_file, long_table


@pytest.fixture
def files(tmp_path):
    pq.write_table(long_table(), tmp_path / "scores.parquet")
    return tmp_path / "scores.parquet", gold_file(tmp_path / "gold.jsonl")


@pytest.fixture
def run():
    runner = CliRunner()

    def call(*arguments, columns=120):
        return runner.invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": str(columns)})

    return call


def test_evaluate_writes_its_report(run, files, tmp_path):
    scores, gold = files
    result = run(
        "evaluate", "--scores", scores, "--gold", gold, "--by", "kind", "--out", tmp_path / "r", "--samples", 200
    )
    assert result.exit_code == 0, result.output
    assert "IScore" in result.output
    rows = json.loads((tmp_path / "r" / "tables.json").read_text())
    assert set(rows[0]) == {"method", "slice", "metric", "value", "low", "high", "n"}
    assert {row["method"] for row in rows} >= {"Random", "NS", "IScore", "LQID", "default", "ceiling"}
    assert all(row["low"] <= row["high"] for row in rows)
    page = (tmp_path / "r" / "report.html").read_text()
    assert "Risk and coverage" in page
    assert "Calibration" in page  # default has probabilities
    names = {path.name for path in (tmp_path / "r").iterdir()}
    assert {"report.md", "report.html", "main.csv", "main.tex", "comparisons.csv", "risk_coverage.csv"} <= names
    assert "default: the scores have no" in (tmp_path / "r" / "report.md").read_text()


def test_evaluate_refuses_what_it_cannot_measure(run, files, tmp_path):
    scores, gold = files
    for arguments, message in (
        ([], "needs one of --links"),
        (["--scores", scores, "--links", scores], "needs one of --links"),
        (["--scores", scores, "--kb", tmp_path], "give --articles and --kb"),
        (["--scores", scores, "--methods", "links"], "no links in this file"),
    ):
        result = run("evaluate", "--gold", gold, "--out", tmp_path / "r", *arguments)
        assert isinstance(result.exception, NamesakeError)
        assert message in str(result.exception)


def test_the_printed_table_keeps_each_method_on_one_line_of_80_characters(shared, run, tmp_path):
    folder = shared / "quotebank"
    result = run(
        *("evaluate", "--scores", folder / "reference_scores.parquet", "--gold", folder / "gold.jsonl"),
        *("--out", tmp_path / "r", "--samples", 200),
        columns=80,
    )
    assert result.exit_code == 0, result.exception
    lines = [line.split() for line in result.output.splitlines() if re.search(r" 0\.\d{3} ± 0\.\d{3}", line)]
    table = {line[0]: line for line in lines}
    assert {"Random", "Eigen_IScore", "UCSE", "default"} <= set(table)
    assert [len(table[name]) for name in ("Random", "UCSE", "default")] == [8, 9, 10]
    assert "UCSE: as the paper's text has it" in result.output


def test_tune_writes_a_recipe_that_loads(run, shared, tmp_path):
    folder = shared / "quotebank"
    result = run(
        *("tune", "--scores", folder / "reference_scores.parquet", "--gold", folder / "gold.jsonl"),
        *("--split", "tune", "--recipe", "uiscore-paper", "--how", "grid", "--out", tmp_path / "mine.toml"),
    )
    assert result.exit_code == 0, result.output
    recipe = Recipe.load(tmp_path / "mine.toml")
    assert [part.scorer for part in recipe.parts] == ["IScore", "NIScore", "EEIScore"]
    assert all(0 <= part.weight <= 1 for part in recipe.parts)
    assert recipe.anchors == "first"
    assert "10 folds by document over all gold" in result.output


def test_tune_fits_several_files_as_one(run, shared, tmp_path):
    folder = shared / "quotebank"
    scores = read_table(folder / "reference_scores.parquet")
    pq.write_table(scores.drop_columns(["PRWP"]), tmp_path / "unranked.parquet")
    common = ("--split", "tune", "--recipe", "default", "--out", tmp_path / "mine.toml")
    two = ("--scores", folder / "reference_scores.parquet", "--scores", tmp_path / "unranked.parquet")
    result = run("tune", *two, "--gold", folder / "gold.jsonl", *common)
    assert result.exit_code == 0, result.exception
    before, after = Recipe.load("default"), Recipe.load(tmp_path / "mine.toml")
    assert after.name == "mine"
    weight = {part.scorer: part.weight for part in after.parts}
    came = {part.scorer: part.weight for part in before.parts}
    assert all(
        weight[name] == came[name]
        for name in ("ArticleWords", "SentenceWords", "SharedStatements", "Fame", "NotYetBorn")
    )
    assert all(weight[name] != came[name] > 0 for name in ("IScore", "EEIScore", "PR_WP", "NS"))
    assert after.decide.alone == before.decide.alone  # these files have no lone candidates
    assert after.decide.nil != before.decide.nil
    for title in ("reference_scores.parquet: gold outside", "unranked.parquet: gold outside"):
        assert title in result.output
    result = run("tune", *two, *["--gold", folder / "gold.jsonl"] * 3, *common)
    assert "2 files of --scores and 3 of --gold" in str(result.exception)


def test_tune_can_hold_the_weights(run, shared, tmp_path):
    folder = shared / "quotebank"
    source = ("--scores", folder / "reference_scores.parquet", "--gold", folder / "gold.jsonl", "--split", "tune")
    result = run("tune", *source, "--hold", "--out", tmp_path / "mine.toml")
    assert result.exit_code == 0, result.exception
    before, after = Recipe.load("default"), Recipe.load(tmp_path / "mine.toml")
    assert after.parts == before.parts
    assert after.decide.nil != before.decide.nil
    result = run("tune", *source, "--recipe", "uiscore-paper", "--hold", "--out", tmp_path / "mine.toml")
    assert "with --hold there is nothing to fit" in str(result.exception)


@pytest.fixture
def sample(sample_kb, tmp_path):
    """The embedded sample as a KB, articles and gold."""
    rows = [json.loads(line) for line in EXPECTED.read_text().splitlines()]
    gold = [{"articleID": row["id"], "name": row["name"], "gold": row["qid"]} for row in rows]
    return ("--kb", sample_kb.path, "--articles", ARTICLES, "--gold", gold_file(tmp_path / "sample.jsonl", gold))


def test_evaluate_links_articles_with_each_methods_recipe(run, sample, tmp_path):
    result = run("evaluate", *sample, "--methods", "Random,NS,UIScore", "--out", tmp_path / "r", "--samples", 200)
    assert result.exit_code == 0, result.exception
    rows = json.loads((tmp_path / "r" / "tables.json").read_text())
    p_at_1 = {row["method"]: row["value"] for row in rows if (row["slice"], row["metric"]) == ("all", "P@1")}
    assert list(p_at_1) == ["Random", "NS", "UIScore"]
    assert p_at_1["UIScore"] > p_at_1["NS"]


def test_ablate_measures_every_combination_the_kb_has(run, sample, tmp_path):
    result = run("ablate", *sample, "--out", tmp_path / "r")
    assert result.exit_code == 0, result.exception
    rows = json.loads((tmp_path / "r" / "tables.json").read_text())
    measured = {(row["table"], row["method"]) for row in rows}
    assert {("6", "D+S"), ("6", "S_A"), ("7", "narrow"), ("7", "ensemble")} <= measured
    entire = next(row for row in rows if row["method"] == "entire" and row["metric"] == "P@1")
    both = next(row for row in rows if row["method"] == "D+S" and row["metric"] == "P@1")
    assert entire["value"] == both["value"]


def test_errors_shows_the_wrong_links_and_only_those(run, sample, tmp_path):
    assert run("evaluate", *sample, "--methods", "NS", "--out", tmp_path / "e", "--samples", 200).exit_code == 0
    rows = json.loads((tmp_path / "e" / "tables.json").read_text())
    row = next(row for row in rows if (row["method"], row["metric"], row["slice"]) == ("NS", "P@1", "all"))
    result = run("errors", *sample, "--recipe", "ns-paper", "--out", tmp_path / "r")
    assert result.exit_code == 0, result.exception
    mistakes = json.loads((tmp_path / "r" / "tables.json").read_text())
    assert len(mistakes) == round((1 - row["value"]) * row["n"]) > 0
    assert all(mistake["gold"]["qid"] != mistake["chosen"]["qid"] for mistake in mistakes)
    assert all(mistake["gold"]["score"] <= mistake["chosen"]["score"] for mistake in mistakes)


def test_errors_tells_links_from_refusals_and_prints_what_adds_up(run, sample, sample_kb, tmp_path):
    recipe = Recipe.load("default")
    assert run("errors", *sample, "--out", tmp_path / "r").exit_code == 0
    mistakes = json.loads((tmp_path / "r" / "tables.json").read_text())
    texts = {row["id"]: row["text"] for row in map(json.loads, ARTICLES.read_text().splitlines())}
    found = Corpus(ARTICLES, sample_kb).links(recipe).to_pylist()
    links = {(row["article_id"], row["name"]): row for row in found}
    words = 0
    for mistake in mistakes:
        link = links[mistake["article"], mistake["name"]]
        assert mistake["refused"] == (link["reason"] if link["qid"] is None else None)
        for side in (mistake["gold"], mistake["chosen"]):
            assert sum(side["parts"].values()) == pytest.approx(side["score"])
            assert all(word in texts[mistake["article"]] for word in side["words"])
            words += len(side["words"])
    assert words > 0
    assert any(mistake["refused"] for mistake in mistakes)
    with (tmp_path / "r" / "errors.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            for side in (row["gold"], row["chosen"]):
                total, *parts = (float(n.replace("−", "-")) for n in re.findall(r"[+−]?\d+\.\d\d(?!\d)", side))
                assert sum(parts) == pytest.approx(total, abs=1e-9), side


@pytest.mark.parametrize("command", [["evaluate", "--methods", "NS,NP", "--samples", 200], ["ablate"], ["errors"]])
def test_articles_that_are_set_aside_are_told(run, sample, command, tmp_path):
    spoilt = tmp_path / "spoilt.jsonl"
    spoilt.write_text(ARTICLES.read_text().rstrip("\n") + "\nnot json\n")
    given = [spoilt if argument == ARTICLES else argument for argument in sample]
    assert spoilt in given
    result = run(*command, *given, "--out", tmp_path / "r")
    assert result.exit_code == 0, result.exception
    assert "1 record rejected:" in result.stderr
    assert f"{spoilt}:{len(spoilt.read_text().splitlines())}: not an article" in result.stderr


def test_a_report_that_cannot_be_written_is_said_so(run, files, tmp_path):
    scores, gold = files
    (tmp_path / "file").write_text("")
    result = run("evaluate", "--scores", scores, "--gold", gold, "--out", tmp_path / "file", "--samples", 200)
    assert "the report cannot be written there" in str(result.exception)


def test_linked_and_measured_from_scores_agree(run, sample, sample_kb, tmp_path):
    out, links = tmp_path / "r", tmp_path / "links.parquet"
    assert run("evaluate", *sample, "--methods", "default", "--out", out, "--samples", 200).exit_code == 0
    pq.write_table(Corpus(ARTICLES, sample_kb).links(Recipe.load("default")), links)
    gold = sample[-1]
    for source in (["--links", links, "--methods", "links"], ["--scores", links, "--methods", "default"]):
        assert run("evaluate", *source, "--gold", gold, "--out", tmp_path / "s", "--samples", 200).exit_code == 0
        once, again = (
            {
                (row["slice"], row["metric"]): row["value"]
                for row in json.loads((folder / "tables.json").read_text())
                if row["method"] != "ceiling"
            }
            for folder in (out, tmp_path / "s")
        )
        assert {"P@1", "ECE"} <= {metric for _, metric in once}
        assert once == pytest.approx(again)


def test_unresolved_truth_is_left_out_and_counted(run, files, tmp_path):
    rows = [*GOLD[:3], {**GOLD[3], "truth": "unresolved"}]
    gold = gold_file(tmp_path / "g.jsonl", rows)
    result = run("evaluate", "--scores", files[0], "--gold", gold, "--out", tmp_path / "r", "--samples", 200)
    assert result.exit_code == 0, result.exception
    assert "Left out: 1 mentions whose truth is unresolved" in result.output
    found = json.loads((tmp_path / "r" / "tables.json").read_text())
    assert {row["n"] for row in found if row["metric"] == "candidate recall"} == {3}
    with pytest.raises(NamesakeError, match="the truth of all gold rows is unresolved"):
        resolved(read_gold(gold_file(tmp_path / "h.jsonl", rows[3:])))
