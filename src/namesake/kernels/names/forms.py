"""Short forms of names: what a label or alias is cut down to, and who bears each form."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner, kernel
from namesake.kernels.hash import FREE, ZERO, extend, find
from namesake.kernels.names import constants as form_numbers
from namesake.kernels.names.index import MOST_TOKENS, letters_in, mark, mark_prefixes, tokens
from namesake.kernels.simd import pointer
from namesake.kernels.types import F32, F64, I8, I32, I64, U8, U64, own_record, record

MOST_FORMS = 6  # of one name
LONGEST = 6  # tokens of a name that is no king's and has short forms
LONGEST_REGNAL = 4

BOOLS = types.Array(types.boolean, 1, "C", readonly=True)
HASHES, INTS, BYTES, FLOATS = types.uint64[::1], types.int32[::1], types.int8[::1], types.float32[::1]


TITLE, AFFIX, NUMERAL, GENERATION, PARTICLE, END = 1, 2, 4, 8, 16, 32
"""What a token is, by bits: see `Language`; an affix is one of its suffixes."""


class Words(NamedTuple):
    """The words that names are cut at: a hash table of tokens, and the bits of each."""

    keys: Annotated[Any, U64]
    bits: Annotated[Any, U8]


class Named(NamedTuple):
    """Normalised names, labels by entity first and then the aliases: in full, before the comma, whether one counts."""

    texts: Annotated[Any, U8]
    offsets: Annotated[Any, I64]
    heads: Annotated[Any, U8]
    head_offsets: Annotated[Any, I64]
    comma: Annotated[Any, BOOLS]
    alias_indptr: Annotated[Any, I64]
    aliases: Annotated[Any, I32]


class Forms(NamedTuple):
    """The forms of one name: key, form, how many tokens it has; and the bits of `NameColumns.prefixes`."""

    keys: Annotated[Any, HASHES]
    forms: Annotated[Any, BYTES]
    sizes: Annotated[Any, INTS]
    prefixes: Annotated[Any, types.uint8[::1]]


class Found(NamedTuple):
    """Who bears which form, as entries by entity; and of each label first and last token, and those between."""

    keys: Annotated[Any, HASHES]
    rows: Annotated[Any, INTS]
    forms: Annotated[Any, BYTES]
    weights: Annotated[Any, FLOATS]
    firsts: Annotated[Any, HASHES]
    lasts: Annotated[Any, HASHES]
    middles: Annotated[Any, HASHES]


class Grouped(NamedTuple):
    """The best entities with each form: where they end, rows, forms, weights."""

    indptr: Annotated[Any, types.int64[::1]]
    rows: Annotated[Any, INTS]
    forms: Annotated[Any, BYTES]
    weights: Annotated[Any, FLOATS]


ONE_NAME, FOUND = own_record(Forms), record(Found)


@inner(ONE_NAME(types.int64, types.uint8[::1]))
def room_for_forms(most, prefixes):
    """Room for so many forms of a name."""
    return Forms(np.empty(most, np.uint64), np.empty(most, np.int8), np.empty(most, np.int32), prefixes)


@inlined(types.uint64(U64, types.int64, types.int64))
def key_of(hashes, low, high):
    """The hash of the name that the tokens low to high make."""
    key = ZERO
    for i in range(low, high):
        key = extend(key, hashes[i])
    return key


@inlined(types.boolean(U8, I64, types.int64))
def is_letter(text, at, token):
    """Whether a token is one character."""
    return letters_in(text, at[token], at[token + 1] - 1) == 1


@inlined(types.UniTuple(types.int64, 2)(U8, types.int64))
def core(bits, high):
    """First token and end of a name without the titles in front and the suffixes behind; numerals stay."""
    low = 0
    while high - low > 1 and bits[high - 1] & (AFFIX | NUMERAL) == AFFIX:
        high -= 1
    while high - low > 1 and bits[low] & TITLE:
        low += 1
    return low, high


@inlined(types.int64(U64, types.int64, types.int64, types.int64, types.int64, ONE_NAME))
def add(hashes, low, high, form, count, to):
    """Note a form made of the tokens low to high, and mark its beginnings."""
    mark_prefixes(hashes, low, high, to.prefixes)
    to.keys[count], to.forms[count], to.sizes[count] = key_of(hashes, low, high), form, high - low
    return count + 1


@inlined(types.int64(U64, U8, types.int64, types.int64, types.boolean, types.boolean, ONE_NAME))
def regnal_forms(hashes, bits, low, high, headed, shorter, to):
    """The forms of a king's name: Charles II, Charles; or Ford, where the numeral counts a family."""
    count, size = 0, high - low
    if headed or shorter:
        count = add(hashes, low, high, form_numbers.HEAD, count, to)
    count = add(hashes, low, high - 1, form_numbers.HEAD, count, to)
    if (size == 3 and bits[high - 1] & GENERATION) or (size > 3 and not headed):
        count = add(hashes, high - 2, high - 1, form_numbers.SURNAME, count, to)
    return count


