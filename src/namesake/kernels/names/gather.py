"""The mentions of a text, and the candidates of each.

Hypotheses of a text with the same tokens are one mention with several spans. Its candidates are the entities with this
name or short form, or with a similar name; and for one word, the entities of the longer names in the text that begin or
end with it: "Curie" after "Marie Curie".
"""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inner, kernel
from namesake.kernels.hash import FREE, ZERO, find
from namesake.kernels.names import tokens as t
from namesake.kernels.names.constants import FIRST_NAME, SHORT, SIMILAR, SURNAME
from namesake.kernels.names.lattice import Hypotheses, Texts
from namesake.kernels.names.phrases import name_in, short_in
from namesake.kernels.simd import pointer, prefetch
from namesake.kernels.types import F32, F64, I8, I32, I64, U64, own_record, record

SALT = np.uint64(0x9E3779B97F4A7C15)
"""Makes the hash of a name that follows "another" differ from that of the same name elsewhere."""
MOST_WORDS = 5
"""Words between an article and the end of an apposition."""
MOST = 8
"""Candidates of a mention."""
LEAST_SHARE = 0.01
"""A candidate whose weight is a smaller share of the largest one, which is not favoured here, is left out."""
LENT = 4
"""Candidates that a longer name gives to one of its words."""
PART_QUALITY = 0.7
"""The quality of the match of such a word."""
AHEAD = (12, 6, 2)
"""The distance of the mentions for which data are prefetched, step by step."""
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
    form_weight: Annotated[Any, F64]
    form_quality: Annotated[Any, F32]


class Variants(NamedTuple):
    """Entities with a similar name: those of mention m are `indptr[m]` to `indptr[m + 1]`."""

    indptr: Annotated[Any, I64]
    rows: Annotated[Any, I32]
    quality: Annotated[Any, F64]


class Best(NamedTuple):
    """The best candidates of one mention so far, best first."""

    rows: Annotated[Any, types.int32[::1]]
    forms: Annotated[Any, types.int8[::1]]
    quality: Annotated[Any, types.float64[::1]]
    in_text: Annotated[Any, types.boolean[::1]]
    weights: Annotated[Any, types.float64[::1]]


class Candidates(NamedTuple):
    """The candidates of all mentions: those of mention m are `indptr[m]` to `indptr[m + 1]`.

    `forms` and `quality` describe the match of the name; `in_text`: whether the text has a longer name of the entity.
    """

    indptr: Annotated[Any, types.int64[::1]]
    rows: Annotated[Any, types.int32[::1]]
    forms: Annotated[Any, types.int8[::1]]
    quality: Annotated[Any, types.float64[::1]]
    in_text: Annotated[Any, types.boolean[::1]]
    namesakes: Annotated[Any, types.int64[::1]]
    """The number of entities with exactly the name of each mention, and `listed` that of all that were compared."""
    listed: Annotated[Any, types.int64[::1]]


class Mentions(NamedTuple):
    """The mentions of hypotheses: those of text i are `indptr[i]` to `indptr[i + 1]`.

    Mention m has the hypotheses `order[spans[m]]` to `order[spans[m + 1] - 1]`.
    """

    indptr: Annotated[Any, types.int64[::1]]
    spans: Annotated[Any, types.int64[::1]]
    order: Annotated[Any, types.int64[::1]]
    is_other: Annotated[Any, types.boolean[::1]]
    """Whether each mention may be another entity than an earlier mention with this name: by its noun, or `is_said`."""
    is_said: Annotated[Any, types.boolean[::1]]
    """Whether a word such as "another" is before the first hypothesis of each mention."""


INDEX, BEST, CANDIDATES, MENTIONS = record(Index), own_record(Best), own_record(Candidates), own_record(Mentions)


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


@inner(types.int64(BEST, types.int64, types.int32, types.int64, types.float64, types.boolean, types.float64))
def keep_best(best, count, row, form, quality, in_text, weight):
    """Add a candidate to the best ones, each entity once; returns how many there are."""
    if count == MOST and weight <= best.weights[MOST - 1]:
        return count
    for k in range(count):
        if best.rows[k] == row:
            if best.weights[k] >= weight:
                return count
            count -= 1
            for later in range(k, count):
                copy(best, later + 1, later)
            break
    k = min(count, MOST - 1)
    while k > 0 and best.weights[k - 1] < weight:
        copy(best, k - 1, k)
        k -= 1
    best.rows[k], best.forms[k], best.quality[k] = row, form, quality
    best.in_text[k], best.weights[k] = in_text, weight
    return min(count + 1, MOST)


@inner(types.void(BEST, types.int64, types.int64))
def copy(best, one, other):
    """Copy one candidate to another place."""
    best.rows[other], best.forms[other], best.quality[other] = best.rows[one], best.forms[one], best.quality[one]
    best.in_text[other], best.weights[other] = best.in_text[one], best.weights[one]


@inner(types.int64(INDEX, types.uint64, BEST))
def known_candidates(index, packed, best):
    """The best entities with a name or short form."""
    count, name, short = 0, name_in(packed), short_in(packed)
    if name >= 0:
        for k in range(index.indptr[name], index.indptr[name + 1]):
            row, form = index.rows[k], np.int64(index.kinds[k])
            count = keep_best(best, count, row, form, index.form_quality[form], False, weight_of(index, row, form))
    if short >= 0:
        for k in range(index.short_indptr[short], index.short_indptr[short + 1]):
            row, form = index.short_rows[k], np.int64(SHORT + index.short_forms[k])
            count = keep_best(best, count, row, form, index.form_quality[form], False, weight_of(index, row, form))
    return count


