"""What the parts of a score are called to a reader who has not read the paper."""

from __future__ import annotations

PARTS = {
    "Words": "words of the text",
    "Sentence": "words beside the name",
    "Company": "shared with people in the text",
    "Fame": "how well known",
    "Record": "how much Wikidata says",
    "Early": "added late to Wikidata",
    "Alias": "an alias, not the label",
    "Variant": "a variant of the name",
    "Match": "how the name matches",
    "Quality": "how well the name fits",
    "Era": "lived at another time",
    "Vital": "dates told in the text",
    "Office": "held that office then",
    "Tenure": "in office then",
    "Born": "born after the text",
    "Dead": "dead before the text",
    "IScore": "words of the text",
    "NIScore": "words beside the name",
    "EEIScore": "shared with people in the text",
    "NS": "Wikimedia pages",
    "NP": "properties in Wikidata",
    "PR_WP": "rank in Wikipedia",
    "PR_WD": "rank in Wikidata",
    "LQID": "lower QID",
    "Constant": "where everyone starts",
    "nil": "where everyone starts",
    "alone": "beside a single candidate",
    "Expected": "strangers of that name",
    "Length": "how much text there is",
    "NameFame": "how well known its bearers are",
    "GoesOn": "the name goes on",
    "Comes": "the name begins earlier",
    "Suffix": "Jr. or II follows",
    "Byline": "who wrote the text",
    "Thing": "a thing of that name",
    "ThingShare": "a better known thing of that name",
    "Place": "stands where places stand",
    "Lower": "an ordinary word",
    "OneWord": "a single word",
    "Bearers": "how many bear it",
    "FirstName": "a first name alone",
    "Role": "a role stands before it",
    "Title": "a title stands before it",
    "Wide": "part of a longer name",
    "Dropped": "more words than the known name",
    "Spelled": "spelled otherwise",
}
"""By the name that recipes have for them; a part that is not here is called as in its recipe."""


def part_name(part: str) -> str:
    """A part in plain words."""
    return PARTS.get(part, part)
