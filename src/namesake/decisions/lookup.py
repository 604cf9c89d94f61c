"""The mentions that decisions apply to, found by sorted hashes: no loop over the mentions of a batch.

A mention is looked up by its name first. Only for mentions whose name occurs in a decision, the fingerprints of the
words around their spans are computed. A decision about these words overrides one about the name everywhere.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from namesake.arrays import Bool, Float64, Int64, UInt64, indptr, positions, take_rows, text_buffers
from namesake.decisions.records import Cells, Placed, plain, read_decisions
from namesake.errors import NamesakeError, warn
from namesake.files import Paths, several
from namesake.kb.columns import Strings
from namesake.kb.store import KB
from namesake.kernels.hash import hash_each
from namesake.kernels.names.constants import ALIAS, KIND_QUALITY
from namesake.kernels.text.fingerprints import fingerprints
from namesake.names.mentions import Mentions
from namesake.printable import counted, listed

WEIGHT = 100.0  # what a decision adds to a score, or subtracts: in log-odds, it outweighs all other evidence
OfRows = tuple[Int64, Int64]  # the decisions about each row of a table: offsets, and numbers of decisions
NOTHING, NIL = -2, -1  # instead of an entity: no decision; NIL


@dataclass(frozen=True)
class Decided:
    """What decisions add to the scores of a batch, and the decision about each mention."""

    of_candidate: Float64  # ±`WEIGHT`, or 0
    of_nil: Float64
    entity: Int64  # the number of the entity decided for each mention, NIL or NOTHING
    number: Int64  # the number of the decision about each mention, -1 without one
    decisions: "Decisions"

    @property
    def settled(self) -> Bool:
        """The mentions with a decision for an entity or NIL."""
        return np.asarray(self.entity != NOTHING)

    def take(self, kept: Int64, candidates: Int64) -> "Decided":
        """The same for some mentions and their candidates."""
        mentions = {name: getattr(self, name)[kept] for name in ("of_nil", "entity", "number")}
        return replace(self, of_candidate=self.of_candidate[candidates], **mentions)

    def placed(self, mention: int) -> Placed | None:
        """The decision about a mention."""
        number = int(self.number[mention])
        return None if number < 0 else self.decisions.placed[number]


class Decisions:
    """Decisions of some files, to be applied to mentions of texts and to rows of tables.

    A later file replaces decisions of an earlier one. `say` receives warnings about lines and entities.
    """

    def __init__(self, files: Paths, kb: KB, say: Callable[[str], None] = warn) -> None:
        self.files = [Path(file) for file in several(files)]
        self.placed = read_decisions(self.files, say)
        self.used = np.zeros(len(self.placed), np.bool_)  # whether each has applied, in this process
        entities = dict.fromkeys(one.decision.entity for one in self.placed)
        rows = {name: _row(kb, name) for name in entities if name is not None}
        if absent := [name for name, row in rows.items() if row < 0]:
            say(f"decisions name {counted(len(absent), 'entity', 'entities')} that the KB lacks: {listed(absent)}")
        numbers: dict[str | None, int] = {None: NIL}
        for name, row in rows.items():  # an entity that the KB lacks has the number of its QID; an own id has none
            numbers[name] = int(kb.qids[row]) if row >= 0 else NOTHING if ":" in name else int(name[1:])
        self.entity = np.array([numbers[one.decision.entity] for one in self.placed], np.int64)
        in_text = [at for at, one in enumerate(self.placed) if not one.key[2] and self.entity[at] != NOTHING]
        keys = [self.placed[at].key for at in in_text]
        names = Strings.of(key[0] for key in keys)
        hashes: UInt64 = hash_each(names.data, names.offsets)
        contexts = np.array([int(key[1] or "0", 16) for key in keys], np.uint64)
        self.names = np.unique(hashes)
        self._never = np.array([one.decision.decision == "never" for one in self.placed], np.bool_)
        order = np.argsort(hashes ^ contexts, kind="stable")
        places, hashes = np.array(in_text, np.int64)[order], (hashes ^ contexts)[order]
        never = self._never[places]
        self._chosen = hashes[~never], np.append(places[~never], -1)
        keys_excluded, first = np.unique(hashes[never], return_index=True)
        self._excluded = keys_excluded, np.append(first, never.sum()), places[never]

    def __len__(self) -> int:
        return len(self.placed)

    @cached_property
    def digest(self) -> str:
        """A digest of the files, for the description of a run."""
        contents = b"".join(sha256(file.read_bytes()).digest() for file in self.files)
        return sha256(contents).hexdigest() if self.files else ""

    def unused(self) -> str | None:
        """A message about decisions that have applied to nothing so far; None without such."""
        left = [one for one, used in zip(self.placed, self.used, strict=True) if not used]
        many = f"{len(left):,} of {counted(len(self), 'decision')} not used"
        return f"{many}: no name has their context or cells, such as {left[0]}" if left else None

    # texts
    def apply(
        self, mentions: Mentions, spelled: Strings, texts: pa.Array, kb: KB, of_rows: OfRows | None = None
    ) -> tuple[Mentions, Decided | None]:
        """The mentions, whose normalised names are `spelled`, with decided entities as candidates; their `Decided`.

        `of_rows` are the decisions about each article if articles are rows of a table.
        """
        number, mention, excluded = self._find(mentions, spelled, texts)
        if of_rows is not None:
            bounds, at = take_rows(of_rows[0], mentions.article)
            of_mention, own = np.repeat(np.arange(len(mentions)), np.diff(bounds)), of_rows[1][at]
            never = self._never[own]
            number[of_mention[~never]] = own[~never]
            mention, excluded = np.append(mention, of_mention[never]), np.append(excluded, own[never])
        if not (number >= 0).any() and not len(mention):
            return mentions, None
        entity = np.append(self.entity, NOTHING)[number]
        mentions = _with_candidates(mentions, entity, kb)
        right = mentions.qids == np.repeat(entity, np.diff(mentions.offsets))
        of_candidate = np.where(right, WEIGHT, 0.0)
        entity[(entity >= 0) & (np.diff(indptr(right)[mentions.offsets]) == 0)] = NOTHING  # not in the KB
        self.used[number[entity != NOTHING]] = True
        self.used[excluded] = True
        indptr_of, candidates = take_rows(mentions.offsets, mention)
        wrong = mentions.qids[candidates] == np.repeat(self.entity[excluded], np.diff(indptr_of))
        of_candidate[candidates[wrong]] = -WEIGHT
        number[mention[number[mention] < 0]] = excluded[number[mention] < 0]
        return mentions, Decided(of_candidate, np.where(entity == NIL, WEIGHT, 0.0), entity, number, self)

    def _find(self, mentions: Mentions, spelled: Strings, texts: pa.Array) -> tuple[Int64, Int64, Int64]:
        """The decision for each mention, -1 for none; and pairs of a mention and a decision that excludes an entity."""
        number = np.full(len(mentions), -1, np.int64)
        hashes: UInt64 = hash_each(spelled.data, spelled.offsets)
        asked = np.flatnonzero(positions(self.names, hashes) >= 0)
        if not len(asked):
            return number, asked, asked
        placed = mentions.placed
        spans_of, spans = take_rows(placed.span_indptr, asked)
        of_span = np.repeat(asked, np.diff(spans_of))
        without = asked[np.diff(spans_of) == 0]  # names in a title: the beginning of the text
        mention = np.concatenate([of_span, without])
        where = np.concatenate([placed.byte_spans[spans], np.zeros((len(without), 2), np.int32)]).astype(np.int32)
        contexts = fingerprints(*text_buffers(texts), mentions.article[mention], where)
        keys = np.concatenate([hashes[asked], hashes[mention] ^ contexts])
        mention = np.concatenate([asked, mention])
        at = positions(self._chosen[0], keys)
        hit, own = at >= 0, self._chosen[1][at]
        number[mention[hit]] = own[hit]  # a context is later than the name everywhere, and counts
        specific = hit & (np.arange(len(keys)) >= len(asked))
        clash = specific & (self.entity[own] != self.entity[number[mention]])
        if clash.any():
            k = int(np.argmax(clash))
            one, other = self.placed[int(own[k])], self.placed[int(number[mention[k]])]
            raise NamesakeError(f"two decisions about one name of a text contradict each other: {one} and {other}")
        at = positions(self._excluded[0], keys)
        bounds, places = take_rows(self._excluded[1], at[at >= 0])
        return number, np.repeat(mention[at >= 0], np.diff(bounds)), self._excluded[2][places]

    # tables
    def of_rows(self, table: pa.Table) -> OfRows:
        """The decisions about each row of a table."""
        found: list[list[int]] = [[] for _ in range(table.num_rows)]
        by_columns: dict[tuple[str, ...], dict[tuple[str, ...], list[int]]] = {}
        for at, one in enumerate(self.placed):
            if one.key[2]:
                columns, cells = zip(*one.key[2], strict=True)
                by_columns.setdefault(columns, {}).setdefault(cells, []).append(at)
        for columns, of_cells in by_columns.items():
            if set(columns) <= set(table.column_names):
                for place, row in enumerate(cells_of(table, columns)):
                    found[place] += of_cells.get(tuple(row.values()), ())
        return indptr([*map(len, found)]), np.array([at for some in found for at in some], np.int64)


def rows_from(of_rows: OfRows | None, begin: int, count: int) -> OfRows | None:
    """The decisions about some rows, one after the other."""
    return None if of_rows is None else (of_rows[0][begin : begin + count + 1], of_rows[1])


def cells_of(table: pa.Table, columns: Iterable[str], places: Sequence[int] | None = None) -> Iterator[Cells]:
    """The cells of all or some rows, in the form in which rows are compared."""
    some = table.select(list(dict.fromkeys(columns)))
    some = some if places is None else some.take(pa.array(places, pa.int64()))
    for row in zip(*(texts(some, column) for column in some.column_names), strict=True):
        yield {column: plain(cell) for column, cell in zip(some.column_names, row, strict=True)}


def texts(table: pa.Table, column: str) -> list[str]:
    """A column as texts; null becomes the empty text."""
    return ["" if value is None else str(value).strip() for value in table.column(column).to_pylist()]


def contexts_of(mentions: Mentions, texts: pa.Array, asked: Int64) -> list[str]:
    """The field `context` for some mentions: the fingerprint of their first span."""
    first = np.zeros((len(asked), 2), np.int32)
    has_span = np.diff(mentions.placed.span_indptr)[asked] > 0
    first[has_span] = mentions.placed.byte_spans[mentions.placed.span_indptr[asked[has_span]]]
    return [f"{one:016x}" for one in fingerprints(*text_buffers(texts), mentions.article[asked], first).tolist()]


def _row(kb: KB, entity: str) -> int:
    """The row of an entity, -1 for none. A merged entity is followed if the KB has its redirect."""
    seen: set[str] = set()
    while kb.row(entity) < 0 and entity in kb.redirects and entity not in seen:
        seen.add(entity)
        entity = kb.redirects[entity]
    return kb.row(entity)


def _with_candidates(mentions: Mentions, entity: Int64, kb: KB) -> Mentions:
    """The mentions with the decided entity as their last candidate; names found in text have only those of the KB."""
    sizes, found = np.diff(mentions.offsets), mentions.context
    lacking = np.diff(indptr(mentions.qids == np.repeat(entity, sizes))[mentions.offsets]) == 0
    rows = kb.rows(np.maximum(entity, 0))
    new = np.flatnonzero((entity >= 0) & lacking & (rows >= 0 if found is not None else True))
    if not len(new):
        return mentions
    at = mentions.offsets[1:][new]
    sizes[new] += 1

    def added(column: Any, values: Any) -> Any:
        return np.insert(column, at, np.asarray(values, column.dtype))

    quality = np.nan if found is None else KIND_QUALITY[ALIAS]
    columns = {"offsets": indptr(sizes), "quality": added(mentions.quality, quality)}
    if found is not None:
        of_found = {"forms": added(found.forms, ALIAS), "in_text": added(found.in_text, False)}
        found = replace(found, rows=added(found.rows, rows[new]), **of_found, **columns)
    columns |= {"qids": added(mentions.qids, entity[new]), "rows": added(mentions.rows, rows[new])}
    return replace(mentions, context=found, **columns)
