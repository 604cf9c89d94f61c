"""Places that contain others, with dictionaries: the slow twin of `kernels/link/larger_places.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def larger(row: int, direct: Mapping[int, Sequence[int]], most: int) -> list[int]:
    """The places that contain an entity, the direct ones first; those of each follow, at most so many in all."""
    found = list(direct.get(row, ()))[:most]
    for place in found:  # which grows
        found += list(direct.get(place, ()))[: most - len(found)]
    return found


def contained(
    pairs: Sequence[tuple[Sequence[int], Sequence[int]]], direct: Mapping[int, Sequence[int]], most: int
) -> list[tuple[list[bool], list[bool]]]:
    """For pairs of lists of candidates: which of the first are in one of the second, which of those contain one."""
    found = []
    for before, after in pairs:
        inside = [[one in larger(row, direct, most) and one != row for one in after] for row in before]
        found.append(([any(each) for each in inside], [any(each) for each in zip(*inside, strict=True)]))
    return found
