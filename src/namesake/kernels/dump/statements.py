"""The statements of an item: its values, ranks and qualifiers, and what follows from them about the item.

Times become their first and last day, as days since 1970-01-01. Days are counted in the proleptic Gregorian calendar
with Wikidata's digits unchanged. There is no year 0 in Wikidata: `-0043` is 43 BCE; here the year before year 1 is
year 0.
"""

import numpy as np
from numba import types

from namesake.kernels.compiled import inner
from namesake.kernels.dump import jsontext as js
from namesake.kernels.dump import tables, wikidata
from namesake.kernels.dump.jsontext import FAIL, keyword
from namesake.kernels.dump.tables import POINTERS
from namesake.kernels.dump.tape import as_map, member, text_of
from namesake.kernels.dump.wikidata import CENTURY, DAY, DECADE, LAST_YEAR, MILLENNIUM, MISSING, MONTH, YEAR
from namesake.kernels.simd import BYTES, byte

# Places in `found`: what the statements of the current line say of the item.
VALUED, IS_PERSON, INHABITANTS = range(3)
BORN, DIED = 3, 6  # each: day, precision, rank
LIFE_RANK = 3  # is added to the ranks (1 and 2) of dates of birth and death
DECIDING = 9  # a bit for each stated property that decides a kind
FOUND = 10
ENTITY_ID, PLAIN_STRING, TIME_VALUE, QUANTITY, MONOLINGUAL, OTHER, IDENTIFIER, NO_VALUE = range(8)  # types of values

