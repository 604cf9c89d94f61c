"""Languages: the words and settings of a language are one object, which a KB's manifest names.

Each language that ships is a TOML file in this folder.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from namesake.errors import NamesakeError

Words = frozenset[str]
NO_WORDS: Words = frozenset()

MOST_LABELS = 4
"""The largest number of label languages that the dump scanner can keep."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Language:
    """One language. Words are in lower case; words of names are normalised (`kb.names.normalise`), without accents."""

    name: str
    """The name in a KB's manifest, such as en."""

    # Wikidata and Wikipedia
    labels: tuple[str, ...]
    """The Wikidata languages whose labels, descriptions and aliases are kept, the preferred one first."""
    wikipedia: str
    """Its Wikipedia among the sitelinks, such as enwiki."""

    # words
    stop_words: Words
    """Words that do not characterise an article."""
    stemmer: str | None = None
    """The algorithm of PyStemmer; None if there is none."""
    lemmas: str | None = None
    """The language of simplemma; None if there is none."""

    # sentences: words that decide whether the period after them ends a sentence
    titles_before_names: Words
    """Abbreviations that a name follows, so that they do not end a sentence."""
    abbreviations: Words
    """Abbreviations that end a sentence only if one of `starters` opens the next."""
    before_numbers: Words
    """Abbreviations that a number may follow: No. 5, Apr. 1."""
    starters: Words
    """Words that open sentences."""
    always_capital: Words
    """Words with a capital anywhere in a sentence, which is no sign of a new one: I."""

    # names
    honorifics: Words
    """Titles before a name, of one or two words."""
    suffixes: Words
    """Words after a name: generations, degrees, memberships, orders; of one or two words."""
    connectors: Words
    """Words after a title that make it part of a name: Queen of England, King of Pop."""
    article: str
    """The word before a peerage: the 16th Earl of Kinnoull."""
    peerages: tuple[str, ...]
    """The beginnings of words for peerages: baron stands also for baroness and baronet."""
    nicknames: tuple[tuple[str, ...], ...]
    """First names that stand for each other: the formal one, then its short and pet forms."""
    function_words: Words
    """Words with which a name hardly ever begins: articles, prepositions, pronouns, auxiliary verbs …"""
    not_a_person: Words
    """Words after the name of a company, a place or a prize: Walt Disney Company, Arthur Ashe Stadium."""
    before_not_a_person: Words
    """Words between the two: Abraham Lincoln High School, John Lennon International Airport."""
    particles: Words
    """Words in or before a surname: van der Bellen, bin Salman."""
    numerals: Words
    """Numerals of kings and popes: Charles II."""
    generations: Words
    """Numerals that also number the members of a family: Henry Ford II."""
    head_ends: Words
    """Words that end the head of a name: Catherine the Great, Charles II of England."""
    possessive: str
    """The letter of a possessive after an apostrophe; empty if there is none."""
    cyrillic: str
    """The romanisation of each letter of `kb.names.index.CYRILLIC`, with spaces between; - for none."""

    # names in raw text; a rule whose list is empty finds nothing
    born: Words = NO_WORDS
    """Phrases right after a name and before a year of birth: was born in 1964, (b. 1964)."""
    died: Words = NO_WORDS
    """Phrases before a year of death."""
    name_titles: Words = NO_WORDS
    """Titles that make the word after them a name: President Bush, Queen Caroline."""
    lower_titles: Words = NO_WORDS
    """Those of `name_titles` that also count in lower case: "king Ferdinand", but not "count Ferdinand"."""
    roles: Words = NO_WORDS
    """Words before a name without a comma: striker Messi, his wife Melania."""
    in_places: Words = NO_WORDS
    """Words before a place: in, near, northern."""
    to_places: Words = NO_WORDS
    """Words before a place or a person: to, from."""
    dates: Words = NO_WORDS
    """Days, months, seasons: hardly ever names of people."""
    never_names: Words = NO_WORDS
    """Other words with a capital that are hardly ever names of people: British, Internet."""
    firm_words: Words = NO_WORDS
    """Further words, for raw text, that make a name that of a company, a government or another entity."""
    of_words: Words = NO_WORDS
    """Words between a name and its place: Charles of England."""
    institutions: Words = NO_WORDS
    """Nouns that stand at the end of a name or before `of_words`: Justice Department, Department of Justice."""
    legal_forms: Words = NO_WORDS
    """Words that the name of an organisation may lack: legal forms, kinds of clubs."""
    team_words: Words = NO_WORDS
    """Words in the names of teams."""
    national: Words = NO_WORDS
    """Words after the country in the name of a national team."""
    sports: Words = NO_WORDS
    """Words after the name of a team, or before `national`, that it may lack: Utah Utes football, men's national."""
    demonyms: Mapping[str, Words] = field(default_factory=dict)
    """Adjectives, peoples and abbreviations of places, by the normalised label of the place: france: french."""
    peoples: Words = NO_WORDS
    """Words after a demonym in the name of a people: Thai people."""
    and_words: Words = NO_WORDS
    """Words between two names: France and Germany."""
    after_companies: Words = NO_WORDS
    """Words in lower case after a company's name: Calvin Klein owner, Dell shares."""
    by_words: Words = NO_WORDS
    """Words before the author of a text."""
    credits: Words = NO_WORDS
    """Words before `by_words` or a colon, or next to a slash: Reporting by, Photo: …, …/AP."""
    others: Words = NO_WORDS
    """Words before a name that an earlier mention means another entity with: the other Chris Evans."""
    determiners: Words = NO_WORDS
    """Words between the comma after a name and a noun that describes its entity: Michael Jackson, a British general."""
    journalists: Words = NO_WORDS
    """Words in descriptions of people who write or take pictures. Others in a byline are not in the KB."""

    # numbers of four digits: years, or not
    measures: Words = NO_WORDS
    """Units and time zones after a number that is not a year: 1500 metres, 1400 GMT, 1500 BC."""
    counted: Words = NO_WORDS
    """Nouns that a number before them counts, unless one of `before_years` precedes it: 1500 people."""
    numbered: Words = NO_WORDS
    """Words before a number that identifies something, or is an amount of money: Flight 1549, No. 1500, USD 1500."""
    before_years: Words = NO_WORDS
    """Words that make the number after them a year, like those of `dates`: in 1996 people voted."""
    before_events: Words = NO_WORDS
    """Words before a year and a plural, besides `article` and `possessive`: the 2000 floods, their 1900 letters."""
    joined_to_years: Words = NO_WORDS
    """Words that a hyphen joins to a year; with others it is a number: 1990-present, but a 1500-seat hall."""

    # descriptions, from which `kb.kinds` computes kinds
    kind_nouns: Mapping[str, Words] = field(default_factory=dict)
    """Nouns that descriptions and names of classes of a kind end in: town, football club. Those of `other` are roles of
    people (poet), which no person is called by."""
    after_nouns: Words = NO_WORDS
    """Words after the noun that a description begins with: town in Italy, club based in Rome."""

    def __post_init__(self) -> None:
        """Raise an error if there are more label languages than can be kept."""
        if not 1 <= len(self.labels) <= MOST_LABELS:
            raise NamesakeError(f"{self.name}: {len(self.labels)} languages of labels; 1 to {MOST_LABELS} can be kept")

    @cached_property
    def title_words(self) -> Words:
        """The words of all titles: a name that has no other words ("Prime Minister") names no entity."""
        return frozenset(word for title in self.honorifics for word in title.split())


LANGUAGES: dict[str, Language] = {}
"""The registered languages by name."""


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
    table["demonyms"] = _word_lists(table.get("demonyms", {}))
    table |= {name: tuple(table[name]) for name in ("labels", "peerages")}
    table["kind_nouns"] = {kind: frozenset(nouns.split()) for kind, nouns in table.get("kind_nouns", {}).items()}
    return Language(**table | {"nicknames": tuple(tuple(names.split()) for names in table["nicknames"])})


def _word_lists(texts: dict[str, str]) -> dict[str, Words]:
    """Lists of words, with spaces between them; | stands for a space inside one."""
    return {name: frozenset(one.replace("|", " ") for one in text.split()) for name, text in texts.items()}


English = register(read_language(Path(__file__).with_name("english.toml")))
