"""What stands behind a name about a life: the kernel against plain Python."""

import math
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake.articles.article import Article, Mention
from namesake.articles.builder import ArticleBuilder
from namesake.kernels.text.years import vitals
from namesake.language import English
from namesake.linker import Linker
from namesake.recipe import Recipe
from namesake.scorers.life_dates import year_words
from namesake.text import pack
from oracle_years import NUMBER, is_year

BORN, DIED = r"(?:was born|born|b\.)", r"(?:died|d\.)"
UNTOLD = (math.nan, math.nan, math.nan)


def first_year(text: str) -> re.Match | None:
    """The first year of a text."""
    found = NUMBER.finditer(text)
    return next((number for number in found if is_year(text, number.start(), number.end())), None)


def told_slowly(behind: str) -> tuple[float, float, float]:
    """What stands behind a name, by regular expressions."""
    behind = behind[:160]

    def year_behind(phrase: str, text: str) -> float:
        place = re.search(phrase, text, re.IGNORECASE)
        found = place and first_year(text[place.end() :])
        return float(found[0]) if found else math.nan

    if brackets := re.match(r"[\x00-\x20]*\(([^()]*)", behind):
        inside = brackets[1]
        birth, death = year_behind(BORN, inside), year_behind(DIED, inside)
        if math.isnan(birth) and math.isnan(death):
            first = first_year(inside)
            rest = inside[first.end() :] if first else ""
            second = first_year(rest)
            dashed = first and second and re.search("[-–—]", rest[: second.start()])
            if dashed and 15 <= int(second[0]) - int(first[0]) <= 110:
                return float(first[0]), float(second[0]), math.nan
        return birth, death, math.nan
    if phrase := re.match(rf"[\x00-\x20]*,?[\x00-\x20]*{BORN}([^.;(]*)", behind, re.IGNORECASE):
        year = first_year(phrase[1])
        return float(year[0]) if year else math.nan, math.nan, math.nan
    if age := re.match(r"[\x00-\x20]*,[\x00-\x20]*(\d{1,4})(?=[,.;]|$)", behind):
        number = int(age[1])
        return math.nan, math.nan, float(number) if 10 <= number <= 110 else math.nan
    return UNTOLD


PIECES = ["(", ")", "born", "Born ", "was born", "b.", "died", "d.", "1964", "1910", " – ", "-", " ", ",", ".", ";"]
PIECES += [" km", "$", "people", "45", "7", "110", "19640", "12 May ", "x", "in ", "2049", "2050", "é", "to"]


def told(texts: list[str]) -> list[tuple[float, ...]]:
    """What the kernel reads behind the name `Ann` that begins each text."""
    data, offsets = pack([f"Ann{text}" for text in texts])
    spans = np.tile(np.array([[0, 3]], np.int32), (len(texts), 1))
    phrases = *pack(sorted(English.born)), *pack(sorted(English.died))
    many = np.arange(len(texts) + 1)
    tells, told = vitals(data, offsets, many[:-1], many, spans, *phrases, year_words(English))
    assert tells.tolist() == np.flatnonzero(~np.isnan(told).all(axis=1)).tolist()
    return [tuple(row) for row in told.tolist()]


@pytest.mark.kernel
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), max_size=3))
def test_what_is_told_of_a_life(texts):
    assert [str(row) for row in told(texts)] == [str(told_slowly(text)) for text in texts]


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("behind", "want"),
    [
        (" (born 28 January 1964) is", (1964, None, None)),
        (" (Hebrew: x; b. 1951)", (1951, None, None)),
        (" (29 October 1910 – 27 June 1989)", (1910, 1989, None)),
        (" (2010–2015)", (None, None, None)),
        (" (died 1970)", (None, 1970, None)),
        (" was born in Dakar in 1940.", (1940, None, None)),
        (", born 1940, sang", (1940, None, None)),
        (", 45, sang", (None, None, 45)),
        (", 45 people", (None, None, None)),
        (" (2010) says", (None, None, None)),
        (" was born 1500 km from Dakar in 1940.", (1940, None, None)),
        (" (1850–1900 m)", (None, None, None)),
    ],
)
def test_what_is_told_of_a_life_by_example(behind, want):
    assert [None if math.isnan(value) else value for value in told([behind])[0]] == list(want)


def test_the_birth_that_is_told_chooses_among_namesakes(sample_kb):
    """Each candidate of an ambiguous name of the sample, told by the year of birth, and by age."""
    kb = sample_kb
    years = {f"Q{kb.qids[row]}": int(str(np.datetime64(int(kb.birth[row]), "D"))[:4]) for row in range(len(kb))}
    known = {f"Q{kb.qids[row]}": kb.birth_precision[row] >= 9 for row in range(len(kb))}
    linker = Linker(
        kb, Recipe.of({"name": "v", "parts": [{"scorer": "LifeDatesMatch", "weight": 1.0, "scale": "none"}]})
    )
    rows, _ = kb.names.lookup("Chris Carter")
    bearers = [f"Q{kb.qids[row]}" for row in rows]
    assert sum(known[qid] for qid in bearers) > 1
    for meant in filter(known.get, bearers):
        for text, date in (
            (f"Chris Carter (born {years[meant]}) came.", None),
            (f"Chris Carter, {2016 - years[meant]}, came.", "2016-12-31"),
            (f"Chris Carter, {2016 - years[meant] - 1}, came.", "2016-01-01"),
        ):
            builder = ArticleBuilder()
            builder.add(Article("1", text, date=date, mentions=[Mention("Chris Carter", [(0, 12)], bearers)]))
            table: pa.Table = linker.link(builder.table(), scores=True)
            got = {c["qid"]: c["parts"]["LifeDatesMatch"] for c in table.column("candidates")[0].as_py()}
            far = {q for q in bearers if known[q] and abs(years[q] - years[meant]) > 1}
            assert got[meant] == 1
            assert {got[qid] for qid in far} <= {-1}
            assert {got[qid] for qid in bearers if not known[qid]} <= {0}
