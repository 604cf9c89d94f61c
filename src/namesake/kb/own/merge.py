"""The columns of a KB with own entities: those of the base, and rows of a small KB that was built from the records.

Own entities and their items are the last rows, so no row of the base changes its number, except those of pairs, which
are in the order of properties.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow.compute as pc

from namesake.arrays import Bool, Int64, positions, take_rows
from namesake.kb.columns import ASCENDING, Axis, Column, Columns, KBColumns, Made, Ragged, Strings, concatenate
from namesake.kb.columns.derived import DERIVED
from namesake.kb.columns.layout import ALIAS, ENTITY, ITEM, PAIR, STRING, TENURE, WORD
from namesake.kb.own.records import Dump
from namesake.kb.own.tables import after, entered, slots, with_rows
from namesake.kernels.dump.wikidata import FIRST_OWN
from namesake.kinds import named

MISSING = -(1 << 40)  # a value of a statement that the base does not have


class Merge:
    """The base, the small KB, and the row in the merged KB of each row of the small one: -1 if it has none."""

    def __init__(self, base: Columns, small: Columns, dump: Dump) -> None:
        self.base, self.small, self.dump = KBColumns(base), KBColumns(small), dump
        own = np.array([*dump.numbers.values()], np.int64)
        entities, items = self.small.qids, self.small.item_qids
        self.own: Bool = np.isin(entities, own)
        """Which entities of the small KB are own entities."""
        self.changed: Bool = np.isin(entities, [*dump.targets])
        """Which of its entities are entities of the base with more aliases."""
        known = np.where(self.changed, positions(self.base.qids, entities), -1)
        self.maps: dict[Axis, Int64] = {
            ENTITY: after(len(self.base.qids), known, self.own),
            ITEM: after(len(self.base.item_qids), positions(self.base.item_qids, items), np.isin(items, own)),
            STRING: self._strings(),
            WORD: self._words(),
        }
        self.maps[PAIR] = self._pairs()
        named = self._values(self.small.aliases, self.own | self.changed)
        self._add(ALIAS, len(self.base.alias_texts), np.isin(np.arange(len(self.small.alias_texts)), named))
        dated = self.own[self.small.tenure_entity] & (self.maps[PAIR][self.small.tenure_pair] >= 0)
        self._add(TENURE, len(self.base.tenure_pair), dated)

    def _add(self, axis: Axis, size: int, new: Bool) -> None:
        self.maps[axis] = after(size, np.full(len(new), -1), new)

    def _values(self, column: Ragged, chosen: Bool) -> Int64:
        """The values of some rows of a column of the small KB, each once."""
        return np.unique(column.values[take_rows(column.indptr, np.flatnonzero(chosen))[1]]).astype(np.int64)

    def _strings(self) -> Int64:
        """The row of each string value in the merged KB; those that the base does not have follow its strings."""
        found = np.full(len(self.small.strings), -1)
        if len(found):
            at = pc.index_in(self.base.strings.arrow(), self.small.strings.arrow())
            found[at.drop_null().to_numpy()] = np.flatnonzero(at.is_valid().to_numpy(zero_copy_only=False))
        return after(len(self.base.strings), found, found < 0)

    def _words(self) -> Int64:
        """The row of each word in the merged KB, by its hash."""
        taken = np.flatnonzero(self.small.stem_hash)
        rows = np.full(len(self.small.words), -1)
        found = self.base.stem_word[slots(self.base.stem_hash, self.small.stem_hash[taken])]
        rows[self.small.stem_word[taken]] = found
        return after(len(self.base.words), rows, rows < 0)

    def _pairs(self) -> Int64:
        """The row of each pair in the merged KB. New pairs shift those of the base."""
        value, is_item = self.small.pair_value.astype(np.int64), self.small.pair_value >= 0
        value[is_item] = self.maps[ITEM][value[is_item]]
        value[~is_item] = ~self.maps[STRING][~value[~is_item]]
        value[is_item & (value < 0)] = MISSING
        self.stated = self._values(self.small.statements, self.own)
        """The pairs that own entities state, in the small KB."""
        used = np.isin(np.arange(len(value)), self.stated) & (value > MISSING)
        keys, base = (
            prop.astype(np.int64) << 32 | values.astype(np.int32).view(np.uint32)  # in the order of pairs
            for prop, values in ((self.small.pair_property, value), (self.base.pair_property, self.base.pair_value))
        )
        self.new_pairs: Int64 = np.unique(keys[used & (positions(base, keys) < 0)])
        self.pair_places = np.searchsorted(base, self.new_pairs)
        self.shifted = (np.arange(len(base)) + np.searchsorted(self.new_pairs, base)).astype(np.int32)
        """The row of each pair of the base in the merged KB."""
        return np.where(used, np.searchsorted(base, keys) + np.searchsorted(self.new_pairs, keys), -1)

    def columns(self) -> Made:
        """Every column but those of names, if it is not that of the base."""
        made: Made = {}
        for column in KBColumns.declared().values():
            if column in DERIVED or column.rows not in self.maps:
                continue
            known = column.open(self.base.columns)
            if column.rows == PAIR:
                if len(self.new_pairs):
                    new = self.new_pairs >> 32 if column is KBColumns.pair_property else self.new_pairs.astype(np.int32)
                    made[column] = np.insert(known, self.pair_places, new)
                continue
            if column.values.row_of == PAIR and len(self.new_pairs):
                is_ragged = isinstance(known, Ragged)
                known = Ragged(known.indptr, self.shifted[known.values]) if is_ragged else self.shifted[known]
                made[column] = known
            rows = np.flatnonzero(self.maps[column.rows] >= len(known))
            if len(rows):
                made[column] = self._with_rows(column, known, rows)
        return made | self._more_aliases(made) | self._item_words(made) | self._word_tables()

    def _with_rows(self, column: Column[Any], known: Any, rows: Int64) -> Any:
        """A column of the base, and after it the rows of the small KB that the base does not have."""
        value = column.open(self.small.columns)
        if isinstance(value, Strings):
            return concatenate([known, value.take(rows)])
        if isinstance(value, Ragged):
            return with_rows(known, {len(known) + at: self._merged(column, value[row]) for at, row in enumerate(rows)})
        if column in (KBColumns.qids, KBColumns.item_qids):
            more = FIRST_OWN + np.arange(len(rows))
        elif column in (KBColumns.pagerank_wikidata, KBColumns.pagerank_wikipedia):
            more = np.full(len(rows), known.min() if len(known) else 0)  # no statement names it
        else:
            more = self._merged(column, value[rows])
        if column is KBColumns.kind:
            kinds = [record.kind for record in self.dump.own]
            more = np.array([named(kind).number if kind else one for kind, one in zip(kinds, more, strict=True)])
        return np.concatenate([known, more.astype(known.dtype)])

    def _merged(self, column: Column[Any], values: Any) -> Any:
        """Values of a column of the small KB with the row numbers of the merged KB."""
        if column.values.row_of not in self.maps:
            return values
        values = self.maps[column.values.row_of][values]
        values = values[values >= 0]
        return np.sort(values) if column.order == ASCENDING and column.kind == "ragged" else values

    def _more_aliases(self, made: Made) -> Made:
        """The new aliases of entities of the base."""
        known, changed = made.get(KBColumns.aliases, self.base.aliases), np.flatnonzero(self.changed)
        rows = {}
        for small, row in zip(changed.tolist(), self.maps[ENTITY][changed].tolist(), strict=True):
            rows[row] = np.append(known[row], self._merged(KBColumns.aliases, self.small.aliases[small]))
        return {KBColumns.aliases: with_rows(known, rows)} if rows else {}

    def _item_words(self, made: Made) -> Made:
        """The words of items of the base that only own entities state."""
        found: Made = {}
        values = np.unique(self.small.pair_value[self.stated[self.maps[PAIR][self.stated] >= 0]])
        items = [(item, int(self.maps[ITEM][item])) for item in values[values >= 0]]
        for column in (KBColumns.words_item, KBColumns.words_item_aliases):
            known, small = made.get(column, column.open(self.base.columns)), column.open(self.small.columns)
            rows = {row: self._merged(column, small[item]) for item, row in items if not len(known[row])}
            if any(map(len, rows.values())):
                found[column] = with_rows(known, rows)
        return found

    def _word_tables(self) -> Made:
        """The hash tables of words and of their surface forms."""
        found: Made = {}
        for keys, words in (
            (KBColumns.surface_hash, KBColumns.surface_word),
            (KBColumns.stem_hash, KBColumns.stem_word),
        ):
            own, word = keys.open(self.small.columns), words.open(self.small.columns)
            taken = np.flatnonzero(own)
            known = words.open(self.base.columns)
            table, [column], place, is_new = entered(keys.open(self.base.columns), own[taken], [(known, -1)])
            column[place[is_new]] = np.append(self.maps[WORD], -1)[word[taken][is_new]]
            if is_new.any():
                found |= {keys: table, words: column}
        return found
