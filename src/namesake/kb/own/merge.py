"""The columns of a KB with own entities: those of the base, and rows of a small KB that was built from the records.

Own entities and their items are the last rows, so no row of the base changes its number, except those of pairs, which
are in the order of properties.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow.compute as pc

from namesake.arrays import Bool, Int32, Int64, positions
from namesake.kb.columns import ASCENDING, Axis, Column, Columns, KBColumns, Made, Ragged, Strings
from namesake.kb.columns.layout import ALIAS, ENTITY, ITEM, PAIR, STRING, WORD
from namesake.kb.own.records import Dump
from namesake.kb.own.tables import Edit, appended, entered, lists, slots
from namesake.kernels.dump.wikidata import FIRST_OWN
from namesake.kinds import named


class Merge:
    """The base, the small KB, and the row in the merged KB of each row of the small one: -1 if it has none."""

    def __init__(self, base: Columns, small: Columns, dump: Dump) -> None:
        self.base, self.small, self.dump = KBColumns(base), KBColumns(small), dump
        own = np.array([*dump.numbers.values()], np.int64)
        self.own, self.own_items = (positions(qids, own) for qids in (self.small.qids, self.small.item_qids))
        """The rows of own entities in the small KB, and those of their items."""
        self.entities = positions(self.base.qids, self.small.qids)
        self.changed: Bool = np.isin(self.small.qids, [int(one.id[1:]) for one in dump.records if not one.is_own])
        """Which entities of the small KB are entities of the base with more aliases."""
        self.entities[~self.changed] = -1
        self.entities[self.own] = len(self.base.qids) + np.arange(len(own))
        items = positions(self.base.item_qids, self.small.item_qids)
        items[self.own_items] = len(self.base.item_qids) + np.arange(len(own))
        aliases = self.small.aliases
        alias_rows = np.repeat(np.arange(len(aliases)), np.diff(aliases.indptr))
        self.maps: dict[Axis, Int64] = {ITEM: items, ALIAS: np.full(len(self.small.alias_texts), -1)}
        used = np.unique(aliases.values[self.entities[alias_rows] >= 0])
        self.maps[ALIAS][used] = len(self.base.alias_texts) + np.arange(len(used))
        self.maps[STRING] = self._strings()
        self.maps[WORD] = self._words()
        self.maps[PAIR], self.shifted = self._pairs()

    def _strings(self) -> Int64:
        """The row of each string value in the merged KB; those that the base does not have follow its strings."""
        if not len(own := self.small.strings):
            return np.empty(0, np.int64)
        at = pc.index_in(self.base.strings.arrow(), own.arrow())
        found = np.full(len(own), -1)
        known = np.flatnonzero(at.is_valid().to_numpy(zero_copy_only=False))
        found[at.drop_null().to_numpy()] = known
        new = found < 0
        found[new] = len(self.base.strings) + np.arange(int(new.sum()))
        return found

    def _words(self) -> Int64:
        """The row of each word in the merged KB, by its hash."""
        taken = np.flatnonzero(self.small.stem_hash)
        rows = np.full(len(self.small.words), -1)
        found = self.base.stem_word[slots(self.base.stem_hash, self.small.stem_hash[taken])]
        rows[self.small.stem_word[taken]] = found
        new = rows < 0
        rows[new] = len(self.base.words) + np.arange(int(new.sum()))
        return rows

    def _values(self) -> Int64:
        """The value of each pair of the small KB in the merged one; a text is `~row`; `missing` if it has none."""
        value = self.small.pair_value
        of_items = self.maps[ITEM][np.maximum(value, 0)]
        of_strings = ~self.maps[STRING][np.maximum(~value, 0)] if len(self.maps[STRING]) else of_items
        return np.where(value >= 0, np.where(of_items < 0, -(1 << 40), of_items), of_strings)

    def _keys(self, prop: Int32, value: Any) -> Int64:
        """Pairs as numbers in the order of pairs."""
        keys: Int64 = prop.astype(np.int64) << 32 | value.astype(np.int32).view(np.uint32)
        return keys

    def _pairs(self) -> tuple[Int64, Int64 | None]:
        """The merged row of each pair of the small KB, and of each of the base unless all stay the same."""
        value = self._values()
        used = np.zeros(len(value), np.bool_)
        used[self._of_rows(self.small.statements, self.own)] = True
        used &= value > -(1 << 40)
        keys = self._keys(self.small.pair_property, np.where(used, value, 0))
        base = self._keys(self.base.pair_property, self.base.pair_value)
        rows = positions(base, keys)
        new = np.sort(keys[used & (rows < 0)])
        self.new_pairs = new
        self.pair_places = np.searchsorted(base, new)
        if not len(new):
            return np.where(used, rows, -1), None
        moved = np.arange(len(base)) + np.searchsorted(new, base)
        at_new = positions(new, keys)
        merged = np.where(rows >= 0, moved[np.maximum(rows, 0)], at_new + self.pair_places[np.maximum(at_new, 0)])
        return np.where(used, merged, -1), moved

    def _of_rows(self, column: Ragged, rows: Int64) -> Int64:
        return np.concatenate([np.empty(0, np.int64), *(column[row] for row in rows)])

    def columns(self) -> Made:
        """Every column but those of names, if it is not that of the base."""
        made: Made = {}
        for column in KBColumns.declared().values():
            is_text = column.rows in (ALIAS, WORD) and column.dtype == np.uint8
            if not is_text and column.rows not in (ENTITY, ITEM, STRING):
                continue
            base, more = column.open(self.base.columns), self._more(column)
            if self.shifted is not None and column.values.row_of == PAIR:
                base = Ragged(base.indptr, self.shifted[base.values].astype(np.int32))
            if len(more):
                made[column] = appended(base, more)
        return made | self._special(made)

    def _rows(self, axis: Axis) -> Int64:
        """The rows of the small KB that follow the rows of the base, in their order."""
        if axis in (ENTITY, ITEM):
            return self.own if axis == ENTITY else self.own_items
        size = {ALIAS: len(self.base.alias_texts), STRING: len(self.base.strings), WORD: len(self.base.words)}[axis]
        return np.flatnonzero(self.maps[axis] >= size)

    def _more(self, column: Column[Any]) -> Any:
        """The rows of a column for what the base does not have, with the numbers of the merged KB."""
        value, rows = column.open(self.small.columns), self._rows(column.rows)
        if isinstance(value, Strings):
            return value.take(rows)
        mapped = self.maps.get(column.values.row_of) if column.values.row_of else None
        if isinstance(value, Ragged):
            found = [value[row] if mapped is None else mapped[value[row]] for row in rows]
            found = [some[some >= 0] for some in found]
            return lists([np.sort(some) if column.order == ASCENDING else some for some in found], column.dtype)
        return value[rows] if mapped is None else mapped[value[rows]]

    def _special(self, made: Made) -> Made:
        """Columns with rows between those of the base, or with numbers that the small KB does not have."""
        base, count = self.base, len(self.own)
        numbers = FIRST_OWN + np.arange(count)
        found: Made = {KBColumns.qids: appended(base.qids, numbers)} if count else {}
        found |= {KBColumns.item_qids: appended(base.item_qids, numbers)} if count else {}
        for ranks in (KBColumns.pagerank_wikidata, KBColumns.pagerank_wikipedia) if count else ():
            known = ranks.open(base.columns)  # of an entity that no statement names: the smallest
            found[ranks] = appended(known, np.full(count, known.min(initial=np.inf if len(known) else 0)))
        for row, record in enumerate(self.dump.own):
            if record.kind:
                made[KBColumns.kind][len(base.qids) + row] = named(record.kind).number
        if self.changed.any():
            found |= self._more_aliases(made)
        if self.shifted is not None:
            found[KBColumns.pair_property] = np.insert(base.pair_property, self.pair_places, self.new_pairs >> 32)
            values = (self.new_pairs & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
            found[KBColumns.pair_value] = np.insert(base.pair_value, self.pair_places, values)
        return found | self._tenures() | self._item_words(made) | self._word_tables()

    def _more_aliases(self, made: Made) -> Made:
        """The new aliases of entities of the base."""
        edit = Edit(made.get(KBColumns.aliases, self.base.aliases))
        for row in np.flatnonzero(self.changed):
            to, known = int(self.entities[row]), edit.column[int(self.entities[row])]
            for alias in np.sort(self.maps[ALIAS][self.small.aliases[int(row)]]):
                edit.add(to, len(known), int(alias))
        return {KBColumns.aliases: edit.done()[0]}

    def _tenures(self) -> Made:
        """The dated statements of own entities follow those of the base."""
        entity, pair = self.entities[self.small.tenure_entity], self.maps[PAIR][self.small.tenure_pair]
        kept = np.flatnonzero((entity >= len(self.base.qids)) & (pair >= 0))
        kept = kept[np.argsort(entity[kept], kind="stable")]
        pairs = self.base.tenure_pair if self.shifted is None else self.shifted[self.base.tenure_pair].astype(np.int32)
        found: Made = {} if self.shifted is None else {KBColumns.tenure_pair: pairs}
        if len(kept):
            found[KBColumns.tenure_entity] = appended(self.base.tenure_entity, entity[kept])
            found[KBColumns.tenure_pair] = appended(pairs, pair[kept])
            found[KBColumns.tenure_start] = appended(self.base.tenure_start, self.small.tenure_start[kept])
            found[KBColumns.tenure_end] = appended(self.base.tenure_end, self.small.tenure_end[kept])
        return found

    def _item_words(self, made: Made) -> Made:
        """The words of items of the base that only own entities state."""
        found: Made = {}
        stated = np.unique(self._of_rows(self.small.statements, self.own))
        values = np.unique(self.small.pair_value[stated[self.maps[PAIR][stated] >= 0]])
        items = np.setdiff1d(values[values >= 0], self.own_items)
        for column in (KBColumns.words_item, KBColumns.words_item_aliases):
            known, small = made.get(column, column.open(self.base.columns)), column.open(self.small.columns)
            edit = Edit(known)
            for item in items:
                to = int(self.maps[ITEM][item])
                for word in [] if len(known[to]) else np.sort(self.maps[WORD][small[item]]):
                    edit.add(to, 0, int(word))
            if edit:
                found[column] = edit.done()[0]
        return found

    def _word_tables(self) -> Made:
        """The hash tables of words and of their surface forms."""
        base, small = self.base, self.small
        found: Made = {}
        for keys, words in (
            (KBColumns.surface_hash, KBColumns.surface_word),
            (KBColumns.stem_hash, KBColumns.stem_word),
        ):
            own, word = keys.open(small.columns), words.open(small.columns)
            taken = np.flatnonzero(own)
            known = (keys.open(base.columns), own[taken], [(words.open(base.columns), -1)])
            table, [column], place, is_new = entered(*known)
            column[place[is_new]] = np.append(self.maps[WORD], -1)[word[taken][is_new]]
            if is_new.any():
                found |= {keys: table, words: column}
        return found
