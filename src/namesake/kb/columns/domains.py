"""What the rows of columns stand for, and what numbers many columns may hold."""

from __future__ import annotations

from namesake.kb.columns.declaration import Axis, between

LARGEST_ID = 2**31 - 1

ENTITY = Axis("entity", counted="entities")
ITEM = Axis("item", counted="items")
ALIAS = Axis("alias")
PAIR = Axis("pair")
TENURE = Axis("dated statement")
STRING = Axis("string")
PROPERTY = Axis("property")
WORD = Axis("word", counted="words")
NAME = Axis("name", counted="names")
FILED = Axis("filed name")
BEARER = Axis("bearer of a name", values_of="name.entity")
BITMAP = Axis("64 QIDs")
BITMAP_BOUND = Axis("bound of 64 QIDs", one_more_than=BITMAP)
SURFACE_SLOT = Axis("slot for a surface form", power_of_two=True)
STEM_SLOT = Axis("slot for a word", power_of_two=True)
NAME_SLOT = Axis("slot for a name", power_of_two=True)
PREFIX_BYTE = Axis("8 hashes", power_of_two=True)
SHORT = Axis("short form")
SHORT_BEARER = Axis("bearer of a short form", values_of="short.entity")
SHORT_SLOT = Axis("slot for a short form", power_of_two=True)
TOKEN_SLOT = Axis("slot for a token", power_of_two=True)
THING_SLOT = Axis("slot for a thing's name", power_of_two=True)
PHRASE_HALF = Axis("half of a slot for a phrase", power_of_two=True)
TOKEN_QUARTER = Axis("quarter of a slot for a token", power_of_two=True)
SLIP = Axis("name with a slip")

ID = between(1, LARGEST_ID)
COUNT = between(0)
