"""The name index of a KB with own entities: names and short forms of the base, and those of the small KB."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from namesake.arrays import Float64, Int8, Int32, Int64, UInt64, positions
from namesake.kb.columns import Column, Made, NameColumns, Ragged, Strings, concatenate
from namesake.kb.columns.layout import ENTITY
from namesake.kb.names.build_index import EntityNames
from namesake.kb.names.form_entries import MOST
from namesake.kb.names.index import file_names, name_key
from namesake.kb.names.normalise import normalise
from namesake.kb.names.other_short_forms import Others, list_other_forms
from namesake.kb.names.short_forms import FORM_WEIGHTS, count_tokens, in_lower_case, list_forms
from namesake.kb.own.merge import Merge
from namesake.kb.own.tables import entered, slots, with_rows
from namesake.kernels.dump.wikidata import LEAGUE, SPORT
from namesake.kernels.hash import slot_of
from namesake.kernels.kinds import PERSON
from namesake.kernels.names.index import mark_names

Named = dict[int, int]
"""Entities with a name, in order, each with what the name is to it: its kind, or the number of the short form."""


Index = tuple[Column[Any], Column[Any], Column[Any], Column[Any]]
"""The columns of a table of names: hashes, rows of the names in it, their entities, and what the name is to each."""
NAMES: Index = (NameColumns.hashes, NameColumns.slots, NameColumns.entities, NameColumns.kinds)
SHORT_FORMS: Index = (
    *(NameColumns.short_hashes, NameColumns.short_slots),
    *(NameColumns.short_entities, NameColumns.short_forms),
)


class MergeNames:
    """The columns of names that are not those of the base."""

    def __init__(self, merge: Merge, fame: Float64) -> None:
        """`fame` is that of all entities of the merged KB."""
        self.merge, self.fame = merge, fame
        self.base, self.small = NameColumns(merge.base.columns), NameColumns(merge.small.columns)
        self.rows = merge.maps[ENTITY]
        """The entities of the small KB in the merged KB."""
        self.never = self._never()

    def _never(self) -> dict[int, set[int]]:
        """Entities that a name never means, by the hash of the name."""
        own, found = len(self.merge.base.qids), dict[int, set[int]]()
        for record in self.merge.dump.records:
            if record.is_own:
                row, own = own, own + 1
            else:
                row = int(positions(self.merge.base.qids, np.array([int(record.id[1:])]))[0])
            for name in record.never:
                found.setdefault(int(name_key(normalise(name))), set()).add(row)
        return found

    def columns(self) -> Made:
        """The changed columns."""
        short_forms, _ = self._index(SHORT_FORMS, self._by_weight)
        return self._names() | self._prefixes() | short_forms | self._tokens()

    def _index(self, index: Index, joined: Callable[[Named, Named], Named]) -> tuple[Made, UInt64]:
        """The columns of a table of names, and the hashes of names that the base does not have.

        `joined` puts entities of the small KB among those that have the name in the base.
        """
        keys, to, entities, what = (column.open(self.base.columns) for column in index)
        found = self._found(index)
        for key in self.never:
            if keys[slot_of(keys, np.uint64(key))]:
                found.setdefault(key, {})
        hashes = np.array([*found], np.uint64)
        keys, [to], place, is_new = entered(keys, hashes, [(to, -1)])
        to[place[is_new]] = len(entities) + np.arange(int(is_new.sum()))
        rows: dict[int, Named] = {}
        for row, (key, more) in zip(to[place].tolist(), found.items(), strict=True):
            known = named_by(entities, what, row) if row < len(entities) else {}
            named = joined(known, {one: form for one, form in more.items() if one not in known})
            rows[row] = {one: form for one, form in named.items() if one not in self.never.get(key, ())}
        made: Made = dict(zip(index[:2], (keys, to), strict=True)) if is_new.any() else {}
        if rows:
            made[index[2]] = with_rows(entities, {row: [*named] for row, named in rows.items()})
            forms = {row: [*named.values()] for row, named in rows.items()}
            made[index[3]] = with_rows(Ragged(entities.indptr, what), forms).values
        return made, hashes[is_new]

    def _found(self, index: Index) -> dict[int, Named]:
        """The names of own entities, and of entities with more aliases, by their hashes, in the order of names."""
        keys, to, entities, what = (column.open(self.small.columns) for column in index)
        found = {}
        for slot in sorted(np.flatnonzero(keys), key=to.__getitem__):
            named = named_by(entities, what, to[slot])
            merged = {int(self.rows[one]): form for one, form in named.items() if self.rows[one] >= 0}
            if merged:
                found[int(keys[slot])] = merged
        return found

    def _by_row(self, known: Named, more: Named) -> Named:
        return dict(sorted((known | more).items()))

    def _by_weight(self, known: Named, more: Named) -> Named:
        """The entities with the largest weights; those of the base keep their order."""
        found = [(self.fame[one] * FORM_WEIGHTS[form], one, form) for one, form in known.items()]
        for one, form in more.items():
            weight = self.fame[one] * FORM_WEIGHTS[form]
            at = next((at for at, other in enumerate(found) if other[0] < weight), len(found))
            found.insert(at, (weight, one, form))
        return {one: form for _, one, form in found[:MOST]}

    def _names(self) -> Made:
        """The names, their entities, the table of names, the keys for variants and the misspellings."""
        made, new = self._index(NAMES, self._by_row)
        if not len(new):
            return made
        rows = self.small.slots[slots(self.small.hashes, new)]
        texts, known = self.small.texts.take(rows), len(self.base.texts)
        merged = np.full(len(self.small.texts), -1)
        merged[rows] = known + np.arange(len(rows))
        names = merged[self.small.misspelling_names]
        slips = self.small.misspelling_hashes[names >= 0], names[names >= 0]
        variants, filed = file_names(texts, self.merge.dump.language)
        misspellings = NameColumns.misspelling_hashes, NameColumns.misspelling_names
        made |= {NameColumns.texts: concatenate([self.base.texts, texts])}
        made |= self._filed(NameColumns.variant_keys, NameColumns.variant_names, variants, known + filed)
        return made | self._filed(*misspellings, *slips)

    def _filed(self, keys: Column[UInt64], names: Column[Int32], more: UInt64, named: Int32 | Int64) -> Made:
        """Ascending keys of names and the names, with more of both."""
        known = keys.open(self.base.columns)
        at = np.searchsorted(known, more, "right")
        made: Made = {keys: np.insert(known, at, more)}
        return made | {names: np.insert(names.open(self.base.columns), at, named)} if len(more) else {}

    @cached_property
    def _small_names(self) -> EntityNames:
        """The names of all entities of the small KB."""
        small = self.merge.small
        labels = small.item_labels.take(small.entity_item)
        return EntityNames.of(self.merge.dump.language, labels, small.aliases, small.alias_texts)

    def _prefixes(self) -> Made:
        """The bits of the beginnings of names and short forms."""
        small, bits, names = self.merge.small, self.base.prefixes.copy(), self._small_names
        found = np.array([*self._found(NAMES)], np.uint64)
        more = self.small.texts.take(self.small.slots[slots(self.small.hashes, found)])
        mark_names(more.data, more.offsets, bits)
        ours, is_person, fame = self.rows >= 0, small.kind == PERSON, small.fame.astype(np.float64)
        stating = np.isin(small.pair_property, (LEAGUE, SPORT))
        teams = np.array([bool(stating[small.statements[row]].any()) for row in range(len(ours))], np.bool_)
        list_forms(names, ours & is_person, fame, bits)
        others = Others(ours & ~is_person, teams, fame, np.empty(0, np.int32), Strings.empty(0))
        list_other_forms(names, others, bits)
        return {} if np.array_equal(bits, self.base.prefixes) else {NameColumns.prefixes: bits}

    def _tokens(self) -> Made:
        """The counts of tokens, with those of the names and texts of own entities."""
        small, own = self.merge.small, self.merge.own
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


def named_by(entities: Ragged, what: Int8, row: int) -> Named:
    """The entities with a name, and what the name is to each."""
    at = slice(*entities.indptr[row : row + 2])
    return dict(zip(entities.values[at].tolist(), what[at].tolist(), strict=True))
