"""The kinds of entities by name and number, for kernels and columns. `namesake.kinds` describes each kind."""

KINDS = ("other", "person", "place", "organisation", "work", "event", "product", "character")
"""Their names by number, in the order of `kinds.toml`."""
OTHER, PERSON, PLACE, ORGANISATION, WORK, EVENT, PRODUCT, CHARACTER = range(len(KINDS))
NAME, DROPPED = len(KINDS), len(KINDS) + 1
"""Items that are entities only if a KB keeps all items: given names, family names and pages of Wikimedia (NAME), genes,
asteroids … (DROPPED)."""
UNKNOWN = -1
"""The kind of a class or an item for which no rule has decided."""
