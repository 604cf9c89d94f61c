"""Nouns in apposition to names: general in "Michael Jackson, a British general"."""

import numpy as np

from namesake.arrays import Int64, UInt64
from namesake.kernels.names import tokens as t
from namesake.kernels.names.lattice import Texts

MOST_WORDS = 5
"""Words between an article and the end of an apposition."""


def appositions(texts: Texts, firsts: Int64, ends: Int64) -> UInt64:
    """The hash of the noun in apposition to each name, 0 without one; a name is the tokens from first to end.

    A comma and an article follow the name, and no article is before it. The noun is the last word in lower case before
    a comma, another sign or a function word: "the composer of Star Wars".
    """
    nouns = np.zeros(len(ends), np.uint64)
    classes, gaps = np.append(texts.classes, 0), np.append(texts.gaps, t.HARD)  # behind the last text is nothing
    is_article = classes & np.uint32(t.DETERMINER) != 0
    going = np.flatnonzero((gaps[ends] == t.COMMA) & is_article[ends] & ~is_article[firsts - 1])
    found = nouns.copy()
    for place in range(1, MOST_WORDS + 2):
        at = ends[going] + place
        goes_on = (gaps[at] == t.SOFT) & (classes[at] & np.uint32(t.FUNCTION) == 0)
        ended = going[~goes_on]
        nouns[ended] = found[ended]
        going, at = going[goes_on], at[goes_on]
        is_plain = texts.marks[at] & np.uint8(t.HAS_CAPITAL) == 0
        found[going[is_plain]] = texts.hashes[at[is_plain]]
    return nouns
