"""Which records of the dumps count: of several records of one item the one of the latest revision, else the last.

A deleted item has none. Statements about a redirected item are about its target.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from namesake.arrays import Bool, Int64
from namesake.errors import NamesakeError
from namesake.kb.columns import large
from namesake.kb.dump.parse import Items
from namesake.kernels.columns import bitmap
from namesake.kernels.columns.group import NONE, settle

SHOWN = 5  # items of a cycle of redirects in an error


class Current(NamedTuple):
    """The records that count."""

    first: Bool
    """Whether each item of the dump counts."""
    outdated: int
    """Number of records that are older than one before them."""
    gone: Int64
    """QIDs that have no record any more, ascending."""
    targets: Int64
    """The item that replaces each; 0 if it is deleted."""


def current(items: Items) -> Current:
    """The records that count. Statements about redirected items are changed to their targets."""
    bits = np.zeros(max(_largest(items.qid), _largest(items.gone_qid)) // 64 + 1, np.uint64)
    bitmap.add_all(bits, items.qid)
    bitmap.add_all(bits, items.gone_qid)
    before = bitmap.count_before(bits)
    chosen = large.full(int(before[-1]), NONE, np.int32)
    gone_item = bitmap.find(bits, before, items.gone_qid)
    gone = items.gone_target, items.gone_before
    outdated = settle(bitmap.find(bits, before, items.qid), items.revision, gone_item, *gone, chosen)
    first = np.zeros(len(items.qid), np.bool_)
    first[chosen[chosen >= 0]] = True
    is_gone = chosen[gone_item] < 0
    qids, event = np.unique(items.gone_qid[is_gone], return_index=True)
    last = NONE - 1 - chosen[gone_item[is_gone][event]]
    targets = np.where(last >= 0, items.gone_target[last], 0)
    moved = targets > 0
    if moved.any():
        items.statement_value = _redirected(items.statement_value, qids[moved], _ends(qids[moved], targets[moved]))
    return Current(first, int(outdated), qids, targets)


def _largest(qids: Int64) -> int:
    return int(qids.max(initial=0))


def _ends(qids: Int64, targets: Int64) -> Int64:
    """The last item of each chain of redirects. Raises NamesakeError for a cycle."""
    target_of = dict(zip(qids.tolist(), targets.tolist(), strict=True))
    ends: dict[int, int] = {}
    for qid in target_of:
        chain, seen = [qid], {qid}
        while (following := ends.get(chain[-1]) or target_of.get(chain[-1])) is not None:
            chain.append(following)
            if following in seen:
                cycle = " → ".join(f"Q{one}" for one in chain[chain.index(following) :][-SHOWN:])
                raise NamesakeError(f"redirects form a cycle: {cycle}; remove one of them from the changes")
            seen.add(following)
        ends |= dict.fromkeys(chain[:-1], chain[-1])
    return np.array([ends[qid] for qid in qids.tolist()], np.int64)


def _redirected(values: Int64, qids: Int64, ends: Int64) -> Int64:
    """The values of statements, with the last target of each redirected item in its place."""
    made = large.empty(len(values), np.int64)
    bits = np.zeros(_largest(qids) // 64 + 1, np.uint64)
    bitmap.add_all(bits, qids)
    before = bitmap.count_before(bits)
    for low, high in large.blocks(len(values), 16):
        place = bitmap.find(bits, before, values[low:high])
        made[low:high] = np.where(place < 0, values[low:high], ends[place])
    return made
