"""The short forms of names: what each is called, and how much it weighs."""

from __future__ import annotations

from typing import NamedTuple


class Form(NamedTuple):
    """A way to bear a short form."""

    name: str
    weight: float
    """What an entity's fame is multiplied by."""


MONONYM, SURNAME, HEAD, FIRST, PAIR, SUFFIX, BEGIN, CALLED, NICK, ALIAS_SURNAME = range(10)

FORMS = (
    Form("mononym", 1.0),  # a label of one token: Rihanna
    Form("surname", 1.0),  # the last token of a label: Bolsonaro
    Form("head", 0.7),  # what stands before "of", "the" or a comma, and a king's name: Charles, Charles II
    Form("first", 0.15),  # the first token of a label
    Form("pair", 1.0),  # first and last token of three or more: Michael Brown of Michael E. Brown
    Form("suffix", 1.0),  # the last two of three or more, with all particles: van der Bellen
    Form("begin", 0.3),  # the first two of three or more: Francis Ford
    Form("called", 1.2),  # an alias of one token that is in the label: Lula
    Form("nick", 0.5),  # an alias of one token that is not: Daddy
    Form("alias surname", 0.4),  # the last token of an alias that shares another with the label: Bonaparte
)
"""The forms in the order of their numbers."""

OF_AN_ALIAS = 0.5
"""What a weight is multiplied by where an alias has the form (the last three forms are of aliases anyway)."""
