"""Suggestions, values and types of entities, in the shapes of the Reconciliation API."""

import re
from bisect import bisect_left
from functools import cached_property, lru_cache
from itertools import islice
from typing import Annotated, Any

import msgspec
import numpy as np
import pyarrow.compute as pc
from msgspec import Meta

from namesake.arrays import Bool, Int32
from namesake.kb.records import about, lifetime, property_label, rows_named, values_of
from namesake.kb.store import KB
from namesake.kernels.dump.wikidata import INSTANCE_OF, OCCUPATION
from namesake.kinds import Kind, listed

SUGGESTED = 10
QID = re.compile(r"Q[1-9][0-9]{0,15}")
_PROPERTY = re.compile(r"P[1-9][0-9]{0,8}")


class Named(msgspec.Struct, frozen=True):
    """The id and the name of an entity, a property or a type."""

    id: str
    name: str


class Suggestion(Named, frozen=True):
    """An entity, a property or a type whose name begins with a prefix."""

    description: str = ""


class AskedProperty(msgspec.Struct, frozen=True):
    """A property whose values the client asks for; `limit` among its settings bounds their number."""

    id: Annotated[str, Meta(max_length=100)]
    settings: dict[str, Any] = {}

    @property
    def most(self) -> int | None:
        """The largest number of values; None: all."""
        given = str(self.settings.get("limit") or 0)
        return int(given) or None if re.fullmatch(r"[0-9]{1,6}", given, re.ASCII) else None


class Extension(msgspec.Struct, frozen=True):
    """The entities and the properties of a data extension request."""

    ids: list[Annotated[str, Meta(max_length=100)]]
    properties: Annotated[list[AskedProperty], Meta(max_length=100)]