@inner(types.float64(INDEX, types.int32, types.int64))
def weight_of(index, row, form):
    """The fame of an entity, weighted by the form of its name."""
    return (1.0 + index.fame[row]) * index.form_weight[form] * (FAVOURED if row >= index.own else 1.0)


@inner(types.void(I64, I32, I8, F32, types.int64, types.int64))
def fetch(indptr, rows, forms, fame, name, step):
    """Prefetch one step of what will be read of a name: its offsets, its entities, their fame."""
    if step == 0:
        prefetch(pointer(indptr), name)
    elif step == 1:
        prefetch(pointer(rows), indptr[name])
        prefetch(pointer(forms), indptr[name])
    else:
        for k in range(indptr[name], min(indptr[name] + MOST, indptr[name + 1])):
            prefetch(pointer(fame), rows[k])


@kernel(CANDIDATES(I64, F64, U64, I64, U64, U64, INDEX, record(Variants)))
def gather_candidates(texts, least, known, sizes, firsts, lasts, index, variants):
    """The candidates of the mentions of each text; none for a mention with too small weights.

    The largest weight must be at least `least[text]`, for one word ALONE times as much.

    Mention m has `sizes[m]` tokens, of which the first and the last have the hashes `firsts[m]` and `lasts[m]`.
    """
    mentions, written = len(known), 0
    best = Best(
        *(np.empty(MOST, np.int32), np.empty(MOST, np.int8), np.empty(MOST, np.float64)),
        *(np.empty(MOST, np.bool_), np.empty(MOST, np.float64)),
    )
    rows, forms = np.empty(MOST * mentions, np.int32), np.empty(MOST * mentions, np.int8)
    in_text, quality = np.empty(MOST * mentions, np.bool_), np.empty(MOST * mentions, np.float64)
    indptr, namesakes, listed = (
        np.zeros(mentions + 1, np.int64),
        np.zeros(mentions, np.int64),
        np.zeros(mentions, np.int64),
    )
    chain, place, room = np.empty(2 * mentions, np.int64), np.empty(2 * mentions, np.int64), 8
    for text in range(len(texts) - 1):
        while room < 4 * (texts[text + 1] - texts[text]):
            room *= 2
    table, latest = np.zeros(room, np.uint64), np.empty(room, np.int64)
    slots = pointer(table)
    for text in range(len(texts) - 1):
        for m in range(texts[text], texts[text + 1]):
            for side in range(2 if sizes[m] > 1 and name_in(known[m]) >= 0 else 0):
                key = firsts[m] if side == 0 else lasts[m]
                slot = find(slots, room - 1, key)
                chain[2 * m + side] = latest[slot] if table[slot] != FREE else -1
                table[slot], latest[slot], place[2 * m + side] = key, 2 * m + side, slot
        for m in range(texts[text], texts[text + 1]):
            for step in range(len(AHEAD)):
                soon = known[min(m + AHEAD[step], mentions - 1)]
                name, short = name_in(soon), short_in(soon)
                if name >= 0:
                    fetch(index.indptr, index.rows, index.kinds, index.fame, name, step)
                if short >= 0:
                    fetch(index.short_indptr, index.short_rows, index.short_forms, index.fame, short, step)
            count = known_candidates(index, known[m], best)
            name, short = name_in(known[m]), short_in(known[m])
            namesakes[m] = index.indptr[name + 1] - index.indptr[name] if name >= 0 else 0
            of_short = index.short_indptr[short + 1] - index.short_indptr[short] if short >= 0 else 0
            listed[m] = namesakes[m] + of_short + variants.indptr[m + 1] - variants.indptr[m]
            for k in range(variants.indptr[m], variants.indptr[m + 1]):
                weight = weight_of(index, variants.rows[k], SIMILAR) * variants.quality[k]
                count = keep_best(best, count, variants.rows[k], SIMILAR, variants.quality[k], False, weight)
            slot = find(slots, room - 1, firsts[m])
            link = latest[slot] if sizes[m] == 1 and table[slot] != FREE else -1
            for _ in range(MOST):
                if link < 0:
                    break
                form = SHORT + (SURNAME if link % 2 else FIRST_NAME)
                count = lend(index, name_in(known[link // 2]), form, best, count)
                link = chain[link]
            favoured = count > 0 and (best.in_text[0] or best.rows[0] >= index.own)
            lowest = LEAST_SHARE * best.weights[0] / (FAVOURED if favoured else 1.0)
            for k in range(count if best.weights[0] >= least[text] * (ALONE if sizes[m] == 1 else 1.0) else 0):
                if best.weights[k] < lowest:
                    break
                rows[written], forms[written] = best.rows[k], best.forms[k]
                in_text[written], quality[written] = best.in_text[k], best.quality[k]
                written += 1
            indptr[m + 1] = written
        for m in range(texts[text], texts[text + 1]):
            if sizes[m] > 1 and name_in(known[m]) >= 0:
                table[place[2 * m]] = table[place[2 * m + 1]] = FREE
    return Candidates(indptr, rows[:written], forms[:written], quality[:written], in_text[:written], namesakes, listed)


@inner(types.int64(INDEX, types.int64, types.int64, BEST, types.int64))
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
        count = keep_best(best, count, index.rows[chosen], form, PART_QUALITY, True, weight * FAVOURED)
        above, last = weight, chosen
    return count
