"""A KB of a few people, and items that are no entities of it, made in memory: as much as finding names needs."""

from __future__ import annotations

import numpy as np

from namesake.kb.columns.column_files import Strings
from namesake.kb.columns.derived import phrases
from namesake.kb.columns.layout import NameColumns
from namesake.kb.ids import Ids
from namesake.kb.names.build_index import EntityNames, build_misspellings, build_names
from namesake.kb.names.index import NameIndex
from namesake.kb.names.non_people import MOST_TOKENS, NonPeople, build_non_people
from namesake.kb.names.normalise import normalise
from namesake.kb.names.short_forms import FormEntries, count_tokens, list_forms
from namesake.kernels.names.index import hash_names
from namesake.language import English
from test_names import InMemory, column_of_lists


class SmallKB:
    """People by label with fame and aliases, other items by name with fame, and texts of ordinary words."""

    def __init__(
        self,
        people: dict[str, tuple[float, list[str]]],
        things: dict[str, float] = {},  # noqa: B006
        prose: list[str] = [],  # noqa: B006
    ) -> None:
        self.labels, self.ids = list(people), Ids()
        self.fame = np.array([fame for fame, _ in people.values()], np.float32)
        self.entity_item = np.arange(len(people), dtype=np.int32)
        self.item_labels = Strings.of(people)
        self.aliases, self.alias_texts = column_of_lists([aliases for _, aliases in people.values()])
        self.qids = np.arange(1, len(people) + 1, dtype=np.int64) * 10
        spelled = EntityNames.of(English, self.item_labels, self.aliases, self.alias_texts)
        named = Strings.of(normalise(name) for name in things)
        made = build_names(spelled, named)
        everybody, bits = np.ones(len(people), np.bool_), made[NameColumns.prefixes]
        entries = FormEntries(len(spelled.texts))
        tokens = list_forms(spelled, everybody, self.fame.astype(np.float64), bits, entries)
        made |= entries.columns() | count_tokens(tokens, [(Strings.of(prose), np.ones(len(prose), np.bool_))])
        fame = np.array(list(things.values()))
        hashes = hash_names(named.data, named.offsets, MOST_TOKENS)
        kept = np.flatnonzero(hashes)  # as `thing_names` does: too short or too long a name has none
        made |= build_non_people(NonPeople(named.take(kept), hashes[kept], fame[kept]))
        made |= build_misspellings(made[NameColumns.texts], made[NameColumns.entities], self.fame.astype(np.int32))
        made[NameColumns.phrases] = phrases(NameColumns(InMemory(made)))
        self.names = NameIndex(InMemory(made), English)

    def rows(self, qids: np.ndarray) -> np.ndarray:
        return np.array([np.flatnonzero(self.qids == qid)[0] if qid in self.qids else -1 for qid in qids], np.int64)
