"""Who somebody is, in a line."""

from __future__ import annotations

from functools import lru_cache

from namesake.kb.store import KB

COUNTRY, OCCUPATION = 27, 106
MOST = 2


@lru_cache(maxsize=1 << 16)
def about(kb: KB, row: int) -> str:
    """The description of an entity; where it has none, its occupations and country."""
    described = kb.descriptions[row]
    if described:
        return described
    values: dict[int, list[str]] = {OCCUPATION: [], COUNTRY: []}
    for pair in kb.statements[row].tolist():
        kept = values.get(int(kb.pair_property[pair]))
        value = int(kb.pair_value[pair])
        if kept is not None and len(kept) < MOST and value >= 0 and kb.item_labels[value]:
            kept.append(kb.item_labels[value])
    return ", ".join([*values[OCCUPATION], *values[COUNTRY]])