@inlined(types.int64(U8, I64, U64, U8, types.int64, types.int64, types.int64, ONE_NAME))
def usual_forms(text, at, hashes, bits, low, high, count, to):
    """Add the forms of a name of two tokens or more: its first and last, and of three pair, suffix and beginning."""
    if not is_letter(text, at, high - 1):
        count = add(hashes, high - 1, high, form_numbers.SURNAME, count, to)
    if not is_letter(text, at, low):
        count = add(hashes, low, low + 1, form_numbers.FIRST_NAME, count, to)
    if high - low < 3:
        return count
    to.keys[count] = extend(extend(ZERO, hashes[low]), hashes[high - 1])
    to.forms[count], to.sizes[count] = form_numbers.PAIR, 2
    mark(to.keys[count], to.prefixes)
    count += 1
    first = high - 2
    while first > low + 1 and bits[first] & bits[first - 1] & PARTICLE:
        first -= 1
    if not is_letter(text, at, high - 2):
        count = add(hashes, first, high, form_numbers.LAST_TWO, count, to)
    if not is_letter(text, at, low + 1) and not bits[low + 1] & PARTICLE:
        count = add(hashes, low, low + 2, form_numbers.BEGIN, count, to)
    return count


@inlined(types.UniTuple(types.int64, 3)(U8, I64, U64, U8, types.int64, types.boolean, ONE_NAME))
def forms_of(text, at, hashes, bits, size, comma, to):
    """Write the short forms of a name of `size` tokens; returns how many, and its first token and end without titles.

    The name ends before "of", "the" or a comma: what stands there is its head.
    """
    cut = 1
    while cut < size and not bits[cut] & END:
        cut += 1
    low, high = core(bits, cut)
    headed, shorter = comma or cut < size, high - low < size
    if 1 < high - low <= LONGEST_REGNAL and bits[high - 1] & NUMERAL:
        return regnal_forms(hashes, bits, low, high, headed, shorter, to), low, high
    count = 0
    if headed or (shorter and high - low == 1):
        count = add(hashes, low, high, form_numbers.HEAD, count, to)
    if size == 1 and not headed:
        count = add(hashes, low, high, form_numbers.MONONYM, count, to)
    if 2 <= high - low <= LONGEST:
        count = usual_forms(text, at, hashes, bits, low, high, count, to)
    return count, low, high


@inlined(types.boolean(types.uint64, U64, types.int64))
def held(key, hashes, count):
    """Whether a name of one token is one of these tokens."""
    for i in range(count):
        if extend(ZERO, hashes[i]) == key:
            return True
    return False


@inlined(types.boolean(U64, types.int64, U64, types.int64))
def share(one, size, other, others):
    """Whether two names have a token in common."""
    for i in range(size):
        for j in range(others):
            if one[i] == other[j]:
                return True
    return False


@inlined(types.int64(types.int64, types.uint64, types.int64, types.boolean, U64, types.int64))
def of_alias(form, key, size, related, own, count):
    """What a form of an alias is, for somebody whose label has the tokens `own`; -1 where it is none."""
    if form == form_numbers.FIRST_NAME or (form == form_numbers.HEAD and size == 1):
        return -1
    if form == form_numbers.MONONYM:
        return form_numbers.CALLED if held(key, own, count) else form_numbers.NICK
    if form == form_numbers.SURNAME:  # one that the label has adds nothing, or makes a first name the last
        return form_numbers.ALIAS_SURNAME if related and not held(key, own, count) else -1
    return form


@inlined(types.int64(U64, types.int64, types.int64, ONE_NAME, types.int64, types.int64, types.int64, FOUND))
def note_tokens(hashes, low, high, one, count, row, between, to):
    """Note the first and the last token of a label with these forms, and those between, of which there are so many."""
    for i in range(count):
        if one.forms[i] == form_numbers.FIRST_NAME:
            to.firsts[row] = hashes[low]
        elif one.forms[i] == form_numbers.SURNAME:
            is_last = one.keys[i] == extend(ZERO, hashes[high - 1])
            to.lasts[row] = hashes[high - 1] if is_last else hashes[high - 2]  # before a numeral
        elif one.forms[i] == form_numbers.PAIR:
            for token in range(low + 1, high - 1):
                to.middles[between] = hashes[token]
                between += 1
    return between


