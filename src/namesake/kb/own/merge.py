"""The KB with own entities: the base's files, those that differ, and the records.

Its columns are those of the base, and rows of a small KB that was built from the records. Own entities and their items
are the last rows, so no row of the base changes its number, except those of pairs, which are ordered by property.

A changed file of the base is kept with the prefix `base.`, and a file that is the same in both is a hard link, so that
every change starts from the base and `kb undo` gives back the same bytes.
"""

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow.compute as pc

from namesake import language as languages
from namesake.arrays import Bool, Float64, Int8, Int64, UInt64, indptr, numpy_numbers, positions, take_rows
from namesake.errors import NamesakeError
from namesake.files.draft import clean_exit
from namesake.kb.build import build, count_kinds
from namesake.kb.columns import Axis, Column, Columns, KBColumns, Made, NameColumns, Ragged, Strings, concatenate
from namesake.kb.columns.declaration import ASCENDING
from namesake.kb.columns.derived import DERIVED
from namesake.kb.columns.large import AnyArray
from namesake.kb.columns.layout import ALIAS, ENTITY, ITEM, PAIR, STRING, TENURE, WORD
from namesake.kb.manifest import BASE, MANIFEST, OWN_FILE, Manifest, parse_manifest, read_manifest
from namesake.kb.names import short_forms
from namesake.kb.names.build_index import EntityNames
from namesake.kb.names.index import drawers, filed, name_key
from namesake.kb.names.normalise import normalise
from namesake.kb.names.short_forms import MOST
from namesake.kb.own.records import Dump, Record, read_records
from namesake.kb.publish.draft import Draft
from namesake.kernels.dump.wikidata import FIRST_OWN, LEAGUE, SPORT
from namesake.kernels.hash import fill, slot_of, table_size
from namesake.kernels.kinds import PERSON
from namesake.kernels.names.index import mark_names
from namesake.kinds import ALL, named

SMALL = "small"
MISSING = -(1 << 40)  # a value of a statement that the base does not have


def publish(
    folder: Path, old: list[Record], records: Sequence[Record], say: Callable[[str], None] = lambda _: None
) -> None:
    """Replace the KB in a folder by one that has `records` instead of the `old` ones."""
    draft = Draft(folder, force=True, say=say)
    with clean_exit(draft), draft:
        manifest, of_base = read_manifest(folder), folder / f"{BASE}{MANIFEST}"
        if of_base.name in manifest.files:
            manifest = parse_manifest(of_base.read_bytes(), folder)
        if read_records(folder) != old:
            raise NamesakeError(f"{folder}: another process has changed its own entities; run the command again")
        for name, digest in manifest.files.items():
            source = folder / f"{BASE}{name}"
            source = source if source.exists() else folder / name
            try:
                os.link(source, draft.folder / name)
            except OSError:  # the file system has no hard links
                shutil.copyfile(source, draft.folder / name)
            draft.files[name] = digest
        draft.publish(apply(draft, manifest, records))
    draft.remember(folder)  # removing the links of the old folder has changed the times of the files


