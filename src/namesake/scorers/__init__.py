"""Scorers: functions from a batch and a KB to one number a candidate, higher is better, by their paper names."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from namesake.batch import Batch
from namesake.kb.store import KB

Scores = npt.NDArray[np.float64]
Scorer = Callable[[Batch, KB], Scores]

SCORERS: dict[str, Scorer] = {}
"""Every scorer that runs here, by the name recipes use."""


def scorer(name: str) -> Callable[[Scorer], Scorer]:
    """Register a function as the scorer `name`."""

    def register(function: Scorer) -> Scorer:
        SCORERS[name] = function
        return function

    return register


from namesake.scorers import dates, names, overlap, popularity, relations  # noqa: E402, F401  (they register themselves)
