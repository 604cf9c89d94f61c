"""What the search for names writes down of each mention, one array a number."""

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.names.page import (
    BEARERS,
    BEST,
    BYLINE,
    COMES,
    FIRST_COUNT,
    FORM,
    FULL,
    GOES_ON,
    HAS_ROLE,
    HAS_TITLE,
    HIGH,
    IN_LOWER,
    IS_OTHER,
    LAST_COUNT,
    LOCATIVE,
    LOW,
    RULE,
    SUFFIXES,
    THING,
)

MOST_TOKENS = 127
SMALL, WHOLE = types.int8[::1], types.int32[::1]
NUMBER, TRUTH = types.float32[::1], types.boolean[::1]
FACTS = types.Array(types.int64, 2, "C", readonly=True)
NUMBERS = types.Array(types.float64, 2, "C", readonly=True)
EVIDENCE = types.Tuple(
    [SMALL, *[NUMBER] * 5, SMALL, *[WHOLE] * 2, NUMBER, *[TRUTH] * 4, *[WHOLE] * 2, SMALL],
)


@kernel(EVIDENCE(FACTS, NUMBERS))
def take_apart(facts, numbers):
    """The fields of `names.evidence.Evidence`, in their order; shares are of the full spans."""
    size = len(facts)
    rule, form, tokens = np.empty(size, np.int8), np.empty(size, np.int8), np.empty(size, np.int8)
    goes_on, comes, suffix = np.empty(size, np.float32), np.empty(size, np.float32), np.empty(size, np.float32)
    thing, best, place = np.empty(size, np.float32), np.empty(size, np.float32), np.empty(size, np.float32)
    bearers, lower = np.empty(size, np.int32), np.empty(size, np.int32)
    first, last = np.empty(size, np.int32), np.empty(size, np.int32)
    role, title = np.empty(size, np.bool_), np.empty(size, np.bool_)
    byline, other = np.empty(size, np.bool_), np.empty(size, np.bool_)
    for m in range(size):
        spans = max(facts[m, FULL], 1)
        rule[m], tokens[m] = facts[m, RULE], min(facts[m, HIGH] - facts[m, LOW], MOST_TOKENS)
        goes_on[m], comes[m] = facts[m, GOES_ON] / spans, facts[m, COMES] / spans
        suffix[m] = facts[m, SUFFIXES] / spans
        thing[m], best[m], place[m] = numbers[m, THING], numbers[m, BEST], numbers[m, LOCATIVE]
        form[m], bearers[m], lower[m] = numbers[m, FORM], numbers[m, BEARERS], numbers[m, IN_LOWER]
        role[m], title[m] = numbers[m, HAS_ROLE] > 0, numbers[m, HAS_TITLE] > 0
        byline[m], other[m] = numbers[m, BYLINE] > 0, numbers[m, IS_OTHER] > 0
        first[m], last[m] = numbers[m, FIRST_COUNT], numbers[m, LAST_COUNT]
    shares, what = (goes_on, comes, suffix), (thing, best, form, bearers, lower, place)
    return (rule, *shares, *what, role, title, byline, other, first, last, tokens)