class ReconcileData:
    """Looks up entities, properties and types of a KB."""

    def __init__(self, kb: KB) -> None:
        self.kb = kb

    # types
    @cached_property
    def kinds(self) -> dict[Named, Kind]:
        """The types that stand for kinds: the first class of each kind that the KB has, such as human."""
        return {Named(*kind.root): kind for kind in self.kb.kinds if kind.root}

    def types_of(self, row: int, *more: int) -> list[Named]:
        """The types of an entity: its classes (`instance of`), values of other properties, and the type of its kind."""
        values = values_of(self.kb, row, INSTANCE_OF, *more)
        types = {one.id: one for one in (self._item(value) for value in values if value >= 0)}
        if root := self.kb.kind_of(row).root:
            types.setdefault(root[0], Named(*root))
        return list(types.values())

    def all_types(self, row: int) -> set[str]:
        """The QIDs of the types of an entity, and of the occupations of a person."""
        return {one.id for one in self.types_of(row, OCCUPATION)}

    def _item(self, item: int) -> Named:
        qid = f"Q{self.kb.item_qids[item]}"
        return Named(qid, self.kb.item_labels[item] or qid)

    # suggestions
    def suggested(self, kind: str, prefix: str, skipped: int) -> list[Suggestion]:
        """Entities, properties or types whose name begins with a prefix, or whose id it is."""
        if not prefix:
            return []
        if kind == "entity":
            return self._entities(prefix, skipped)
        known, begun = self.proposed("") if kind == "property" else self._known_types, prefix.casefold()
        spelled = {one: (*of.spellings, of.name, of.plural) for one, of in self.kinds.items()} if kind == "type" else {}

        def fits(one: Named) -> bool:
            names = (one.name.casefold(), *spelled.get(one, ()))
            return any(name.startswith(begun) for name in names) or one.id.casefold() == begun

        fitting = filter(fits, known)
        return [Suggestion(one.id, one.name) for one in islice(fitting, skipped, skipped + SUGGESTED)]

    def _entities(self, prefix: str, skipped: int) -> list[Suggestion]:
        """The entities with this name, then those whose label begins with it, the most sitelinks first."""
        exact = [self.kb.row(prefix)] if QID.fullmatch(prefix) else rows_named(self.kb, prefix)
        more = self._beginning(prefix, len(exact) + skipped + SUGGESTED)
        rows = dict.fromkeys(row for row in [*exact, *more] if row >= 0)
        chosen = list(rows)[skipped : skipped + SUGGESTED]
        return [Suggestion(f"Q{self.kb.qids[row]}", self.kb.label(row), about(self.kb, row)) for row in chosen]

    @cached_property
    def _by_label(self) -> Int32:
        """The rows of the entities in the order of their labels' bytes. It is made for the first suggestion."""
        labels = self.kb.item_labels.take(self.kb.entity_item)
        rows: Int32 = pc.sort_indices(labels.arrow()).to_numpy().astype(np.int32)
        return rows

    def _beginning(self, prefix: str, most: int) -> list[int]:
        """The rows whose label begins with a prefix, or with it In Title Case; those with the most sitelinks first."""
        title, labels, items = prefix.title(), self.kb.item_labels, self.kb.entity_item

        def label(row: np.int32) -> bytes:
            return labels.data[labels.offsets[items[row]] : labels.offsets[items[row] + 1]].tobytes()

        found = []
        for start in [prefix] if title.startswith(prefix) else [prefix, title]:
            text = start.encode("utf-8", "replace")  # no byte of UTF-8 is as large as FF
            begin, end = (bisect_left(self._by_label, one, key=label) for one in (text, text + b"\xff"))
            found.append(self._by_label[begin:end])
        rows = np.concatenate(found).astype(np.int64)
        keys = rows - (self.kb.sitelinks[rows].astype(np.int64) << 32)
        best = np.sort(keys if len(keys) <= most else np.partition(keys, most)[:most])
        chosen: list[int] = (best & 0xFFFFFFFF).tolist()
        return chosen

    @lru_cache(maxsize=64)  # noqa: B019 - one object per server
    def proposed(self, type_: str) -> list[Named]:
        """The dates of the kinds, then the properties of all statements of entities with a type, most frequent first.

        The type "", or one that no entity has, stands for all entities.
        """
        kb, asked = self.kb, np.array([int(type_[1:]) if QID.fullmatch(type_) else -1], np.int64)
        kind = next((kind for one, kind in self.kinds.items() if one.id == type_), None)
        pairs = np.flatnonzero(self._is_type & (kb.pair_value == kb.items(asked)[0]))
        if kind is not None:
            chosen = kb.kind == kind.number
        else:
            at = np.flatnonzero(np.isin(kb.statements.values, pairs)) if len(pairs) else pairs
            chosen = np.zeros(len(kb), np.bool_)
            chosen[np.searchsorted(kb.statements.indptr, at, side="right") - 1] = True
            chosen |= not len(at)
        own = kb.statements.values[np.repeat(chosen, np.diff(kb.statements.indptr))]
        numbers, place = np.unique(kb.pair_property, return_inverse=True)
        often = np.bincount(place[own], minlength=len(numbers))
        order = np.argsort(-often, kind="stable")[: np.count_nonzero(often)]
        there = np.unique(kb.kind[chosen])
        dates = [number for one in listed() if one.number in there for number in (*one.begins[:1], *one.ends[:1])]
        used = dict.fromkeys([*dates, *numbers[order].tolist()])
        return [Named(f"P{number}", property_label(kb, number)) for number in used]

    @cached_property
    def _is_type(self) -> Bool:
        """Which pairs state a type of an entity, or an occupation."""
        return np.isin(self.kb.pair_property, [INSTANCE_OF, OCCUPATION]) & (self.kb.pair_value >= 0)

    @cached_property
    def _known_types(self) -> list[Named]:
        """The types of the kinds, then the classes and the occupations of entities, the most frequent first."""
        pairs = np.flatnonzero(self._is_type)
        pairs = pairs[np.argsort(-self.kb.pair_count[pairs], kind="stable")]
        items = dict.fromkeys(self.kb.pair_value[pairs].tolist())
        return list({one.id: one for one in (*self.kinds, *map(self._item, items))}.values())

    # values
    def extended(self, asked: Extension) -> dict[str, Any]:
        """The values of properties of entities."""
        known = [one for one in asked.properties if _PROPERTY.fullmatch(one.id)]
        meta = [Named(one.id, property_label(self.kb, int(one.id[1:]))) for one in known]
        rows: dict[str, Any] = {}
        for qid in dict.fromkeys(asked.ids):
            row = self.kb.row(qid)
            rows[qid] = {one.id: self._cells(row, int(one.id[1:]))[: one.most] if row >= 0 else [] for one in known}
        return {"meta": meta, "rows": rows}

    def _cells(self, row: int, number: int) -> list[Any]:
        kb, kind = self.kb, self.kb.kind_of(row)
        if number in (*kind.begins, *kind.ends):
            date = lifetime(kb, row)[number not in kind.begins]
            if date is None:
                return []
            return [{"date": f"{date}T00:00:00+00:00"} if date.count("-", 1) == 2 else {"str": date}]
        values = values_of(kb, row, number)
        return [self._item(value) if value >= 0 else {"str": kb.strings[~value]} for value in values]