def apply(draft: Draft, manifest: Manifest, records: Sequence[Record]) -> Manifest:
    """Add own entities, if there are any, to a draft with all files of a KB; returns the manifest to publish."""
    base, language = Columns(draft.folder, BASE), languages.of(manifest.language)
    qids = KBColumns(base).qids if records else ()
    for gone in [record for record in records if not record.is_own and int(record.id[1:]) not in qids]:
        draft.say(f"{gone.id} is no longer in the KB: the aliases and corrections that were added to it are removed")
        records = [record for record in records if record is not gone]
    if not records:
        return manifest
    dump = Dump(records, KBColumns(base), language)
    lines = draft.folder / f"{SMALL}.jsonl"
    lines.write_bytes(b"".join(dump.lines()))
    build(lines, draft.folder / SMALL, keep=ALL, language=manifest.language, words=manifest.words_how, workers=1)
    sealed = msgspec.structs.replace(manifest, files=dict(sorted(draft.files.items()))).sealed()
    _write(draft, Merge(base, Columns(draft.folder / SMALL), dump).columns())
    for column, function in DERIVED.items():
        value = function(KBColumns(Columns(draft.folder)))
        if not np.array_equal(value, column.open(Columns(draft.folder))):
            _write(draft, {column: value})
    draft.write_blocks(f"{BASE}{MANIFEST}", [sealed])
    draft.write_blocks(OWN_FILE, [b"".join(msgspec.json.encode(record) + b"\n" for record in records)])
    merged = KBColumns(Columns(draft.folder))
    return msgspec.structs.replace(
        manifest,
        entities=len(merged.qids),
        people=int(merged.person.sum()),
        kinds=count_kinds(merged.kind),
        items=len(merged.item_qids),
        statements=len(merged.statements.values),
        names=len(NameColumns(merged.columns).texts),
        words=len(merged.words),
    )


def _write(draft: Draft, made: Made) -> None:
    """Write changed columns. The files of the base are hard links, so they are renamed, never written to."""
    for column, value in made.items():
        for name in column.files:
            file = f"{name}.npy"
            (draft.folder / file).rename(draft.folder / f"{BASE}{file}")
            draft.files[f"{BASE}{file}"] = draft.files.pop(file)
        draft.write(column, value)


