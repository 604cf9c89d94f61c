"""All columns of a KB, each declared once. The scanner's fields, the writer, `KB` and docs/kb-format.md follow."""

from typing import Any

from numpy import bool_, float32, float64, int8, int32, int64, uint8, uint64

from namesake.kb.columns.declaration import ASCENDING, NEVER_FALLING, Array, Axis, Column, Lists, Mapped, Text, Values
from namesake.kernels.dump.wikidata import FIRST_OWN, LARGEST_ID
from namesake.kernels.kinds import NAME as END_OF_KINDS

ENTITY, ITEM = Axis("entity", counted="entities"), Axis("item", counted="items")
WORD, NAME = Axis("word", counted="words"), Axis("name", counted="names")
ALIAS, PAIR, STRING, PROPERTY = Axis("alias"), Axis("pair"), Axis("string"), Axis("property")
TENURE, FILED, SHORT = Axis("dated statement"), Axis("filed name"), Axis("short form")
MISSPELLING = Axis("misspelled name")
NAME_ENTITY = Axis("entity with a name", values_of="name.entity")
SHORT_ENTITY = Axis("entity with a short form", values_of="short.entity")
BITMAP = Axis("64 QIDs")
BOUND = Axis("bound of 64 QIDs", one_more_than=BITMAP)
PREFIX_BYTE = Axis("8 hashes", power_of_two=True)
PHRASE_HALF = Axis("half of a slot for a phrase", power_of_two=True)
SURFACE_SLOT, STEM_SLOT, NAME_SLOT, SHORT_SLOT, TOKEN_SLOT, OTHER_SLOT = (
    Axis(f"slot for a {what}", power_of_two=True)
    for what in ("surface form", "word", "name", "short form", "token", "name of a non-person")
)

ENTITY_ROW, ITEM_ROW, PAIR_ROW = Values(row_of=ENTITY), Values(row_of=ITEM), Values(row_of=PAIR)
WORD_ROW, NAME_ROW, WORD_OR_NONE = Values(row_of=WORD), Values(row_of=NAME), Values(row_of=WORD, missing=True)
WORD_IN, NAME_IN, SHORT_IN = (
    Values(row_of=rows, missing=True, taken_in=keys)
    for rows, keys in ((WORD, "stem.hash"), (NAME, "name.key"), (SHORT, "short.key"))
)
ENTITIES, ID, OWN_TOO = Values(count_of=ENTITY), Values(1, LARGEST_ID), Values(1, FIRST_OWN + LARGEST_ID)
COUNT, KEYS, ITEM_OR_STRING = Values(0), Values(keys=True), Values(row_of=ITEM, inverted=STRING)
PRECISION = Values(0, 14)
"""Wikidata's precision: 11 a day, 10 a month, 9 a year; 0 where there is no date."""


