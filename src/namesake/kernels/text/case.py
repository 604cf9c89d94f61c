"""Whether a text is written with capitals, so that they tell something."""

from numba import types

from namesake.kernels.compiled import inlined


@inlined(types.boolean(types.int64, types.int64, types.int64))
def has_capitals(capitals, among, one_in):
    """Whether at least one in so many letters or words is a capital.

    Sentences and names ask this of different texts, and cannot share one answer. A sentence may end at the first
    capital, so the beginning of a text counts, by letters. A name is doubted where capitals are few, so the whole text
    counts, by words: a long quotation with one capital at its start ends sentences, but does not tell names.
    """
    return capitals * one_in >= among
