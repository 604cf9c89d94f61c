"""Mistakes told apart by rule, and the ablation's recipes and rows."""

from types import SimpleNamespace

import numpy as np
import pytest

from namesake.analysis import evaluate as ablation
from namesake.analysis.mistakes import (
    ABSENT,
    DECOY,
    SIMILAR,
    UNASSIGNED,
    UNKNOWN,
    Context,
    Mistake,
    Side,
    mistakes_report,
    side,
)
from namesake.evaluation.gold import GoldRow, ScoreTable, align
from namesake.evaluation.reports.report import csv_text, markdown
from namesake.evaluation.statistics import Bootstrap
from namesake.recipe import Recipe

# sentence [0, 20) holds the name at 5, [20, 40) holds another name at 25, [40, 60) holds none
CONTEXT = Context([(0, 20), (20, 40), (40, 60)], own=[(5, 9)], others=[(25, 30)])


def candidate(qid, words=(), statements=(), known=True):
    places = {word: [(start, start + 3) for start in starts] for word, *starts in words}
    return Side(qid, "Label", "what", 1.0, {"IScore": float(len(places))}, places, [], frozenset(statements), known)


def told(gold, chosen):
    return Mistake("a1", "jo", gold, chosen, CONTEXT).sources


def test_a_shared_occupation_is_a_similar_domain_and_a_shared_birthplace_is_not():
    gold = candidate("Q1", [("near", 10)], [("P106", "painter"), ("P19", "Rome")])
    assert told(gold, candidate("Q2", [], [("P106", "painter")])) == [SIMILAR]
    assert told(gold, candidate("Q2", [], [("P19", "Rome")])) == [UNASSIGNED]


def test_a_gold_entity_of_which_nothing_is_said_beside_its_name_lacks_the_key_property():
    assert told(candidate("Q1", [("far", 45)]), candidate("Q2")) == [ABSENT]
    assert told(candidate("Q1", [("far", 45, 10)]), candidate("Q2")) == [UNASSIGNED]
    assert told(candidate("Q1", known=False), candidate("Q2")) == [UNKNOWN]


def test_matches_from_sentences_about_somebody_else_are_decoys():
    gold = candidate("Q1", [("near", 10)])
    assert told(gold, candidate("Q2", [("new", 22), ("york", 33)])) == [DECOY]
    assert told(gold, candidate("Q2", [("new", 22), ("york", 33, 12)])) == [UNASSIGNED]  # half is not most
    assert told(gold, candidate("Q2", [("new", 45)])) == [UNASSIGNED]  # a sentence about nobody
    assert told(gold, candidate("Q2", [("near", 22)])) == [UNASSIGNED]  # the gold entity has that word, too


def explanation(part, value, matches, role="part"):
    return {
        **{"qid": "Q1", "label": None, "description": "painter", "score": 3.0},
        **{"part": part, "role": role, "value": value, "contribution": 0.5 * value, "matches": matches},
    }


def kb_with(qids):
    """A KB of entities without statements."""
    rows = {qid: row for row, qid in enumerate(qids)}
    return SimpleNamespace(row=lambda qid: rows.get(qid, -1), statements=[np.array([], int) for _ in qids])


def test_a_side_is_read_from_its_explanation():
    word = {"word": "paint", "spans": [[2, 10]], "sources": []}
    shared = {"word": None, "spans": [], "sources": [{"property": "P27", "property_label": None, "value": "Italy"}]}
    rows = [
        explanation("IScore", 1, [word]),
        explanation("EEIScore", 2, [shared]),
        explanation("NS", 7, None, role="tie-break"),
    ]
    found = side(kb_with(["Q1"]), rows, "A Painting.")
    assert found.parts == {"IScore": 0.5, "EEIScore": 1.0}
    assert found.words == {"paint": [(2, 10)]}
    assert found.as_written(found.words) == ["Painting"]
    assert found.shared == ["P27: Italy"]
    assert (found.qid, found.label, found.score) == ("Q1", "", 3.0)


def test_the_report_has_a_row_a_mistake():
    mistakes = [
        Mistake(
            "a|1", "jo", candidate("Q1", [("near", 10)]), candidate("Q2", [("new", 22)]), CONTEXT, "NS", "near «jo»"
        )
    ]
    report = mistakes_report(mistakes, 10, ["about"])
    assert report.rows[0]["decoys"] == ["new"]
    assert report.rows[0]["gold"]["qid"] == "Q1"
    assert "1 of 10" in report.intro[-1]
    assert r"a\|1" in markdown(report)
    line = csv_text(report.views[1]).splitlines()[1]
    assert line.startswith("a|1,jo,near «jo»,linked,Q1 Label (what): 1.00 = words of the text +1.00,")
    assert "several sources" in report.views[0].caption


def test_an_entity_the_kb_lacks_is_said_to_be_absent_and_parts_of_0_are_left_out():
    gold = side(kb_with([]), [explanation("IScore", 0, None)], "")
    chosen = side(kb_with(["Q1"]), [explanation("IScore", 6, None), explanation("NotYetBorn", -0.0, None)], "")
    report = mistakes_report([Mistake("a1", "jo", gold, chosen, CONTEXT)], 10, ["about"])
    assert report.views[1].rows[0][4:6] == ["Q1: not in the KB", "Q1 ? (painter): 3.00 = words of the text +3.00"]
    assert str(report.rows[0]["chosen"]["parts"]["NotYetBorn"]) == "0.0"


def test_a_refused_name_is_not_linked():
    sides = candidate("Q1", [("near", 10)]), candidate("Q2")
    mistakes = [Mistake("a1", "jo", *sides, CONTEXT, refused="none fits"), Mistake("a2", "jo", *sides, CONTEXT)]
    report = mistakes_report(mistakes, 10, ["about"], refused=3)
    assert [row[3] for row in report.views[1].rows] == ["refused (none fits); chosen is the best candidate", "linked"]
    assert [row["refused"] for row in report.rows] == ["none fits", None]
    [said] = report.remarks
    assert "wrong entity: 1 of 10 answerable" in said
    assert "is wrong: 1." in said
    assert "is right (not listed): 3." in said
    assert "Refused" not in mistakes_report(mistakes[1:], 10, ["about"]).remarks[0]


def test_the_papers_combinations_of_features():
    with_paragraphs, without = ablation.feature_recipes(True), ablation.feature_recipes(False)
    assert len(with_paragraphs) == 11
    assert list(without) == ["D", "S", "S_A", "D+S", "D+S_A"]
    assert all(recipe.tie_break == ("NS", "LQID") for recipe in with_paragraphs.values())
    assert [part.scorer for part in ablation.context_recipes()["ensemble"].parts] == ["IScore", "NIScore"]


def test_ablation_rows_come_from_each_recipes_own_scores():
    def data(first, second):
        scores = {"IScore": np.array([first, second], float), "NS": np.zeros(2), "LQID": np.zeros(2)}
        table = ScoreTable([("a", "n")], np.array([0, 2]), ["Q1", "Q2"], scores)
        return align(table, [GoldRow(("a", "n"), 0, {})])

    recipes: dict[str, Recipe] = ablation.feature_recipes(False)
    scored = {"D": (recipes["D"], data(2, 1)), "S": (recipes["S"], data(1, 2))}
    rows = {(row.method, row.metric): row for row in ablation.measure_recipes(scored, "stemming", Bootstrap(100))}
    assert rows["D", "P@1"].value == 1
    assert rows["S", "P@1"].value == 0
    assert rows["S", "MRR"].value == pytest.approx(0.5)
    assert {row.slice for row in rows.values()} == {"stemming"}
