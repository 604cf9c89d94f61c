"""Numbers of Wikidata: properties and classes, precisions of dates, limits."""

HUMAN = 5
GENDER, COUNTRY, INSTANCE_OF, OCCUPATION, SUBCLASS_OF = 21, 27, 31, 106, 279
BIRTH_DATE, DEATH_DATE, START_TIME, END_TIME, POPULATION = 569, 570, 580, 582, 1082
LEAGUE, SPORT, DEMONYM = 118, 641, 1549
COORDINATES, PUBLICATION_DATE = 625, 577
LARGEST_ID = 2**31 - 1
REVISION_DIGITS = 18
FIRST_OWN = 1 << 40  # the number of the first own entity of a KB, above every QID

DAY, MONTH, YEAR, DECADE, CENTURY, MILLENNIUM = 11, 10, 9, 8, 7, 6
LAST_YEAR = 200_000
MISSING, FOREVER = -(2**31), 2**31 - 1  # no such day; the last day of a period without an end

DECIDING_END, TYPE_AT, BIT_MASK = 1 << 14, 5, 31
"""For the table of properties that decide a kind: its size, and how an entry has a type of values and a bit."""
