"""What the parts of a score are called to a reader who has not read the paper."""

from __future__ import annotations

PARTS = {
    "Words": "words of the text",
    "Sentence": "words nearby",
    "Company": "shared with others",
    "Fame": "how well known",
    "Record": "size of the record",
    "Early": "a late entry",
    "Alias": "an alias",
    "Variant": "a name variant",
    "PartialName": "another's full name",
    "NamedInFull": "named in full elsewhere",
    "Match": "fit of the name",
    "Quality": "fit of the name",
    "Era": "another time",
    "Vital": "dates of the life",
    "Office": "office held then",
    "Tenure": "in office then",
    "Born": "born later",
    "Dead": "dead by then",
    "IScore": "words of the text",
    "NIScore": "words nearby",
    "EEIScore": "shared with others",
    "NS": "Wikimedia pages",
    "NP": "properties in Wikidata",
    "PR_WP": "rank in Wikipedia",
    "PR_WD": "rank in Wikidata",
    "LQID": "lower QID",
    "Constant": "starting point",
    "nil": "starting point",
    "alone": "a single candidate",
    "Expected": "strangers so named",
    "Length": "amount of text",
    "NameFame": "fame of the name",
    "GoesOn": "the name goes on",
    "Comes": "the name begins earlier",
    "Suffix": "Jr. or II follows",
    "Byline": "who wrote the text",
    "Thing": "a thing so named",
    "ThingShare": "a better known thing",
    "Place": "stands where places stand",
    "Lower": "an ordinary word",
    "OneWord": "a single word",
    "Bearers": "how many bear it",
    "FirstName": "a first name alone",
    "Role": "a role stands before it",
    "Title": "a title stands before it",
    "Wide": "part of a longer name",
    "Dropped": "extra words",
    "Spelled": "spelled otherwise",
    "Apart": "words not shared",
}
"""By the name that recipes have for them; a part that is not here is called as in its recipe."""


def part_name(part: str) -> str:
    """A part in plain words."""
    return PARTS.get(part, part)


SOURCES = {
    "begins names": "people whose name begins like this",
    "ends names": "people whose name ends like this",
}
"""What doubts say of where their numbers come from."""


def source_name(source: str) -> str:
    """A source of a match in plain words."""
    return SOURCES.get(source, source)
