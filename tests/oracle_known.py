"""What a KB's columns know about names and words, as dictionaries."""

from functools import cache

import numpy as np

from namesake.kernels.hash import hash_bytes
from namesake.kernels.names.index import name_hash
from namesake.language import English
from oracle_tokens import Token, Tokeniser


@cache
def key_of(name: str) -> int:
    data = np.frombuffer(name.encode(), np.uint8)
    return int(name_hash(data, 0, len(data)))


@cache
def token_key(word: str) -> int:
    data = np.frombuffer(word.encode(), np.uint8)
    return int(hash_bytes(data, 0, len(data)))


def slip(written: str, known: str) -> float:
    """The quality of a word with one letter more, less, another, or two swapped; 0 where it differs by more."""
    one, two = written.encode(), known.encode()
    same = next((i for i, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    a, b = one[same:], two[same:]
    if a != b and (a[1:] == b or a == b[1:]):
        umlaut = same and max(a, b, key=len)[:1] == b"e" and two[same - 1] in b"aou"
        return 0.95 if umlaut else 0.6
    swapped = len(a) > 1 and a[1::-1] == b[:2] and a[2:] == b[2:]
    return 0.6 if a[1:] == b[1:] or swapped else 0.0


class Known:
    """A KB's columns as dictionaries: who bears a name or a short form, how famous a thing of that name is …"""

    def __init__(self, kb) -> None:
        index = kb.names
        self.kb = kb
        self.names = {index.texts[n]: n for n in range(len(index))}
        self.percent = index.person
        self.fame = kb.fame
        shorts = np.flatnonzero(index.short_slots >= 0)
        self.shorts = {int(index.short_hashes[s]): int(index.short_slots[s]) for s in shorts}
        things = np.flatnonzero(index.thing_hashes)
        fames = np.expm1(np.arange(256) / 20)
        self.things = {
            int(index.thing_hashes[s]): (float(fames[index.thing_fame[s]]), int(index.thing_kind[s])) for s in things
        }
        self.slips: dict[int, list[int]] = {}
        for key, name in zip(index.misspelling_hashes.tolist(), index.misspelling_names.tolist(), strict=True):
            self.slips.setdefault(key, []).append(name)
        self.nicknames = {
            one: sorted({other for names in English.nicknames if one in names for other in names} - {one})
            for names in English.nicknames
            for one in names
        }
        tokens = np.flatnonzero(index.token_hashes)
        self.tokens = {
            int(index.token_hashes[s]): tuple(
                int(column[s]) for column in (index.token_first, index.token_last, index.token_lower)
            )
            for s in tokens
        }

    def label(self, row: int) -> list[Token]:
        return Tokeniser(self.kb.item_labels[int(self.kb.entity_item[row])]).run()

    def words_of(self, row: int) -> set[str]:
        """All words of a person's label and aliases."""
        aliases = [self.kb.alias_texts[int(a)] for a in self.kb.aliases[row]]
        words = {token.text for alias in aliases for token in Tokeniser(alias).run()}
        return words | {token.text for token in self.label(row)}

    def bearers(self, name: str) -> list[tuple[int, int]]:
        """Who bears a name, and the kind; bare forms only where nobody bears it outright."""
        everybody = self.everybody(name)
        return [bearer for bearer in everybody if bearer[1] <= 1] or everybody

    def everybody(self, name: str) -> list[tuple[int, int]]:
        """Who bears a name, bare forms included, and the kind."""
        if name not in self.names:
            return []
        n, entities = self.names[name], self.kb.names.entities
        at = range(entities.indptr[n], entities.indptr[n + 1])
        return [(int(entities.values[k]), int(self.kb.names.kinds[k])) for k in at]

    def short(self, name: str) -> list[tuple[int, int, float]]:
        """Who bears a short form, the form, and the weight: the heaviest first."""
        short = self.shorts.get(key_of(name))
        if short is None:
            return []
        index = self.kb.names
        at = range(index.short_entities.indptr[short], index.short_entities.indptr[short + 1])
        return [
            (int(index.short_entities.values[k]), int(index.short_forms[k]), float(index.short_weights[k])) for k in at
        ]

    def count(self, name: str) -> int:
        return int(self.kb.names.short_count[self.shorts[key_of(name)]])

    def thing(self, name: str) -> float:
        return self.things.get(key_of(name), (0.0, 0))[0]

    def kind(self, name: str) -> tuple[float, int]:
        return self.things.get(key_of(name), (0.0, 0))

    def first(self, word: str) -> int:
        return self.tokens.get(token_key(word), (0, 0, 0))[0]

    def last(self, word: str) -> int:
        return self.tokens.get(token_key(word), (0, 0, 0))[1]

    def lower(self, word: str) -> int:
        return self.tokens.get(token_key(word), (0, 0, 0))[2]
