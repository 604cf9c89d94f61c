"""Candidates of the mentions found in a text: who bears the name, and whom the rules have found beside them."""

from typing import Annotated, Any, NamedTuple

import numpy as np
from numba import types

from namesake.kernels.compiled import kernel
from namesake.kernels.names.cut import cut
from namesake.kernels.names.page import (
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
    B,
    I,
)
from namesake.kernels.names.people import ALIAS, borne_outright
from namesake.kernels.names.tokens import ARTICLE, COMMA, OF, TABLES, TOKENS
from namesake.kernels.simd import byte, pointer
from namesake.kernels.types import I32, I64, U8, record

KIND_QUALITY = np.array([1.0, 0.95, 0.9, 0.85])  # label, alias, bare forms of them
FAR_ALIAS = 0.75  # an alias without a word of the label: Notre Dame, Due Process
MOST_TOKENS = 64
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
ROWS, QUALITY = types.int32[::1], types.float64[::1]


@kernel(I(LABELS, I, TABLES, TOKENS))
def read_label(labels, row, tables, tokens):
    """Cut the label of an entity into tokens; how many."""
    item = labels.item[row]
    return cut(labels.texts, labels.offsets[item], labels.offsets[item + 1], tables, tokens, MOST_TOKENS)


@kernel(B(TOKENS, I, types.uint64))
def has_token(tokens, count, wanted):
    """Whether one of the tokens has a hash."""
    hashes = pointer(tokens.hashes)
    for i in range(count):
        if hashes[i] == wanted:
            return True
    return False


@kernel(B(PAGE, I, LABELS, I, TABLES, TOKENS))
def shares_token(page, mention, labels, row, tables, tokens):
    """Whether the first span of a mention has a word of an entity's label: almost always the last, as it is written."""
    item, last = labels.item[row], page.facts[mention * FACTS + END] - 1
    offsets, texts = pointer(labels.offsets), pointer(labels.texts)
    start, size = page.starts[last], page.ends[last] - page.starts[last]
    at = offsets[item + 1] - size
    if at == offsets[item] or (at > offsets[item] and byte(texts, at - 1) == SPACE):
        same = 0
        while same < size and byte(texts, at + same) == byte(page.text, start + same):
            same += 1
        if same == size:
            return True
    count = read_label(labels, row, tables, tokens)
    for i in range(page.facts[mention * FACTS + FIRST], page.facts[mention * FACTS + END]):
        if has_token(tokens, count, page.hashes[i]):
            return True
    return False


@kernel(B(LABELS, I, types.uint64, TABLES, TOKENS))
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


@kernel(B(LABELS, I, TABLES, TOKENS))
def has_place(labels, row, tables, tokens):
    """Whether the label of an entity names its place itself: it has "of", "the" or a comma."""
    for i in range(1, read_label(labels, row, tables, tokens)):
        if tokens.gaps[i] == COMMA or tokens.classes[i] & (OF | ARTICLE) != 0:
            return True
    return False


@kernel(I(I, LABELS, types.uint64, TABLES, TOKENS, ROWS, QUALITY, I))
def keep_those_of(begin, labels, place, tables, tokens, rows, quality, end):
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


@kernel(I(PAGE, KNOWN, I, LABELS, TABLES, TOKENS, ROWS, QUALITY, I))
def write_candidates(page, known, mention, labels, tables, tokens, rows, quality, begin):
    """Write a mention's candidates from `begin` on, those that bear its name first; where they end."""
    facts = mention * FACTS
    name, factor = page.facts[facts + NAME], page.evidence[mention * EVIDENCE + FACTOR]
    end = begin
    if name >= 0:
        outright = borne_outright(known, name)
        for k in range(known.indptr[name], known.indptr[name + 1]):
            kind, row = known.kinds[k], np.int64(known.rows[k])
            if outright and kind > ALIAS:
                continue
            far = kind == ALIAS and not shares_token(page, mention, labels, row, tables, tokens)
            rows[end], quality[end] = row, factor * (FAR_ALIAS if far else KIND_QUALITY[kind])
            end += 1
    for k in range(mention * MOST_EXTRAS, mention * MOST_EXTRAS + page.facts[facts + EXTRAS]):
        rows[end], quality[end] = page.rows[k], page.quality[k]
        end += 1
    place = page.facts[facts + PLACE]
    if place >= 0 and end > begin:
        end = keep_those_of(begin, labels, page.hashes[place], tables, tokens, rows, quality, end)
    return end
