"""The columns of a KB, each declared once. The writer, `KB`, the name index and docs/kb-format.md follow from it.

`docs/add-a-column.md` says what else a new column needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from namesake.kb.declare import (
    ANY,
    ASCENDING,
    NEVER_FALLING,
    Array,
    Axis,
    Column,
    Lists,
    Mapped,
    Text,
    between,
    count_of,
    made_by,
    picked,
    row_of,
)

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
SLIP = Axis("name with a slip")

NUMBERING = made_by("assemble.number")
STATEMENTS = made_by("assemble.state")
TEXTS = made_by("entities.EntityTexts.of")
LABELS = made_by("entities.item_columns")
WORDS = made_by("words.index_kb_words")
NAMES = made_by("names.build_names")
SHORTS = made_by("shorts.build_shorts")
TOKENS = made_by("tokens.count_tokens")
THINGS = made_by("things.build_things")
SLIPS = made_by("slips.build_slips")

ID = between(1, LARGEST_ID)
COUNT = between(0)
PRECISION = between(0, 14)
"""Wikidata's: 11 a day, 10 a month, 9 a year; 0 where there is no date."""


class KBColumns(Mapped):
    """The columns of a KB but for the name index. Rows of entities and of items follow their QIDs."""

    # entities
    qids = Array("entity.qid", np.int64, ENTITY, "QID numbers.", NUMBERING, ID, ASCENDING)
    qid_bits = Array(
        "entity.qid_bits",
        np.uint64,
        BITMAP,
        "The QIDs as a bitmap: bit q % 64 of row q // 64 is set for an entity.",
        made_by("derive.qid_bits"),
    )
    qid_before = Array(
        "entity.qid_before",
        np.int32,
        BITMAP_BOUND,
        "How many entities stand before each row of the bitmap.",
        made_by("derive.qid_before"),
        count_of(ENTITY),
        NEVER_FALLING,
    )
    entity_item = Array(
        "entity.item", np.int32, ENTITY, "Each entity's row among the items.", NUMBERING, row_of(ITEM), ASCENDING
    )
    sitelinks = Array(
        "entity.sitelinks",
        np.int32,
        ENTITY,
        "NS: Wikimedia pages that are about the entity.",
        picked("sitelinks"),
        COUNT,
    )
    properties = Array(
        "entity.properties",
        np.int32,
        ENTITY,
        "NP: distinct properties in the entity's statements.",
        picked("properties"),
        COUNT,
    )
    pagerank_wikidata = Array(
        "entity.pagerank_wikidata",
        np.float64,
        ENTITY,
        "PR_WD, mean 1 over all items; 0 if unknown.",
        made_by("build.wikidata_ranks"),
        COUNT,
    )
    pagerank_wikipedia = Array(
        "entity.pagerank_wikipedia",
        np.float64,
        ENTITY,
        "PR_WP, mean 1 over all pages; 0 if unknown.",
        made_by("build.wikipedia_ranks"),
        COUNT,
    )
    person = Array("entity.person", np.bool_, ENTITY, "Whether the entity is a person (P31 = Q5).", picked("person"))
    birth = Array(
        "entity.birth",
        np.int32,
        ENTITY,
        "First day of the birth date's period, in days since 1970-01-01.",
        picked("birth"),
    )
    birth_precision = Array(
        "entity.birth_precision",
        np.int8,
        ENTITY,
        "11 day, 10 month, 9 year, …; 0 where there is none.",
        picked("birth_precision"),
        PRECISION,
    )
    death = Array(
        "entity.death",
        np.int32,
        ENTITY,
        "First day of the death date's period, in days since 1970-01-01.",
        picked("death"),
    )
    death_precision = Array(
        "entity.death_precision",
        np.int8,
        ENTITY,
        "11 day, 10 month, 9 year, …; 0 where there is none.",
        picked("death_precision"),
        PRECISION,
    )
    fame = Array(
        "entity.fame",
        np.float32,
        ENTITY,
        "Sitelinks; where there are none, 0.3 and 0.05 for each of up to ten statements.",
        made_by("derive.fame"),
        COUNT,
    )
    descriptions = Text(
        "entity.description", ENTITY, "Short descriptions; empty where there is none.", picked("description")
    )
    titles = Text(
        "entity.title", ENTITY, "Titles in the language's Wikipedia; empty where there is none.", picked("title")
    )
    paragraphs = Text(
        "entity.paragraph",
        ENTITY,
        "Wikipedia first paragraphs; empty where there is none.",
        made_by("wikipedia.read_wikipedia"),
    )
    aliases = Lists(
        "entity.alias", np.int32, ENTITY, "Rows of `alias_texts` for each entity.", TEXTS, row_of(ALIAS), ASCENDING
    )
    alias_texts = Text("alias", ALIAS, "The aliases themselves.", TEXTS)

    # statements
    statements = Lists(
        "entity.statement", np.int32, ENTITY, "Pairs of each entity.", STATEMENTS, row_of(PAIR), ASCENDING
    )
    pair_property = Array(
        "pair.property",
        np.int32,
        PAIR,
        "Property number of each distinct (property, value) pair.",
        STATEMENTS,
        ID,
        NEVER_FALLING,
    )
    pair_value = Array(
        "pair.value",
        np.int32,
        PAIR,
        "Value of each pair: an item, or a string.",
        STATEMENTS,
        row_of(ITEM, inverted=STRING),
    )
    pair_count = Array(
        "pair.count",
        np.int32,
        PAIR,
        "How many entities state the pair.",
        made_by("derive.pair_count"),
        count_of(ENTITY),
    )
    tenure_entity = Array(
        "tenure.entity", np.int32, TENURE, "Dated statements: whose.", STATEMENTS, row_of(ENTITY), NEVER_FALLING
    )
    tenure_pair = Array(
        "tenure.pair", np.int32, TENURE, "Dated statements: the pair that is dated.", STATEMENTS, row_of(PAIR)
    )
    tenure_start = Array(
        "tenure.start", np.int32, TENURE, "Dated statements: first day (P580), or the smallest int32.", STATEMENTS
    )
    tenure_end = Array(
        "tenure.end", np.int32, TENURE, "Dated statements: last day (P582), or the largest int32.", STATEMENTS
    )

    # what statements name
    item_qids = Array(
        "item.qid", np.int64, ITEM, "QID numbers of every item in the dump or named by one.", NUMBERING, ID, ASCENDING
    )
    item_labels = Text("item.label", ITEM, "Labels of the items; empty where unknown.", LABELS)
    item_kind = Array(
        "item.kind",
        np.int8,
        ITEM,
        "What each item is, as a row of `kinds.KINDS`: 0 other, 1 person, 2 place, 3 organisation, 4 work, 5 name.",
        made_by("things.item_kinds"),
        between(0, 5),
    )
    strings = Text("string", STRING, "Distinct string values.", STATEMENTS)
    property_ids = Array(
        "property.id", np.int32, PROPERTY, "Property numbers that have a label.", LABELS, ID, ASCENDING
    )
    property_labels = Text("property.label", PROPERTY, "Labels of those properties.", LABELS)

    # words
    words = Text("word", WORD, "The vocabulary: normalised words by id.", WORDS)
    word_count = Array(
        "word.count",
        np.int32,
        WORD,
        "How many entities have the word in D+S.",
        made_by("derive.word_count"),
        count_of(ENTITY),
    )
    words_d = Lists(
        "entity.words_d", np.int32, ENTITY, "D: words of each entity's description.", WORDS, row_of(WORD), ASCENDING
    )
    words_p = Lists(
        "entity.words_p",
        np.int32,
        ENTITY,
        "P: words of each entity's Wikipedia first paragraph.",
        WORDS,
        row_of(WORD),
        ASCENDING,
    )
    words_ds = Lists(
        "entity.words_ds",
        np.int32,
        ENTITY,
        "D+S: distinct words of description and statement values, ready for the kernel.",
        WORDS,
        row_of(WORD),
    )
    words_item = Lists(
        "item.words",
        np.int32,
        ITEM,
        "S: words of each item's label (where it is a value; else empty).",
        WORDS,
        row_of(WORD),
        ASCENDING,
    )
    words_item_aliases = Lists(
        "item.words_aliases",
        np.int32,
        ITEM,
        "Words of each item's aliases (where it is a value; else empty).",
        WORDS,
        row_of(WORD),
        ASCENDING,
    )
    words_string = Lists(
        "string.words", np.int32, STRING, "S: words of each string value.", WORDS, row_of(WORD), ASCENDING
    )
    surface_hash = Array(
        "surface.hash", np.uint64, SURFACE_SLOT, "Hash table from surface forms to words: the keys.", WORDS
    )
    surface_word = Array(
        "surface.word",
        np.int32,
        SURFACE_SLOT,
        "Hash table from surface forms to words: the word, -1 for a stop word or none.",
        WORDS,
        row_of(WORD, missing=True),
    )
    stem_hash = Array(
        "stem.hash", np.uint64, STEM_SLOT, "Hash table from normalised words to their rows: the keys.", WORDS
    )
    stem_word = Array(
        "stem.word",
        np.int32,
        STEM_SLOT,
        "Hash table from normalised words to their rows: the word, -1 where empty.",
        WORDS,
        row_of(WORD, missing=True),
    )


class NameColumns(Mapped):
    """The columns of the name index."""

    hashes = Array(
        "name.key",
        np.uint64,
        NAME_SLOT,
        "Hash table by open addressing: hash of the name in each slot, 0 in a free one.",
        NAMES,
    )
    slots = Array(
        "name.slot",
        np.int32,
        NAME_SLOT,
        "The name in each slot, -1 in a free one.",
        NAMES,
        row_of(NAME, missing=True),
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
    )
    short_slots = Array(
        "short.slot",
        np.int32,
        SHORT_SLOT,
        "The short form in each slot, -1 in a free one.",
        SHORTS,
        row_of(SHORT, missing=True),
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
    )
    thing_fame = Array(
        "thing.fame",
        np.uint8,
        THING_SLOT,
        "round(20 log(1 + fame)) of the most famous thing of that name, 0 in a free slot.",
        THINGS,
    )
    thing_kind = Array("thing.kind", np.int8, THING_SLOT, "What that thing is, as `item.kind`.", THINGS, between(0, 5))

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


def columns() -> dict[str, Column[Any]]:
    """Every column by what it is called from a KB: `sitelinks`, `names.texts`."""
    return KBColumns.declared() | {f"names.{name}": column for name, column in NameColumns.declared().items()}
