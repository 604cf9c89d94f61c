"""The numbers of the kinds of entities, for kernels and columns. `namesake.kinds` describes each kind."""

OTHER, PERSON, PLACE, ORGANISATION, WORK, EVENT, PRODUCT, CHARACTER, NAME, DROPPED = range(10)
"""The kinds in the order of `kinds.toml`. Entities have numbers below `NAME`. The last two are items that are entities
only if a KB keeps all items: given names, family names and pages of Wikimedia (NAME), genes, asteroids … (DROPPED)."""
UNKNOWN = -1
"""The kind of a class or an item for which no rule has decided."""
