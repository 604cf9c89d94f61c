"""What the rules of detection read and write: a text as a page of tokens, and what the KB knows about words.

Both are named tuples of bare pointers: rules hand them on many times in a text, and arrays would be counted each time.
A kernel holds them in one place, and the others get its address.
`oracle_mentions` in the tests has every rule again, in plain Python.
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined
from namesake.kernels.hash import KEYS, ZERO, extend
from namesake.kernels.names.constants import FAME_STEPS
from namesake.kernels.names.phrases import PHRASE, fame_in, name_in, packed_of, short_in
from namesake.kernels.names.phrases import WORD as WORD_NUMBERS
from namesake.kernels.names.tokens import (
    AFTER_HYPHEN,
    COMMA,
    FUNCTION,
    HAS_CAPITAL,
    IS_INITIALS,
    IS_JOINED,
    PARTICLE,
    SOFT,
)
from namesake.kernels.simd import BYTES, NUMBERS, pointer, prefetch
from namesake.kernels.types import F32, I8, I32, I64, U8, U64, held_record, own_record, record

SMALL = types.CPointer(types.int32)
BITS = types.CPointer(types.uint32)
FORMS = types.CPointer(types.int8)
FLOATS = types.CPointer(types.float32)
DOUBLES = types.CPointer(types.float64)

NOBODY = -1
UNREAD = -2
# who has taken a token
OPEN, BY_THING, BY_PERSON = 0, 1, 2
MOST_PARTICLES = 4  # before a surname
# by form, see constants.MONONYM
FORM_QUALITY = np.array([1.0, 0.8, 0.8, 0.5, 0.8, 0.8, 0.6, 1.0, 0.5, 0.5])
MOST_EXTRAS = 8
MOST_LETTERS = 24  # of a word in which a slip is looked for
FAME = np.expm1(np.arange(256) / FAME_STEPS)  # by the value of `thing.fame`

# a mention's whole numbers: its name in the KB or NOBODY, rule, tokens of its first span, those without titles and
# suffixes; full spans, and how many of them are a firm's, are followed by a capital, come behind a first name, or
# before a suffix; how many candidates beside the name's bearers; the tokens of its place and of its short form; where
# it stands in the output; of people who share a surname, the one named before, and the token where it was last named
NAME, RULE, FIRST, END, LOW, HIGH, FULL, FIRMS, GOES_ON, COMES, SUFFIXES, EXTRAS, PLACE, WORD, ORDER = range(15)
NEXT, SEEN, FACTS = 15, 16, 17
# and its other numbers: what the quality of the name's bearers is multiplied by; for the others see names.evidence
FACTOR, THING, BEST, BEARERS, FORM, IN_LOWER, LOCATIVE, HAS_ROLE, HAS_TITLE, BYLINE, FIRST_COUNT, LAST_COUNT = range(12)
IS_OTHER, EVIDENCE = 12, 13


class Index(NamedTuple):
    """What the KB knows: names and their bearers, short forms, tokens, things, slips, nicknames; people and labels.

    `told_keys` are words of the language that tell somebody's gender.
    """

    phrases: Annotated[Any, U64]
    words: Annotated[Any, U64]
    prefixes: Annotated[Any, U8]
    percent: Annotated[Any, U8]
    indptr: Annotated[Any, I64]
    rows: Annotated[Any, I32]
    kinds: Annotated[Any, I8]
    short_indptr: Annotated[Any, I64]
    short_rows: Annotated[Any, I32]
    short_forms: Annotated[Any, I8]
    short_weights: Annotated[Any, F32]
    short_count: Annotated[Any, I32]
    slip_keys: Annotated[Any, U64]
    slip_names: Annotated[Any, I32]
    slip_openings: Annotated[Any, U8]
    text_offsets: Annotated[Any, I64]
    texts: Annotated[Any, U8]
    nickname_keys: Annotated[Any, U64]
    nickname_indptr: Annotated[Any, I64]
    nickname_hashes: Annotated[Any, U64]
    fame: Annotated[Any, F32]
    gender: Annotated[Any, I8]
    told_keys: Annotated[Any, U64]
    told_genders: Annotated[Any, I8]
    item: Annotated[Any, I32]
    label_offsets: Annotated[Any, I64]
    labels: Annotated[Any, U8]


INDEX = record(Index)


class Known(NamedTuple):
    """The same as pointers, with the numbers of slots less one."""

    phrases: Annotated[Any, KEYS]
    phrase_mask: Annotated[Any, types.int64]
    words: Annotated[Any, KEYS]
    word_mask: Annotated[Any, types.int64]
    prefixes: Annotated[Any, BYTES]
    prefix_mask: Annotated[Any, types.uint64]
    percent: Annotated[Any, BYTES]
    indptr: Annotated[Any, NUMBERS]
    rows: Annotated[Any, SMALL]
    kinds: Annotated[Any, FORMS]
    short_indptr: Annotated[Any, NUMBERS]
    short_rows: Annotated[Any, SMALL]
    short_forms: Annotated[Any, FORMS]
    short_weights: Annotated[Any, FLOATS]
    short_count: Annotated[Any, SMALL]
    slip_keys: Annotated[Any, KEYS]
    slips: Annotated[Any, types.int64]
    slip_names: Annotated[Any, SMALL]
    slip_openings: Annotated[Any, BYTES]
    opening_mask: Annotated[Any, types.int64]
    text_offsets: Annotated[Any, NUMBERS]
    texts: Annotated[Any, BYTES]
    nickname_keys: Annotated[Any, KEYS]
    nicknames: Annotated[Any, types.int64]
    nickname_indptr: Annotated[Any, NUMBERS]
    nickname_hashes: Annotated[Any, KEYS]
    fame: Annotated[Any, FLOATS]
    gender: Annotated[Any, FORMS]
    told_keys: Annotated[Any, KEYS]
    told_genders: Annotated[Any, FORMS]
    tolds: Annotated[Any, types.int64]
    item: Annotated[Any, SMALL]
    label_offsets: Annotated[Any, NUMBERS]
    labels: Annotated[Any, BYTES]


KNOWN = held_record(Known)


class Page(NamedTuple):
    """A text: its tokens (see `tokens.Tokens`), who has taken each, the spans that begin there, and its mentions."""

    text: Annotated[Any, BYTES]
    count: Annotated[Any, types.int64]
    style: Annotated[Any, types.int64]
    hashes: Annotated[Any, KEYS]
    starts: Annotated[Any, NUMBERS]
    ends: Annotated[Any, NUMBERS]
    bits: Annotated[Any, BYTES]
    classes: Annotated[Any, BITS]
    gaps: Annotated[Any, BYTES]
    marks: Annotated[Any, BYTES]
    used: Annotated[Any, BYTES]
    firsts: Annotated[Any, SMALL]
    """How many people's labels each token begins, UNREAD at first; in `lasts` how many it ends, in `lowers` how often
    it stands in lower case, in `things` the fame of its thing."""
    lasts: Annotated[Any, SMALL]
    lowers: Annotated[Any, SMALL]
    things: Annotated[Any, BYTES]
    shorts: Annotated[Any, SMALL]
    """The short form that each open token with a capital is, or NOBODY; UNREAD elsewhere: see `memory.read_ahead`."""
    memory: Annotated[Any, KEYS]
    """What was known of the words of earlier texts, REMEMBERED numbers each: see `memory`."""
    memory_mask: Annotated[Any, types.int64]
    unread: Annotated[Any, NUMBERS]
    """Room for tokens that are to be looked up."""
    pair_names: Annotated[Any, SMALL]
    """For each token from which a name may start: the name, in `pair_shorts` the short form, and in `pair_things` the
    fame of the thing that it is with the next. UNREAD elsewhere."""
    pair_shorts: Annotated[Any, SMALL]
    pair_things: Annotated[Any, BYTES]
    able: Annotated[Any, NUMBERS]
    """The tokens that may be names of one word: with a capital, or in other styles no function words."""
    ables: Annotated[Any, types.int64]
    owner: Annotated[Any, NUMBERS]
    """The mention that has a span from a token on, and in `stop` where that ends."""
    stop: Annotated[Any, NUMBERS]
    names: Annotated[Any, KEYS]
    """A table of the mentions by their names, with `holder` beside it: see `people.name_slot`."""
    holder: Annotated[Any, NUMBERS]
    words: Annotated[Any, KEYS]
    """A table of words that stand for somebody, by `mask`: the mentions of whom they are surname and first name."""
    surname: Annotated[Any, NUMBERS]
    first_name: Annotated[Any, NUMBERS]
    mask: Annotated[Any, types.int64]
    facts: Annotated[Any, NUMBERS]
    evidence: Annotated[Any, DOUBLES]
    rows: Annotated[Any, SMALL]
    """Candidates of a mention beside those that bear its name, MOST_EXTRAS for each, and their quality."""
    quality: Annotated[Any, DOUBLES]
    size: Annotated[Any, NUMBERS]
    """How many mentions there are."""
    letters: Annotated[Any, BYTES]
    """Room for the letters of a word in which slips are looked for, their hashes, and where these would stand."""
    wanted: Annotated[Any, KEYS]
    near: Annotated[Any, NUMBERS]


PAGE = held_record(Page)
I, B = types.int64, types.boolean


@inlined(own_record(Known)(INDEX))
def known_from(index):
    """The pointers to an index."""
    return Known(
        *(
            pointer(index.phrases),
            len(index.phrases) // PHRASE - 1,
            pointer(index.words),
            len(index.words) // WORD_NUMBERS - 1,
        ),
        *(pointer(index.prefixes), np.uint64(len(index.prefixes) * 8 - 1), pointer(index.percent)),
        *(pointer(index.indptr), pointer(index.rows), pointer(index.kinds), pointer(index.short_indptr)),
        *(pointer(index.short_rows), pointer(index.short_forms), pointer(index.short_weights)),
        *(pointer(index.short_count), pointer(index.slip_keys), len(index.slip_keys)),
        *(pointer(index.slip_names), pointer(index.slip_openings), len(index.slip_openings) * 8 - 1),
        *(pointer(index.text_offsets), pointer(index.texts)),
        *(pointer(index.nickname_keys), len(index.nickname_keys), pointer(index.nickname_indptr)),
        *(pointer(index.nickname_hashes), pointer(index.fame), pointer(index.gender)),
        *(pointer(index.told_keys), pointer(index.told_genders), len(index.told_keys), pointer(index.item)),
        *(pointer(index.label_offsets), pointer(index.labels)),
    )


# tokens
@inlined(B(PAGE, I))
def soft(page, i):
    """Whether token i goes on from the one before, with nothing but a space, a hyphen or a line end between."""
    return i > 0 and i < page.count and page.gaps[i] == SOFT


@inlined(B(PAGE, I))
def capital(page, i):
    """Whether token i has a capital."""
    return i >= 0 and i < page.count and page.marks[i] & HAS_CAPITAL != 0


@inlined(B(PAGE, I))
def hyphen(page, i):
    """Whether a hyphen joins token i to the one before."""
    return i > 0 and i < page.count and page.marks[i] & AFTER_HYPHEN != 0


@inlined(B(PAGE, I))
def follows(page, i):
    """Whether token i has a capital and goes on from the one before."""
    return soft(page, i) and capital(page, i)


@inlined(B(PAGE, I))
def is_open(page, i):
    """Whether token i has a capital and nobody has taken it."""
    return capital(page, i) and page.used[i] == OPEN


@inlined(B(PAGE, I))
def may_end(page, i):
    """Whether a name may end with token i: a capital, or what a hyphen joins to one (Ban Ki-moon)."""
    return capital(page, i) or (hyphen(page, i) and (capital(page, i - 1) or hyphen(page, i - 1)))


@inlined(B(PAGE, I, I))
def listed(page, i, lists):
    """Whether some of the lists, as bits, have token i."""
    return i >= 0 and i < page.count and np.int64(page.classes[i]) & lists != 0


@inlined(B(PAGE, I))
def particle_follows(page, i):
    """Whether particles and a capital stand at token i and go on from the one before: Virgil | van Dijk."""
    end = i
    while end - i < MOST_PARTICLES and soft(page, end) and listed(page, end, PARTICLE):
        if listed(page, end, FUNCTION):
            return False
        end += 1
    return end > i and follows(page, end)


@inlined(B(PAGE, I))
def initials(page, i):
    """Whether token i is made of initials."""
    return i >= 0 and i < page.count and page.bits[i] & IS_INITIALS != 0


@inlined(B(PAGE, I))
def lone_letter(page, i):
    """Whether token i is one initial."""
    return i >= 0 and i < page.count and page.bits[i] & (IS_INITIALS | IS_JOINED) == IS_INITIALS


@inlined(B(PAGE, I))
def behind_comma(page, i):
    """Whether a comma stands before token i."""
    return i > 0 and i < page.count and page.gaps[i] == COMMA


@inlined(types.uint64(PAGE, I, I))
def name_key(page, first, end):
    """The hash of tokens first to end as a name."""
    key = ZERO
    for i in range(first, end):
        key = extend(key, page.hashes[i])
    return key


@inlined(types.void(PAGE, I, I, I))
def take(page, first, end, by):
    """Let tokens first to end be taken."""
    for i in range(first, end):
        page.used[i] = np.uint8(by)


# what the KB knows of a name
@inlined(B(KNOWN, types.uint64))
def may_go_on(known, key):
    """Whether a name of somebody or something may be, or begin with, the tokens of a hash, two or more."""
    bit = np.int64(key & known.prefix_mask)
    return known.prefixes[bit >> 3] >> (bit & 7) & 1 != 0


@inlined(types.uint64(KNOWN, types.uint64))
def phrase(known, key):
    """What the phrase of a hash is, packed; see `phrases`."""
    return packed_of(known.phrases, known.phrase_mask, key)


@inlined(types.void(KNOWN, types.uint64))
def ask_for(known, key):
    """Ask for what `phrase` will read."""
    prefetch(known.phrases, PHRASE * (np.int64(key) & known.phrase_mask))


@inlined(I(KNOWN, types.uint64))
def name_of(known, key):
    """The name of a hash of two tokens or more, or NOBODY: one bit turns most of them away."""
    return name_in(phrase(known, key)) if may_go_on(known, key) else np.int64(NOBODY)


@inlined(I(KNOWN, types.uint64))
def short_of(known, key):
    """The short form of a hash, or NOBODY."""
    return short_in(phrase(known, key))


@inlined(types.float64(KNOWN, types.uint64))
def thing_fame(known, key):
    """How famous the thing of a name is; 0 where there is none."""
    return FAME[fame_in(phrase(known, key))]


@inlined(types.float64(PAGE, KNOWN, I, I))
def run_fame(page, known, first, end):
    """How famous the thing is whose name are tokens first to end."""
    key = name_key(page, first, end)
    return 0.0 if end - first > 1 and not may_go_on(known, key) else thing_fame(known, key)
