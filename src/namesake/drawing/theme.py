"""Style sheets, and common wording, of notebooks, the page, the review and reports."""

from __future__ import annotations

from functools import cache
from pathlib import Path

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
