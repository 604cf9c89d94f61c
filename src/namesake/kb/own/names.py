"""The name index of a KB with own entities: names and short forms of the base, and those of the small KB."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from namesake.arrays import Bool, Float64, Int64, positions
from namesake.kb.columns import Made, NameColumns, Strings
from namesake.kb.names.build_index import EntityNames
from namesake.kb.names.form_entries import MOST
from namesake.kb.names.index import file_names, name_key
from namesake.kb.names.normalise import normalise
from namesake.kb.names.other_short_forms import Others, list_other_forms
from namesake.kb.names.short_forms import FORM_WEIGHTS, count_tokens, in_lower_case, list_forms
from namesake.kb.own.merge import Merge
from namesake.kb.own.tables import Edit, appended, entered, lists, slots
from namesake.kernels.dump.wikidata import LEAGUE, SPORT
from namesake.kernels.kinds import PERSON
from namesake.kernels.names.index import mark_names

Never = list[tuple[np.uint64, int]]
"""Hashes of names, and rows of entities that they never mean."""


class MergeNames:
    """The columns of names that are not those of the base."""

    def __init__(self, merge: Merge, fame: Float64) -> None:
        """`fame` is that of all entities of the merged KB."""
        self.merge, self.fame = merge, fame
        self.base, self.small = NameColumns(merge.base.columns), NameColumns(merge.small.columns)
        pairs = self.small.entities
        named = np.repeat(np.arange(len(pairs)), np.diff(pairs.indptr))
        used = np.unique(named[merge.entities[pairs.values] >= 0])
        self.used = used
        """The names of own entities, and of entities with more aliases, as rows of the small KB."""
        self.keys = np.array([name_key(self.small.texts[row]) for row in used.tolist()], np.uint64)
        self.rows: Int64 = self.base.slots[slots(self.base.hashes, self.keys)].astype(np.int64)
        self.new: Bool = self.rows < 0
        self.rows[self.new] = len(self.base.texts) + np.arange(int(self.new.sum()))
        """Their rows in the merged KB."""

    def columns(self) -> Made:
        """The changed columns."""
        never = [(name_key(normalise(name)), int(row)) for name, row in self._never()]
        return self._names(never) | self._prefixes() | self._short_forms(never) | self._tokens() | self._misspellings()

    def _never(self) -> Iterator[tuple[str, int]]:
        """Names that never mean an entity, and the rows of these entities."""
        for record in self.merge.dump.records:
            if record.never:
                [row] = positions(self.merge.base.qids, np.array([int(record.id[1:])]))
                yield from ((name, row) for name in record.never if row >= 0)

    def _names(self, never: Never) -> Made:
        """The names, their entities, and the table of names."""
        more = self.small.texts.take(self.used[self.new])
        empty = lists([np.empty(0, np.int32)] * len(more), np.dtype(np.int32))
        edit = Edit(appended(self.base.entities, empty))
        for key, row in never:
            name = int(self.base.slots[slots(self.base.hashes, np.array([key]))[0]])
            for place in np.flatnonzero(self.base.entities[name] == row) if name >= 0 else ():
                edit.drop(name, int(place))
        for row, name in zip(self.used.tolist(), self.rows.tolist(), strict=True):
            known = edit.column[name]
            span = slice(*self.small.entities.indptr[row : row + 2])
            for entity, kind in sorted(
                zip(self.merge.entities[self.small.entities[row]], self.small.kinds[span], strict=True)
            ):
                if entity >= 0 and entity not in known:
                    edit.add(name, int(np.searchsorted(known, entity)), int(entity), int(kind))
        if not edit:
            return {}
        entities, kinds = edit.done(self.base.kinds)
        found: Made = {NameColumns.entities: entities, NameColumns.kinds: kinds}
        if not len(more):
            return found
        columns = [(self.base.slots, -1)]
        hashes, [to], slot, _ = entered(self.base.hashes, self.keys[self.new], columns)
        to[slot] = self.rows[self.new]
        variants, filed = file_names(more, self.merge.dump.language)
        at = np.searchsorted(self.base.variant_keys, variants, "right")
        return found | {
            NameColumns.hashes: hashes,
            NameColumns.slots: to,
            NameColumns.texts: appended(self.base.texts, more),
            NameColumns.variant_keys: np.insert(self.base.variant_keys, at, variants),
            NameColumns.variant_names: np.insert(self.base.variant_names, at, len(self.base.texts) + filed),
        }

    @cached_property
    def _small_names(self) -> EntityNames:
        """The names of all entities of the small KB."""
        small = self.merge.small
        labels = small.item_labels.take(small.entity_item)
        return EntityNames.of(self.merge.dump.language, labels, small.aliases, small.alias_texts)

    def _prefixes(self) -> Made:
        """The bits of the beginnings of names and short forms."""
        small, bits, names = self.merge.small, self.base.prefixes.copy(), self._small_names
        more = self.small.texts.take(self.used)
        mark_names(more.data, more.offsets, bits)
        ours, is_person, fame = self.merge.entities >= 0, small.kind == PERSON, small.fame.astype(np.float64)
        stating = np.isin(small.pair_property, (LEAGUE, SPORT))
        teams = np.array([bool(stating[small.statements[row]].any()) for row in range(len(ours))], np.bool_)
        list_forms(names, ours & is_person, fame, bits)
        others = Others(ours & ~is_person, teams, fame, np.empty(0, np.int32), Strings.empty(0))
        list_other_forms(names, others, bits)
        return {} if np.array_equal(bits, self.base.prefixes) else {NameColumns.prefixes: bits}

    def _short_forms(self, never: Never) -> Made:
        """The short forms: own entities take their places by weight among at most `MOST` entities."""
        base, small = self.base, self.small
        taken = np.flatnonzero(small.short_hashes)
        ours = [bool((self.merge.entities[small.short_entities[row]] >= 0).any()) for row in small.short_slots[taken]]
        taken = taken[np.array(ours, np.bool_)]
        hashes, [to], place, is_new = entered(base.short_hashes, small.short_hashes[taken], [(base.short_slots, -1)])
        to[place[is_new]] = len(base.short_entities) + np.arange(int(is_new.sum()))
        edit = Edit(
            appended(base.short_entities, lists([np.empty(0, np.int32)] * int(is_new.sum()), np.dtype(np.int32)))
        )
        for key, row in never:
            name = int(base.short_slots[slots(base.short_hashes, np.array([key]))[0]])
            for at in np.flatnonzero(base.short_entities[name] == row) if name >= 0 else ():
                edit.drop(name, int(at))
        for slot, row in zip(place.tolist(), small.short_slots[taken].tolist(), strict=True):
            self._insert(edit, int(to[slot]), row)
        if not edit:
            return {}
        entities, forms = edit.done(base.short_forms)
        found: Made = {NameColumns.short_entities: entities, NameColumns.short_forms: forms}
        return found | ({NameColumns.short_hashes: hashes, NameColumns.short_slots: to} if is_new.any() else {})

    def _insert(self, edit: Edit, short: int, row: int) -> None:
        """Put the entities of one short form of the small KB into the list of the base."""
        known, at = edit.column[short], self.small.short_entities.indptr[row]
        of_base = self.base.short_forms[edit.column.indptr[short] : edit.column.indptr[short] + len(known)]
        weights = self.fame[known] * FORM_WEIGHTS[of_base]
        places = []
        for offset, entity in enumerate(self.merge.entities[self.small.short_entities[row]].tolist()):
            form = int(self.small.short_forms[at + offset])
            if entity >= 0 and entity not in known:
                smaller = np.flatnonzero(weights < self.fame[entity] * FORM_WEIGHTS[form])
                places.append((int(smaller[0]) if len(smaller) else len(known), entity, form))
        left, last = MOST, len(known)
        chosen = sorted(places)
        while len(known) and len(chosen) + last > left and last > max([0, *(place for place, *_ in chosen)]):
            last -= 1
            edit.drop(short, last)
        for place, entity, form in chosen[: max(left - last, 0)]:
            edit.add(short, place, entity, form)

    def _tokens(self) -> Made:
        """The counts of tokens, with those of the names and texts of own entities."""
        small = self.merge.small
        own = self.merge.entities >= len(self.merge.base.qids)
        other, of_alias = own & ~small.person, np.repeat(np.arange(len(own)), np.diff(small.aliases.indptr))
        people, unused = own & (small.kind == PERSON), np.zeros(1, np.uint8)
        tokens = list_forms(self._small_names, people, small.fame.astype(np.float64), unused)
        labels, aliases = small.item_labels.take(small.entity_item), small.alias_texts.take(small.aliases.values)
        prose = [(small.descriptions, own), in_lower_case(labels, other), in_lower_case(aliases, other[of_alias])]
        made = count_tokens(tokens, prose)
        counts = {column: made[column] for column in made if column is not NameColumns.token_hashes}
        taken = np.flatnonzero(made[NameColumns.token_hashes])
        base = [(column.open(self.base.columns), 0) for column in counts]
        hashes, copies, place, _ = entered(self.base.token_hashes, made[NameColumns.token_hashes][taken], base)
        for (column, count), copy in zip(counts.items(), copies, strict=True):
            copy[place] += count[taken]
            counts[column] = copy
        return {NameColumns.token_hashes: hashes, **counts} if len(taken) else {}

    def _misspellings(self) -> Made:
        """The misspellings of new names of well-known entities."""
        rows = np.full(len(self.small.texts), -1)
        rows[self.used[self.new]] = self.rows[self.new]
        new = rows[self.small.misspelling_names]
        keys, new = self.small.misspelling_hashes[new >= 0], new[new >= 0]
        at = np.searchsorted(self.base.misspelling_hashes, keys, "right")
        return (
            {}
            if not len(keys)
            else {
                NameColumns.misspelling_hashes: np.insert(self.base.misspelling_hashes, at, keys),
                NameColumns.misspelling_names: np.insert(self.base.misspelling_names, at, new),
            }
        )