class KBColumns(Mapped):
    """The columns of a KB except the name index. Rows of entities and of items are ordered by QID."""

    # entities
    qids = Array("entity.qid", int64, ENTITY, "QID numbers; those of own entities: 2**40 and up.", OWN_TOO, ASCENDING)
    qid_bits = Array("entity.qid_bits", uint64, BITMAP, "Bitmap of the QIDs: bit q % 64 of row q // 64.")
    qid_before = Array("entity.qid_before", int32, BOUND, "Entities before each row of it.", ENTITIES, NEVER_FALLING)
    entity_item = Array("entity.item", int32, ENTITY, "Each entity's item.", ITEM_ROW, ASCENDING)
    sitelinks = Array("entity.sitelinks", int32, ENTITY, "NS: Wikimedia pages about the entity.", COUNT, dump=True)
    properties = Array("entity.properties", int32, ENTITY, "NP: distinct properties of the entity.", COUNT, dump=True)
    pagerank_wikidata = Array("entity.pagerank_wikidata", float64, ENTITY, "PR_WD, with mean 1; 0 if unknown.", COUNT)
    pagerank_wikipedia = Array("entity.pagerank_wikipedia", float64, ENTITY, "PR_WP, with mean 1; 0 if unknown.", COUNT)
    person = Array("entity.person", bool_, ENTITY, "Whether the entity is a person (P31 = Q5).", dump=True)
    kind = Array("entity.kind", int8, ENTITY, "Its kind, a row of `kinds.kinds()`.", Values(0, END_OF_KINDS - 1))
    birth = Array("entity.birth", int32, ENTITY, "Birth or beginning: its first day, since 1970-01-01.", dump=True)
    birth_precision = Array("entity.birth_precision", int8, ENTITY, "11 day, 10 month, 9 year, …", PRECISION, dump=True)
    death = Array("entity.death", int32, ENTITY, "Death or end: its first day, since 1970-01-01.", dump=True)
    death_precision = Array("entity.death_precision", int8, ENTITY, "11 day, 10 month, 9 year, …", PRECISION, dump=True)
    used = Array("entity.used", int32, ENTITY, "Number of statements that name it.", COUNT)
    fame = Array("entity.fame", float32, ENTITY, "Its fame, on the scale of sitelinks.", COUNT)
    descriptions = Text("entity.description", ENTITY, "Short descriptions; empty where there is none.", dump=True)
    titles = Text("entity.title", ENTITY, "Titles in the language's Wikipedia; empty where there is none.", dump=True)
    paragraphs = Text("entity.paragraph", ENTITY, "Wikipedia first paragraphs; empty where there is none.")
    aliases = Lists("entity.alias", int32, ENTITY, "Rows of `alias_texts`.", Values(row_of=ALIAS), ASCENDING)
    alias_texts = Text("alias", ALIAS, "The aliases.")

    # statements
    statements = Lists("entity.statement", int32, ENTITY, "Pairs of each entity.", PAIR_ROW, ASCENDING)
    pair_property = Array("pair.property", int32, PAIR, "The property of each pair.", ID, NEVER_FALLING)
    pair_value = Array("pair.value", int32, PAIR, "Its value: an item or a string.", ITEM_OR_STRING)
    pair_count = Array("pair.count", int32, PAIR, "Number of entities with the pair.", ENTITIES)
    tenure_entity = Array("tenure.entity", int32, TENURE, "Dated statements: entity.", ENTITY_ROW, NEVER_FALLING)
    tenure_pair = Array("tenure.pair", int32, TENURE, "Dated statements: the pair.", PAIR_ROW)
    tenure_start = Array("tenure.start", int32, TENURE, "First day (P580), or the smallest int32.")
    tenure_end = Array("tenure.end", int32, TENURE, "Last day (P582), or the largest int32.")

    # items and properties that statements name
    item_qids = Array("item.qid", int64, ITEM, "QIDs of items in the dump or named by it.", OWN_TOO, ASCENDING)
    item_labels = Text("item.label", ITEM, "Labels of the items; empty where unknown.")
    strings = Text("string", STRING, "Distinct string values.")
    property_ids = Array("property.id", int32, PROPERTY, "Properties that have a label.", ID, ASCENDING)
    property_labels = Text("property.label", PROPERTY, "Labels of those properties.")

    # words
    words = Text("word", WORD, "The vocabulary: normalised words by id.")
    word_count = Array("word.count", int32, WORD, "Number of entities with the word in D+S.", ENTITIES)
    words_d = Lists("entity.words_d", int32, ENTITY, "D: words of each description.", WORD_ROW, ASCENDING)
    words_p = Lists("entity.words_p", int32, ENTITY, "P: words of each first paragraph.", WORD_ROW, ASCENDING)
    words_ds = Lists("entity.words_ds", int32, ENTITY, "D+S: words of description and values.", WORD_ROW)
    words_item = Lists("item.words", int32, ITEM, "S: words of labels of values.", WORD_ROW, ASCENDING)
    words_item_aliases = Lists("item.words_aliases", int32, ITEM, "Words of their aliases.", WORD_ROW, ASCENDING)
    words_string = Lists("string.words", int32, STRING, "S: words of each string value.", WORD_ROW, ASCENDING)
    surface_hash = Array("surface.hash", uint64, SURFACE_SLOT, "Hash table from surface forms.", KEYS)
    surface_word = Array(
        "surface.word", int32, SURFACE_SLOT, "The word of each form, -1 for a stop word or none.", WORD_OR_NONE
    )
    stem_hash = Array("stem.hash", uint64, STEM_SLOT, "Hash table from normalised words.", KEYS)
    stem_word = Array("stem.word", int32, STEM_SLOT, "The word in each slot, -1 in a free one.", WORD_IN)