LETTER_P, LETTER_Q, LETTER_T, PLUS, DASH = (ord(c) for c in "PQT+-")
K_MAINSNAK, K_RANK, K_QUALIFIERS = (keyword(k) for k in ("mainsnak", "rank", "qualifiers"))
K_SNAKTYPE, K_DATATYPE, K_DATAVALUE = (keyword(k) for k in ("snaktype", "datatype", "datavalue"))
K_ID, K_VALUE, K_TYPE, K_TIME, K_PRECISION = (keyword(k) for k in ("id", "value", "type", "time", "precision"))
K_AMOUNT, K_STRING, K_TEXT, K_LANGUAGE = (keyword(k) for k in ("amount", "string", "text", "language"))
K_TYPES = tuple(keyword(k) for k in ("wikibase-entityid", "string", "time", "quantity", "monolingualtext"))
K_RANKS = tuple(keyword(k) for k in ("deprecated", "normal", "preferred"))
MONTH_DAYS = np.array([0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
K_START_TIME, K_END_TIME = keyword(f"P{wikidata.START_TIME}"), keyword(f"P{wikidata.END_TIME}")


@inner(types.UniTuple(types.int64, 2)(BYTES, types.int64, POINTERS))
def snak(data, given, to):
    """The type of a snak's value, and the value. A string of another datatype than `string` is an IDENTIFIER."""
    says, datatype = member(data, given, K_SNAKTYPE, to), member(data, given, K_DATATYPE, to)
    datavalue = member(data, given, K_DATAVALUE, to)
    value, kind = member(data, datavalue, K_VALUE, to), member(data, datavalue, K_TYPE, to)
    if min(says, datatype, value, kind) < 0:
        return FAIL, 0
    for text in (says, datatype, kind):
        if text > 0 and not js.plain_text(data, to.at[text]):
            return FAIL, 0
    if says == 0 or not js.at(data, to.at[says], K_VALUE):
        return NO_VALUE, 0
    which = 0 if kind > 0 else OTHER
    while which < OTHER and not js.at(data, to.at[kind], K_TYPES[which]):
        which += 1
    if which == PLAIN_STRING and datatype > 0 and not js.at(data, to.at[datatype], K_STRING):
        which = IDENTIFIER
    return which, value


@inner("int64(int64, int64, int64)")
def days_from_civil(year, month, day):
    """Days since 1970-01-01 in the proleptic Gregorian calendar; the year before year 1 is year 0."""
    if month <= 2:
        year -= 1
        month += 12
    century_days = year * 365 + year // 4 - year // 100 + year // 400
    return century_days + (153 * (month - 3) + 2) // 5 + day - 719469


@inner("UniTuple(int64, 3)(int64, int64, int64, int64)")
def period(year, month, day, precision):
    """First day, precision and last day of a period; (MISSING, 0, MISSING) where there is no such day.

    A month or day of 0 lowers the precision. So does 29 February of a year that is a leap year in the Julian calendar
    only: the Gregorian calendar has the month but not the day.
    """
    if month > 12 or day > 31 or precision < 1 or precision > 14:
        return MISSING, 0, MISSING
    precision = min(precision, YEAR if month == 0 else (MONTH if day == 0 else DAY))
    if precision == DAY and day > MONTH_DAYS[month]:
        if month != 2 or day != 29 or year % 4 != 0:
            return MISSING, 0, MISSING
        if year % 100 == 0 and year % 400 != 0:
            precision = MONTH  # a leap day of the Julian calendar alone
    if precision == DAY:
        exactly = days_from_civil(year, month, day)
        return exactly, DAY, exactly
    if precision == MONTH:
        return days_from_civil(year, month, 1), MONTH, days_from_civil(year + month // 12, month % 12 + 1, 1) - 1
    if precision == DECADE and year > 0:
        first, last = max(1, year // 10 * 10), year // 10 * 10 + 9
    elif precision == DECADE:
        first, last = -8 - (1 - year) // 10 * 10, min(0, 1 - (1 - year) // 10 * 10)
    else:
        size = 100 if precision == CENTURY else 1000 if precision == MILLENNIUM else 1
        first = (year - 1) // size * size + 1
        last = first + size - 1
    return days_from_civil(first, 1, 1), precision, days_from_civil(last + 1, 1, 1) - 1


@inner(types.int64(BYTES, types.int64))
def two_digits(data, p):
    """The number of two digits at p; 99, which is no month or day, where they are none."""
    tens, units = byte(data, p) - js.ZERO, byte(data, p + 1) - js.ZERO
    return tens * 10 + units if 0 <= tens <= 9 and 0 <= units <= 9 else 99


@inner(types.UniTuple(types.int64, 3)(BYTES, types.int64, types.int64))
def read_time(data, p, precision):
    """Read `+1961-08-04T00:00:00Z` at p, as `period` returns it."""
    sign, start = byte(data, p), p + 1
    year, p = 0, start
    while js.ZERO <= byte(data, p) <= js.NINE:
        year = min(year * 10 + byte(data, p) - js.ZERO, LAST_YEAR + 1)
        p += 1
    is_year = sign in (PLUS, DASH) and 0 < year <= LAST_YEAR
    if not is_year or byte(data, p) != DASH or byte(data, p + 3) != DASH or byte(data, p + 6) != LETTER_T:
        return MISSING, 0, MISSING
    return period(year if sign == PLUS else 1 - year, two_digits(data, p + 1), two_digits(data, p + 4), precision)


@inner(types.UniTuple(types.int64, 3)(BYTES, types.int64, POINTERS))
def stated_time(data, value, to):
    """First day, precision and last day of a time; precision FAIL if a decoder must read it."""
    time, number = member(data, value, K_TIME, to), member(data, value, K_PRECISION, to)
    if time <= 0 or number <= 0 or not js.plain_text(data, to.at[time]):
        return MISSING, FAIL, MISSING
    precision, p = js.digits(data, to.at[number])
    if precision < 0 or byte(data, p) not in (js.COMMA, js.CLOSE_MAP, js.SPACE):
        return MISSING, FAIL, MISSING
    return read_time(data, to.at[time] + 1, precision)


@inner(types.int64(BYTES, types.int64, types.int64, types.int64, POINTERS))
def keep_date(data, value, entry, rank, to):
    """Store a date if it is the first of the best rank so far; `entry` is that of its property in `to.dates`."""
    day, precision, _ = stated_time(data, value, to)
    of_life = entry >= tables.OF_LIFE
    slot = DIED if entry & 1 else BORN
    rank += LIFE_RANK if of_life else 0
    if precision == 0:
        to.counts[tables.DATES_DROPPED] += of_life
    elif precision > 0 and rank > to.found[slot + 2]:
        to.found[slot], to.found[slot + 1], to.found[slot + 2] = day, precision, rank
    return min(precision, 0)


@inner(types.void(types.int64, types.int64, POINTERS))
def mark_property(of, kind, to):
    """Set the bit of a property that decides a kind, if the value is of its type."""
    if of < wikidata.DECIDING_END and to.deciding[of] > 0:
        entry = np.int64(to.deciding[of]) - 1
        if entry >> wikidata.TYPE_AT == kind:
            to.found[DECIDING] |= 1 << (entry & wikidata.BIT_MASK)


@inner(types.int64(BYTES, types.int64, POINTERS))
def keep_population(data, value, to):
    """Store the number of inhabitants, such as +12345, if it is the largest so far."""
    amount = member(data, value, K_AMOUNT, to)
    if amount <= 0 or not js.plain_text(data, to.at[amount]):
        return FAIL
    if byte(data, to.at[amount] + 1) == PLUS:
        number, p = js.digits(data, to.at[amount] + 2)
        if number > 0 and byte(data, p) == js.QUOTE:
            to.found[INHABITANTS] = max(to.found[INHABITANTS], number)
            mark_property(wikidata.POPULATION, QUANTITY, to)
    return 0


@inner(types.int64(BYTES, types.int64, POINTERS))
def item_of(data, value, to):
    """The number of an item; 0 for a property, a lexeme …"""
    p = text_of(data, value, K_ID, to)
    if p <= 0:
        return FAIL
    if byte(data, p) != LETTER_Q:
        return 0 if js.plain_text(data, p - 1) else FAIL
    number, p = js.digits(data, p + 1)
    return number if byte(data, p) == js.QUOTE else FAIL


@inner(types.int64(BYTES, types.int64, POINTERS))
def demonym(data, value, to):
    """The position of a demonym in a language that is kept; 0 for any other."""
    written = member(data, value, K_LANGUAGE, to)
    if written <= 0 or not js.plain_text(data, to.at[written]):
        return FAIL
    for kept in range(tables.LANGUAGES):
        if js.at(data, to.at[written], tables.held(to.languages, kept)):
            return text_of(data, value, K_TEXT, to) or FAIL
    return 0


@inner(types.int64(BYTES, types.int64, types.int64, POINTERS))
def keep_statement(data, of, given, to):
    """Store a statement of property `of`; returns whether it has a value; FAIL if a decoder must read it."""
    kind, value = snak(data, member(data, given, K_MAINSNAK, to), to)
    qualifiers, ranked = as_map(data, member(data, given, K_QUALIFIERS, to), to), member(data, given, K_RANK, to)
    rank = 0 if ranked > 0 else 1
    while ranked > 0 and rank < len(K_RANKS) and not js.at(data, to.at[ranked], K_RANKS[rank]):
        rank += 1
    if min(kind, qualifiers, ranked) < 0 or rank == len(K_RANKS):
        return FAIL
    if kind == NO_VALUE or rank == 0:
        return 0
    item, text = -1, 0
    if kind == ENTITY_ID:
        item = item_of(data, value, to)
        if item <= 0:
            return FAIL if item < 0 else 1
        if of == wikidata.INSTANCE_OF and item == wikidata.HUMAN:
            to.found[IS_PERSON] = 1
    elif kind == PLAIN_STRING:
        text = to.at[value] + 1 if value > 0 and byte(data, to.at[value]) == js.QUOTE else FAIL
    elif kind == MONOLINGUAL and of == wikidata.DEMONYM:
        text = demonym(data, value, to)
    if text < 0:
        return FAIL
    if kind != QUANTITY and text == 0:
        mark_property(of, kind, to)
    if item < 0 and text == 0:
        kept = 0
        if kind == TIME_VALUE and of < wikidata.DECIDING_END and to.dates[of] > 0:
            kept = keep_date(data, value, to.dates[of], rank, to)
        elif kind == QUANTITY and of == wikidata.POPULATION:
            kept = keep_population(data, value, to)
        return FAIL if kept < 0 else 1
    tables.append_row((of, item, qualifiers, text), tables.STATEMENTS, to.statements, to)
    return 1


@inner(types.int64(BYTES, types.int64, POINTERS))
def read_claims(data, claims, to):
    """Store the statements of an item, and count the properties that have a value."""
    one = claims + 1
    while claims > 0 and one < to.past[claims]:
        of, p = js.digits(data, to.at[one] + 2)
        is_property = byte(data, to.at[one] + 1) == LETTER_P and of > 0 and byte(data, p) == js.QUOTE
        if not is_property or byte(data, to.at[one + 1]) != js.OPEN_LIST:
            return FAIL
        given, valued = one + 2, 0
        one = to.past[one + 1]
        while given < one:
            has_value = keep_statement(data, of, given, to)
            if has_value < 0:
                return FAIL
            valued |= has_value
            given = to.past[given]
        to.found[VALUED] += valued
    return 0


@inner(types.UniTuple(types.int64, 3)(BYTES, types.int64, POINTERS))
def first_time(data, times, to):
    """First day, precision (FAIL as in `stated_time`) and last day of the first time in a qualifier's list."""
    first, last = MISSING, MISSING
    if times > 0 and byte(data, to.at[times]) != js.OPEN_LIST:
        return MISSING, FAIL, MISSING
    one = times + 1
    while times > 0 and one < to.past[times]:
        kind, value = snak(data, one, to)
        precision = 1 if kind >= 0 else FAIL
        if kind == TIME_VALUE and first == MISSING:
            first, precision, last = stated_time(data, value, to)
            to.counts[tables.DATES_DROPPED] += precision == 0
        if precision < 0:
            return MISSING, FAIL, MISSING
        one = to.past[one]
    return first, np.int64(0), last


@inner(types.int64(BYTES, types.boolean, types.int64, POINTERS))
def keep_statements(data, kept, first, to):
    """Complete the statements stored from `first` on; of an item that is not kept only the links to items remain."""
    last = to.counts[tables.STATEMENTS]
    to.counts[tables.STATEMENTS] = first
    for row in range(first, last):
        source = row * tables.STATEMENT_COLUMNS
        value, text = to.statements[source + tables.VALUE], to.statements[source + tables.UNTIL]
        if text > 0:
            if not kept:
                continue
            value = ~to.counts[tables.STRING]
            if tables.append_text(data, text, tables.STRING, to) < 0:
                return FAIL
        qualifiers = to.statements[source + tables.SINCE] if kept else 0
        since, started, _ = first_time(data, member(data, qualifiers, K_START_TIME, to), to)
        _, ended, until = first_time(data, member(data, qualifiers, K_END_TIME, to), to)
        if started < 0 or ended < 0:
            return FAIL
        of = to.statements[source + tables.PROPERTY]
        tables.append_row((of, value, since, until), tables.STATEMENTS, to.statements, to)
    return 0
