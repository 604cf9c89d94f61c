"""Numbers that kernels, the name index and the detector share, each declared once."""

import numpy as np

MONONYM, SURNAME, HEAD, FIRST_NAME, PAIR, LAST_TWO, BEGIN, CALLED, NICK, ALIAS_SURNAME = range(10)
ACRONYM, NO_SUFFIX, TAIL, OPENING, TEAM_PLACE, TEAM_NICKNAME, DEMONYM = range(10, 17)
VARIANT, NO_YEAR, NATIONAL_TEAM, TEAM_DEMONYM, LAST_WORD = range(17, 22)
"""Short forms of names, as in the column `short.entity.form`; `kb.names.short_forms.FORMS` describes them."""

LABEL, ALIAS, BARE_LABEL, BARE_ALIAS = range(4)
"""What a name is to an entity, as in the column `name.entity.kind`: a bare name lacks titles, suffixes or brackets."""
KIND_QUALITY = np.array([1.0, 0.95, 0.9, 0.85])
"""Quality of an exact match by these kinds."""

FAME_STEPS = 20
"""The column `thing.fame` is round(20 log(1 + fame))."""

RULES = ("exact", "titled", "wide", "dropped", "spelled", "reversed", "company", "one", "nicknamed", "shared")
EXACT, TITLED, WIDE, DROPPED, SPELLED, REVERSED, COMPANY, ONE, NICKNAMED, SHARED = range(len(RULES))
"""How a mention was found. exact: the name as the KB has it; titled: a title and a word (President Bush); wide: part of
longer names (Siméon Poisson); dropped: the text has additional words (Frank Anthony Wilczek); spelled: another
spelling; reversed: surname first; company: Bill and Hillary Clinton; one: a single word; nicknamed: William "Bill"
Gates; shared: a surname of several people that the text names in full."""

FIRM_WORDS = 3
"""How many tokens after a name may contain the word that makes it the name of a company."""
ORDINARY_WORD = 3
"""From how many uses in lower case on a word is hardly a name."""
