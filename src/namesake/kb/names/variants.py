"""Tables for the search for variants of a name: sounds of letters, nicknames, and the keys of names."""

from __future__ import annotations

from functools import cache

import numpy as np

from namesake.arrays import Int32, UInt8, UInt64
from namesake.kb.columns.column_files import Strings
from namesake.kernels.hash import hash_bytes
from namesake.kernels.names import similar as kernels
from namesake.language import Language

SOUNDS = str.maketrans("yjwcqzeo", "iivkksau", "")
CYRILLIC = "абвгдежзийклмнопрстуфхцчшщъыьэюяєіїђјљњћџ"
CYRILLIC_START, CYRILLIC_ROW = 0x0400, 256


@cache
def romans(language: Language) -> UInt8:
    """What each ASCII byte (rows from 0) and each Cyrillic letter (rows from 256) sounds like, as up to 4 letters."""
    written = zip(CYRILLIC, language.cyrillic.split(), strict=True)
    table = np.zeros((CYRILLIC_ROW + 128, 4), np.uint8)
    sounds = {ord(letter): letter for letter in "abcdefghijklmnopqrstuvwxyz0123456789"} | {ord("x"): "ks"}
    sounds |= {CYRILLIC_ROW + ord(c) - CYRILLIC_START: latin.strip("-") for c, latin in written}
    for row, letters in sounds.items():
        sounded = letters.translate(SOUNDS).encode()
        table[row, : len(sounded)] = list(sounded)
    return table


@cache
def nicknames(language: Language) -> kernels.Nicknames:
    """The language's nicknames for the kernel: every two names of a group may stand for each other."""
    others: dict[int, set[str]] = {}
    for group in language.nicknames:
        for name in group:
            others.setdefault(_hash(name), set()).update(set(group) - {name})
    keys = sorted(others)
    members = [sorted(others[key]) for key in keys]
    flat = [name for group in members for name in group]
    return kernels.Nicknames(
        np.array(keys, np.uint64),
        np.cumsum([0, *map(len, members)]).astype(np.int64),
        np.array([_hash(name) for name in flat], np.uint64),
        np.array([name[0].translate(SOUNDS).encode()[0] for name in flat], np.uint8),
    )


def _hash(token: str) -> int:
    data = token.encode()
    return int(hash_bytes(np.frombuffer(data, np.uint8), 0, len(data)))


def file_names(names: Strings, language: Language) -> tuple[UInt64, Int32]:
    """Search keys, ascending, and the name of each: names with the same ending sound and first letter share a key."""
    keys = np.empty(len(names), np.uint64)
    kernels.file_names(names.data, names.offsets, romans(language), keys)
    order = np.argsort(keys, kind="stable")
    order = order[np.searchsorted(keys[order], np.uint64(1)) :]
    return keys[order], order.astype(np.int32)
