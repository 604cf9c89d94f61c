"""How long fuzzers go on, NAMESAKE_HOSTILE_SECONDS, and from which seed, NAMESAKE_HOSTILE_SEED; failures print it."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator

import pytest

QUICK, LONG = 2.0, 45.0
LENGTHS = [pytest.param(True, id="quick"), pytest.param(False, id="long", marks=pytest.mark.hostile)]
"""For the parameter `quick` of a fuzzer."""


def rounds(name: str, quick: bool) -> Iterator[random.Random]:
    """A generator of random numbers for each round, until the time is over; at least one round is played."""
    seconds = QUICK if quick else float(os.environ.get("NAMESAKE_HOSTILE_SECONDS", LONG))
    first = int(os.environ.get("NAMESAKE_HOSTILE_SEED", 1))
    over = time.monotonic() + seconds
    number = first
    while number == first or time.monotonic() < over:
        print(f"seed {number} of {name}; NAMESAKE_HOSTILE_SEED={number} begins with it")
        yield random.Random(f"{name} {number}")
        number += 1
