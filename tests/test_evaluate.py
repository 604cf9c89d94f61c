"""Evaluation from files to tables: both layouts, NIL, slices, the commands, and bad input refused by name."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from namesake.apps import cli_evaluate
from namesake.errors import NamesakeError
from namesake.evaluate.gold import MISSED, align, in_split, read_gold
from namesake.evaluate.methods import methods
from namesake.evaluate.scores import read_scores, score_table
from namesake.evaluate.tables import evaluate_scores
from namesake.recipe import Part, Recipe
from namesake.sample import ARTICLES, EXPECTED

LONG = [  # article, name, candidate, qid, NS, IScore
    ("a1", "john smith", 0, "Q10", 5.0, 0.0),
    ("a1", "john smith", 1, "Q20", 1.0, 3.0),
    ("a1", "ann lee", 0, "Q30", 2.0, 1.0),
    ("a1", "ann lee", 1, "Q40", 2.0, 1.0),
    ("a2", "john smith", 0, "Q10", 5.0, 2.0),
    ("a2", "john smith", 1, "Q20", 1.0, 0.0),
    ("a2", "bo chan", 0, "Q50", 1.0, 1.0),
    ("a2", "bo chan", 1, "Q60", 0.0, 0.0),
]
GOLD = [  # IScore: right, right by LQID, right, wrong (NIL); NS: wrong, right by LQID, right, wrong
    {"articleID": "a1", "name": "john smith", "gold": 1, "split": "test", "kind": "x"},
    {"articleID": "a1", "name": "ann lee", "gold": 0, "split": "test", "kind": "y"},
    {"articleID": "a2", "name": "john smith", "gold": "Q10", "split": "tune", "kind": "y"},
    {"articleID": "a2", "name": "bo chan", "gold": None, "split": "tune", "kind": None},
]


def long_table(rows=LONG):
    columns = list(zip(*rows, strict=True))
    names = ("articleID", "name", "candidate", "qid", "NS", "IScore")
    return pa.table(dict(zip(names, map(list, columns), strict=True)))


def gold_file(path, rows=GOLD):
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


@pytest.fixture
def files(tmp_path):
    pq.write_table(long_table(), tmp_path / "scores.parquet")
    return tmp_path / "scores.parquet", gold_file(tmp_path / "gold.jsonl")


@pytest.fixture
def data(files):
    return align(read_scores(files[0]), read_gold(files[1]))


def figures(evaluation):
    return {(row.method, row.slice, row.metric): (row.value, row.n) for row in evaluation.rows}


def test_figures_by_hand(data):
    found = figures(evaluate_scores(data, methods(["NS", "IScore", "Random"], data), ["kind"], samples=200))
    assert found["ceiling", "all", "candidate recall"] == (0.75, 4)
    assert found["IScore", "all", "P@1"] == (1.0, 3)
    assert found["IScore", "all", "P@1 of all"] == (0.75, 4)
    assert found["NS", "all", "P@1"] == (pytest.approx(2 / 3), 3)
    assert found["NS", "all", "MRR"] == (pytest.approx((0.5 + 1 + 1) / 3), 3)
    assert found["NS", "x", "P@1"] == (0.0, 1)
    assert found["NS", "y", "P@1"] == (1.0, 2)
    assert found["NS", "all", "accuracy with NIL"] == (0.5, 4)
    assert found["Random", "all", "P@1"] == (0.5, 3)
    assert found["Random", "all", "MRR"] == (0.75, 3)
    assert found["IScore", "all", "AUROC"] == (pytest.approx(2.0 / 3 + 0.5 / 3), 4)  # 3, 1, 2 right; 1 wrong


def test_the_layouts_say_the_same(data, tmp_path):
    rows = {}
    for article, name, _, qid, sitelinks, words in LONG:
        row = rows.setdefault((article, name), {"article_id": article, "name": name, "qid": "Q10", "candidates": []})
        row["candidates"].append({"qid": qid, "score": words, "parts": {"NS": sitelinks, "IScore": words, "CSE": None}})
    path = tmp_path / "links.jsonl"
    path.write_text("\n".join(map(json.dumps, rows.values())))
    nested = align(read_scores(path), read_gold(tmp_path / "gold.jsonl"))
    assert nested.gold.tolist() == data.gold.tolist()
    assert "CSE" not in nested.table.scores
    for column in ("NS", "IScore", "LQID"):
        assert nested.table.scores[column].tolist() == data.table.scores[column].tolist()
    shuffled = score_table(long_table([LONG[i] for i in (3, 6, 0, 5, 1, 7, 4, 2)]), "shuffled")
    again = align(shuffled, read_gold(tmp_path / "gold.jsonl"))
    assert again.table.qids == data.table.qids
    assert again.gold.tolist() == data.gold.tolist()


def links_table(answers, with_candidates):
    rows = []
    for (article, name), qid in answers.items():
        candidates = [
            {"qid": row[3], "score": row[5], "parts": {"NS": row[4]}} for row in LONG if row[:2] == (article, name)
        ]
        extra = {"candidates": candidates} if with_candidates else {}
        rows.append({"article_id": article, "name": name, "qid": qid, **extra})
    return score_table(pa.Table.from_pylist(rows), "links")


def test_links_are_measured_by_their_answers(tmp_path):
    answers = {
        ("a1", "john smith"): "Q20",
        ("a1", "ann lee"): "Q40",
        ("a2", "john smith"): None,
        ("a2", "bo chan"): None,
    }
    gold = read_gold(gold_file(tmp_path / "gold.jsonl"))
    data = align(links_table(answers, True), gold)
    found = figures(evaluate_scores(data, methods(["links"], data), samples=200))
    assert found["links", "all", "accuracy with NIL"] == (0.5, 4)  # Q20 and the NIL are right
    assert found["links", "all", "P@1"] == (pytest.approx(2 / 3), 3)  # Q10 would have come first, had it answered
    assert found["links", "all", "MRR"] == (pytest.approx((1 + 0.5 + 1) / 3), 3)


def test_links_without_candidates_need_gold_as_qids(tmp_path):
    answers = {("a1", "john smith"): "Q20", ("a1", "ann lee"): None}
    rows = [{**GOLD[0], "gold": "Q20"}, {**GOLD[1], "gold": None}]
    data = align(links_table(answers, False), read_gold(gold_file(tmp_path / "g.jsonl", rows)))
    found = figures(evaluate_scores(data, methods([], data), samples=200))
    assert found["links", "all", "P@1"] == (1.0, 1)
    assert found["links", "all", "accuracy with NIL"] == (1.0, 2)
    assert not any(metric in {"MRR", "candidate recall"} for _, _, metric in found)
    with pytest.raises(NamesakeError, match=r"link with --scores, or give gold as QIDs"):
        align(links_table(answers, False), read_gold(gold_file(tmp_path / "h.jsonl", GOLD[:1])))


def test_gold_outside_the_candidates_is_missed_not_nil(tmp_path, files):
    rows = [{**GOLD[0], "gold": "Q999"}, GOLD[1]]
    data = align(read_scores(files[0]), read_gold(gold_file(tmp_path / "g.jsonl", rows)))
    assert data.gold.tolist()[0] == MISSED
    found = figures(evaluate_scores(data, methods(["NS"], data), samples=200))
    assert found["ceiling", "all", "candidate recall"] == (0.5, 2)
    assert ("NS", "all", "accuracy with NIL") not in found


def test_difficulty_is_derived_from_sitelinks_where_gold_has_none(data):
    found = figures(evaluate_scores(data, methods(["IScore"], data), ["difficulty"], samples=200))
    assert found["IScore", "easy", "P@1"][1] == 2
    assert found["IScore", "hard", "P@1"][1] == 1


def test_documents_as_units_and_the_seed(data):
    chosen = methods(["NS"], data)
    once, again = (evaluate_scores(data, chosen, unit="document", samples=300, seed=9).rows for _ in range(2))
    assert once == again


def test_methods_by_recipe_file_score_column_and_paper_name(data, tmp_path):
    Recipe("mine", (Part("NS", 0.0), Part("IScore"), Part("CSE"))).save(tmp_path / "mine.toml")
    found = methods([str(tmp_path / "mine.toml"), "IScore", "iscore-paper"], data)
    assert [method.name for method in found] == ["mine", "IScore", "iscore-paper"]
    assert found[0].absent == ("CSE", "PR_WP")
    assert found[0].hit.tolist() == found[1].hit.tolist() == found[2].hit.tolist()
    with pytest.raises(NamesakeError, match=r"no method named 'Foo': it is no recipe .* the scores have NS, IScore"):
        methods(["Foo"], data)
    with pytest.raises(NamesakeError, match="CSE needs CSE, but the scores have"):
        methods(["CSE"], data)


BAD_GOLD = [
    ([{**GOLD[0], "articleID": "a9"}], r"gold for 'john smith' in article a9, but the scores have no article a9"),
    ([{**GOLD[0], "name": "jo"}], r"gold for 'jo' in article a1, but the scores have no mention 'jo' in article a1"),
    ([{**GOLD[0], "gold": 2}], r"gold of 'john smith' in article a1 is candidate 2, but it has 2 candidates"),
    ([{**GOLD[0], "gold": -1}], r"is candidate -1"),
    ([GOLD[0], GOLD[0]], r"row 2: two golds for 'john smith' in article a1"),
    ([{**GOLD[0], "gold": "somebody"}], r"row 1: gold is 'somebody', not an index"),
    ([{"articleID": "a1", "name": "x"}], r"row 1: a gold row needs articleID, name and gold"),
    ([], "no gold rows"),
]


@pytest.mark.parametrize(("rows", "message"), BAD_GOLD)
def test_bad_gold_is_refused_by_name(files, tmp_path, rows, message):
    with pytest.raises(NamesakeError, match=message):
        align(read_scores(files[0]), read_gold(gold_file(tmp_path / "bad.jsonl", rows)))


def test_bad_scores_are_refused_by_name(tmp_path):
    broken = [list(row) for row in LONG]
    broken[3][5] = float("nan")
    with pytest.raises(NamesakeError, match=r"s: IScore of candidate 1 of 'ann lee' in article a1 is not a number"):
        score_table(long_table(broken), "s")
    with pytest.raises(NamesakeError, match=r"candidate 0 of 'john smith' in article a1 stands twice"):
        score_table(long_table([*LONG, LONG[0]]), "s")
    with pytest.raises(NamesakeError, match="no column `qid`"):
        score_table(long_table().drop_columns(["qid"]), "s")
    with pytest.raises(NamesakeError, match="no rows"):
        score_table(long_table()[:0], "s")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1")
    with pytest.raises(NamesakeError, match="cannot be read"):
        read_scores(tmp_path / "cut.parquet")
    with pytest.raises(NamesakeError, match="no such file"):
        read_scores(tmp_path / "nowhere.parquet")
    with pytest.raises(NamesakeError, match=r"come as .parquet"):
        read_scores(tmp_path / "scores.xml")
    (tmp_path / "bad.jsonl").write_text('{"a": 1}\n{')
    with pytest.raises(NamesakeError, match=r"bad.jsonl line 2: not a JSON object"):
        read_scores(tmp_path / "bad.jsonl")


def test_empty_slices_are_refused_by_name(data, files):
    with pytest.raises(NamesakeError, match=r"no gold in split 'dev': the slice is empty; splits are test, tune"):
        in_split(read_gold(files[1]), "dev")
    with pytest.raises(NamesakeError, match="no column 'colour' in the gold to slice by; it has split, kind"):
        evaluate_scores(data, methods(["NS"], data), ["colour"], samples=200)
    with pytest.raises(NamesakeError, match="the slice name = bo is empty"):
        evaluate_scores(
            replace(data, columns={"name": ["jo", "jo", "jo", "bo"]}), methods(["NS"], data), ["name"], samples=200
        )


@pytest.fixture
def run():
    app = typer.Typer(pretty_exceptions_enable=False)
    cli_evaluate.register(app)
    runner = CliRunner()

    def call(*arguments):
        return runner.invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "120"})

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
    names = {path.name for path in (tmp_path / "r").iterdir()}
    assert {"report.md", "report.html", "main.csv", "main.tex", "comparisons.csv", "risk_coverage.csv"} <= names
    assert "default: the scores have no" in (tmp_path / "r" / "report.md").read_text()


def test_evaluate_refuses_what_it_cannot_measure(run, files, tmp_path):
    scores, gold = files
    for arguments, message in (
        ([], "needs one of --links"),
        (["--scores", scores, "--links", scores], "needs one of --links"),
        (["--scores", scores, "--kb", tmp_path], "--kb links --articles"),
        (["--scores", scores, "--unit", "word"], "by mention or by document"),
        (["--scores", scores, "--methods", "links"], "no links in this file"),
    ):
        result = run("evaluate", "--gold", gold, "--out", tmp_path / "r", *arguments)
        assert isinstance(result.exception, NamesakeError)
        assert message in str(result.exception)


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


def test_a_report_that_cannot_be_written_is_said_so(run, files, tmp_path):
    scores, gold = files
    (tmp_path / "file").write_text("")
    result = run("evaluate", "--scores", scores, "--gold", gold, "--out", tmp_path / "file", "--samples", 200)
    assert "the report cannot be written there" in str(result.exception)


def test_scores_of_a_hundred_mentions_survive_take(shared):
    table = read_scores(shared / "quotebank" / "reference_scores.parquet")
    wanted = list(range(0, 500, 5))
    taken = table.take(wanted)
    for at, i in enumerate(wanted):
        old, new = slice(*table.offsets[i : i + 2]), slice(*taken.offsets[at : at + 2])
        assert taken.qids[new] == table.qids[old]
        assert np.array_equal(taken.scores["CSE"][new], table.scores["CSE"][old])