@kernel(
    types.UniTuple(types.int64, 2)(*(record(Named), record(Words), F64, F64, types.float64, types.uint8[::1], FOUND))
)
def list_forms(names, words, fame, form_weights, alias_weight, prefixes, to):
    """Write the entries of all entities, and the tokens of their labels; mark beginnings of forms.

    Returns how many entries and how many tokens between first and last there are. A form weighs fame times its own
    weight, and times `alias_weight` where it could be a label's and is an alias's.
    """
    at, bits = np.empty(MOST_TOKENS + 1, np.int64), np.empty(MOST_TOKENS, np.uint8)
    own, whole = np.empty(MOST_TOKENS, np.uint64), np.empty(MOST_TOKENS, np.uint64)
    hashes, one = np.empty(MOST_TOKENS, np.uint64), room_for_forms(MOST_FORMS, prefixes)
    written = between = 0
    texts, offsets, heads, head_offsets, commas, alias_indptr, aliases = names  # named once: arrays are counted
    word_keys, word_bits, mask = pointer(words.keys), words.bits, len(words.keys) - 1
    keys, rows, forms, weights, firsts, lasts, _ = to
    entities = len(alias_indptr) - 1
    for row in range(entities):
        firsts[row] = lasts[row] = FREE
        own_size = tokens(texts, offsets[row], offsets[row + 1], at, own)
        first, end = alias_indptr[row] - 1, alias_indptr[row + 1]  # the label, then the aliases
        for k in range(first, end):
            name = row if k == first else entities + aliases[k]
            related = k > first and share(
                whole, tokens(texts, offsets[name], offsets[name + 1], at, whole), own, own_size
            )
            start, stop = head_offsets[name], head_offsets[name + 1]
            size = tokens(heads, start, stop, at, hashes)
            if start == stop or at[size] != stop + 1:
                continue
            for i in range(size):
                bits[i] = word_bits[find(word_keys, mask, hashes[i])]
            count, low, high = forms_of(heads, at, hashes, bits, size, commas[name], one)
            if k == first:
                between = note_tokens(hashes, low, high, one, count, row, between, to)
            for i in range(count):
                form = np.int64(one.forms[i])
                if k > first:
                    form = of_alias(form, one.keys[i], one.sizes[i], related, own, own_size)
                if form >= 0:
                    weight = fame[row] * form_weights[form]
                    keys[written], rows[written], forms[written] = one.keys[i], row, form
                    weights[written] = weight if k == first or form >= form_numbers.CALLED else weight * alias_weight
                    written += 1
    return written, between


@kernel(types.int64(I32, I32, I8, F32, types.int64, record(Grouped)))
def best_bearers(ids, rows, forms, weights, most, to):
    """Group entries, those of an entity together, by the form's id: the `most` bearers of the largest weights.

    The largest comes first; of equal weights the lower row. An entity's largest weight counts, and the form it is of.
    """
    groups = len(to.indptr) - 1
    ends = np.zeros(groups + 1, np.int64)
    for entry in range(len(ids)):
        ends[ids[entry] + 1] += 1
    for group in range(groups):
        ends[group + 1] += ends[group]
    place, order = ends[:-1].copy(), np.empty(len(ids), np.int32)
    for entry in range(len(ids)):
        order[place[ids[entry]]] = entry
        place[ids[entry]] += 1
    write = 0
    for group in range(groups):
        first, entry = write, ends[group]
        while entry < ends[group + 1]:
            best = order[entry]
            while entry < ends[group + 1] and rows[order[entry]] == rows[best]:
                best = order[entry] if weights[order[entry]] > weights[best] else best
                entry += 1
            at = write
            write += at - first < most
            while at > first and to.weights[at - 1] < weights[best]:
                if at - first < most:
                    to.rows[at], to.forms[at], to.weights[at] = to.rows[at - 1], to.forms[at - 1], to.weights[at - 1]
                at -= 1
            if at - first < most:
                to.rows[at], to.forms[at], to.weights[at] = rows[best], forms[best], weights[best]
        to.indptr[group + 1] = write
    return write
