"""Which values of a property a text names: the very label of an item, a string, a QID, or the initials of a label.

Words that a value merely contains are another matter (`kernels.link.agree`): Northern Ireland is not Ireland.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from namesake.arrays import Int32, Int64, UInt64, indptr
from namesake.kb.columns import Strings
from namesake.kb.spelling import normalise_many
from namesake.kb.store import KB
from namesake.kernels.names.index import hash_names
from namesake.kernels.types import Ragged

_ANY_LENGTH = 1 << 40
_INITIALS = re.compile(r"[a-z]{2,6}")


def named_values(kb: KB, numbers: tuple[int, ...], texts: Sequence[str]) -> Ragged:
    """The pairs of these properties whose value is called as each text is, but for case, accents and punctuation."""
    pairs, _ = _called(kb, numbers)
    hashes, order = _by_hash(kb, numbers)
    asked = _hashes(normalise_many(Strings.of(texts)))
    low = np.searchsorted(hashes, asked, "left")
    high = np.where(asked == 0, low, np.searchsorted(hashes, asked, "right"))
    items = kb.items(np.array([int(text[1:]) if is_qid(text) else -1 for text in texts], np.int64))
    values = kb.pair_value[pairs]
    rows = [
        np.sort(pairs[order[begin:end]]) if item < 0 else pairs[values == item]
        for begin, end, item in zip(low.tolist(), high.tolist(), items.tolist(), strict=True)
    ]
    return _ragged(rows)


def initialled_values(kb: KB, numbers: tuple[int, ...], texts: Sequence[str]) -> Ragged:
    """The pairs whose value has a label that begins with these initials, up to its last word but one: USA, US."""
    short = [normalised if _INITIALS.fullmatch(normalised) else "" for normalised in _each(texts)]
    pairs = _called(kb, numbers)[0]
    found = _initials(kb, numbers) if any(short) else {}
    return _ragged([pairs[found.get(text, [])] for text in short])


@lru_cache(maxsize=64)
def _called(kb: KB, numbers: tuple[int, ...]) -> tuple[Int32, Strings]:
    """The pairs of some properties, and what their values are called, normalised."""
    pairs = np.flatnonzero(np.isin(kb.pair_property, numbers)).astype(np.int32)
    values = kb.pair_value[pairs]
    labels = kb.item_labels.take(np.where(values >= 0, values, -1)).arrow().to_pylist()
    strings = kb.strings.take(np.where(values < 0, ~values, -1)).arrow().to_pylist()
    texts = normalise_many(Strings.of(label or string for label, string in zip(labels, strings, strict=True)))
    return pairs, texts


@lru_cache(maxsize=64)
def _by_hash(kb: KB, numbers: tuple[int, ...]) -> tuple[UInt64, Int64]:
    """The hashes of what the values are called, ascending, and the place of each among the pairs."""
    hashes = _hashes(_called(kb, numbers)[1])
    order = np.argsort(hashes, kind="stable")
    return hashes[order], order


@lru_cache(maxsize=64)
def _initials(kb: KB, numbers: tuple[int, ...]) -> dict[str, list[int]]:
    """Places among the pairs by the initials of their labels, and by those without the last."""
    found: dict[str, list[int]] = {}
    for place, label in enumerate(_called(kb, numbers)[1].arrow().to_pylist()):
        words = [word for word in label.split() if word not in kb.language.stop_words]
        initials = "".join(word[0] for word in words)
        for short in {initials, initials[:-1]}:
            if len(short) > 1:
                found.setdefault(short, []).append(place)
    return found


def _each(texts: Sequence[str]) -> list[str]:
    normalised: list[str] = normalise_many(Strings.of(texts)).arrow().to_pylist()
    return normalised


def _hashes(texts: Strings) -> UInt64:
    hashes: UInt64 = hash_names(texts.data, texts.offsets, _ANY_LENGTH)
    return hashes


def is_qid(text: str) -> bool:
    """Whether a value is given as a QID."""
    return text[:1] == "Q" and text[1:].isdecimal() and len(text) < 12


def _ragged(rows: Sequence[Int32]) -> Ragged:
    counts: Int64 = np.array([len(row) for row in rows], np.int64)
    return Ragged(indptr(counts), np.concatenate([np.empty(0, np.int32), *rows]).astype(np.int32))
