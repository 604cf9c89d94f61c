"""Names with `?` for a letter: what the KB calls those who may be meant."""

from __future__ import annotations

import re
from itertools import product
from typing import NamedTuple

import numpy as np

from namesake.kb.columns import Strings
from namesake.kb.store import KB

LETTERS = (*"abcdefghijklmnopqrstuvwxyz", "ae", "oe", "ss", "th")
"""What a letter can be once its accents are folded away, as they are in names of the KB."""
MOST = 2  # of `?` in a name: three would be a million names to look up

_MARK = re.compile(r"( ?)\?( ?)")


class Filled(NamedTuple):
    """A name with its letters, as far as the KB has one, and the QIDs of the entities with it."""

    name: str
    qids: list[str]


def fill(kb: KB, name: str, candidates: list[str] | None = None) -> Filled:
    """The name of the KB that `name` stands for, with a letter in the place of each `?`, and the QIDs of its entities.

    A tokenizer may have set the mark apart: "jos ? eduardo" is "José Eduardo". If `candidates` are given, only these
    entities count. Without an entity, the name is unchanged.
    """
    if not 0 < name.count("?") <= MOST:
        return Filled(name, [])
    spelled = sorted(_spellings(name))
    asked = Strings.of(spelled)
    indptr, rows, _ = kb.names.lookup_many(asked.data, asked.offsets)
    wanted = None if not candidates else kb.rows(np.array([kb.ids.number(qid) for qid in candidates], np.int64))
    if wanted is not None:
        rows = np.where(np.isin(rows, wanted[wanted >= 0]), rows, -1)
    bearers = [rows[indptr[at] : indptr[at + 1]] for at in range(len(spelled))]
    fitting = [(at, fits) for at, found in enumerate(bearers) if len(fits := found[found >= 0])]
    if not fitting:
        return Filled(name, [])
    everybody = np.unique(np.concatenate([fits for _, fits in fitting]))
    best, fits = max(fitting, key=lambda one: len(one[1]))
    parts = [re.escape(part) for part in re.split(r" ?\? ?", name)]
    pattern = re.compile(r" ?[^\x00-\x7f] ?".join(parts), re.IGNORECASE)  # a letter that is not ASCII for each mark
    labels = (kb.label(int(row)) for row in fits)
    shown = next((label for label in labels if pattern.fullmatch(label)), spelled[best])
    return Filled(shown, [kb.id_of(int(row)) for row in everybody])


def _spellings(name: str) -> set[str]:
    """Every name that this can be: each mark any letter, joined to what is left or right of it, or to both."""
    pieces = _MARK.split(name)  # text, blank, blank, text, …
    choices = []
    for left, right in zip(pieces[1::3], pieces[2::3], strict=True):
        joints = {("", ""), ("", right), (left, "")}
        choices.append([f"{before}{letter}{after}" for letter in LETTERS for before, after in joints])
    texts = pieces[0::3]
    filled = product(*choices)
    return {"".join(text + fill for text, fill in zip(texts, (*one, ""), strict=True)) for one in filled}
