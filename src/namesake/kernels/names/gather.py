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
from namesake.kernels.types import F32, F64, I8, I32, I64, own_record, record

SALT = np.uint64(0x9E3779B97F4A7C15)
"""Makes the hash of a name that follows "another" differ from that of the same name elsewhere."""
PLACES = 31
"""The bits of the place of an entity among MANY."""
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


IN_TEXT, VARIANT = 64, 128
QUALITY = np.append(FORM_QUALITY, np.full(64, PART_QUALITY)).astype(np.float64)
"""The quality of the match by form, with IN_TEXT or without."""


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
    codes: Annotated[Any, types.int64[::1]]
    """The form of the name, IN_TEXT if the text contains a longer name, VARIANT times the number of a variant."""
    weights: Annotated[Any, types.float64[::1]]
    numbers: Annotated[Any, types.int64[::1]]
    """The same memory: positive numbers have the same order as their bits, read as whole numbers."""
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


@inlined(types.int64(LISTED, types.int64, types.int64, types.int64, types.float64))
def add(listed, count, row, code, weight):
    """Add an entity to the `count` that are listed; returns how many there are.

    The lowest bits of its weight become those of its place, so that no two weights are equal and the first is larger.
    """
    if count == MANY:
        count = keep_best(listed, count)
    listed.rows[count], listed.codes[count], listed.weights[count] = row, code, weight
    listed.numbers[count] = (listed.numbers[count] | PLACES) ^ count
    return count + 1


@inner(types.int64(LISTED, types.int64))
def sort_best(listed, count):
    """Write the order of the best entities, each once; returns how many there are.

    The place of each is the number of those before it. That needs no branches, which would be hard to predict.
    """
    numbers, rows, used, repeated = pointer(listed.numbers), pointer(listed.rows), first_bits(count), ZERO
    for i in range(count):
        before = many_above(numbers, 0, numbers[i]) & used
        listed.order[ones(before)] = i
        repeated |= np.uint64(before & many_equal(rows, 0, rows[i]) != ZERO) << np.uint64(i)
    for i in range(count if repeated != ZERO else 0):
        place = ones(many_above(numbers, 0, numbers[i]) & used & ~repeated)
        listed.order[place if repeated >> np.uint64(i) & np.uint64(1) == ZERO else MANY] = i
    return min(count - ones(repeated), MOST)


@inner(types.int64(LISTED, types.int64))
def keep_best(listed, count):
    """Move the best entities to the beginning, in their order; returns how many there are."""
    best = sort_best(listed, count)
    for step in range(2):  # first behind the others
        for k in range(best):
            one, other = (listed.order[k], MANY + k) if step == 0 else (MANY + k, k)
            listed.rows[other], listed.codes[other] = listed.rows[one], listed.codes[one]
            listed.numbers[other] = (listed.numbers[one] | PLACES) ^ k
    return best


@inlined(types.int64(INDEX, types.int64, types.int64, I32, I8, types.int64, LISTED, types.int64))
def add_known(index, begin, size, rows, forms, least, listed, count):
    """Add entities with a name or short form, whose forms count from `least`; returns how many are listed."""
    for k in range(begin, begin + size):
        form = np.int64(least + forms[k])
        count = add(listed, count, rows[k], form, weight_of(index, rows[k], form))
    return count


@inlined(types.float64(INDEX, types.int32, types.int64))
def weight_of(index, row, form):
    """The fame of an entity, weighted by the form of its name."""
    return (1.0 + np.float64(index.fame[row])) * FORM_WEIGHT[form] * (FAVOURED if row >= index.own else 1.0)


@inlined(types.void(INDEX, I64, types.int64, types.int64))
def fetch_entries(index, begins, first, end):
    """Prefetch the entities with the names and short forms of some mentions: `begins` has two numbers per mention."""
    for m in range(first, end):
        prefetch(pointer(index.rows), begins[2 * m])
        prefetch(pointer(index.kinds), begins[2 * m])
        prefetch(pointer(index.short_rows), begins[2 * m + 1])
        prefetch(pointer(index.short_forms), begins[2 * m + 1])


@inlined(types.void(INDEX, I64, I64, types.int64, types.int64))
def fetch_fame(index, begins, sizes, first, end):
    """Prefetch the fame of these entities."""
    for m in range(first, end):
        for k in range(begins[2 * m], begins[2 * m] + sizes[2 * m]):
            prefetch(pointer(index.fame), index.rows[k])
        for k in range(begins[2 * m + 1], begins[2 * m + 1] + sizes[2 * m + 1]):
            prefetch(pointer(index.fame), index.short_rows[k])


