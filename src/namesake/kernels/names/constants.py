"""Numbers that kernels, the name index and the detector share, each declared once."""

import numpy as np

MONONYM, SURNAME, HEAD, FIRST_NAME, PAIR, LAST_TWO, BEGIN, CALLED, NICK, ALIAS_SURNAME = range(10)
ACRONYM, NO_SUFFIX, TAIL, OPENING, TEAM_PLACE, TEAM_NICKNAME, DEMONYM = range(10, 17)
NO_POSSESSIVE, NO_YEAR, NATIONAL_TEAM, TEAM_DEMONYM, LAST_WORD = range(17, 22)
"""Short forms of names, as in the column `short.entity.form`; `kb.names.short_forms.FORMS` describes them."""
OF_TEAMS = (TEAM_PLACE, TEAM_NICKNAME, NATIONAL_TEAM, TEAM_DEMONYM)
"""Short forms that only the names of teams have."""
SHORT_FORMS = {
    "Mononym": "its label of one word",
    "Surname": "its surname",
    "NameHead": 'the part of its name before a comma, "of" or "the"',
    "FirstName": "its first name",
    "FirstAndLast": "its first and last name without those between",
    "LastTwoNames": "its last two names",
    "FirstTwoNames": "its first two names",
    "CalledName": "an alias of one word that is in its label",
    "Nickname": "an alias of one word that is not in its label",
    "AliasSurname": "the last word of an alias",
    "Acronym": "the first letters of its name",
    "WithoutSuffix": "its name without a legal form or an article",
    "NameTail": "the end of its name",
    "NameOpening": "the beginning of its name",
    "TeamPlace": "the place in the name of a team",
    "TeamNickname": "the name of a team without its place",
    "Demonym": "an adjective, the people or an abbreviation of the place",
    "WithoutPossessive": "its name without the s of a possessive",
    "WithoutYear": "its name without a year",
    "NationalTeam": "the country of a national team",
    "TeamDemonym": "an adjective or the people of the country of a national team",
    "LastWord": "the last word of its name",
}
"""The names of their scorers, in the same order, and what the name in the text is."""

LABEL, ALIAS, BARE_LABEL, BARE_ALIAS = range(4)
"""What a name is to an entity, as in the column `name.entity.kind`: a bare name lacks titles, suffixes or brackets."""
KIND_QUALITY = np.array([1.0, 0.95, 0.9, 0.85])
"""Quality of an exact match by these kinds."""

SHORT, SIMILAR = 4, 63
"""Numbers of forms of names beyond these: a short form is SHORT + its number, a variant or misspelling is SIMILAR."""
FORM_QUALITY = np.append(KIND_QUALITY, np.full(SIMILAR - 3, 0.7)).astype(np.float32)
"""Quality of a match by form; a variant has its own."""
FORM_WEIGHT = np.exp([2.0, 1.2, 1.0, 0.8, *([0.0] * (SIMILAR - 3))])
FORM_WEIGHT[[SHORT + form for form in OF_TEAMS]] = np.exp(1.5)
"""The factor of 1 + fame when the best candidates of a name are kept, by form; a place is more famous than its team."""

FAME_STEPS = 20
"""The column `thing.fame` is round(20 log(1 + fame))."""

FEW_USES = 3
"""A word that is used in lower case more often is no name by itself in a text without capitals."""

FIRM_WORDS = 3
"""How many tokens after a name may contain the word that makes it the name of a company."""
