"""Dates: first days of periods against Python's calendar, and back to ISO."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle_dump as oracle
from namesake.kb.dump.parse import parse_chunk
from namesake.kb.records import iso
from namesake.kernels.dump.wikidata import MISSING
from namesake.language import English
from test_dump import chunk_of


def parse_time(time: str, precision: int) -> tuple[int, int, int] | None:
    """First day, precision and last day of a time, as a date of birth and as the end of a statement."""
    snak = f'{{"snaktype":"value","datavalue":{{"type":"time","value":{{"time":"{time}","precision":{precision}}}}}}}'
    item = '{"snaktype":"value","datavalue":{"type":"wikibase-entityid","value":{"id":"Q5"}}}'
    dated = f'{{"mainsnak":{item},"qualifiers":{{"P582":[{snak}]}}}}'
    line = f'{{"id":"Q1","claims":{{"P31":[{dated}],"P569":[{{"mainsnak":{snak}}}]}}}}'
    parsed = parse_chunk(chunk_of(line.encode()), "people", English)
    found = int(parsed.birth[0]), int(parsed.birth_precision[0]), int(parsed.statement_end[0])
    assert parsed.dates_dropped == (0 if found[1] else 2)
    return found if found != (MISSING, 0, MISSING) else None


@given(st.dates())
def test_a_day_is_a_day(day: date):
    parsed = parse_time(f"+{day.year:04}-{day.month:02}-{day.day:02}T00:00:00Z", 11)
    days = (day - date(1970, 1, 1)).days
    assert parsed == (days, 11, days)
    assert iso(*parsed[:2]) == day.isoformat()


@given(st.sampled_from("+-"), st.integers(0, 201_000), st.integers(0, 13), st.integers(0, 32), st.integers(-1, 15))
def test_any_period_begins_as_the_calendar_says(sign, year, month, day, precision):
    time = f"{sign}{year:04}-{month:02}-{day:02}T00:00:00Z"
    period = oracle.first_of_period(time, precision)
    assert parse_time(time, precision) == (period and (*period, oracle.last_of_period(*period)))


@given(
    st.sampled_from("+-"), st.integers(1, 200_000), st.integers(1, 12), st.integers(1, 28), st.sampled_from([9, 10, 11])
)
def test_iso_gives_back_what_was_read(sign, year, month, day, precision):
    written = f"{year:04}-{month:02}-{day:02}"
    parsed = parse_time(f"{sign}{written}T00:00:00Z", precision)
    cut = len(written) - 3 * (11 - precision)
    assert iso(*parsed[:2]) == sign.replace("+", "") + written[:cut]


@pytest.mark.parametrize(
    ("time", "precision", "printed"),
    [
        ("+1961-08-04T00:00:00Z", 14, "1961-08-04"),
        ("+1961-08-00T00:00:00Z", 11, "1961-08"),
        ("+1961-00-00T00:00:00Z", 11, "1961"),
        ("+1967-00-00T00:00:00Z", 8, "196X"),
        ("+1901-00-00T00:00:00Z", 7, "19XX"),
        ("+2000-00-00T00:00:00Z", 7, "19XX"),
        ("+2000-00-00T00:00:00Z", 6, "1XXX"),
        ("+0007-00-00T00:00:00Z", 8, "000X"),
        ("+0007-00-00T00:00:00Z", 7, "00XX"),
        ("-0043-03-15T00:00:00Z", 11, "-0043-03-15"),
        ("-0043-03-15T00:00:00Z", 8, "-004X"),
        ("-0001-00-00T00:00:00Z", 7, "-00XX"),
        ("-0100-00-00T00:00:00Z", 7, "-00XX"),
        ("-0101-00-00T00:00:00Z", 7, "-01XX"),
        ("+00000001961-08-04T00:00:00Z", 11, "1961-08-04"),
        ("+1500-02-29T00:00:00Z", 11, "1500-02"),
        ("+9000-00-00T00:00:00Z", 4, None),
    ],
)
def test_iso_is_cut_to_its_precision(time, precision, printed):
    assert iso(*parse_time(time, precision)[:2]) == printed


@pytest.mark.parametrize(
    "time", ["+1990-02-31T00:00:00Z", "+1990-13-01T00:00:00Z", "+1990-01-32T00:00:00Z", "1990", ""]
)
def test_absurd_dates_are_none(time):
    assert parse_time(time, 11) is None


@pytest.mark.parametrize(
    ("time", "precision", "last"),
    [
        ("+1961-08-04T00:00:00Z", 11, "1961-08-04"),
        ("+1961-12-00T00:00:00Z", 10, "1961-12-31"),
        ("+1964-02-00T00:00:00Z", 10, "1964-02-29"),
        ("+1961-00-00T00:00:00Z", 9, "1961-12-31"),
        ("+1967-00-00T00:00:00Z", 8, "1969-12-31"),
        ("+0007-00-00T00:00:00Z", 8, "0009-12-31"),
        ("-0043-00-00T00:00:00Z", 8, "-0040-12-31"),
        ("-0003-00-00T00:00:00Z", 8, "-0001-12-31"),
        ("+2000-00-00T00:00:00Z", 7, "2000-12-31"),
        ("+2001-00-00T00:00:00Z", 6, "3000-12-31"),
    ],
)
def test_a_period_ends_on_its_last_day(time, precision, last):
    assert iso(parse_time(time, precision)[2], 11) == last


def test_no_date_prints_nothing():
    assert iso(-(2**31), 0) is None
