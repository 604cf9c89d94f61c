"""The links of a scored batch: as the columns of a table, and as rows for display."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake import rank
from namesake.arrays import arrow_numbers, arrow_scalar, arrow_texts, bitmap, indptr
from namesake.articles.schema import LINKS, candidates_field, doubts_field
from namesake.batch import Batch, repeat
from namesake.decide import ANSWERED, REASONS
from namesake.kb.records import about
from namesake.scoring import Scored


def link_columns(scored: Scored, extra: pa.Array) -> pa.Table:
    """The columns of `schema.LINKS` for a scored batch; `extra` has the other columns of its articles."""
    batch, combined, decision = scored.batch, scored.combined, scored.decision
    first, second, decided = scored.top
    answered, unsure = decision.reason == ANSWERED, np.isnan(decision.confidence)
    best = np.append(batch.qids, -1)[first]
    best_texts = qid_texts(best)
    total = np.append(combined.total, 0.0)
    tied = arrow_numbers(np.maximum(decided, 0), decided <= 0)
    return pa.table(
        [
            repeat(batch.ids, batch.article),
            batch.names,
            batch.span_lists,
            batch.title_lists,
            only(best_texts, answered & (best >= 0)),
            arrow_numbers(total[first], first < 0),
            arrow_numbers(total[first] - total[second], second < 0),
            arrow_texts([*combined.names, "position"]).take(tied),
            best_texts,
            arrow_numbers(decision.confidence, unsure),
            arrow_numbers(decision.probability_known, unsure),
            arrow_texts(REASONS).take(arrow_numbers(np.maximum(decision.reason, 0), answered)),
            carried(extra, batch),
        ],
        schema=LINKS,
    )


def link_rows(scored: Scored) -> list[dict[str, Any]]:
    """The links of a scored batch for display: with labels, description, runner-up and number of candidates."""
    batch, (first, second, _) = scored.batch, scored.top
    rows: list[dict[str, Any]] = link_columns(scored, pa.nulls(len(batch.ids), pa.string())).to_pylist()
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
    """The articles' other columns for each mention, stored once per article."""
    if extra.null_count == len(extra):
        return pa.DictionaryArray.from_arrays(pa.nulls(len(batch.names), pa.int32()), pa.nulls(0, extra.type))
    mentions = np.diff(batch.articles)
    held = extra.filter(arrow_numbers(mentions > 0)).dictionary_encode()
    places = repeat(held.indices, np.repeat(np.arange(len(held)), mentions[mentions > 0]))
    return pa.DictionaryArray.from_arrays(places, held.dictionary)


def score_columns(scored: Scored, most: int | None = None) -> list[tuple[pa.Field, pa.Array]]:
    """The column `candidates` with the parts of each candidate, and `doubts` with the evidence for NIL, if any.

    Candidates are in the order of the input; with `most`, only the best ones of each mention, best first.
    """
    offsets, batch = scored.batch.offsets, scored.batch
    chosen: Any = slice(None)
    if most is not None:
        ranked = rank.order(offsets, *scored.combined.keys)
        chosen = ranked[np.arange(len(ranked)) - np.repeat(offsets[:-1], np.diff(offsets)) < most]
        offsets = indptr(np.minimum(np.diff(offsets), most))
    field = candidates_field(list(scored.scores))
    element = field.type.value_type
    parts = _struct(element.field("parts").type, (score[chosen] for score in scored.scores.values()))
    columns = [qid_texts(batch.qids[chosen]), arrow_numbers(scored.combined.total[chosen]), parts]
    structs = pa.StructArray.from_arrays(columns, fields=list(element))
    lists = pa.ListArray.from_arrays(arrow_numbers(offsets.astype(np.int32)), structs, type=field.type)
    if not scored.doubts:
        return [(field, lists)]
    doubts = doubts_field(list(scored.doubts))
    return [(field, lists), (doubts, _struct(doubts.type, scored.doubts.values()))]


def _struct(type_: pa.StructType, columns: Iterable[np.ndarray]) -> pa.StructArray:
    return pa.StructArray.from_arrays([arrow_numbers(column) for column in columns], fields=list(type_))


def qid_texts(qids: np.ndarray) -> pa.StringArray:
    """QID numbers as texts such as `Q76`, null for negative ones."""
    letter, between = (arrow_scalar(text, pa.string()) for text in ("Q", ""))
    return pc.binary_join_element_wise(letter, arrow_numbers(qids, qids < 0).cast(pa.string()), between)


def only(texts: pa.StringArray, kept: np.ndarray) -> pa.StringArray:
    """The same texts, null where they are not kept. No text is copied."""
    _, offsets, data = texts.buffers()
    return pa.StringArray.from_buffers(len(texts), offsets, data, bitmap(kept))
