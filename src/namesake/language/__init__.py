"""Languages: the words and settings of a language are one object, which a KB's manifest names.

Each language that ships is a TOML file in this folder; `english.toml` describes each field.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from namesake.errors import NamesakeError

Words = frozenset[str]
NO_WORDS: Words = frozenset()

MOST_LABELS = 4  # the largest number of label languages that the dump scanner can keep


@dataclass(frozen=True, eq=False, kw_only=True)
class Language:
    """One language. Words are in lower case; words of names are normalised (`kb.names.normalise`), without accents."""

    name: str

    # Wikidata and Wikipedia
    labels: tuple[str, ...]
    wikipedia: str

    # words
    stop_words: Words
    stemmer: str | None = None
    lemmas: str | None = None

    # sentences: words that decide whether the period after them ends a sentence
    titles_before_names: Words
    abbreviations: Words
    before_numbers: Words
    starters: Words
    always_capital: Words

    # names
    honorifics: Words
    suffixes: Words
    connectors: Words
    article: str
    peerages: tuple[str, ...]
    nicknames: tuple[tuple[str, ...], ...]
    function_words: Words
    not_a_person: Words
    before_not_a_person: Words
    particles: Words
    numerals: Words
    generations: Words
    head_ends: Words
    possessive: str
    cyrillic: str

    # names in raw text; a rule whose list is empty finds nothing
    born: Words = NO_WORDS
    died: Words = NO_WORDS
    name_titles: Words = NO_WORDS
    lower_titles: Words = NO_WORDS
    roles: Words = NO_WORDS
    in_places: Words = NO_WORDS
    to_places: Words = NO_WORDS
    dates: Words = NO_WORDS
    never_names: Words = NO_WORDS
    firm_words: Words = NO_WORDS
    of_words: Words = NO_WORDS
    institutions: Words = NO_WORDS
    legal_forms: Words = NO_WORDS
    team_words: Words = NO_WORDS
    national: Words = NO_WORDS
    sports: Words = NO_WORDS
    demonyms: Mapping[str, Words] = field(default_factory=dict)
    peoples: Words = NO_WORDS
    and_words: Words = NO_WORDS
    after_companies: Words = NO_WORDS
    by_words: Words = NO_WORDS
    credits: Words = NO_WORDS
    others: Words = NO_WORDS
    determiners: Words = NO_WORDS
    sport_words: Words = NO_WORDS
    journalists: Words = NO_WORDS

    # numbers of four digits: years, or not
    measures: Words = NO_WORDS
    counted: Words = NO_WORDS
    numbered: Words = NO_WORDS
    before_years: Words = NO_WORDS
    before_events: Words = NO_WORDS
    joined_to_years: Words = NO_WORDS

    # descriptions, from which `kb.kinds` computes kinds
    kind_nouns: Mapping[str, Words] = field(default_factory=dict)
    after_nouns: Words = NO_WORDS

    def __post_init__(self) -> None:
        """Raise an error if there are more label languages than can be kept."""
        if not 1 <= len(self.labels) <= MOST_LABELS:
            raise NamesakeError(f"{self.name}: {len(self.labels)} languages of labels; 1 to {MOST_LABELS} can be kept")

    @cached_property
    def title_words(self) -> Words:
        """The words of all titles: a name that has no other words ("Prime Minister") names no entity."""
        return frozenset(word for title in self.honorifics for word in title.split())


LANGUAGES: dict[str, Language] = {}  # the registered languages by name


def register(language: Language) -> Language:
    """Make a language available to KBs."""
    LANGUAGES[language.name] = language
    return language


def of(name: str) -> Language:
    """The language with this name. Raises NamesakeError if it is not registered."""
    if name not in LANGUAGES:
        raise NamesakeError(f"no language {name!r}; known are {', '.join(sorted(LANGUAGES))}")
    return LANGUAGES[name]


def read_language(path: Path) -> Language:
    """The language in a TOML file: the fields of `Language`, and word lists in the table `words`."""
    table = tomllib.loads(path.read_text(encoding="utf-8"))
    table |= _word_lists(table.pop("words"))
    table |= {name: _word_lists(table.get(name, {})) for name in ("demonyms", "kind_nouns")}
    table |= {name: tuple(table[name]) for name in ("labels", "peerages")}
    return Language(**table | {"nicknames": tuple(tuple(names.split()) for names in table["nicknames"])})


def _word_lists(texts: dict[str, str]) -> dict[str, Words]:
    """Lists of words, with spaces between them; | stands for a space inside one."""
    return {name: frozenset(one.replace("|", " ") for one in text.split()) for name, text in texts.items()}


English = register(read_language(Path(__file__).with_name("english.toml")))
