"""The mentions of a text, and the candidates of each.

Hypotheses of a text with the same tokens are one mention with several spans. Its candidates are the entities with this
name or short form, or with a similar name; and for one word, the entities of the longer names in the text that begin or
end with it: "Curie" after "Marie Curie".
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.hash import FREE, ZERO, find
from namesake.kernels.names import tokens as t
from namesake.kernels.names.constants import FIRST_NAME, FORM_QUALITY, FORM_WEIGHT, SHORT, SIMILAR, SURNAME
from namesake.kernels.names.lattice import Hypotheses, Texts
from namesake.kernels.names.phrases import name_in, short_in
from namesake.kernels.simd import MANY, first_bits, many_above, many_equal, ones, pointer, prefetch
from namesake.kernels.types import F32, F64, I8, I32, I64, U64, own_record, record

SALT = np.uint64(0x9E3779B97F4A7C15)
"""Makes the hash of a name that follows "another" differ from that of the same name elsewhere."""
MOST_WORDS = 5
"""Words between an article and the end of an apposition."""
MOST, MOST_OF_WORD = 8, 4
"""Candidates of a mention, and of one that is one word."""
LEAST_SHARE = 0.01
"""A candidate whose weight is a smaller share of the largest one, which is not favoured here, is left out."""
LENT = 4
"""Candidates that a longer name gives to one of its words."""
PART_QUALITY = 0.7
"""The quality of the match of such a word."""
LEAST_IN_LOWER_CASE = 8.0
"""The least weight (`weight_of`) of the best candidate of a mention in texts without capitals."""
ALONE = 6.0
"""The factor of the least weight of the candidates of one word."""
FAVOURED = 400.0
"""The factor of the weight of a candidate that the text names in full, or that is an own entity of the KB."""


class Index(NamedTuple):
    """The entities with each name, what the name is to each; the same for short forms; the fame of entities."""

    indptr: Annotated[Any, I64]
    rows: Annotated[Any, I32]
    kinds: Annotated[Any, I8]
    short_indptr: Annotated[Any, I64]
    short_rows: Annotated[Any, I32]
    short_forms: Annotated[Any, I8]
    fame: Annotated[Any, F32]
    own: Annotated[Any, types.int64]
    """The first row of own entities."""


class Variants(NamedTuple):
    """Entities with a similar name: those of mention m are `indptr[m]` to `indptr[m + 1]`."""

    indptr: Annotated[Any, I64]
    rows: Annotated[Any, I32]
    quality: Annotated[Any, F64]


class Listed(NamedTuple):
    """Entities that may be candidates of one mention, and the order of the best of them."""

    rows: Annotated[Any, types.int64[::1]]
    forms: Annotated[Any, types.int64[::1]]
    quality: Annotated[Any, types.float64[::1]]
    in_text: Annotated[Any, types.boolean[::1]]
    weights: Annotated[Any, types.float64[::1]]
    numbers: Annotated[Any, types.int64[::1]]
    """The same memory: positive numbers have the same order as their bits, read as whole numbers."""
    before: Annotated[Any, types.uint64[::1]]
    """The bits of those before each."""
    order: Annotated[Any, types.int64[::1]]


class Candidates(NamedTuple):
    """The mentions that have candidates, with their spans: see `names.hypotheses.Found`."""

    indptr: Annotated[Any, types.int64[::1]]
    span_indptr: Annotated[Any, types.int64[::1]]
    first: Annotated[Any, types.int64[::1]]
    end: Annotated[Any, types.int64[::1]]
    byte_spans: Annotated[Any, types.int32[:, ::1]]
    known: Annotated[Any, types.uint64[::1]]
    is_other: Annotated[Any, types.boolean[::1]]
    is_said: Annotated[Any, types.boolean[::1]]
    namesakes: Annotated[Any, types.int64[::1]]
    listed: Annotated[Any, types.int64[::1]]
    offsets: Annotated[Any, types.int64[::1]]
    rows: Annotated[Any, types.int32[::1]]
    forms: Annotated[Any, types.int8[::1]]
    quality: Annotated[Any, types.float64[::1]]
    in_text: Annotated[Any, types.boolean[::1]]


class Mentions(NamedTuple):
    """The mentions of hypotheses: those of text i are `indptr[i]` to `indptr[i + 1]`.

    Mention m has the hypotheses `order[spans[m]]` to `order[spans[m + 1] - 1]`.
    """

    indptr: Annotated[Any, types.int64[::1]]
    spans: Annotated[Any, types.int64[::1]]
    order: Annotated[Any, types.int64[::1]]
    is_other: Annotated[Any, types.boolean[::1]]
    is_said: Annotated[Any, types.boolean[::1]]


INDEX, LISTED, CANDIDATES, MENTIONS = record(Index), own_record(Listed), own_record(Candidates), own_record(Mentions)


@inner(types.uint64(record(Texts), types.int64))
def noun_after(texts, end):
    """The hash of the noun in apposition to a name that ends before token `end`, 0 without one.

    A comma and an article follow the name. The noun is the last word in lower case before a comma, another sign or a
    function word: "the composer of Star Wars".
    """
    noun, gaps, classes = ZERO, texts.gaps, texts.classes
    if end == len(gaps) or gaps[end] != t.COMMA or classes[end] & t.DETERMINER == 0:
        return ZERO
    for at in range(end + 1, end + MOST_WORDS + 2):
        if at == len(gaps) or gaps[at] != t.SOFT or classes[at] & t.FUNCTION != 0:
            return noun
        if texts.marks[at] & t.HAS_CAPITAL == 0:
            noun = texts.hashes[at]
    return ZERO


@kernel(MENTIONS(record(Texts), record(Hypotheses)))
def group_hypotheses(texts, found):
    """The mentions of hypotheses, in the order in which they begin.

    A name in apposition to another noun than the first of the same name is another mention: "Michael Jackson, the beer
    critic" and "Michael Jackson, a British general". A name without a noun belongs to the first.
    """
    room, size = 8, len(found.first)
    for text in range(len(found.indptr) - 1):
        while room < 2 * (found.indptr[text + 1] - found.indptr[text]):
            room *= 2
    table, owner, mention = np.zeros(room, np.uint64), np.empty(room, np.int64), np.empty(size, np.int64)
    place, nouns, slots, count = np.empty(size, np.int64), np.empty(size, np.uint64), pointer(table), 0
    is_other, is_said, indptr = np.empty(size, np.bool_), np.empty(size, np.bool_), np.zeros_like(found.indptr)
    for text in range(len(found.indptr) - 1):
        for h in range(found.indptr[text], found.indptr[text + 1]):
            first, key, before = found.first[h], found.key[h], np.uint32(0)
            if first > texts.indptr[text]:
                before = texts.classes[first - 1]
            said = before & t.OTHER != 0 and texts.gaps[first] == t.SOFT
            if said:
                key ^= SALT
            noun = noun_after(texts, found.end[h]) if before & t.DETERMINER == 0 else ZERO
            slot = find(slots, room - 1, key)
            if noun != ZERO and table[slot] != FREE:
                same = owner[slot]
                if nouns[same] == ZERO:
                    nouns[same] = noun
                elif nouns[same] != noun:
                    key ^= noun
                    slot = find(slots, room - 1, key)
            if table[slot] == FREE:
                table[slot], owner[slot], place[count], nouns[count] = key, count, slot, noun
                is_other[count], is_said[count] = key != found.key[h], said
                count += 1
            mention[h] = owner[slot]
        for m in range(indptr[text], count):
            table[place[m]] = FREE
        indptr[text + 1] = count
    spans, order = np.zeros(count + 2, np.int64), np.empty(size, np.int64)
    for h in range(size):
        spans[mention[h] + 2] += 1
    for m in range(count):
        spans[m + 2] += spans[m + 1]
    for h in range(size):
        order[spans[mention[h] + 1]] = h
        spans[mention[h] + 1] += 1
    return Mentions(indptr, spans[:-1], order, is_other[:count], is_said[:count])


@inlined(types.int64(LISTED, types.int64, types.int64, types.int64, types.float64, types.boolean, types.float64))
def add(listed, count, row, form, quality, in_text, weight):
    """Add an entity to the `count` that are listed; returns how many there are."""
    if count == MANY:
        count = keep_best(listed, count)
    listed.rows[count], listed.forms[count], listed.quality[count] = row, form, quality
    listed.in_text[count], listed.weights[count] = in_text, weight
    return count + 1


@inner(types.int64(LISTED, types.int64))
def sort_best(listed, count):
    """Write the order of the best entities, each once; returns how many there are.

    The place of each is the number of those before it. That needs no branches, which would be hard to predict.
    """
    numbers, rows, repeated, alive = listed.numbers, pointer(listed.rows), ZERO, 0
    weights = pointer(numbers)
    for i in range(count, MANY):
        numbers[i] = listed.rows[i] = -1
    for i in range(count):
        equal = many_equal(weights, 0, numbers[i]) & first_bits(i)
        listed.before[i] = many_above(weights, 0, numbers[i]) | equal
        repeated |= np.uint64(listed.before[i] & many_equal(rows, 0, listed.rows[i]) != ZERO) << np.uint64(i)
    for i in range(count):
        is_first = repeated >> np.uint64(i) & np.uint64(1) == ZERO
        listed.order[ones(listed.before[i] & ~repeated) if is_first else MANY] = i
        alive += is_first
    return min(alive, MOST)


@inner(types.int64(LISTED, types.int64))
def keep_best(listed, count):
    """Move the best entities to the beginning, in their order; returns how many there are."""
    best = sort_best(listed, count)
    for step in range(2):  # first behind the others
        for k in range(best):
            one, other = (listed.order[k], MANY + k) if step == 0 else (MANY + k, k)
            listed.rows[other], listed.forms[other] = listed.rows[one], listed.forms[one]
            listed.quality[other], listed.in_text[other] = listed.quality[one], listed.in_text[one]
            listed.weights[other] = listed.weights[one]
    return best


@inlined(types.int64(INDEX, types.int64, I64, I32, I8, types.int64, LISTED, types.int64))
def add_known(index, name, indptr, rows, forms, least, listed, count):
    """Add the entities with a name or short form, whose forms count from `least`; returns how many are listed."""
    for k in range(indptr[name] if name >= 0 else 0, indptr[name + 1]):  # none without a name
        form = np.int64(least + forms[k])
        count = add(listed, count, rows[k], form, FORM_QUALITY[form], False, weight_of(index, rows[k], form))
    return count


@inlined(types.float64(INDEX, types.int32, types.int64))
def weight_of(index, row, form):
    """The fame of an entity, weighted by the form of its name."""
    return (1.0 + np.float64(index.fame[row])) * FORM_WEIGHT[form] * (FAVOURED if row >= index.own else 1.0)


@inlined(types.void(INDEX, U64, types.int64, types.int64))
def fetch(index, known, first, end):
    """Prefetch what will be read of mentions: the offsets of their names, then their entities, then the fame of these.

    Names that the KB lacks count as the first one, because that needs no branch.
    """
    names, shorts = index.indptr, index.short_indptr
    for m in range(first, end):
        prefetch(pointer(names), max(name_in(known[m]), 0))
        prefetch(pointer(shorts), max(short_in(known[m]), 0))
    for m in range(first, end):
        name, short = names[max(name_in(known[m]), 0)], shorts[max(short_in(known[m]), 0)]
        prefetch(pointer(index.rows), name)
        prefetch(pointer(index.kinds), name)
        prefetch(pointer(index.short_rows), short)
        prefetch(pointer(index.short_forms), short)
    for m in range(first, end):
        name, short = name_in(known[m]), short_in(known[m])
        for k in range(names[max(name, 0)], names[name + 1]):
            prefetch(pointer(index.fame), index.rows[k])
        for k in range(shorts[max(short, 0)], shorts[short + 1]):
            prefetch(pointer(index.fame), index.short_rows[k])


@inlined(types.int64(I64, types.int64))
def entries(indptr, name):
    """The number of entities with a name; 0 without one."""
    return indptr[name + 1] - indptr[name] if name >= 0 else 0


@kernel(CANDIDATES(record(Texts), record(Hypotheses), record(Mentions), INDEX, record(Variants)))
def gather_candidates(texts, found, mentions, index, variants):
    """The mentions of each text with their candidates, without the mentions whose weights are too small.

    In texts without capitals, the largest weight must be at least LEAST_IN_LOWER_CASE, for one word ALONE times that.
    """
    size, hashes, written, w, kept, room = len(mentions.is_other), texts.hashes, 0, 0, 0, 8
    weights = np.empty(MANY + MOST, np.float64)
    best = Listed(
        *(np.empty(MANY + MOST, np.int64), np.empty(MANY + MOST, np.int64), np.empty(MANY + MOST, np.float64)),
        *(np.empty(MANY + MOST, np.bool_), weights, weights.view(np.int64)),
        *(np.empty(MANY, np.uint64), np.empty(MANY + 1, np.int64)),
    )
    rows, forms = np.empty(MOST * size, np.int32), np.empty(MOST * size, np.int8)
    in_text, quality = np.empty(MOST * size, np.bool_), np.empty(MOST * size, np.float64)
    indptr, span_indptr, offsets = (
        np.zeros_like(mentions.indptr),
        np.zeros(size + 1, np.int64),
        np.zeros(size + 1, np.int64),
    )
    first, end, byte_spans = (
        np.empty_like(found.first),
        np.empty_like(found.end),
        np.empty((len(found.first), 2), np.int32),
    )
    known, is_other, is_said = np.empty(size, np.uint64), np.empty(size, np.bool_), np.empty(size, np.bool_)
    namesakes, listed, packed = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.uint64)
    lead, chain, place = np.empty(size, np.int64), np.empty(2 * size, np.int64), np.empty(2 * size, np.int64)
    for m in range(size):
        lead[m] = mentions.order[mentions.spans[m]]
        packed[m] = found.known[lead[m]]
    for text in range(len(indptr) - 1):
        while room < 4 * (mentions.indptr[text + 1] - mentions.indptr[text]):
            room *= 2
    table, latest = np.zeros(room, np.uint64), np.empty(room, np.int64)
    slots = pointer(table)
    for text in range(len(indptr) - 1):
        low, high, used = mentions.indptr[text], mentions.indptr[text + 1], 0
        fetch(index, packed, low, high)
        for m in range(low, high):
            one, other = found.first[lead[m]], found.end[lead[m]] - 1
            for side in range(2 if one < other and name_in(packed[m]) >= 0 else 0):
                slot = find(slots, room - 1, hashes[other if side else one])
                chain[2 * m + side] = latest[slot] if table[slot] != FREE else -1
                table[slot], latest[slot], place[used] = hashes[other if side else one], 2 * m + side, slot
                used += 1
        for m in range(low, high):
            of_name, of_short = (
                entries(index.indptr, name_in(packed[m])),
                entries(index.short_indptr, short_in(packed[m])),
            )
            is_word = found.end[lead[m]] - found.first[lead[m]] == 1
            count = add_known(index, name_in(packed[m]), index.indptr, index.rows, index.kinds, 0, best, 0)
            shorts = index.short_indptr, index.short_rows, index.short_forms
            count = add_known(index, short_in(packed[m]), *shorts, SHORT, best, count)
            for k in range(variants.indptr[m], variants.indptr[m + 1]):
                weight = weight_of(index, variants.rows[k], SIMILAR) * variants.quality[k]
                count = add(best, count, variants.rows[k], SIMILAR, variants.quality[k], False, weight)
            slot = find(slots, room - 1, hashes[found.first[lead[m]]])
            link = latest[slot] if is_word and table[slot] != FREE else -1
            for _ in range(MOST):
                if link < 0:
                    break
                form = SHORT + (SURNAME if link % 2 else FIRST_NAME)
                count = lend(index, name_in(packed[link // 2]), form, best, count)
                link = chain[link]
            count = min(sort_best(best, count), MOST_OF_WORD if is_word else MOST)
            least = LEAST_IN_LOWER_CASE * (ALONE if is_word else 1.0) if texts.styles[text] == t.LOWER else 0.0
            top = best.order[0]
            if count == 0 or best.weights[top] < least:
                continue
            favoured = best.in_text[top] or best.rows[top] >= index.own
            lowest = LEAST_SHARE * best.weights[top] / (FAVOURED if favoured else 1.0)
            for k in range(count):
                one = best.order[k]
                if best.weights[one] < lowest:
                    break
                rows[written], forms[written] = best.rows[one], best.forms[one]
                in_text[written], quality[written] = best.in_text[one], best.quality[one]
                written += 1
            for k in range(mentions.spans[m], mentions.spans[m + 1]):
                first[w], end[w] = found.first[mentions.order[k]], found.end[mentions.order[k]]
                byte_spans[w, 0], byte_spans[w, 1] = texts.starts[first[w]], texts.ends[end[w] - 1]
                w += 1
            known[kept], is_other[kept], is_said[kept] = packed[m], mentions.is_other[m], mentions.is_said[m]
            namesakes[kept], listed[kept] = of_name, of_name + of_short + variants.indptr[m + 1] - variants.indptr[m]
            kept += 1
            span_indptr[kept], offsets[kept] = w, written
        for k in range(used):
            table[place[k]] = FREE
        indptr[text + 1] = kept
    return Candidates(
        *(indptr, span_indptr[: kept + 1], first[:w], end[:w], byte_spans[:w], known[:kept], is_other[:kept]),
        *(is_said[:kept], namesakes[:kept], listed[:kept], offsets[: kept + 1]),
        *(rows[:written], forms[:written], quality[:written], in_text[:written]),
    )


@inner(types.int64(INDEX, types.int64, types.int64, LISTED, types.int64))
def lend(index, name, form, best, count):
    """Add the most famous entities with a longer name to the candidates of its first or last word."""
    above, last = np.inf, -1
    for _ in range(LENT):
        chosen, weight = -1, -np.inf
        for k in range(index.indptr[name], index.indptr[name + 1]):
            one = weight_of(index, index.rows[k], np.int64(index.kinds[k]))
            if one > weight and (one < above or (one == above and k > last)):
                chosen, weight = k, one
        if chosen < 0:
            break
        count = add(best, count, index.rows[chosen], form, PART_QUALITY, True, weight * FAVOURED)
        above, last = weight, chosen
    return count
