"""Evaluation from files to tables: both layouts, NIL, probabilities, slices, and bad input refused by name."""

import json
import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from namesake.errors import NamesakeError
from namesake.evaluation.gold import MISSED, NIL, align, in_split, read_gold, read_scores, score_table
from namesake.evaluation.measure import evaluate_scores, from_recipe, methods
from namesake.evaluation.statistics import Bootstrap
from namesake.recipe import Decide, Part, Recipe
from small_gold import GOLD, LONG, figures, gold_file, long_table

FEW = Bootstrap(200)


@pytest.fixture
def files(tmp_path):
    pq.write_table(long_table(), tmp_path / "scores.parquet")
    return tmp_path / "scores.parquet", gold_file(tmp_path / "gold.jsonl")


@pytest.fixture
def data(files):
    return align(read_scores(files[0]), read_gold(files[1]))


def test_figures_by_hand(data):
    found = figures(evaluate_scores(data, methods(["NS", "IScore", "Random"], data), ["kind"], bootstrap=FEW))
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
    found = figures(evaluate_scores(data, methods(["links"], data), bootstrap=FEW))
    assert found["links", "all", "accuracy with NIL"] == (0.5, 4)  # Q20 and the NIL are right
    assert found["links", "all", "P@1"] == (pytest.approx(2 / 3), 3)  # Q10 would have come first, had it answered
    assert found["links", "all", "MRR"] == (pytest.approx((1 + 0.5 + 1) / 3), 3)


def test_links_without_candidates_need_gold_as_qids(tmp_path):
    answers = {("a1", "john smith"): "Q20", ("a1", "ann lee"): None}
    rows = [{**GOLD[0], "gold": "Q20"}, {**GOLD[1], "gold": None}]
    data = align(links_table(answers, False), read_gold(gold_file(tmp_path / "g.jsonl", rows)))
    found = figures(evaluate_scores(data, methods([], data), bootstrap=FEW))
    assert found["links", "all", "P@1"] == (1.0, 1)
    assert found["links", "all", "accuracy with NIL"] == (1.0, 2)
    assert not any(metric in {"MRR", "candidate recall"} for _, _, metric in found)
    with pytest.raises(NamesakeError, match=r"link with `scores=True`, or give gold as QIDs"):
        align(links_table(answers, False), read_gold(gold_file(tmp_path / "h.jsonl", GOLD[:1])))


def test_gold_outside_the_candidates_makes_nobody_the_right_answer(tmp_path, files):
    rows = [{**GOLD[0], "gold": "Q999"}, GOLD[1]]
    data = align(read_scores(files[0]), read_gold(gold_file(tmp_path / "g.jsonl", rows)))
    assert data.gold.tolist()[0] == MISSED
    cautious = Recipe("cautious", (Part("NS"),), tie_break=("LQID",), decide=Decide(nil=50.0))
    answers = [*methods(["NS"], data), from_recipe(cautious, data, "cautious")]
    found = figures(evaluate_scores(data, answers, bootstrap=FEW))
    assert found["ceiling", "all", "candidate recall"] == (0.5, 2)
    assert found["NS", "all", "accuracy with NIL"] == (0.5, 2)
    assert found["cautious", "all", "accuracy with NIL"] == (0.5, 2)
    assert found["cautious", "all", "P@1"] == (1.0, 1)


# probabilities and "nobody"


def test_a_recipe_that_decides_is_measured_by_its_probabilities(data):
    recipe = Recipe("p", (Part("IScore"),), tie_break=("LQID",), decide=Decide(nil=1.0, threshold=0.5))
    method = from_recipe(recipe, data, "p")
    by_mention = ((0, 3), (1, 1), (2, 0), (1, 0))
    expected = [math.exp(max(scores)) / (math.e + sum(map(math.exp, scores))) for scores in by_mention]
    np.testing.assert_allclose(method.confidence, expected)
    assert method.is_probability
    assert method.hit.tolist() == [1, 1, 1, 0]
    answered = [p >= 0.5 for p in expected]
    assert answered == [True, False, True, False]
    assert method.right_with_nil.tolist() == [1, 0, 1, 1]  # ann lee is refused, bo chan is nobody
    found = figures(evaluate_scores(data, [method], bootstrap=FEW))
    assert found["p", "all", "accuracy with NIL"] == (0.75, 4)
    bins = [(min(int(p * 10), 9), p, hit) for p, hit in zip(expected, method.hit, strict=True)]
    gaps = [abs(sum(hit - p for b, p, hit in bins if b == number)) for number in range(10)]
    assert found["p", "all", "ECE"] == (pytest.approx(sum(gaps) / 4), 4)


