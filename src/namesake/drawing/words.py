"""What the parts of a score are called to a reader who has not read the paper."""

from __future__ import annotations

PARTS = {
    "ArticleWords": "words of the text",
    "SentenceWords": "words nearby",
    "SharedStatements": "shared with others",
    "Fame": "how well known",
    "StatementCount": "size of the record",
    "ItemAge": "a late entry",
    "AliasName": "an alias",
    "VariantName": "a name variant",
    "PartialName": "another's full name",
    "NamedInFull": "named in full elsewhere",
    "NameMatchQuality": "fit of the name",
    "YearsFromLifetime": "another time",
    "LifeDatesMatch": "dates of the life",
    "OfficeHeld": "office held then",
    "NotYetBorn": "born later",
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
    "ExpectedNamesakes": "strangers so named",
    "ArticleLength": "amount of text",
    "NameFame": "fame of the name",
    "NameContinues": "the name goes on",
    "FirstNameBefore": "the name begins earlier",
    "SuffixAfter": "Jr. or II follows",
    "Byline": "who wrote the text",
    "OtherEntityFame": "a thing so named",
    "OtherEntityShare": "a better known thing",
    "PlaceContext": "stands where places stand",
    "LowercaseUse": "an ordinary word",
    "OneWord": "a single word",
    "NamesakeCount": "how many bear it",
    "FirstNameOnly": "a first name alone",
    "RoleBefore": "a role stands before it",
    "TitleBefore": "a title stands before it",
    "VariantMatch": "part of a longer name",
    "ExtraWords": "extra words",
    "Misspelling": "spelled otherwise",
    "WordsNotShared": "words not shared",
    "PropertyValues": "values of the row",
    "EntityType": "type of the row",
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
