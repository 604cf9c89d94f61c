"""The columns of the name index, each declared once, as `layout.py` declares those of a KB."""

from __future__ import annotations

import numpy as np

from namesake.kb.columns.declaration import (
    ANY,
    ASCENDING,
    KEYS,
    NEVER_FALLING,
    Array,
    Lists,
    Mapped,
    Text,
    between,
    count_of,
    entries,
    made_by,
    row_of,
)
from namesake.kb.columns.domains import (
    BEARER,
    COUNT,
    ENTITY,
    FILED,
    NAME,
    NAME_SLOT,
    PHRASE_HALF,
    PREFIX_BYTE,
    SHORT,
    SHORT_BEARER,
    SHORT_SLOT,
    SLIP,
    THING_SLOT,
    TOKEN_QUARTER,
    TOKEN_SLOT,
)

NAMES = made_by("names.index.build_names")
SHORTS = made_by("names.short_forms.build_shorts")
TOKENS = made_by("names.name_tokens.count_tokens")
THINGS = made_by("names.non_people.build_things")
SLIPS = made_by("names.misspellings.build_slips")


class NameColumns(Mapped):
    """The columns of the name index."""

    hashes = Array(
        "name.key",
        np.uint64,
        NAME_SLOT,
        "Hash table by open addressing: hash of the name in each slot, 0 in a free one.",
        NAMES,
        KEYS,
    )
    slots = Array(
        "name.slot",
        np.int32,
        NAME_SLOT,
        "The name in each slot, -1 in a free one.",
        NAMES,
        row_of(NAME, taken_in="name.key"),
    )
    prefixes = Array(
        "name.prefix",
        np.uint8,
        PREFIX_BYTE,
        "One bit for the hash of every beginning of two tokens or more of a name or of a thing's: may it go on here?",
        NAMES,
    )
    person = Array(
        "name.person",
        np.uint8,
        NAME,
        "How much each name looks like a person's; low where it is made of ordinary words.",
        NAMES,
        between(0, 100),
    )
    drawers = Array(
        "name.drawer",
        np.uint64,
        FILED,
        "Where names are filed for the search of variants: sound of the last token, first letter.",
        NAMES,
        ANY,
        NEVER_FALLING,
    )
    filed = Array("name.filed", np.int32, FILED, "The name in each drawer.", NAMES, row_of(NAME))
    texts = Text("name.text", NAME, "The normalised names.", NAMES)
    entities = Lists("name.entity", np.int32, NAME, "Who bears each name.", NAMES, row_of(ENTITY), ASCENDING)
    kinds = Array(
        "name.entity.kind",
        np.int8,
        BEARER,
        "How each of `entities.values` bears it: 0 label, 1 alias, 2 and 3 bare forms of them.",
        NAMES,
        between(0, 3),
    )

    # short forms: what an entity is called by part of its name
    short_hashes = Array(
        "short.key",
        np.uint64,
        SHORT_SLOT,
        "Hash table from short forms, hashed as names are: hash in each slot, 0 in a free one.",
        SHORTS,
        KEYS,
    )
    short_slots = Array(
        "short.slot",
        np.int32,
        SHORT_SLOT,
        "The short form in each slot, -1 in a free one.",
        SHORTS,
        row_of(SHORT, taken_in="short.key"),
    )
    short_entities = Lists(
        "short.entity",
        np.int32,
        SHORT,
        "Who bears each short form: the `shorts.MOST` of the largest weight, that first; of equal ones the lowest row.",
        SHORTS,
        row_of(ENTITY),
    )
    short_forms = Array(
        "short.entity.form",
        np.int8,
        SHORT_BEARER,
        "How each of `short_entities.values` bears it, as a row of `forms.FORMS`: 0 mononym, 1 surname, 2 head, "
        "3 first, 4 pair, 5 suffix, 6 begin, 7 called, 8 nick, 9 alias surname.",
        SHORTS,
        between(0, 9),
    )
    short_weights = Array(
        "short.entity.weight",
        np.float32,
        SHORT_BEARER,
        "Weight of each of `short_entities.values`: fame times the weight of the form, half of it from an alias.",
        SHORTS,
        COUNT,
    )
    short_count = Array(
        "short.count", np.int32, SHORT, "How many entities bear each short form.", SHORTS, count_of(ENTITY)
    )

    # tokens
    token_hashes = Array(
        "token.key",
        np.uint64,
        TOKEN_SLOT,
        "Hash table from tokens (`hash_bytes`, not a name's hash): hash in each slot, 0 in a free one.",
        TOKENS,
        KEYS,
    )
    token_first = Array(
        "token.first", np.int32, TOKEN_SLOT, "How many people's labels the token begins.", TOKENS, count_of(ENTITY)
    )
    token_last = Array(
        "token.last", np.int32, TOKEN_SLOT, "How many people's labels the token ends.", TOKENS, count_of(ENTITY)
    )
    token_middle = Array(
        "token.middle",
        np.int32,
        TOKEN_SLOT,
        "How often the token stands between first and last in people's labels.",
        TOKENS,
        COUNT,
    )
    token_lower = Array(
        "token.lower",
        np.int32,
        TOKEN_SLOT,
        "How often the token stands in lower case in descriptions and in names of things that begin in lower case.",
        TOKENS,
        COUNT,
    )

    # things: names of what is no person
    thing_hashes = Array(
        "thing.key",
        np.uint64,
        THING_SLOT,
        "Hash table from names of things, hashed as names are: hash in each slot, 0 in a free one.",
        THINGS,
        KEYS,
    )
    thing_fame = Array(
        "thing.fame",
        np.uint8,
        THING_SLOT,
        "round(20 log(1 + fame)) of the most famous thing of that name, 0 in a free slot.",
        THINGS,
    )
    thing_kind = Array("thing.kind", np.int8, THING_SLOT, "What that thing is, as `item.kind`.", THINGS, between(0, 5))

    # the same for whoever reads a text: what belongs to a hash beside it
    phrases = Array(
        "phrase.entry",
        np.uint64,
        PHRASE_HALF,
        "Hash table of names, short forms and things' names: hash, 0 in a free slot; then, from the lowest bit on, "
        "28 bits for the name and 25 for the short form, each its row and 1, 3 for the thing's kind, 8 for its fame.",
        made_by("columns.derived.phrases"),
        entries(2),
    )
    words = Array(
        "token.entry",
        np.uint64,
        TOKEN_QUARTER,
        "The slots of `token.key`: hash; `token.first`, and `token.last` in the upper half; `token.lower`; and the "
        "second number of the token in `phrase.entry`.",
        made_by("columns.derived.words"),
        entries(4),
    )

    # slips of one letter
    slip_hashes = Array(
        "slip.key",
        np.uint64,
        SLIP,
        "First token, then the last or that less one letter; or last token, then the first so; hashed as names are.",
        SLIPS,
        ANY,
        NEVER_FALLING,
    )
    slip_names = Array("slip.name", np.int32, SLIP, "The name that may be meant.", SLIPS, row_of(NAME))
