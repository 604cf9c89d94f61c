"""The columns of a KB, each declared once. The writer, `KB`, the name index and docs/kb-format.md follow from it.

`docs/add-a-column.md` says what else a new column needs.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from namesake.kb.columns.declaration import (
    ASCENDING,
    KEYS,
    NEVER_FALLING,
    Array,
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
from namesake.kb.columns.domains import (
    ALIAS,
    BITMAP,
    BITMAP_BOUND,
    COUNT,
    ENTITY,
    ID,
    ITEM,
    PAIR,
    PROPERTY,
    STEM_SLOT,
    STRING,
    SURFACE_SLOT,
    TENURE,
    WORD,
)
from namesake.kb.columns.name_layout import NameColumns

NUMBERING = made_by("columns.assemble.number")
STATEMENTS = made_by("columns.assemble.state")
TEXTS = made_by("columns.picked_rows.EntityTexts.of")
LABELS = made_by("columns.picked_rows.item_columns")
WORDS = made_by("columns.word_sets.index_kb_words")

PRECISION = between(0, 14)
"""Wikidata's: 11 a day, 10 a month, 9 a year; 0 where there is no date."""

MAN, WOMAN = 1, 2
"""What `entity.gender` may hold, and 0 where nothing is stated or both are."""


class KBColumns(Mapped):
    """The columns of a KB but for the name index. Rows of entities and of items follow their QIDs."""

    # entities
    qids = Array("entity.qid", np.int64, ENTITY, "QID numbers.", NUMBERING, ID, ASCENDING)
    qid_bits = Array(
        "entity.qid_bits",
        np.uint64,
        BITMAP,
        "The QIDs as a bitmap: bit q % 64 of row q // 64 is set for an entity.",
        made_by("columns.derived.qid_bits"),
    )
    qid_before = Array(
        "entity.qid_before",
        np.int32,
        BITMAP_BOUND,
        "How many entities stand before each row of the bitmap.",
        made_by("columns.derived.qid_before"),
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
    gender = Array(
        "entity.gender",
        np.int8,
        ENTITY,
        "What P21 states: 1 a man, 2 a woman, 0 neither or both.",
        made_by("columns.derived.gender"),
        between(0, WOMAN),
    )
    fame = Array(
        "entity.fame",
        np.float32,
        ENTITY,
        "Sitelinks; where there are none, 0.3 and 0.05 for each of up to ten statements.",
        made_by("columns.derived.fame"),
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
        made_by("dump.wikipedia.Reader.finish"),
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
        made_by("columns.derived.pair_count"),
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
        made_by("names.non_people.item_kinds"),
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
        made_by("columns.derived.word_count"),
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
        "surface.hash", np.uint64, SURFACE_SLOT, "Hash table from surface forms to words: the keys.", WORDS, KEYS
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
        "stem.hash", np.uint64, STEM_SLOT, "Hash table from normalised words to their rows: the keys.", WORDS, KEYS
    )
    stem_word = Array(
        "stem.word",
        np.int32,
        STEM_SLOT,
        "Hash table from normalised words to their rows: the word, -1 where empty.",
        WORDS,
        row_of(WORD, taken_in="stem.hash"),
    )


def columns() -> dict[str, Column[Any]]:
    """Every column by what it is called from a KB: `sitelinks`, `names.texts`."""
    return KBColumns.declared() | {f"names.{name}": column for name, column in NameColumns.declared().items()}
