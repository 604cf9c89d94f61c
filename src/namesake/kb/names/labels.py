"""What entities are called, as they are labelled and normalised: made once, and read by all that index names."""

from __future__ import annotations

from dataclasses import dataclass

from namesake.kb.columns.column_files import Ragged, Strings, concatenate
from namesake.kb.names.normalise import normalise_many
from namesake.language import Language


@dataclass(frozen=True)
class Spelled:
    """The label of each entity, the rows of its aliases, and all of these texts: labels first, then the aliases."""

    language: Language
    labels: Strings
    aliases: Ragged
    alias_texts: Strings
    texts: Strings
    normalised: Strings

    @classmethod
    def of(cls, language: Language, labels: Strings, aliases: Ragged, alias_texts: Strings) -> Spelled:
        """The names of entities in a language: one label for each, and its aliases' rows in `alias_texts`."""
        texts = concatenate([labels, alias_texts])
        return cls(language, labels, aliases, alias_texts, texts, normalise_many(texts))
