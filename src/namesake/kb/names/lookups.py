"""Look-ups beside the names themselves: short forms, tokens, names of things, slips of one letter."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from namesake.arrays import Float32, Int8, Int32, UInt8
from namesake.kb.columns.fame import STEPS
from namesake.kb.columns.name_layout import NameColumns
from namesake.kb.names.normalise import normalise
from namesake.kernels.hash import hash_bytes, slot_of
from namesake.kernels.names.index import name_hash
from namesake.kernels.names.slips import slip_openings


class Shortened(NamedTuple):
    """The best bearers of a short form, the weightiest first: rows, how they bear it, weights; and how many bear it."""

    rows: Int32
    forms: Int8
    weights: Float32
    bearers: int


class TokenCounts(NamedTuple):
    """How many labels of people a token begins, ends, is in the middle of; how often it stands in lower case."""

    first: int = 0
    last: int = 0
    middle: int = 0
    lower: int = 0


class Thing(NamedTuple):
    """The most famous thing of a name: fame on the scale of sitelinks, and kind, a row of `kinds.KINDS`."""

    fame: float
    kind: int


class PartNames(NameColumns):
    """The tables of the name index that are not names of entities; one look-up at a time, for people to read."""

    def short(self, name: str) -> Shortened | None:
        """Who is called so for short."""
        row = int(self.short_slots[slot_of(self.short_hashes, _hash(normalise(name)))])
        if row < 0:
            return None
        place = slice(*self.short_entities.indptr[row : row + 2])
        return Shortened(
            self.short_entities[row], self.short_forms[place], self.short_weights[place], int(self.short_count[row])
        )

    def token(self, token: str) -> TokenCounts:
        """How a token is used."""
        data = np.frombuffer(normalise(token).encode(), np.uint8)
        slot = slot_of(self.token_hashes, hash_bytes(data, 0, len(data)))
        columns = self.token_first, self.token_last, self.token_middle, self.token_lower
        return TokenCounts(*(int(column[slot]) for column in columns))

    def thing(self, name: str) -> Thing | None:
        """What else is called so."""
        slot = slot_of(self.thing_hashes, _hash(normalise(name)))
        if not self.thing_hashes[slot]:
            return None
        return Thing(float(np.expm1(self.thing_fame[slot] / STEPS)), int(self.thing_kind[slot]))

    @cached_property
    def slip_openings(self) -> UInt8:
        """Bits that say beside which words a slip may be meant: see `kernels.names.slips`."""
        openings: UInt8 = slip_openings(self.texts.data, self.texts.offsets, self.slip_names)
        return openings

    def slipped(self, one: str, other: str) -> Int32:
        """The names filed under two tokens: first and last less a letter, or last and first less a letter."""
        key = _hash(f"{normalise(one)} {normalise(other)}")
        return self.slip_names[slice(*(np.searchsorted(self.slip_hashes, key, side) for side in ("left", "right")))]


def _hash(normalised: str) -> np.uint64:
    data = np.frombuffer(normalised.encode(), np.uint8)
    return np.uint64(name_hash(data, 0, len(data)))
