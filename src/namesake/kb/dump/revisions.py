"""Which records of the dumps count: of several records of one item the one of the latest revision, else the last.

A deleted item has none. Statements about a redirected item are about its target. `history` is what the manifest says
about updates.
"""

from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec
import numpy as np

from namesake import __version__
from namesake.arrays import Bool, Int32, Int64, UInt64
from namesake.errors import NamesakeError
from namesake.kb.build_options import Options
from namesake.kb.columns import large
from namesake.kb.dump.parse import Items
from namesake.kb.manifest import Gathered, Sources, Update
from namesake.kernels.columns import bitmap
from namesake.kernels.columns.group import NONE, settle

SHOWN = 5  # items of a cycle of redirects in an error


class Current(NamedTuple):
    """The records that count."""

    first: Bool  # whether each item of the dump counts
    outdated: int  # number of records that are older than one before them
    gone: Int64  # QIDs that have no record any more, ascending
    targets: Int64  # the item that replaces each; 0 if it is deleted


def current(items: Items) -> Current:
    """The records that count. Statements about redirected items are changed to their targets."""
    bits, before = _bitmap(items.qid, items.gone_qid)
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
        known, ends = _bitmap(qids[moved]), _ends(qids[moved], targets[moved])

        def followed(values: Int64) -> Int64:
            place = bitmap.find(*known, values)
            return np.where(place < 0, values, ends[place])

        items.statement_value = large.computed(np.int64, 16, followed, items.statement_value)
    return Current(first, int(outdated), qids, targets)


def _bitmap(*columns: Int64) -> tuple[UInt64, Int32]:
    """The set of the QIDs in some columns, for `bitmap.find`."""
    bits = np.zeros(int(max(qids.max(initial=0) for qids in columns)) // 64 + 1, np.uint64)
    for qids in columns:
        bitmap.add_all(bits, qids)
    return bits, bitmap.count_before(bits)


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


def history(options: Options, items: Items, content: Gathered, current: Current) -> dict[str, Any]:
    """The fields `generation`, `updates` and `sources` of the manifest."""
    if not options.updatable:
        return {}
    content = msgspec.structs.replace(content, outdated=current.outdated)
    wikipedia = None if options.wikipedia is None else str(options.wikipedia)
    ranks = {source: str(file) for source, file in options.ranks.items()}
    fields: dict[str, Any] = {"sources": Sources(content, wikipedia, ranks, __version__)}
    if not options.base or not (old := options.base[1]).sources:
        return fields
    base = old.sources.gathered
    counted = items.qid[base.items :][current.first[base.items :]]
    changed = int(np.count_nonzero(bitmap.find(*_bitmap(items.qid[: base.items]), counted) >= 0))
    gone = np.isin(current.gone, items.gone_qid[base.gone :])
    redirected = int(np.count_nonzero(current.targets[gone]))
    update = Update(
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        files=[*options.dumps, *([str(options.deleted)] if options.deleted else [])],
        added=len(counted) - changed,
        changed=changed,
        deleted=int(gone.sum()) - redirected,
        redirected=redirected,
        outdated=current.outdated - base.outdated,
    )
    return fields | {"generation": old.generation + 1, "updates": [*old.updates, update]}
