"""What stands around a name and says that it is no person's: firms, places, families, bylines."""

from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import ZERO, extend
from namesake.kernels.kinds import PLACE as PLACE_KIND
from namesake.kernels.names.constants import FIRM_WORDS
from namesake.kernels.names.page import (
    FAME,
    KNOWN,
    PAGE,
    UNREAD,
    B,
    I,
    behind_comma,
    capital,
    follows,
    hyphen,
    listed,
    name_key,
    phrase,
    soft,
)
from namesake.kernels.names.phrases import fame_in, kind_in
from namesake.kernels.names.tokens import (
    AND,
    AT_START,
    BASED,
    BEFORE_FIRM,
    BY,
    CASED,
    CREDIT,
    DATE,
    DISTRICT,
    FIRM,
    FIRM_WORD,
    HARD,
    IN_PLACE,
    IS_CAPITAL,
    IS_NUMBER,
    IS_UPPER,
    OWNED,
    SHARES,
    SOFT,
    TO_PLACE,
)
from namesake.kernels.simd import byte

SLASH, COLON = 0x2F, 0x3A
IN_CAPITALS = IS_CAPITAL | IS_UPPER
FAMOUS_PLACE = 80.0


@inlined(B(PAGE, I))
def owned_follows(page, at):
    """Whether token `at`, behind a name, is what firms have, in lower case: shares, sales; owner and a capital."""
    if not listed(page, at, OWNED | SHARES) or not soft(page, at) or capital(page, at):
        return False
    return listed(page, at, SHARES) or follows(page, at + 1)


@inlined(B(PAGE, I))
def firm_follows(page, at):
    """Whether the tokens from `at` on, behind a name, make it a firm's or a thing's: Inc., High School; shares."""
    if page.style == CASED and owned_follows(page, at):
        return True
    for i in range(at, min(at + FIRM_WORDS, page.count)):
        if page.gaps[i] == HARD or (i > at and page.gaps[i] != SOFT):
            return False
        if page.style == CASED and page.bits[i] & IS_CAPITAL == 0:
            return False
        if listed(page, i, FIRM | FIRM_WORD):
            return True
        if not listed(page, i, BEFORE_FIRM):
            return False
    return False


@inlined(B(PAGE, KNOWN, I))
def place_follows(page, known, at):
    """Whether a comma and a famous place stand at token `at`: Houston, Texas; Washington, D.C."""
    if not behind_comma(page, at) or not capital(page, at):
        return False
    if listed(page, at, DISTRICT):
        return True
    packed = phrase(known, extend(ZERO, page.hashes[at]))
    fame, kind = fame_in(packed), kind_in(packed)
    if follows(page, at + 1):
        packed = phrase(known, name_key(page, at, at + 2))
        longer = fame_in(packed)
        if longer >= fame:
            kind = kind_in(packed) if longer > fame else max(kind, kind_in(packed))
            fame = longer
    return kind == PLACE_KIND and FAME[fame] >= FAMOUS_PLACE


@inner(types.float64(PAGE, I, I))
def locative(page, start, at):
    """How much the text makes a place of tokens `start` to `at`: in, near; -based; a dateline; to and from by half."""
    before = soft(page, start)
    if before and listed(page, start - 1, IN_PLACE):
        return 1.0
    if soft(page, at + 1) and hyphen(page, at + 1) and listed(page, at + 1, BASED):
        return 1.0
    if page.marks[at] & AT_START and page.bits[at] & IS_UPPER and at + 1 < page.count:
        behind = page.ends[at]
        first = byte(page.text, behind)
        if first == 0x2C or (first == 0x20 and byte(page.text, behind + 1) in (0x28, 0x2D)):
            return 1.0
    return 0.5 if before and listed(page, start - 1, TO_PLACE) else 0.0


@inlined(B(PAGE, I))
def is_month(page, at):
    """Whether token `at`, the surname of somebody in the text, is a month or a season here: in May, 3 May, May 3."""
    if not listed(page, at, DATE):
        return False
    if soft(page, at) and (listed(page, at - 1, IN_PLACE | TO_PLACE) or page.bits[at - 1] & IS_NUMBER != 0):
        return True
    return soft(page, at + 1) and page.bits[at + 1] & IS_NUMBER != 0


@inlined(B(PAGE, I))
def possessive(page, at):
    """Whether an apostrophe stands behind token `at`."""
    if at + 1 >= page.count:
        return False
    behind = page.ends[at]
    mark = byte(page.text, behind)
    return mark == 0x27 or (
        mark == 0xE2 and byte(page.text, behind + 1) == 0x80 and byte(page.text, behind + 2) == 0x99
    )


@inlined(B(PAGE, I))
def names_a_thing(page, at):
    """Whether token `at` and a word in lower case behind it are the name of a thing: the Doppler effect."""
    if not soft(page, at + 1) or capital(page, at + 1) or page.pair_names[at] == UNREAD:
        return False
    return page.pair_things[at] > 0 and not listed(page, at + 1, FIRM_WORD)


@inlined(B(PAGE, KNOWN, I))
def is_place(page, known, at):
    """Whether token `at`, the surname of somebody in the text, is a famous place here: in Houston."""
    if not soft(page, at) or not listed(page, at - 1, IN_PLACE) or possessive(page, at):
        return False
    packed = phrase(known, extend(ZERO, page.hashes[at]))
    return kind_in(packed) == PLACE_KIND and FAME[fame_in(packed)] >= FAMOUS_PLACE


@inlined(B(PAGE, I, I))
def joined(page, i, mark):
    """Whether a mark, and nothing else, stands between token i and the one before."""
    if i <= 0 or i >= page.count or page.starts[i] - page.ends[i - 1] != 1:
        return False
    return byte(page.text, page.ends[i - 1]) == mark


@inlined(B(PAGE, I))
def agency(page, i):
    """Whether token i may be an agency that pictures come from: AP, REUTERS, Getty."""
    return page.bits[i] & IN_CAPITALS == IN_CAPITALS or (capital(page, i) and listed(page, i, CREDIT))


@inlined(B(PAGE, I, I))
def credited(page, first, end):
    """Whether what stands around tokens first to end may be a byline's or a credit's: if not, there is none."""
    if first > 0 and listed(page, first - 1, BY | AND | CREDIT):
        return True
    return joined(page, first, SLASH) or joined(page, end, SLASH)


@inner(B(PAGE, I, I))
def in_byline(page, first, end):
    """Whether a name, tokens first to end, says who made the text.

    By …, Reporting by …, Photo by … and …; Photo: … before the end of a line or a sentence; …/AP, REUTERS/….
    """
    if (joined(page, end, SLASH) and agency(page, end)) or (joined(page, first, SLASH) and agency(page, first - 1)):
        return True
    if first > 0 and listed(page, first - 1, CREDIT) and byte(page.text, page.ends[first - 1]) == COLON:
        return not soft(page, end)
    at = first
    if soft(page, at) and listed(page, at - 1, AND):  # Reporting by Ann Lee and …
        at -= 1
        while soft(page, at) and capital(page, at - 1) and not listed(page, at - 1, BY) and first - at < 5:
            at -= 1
    if not soft(page, at) or not listed(page, at - 1, BY):
        return False
    by = at - 1
    opens = page.marks[by] & AT_START != 0 and capital(page, by)
    if opens or not soft(page, by) or not listed(page, by - 1, CREDIT):
        return opens
    return capital(page, by - 1) or page.marks[by - 1] & AT_START != 0  # not: a song written by …