class NameColumns(Mapped):
    """The columns of the name index."""

    # names of entities
    hashes = Array("name.key", uint64, NAME_SLOT, "Hash table from names, by open addressing.", KEYS)
    slots = Array("name.slot", int32, NAME_SLOT, "The name in each slot, -1 in a free one.", NAME_IN)
    prefixes = Array(
        "name.prefix", uint8, PREFIX_BYTE, "A bit for the hash of each beginning of two or more tokens of a name."
    )
    variant_keys = Array(
        "name.drawer", uint64, FILED, "Key for variants: sound of the last token, first letter.", order=NEVER_FALLING
    )
    variant_names = Array("name.filed", int32, FILED, "The name with each of these keys.", NAME_ROW)
    texts = Text("name.text", NAME, "The normalised names.")
    entities = Lists("name.entity", int32, NAME, "Entities with each name.", ENTITY_ROW, ASCENDING)
    kinds = Array("name.entity.kind", int8, NAME_ENTITY, "0 label, 1 alias, 2 and 3 bare forms of them.", Values(0, 3))

    # short forms: parts of names by which entities are called
    short_hashes = Array("short.key", uint64, SHORT_SLOT, "Hash table from short forms.", KEYS)
    short_slots = Array("short.slot", int32, SHORT_SLOT, "The short form in each slot, -1 in a free one.", SHORT_IN)
    short_entities = Lists("short.entity", int32, SHORT, "The 10 entities with the largest weights.", ENTITY_ROW)
    short_forms = Array(
        "short.entity.form", int8, SHORT_ENTITY, "Its form: a row of `short_forms.FORMS`.", Values(0, 21)
    )

    # tokens
    token_hashes = Array("token.key", uint64, TOKEN_SLOT, "Hash table from tokens (`hash_bytes`).", KEYS)
    token_first = Array("token.first", int32, TOKEN_SLOT, "Number of labels that the token begins.", ENTITIES)
    token_last = Array("token.last", int32, TOKEN_SLOT, "Number of labels that the token ends.", ENTITIES)
    token_middle = Array("token.middle", int32, TOKEN_SLOT, "How often it is inside such labels.", COUNT)
    token_lower = Array(
        "token.lower", int32, TOKEN_SLOT, "How often it is in lower case in other texts of the dump.", COUNT
    )

    # names of entities that are not people
    thing_hashes = Array("thing.key", uint64, OTHER_SLOT, "Hash table from names of non-people.", KEYS)
    thing_fame = Array("thing.fame", uint8, OTHER_SLOT, "round(20 log(1 + fame)) of the most famous one.")

    # the tables of names in one, so that one look-up in a text reads one place of memory
    phrases = Array(
        *("phrase.entry", uint64, PHRASE_HALF, "Hash table of all names: hash; row of name and short form, fame."),
        Values(keys=True, entry=2),
    )

    # misspellings by one letter
    misspelling_hashes = Array(
        "slip.key", uint64, MISSPELLING, "Hash of the first and last token, one less a letter.", order=NEVER_FALLING
    )
    misspelling_names = Array("slip.name", int32, MISSPELLING, "The correct name.", NAME_ROW)


def columns() -> dict[str, Column[Any]]:
    """Every column by its attribute of a KB: `sitelinks`, `names.texts`."""
    return KBColumns.declared() | {f"names.{name}": column for name, column in NameColumns.declared().items()}