@kernel(CANDIDATES(record(Texts), record(Hypotheses), record(Mentions), INDEX, record(Variants)))
def gather_candidates(texts, found, mentions, index, variants):
    """The mentions of each text with their candidates, without the mentions whose weights are too small.

    In texts without capitals, the largest weight must be at least LEAST_IN_LOWER_CASE, for one word ALONE times that.
    """
    size, hashes, written, w, kept, room = len(mentions.is_other), texts.hashes, 0, 0, 0, 8
    weights = np.zeros(MANY + MOST, np.float64)
    best = Listed(
        *(np.zeros(MANY + MOST, np.int64), np.empty(MANY + MOST, np.int64), weights, weights.view(np.int64)),
        np.empty(MANY + 1, np.int64),
    )
    rows, forms = np.empty(MOST * size, np.int32), np.empty(MOST * size, np.int8)
    in_text, quality = np.empty(MOST * size, np.bool_), np.empty(MOST * size, np.float64)
    indptr, span_indptr = np.zeros_like(mentions.indptr), np.zeros(size + 1, np.int64)
    offsets, byte_spans = np.zeros(size + 1, np.int64), np.empty((len(found.first), 2), np.int32)
    first, end = np.empty_like(found.first), np.empty_like(found.end)
    known, is_other, is_said = np.empty(size, np.uint64), np.empty(size, np.bool_), np.empty(size, np.bool_)
    namesakes, listed, packed = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.uint64)
    edges, chain, place = np.empty(2 * size, np.uint64), np.empty(2 * size, np.int64), np.empty(2 * size, np.int64)
    begins, sizes, is_word = np.empty(2 * size, np.int64), np.empty(2 * size, np.int64), np.empty(size, np.bool_)
    for m in range(size):
        lead = mentions.order[mentions.spans[m]]
        one, other, packed[m] = found.first[lead], found.end[lead] - 1, found.known[lead]
        edges[2 * m], edges[2 * m + 1], is_word[m] = hashes[one], hashes[other], one == other
        name, short = name_in(packed[m]), short_in(packed[m])
        begins[2 * m], begins[2 * m + 1] = index.indptr[max(name, 0)], index.short_indptr[max(short, 0)]
        sizes[2 * m] = index.indptr[name + 1] - begins[2 * m]  # 0 without a name: indptr[0] is 0
        sizes[2 * m + 1] = index.short_indptr[short + 1] - begins[2 * m + 1]
    for text in range(len(indptr) - 1):
        while room < 4 * (mentions.indptr[text + 1] - mentions.indptr[text]):
            room *= 2
    table, latest = np.zeros(room, np.uint64), np.empty(room, np.int64)
    slots = pointer(table)
    for text in range(len(indptr) - 1):
        low, high, used = mentions.indptr[text], mentions.indptr[text + 1], 0
        fetch_entries(index, begins, high, mentions.indptr[min(text + 2, len(indptr) - 1)])
        fetch_fame(index, begins, sizes, low, high)
        for m in range(low, high):
            for edge in range(2 * m, 2 * m if is_word[m] or name_in(packed[m]) < 0 else 2 * m + 2):
                slot = find(slots, room - 1, edges[edge])
                chain[edge] = latest[slot] if table[slot] != FREE else -1
                table[slot], latest[slot], place[used] = edges[edge], edge, slot
                used += 1
        for m in range(low, high):
            begin, short, of_name, of_short = begins[2 * m], begins[2 * m + 1], sizes[2 * m], sizes[2 * m + 1]
            count = add_known(index, begin, of_name, index.rows, index.kinds, 0, best, 0)
            count = add_known(index, short, of_short, index.short_rows, index.short_forms, SHORT, best, count)
            for k in range(variants.indptr[m], variants.indptr[m + 1]):
                weight = weight_of(index, variants.rows[k], SIMILAR) * variants.quality[k]
                count = add(best, count, variants.rows[k], SIMILAR + VARIANT * k, weight)
            slot = find(slots, room - 1, edges[2 * m])
            link = latest[slot] if is_word[m] and table[slot] != FREE else -1
            for _ in range(MOST):
                if link < 0:
                    break
                code = SHORT + (SURNAME if link % 2 else FIRST_NAME) | IN_TEXT
                count = lend(index, name_in(packed[link // 2]), code, best, count)
                link = chain[link]
            count = min(sort_best(best, count), MOST_OF_WORD if is_word[m] else MOST)
            least = LEAST_IN_LOWER_CASE * (ALONE if is_word[m] else 1.0) if texts.styles[text] == t.LOWER else 0.0
            top = best.order[0]
            if count == 0 or best.weights[top] < least:
                continue
            favoured = best.codes[top] & IN_TEXT != 0 or best.rows[top] >= index.own
            lowest = LEAST_SHARE * best.weights[top] / (FAVOURED if favoured else 1.0)
            for k in range(count):
                one = best.order[k]
                if best.weights[one] < lowest:
                    break
                code = best.codes[one]
                rows[written], forms[written], in_text[written] = best.rows[one], code & SIMILAR, code & IN_TEXT != 0
                quality[written] = QUALITY[code] if code & SIMILAR != SIMILAR else variants.quality[code // VARIANT]
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
def lend(index, name, code, best, count):
    """Add the most famous entities with a longer name to the candidates of its first or last word."""
    above, last = np.inf, -1
    for _ in range(min(LENT, index.indptr[name + 1] - index.indptr[name])):
        chosen, weight = -1, -np.inf
        for k in range(index.indptr[name], index.indptr[name + 1]):
            one = weight_of(index, index.rows[k], np.int64(index.kinds[k]))
            if one > weight and (one < above or (one == above and k > last)):
                chosen, weight = k, one
        count = add(best, count, index.rows[chosen], code, weight * FAVOURED)
        above, last = weight, chosen
    return count
