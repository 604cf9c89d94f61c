"""Names of places with those that contain them, teams in reports about sport, events at the date of an article."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_larger_places as oracle
from namesake.articles.builder import text_table
from namesake.kb.build import build
from namesake.kb.store import KB
from namesake.kernels.link.larger_places import MOST, Places, contained
from namesake.scorers import SCORERS
from several_kinds import with_sitelinks
from test_build import claim, dump, item
from test_found_scores import of_candidates
from test_signals import batch_of

ENTITIES = 8
ROWS = st.lists(st.integers(0, ENTITIES - 1), min_size=1, max_size=4, unique=True)
DIRECT = st.lists(st.lists(st.integers(0, ENTITIES - 1), max_size=4), min_size=ENTITIES, max_size=ENTITIES)


@pytest.mark.kernel
@given(st.lists(st.tuples(ROWS, ROWS), max_size=3), DIRECT)
def test_places_contain_each_other_as_dictionaries_say(pairs, direct):
    lists = [rows for pair in pairs for rows in pair]
    offsets = np.cumsum([0, *map(len, lists)])
    rows = np.array([row for some in lists for row in some], np.int64)
    values = np.arange(ENTITIES, dtype=np.int32)  # pair k is a larger place: entity k, whose item is k
    statements = np.cumsum([0, *map(len, direct)]), np.array([one for some in direct for one in some], np.int32)
    places = Places(*statements, np.array([[0, 3], [3, ENTITIES]]), values, values)
    before = np.arange(0, len(lists), 2)
    inside, contains = contained(before, before + 1, offsets, rows, places)
    wanted = oracle.contained(pairs, dict(enumerate(direct)), MOST)
    for number, (is_inside, does_contain) in enumerate(wanted):
        first, second, end = offsets[2 * number : 2 * number + 3]
        assert inside[first:second].tolist() == is_inside
        assert contains[second:end].tolist() == does_contain


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> KB:
    folder = tmp_path_factory.mktemp("places")
    lines = [
        item(201, "Illinois", claim("P31", 35657)),
        item(202, "Missouri", claim("P31", 35657)),
        item(203, "Sangamon County", claim("P31", 47168), claim("P131", 201)),
        item(204, "Springfield", claim("P31", 515), claim("P131", 203)),
        item(205, "Springfield", claim("P31", 515), claim("P131", 202)),
        item(206, "Springfield Bears", claim("P31", 12973014), claim("P641", 41466)),
        item(207, "2012 Summer Games", claim("P31", 1656682)),
        item(208, "2016 Summer Games", claim("P31", 1656682)),
    ]
    build([dump(folder / "dump.json", *(with_sitelinks(line, 20) for line in lines))], folder / "kb")
    return KB.open(folder / "kb")


def scores(kb: KB, scorer: str, text: str, name: str, date: str | None = None) -> dict[str, float]:
    batch = batch_of(kb, text_table(text, None, date))
    return of_candidates(batch, np.asarray(SCORERS[scorer](batch)), name)


def test_a_place_is_in_the_one_after_the_comma(kb):
    text = "We saw Springfield, Illinois, then. Missouri was near."
    found = scores(kb, "InNextPlace", text, "Springfield")
    assert (found["Q204"], found["Q205"]) == (1, 0)
    assert scores(kb, "ContainsPlaceBefore", text, "Illinois") == {"Q201": 1}
    assert scores(kb, "ContainsPlaceBefore", text, "Missouri") == {"Q202": 0}
    assert not any(scores(kb, "InNextPlace", "We saw Springfield. Illinois is flat.", "Springfield").values())


def test_a_place_may_be_a_team_in_a_report_about_sport(kb):
    found = scores(kb, "TeamInSport", "Springfield scored in the final match.", "Springfield")
    assert found == {"Q204": 0, "Q205": 0, "Q206": pytest.approx(math.log1p(3))}
    assert not any(scores(kb, "TeamInSport", "Springfield is flat.", "Springfield").values())


def test_an_event_is_that_of_the_year(kb):
    found = scores(kb, "EventYear", "We saw the Summer Games there.", "Summer Games", "2017-03-01")
    assert found == {"Q207": pytest.approx(-math.log1p(5)), "Q208": pytest.approx(-math.log1p(1))}
    assert not any(scores(kb, "EventYear", "We saw the Summer Games there.", "Summer Games").values())
