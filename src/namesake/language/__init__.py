"""Languages: everything that is known of one is one object, which a KB's manifest names."""

from __future__ import annotations

from namesake.errors import NamesakeError
from namesake.language.english import English
from namesake.language.language import Language

__all__ = ["LANGUAGES", "English", "Language", "of", "register"]

LANGUAGES: dict[str, Language] = {}
"""The languages that are known, by name."""


def register(language: Language) -> Language:
    """Let KBs name a language."""
    LANGUAGES[language.name] = language
    return language


def of(name: str) -> Language:
    """The language of a name. Raises NamesakeError where it is not known."""
    if name not in LANGUAGES:
        raise NamesakeError(f"no language {name!r}; known are {', '.join(sorted(LANGUAGES))}")
    return LANGUAGES[name]


register(English)