def test_links_with_confidence_are_measured_by_it(tmp_path):
    rows = [
        {"article_id": "a1", "name": "john smith", "qid": "Q20", "best": "Q20", "confidence": 0.9},
        {"article_id": "a1", "name": "ann lee", "qid": None, "best": "Q30", "confidence": 0.4},
        {"article_id": "a2", "name": "john smith", "qid": "Q20", "best": "Q20", "confidence": 0.6},
        {"article_id": "a2", "name": "bo chan", "qid": None, "best": None, "confidence": 0.0},
    ]
    gold = [{**row, "gold": qid} for row, qid in zip(GOLD, ("Q20", "Q30", "Q10", None), strict=True)]
    table = score_table(pa.Table.from_pylist(rows), "links")
    data = align(table, read_gold(gold_file(tmp_path / "g.jsonl", gold)))
    (method,) = methods(["links"], data)
    assert method.is_probability
    assert method.confidence[:3].tolist() == [0.9, 0.4, 0.6]
    assert np.isnan(method.confidence[3])
    found = figures(evaluate_scores(data, [method], bootstrap=FEW))
    assert found["links", "all", "P@1"] == (pytest.approx(2 / 3), 3)  # Q30 came first, though it was not answered
    assert found["links", "all", "accuracy with NIL"] == (0.5, 4)
    assert found["links", "all", "AUROC"] == (0.5, 3)
    with pytest.raises(NamesakeError, match=r"confidence must be a probability"):
        score_table(pa.Table.from_pylist([rows[0] | {"confidence": 9.0}]), "links")


def test_only_some_candidates(data):
    kept = np.array([False, True, True, True, False, False, True, False])
    some = data.only(kept)
    assert some.table.qids == ["Q20", "Q30", "Q40", "Q50"]
    assert some.offsets.tolist() == [0, 1, 3, 3, 4]
    assert some.gold.tolist() == [0, 1, MISSED, NIL]
    assert some.gold_qids == data.gold_qids
    assert some.columns["known"] == ["some known", "all known", None, "some known"]
    assert some.columns["rivals"] == [None, "rivals", None, None]
    assert some.table.scores["NS"].tolist() == data.table.scores["NS"][kept].tolist()


def test_difficulty_is_derived_from_sitelinks_where_gold_has_none(data):
    found = figures(evaluate_scores(data, methods(["IScore"], data), ["difficulty"], bootstrap=FEW))
    assert found["IScore", "easy", "P@1"][1] == 2
    assert found["IScore", "hard", "P@1"][1] == 1


def test_documents_as_units_and_the_seed(data):
    chosen = methods(["NS"], data)
    once, again = (evaluate_scores(data, chosen, unit="document", bootstrap=Bootstrap(300, 9)).rows for _ in range(2))
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
    (
        [{**GOLD[0], "articleID": "a9"}],
        r"bad.jsonl line 1: gold for 'john smith' in article a9, but that .* not .* give the scores of its",
    ),
    ([{**GOLD[0], "name": "jo"}], r"line 1: gold for 'jo' in article a1, but that article has no mention 'jo'"),
    ([{**GOLD[0], "gold": 2}], r"line 1: gold of 'john smith' in article a1 is candidate 2, but it has 2 candidates"),
    ([{**GOLD[0], "gold": -1}], r"is candidate -1"),
    ([GOLD[0], GOLD[0]], r"line 2: two golds for 'john smith' in article a1"),
    ([{**GOLD[0], "gold": "somebody"}], r"line 1: gold is 'somebody', not an index"),
    ([{"articleID": "a1", "name": "x"}], r"line 1: a gold row needs articleID \(or id\), name and gold \(or qid\)"),
    ([], "no gold rows"),
]


@pytest.mark.parametrize(("rows", "message"), BAD_GOLD)
def test_bad_gold_is_refused_by_name(files, tmp_path, rows, message):
    with pytest.raises(NamesakeError, match=message):
        align(read_scores(files[0]), read_gold(gold_file(tmp_path / "bad.jsonl", rows)))


def test_lines_are_counted_as_an_editor_does(tmp_path):
    (tmp_path / "gold.jsonl").write_text(f"\n\n{json.dumps(GOLD[0])}\n")
    assert [row.where for row in read_gold(tmp_path / "gold.jsonl")] == [f"{tmp_path / 'gold.jsonl'} line 3"]


def test_bad_scores_are_refused_by_name(tmp_path):
    broken = [list(row) for row in LONG]
    broken[3][5] = float("nan")
    with pytest.raises(NamesakeError, match=r"s: IScore of candidate 1 of 'ann lee' in article a1 is not a number"):
        score_table(long_table(broken), "s")
    with pytest.raises(NamesakeError, match=r"candidate 0 of 'john smith' in article a1 appears twice"):
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
        evaluate_scores(data, methods(["NS"], data), ["colour"], bootstrap=FEW)
    with pytest.raises(NamesakeError, match="the slice name = bo is empty"):
        evaluate_scores(
            replace(data, columns={"name": ["jo", "jo", "jo", "bo"]}),
            methods(["NS"], data),
            ["name"],
            bootstrap=FEW,
        )


def test_scores_of_a_hundred_mentions_survive_take(shared):
    table = read_scores(shared / "quotebank" / "reference_scores.parquet")
    wanted = list(range(0, 500, 5))
    taken = table.take(wanted)
    for at, i in enumerate(wanted):
        old, new = slice(*table.offsets[i : i + 2]), slice(*taken.offsets[at : at + 2])
        assert taken.qids[new] == table.qids[old]
        assert np.array_equal(taken.scores["CSE"][new], table.scores["CSE"][old])
