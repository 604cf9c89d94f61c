"""Columns that follow from other columns of the KB: one declaration in `layout.py` and one function here, each.

A function gets the columns that are written so far and returns the new one. The functions run in the order in which
they stand here, after everything else is written.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from namesake.arrays import Int32, UInt64
from namesake.errors import NamesakeError
from namesake.kb.columns import LONGEST_RUN, Column, Columns, KBColumns, Mapped, NameColumns, large
from namesake.kb.publish.draft import Draft
from namesake.kernels.columns import bitmap
from namesake.kernels.columns.group import count_values
from namesake.kernels.dump.wikidata import FIRST_OWN
from namesake.kernels.hash import table_size
from namesake.kernels.names import phrases as pack

C = TypeVar("C")

SLOT_BYTES = 64  # temporary memory per slot of a hash table

DERIVED: dict[Column[Any], Callable[[KBColumns], Any]] = {}
"""The function of each derived column, in the order in which they run."""


def derived(column: Column[C]) -> Callable[[Callable[[KBColumns], C]], Callable[[KBColumns], C]]:
    """Register the decorated function as the one that makes `column`."""
    return lambda function: DERIVED.setdefault(column, function)


def derive_all(draft: Draft) -> None:
    """Make the derived columns of a draft, each from those that are written."""
    for column, function in DERIVED.items():
        draft.write(column, function(KBColumns(Columns(draft.folder))))  # maps only the columns that it needs


@derived(KBColumns.qid_bits)
def qid_bits(kb: KBColumns) -> UInt64:
    """The set of QIDs as a bitmap, from which `KB.rows` reads a QID's row."""
    qids = kb.qids[: np.searchsorted(kb.qids, FIRST_OWN)]  # `KB.rows` finds own entities without it
    bits = np.zeros(int(qids.max(initial=0)) // 64 + 1, np.uint64)
    bitmap.add_all(bits, qids)
    return bits


@derived(KBColumns.qid_before)
def qid_before(kb: KBColumns) -> Int32:
    """The running counts of that bitmap."""
    before: Int32 = bitmap.count_before(kb.qid_bits)
    return before


@derived(NameColumns.phrases)
def phrases(kb: Mapped) -> UInt64:
    """All names, short forms and names of non-people, by their hashes."""
    names = NameColumns(kb.columns)
    counts = (len(names.texts), pack.MOST_NAMES, "names"), (len(names.short_entities), pack.MOST_SHORTS, "short forms")
    for size, most, what in counts:
        if size > most:
            raise NamesakeError(
                f"{size:,} {what} are too many for one KB, which has room for {most:,}: keep fewer items"
            )
    tables = names.hashes, names.short_hashes, names.thing_hashes
    entries = large.zeros(pack.PHRASE * table_size(int(sum(map(np.count_nonzero, tables)))), np.uint64)
    for hashes, values, plus, at, field in (
        (names.hashes, names.slots, 1, np.uint64(0), pack.NAME_MASK),
        (names.short_hashes, names.short_slots, 1, pack.SHORT_AT, pack.SHORT_MASK << pack.SHORT_AT),
        (names.thing_hashes, names.thing_fame, 0, pack.FAME_AT, ~np.uint64(0) << pack.FAME_AT),
    ):
        for low, high in large.blocks(len(hashes), SLOT_BYTES):
            taken = hashes[low:high] != 0
            packed = (values[low:high][taken].astype(np.int64) + plus).view(np.uint64) << at
            if not pack.enter(hashes[low:high][taken], packed, field, LONGEST_RUN, entries):
                raise NamesakeError("too many names share the lowest bits of their hashes")
    return entries


@derived(KBColumns.pair_count)
def pair_count(kb: KBColumns) -> Int32:
    """How many entities state each pair."""
    return _counts(kb.statements.values, len(kb.pair_value))


@derived(KBColumns.word_count)
def word_count(kb: KBColumns) -> Int32:
    """How many entities have each word in D+S."""
    return _counts(kb.words_ds.values, len(kb.words))


def _counts(values: Int32, size: int) -> Int32:
    """How often each number below `size` occurs."""
    counts = np.zeros(size, np.int64)
    count_values(values, counts)
    return counts.astype(np.int32)
