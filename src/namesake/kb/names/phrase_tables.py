"""The tables for reading texts: everything about a phrase or a word in one place of memory."""

from __future__ import annotations

import numpy as np

from namesake.arrays import UInt64
from namesake.errors import NamesakeError
from namesake.kb.columns import large
from namesake.kb.columns.declaration import LONGEST_RUN
from namesake.kb.columns.layout import NameColumns
from namesake.kernels.names import phrases as kernels
from namesake.kernels.tables import table_size

EACH = 64
"""Temporary memory per slot, in bytes."""


def phrases(names: NameColumns) -> UInt64:
    """The column `phrase.entry`."""
    for size, most, what in (
        (len(names.texts), kernels.MOST_NAMES, "names"),
        (len(names.short_entities), kernels.MOST_SHORTS, "short forms"),
    ):
        if size > most:
            raise NamesakeError(
                f"{size:,} {what} are too many for one KB, which has room for {most:,}: keep fewer items"
            )
    tables = names.hashes, names.short_hashes, names.thing_hashes
    taken = sum(int(np.count_nonzero(table)) for table in tables)
    entries = large.zeros(kernels.PHRASE * table_size(taken), np.uint64)
    for hashes, slots, at, field in (
        (names.hashes, names.slots, np.uint64(0), kernels.NAME_MASK),
        (names.short_hashes, names.short_slots, kernels.SHORT_AT, _SHORT),
    ):
        for low, high in large.blocks(len(hashes), EACH):
            rows = slots[low:high].astype(np.int64) + 1
            _enter(hashes[low:high], rows.view(np.uint64) << at, field, entries)
    for low, high in large.blocks(len(names.thing_hashes), EACH):
        kinds = names.thing_kind[low:high].astype(np.uint64) << kernels.KIND_AT
        fame = names.thing_fame[low:high].astype(np.uint64) << kernels.FAME_AT
        _enter(names.thing_hashes[low:high], kinds | fame, _NON_PERSON, entries)
    return entries


_SHORT, _NON_PERSON = kernels.SHORT_MASK << kernels.SHORT_AT, ~np.uint64(0) << kernels.KIND_AT


def _enter(hashes: UInt64, packed: UInt64, field: np.uint64, entries: UInt64) -> None:
    """Enter the occupied slots."""
    taken = hashes != 0
    if not kernels.enter(hashes[taken], packed[taken], field, LONGEST_RUN, entries):
        raise NamesakeError("too many names share the lowest bits of their hashes")


def words(names: NameColumns) -> UInt64:
    """The column `token.entry`."""
    entries = large.empty(kernels.WORD * len(names.token_hashes), np.uint64)
    for low, high in large.blocks(len(names.token_hashes), EACH):
        some = entries[kernels.WORD * low : kernels.WORD * high].reshape(-1, kernels.WORD)
        some[:, 0] = names.token_hashes[low:high]
        some[:, 1] = names.token_last[low:high]
        some[:, 1] = some[:, 1] << np.uint64(32) | names.token_first[low:high].view(np.uint32)
        some[:, 2] = names.token_lower[low:high]
        packed = np.empty(high - low, np.uint64)
        kernels.pack_words(names.token_hashes[low:high], names.phrases, packed)
        some[:, 3] = packed
    return entries
