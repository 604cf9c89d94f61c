"""Suggestions for a name that is not in the KB: similar names that are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from namesake.kb.columns import Strings
from namesake.kb.names.normalise import normalise
from namesake.kb.store import KB
from namesake.names.candidates import candidates

SUGGESTED = 3
LONGEST = 30
"""Maximum length of a word for which misspellings are tried."""


def near_names(kb: KB, name: str) -> list[str]:
    """Labels of the most prominent entities with a similar name: a short form, a variant, or one letter different."""
    asked = Strings.of([name])
    short = kb.names.short_form(name)
    close = [] if short is None else [short.rows]
    close += [candidates(kb.names, asked.data, asked.offsets, variants="missing").rows]
    close += [kb.names.entities[int(name_id)] for name_id in _misspelled(kb, normalise(name).split())]
    rows = np.unique(np.concatenate(close))
    best_known = rows[np.argsort(-kb.sitelinks[rows], kind="stable")].tolist()
    return list(dict.fromkeys(kb.label(row) for row in best_known))[:SUGGESTED]


def _misspelled(kb: KB, tokens: list[str]) -> Iterator[int]:
    """Names with the same first or last word whose other word differs in one letter."""
    if len(tokens) < 2 or max(len(tokens[0]), len(tokens[-1])) > LONGEST:
        return
    for right, wrong in ((tokens[0], tokens[-1]), (tokens[-1], tokens[0])):
        for less in (wrong, *(wrong[:at] + wrong[at + 1 :] for at in range(len(wrong)))):
            yield from kb.names.misspelled(right, less)
