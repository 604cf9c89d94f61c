"""Years among the numbers of a text: the kernel against regular expressions, and against what people would say."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_years
from namesake.kernels.text.years import years_of
from namesake.language import English
from namesake.linker import Linker
from namesake.scorers.life_dates import year_words
from namesake.text import pack

pytestmark = [pytest.mark.kernel, pytest.mark.filterwarnings("ignore:overflow encountered")]  # numbers mod 2⁶⁴

# fmt: off
NO_YEARS = [
    "won the 1500m", "$1800", "1600cc", "At 1400 GMT", "1500 people", "Flight 1549", "1,500", "1500.5", "No. 1500",
    "£1500", "1500 km", "1500-metre", "1800 hours", "#1234", "A1500", "1500 dollars", "1200 jobs", "€1500", "1500€",
    "1500 €", "US$1500", "$ 1800", "Rs. 1500", "USD 1500", "the 1500 metres", "the Men's 1500 Metres", "1500%",
    "1500 %", "1500 per cent", "1500 BC", "1500°", "some 1500 protesters", "about 1200 refugees",
    "killed 1500 civilians", "a crowd of 1500 people", "more than 2000 fans", "1500-seat hall", "a 1200-page book",
    "2000-strong", "Room 1408", "UN Resolution 1441", "page 1234", "No.1500", "555-1234", "1234-5678",
    "1800-555-1234", "F-1500", "3.1415", "1920x1080", "1920 x 1080", "1920×1080", "1500th", "+1500", "id=1500",
    "1500:30", "1400 hrs", "1400Z", "1500 kg", "2000 years ago", "1500 miles", "1200 voters", "№ 1500",
    "Windows 2000", "Form 1040", "RFC 1918", "1500 dead", "1184 pages", "1500 m²", "1500 W", "1000 words",
]
YEARS = [
    "In 1996 people voted", "the 1500s", "1990s", "the 1984 Olympics", "1939-45", "1914–1918", "12/05/1996",
    "1996-05-12", "(1950)", "May 1996", "1996.", "in 1500", "around 1900", "1990's", "mid-1990s", "1939-1945",
    "12.05.1996", "1996.05.12", "12-05-1996", "1996,1997", "In 1996 Miles Davis", "since 1996 women",
    "the 2000 elections", "his 1990 albums", "1990-present", "1945-era", "1996/97", "the class of 1996", "“1984”",
    '"1984"', "’1996", "in 1996, he", "1996: a year", "born in 1964)", "Sept. 11, 2001", "2010 World Cup",
    "2011 floods", "in 1996 dollars", "1996年", "c. 1500", "c.1500", "1968’s", "the year 1500 marks", "Paris 1900",
    "by 1996 more than", "1996", "1996-born", "1950 (age 3)", "2016 US elections", "1996?", "1996!", "1997;",
    "1900-1950", "from 1996 to 1998", "between 1996 and 1998", "in 1996 $5", "in 1996 €5", "since\n1996",
    "the 1996 Women's World Cup",
]
# fmt: on

NUMBERS = ["1996", "1500", "2000", "1234", "1000", "2049", "2050", "0999", "19960", "45", "7", "555", "1850"]
SIGNS = list(" .,-–:/()'’%$£€₹°#№+=@_×é年\n\xa0²")
WORDS = [
    "s",
    "S",
    "m",
    "km",
    "x",
    "GMT",
    "Metres",
    "Miles",
    "people",
    "People",
    "protesters",
    "boss",
    "this",
    "Olympics",
]
WORDS += ["in", "In", "the", "his", "No", "Flight", "May", "year", "era", "seat", "Present", "a", "A", "mid", "USD"]


def years(texts: list[str]) -> list[list[float]]:
    indptr, found = years_of(*pack(texts), year_words(English))
    return [found[indptr[i] : indptr[i + 1]].tolist() for i in range(len(texts))]


@given(st.lists(st.lists(st.sampled_from([*NUMBERS * 2, *SIGNS * 2, *WORDS]), max_size=12).map("".join), max_size=4))
def test_years_are_those_of_the_regular_expressions(texts):
    assert years(texts) == [oracle_years.years(text) for text in texts]


@given(
    st.sampled_from(NUMBERS[:6]),
    *(st.lists(st.sampled_from([" ", " ", *SIGNS, *WORDS, *NUMBERS]), max_size=3).map("".join) for _ in range(2)),
)
def test_what_stands_beside_a_number_decides(number, before, behind):
    text = before + number + behind
    assert years([text]) == [oracle_years.years(text)]


@given(st.lists(st.text("0123456789 -x", max_size=200), max_size=4))
def test_long_texts_of_numbers(texts):
    assert years(texts) == [oracle_years.years(text) for text in texts]


@pytest.mark.parametrize("text", NO_YEARS)
def test_units_money_clock_times_counts_and_identifiers_are_no_years(text):
    assert years([text, f"They said: {text} then.", f"x {text}\n"]) == [[], [], []]


@pytest.mark.parametrize("text", YEARS)
def test_years_are_years(text):
    [[*found], [*framed]] = years([text, f"({text})"])
    assert found
    assert framed == found == sorted(float(number[0]) for number in oracle_years.NUMBER.finditer(text))


def test_each_text_is_read_by_itself():
    """What stands before and behind a text in memory has no say."""
    assert years(["$", "1996", "m", "Flight ", "1996", " people"]) == [[], [1996], [], [], [1996], []]


@pytest.mark.parametrize("amount", ["the 1500m", "$1800", "in 1600cc", "at 1400 GMT", "before 1500 people"])
def test_a_number_that_is_no_year_does_not_make_a_person_less_likely(sample_kb, amount):
    """Era compares a life with the years of the text."""
    linker = Linker(sample_kb)
    [plain] = linker.link_text("Michael Jordan won it, he said.", mentions=["Michael Jordan"])
    [other] = linker.link_text(f"Michael Jordan won {amount}, he said.", mentions=["Michael Jordan"])
    assert (other.qid, other.score) == (plain.qid, pytest.approx(plain.score, abs=0.3))
    texts = ["Michael Jordan won it, he said.", "Michael Jordan won in 1500, he said."]
    table = pa.table({"id": ["plain", "past"], "text": texts, "mentions": [["Michael Jordan"]] * 2})
    plain_scores, past_scores = (
        {one["qid"]: one["score"] for one in row["candidates"]} for row in linker.link(table, scores=True).to_pylist()
    )
    assert past_scores["Q41421"] < plain_scores["Q41421"] - 1
