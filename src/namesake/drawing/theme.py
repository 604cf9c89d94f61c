"""What all HTML shares, in notebooks, the page, the review and reports: templates, style sheets and wording."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from namesake.kb import WIKIDATA
from namesake.printable import one_line

if TYPE_CHECKING:
    from jinja2 import Environment

GRADES = (("sure", 0.9), ("likely", 0.7), ("faint", 0.0))
"""Classes of answers and the confidence from which they apply, the most confident first."""
NIL = "nobody"
"""The class of names that are linked to NIL."""

REASONS = {
    "no candidates": "no entity in the knowledge base has this name",
    "none fits": "more likely another person, or no person, than any candidate",
    "too close to call": "several candidates fit, and none is likely enough",
    "not sure enough": "the best candidate is not likely enough, though no other is close",
    "not a person": "the text shows that this is not a person",
}
"""Why a name is linked to NIL, in words."""
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
"""The parts of a score in plain words; other parts have the name that their recipe gives them."""
SOURCES = {
    "begins names": "people whose name begins like this",
    "ends names": "people whose name ends like this",
}
"""Sources of the evidence for NIL in plain words."""


def part_name(part: str) -> str:
    """A part in plain words."""
    return PARTS.get(part, part)


def grade(answered: bool, confidence: float | None) -> str:
    """The class of a name. Without confidences, every answer has the first class."""
    if not answered:
        return NIL
    return next(name for name, least in GRADES if confidence is None or confidence >= least)


def percent(confidence: float | None) -> str:
    """A probability for people: never 100 %."""
    if confidence is None:
        return ""
    return ">99 %" if confidence > 0.99 else f"{100 * confidence:.0f} %"


NOTEBOOK = ".namesake" * 3
"""The selector of the box in a notebook; three times, to outweigh the notebook's own rules for tables and links."""


@cache
def style_sheet(*names: str, root: str = ":root", under: str = "body") -> str:
    """Style sheets of this package for HTML inside the selector `under`; `root` has the colours."""
    sheets = {name: (Path(__file__).parent / f"{name}.css").read_text(encoding="utf-8") for name in names}
    return "".join(sheet.replace("@ ", f"{root if name == 'colours' else under} ") for name, sheet in sheets.items())


def notebook_style() -> str:
    """The style sheet of what a notebook shows."""
    return style_sheet("colours", "style", "notebook", root=NOTEBOOK, under=NOTEBOOK)


def page_style() -> str:
    """The style sheet of whole pages."""
    return style_sheet("colours", "style")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parents[1]),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"line": one_line, "percent": percent, "part_name": part_name}
    environment.globals["WIKIDATA"] = WIKIDATA
    return environment


def render(template: str, **values: Any) -> str:
    """A template of the package, such as `drawing/candidates.html`, with its values.

    Texts are escaped unless the template says `safe`.
    """
    return _environment().get_template(template).render(values)
