"""What the rest of the code knows about a language, as one object of data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from namesake.errors import NamesakeError

Words = frozenset[str]
NO_WORDS: Words = frozenset()

MOST_LABELS = 4
"""How many languages of labels the scanner of dumps has room for."""


@dataclass(frozen=True, eq=False)
class Language:
    """One language. Words are in lower case; those of names as `kb.spelling.normalise` writes them, without accents."""

    name: str
    """What a KB's manifest calls it, such as en."""

    # Wikidata and Wikipedia
    labels: tuple[str, ...]
    """The languages of labels, descriptions and aliases in Wikidata that are kept, the preferred first."""
    wikipedia: str
    """Its Wikipedia among the sitelinks, such as enwiki."""

    # words
    stop_words: Words
    """Words that say nothing about an article."""
    stemmer: str | None
    """The algorithm of PyStemmer that makes stems; None where it has none."""
    lemmas: str | None
    """The language of simplemma that makes lemmas; None where it has none."""

    # sentences: what a word says about the period behind it
    titles_before_names: Words
    """Abbreviations that end no sentence: a name follows."""
    abbreviations: Words
    """Abbreviations that may end a sentence, if one of `starters` opens the next."""
    before_numbers: Words
    """Abbreviations of which a number may follow: No. 5, Apr. 1."""
    starters: Words
    """Words that open sentences."""
    always_capital: Words
    """Words that have a capital anywhere in a sentence, so that it opens none: I."""

    # names
    honorifics: Words
    """Titles that stand in front of a name; of one or two words."""
    suffixes: Words
    """What may follow a name: generations, degrees, memberships, orders; of one or two words."""
    connectors: Words
    """What follows a title that is no title but a name itself: Queen of England, King of Pop."""
    article: str
    """The word that may stand before a peerage: the 16th Earl of Kinnoull."""
    peerages: tuple[str, ...]
    """How words for peerages begin: baron, also baroness and baronet."""
    nicknames: tuple[tuple[str, ...], ...]
    """First names that may stand for each other: a formal one, then its short and pet forms."""
    function_words: Words
    """Words that hold sentences together: a name hardly ever begins with one."""
    ordinary_first_names: Words
    """First names that are words as well: in a text without capitals they do not stand for a person alone."""
    not_a_person: Words
    """What follows a name when it names a firm, a place, a prize: Walt Disney Company, Arthur Ashe Stadium."""
    before_not_a_person: Words
    """What may stand between the two: Abraham Lincoln High School, John Lennon International Airport."""
    particles: Words
    """Words inside or in front of a surname: van der Bellen, bin Salman."""
    numerals: Words
    """What counts kings and popes of one name: Charles II."""
    generations: Words
    """Those numerals that count namesakes of one family as well: Henry Ford II."""
    head_ends: Words
    """What ends the head of a name: Catherine the Great, Charles II of England."""
    possessive: str
    """The letter that makes a possessive behind an apostrophe; empty where there is none."""
    cyrillic: str
    """How the letters of `kb.variants.CYRILLIC` are written, with spaces between; - where one is not."""

    # names in raw text; without a list, the rule that reads it finds nothing
    born: Words = NO_WORDS
    """What stands before a year of birth, right behind a name: was born in 1964, (b. 1964)."""
    died: Words = NO_WORDS
    """What stands before a year of death."""
    name_titles: Words = NO_WORDS
    """Titles that make a name of one word behind them: President Bush, Queen Caroline."""
    royal_titles: Words = NO_WORDS
    """Those of them that stand before a given name."""
    lower_titles: Words = NO_WORDS
    """Those of them that count in lower case as well: "king Ferdinand", but not "count Ferdinand"."""
    noble_titles: Words = NO_WORDS
    """What may stand behind a comma and before "of" and a place: Louis VIII, Landgrave of Hesse."""
    saints: Words = NO_WORDS
    """Titles that places have as well: St. Louis."""
    roles: Words = NO_WORDS
    """What stands before a name without a comma: striker Messi, his wife Melania."""
    in_places: Words = NO_WORDS
    """What stands before a place: in, near, northern."""
    to_places: Words = NO_WORDS
    """What stands before places and people alike: to, from."""
    based: Words = NO_WORDS
    """What a hyphen joins to a place: Houston-based."""
    capital_districts: Words = NO_WORDS
    """What stands behind a comma and a place though it is no famous one: Washington, D.C."""
    dates: Words = NO_WORDS
    """Days, months, seasons: hardly ever anybody."""
    never_names: Words = NO_WORDS
    """Other words with a capital that are hardly ever anybody: British, Internet."""
    families: Words = NO_WORDS
    """Behind a surname: the family, nobody of it."""
    younger: Words = NO_WORDS
    """Behind a name that has none in the KB: probably another one of the family."""
    firm_words: Words = NO_WORDS
    """More of what makes a name a firm's, a government's or a thing's, in text that nobody has read before."""
    owned: Words = NO_WORDS
    """In lower case behind a name and before another capital: Calvin Klein owner PVH."""
    shares: Words = NO_WORDS
    """In lower case behind a name that is a firm's: Dell shares."""
    of_words: Words = NO_WORDS
    """What joins a name and its place: Charles of England."""
    and_words: Words = NO_WORDS
    """What joins two people: Bill and Hillary Clinton."""
    by_words: Words = NO_WORDS
    """What stands before the name of who wrote a text."""
    credits: Words = NO_WORDS
    """What stands before `by_words` or a colon, or beside a slash: Reporting by, Photo: …, …/AP."""
    others: Words = NO_WORDS
    """What says that somebody of the same name follows: the other Chris Evans."""
    men: Words = NO_WORDS
    """What tells that a surname is a man's: Mr before it, he behind it; not "his" and "him", which may be another's."""
    women: Words = NO_WORDS
    """The same for a woman."""
    journalists: Words = NO_WORDS
    """What the descriptions of those say who write and take pictures: others in a byline are strangers."""

    # numbers of four digits: years, or not
    measures: Words = NO_WORDS
    """Units and time zones behind a number that is no year: 1500 metres, 1400 GMT, 1500 BC."""
    counted: Words = NO_WORDS
    """Nouns that a number before them counts, unless one of `before_years` stands before it: 1500 people."""
    numbered: Words = NO_WORDS
    """Words before a number that identifies something, or is an amount of money: Flight 1549, No. 1500, USD 1500."""
    before_years: Words = NO_WORDS
    """Words that make the number behind them a year: in 1996 people voted. The words of `dates` do so as well."""
    before_events: Words = NO_WORDS
    """Words before a year and a plural, besides `article` and `possessive`: the 2000 floods, their 1900 letters."""
    joined_to_years: Words = NO_WORDS
    """Words that a hyphen joins to a year; others make it a number: 1990-present, but a 1500-seat hall."""

    def __post_init__(self) -> None:
        """Refuse more languages of labels than there is room for."""
        if not 1 <= len(self.labels) <= MOST_LABELS:
            raise NamesakeError(f"{self.name}: {len(self.labels)} languages of labels; 1 to {MOST_LABELS} can be kept")

    @cached_property
    def title_words(self) -> Words:
        """The words titles are made of: a name of nothing else is nobody's ("Prime Minister")."""
        return frozenset(word for title in self.honorifics for word in title.split())


def words(text: str) -> Words:
    """The words of a text, for the lists of a language; `|` parts the words of an entry of two."""
    return frozenset(word.replace("|", " ") for word in text.split())
