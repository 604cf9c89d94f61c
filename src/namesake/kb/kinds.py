"""The kind of each item of a dump, by rules. The first rule that answers decides:

1. an instance of human (Q5) is a person;
2. the kind of most of its classes (P31): that of the nearest class of `kinds.toml` at or above each (P279), else that
   of the noun in the label of the class;
3. the noun in the description;
4. properties that only items of one kind have;
5. the noun in the brackets of the Wikipedia title, then the noun in the label;
6. properties that most items of one kind have;
7. the properties that have the item as their value.

An item for which no rule answers is of the kind `OTHER`.
"""

import re
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import Int8, Int32, arrow_scalar, arrow_texts, numpy_numbers
from namesake.kb.columns import Strings, large
from namesake.kb.columns.assemble import Numbering
from namesake.kb.dump.parse import Items
from namesake.kernels.dump.wikidata import INSTANCE_OF, SUBCLASS_OF
from namesake.kernels.kinds import DROPPED, OTHER, PERSON, PLACE, UNKNOWN
from namesake.kinds import all_kinds, deciding_bits
from namesake.language import Language

NOT_ASKED = -2  # in the column `sources.kind`, for an item whose kind follows from its classes
TEXT_BYTES, STATEMENT_BYTES = 1024, 32
"""Temporary memory per item with its texts, and per statement."""


class HeadNouns:
    """Kinds by the noun that a text is about: "American baseball team based in Chicago" is an organisation.

    The noun is the last word, or the one before, of what stands before a preposition, a number or a sign.
    """

    def __init__(self, language: Language) -> None:
        """`language` has the nouns; a plural in -s counts as well."""
        kinds = {kind.name: kind.number for kind in all_kinds()}
        nouns = [(noun, kinds[kind]) for kind, nouns in language.kind_nouns.items() for noun in nouns]
        known = {f"{noun}s": kind for noun, kind in nouns} | dict(nouns)
        self._nouns = arrow_texts(list(known)).cast(pa.large_string())
        self._kinds = np.array([*known.values(), UNKNOWN], np.int8)
        self._rest = after_noun(language)

    def __call__(self, texts: Strings, of_name: bool = False) -> Int8:
        """The kind of each text, `UNKNOWN` if its noun is not known. A name has two words: "Harvard University"."""
        lower = pc.utf8_trim_whitespace(pc.utf8_lower(texts.arrow()))
        text = pc.utf8_trim_whitespace(pc.replace_substring_regex(lower, self._rest, ""))
        last = self._kind(text)
        before = self._kind(pc.replace_substring_regex(text, r"\s*\S+$", ""))
        found = np.where(last == UNKNOWN, before, last)
        if of_name:  # "Dancing Queen" is of any kind
            words = numpy_numbers(pc.count_substring_regex(lower, r"\S+"))
            found[(words < 2) | (found == OTHER)] = UNKNOWN
        return found

    def _kind(self, texts: pa.Array) -> Int8:
        """The kind of the last word of each text."""
        words = pc.replace_substring_regex(texts, r"(?s)^.*\s", "")
        noun = pc.fill_null(pc.index_in(words, self._nouns), arrow_scalar(-1, pa.int32()))
        found: Int8 = self._kinds[numpy_numbers(noun)]
        return found

    def in_brackets(self, titles: Strings) -> Strings:
        """What stands in the brackets at the end of each title: album in "Thriller (album)"; else an empty text."""
        found = pc.struct_field(pc.extract_regex(titles.arrow(), r"\((?P<what>[^()]*)\)$"), "what")
        return Strings.of_arrow(pc.fill_null(found, arrow_scalar("", found.type)))


def item_kinds(
    items: Items, rows: Numbering, language: Language, classes_only: bool = False, by_record: Int8 | None = None
) -> Int8:
    """The kind of each item, by its row; with `classes_only` from classes and population, as a KB of people needs.

    `by_record` has what rules 3 to 6 answer for each item of the dump, `NOT_ASKED` where that is not known yet. It is
    completed for those that need these rules.
    """
    kinds: Int8 = large.full(len(rows.item_qids), UNKNOWN, np.int8)
    kinds[rows.item_of[rows.first & items.person]] = PERSON
    nouns = HeadNouns(language)
    of_class = class_kinds(items, rows)
    if classes_only:
        of_class[of_class == OTHER] = UNKNOWN
    _decide_by_classes(items, rows, of_class, kinds, None if classes_only else nouns)
    if classes_only:
        inhabited = rows.item_of[rows.first & (items.population > 0)]
        kinds[inhabited[kinds[inhabited] == UNKNOWN]] = PLACE
    else:
        _decide(items, nouns, rows, kinds, by_record)
        _decide_by_use(items, rows, kinds)
    for low, high in large.blocks(len(kinds), 2):
        kinds[low:high][kinds[low:high] == UNKNOWN] = OTHER
    return kinds


def class_kinds(items: Items, rows: Numbering) -> Int8:
    """The kind of each item as a class: that of the nearest class at or above it that `kinds.toml` lists."""
    of_class: Int8 = large.full(len(rows.item_qids), UNKNOWN, np.int8)
    for kind in all_kinds():
        found = rows.find(np.array(list(kind.classes), np.int64))
        of_class[found[found >= 0]] = kind.number
    below, above, _ = large.gathered(_edges(items, rows, [SUBCLASS_OF]), *[np.int32] * 3)
    while True:
        new = (of_class[below] == UNKNOWN) & (of_class[above] != UNKNOWN)
        if not new.any():  # the rest is above no listed class, or part of a cycle
            return of_class
        of_class[below[new][::-1]] = of_class[above[new]][::-1]  # the last one written remains: the first stated
        left = of_class[below] == UNKNOWN
        below, above = below[left], above[left]


