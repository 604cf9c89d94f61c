"""The links of a scored batch: as the columns of a table, and as rows for people."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pyarrow as pa

from namesake import rank
from namesake.arrays import arrow_numbers, arrow_texts, bitmap
from namesake.articles.schema import LINKS, candidates_field, doubts_field
from namesake.batch import Batch, repeat
from namesake.decide import ANSWERED, REASONS, decide
from namesake.kb.records import about
from namesake.kernels.link.qids import format_qids
from namesake.kernels.link.top_two import top_two
from namesake.scoring import Scored


def link_columns(scored: Scored, extra: pa.Array) -> pa.Table:
    """The columns of `schema.LINKS` for a scored batch; `extra` is what its articles carry through."""
    batch, combined = scored.batch, scored.combined
    first, second, decided = top_two(batch.offsets, np.stack(combined.keys))
    nobody, alone = first < 0, second < 0
    rule = scored.recipe.decide
    decision = decide(
        combined.total, combined.none, batch.offsets, first, rule, None if rule is None else batch.no_person
    )
    answered = decision.reason == ANSWERED
    best = np.append(batch.qids, -1)[first]
    best_texts = qid_texts(best)
    unsure = np.isnan(decision.confidence)
    total = np.append(combined.total, 0.0)
    tied = arrow_numbers(np.maximum(decided, 0), decided <= 0)
    keys = arrow_texts([*combined.names, "position"])
    return pa.table(
        [
            repeat(batch.ids, batch.article),
            batch.names,
            batch.span_lists,
            batch.title_lists,
            only(best_texts, answered & (best >= 0)),
            arrow_numbers(total[first], nobody),
            arrow_numbers(total[first] - total[second], alone),
            keys.take(tied),
            best_texts,
            arrow_numbers(decision.confidence, unsure),
            arrow_numbers(decision.known, unsure),
            arrow_texts(REASONS).take(arrow_numbers(np.maximum(decision.reason, 0), answered)),
            carried(extra, batch),
        ],
        schema=LINKS,
    )


def link_rows(scored: Scored) -> list[dict[str, Any]]:
    """The links of a scored batch for people: with labels, description, the runner-up and how many candidates."""
    batch = scored.batch
    rows: list[dict[str, Any]] = link_columns(scored, pa.nulls(len(batch.ids), pa.string())).to_pylist()
    first, second, _ = top_two(batch.offsets, np.stack(scored.combined.keys))
    best, after = (np.append(batch.rows, -1)[which].tolist() for which in (first, second))
    seconds = qid_texts(np.append(batch.qids, -1)[second]).to_pylist()
    sizes = np.diff(batch.offsets).tolist()
    for row, best_row, runner_up, next_row, size in zip(rows, best, seconds, after, sizes, strict=True):
        label = batch.kb.label(best_row) if best_row >= 0 else None
        answered = row["qid"] is not None
        row["best_label"], row["label"] = label, label if answered else None
        row["description"] = about(batch.kb, best_row) if answered and best_row >= 0 else None
        row["runner_up"], row["candidates"] = runner_up, size
        row["runner_up_label"] = batch.kb.label(next_row) if next_row >= 0 else None
        unsure = row["confidence"] is None or row["margin"] is None
        row["runner_up_confidence"] = None if unsure else row["confidence"] * math.exp(-row["margin"])
    return rows


def carried(extra: pa.Array, batch: Batch) -> pa.DictionaryArray:
    """What articles carry through, by mention: held once for each article that has mentions, however many."""
    if extra.null_count == len(extra):
        return pa.DictionaryArray.from_arrays(pa.nulls(len(batch.names), pa.int32()), pa.nulls(0, extra.type))
    mentions = np.diff(batch.articles)
    held = extra.filter(arrow_numbers(mentions > 0)).dictionary_encode()
    places = repeat(held.indices, np.repeat(np.arange(len(held)), mentions[mentions > 0]))
    return pa.DictionaryArray.from_arrays(places, held.dictionary)


def candidate_column(scored: Scored, most: int | None = None) -> tuple[pa.Field, pa.ListArray]:
    """The column `candidates`: for each mention its candidates in the order given, each with its parts.

    With `most`, only so many of each mention, the best first.
    """
    offsets, batch = scored.batch.offsets, scored.batch
    chosen = slice(None) if most is None else best_of_each(scored, most)
    if most is not None:
        offsets = np.append(0, np.cumsum(np.minimum(np.diff(offsets), most)))
    field = candidates_field(list(scored.scores))
    element = field.type.value_type
    parts_type = element.field("parts").type
    parts = pa.StructArray.from_arrays(
        [arrow_numbers(s[chosen]) for s in scored.scores.values()], fields=list(parts_type)
    )
    structs = pa.StructArray.from_arrays(
        [qid_texts(batch.qids[chosen]), arrow_numbers(scored.combined.total[chosen]), parts], fields=list(element)
    )
    return field, pa.ListArray.from_arrays(arrow_numbers(offsets.astype(np.int32)), structs, type=field.type)


def best_of_each(scored: Scored, most: int) -> np.ndarray:
    """The places of the `most` best candidates of each mention, best first."""
    offsets = scored.batch.offsets
    ranked = rank.order(offsets, *scored.combined.keys)
    place = np.arange(len(ranked)) - np.repeat(offsets[:-1], np.diff(offsets))
    return ranked[place < most]


def doubt_column(scored: Scored) -> tuple[pa.Field, pa.StructArray]:
    """The column `doubts`: for each mention the numbers that "none of them" is weighed by."""
    field = doubts_field(list(scored.doubts))
    return field, pa.StructArray.from_arrays(
        [arrow_numbers(d) for d in scored.doubts.values()], fields=list(field.type)
    )


def qid_texts(qids: np.ndarray) -> pa.StringArray:
    """QID numbers as texts `Q76`, null where negative."""
    offsets, data = format_qids(np.ascontiguousarray(qids, np.int64))
    return pa.StringArray.from_buffers(len(qids), pa.py_buffer(offsets), pa.py_buffer(data), bitmap(qids >= 0))


def only(texts: pa.StringArray, kept: np.ndarray) -> pa.StringArray:
    """The same texts, null where they are not kept; none of them is copied."""
    _, offsets, data = texts.buffers()
    return pa.StringArray.from_buffers(len(texts), offsets, data, bitmap(kept))
