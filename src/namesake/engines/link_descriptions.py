"""Links with the labels and descriptions of their entities, on request with one row per occurrence."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake import arrays
from namesake.arrays import Int64, arrow_numbers, numpy_numbers, one_chunk
from namesake.kb import WIKIDATA
from namesake.kb.records import about
from namesake.kb.store import KB
from namesake.kernels.link.candidate_tables import parse_qids

REMEMBERED = 1 << 18
_made: WeakKeyDictionary[KB, dict[int, str | None]] = WeakKeyDictionary()


def described(kb: KB, links: pa.Table, one_per_span: bool = False) -> pa.Table:
    """Links with `label`, `description` and `url` of the entity after its `qid`; `one_per_span` as for `flat`.

    If the KB has no description, occupations and country replace it.
    """
    links = flat(links) if one_per_span else links
    qids = one_chunk(links.column("qid"))
    numbers: Int64 = parse_qids(*arrays.text_buffers(qids))
    rows = np.where(numpy_numbers(qids.is_valid()), kb.rows(numbers), -1)
    distinct, which = np.unique(rows, return_inverse=True)
    labels, texts = (column.take(arrow_numbers(which)) for column in _words(kb, distinct))
    address, nothing = (arrays.arrow_scalar(text, pa.string()) for text in (WIKIDATA, ""))
    urls = pc.binary_join_element_wise(address, qids, nothing, null_handling="emit_null")
    place = links.schema.get_field_index("qid") + 1
    for name, column in (("url", urls), ("description", texts), ("label", labels)):
        links = links.add_column(place, pa.field(name, pa.string()), column)
    return links


def _words(kb: KB, rows: Int64) -> tuple[pa.StringArray, pa.StringArray]:
    """Label and description of each row; null for -1."""
    is_nil = rows < 0
    items = arrow_numbers(kb.entity_item[np.maximum(rows, 0)], is_nil) if len(kb) else pa.nulls(len(rows), pa.int32())
    labels = kb.item_labels.arrow().take(items).cast(pa.string())
    texts = kb.descriptions.arrow().take(arrow_numbers(rows, is_nil)).cast(pa.string())
    bare = ~is_nil & (arrays.sizes(texts) == 0)
    instead = [_instead(kb, row) for row in rows[bare].tolist()]
    return labels, pc.replace_with_mask(texts, arrow_numbers(bare), arrays.arrow_texts(instead))


def _instead(kb: KB, row: int) -> str | None:
    """The replacement of a missing description, cached by entity."""
    made = _made.setdefault(kb, {})
    if row not in made:
        if len(made) >= REMEMBERED:
            made.clear()
        made[row] = about(kb, row) or None
    return made[row]


def flat(links: pa.Table) -> pa.Table:
    """One row per occurrence of a name: `start`, `end` and `in_title` replace `spans` and `title_spans`."""
    text_indptr, text_spans = arrays.list_parts(one_chunk(links.column("spans")))
    title_indptr, title_spans = arrays.list_parts(one_chunk(links.column("title_spans")))
    count, titled = np.diff(text_indptr), np.diff(title_indptr)
    row = np.concatenate([np.repeat(np.arange(len(count)), titled), np.repeat(np.arange(len(count)), count)])
    order = np.argsort(row, kind="stable")  # the occurrences in the title come first
    ends = np.concatenate([_pairs(title_spans), _pairs(text_spans)])[order]
    table = links.take(arrow_numbers(row[order])).drop_columns(["spans", "title_spans"])
    place = table.schema.get_field_index("name") + 1
    in_title = arrow_numbers((np.arange(len(row)) < titled.sum())[order])
    start, end = arrow_numbers(ends[:, 0]), arrow_numbers(ends[:, 1])
    for name, column in (("in_title", in_title), ("end", end), ("start", start)):
        table = table.add_column(place, name, column)
    return table


def _pairs(spans: pa.Array) -> np.ndarray:
    return numpy_numbers(spans.flatten()).reshape(-1, 2)
