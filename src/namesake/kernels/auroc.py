"""AUROC of many bootstrap samples at once."""

import numpy as np

from namesake.kernels.compiled import kernel


@kernel("float64[:](int64[:], float64[:], boolean[:], float64[:,:])")
def ordered_pairs(ascending, confidence, right, weights):
    """For each sample, the share of (right, wrong) pairs in which the right one has more confidence; ties count half.

    NaN for a sample without such pairs. `ascending` has the mentions by confidence, the lowest first.
    """
    samples, mentions = len(weights), len(ascending)
    share = np.full(samples, np.nan)
    for s in range(samples):
        rights = wrongs = won = 0.0
        k = 0
        while k < mentions:
            tied_right = tied_wrong = 0.0
            level = confidence[ascending[k]]
            while k < mentions and confidence[ascending[k]] == level:
                if right[ascending[k]]:
                    tied_right += weights[s, ascending[k]]
                else:
                    tied_wrong += weights[s, ascending[k]]
                k += 1
            won += tied_right * (wrongs + tied_wrong / 2)
            rights += tied_right
            wrongs += tied_wrong
        if rights > 0 and wrongs > 0:
            share[s] = won / (rights * wrongs)
    return share
