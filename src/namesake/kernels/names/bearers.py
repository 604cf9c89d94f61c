"""Candidates of the mentions found in a text: who bears the name, and whom the rules have found beside them."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import inlined, inner
from namesake.kernels.hash import same_bytes
from namesake.kernels.names.constants import ALIAS, KIND_QUALITY
from namesake.kernels.names.cut import cut
from namesake.kernels.names.page import (
    DOUBLES,
    END,
    EVIDENCE,
    EXTRAS,
    FACTOR,
    FACTS,
    FIRST,
    KNOWN,
    MOST_EXTRAS,
    NAME,
    PAGE,
    PLACE,
    SMALL,
    B,
    I,
)
from namesake.kernels.names.people import (
    borne_outright,
)
from namesake.kernels.names.tokens import ARTICLE, COMMA, OF, TABLES, TOKENS
from namesake.kernels.simd import byte, pointer, prefetch
from namesake.kernels.types import I32, I64, U8, record

UNSETTLED = -1.0  # the quality of an alias until the label has been read
FAR_ALIAS = 0.75  # an alias without a word of the label: Notre Dame, Due Process
MOST_TOKENS = 64
FEW = 8  # bearers of a name whose labels are asked for
SPACE = 0x20


class Labels(NamedTuple):
    """What entities are called: the item of each entity, the items' labels, each entity's aliases, and their texts."""

    item: Annotated[Any, I32]
    offsets: Annotated[Any, I64]
    texts: Annotated[Any, U8]
    alias_indptr: Annotated[Any, I64]
    aliases: Annotated[Any, I32]
    alias_offsets: Annotated[Any, I64]
    alias_texts: Annotated[Any, U8]


LABELS = record(Labels)


@inner(I(LABELS, I, TABLES, TOKENS))
def read_label(labels, row, tables, tokens):
    """Cut the label of an entity into tokens; how many."""
    item = labels.item[row]
    return cut(labels.texts, labels.offsets[item], labels.offsets[item + 1], tables, tokens, MOST_TOKENS)


@inner(B(TOKENS, I, types.uint64))
def has_token(tokens, count, wanted):
    """Whether one of the tokens has a hash."""
    hashes = pointer(tokens.hashes)
    for i in range(count):
        if hashes[i] == wanted:
            return True
    return False


@inlined(B(PAGE, KNOWN, I, I))
def ends_alike(page, known, mention, row):
    """Whether an entity's label ends in the last word of a mention's first span, as it is written: almost always."""
    item, last = known.item[row], page.facts[mention * FACTS + END] - 1
    start, size = page.starts[last], page.ends[last] - page.starts[last]
    begin, at = known.label_offsets[item], known.label_offsets[item + 1] - size
    if at < begin or (at > begin and byte(known.labels, at - 1) != SPACE):
        return False
    return same_bytes(known.labels, at, page.text, start, size)


@inner(B(PAGE, I, LABELS, I, TABLES, TOKENS))
def shares_token(page, mention, labels, row, tables, tokens):
    """Whether the first span of a mention has a word of an entity's label."""
    count = read_label(labels, row, tables, tokens)
    for i in range(page.facts[mention * FACTS + FIRST], page.facts[mention * FACTS + END]):
        if has_token(tokens, count, page.hashes[i]):
            return True
    return False


@inner(B(LABELS, I, types.uint64, TABLES, TOKENS))
def is_of(labels, row, place, tables, tokens):
    """Whether the label or an alias of an entity has a word, that of a place."""
    if has_token(tokens, read_label(labels, row, tables, tokens), place):
        return True
    for k in range(labels.alias_indptr[row], labels.alias_indptr[row + 1]):
        alias = labels.aliases[k]
        begin, end = labels.alias_offsets[alias], labels.alias_offsets[alias + 1]
        if has_token(tokens, cut(labels.alias_texts, begin, end, tables, tokens, MOST_TOKENS), place):
            return True
    return False


