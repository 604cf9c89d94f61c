"""Slips of one letter in the names of people whom many write about."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from namesake.kb.columns.column_files import Ragged, Strings
from namesake.kb.columns.declaration import Made
from namesake.kb.columns.name_layout import NameColumns
from namesake.kernels.names import slips as kernels

SITELINKS = 10
"""How many sitelinks somebody must have for slips in his names to be known."""


def build_slips(names: Strings, bearers: Ragged, sitelinks: npt.NDArray[Any]) -> Made:
    """The columns of slips. Of each name the bearers are known, and of them the sitelinks."""
    known = np.zeros(len(names), np.bool_)
    known[np.repeat(np.arange(len(names)), np.diff(bearers.indptr))[sitelinks[bearers.values] >= SITELINKS]] = True
    meant = np.flatnonzero(known).astype(np.int32)
    room = int(np.diff(names.offsets)[meant].sum()) + 2 * len(meant)
    keys, values = np.empty(room, np.uint64), np.empty(room, np.int32)
    count = kernels.list_slips(names.data, names.offsets, meant, keys, values)
    order = np.argsort(keys[:count], kind="stable")
    columns = NameColumns
    return dict([columns.slip_hashes.holding(keys[order]), columns.slip_names.holding(values[order])])
