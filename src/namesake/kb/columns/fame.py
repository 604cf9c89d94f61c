"""Fame, on the scale of sitelinks: of entities, and of what is none."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from namesake.arrays import Float64

Numbers = npt.NDArray[Any]

SMALLEST_PLACE = 500
"""Inhabitants below which a place's size says nothing."""
BEFORE_COMMA, AN_ALIAS = 0.8, 0.7
"""What the fame of a thing is multiplied by for its label before a comma (Springfield, Illinois) and for an alias."""
STEPS = 20
"""Steps in which `thing.fame` grows where the logarithm of 1 + fame grows by one."""


def entity_fame(sitelinks: Numbers, statements: Numbers) -> Float64:
    """Sitelinks; for those who have none, 0.3 and 0.05 for each of up to ten statements."""
    return np.where(sitelinks > 0, sitelinks, 0.3 + 0.05 * np.minimum(statements, 10)).astype(np.float64)


def thing_fame(sitelinks: Numbers, population: Numbers, stated: Numbers) -> Float64:
    """The largest of sitelinks (more than one), what a population amounts to, what being stated so often does, and 1.

    1.2 (log10(population)**2.6 - 8) gives a town of 10,000 people 34, a city of a million 117; 8 log10(1 + n)**1.7
    gives 26 to what a hundred entities state, 67 to what three thousand do.
    """
    people = np.log10(np.maximum(population, SMALLEST_PLACE))
    of_population = np.where(population >= SMALLEST_PLACE, 1.2 * (people**2.6 - 8), 0)
    of_statements = 8 * np.log10(1 + stated) ** 1.7
    known = np.where(sitelinks > 1, sitelinks, 0)
    fame: Float64 = np.maximum.reduce([known, of_population, of_statements, np.ones(len(known))])
    return fame


def stepped(fame: Float64) -> npt.NDArray[np.uint8]:
    """Fame in steps, for one byte."""
    steps: Float64 = np.rint(STEPS * np.log1p(fame))
    return np.minimum(steps, 255).astype(np.uint8)