@inner(B(LABELS, I, TABLES, TOKENS))
def has_place(labels, row, tables, tokens):
    """Whether the label of an entity names its place itself: it has "of", "the" or a comma."""
    for i in range(1, read_label(labels, row, tables, tokens)):
        if tokens.gaps[i] == COMMA or tokens.classes[i] & (OF | ARTICLE) != 0:
            return True
    return False


@inner(I(LABELS, types.uint64, TABLES, TOKENS, SMALL, DOUBLES, I, I))
def keep_those_of(labels, place, tables, tokens, rows, quality, begin, end):
    """Keep the candidates whose names have the place; if none has, those whose label names no other; where they end."""
    kept = begin
    for turn in range(2):
        for k in range(begin, end):
            row = np.int64(rows[k])
            if turn == 0:
                fits = is_of(labels, row, place, tables, tokens)
            else:
                fits = not has_place(labels, row, tables, tokens)
            if fits:
                rows[kept], quality[kept] = rows[k], quality[k]
                kept += 1
        if kept > begin:
            break
    return kept


@inlined(types.void(PAGE, KNOWN))
def ask_for_labels(page, known):
    """Ask for the ends of the labels that `write_candidates` will read, where they are few: those of aliases' bearers.

    Each loop asks for what the next one reads.
    """
    items, size = page.unread, 0
    for mention in range(page.size[0]):
        name = page.facts[mention * FACTS + NAME]
        if name >= 0:
            for k in range(known.indptr[name], min(known.indptr[name + 1], known.indptr[name] + FEW)):
                items[size] = known.rows[k]
                size += known.kinds[k] == ALIAS and size < page.count
    for k in range(size):
        prefetch(known.item, items[k])
    for k in range(size):
        items[k] = known.item[items[k]]
        prefetch(known.label_offsets, items[k] + 1)
    for k in range(size):
        prefetch(known.labels, known.label_offsets[items[k] + 1] - 1)


@inlined(types.Tuple((I, B))(PAGE, KNOWN, I, SMALL, DOUBLES, I))
def write_candidates(page, known, mention, rows, quality, begin):
    """Write a mention's candidates from `begin` on, those that bear its name first.

    Returns where they end, and whether `settle` has to read labels: for an alias without a word of it, or a place.
    """
    facts = mention * FACTS
    name, factor = page.facts[facts + NAME], page.evidence[mention * EVIDENCE + FACTOR]
    end, open_question = np.int64(begin), page.facts[facts + PLACE] >= 0
    if name >= 0:
        outright = borne_outright(known, name)
        for k in range(known.indptr[name], known.indptr[name + 1]):
            kind, row = known.kinds[k], np.int64(known.rows[k])
            if outright and kind > ALIAS:
                continue
            settled = kind != ALIAS or ends_alike(page, known, mention, row)
            rows[end], quality[end] = np.int32(row), factor * KIND_QUALITY[kind] if settled else UNSETTLED
            open_question |= not settled
            end += 1
    for k in range(mention * MOST_EXTRAS, mention * MOST_EXTRAS + page.facts[facts + EXTRAS]):
        rows[end], quality[end] = page.rows[k], page.quality[k]
        end += 1
    return end, open_question


@inner(I(PAGE, I, LABELS, TABLES, TOKENS, SMALL, DOUBLES, I, I))
def settle(page, mention, labels, tables, tokens, rows, quality, begin, end):
    """Settle what `write_candidates` has left open of a mention's candidates begin to end; where they end now."""
    factor, place = page.evidence[mention * EVIDENCE + FACTOR], page.facts[mention * FACTS + PLACE]
    for k in range(begin, end):
        if quality[k] == UNSETTLED:
            near = shares_token(page, mention, labels, np.int64(rows[k]), tables, tokens)
            quality[k] = factor * (KIND_QUALITY[ALIAS] if near else FAR_ALIAS)
    if place >= 0 and end > begin:
        end = keep_those_of(labels, page.hashes[place], tables, tokens, rows, quality, begin, end)
    return end