class Merge:
    """The base, the small KB, and the row in the merged KB of each row of the small one: -1 if it has none."""

    def __init__(self, base: Columns, small: Columns, dump: Dump) -> None:
        self.base, self.small, self.dump = KBColumns(base), KBColumns(small), dump
        own = np.array([*dump.numbers.values()], np.int64)
        entities, items = self.small.qids, self.small.item_qids
        self.own: Bool = np.isin(entities, own)  # which entities of the small KB are own entities
        self.changed: Bool = np.isin(entities, [*dump.targets])
        """Which of its entities are entities of the base with more aliases."""
        known = np.where(self.changed, positions(self.base.qids, entities), -1)
        strings, words = (np.full(len(texts), -1) for texts in (self.small.strings, self.small.words))
        at = pc.index_in(self.base.strings.arrow(), self.small.strings.arrow())
        strings[numpy_numbers(at.drop_null())] = np.flatnonzero(numpy_numbers(at.is_valid()))
        taken = np.flatnonzero(self.small.stem_hash)
        known_stems = slots(self.base.stem_hash, self.small.stem_hash[taken])
        words[self.small.stem_word[taken]] = self.base.stem_word[known_stems]
        self.maps: dict[Axis, Int64] = {
            ENTITY: after(len(self.base.qids), self.own, known),
            ITEM: after(len(self.base.item_qids), np.isin(items, own), positions(self.base.item_qids, items)),
            STRING: after(len(self.base.strings), strings < 0, strings),
            WORD: after(len(self.base.words), words < 0, words),
        }
        self.maps[PAIR] = self._pairs()
        named = self._values(self.small.aliases, self.own | self.changed)
        self.maps[ALIAS] = after(len(self.base.alias_texts), np.isin(np.arange(len(self.small.alias_texts)), named))
        dated = self.own[self.small.tenure_entity] & (self.maps[PAIR][self.small.tenure_pair] >= 0)
        self.maps[TENURE] = after(len(self.base.tenure_pair), dated)

    def _values(self, column: Ragged, chosen: Bool) -> Int64:
        """The values of some rows of a column of the small KB, each once."""
        return np.unique(column.values[take_rows(column.indptr, np.flatnonzero(chosen))[1]]).astype(np.int64)

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
        self.base_pairs, self.new_pairs = base, np.unique(keys[used & (positions(base, keys) < 0)])
        self.shifted = (np.arange(len(base)) + np.searchsorted(self.new_pairs, base)).astype(np.int32)
        """The row of each pair of the base in the merged KB."""
        return np.where(used, np.searchsorted(base, keys) + np.searchsorted(self.new_pairs, keys), -1)

    def columns(self) -> Made:
        """Every column that is not that of the base."""
        made: Made = {}
        for column in KBColumns.declared().values():
            if column in DERIVED or column.rows not in self.maps:
                continue
            known = column.open(self.base.columns)
            if column.values.row_of == PAIR and len(self.new_pairs):
                is_ragged = isinstance(known, Ragged)
                known = Ragged(known.indptr, self.shifted[known.values]) if is_ragged else self.shifted[known]
                made[column] = known
            rows = np.flatnonzero(self.maps[column.rows] >= len(known))
            if column.rows != PAIR and len(rows):
                made[column] = self._with_rows(column, known, rows)
        if len(self.new_pairs):
            places = np.searchsorted(self.base_pairs, self.new_pairs)
            made[KBColumns.pair_property] = np.insert(self.base.pair_property, places, self.new_pairs >> 32)
            made[KBColumns.pair_value] = np.insert(self.base.pair_value, places, self.new_pairs.astype(np.int32))
        made |= self._more_aliases(made) | self._item_words(made) | self._word_tables()
        return made | MergeNames(self, made.get(KBColumns.fame, self.base.fame).astype(np.float64)).columns()

    def _with_rows(self, column: Column[Any], known: Any, rows: Int64) -> Any:
        """A column of the base, and after it the rows of the small KB that the base does not have."""
        value = column.open(self.small.columns)
        if isinstance(value, Strings):
            return concatenate([known, value.take(rows)])
        if isinstance(value, Ragged):
            return with_rows(known, {len(known) + at: self._merged(column, value[row]) for at, row in enumerate(rows)})
        more = self._merged(column, value[rows])
        if column in (KBColumns.qids, KBColumns.item_qids):
            more = FIRST_OWN + np.arange(len(rows))
        elif column in (KBColumns.pagerank_wikidata, KBColumns.pagerank_wikipedia):
            more = np.full(len(rows), known.min() if len(known) else 0)  # no statement names it
        elif column is KBColumns.kind:
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
        tables = (KBColumns.surface_hash, KBColumns.surface_word), (KBColumns.stem_hash, KBColumns.stem_word)
        for keys, words in tables:
            own, word = keys.open(self.small.columns), words.open(self.small.columns)
            taken = np.flatnonzero(own)
            known = words.open(self.base.columns)
            table, [column], place, is_new = entered(keys.open(self.base.columns), own[taken], [known], -1)
            column[place[is_new]] = np.append(self.maps[WORD], -1)[word[taken][is_new]]
            if is_new.any():
                found |= {keys: table, words: column}
        return found


Named = dict[int, int]
"""Entities with a name, in order, each with what the name is to it: its kind, or the number of the short form."""
Index = tuple[Column[Any], Column[Any], Column[Any], Column[Any]]
"""The columns of a table of names: hashes, rows of the names in it, their entities, and what the name is to each."""
NAMES: Index = (NameColumns.hashes, NameColumns.slots, NameColumns.entities, NameColumns.kinds)
FORMS: Index = (NameColumns.short_hashes, NameColumns.short_slots, NameColumns.short_entities, NameColumns.short_forms)


