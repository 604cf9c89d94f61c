"""Entities by the beginning of their labels, for suggestions while a person types.

The labels are sorted once, when the first suggestion is asked for, and searched by bisection: 4 bytes of memory per
entity, and no column of its own in the KB.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property

import numpy as np
import pyarrow.compute as pc

from namesake.arrays import Int32
from namesake.kb.store import KB


class LabelIndex:
    """The entities of a KB in the order of their labels' bytes."""

    def __init__(self, kb: KB) -> None:
        self.kb = kb

    @cached_property
    def order(self) -> Int32:
        """The rows of the entities, by label."""
        labels = self.kb.item_labels.take(self.kb.entity_item)
        found: Int32 = pc.sort_indices(labels.arrow()).to_numpy().astype(np.int32)
        return found

    def beginning(self, prefix: str, most: int) -> list[int]:
        """The rows whose label begins with a prefix, in its case or In Title Case; the best known `most`, in order."""
        title = prefix.title()
        starts = [prefix] if title.startswith(prefix) else [prefix, title]
        rows = np.concatenate([self._rows(one.encode("utf-8", "replace")) for one in starts]).astype(np.int64)
        keys = rows - (self.kb.sitelinks[rows].astype(np.int64) << 32)
        best = np.sort(keys if len(keys) <= most else np.partition(keys, most)[:most])
        found: list[int] = (best & 0xFFFFFFFF).tolist()
        return found

    def _rows(self, prefix: bytes) -> Int32:
        """The rows whose label begins with these bytes; no byte of UTF-8 is as large as FF."""
        begin, end = (bisect_left(self.order, one, key=self._label) for one in (prefix, prefix + b"\xff"))
        return self.order[begin:end]

    def _label(self, row: np.int32) -> bytes:
        labels, item = self.kb.item_labels, self.kb.entity_item[row]
        return labels.data[labels.offsets[item] : labels.offsets[item + 1]].tobytes()
