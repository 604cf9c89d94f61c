"""The people of a text: whose full names are one person's."""

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, kernel
from namesake.kernels.hash import FREE, home, probe
from namesake.kernels.names.matching import END, FIRST, INDEX, MATCHES, MENTION, NAME, NOBODY, SKIPPED
from namesake.kernels.names.tokens import HONORIFIC, SUFFIX, TOKENS
from namesake.kernels.simd import pointer

PEOPLE = types.int64[:, ::1]
"""The people of a text: name, first token and end of the first full span, its first and end without titles and
suffixes, whether an initial is always left out, whether it is a title with a surname, how many full spans there are and
how many of them firms, and the place among the mentions."""
LOW, HIGH, WITHOUT, TITLED, FULL, FIRMS, ORDER, COLUMNS = 3, 4, 5, 6, 7, 8, 9, 10


@inlined(types.boolean(INDEX, types.int64, types.int64))
def share_a_bearer(index, one, two):
    """Whether somebody bears both names."""
    indptr, rows = index.indptr, index.rows
    i, j = indptr[one], indptr[two]
    while i < indptr[one + 1] and j < indptr[two + 1]:
        if rows[i] == rows[j]:
            return True
        if rows[i] < rows[j]:
            i += 1
        else:
            j += 1
    return False


@kernel(types.int64(TOKENS, INDEX, MATCHES, types.int64, PEOPLE))
def gather_people(tokens, index, matches, found, people):
    """Number the distinct names in the order of their first full span, tell each match which it is; how many.

    A title and a surname are the full name elsewhere in the text that the same person bears. A table tells who has a
    name already: a text may hold a hundred thousand.
    """
    hashes, classes = tokens.hashes, tokens.classes
    room = 8
    while room < 2 * found:
        room *= 2
    names, holder = np.zeros(room, np.uint64), np.empty(room, np.int64)
    count = 0
    for turn in range(2):  # full names first, titles with a surname second
        for m in range(found):
            first, end, skip = matches[m, FIRST], matches[m, END], matches[m, SKIPPED]
            titled = end - first - skip == 2 and classes[first] & HONORIFIC != 0  # "President Obama"
            if titled != (turn == 1):
                continue
            name = np.uint64(matches[m, NAME] + 1)
            place = probe(pointer(names), room - 1, name, home(name, room - 1))
            person = holder[place] if names[place] != FREE else np.int64(NOBODY)
            if titled and person == NOBODY:
                for p in range(count):
                    if people[p, TITLED] == 0 and hashes[people[p, HIGH] - 1] == hashes[end - 1]:
                        if share_a_bearer(index, people[p, NAME], matches[m, NAME]):
                            person = p
                            break
            if person == NOBODY:
                person = count
                count += 1
                low, high = first, end
                while high - low > 2 and classes[high - 1] & SUFFIX != 0:
                    high -= 1
                while high - low > 2 and classes[low] & HONORIFIC != 0:
                    low += 1
                people[person, NAME], people[person, FIRST], people[person, END] = matches[m, NAME], first, end
                people[person, LOW], people[person, HIGH], people[person, WITHOUT] = low, high, skip
                people[person, TITLED], people[person, FULL], people[person, FIRMS] = titled, 0, 0
            names[place], holder[place] = name, person
            if people[person, NAME] == matches[m, NAME] and skip == 0:
                people[person, WITHOUT] = 0
            matches[m, MENTION] = person
    return count


@kernel(types.int64(MATCHES, types.int64, PEOPLE))
def order_people(matches, found, people):
    """Give the people of a text their places, in the order of their first full spans, and return how many have one.

    Who is a firm or a place wherever the full name stands is nobody, and has none.
    """
    place = 0
    for m in range(found):
        person = matches[m, MENTION]
        if people[person, FIRST] == matches[m, FIRST] and people[person, NAME] == matches[m, NAME]:
            somebody = people[person, FIRMS] < people[person, FULL]
            people[person, ORDER] = place if somebody else NOBODY
            place += somebody
    return place