class MergeNames:
    """The columns of names that are not those of the base."""

    def __init__(self, merge: Merge, fame: Float64) -> None:
        """`fame` is that of all entities of the merged KB."""
        self.merge, self.fame, self.language = merge, fame, merge.dump.language
        self.base, self.small = NameColumns(merge.base.columns), NameColumns(merge.small.columns)
        self.labels = merge.small.item_labels.take(merge.small.entity_item)
        self.names = EntityNames.of(self.language, self.labels, merge.small.aliases, merge.small.alias_texts)
        self.rows = merge.maps[ENTITY]  # the entities of the small KB in the merged KB
        self.never: dict[int, set[int]] = {}  # entities that a name never means, by the hash of the name
        own = len(merge.base.qids)
        for record in merge.dump.records:
            row = own if record.is_own else int(positions(merge.base.qids, np.array([int(record.id[1:])]))[0])
            own += record.is_own
            for name in record.never:
                self.never.setdefault(int(name_key(normalise(name))), set()).add(row)

    def columns(self) -> Made:
        """The changed columns."""
        return self._names() | self._prefixes() | self._index(FORMS)[0] | self._tokens()

    def _index(self, index: Index) -> tuple[Made, UInt64]:
        """The columns of a table of names, and the hashes of names that the base does not have."""
        keys, to, entities, what = (column.open(self.base.columns) for column in index)
        found = self._found(index)
        for key in self.never:
            if keys[slot_of(keys, np.uint64(key))]:
                found.setdefault(key, {})
        hashes = np.array([*found], np.uint64)
        keys, [to], place, is_new = entered(keys, hashes, [to], -1)
        to[place[is_new]] = len(entities) + np.arange(int(is_new.sum()))
        rows: dict[int, Named] = {}
        for row, (key, more) in zip(to[place].tolist(), found.items(), strict=True):
            known = named_by(entities, what, row) if row < len(entities) else {}
            more = {one: form for one, form in more.items() if one not in known}
            both = self._by_weight(known, more) if index is FORMS else dict(sorted((known | more).items()))
            rows[row] = {one: form for one, form in both.items() if one not in self.never.get(key, ())}
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

    def _by_weight(self, known: Named, more: Named) -> Named:
        """The entities with the largest weights; those of the base keep their order."""
        found = [(self.fame[one] * short_forms.FORM_WEIGHTS[form], one, form) for one, form in known.items()]
        for one, form in more.items():
            weight = self.fame[one] * short_forms.FORM_WEIGHTS[form]
            at = next((at for at, other in enumerate(found) if other[0] < weight), len(found))
            found.insert(at, (weight, one, form))
        return {one: form for _, one, form in found[:MOST]}

    def _names(self) -> Made:
        """The names, their entities, the table of names, the keys for variants and the misspellings."""
        made, new = self._index(NAMES)
        if not len(new):
            return made
        rows = self.small.slots[slots(self.small.hashes, new)]
        texts, known = self.small.texts.take(rows), len(self.base.texts)
        merged = np.full(len(self.small.texts), -1)
        merged[rows] = known + np.arange(len(rows))
        names = merged[self.small.misspelling_names]
        slips = self.small.misspelling_hashes[names >= 0], names[names >= 0]
        variants, of_variants = filed(drawers(texts, self.language))
        made[NameColumns.texts] = concatenate([self.base.texts, texts])
        for keys, of_keys, more, names in (
            (NameColumns.variant_keys, NameColumns.variant_names, variants, known + of_variants),
            (NameColumns.misspelling_hashes, NameColumns.misspelling_names, *slips),
        ):
            at = np.searchsorted(keys.open(self.base.columns), more, "right")
            if len(more):
                made[keys] = np.insert(keys.open(self.base.columns), at, more)
                made[of_keys] = np.insert(of_keys.open(self.base.columns), at, names)
        return made

    def _prefixes(self) -> Made:
        """The bits of the beginnings of names and short forms."""
        small, bits = self.merge.small, self.base.prefixes.copy()
        found = np.array([*self._found(NAMES)], np.uint64)
        more = self.small.texts.take(self.small.slots[slots(self.small.hashes, found)])
        mark_names(more.data, more.offsets, bits)
        ours, is_person, fame = self.rows >= 0, small.kind == PERSON, small.fame.astype(np.float64)
        stating = np.isin(small.pair_property, (LEAGUE, SPORT))
        teams = np.array([bool(stating[small.statements[row]].any()) for row in range(len(ours))], np.bool_)
        short_forms.list_forms(self.names, ours & is_person, fame, bits)
        others = short_forms.Others(ours & ~is_person, teams, fame, np.empty(0, np.int32), Strings.empty(0))
        short_forms.list_other_forms(self.names, others, bits)
        return {} if np.array_equal(bits, self.base.prefixes) else {NameColumns.prefixes: bits}

    def _tokens(self) -> Made:
        """The counts of tokens, with those of the names and texts of own entities."""
        small, own = self.merge.small, self.merge.own
        other, of_alias = own & ~small.person, np.repeat(np.arange(len(own)), np.diff(small.aliases.indptr))
        people, unused = own & (small.kind == PERSON), np.zeros(1, np.uint8)
        tokens = short_forms.list_forms(self.names, people, small.fame.astype(np.float64), unused)
        names = (self.labels, other), (small.alias_texts.take(small.aliases.values), other[of_alias])
        prose = [(small.descriptions, own), *(short_forms.in_lower_case(texts, counted) for texts, counted in names)]
        counts = short_forms.count_tokens(tokens, prose)
        hashes = counts.pop(NameColumns.token_hashes)
        taken = np.flatnonzero(hashes)
        base = [column.open(self.base.columns) for column in counts]
        hashes, copies, place, _ = entered(self.base.token_hashes, hashes[taken], base, 0)
        for (column, count), copy in zip(counts.items(), copies, strict=True):
            copy[place] += count[taken]
            counts[column] = copy
        return {NameColumns.token_hashes: hashes, **counts} if len(taken) else {}


