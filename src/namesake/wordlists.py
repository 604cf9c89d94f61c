"""Small lists of words that surround names: titles, suffixes, what makes a name a company or a place, nicknames.

All in the normalised form of `namesake.kb.names.normalise`, so they compare with its tokens directly.
"""


def _words(text: str) -> frozenset[str]:
    """The words of a text; `|` parts the words of an entry of two."""
    return frozenset(word.replace("|", " ") for word in text.split())


HONORIFICS = _words(
    """
    mr mrs ms miss mister madam madame mme monsieur herr frau fraulein senor senora senorita signor signora mx
    dr doctor prof professor sir dame lord lady hon honorable honourable rt right maitre esq
    rev reverend fr father sister brother mother pastor bishop archbishop cardinal pope rabbi imam sheikh sheik shaykh
    ayatollah mullah mufti swami guru saint st sri shri smt pandit ustad venerable deacon canon monsignor msgr
    president vice|president prime|minister premier chancellor minister secretary senator sen congressman congresswoman
    congressperson representative rep governor gov lt|gov lieutenant|governor mayor councillor councilman councilwoman
    councilor ambassador delegate speaker chairman chairwoman chairperson first|lady attorney|general
    king queen prince princess emperor empress tsar tsarina czar sultan shah emir baron baroness count countess
    duke duchess earl viscount viscountess marquess marquis marchioness archduke archduchess
    general gen colonel col major maj captain capt lieutenant lt sergeant sgt corporal cpl private pvt admiral adm
    commander cmdr commodore brigadier brig marshal field|marshal officer constable detective inspector sheriff
    judge justice chief|justice coach
    """
)
"""Titles that stand in front of a name."""

SUFFIXES = _words(
    """
    jr sr junior senior ii iii iv vi vii viii phd ph|d md dds jd mba esq esquire qc kc mp mep mla mlc tds
    cbe obe mbe kbe dbe gbe kcb kcmg gcmg cmg dso frs fba frcp
    """
)
"""What may follow a name: generations, degrees, memberships, orders."""
