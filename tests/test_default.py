"""The default recipe: its figures on Quotebank's test split, where its weights come from, and what they do."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from namesake.analysis.evaluate import Corpus, only_known
from namesake.apps.cli.commands import app
from namesake.evaluation.gold import align, read_gold, score_table
from namesake.evaluation.measure import from_recipe
from namesake.kb.build import build
from namesake.kb.store import KB
from namesake.recipe import Recipe

DEFAULT = Recipe.load("default")
LONE = Path(__file__).parents[1] / "docs" / "accuracy" / "lone.gold.jsonl"


@pytest.fixture(scope="module")
def report(shared, tmp_path_factory):
    """`namesake eval run` of the authors' scores on the test split."""
    folder, out = shared / "quotebank", tmp_path_factory.mktemp("report")
    options = ["--scores", folder / "reference_scores.parquet", "--gold", folder / "gold.jsonl", "--split", "test"]
    options += ["--methods", "default", "--out", out]
    result = CliRunner().invoke(app, ["evaluate", *map(str, options)])
    assert result.exit_code == 0, result.exception
    return out


@pytest.mark.parametrize(
    ("metric", "low", "high", "n"),
    [("P@1", 0.947, 1, 245), ("accuracy with NIL", 0.80, 1, 437), ("AUROC", 0.88, 1, 437), ("ECE", 0, 0.08, 437)],
)
def test_figures_on_the_test_split(report, metric, low, high, n):
    rows = json.loads((report / "tables.json").read_text())
    (row,) = [r for r in rows if (r["method"], r["slice"], r["metric"]) == ("default", "all", metric)]
    assert low <= row["value"] <= high
    assert row["low"] <= row["value"] <= row["high"]
    assert row["n"] == n


def test_the_readme_claims_what_is_measured(report):
    """The figures in the README's table are those of the report, digit for digit."""
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    rows = json.loads((report / "tables.json").read_text())
    value = {r["metric"]: r["value"] for r in rows if (r["method"], r["slice"]) == ("default", "all")}
    claimed = re.search(r"P@1 (0\.\d+) ±", readme)
    right = re.search(r"\| (0\.\d+) of all mentions", readme)
    assert claimed is not None
    assert right is not None
    assert claimed[1] == f"{value['P@1']:.3f}"
    assert right[1] == f"{value['accuracy with NIL']:.2f}"


def test_the_report_draws_risk_and_calibration(report):
    page = (report / "report.html").read_text()
    for title in ("Risk and coverage", "Calibration"):
        drawing = page[page.index(f'aria-label="{title}"') :]
        points = drawing[drawing.index("<polyline") : drawing.index("</svg>")].split('points="')[1].split('"')[0]
        assert len(points.split()) >= 8


@pytest.fixture(scope="module")
def slice_kb(shared, tmp_path_factory):
    """The Wikidata slice with Wikipedia's ranks of the ambiguous candidates."""
    folder = tmp_path_factory.mktemp("slice") / "kb"
    ranks = {"wikipedia": shared / "quotebank" / "wikipedia.rank.tsv"}
    build([shared / "wikidata" / "slice.json.gz"], folder, keep="people", ranks=ranks)
    return KB.open(folder)


def known(table, rows, kb):
    """Gold with its scores among the candidates a KB has; mentions that lost their last rival are left out."""
    data = align(table, rows)
    data = only_known(data, kb.path)
    lost = zip(data.columns["known"], data.columns["rivals"], strict=True)
    return data.take([i for i, mention in enumerate(lost) if mention != ("some known", None)])


@pytest.fixture(scope="module")
def linked(shared, slice_kb):
    """What the default makes of Quotebank's articles on the slice."""
    return score_table(Corpus(shared / "quotebank" / "articles.jsonl.gz", slice_kb).links(DEFAULT), "links")


@pytest.mark.slow
def test_lone_candidates_we_have_read(linked, slice_kb):
    data = known(linked, read_gold(LONE), slice_kb)
    assert (np.diff(data.offsets) == 1).all()
    answered = from_recipe(DEFAULT, data, "default").confidence >= DEFAULT.decide.threshold
    assert data.answerable[answered].mean() > 0.95


def test_stand_ins_are_for_score_files():
    assert {part.scorer for part in DEFAULT.parts if part.unless} == {"IScore", "NIScore", "EEIScore", "PR_WP", "NS"}


@pytest.mark.slow
def test_accuracy_on_the_slice(shared, linked, slice_kb):
    data = align(linked, read_gold(shared / "quotebank" / "gold.jsonl"))
    data = only_known(data, slice_kb.path)
    hit = from_recipe(DEFAULT, data, "default").hit
    rivals = data.answerable & np.equal(data.columns["rivals"], "rivals")
    every = data.answerable & np.equal(data.columns["known"], "all known")
    assert (rivals.sum(), every.sum()) == (172, 143)
    assert hit[rivals].mean() >= 0.913
    assert hit[every].mean() >= 0.923


def test_every_contribution_is_in_the_score():
    offsets = np.array([0, 2], np.int64)
    scores = {"ItemAge": np.array([1.0, 0.5]), "PR_WP": np.array([3.0, 9.0]), "IScore": np.array([5.0, 5.0])}
    scores["ArticleWords"] = np.zeros(2)
    given = scores | {"NotYetBorn": np.array([0.0, -1.0])}, offsets, {"ExpectedNamesakes": np.array([-2.0])}
    combined, contributions = DEFAULT.combine(*given), DEFAULT.contributions(*given)
    np.testing.assert_allclose(sum(contributions.values()), combined.total)
    assert contributions["IScore"].tolist() == [0, 0]  # it only stands in
    assert contributions["NotYetBorn"].tolist() == [0, -5]
    weight = {part.name: part.weight for part in DEFAULT.parts}
    assert combined.total[0] == pytest.approx(weight["ItemAge"] + weight["PR_WP"] * np.log1p(3.0))
    parts = [part for part in DEFAULT.decide.parts if part.doubt == "ExpectedNamesakes"]
    expected = (part.weight * (-2.0 if part.above is None else max(-2.0 - part.above, 0.0)) for part in parts)
    assert combined.nil.tolist() == pytest.approx([sum(expected)])
    assert DEFAULT.combine(scores, offsets).nil.tolist() == [DEFAULT.decide.nil]  # a score file has no doubts


def test_the_default_never_looks_at_scores_that_leak_or_need_a_network():
    assert not {"Eigen", "Eigen_IScore", "CSE", "NCSE", "CSSVE", "mGENRE"} & set(DEFAULT.scorers)