def _edges(items: Items, rows: Numbering, properties: Iterable[int]) -> Iterator[tuple[Int32, Int32, Int32]]:
    """The rows of the items that state one of the properties, and of its values, and the property; by whole items."""
    for low, high in large.spans(items.statement_indptr, STATEMENT_BYTES):
        ends = items.statement_indptr[low : high + 1]
        value, stated = items.statement_value[ends[0] : ends[-1]], items.statement_property[ends[0] : ends[-1]]
        chosen = np.flatnonzero(np.isin(stated, list(properties)) & (value >= 0))
        source = low + np.searchsorted(ends - ends[0], chosen, side="right") - 1
        counted = rows.first[source]
        chosen = chosen[counted]
        yield rows.item_of[source[counted]], rows.find(value[chosen]), stated[chosen]


def _decide_by_classes(items: Items, rows: Numbering, of_class: Int8, kinds: Int8, nouns: HeadNouns | None) -> None:
    """Set each item's kind to that of most of its classes, of equals the first stated; `DROPPED` only if alone.

    A class without a kind has that of the noun in its label, if `nouns` are given.
    """
    asked = (of_class != UNKNOWN) | (rows.dump_of < 0)
    for item, classes, _ in _edges(items, rows, [INSTANCE_OF]):
        if nouns is not None:
            unnamed = np.unique(classes[~asked[classes]])
            of_class[unnamed] = nouns(items.label.take(rows.dump_of[unnamed]))
            asked[unnamed] = True
        known = np.flatnonzero((of_class[classes] != UNKNOWN) & (kinds[item] == UNKNOWN))
        keys = item[known].astype(np.int64) << 8 | of_class[classes[known]]
        votes, first, counts = np.unique(keys, return_index=True, return_counts=True)
        voter, kind = votes >> 8, (votes & 255).astype(np.int8)
        order = np.lexsort((first, -counts, kind == DROPPED, voter))
        _, best = np.unique(voter[order], return_index=True)
        kinds[voter[order][best]] = kind[order][best]


def _by_properties(stated: Int32, weak: bool) -> Int8:
    """The first kind, in the order of `kinds.toml`, with a property in this bit set."""
    bits = deciding_bits()
    found = np.full(len(stated), UNKNOWN, np.int8)
    for kind in reversed(all_kinds()):
        mask = sum(1 << bits[one] for one in (kind.weak_properties if weak else kind.properties))
        found[stated & mask != 0] = kind.number
    return found


def _decide(items: Items, nouns: HeadNouns, rows: Numbering, kinds: Int8, by_record: Int8 | None) -> None:
    """Apply rules 3 to 6 to the items of the dump that have no kind, each to those that the rules before have left."""
    rules: list[Callable[[Int32], Int8]] = [  # by positions in the dump; `UNKNOWN` where a rule does not answer
        lambda at: nouns(items.description.take(at)),
        lambda at: _by_properties(items.deciding[at], weak=False),
        lambda at: nouns(nouns.in_brackets(items.title.take(at))),
        lambda at: nouns(items.label.take(at), of_name=True),
        lambda at: _by_properties(items.deciding[at], weak=True),
    ]
    for low, high in large.blocks(len(kinds), TEXT_BYTES):
        part, dump = kinds[low:high], rows.dump_of[low:high]
        asked = left = np.flatnonzero((part == UNKNOWN) & (dump >= 0))
        if by_record is not None:
            part[asked] = by_record[dump[asked]]
            left = asked[(part[asked] <= NOT_ASKED) | (part[asked] > DROPPED)]
        for rule in rules:
            part[left] = rule(dump[left])
            left = left[part[left] == UNKNOWN]
        if by_record is not None:
            by_record[dump[asked]] = part[asked]


def _decide_by_use(items: Items, rows: Numbering, kinds: Int8) -> None:
    """Set the kinds that are left to the one that most statements with the item as their value expect."""
    expected = {one: kind.number for kind in all_kinds() for one in kind.value_of}
    of_property = np.full(max(expected) + 1, UNKNOWN, np.int8)
    of_property[list(expected)] = list(expected.values())
    left, size = large.kept(np.flatnonzero(kinds == UNKNOWN)), len(all_kinds())
    if not len(left):
        return
    votes, place_of = large.zeros(len(left) * size, np.int32), large.full(len(kinds) + 1, -1, np.int32)
    place_of[left] = np.arange(len(left), dtype=np.int32)
    for _, value, stated in _edges(items, rows, expected):
        place = place_of[value].astype(np.int64)  # the last one is for values that are no items
        open_ = np.flatnonzero(place >= 0)
        np.add.at(votes, place[open_] * size + of_property[stated[open_]], 1)
    for low, high in large.blocks(len(left), 16 * size):
        some = votes[low * size : high * size].reshape(-1, size)
        voted = np.flatnonzero(some.any(axis=1))
        kinds[left[low:high][voted]] = some[voted].argmax(axis=1)


def after_noun(language: Language) -> str:
    """The pattern of what follows the noun that a text is about: from a preposition, a number or a sign on."""
    after = "|".join(map(re.escape, sorted(language.after_nouns))) or "[^\\s\\S]"
    return rf"(?s)(?:\s(?:{after})(?:\s|$)|\s\d|[,;:(/]).*$"


def head_words(text: str, language: Language) -> list[str]:
    """The words of a text up to the noun that it is about, in lower case: capital; sports, team."""
    return re.sub(after_noun(language), "", text.lower()).split()
