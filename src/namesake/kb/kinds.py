"""What kinds of items there are, what follows from the kind, and which classes (P31) are of which."""

from __future__ import annotations

from typing import NamedTuple


class Kind(NamedTuple):
    """A kind of items, and the rules that names of such items follow."""

    name: str
    linked: bool
    """Whether mentions may be linked to it."""
    shortened: bool
    """Whether it is called by short forms of its names (`forms.FORMS`)."""
    blocks: bool
    """Whether its name speaks against somebody of that name: Paris, Houston."""


OTHER, PERSON, PLACE, ORGANISATION, WORK, NAME = range(6)

KINDS = (
    Kind("other", linked=False, shortened=False, blocks=True),
    Kind("person", linked=True, shortened=True, blocks=False),
    Kind("place", linked=False, shortened=False, blocks=True),
    Kind("organisation", linked=False, shortened=False, blocks=True),
    Kind("work", linked=False, shortened=False, blocks=True),
    Kind("name", linked=False, shortened=False, blocks=False),  # given and family names, characters, disambiguations
)
"""The kinds in the order of their numbers."""