def named_by(entities: Ragged, what: Int8, row: int) -> Named:
    """The entities with a name, and what the name is to each."""
    at = slice(*entities.indptr[row : row + 2])
    return dict(zip(entities.values[at].tolist(), what[at].tolist(), strict=True))


def after(size: int, new: Bool, rows: Int64 | int = -1) -> Int64:
    """Rows of which the new ones follow `size` others, in their order."""
    return np.where(new, size + np.cumsum(new) - 1, rows)


def with_rows(base: Ragged, rows: Mapping[int, AnyArray | Sequence[int]]) -> Ragged:
    """Lists of which some rows are replaced. Rows that follow those of the base are new."""
    size = len(base)
    lengths = np.zeros(max([size, *(row + 1 for row in rows)]), np.int64)
    lengths[:size] = np.diff(base.indptr)
    pieces, end = [], 0
    for row in sorted(rows):
        lengths[row] = len(rows[row])
        pieces += [base.values[end : base.indptr[min(row, size)]], np.asarray(rows[row], base.values.dtype)]
        end = base.indptr[min(row + 1, size)]
    return Ragged(indptr(lengths), np.concatenate([*pieces, base.values[end:]]))


def slots(keys: UInt64, hashes: UInt64) -> Int64:
    """The slot of each hash in a table, or the free one where it belongs."""
    return np.array([slot_of(keys, one) for one in hashes], np.int64)


def entered(
    keys: UInt64, hashes: UInt64, columns: list[AnyArray], free: int
) -> tuple[UInt64, list[AnyArray], Int64, Bool]:
    """Copies of a hash table with more keys, and of its columns; the slot of each hash, and whether it is new."""
    is_new = keys[slots(keys, hashes)] == 0
    taken = np.flatnonzero(keys)
    size = max(len(keys), table_size(len(taken) + int(is_new.sum())))
    if size == len(keys):
        copies, grown = [column.copy() for column in columns], keys.copy()
    else:
        grown = np.zeros(size, np.uint64)
        place = fill(keys[taken], grown)
        copies = [np.full(size, free, column.dtype) for column in columns]
        for copy, column in zip(copies, columns, strict=True):
            copy[place] = column[taken]
    return grown, copies, fill(np.ascontiguousarray(hashes), grown), is_new
