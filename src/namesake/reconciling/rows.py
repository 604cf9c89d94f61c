"""Rows of a table as articles: the name, followed by the words of the row."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import indptr
from namesake.articles.schema import ARTICLES, MENTION, SPANS
from namesake.batch import Query

_SURROGATES = re.compile("[\ud800-\udfff]")
_SUFFIX = re.compile(r"(?:jr|sr|ii|iii|iv|v|esq|m\.?d|ph\.?\s?d|mba|cpa|obe|cbe|mbe|kbe|mp|qc|kc)\.?", re.I)
_FULL_STOP = r"([a-z0-9)])[.!?]*\s*[.!?\n\r]\s*"
"""The end of a sentence within a cell, but not the end of an abbreviation such as U.S."""


def plain_name(name: str) -> str:
    """The name as in a text: "Jordan, Michael" becomes Michael Jordan; "Michael Jordan, Jr." is unchanged."""
    name = " ".join(_SURROGATES.sub("\ufffd", name).split())
    last, comma, first = name.partition(",")
    first = first.strip()
    if not comma or not last.strip() or not first or "," in first or _SUFFIX.fullmatch(first):
        return name
    return f"{first} {last.strip()}"


def articles_of(queries: Sequence[Query]) -> pa.Table:
    """A table of `ARTICLES` with one article per query, whose only mention is the name at the beginning of the text.

    All cells of a row are about one person, so they become one sentence.
    """
    names = pa.array([plain_name(query.name) for query in queries], pa.string())
    contexts = pa.array([_SURROGATES.sub("\ufffd", query.context) for query in queries], pa.string())
    said = pc.replace_substring_regex(contexts, _FULL_STOP, r"\1; ")
    texts = pc.binary_join_element_wise(names, said, ": ")
    named = pc.not_equal(names, "").to_numpy(zero_copy_only=False)
    length = pc.utf8_length(names).to_numpy()[named].astype(np.int32)
    ends = np.column_stack([np.zeros(len(length), np.int32), length]).reshape(-1)
    spans = pa.FixedSizeListArray.from_arrays(pa.array(ends, pa.int32()), 2)
    one_each = pa.array(np.arange(len(length) + 1, dtype=np.int32))
    mentions = pa.StructArray.from_arrays(
        [
            names.filter(pa.array(named)),
            pa.ListArray.from_arrays(one_each, spans, type=SPANS),
            pa.nulls(len(length), pa.list_(pa.string())),
        ],
        fields=list(MENTION),
    )
    lists = pa.ListArray.from_arrays(pa.array(indptr(named).astype(np.int32)), mentions, type=pa.list_(MENTION))
    dates = pa.array([query.date for query in queries], pa.string())
    ids = pa.array(np.arange(len(queries))).cast(pa.string())
    nothing = pa.nulls(len(queries), pa.string())
    return pa.table([ids, texts.cast(pa.large_string()), nothing, dates, lists, nothing], schema=ARTICLES)
