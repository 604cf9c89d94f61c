"""What changed between two KBs: entities that were added, removed or merged, labels, and aliases."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from namesake.arrays import Bool, Int64, UInt64, arrow_texts
from namesake.kb.columns import Strings
from namesake.kb.store import KB
from namesake.kernels.hash import hash_each

MIX = np.uint64(0x9E3779B97F4A7C15)  # spreads QIDs over 64 bits


def diff(old: str | Path, new: str | Path) -> pa.Table:
    """The changes from one KB to another, as a table of `change`, `qid`, `label`, `before` and `after`.

    `change` is added, removed, merged, relabelled, new alias or removed alias. `label` is the newest one. Rows are
    ordered by change, then by QID. The target of a merged entity is known if the new KB can be updated. Texts are
    compared by 64-bit hashes.

    Args:
        old: the folder of the earlier KB.
        new: the folder of the later KB.
    """
    before, after = KB.open(old), KB.open(new)
    old_row, new_row = before.rows(after.qids), after.rows(before.qids)
    gone, kept = np.flatnonzero(new_row < 0), np.flatnonzero(new_row >= 0)
    targets = [after.redirects.get(f"Q{qid}", "") for qid in before.qids[gone].tolist()]
    is_merged = np.array([target != "" for target in targets], np.bool_)
    were, are = _labels(before, kept), _labels(after, new_row[kept])
    other = np.flatnonzero(_hashes(were) != _hashes(are))
    fresh, new_alias = _aliases_without(after, old_row >= 0, before, new_row >= 0)
    lost, old_alias = _aliases_without(before, new_row >= 0, after, old_row >= 0)
    return pa.concat_tables(
        [
            _table("added", after, np.flatnonzero(old_row < 0)),
            _table("removed", before, gone[~is_merged]),
            _table("merged", before, gone[is_merged], now=Strings.of(filter(None, targets))),
            _table("relabelled", after, new_row[kept[other]], were.take(other), are.take(other)),
            _table("new alias", after, fresh, now=new_alias),
            _table("removed alias", after, new_row[lost], old_alias),
        ]
    )


def _table(change: str, kb: KB, rows: Int64, was: Strings | None = None, now: Strings | None = None) -> pa.Table:
    columns = {
        "change": arrow_texts([change] * len(rows)),
        "qid": arrow_texts([f"Q{qid}" for qid in kb.qids[rows].tolist()]),
        "label": _labels(kb, rows).arrow(),
        "before": (was or Strings.empty(len(rows))).arrow(),
        "after": (now or Strings.empty(len(rows))).arrow(),
    }
    return pa.table(columns)


def _labels(kb: KB, rows: Int64) -> Strings:
    return kb.item_labels.take(kb.entity_item[rows])


def _hashes(texts: Strings) -> UInt64:
    hashed: UInt64 = hash_each(texts.data, texts.offsets)
    return hashed


def _aliases_without(kb: KB, in_both: Bool, other: KB, in_other: Bool) -> tuple[Int64, Strings]:
    """The aliases of entities of both KBs that only `kb` has: the row of each entity, and the alias."""
    rows, known = (np.repeat(np.arange(len(one)), np.diff(one.aliases.indptr)) for one in (kb, other))
    keys = _hashes(kb.alias_texts) ^ kb.qids[rows].view(np.uint64) * MIX
    others = _hashes(other.alias_texts) ^ other.qids[known].view(np.uint64) * MIX
    found = np.flatnonzero(in_both[rows] & ~np.isin(keys, others[in_other[known]]))
    return rows[found], kb.alias_texts.take(found)
