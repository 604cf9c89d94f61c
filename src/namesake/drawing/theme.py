"""What all HTML shares, in notebooks, the page, the review and reports: templates, style sheets and wording."""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from namesake.kb.ids import wikidata_page
from namesake.kinds import kinds
from namesake.printable import one_line

GRADES = (("sure", 0.9), ("likely", 0.7), ("faint", 0.0))
"""Classes of answers and the confidence from which they apply, the most confident first."""
NIL = "nil"  # the class of names that are linked to NIL

_WORDS = tomllib.loads((Path(__file__).parent / "words.toml").read_text(encoding="utf-8"))
REASONS: dict[str, str] = _WORDS["reasons"]
PARTS: dict[str, str] = _WORDS["parts"]
SOURCES: dict[str, str] = _WORDS["sources"]
GROUPS: dict[str, dict[str, Any]] = _WORDS["groups"]
"""Parts that say the same in a sentence, and the forms of that sentence."""


def nil_confidence(link: Mapping[str, Any]) -> float | None:
    """The confidence in NIL if it is the answer; None if the linker only did not decide between candidates."""
    if link["qid"] is not None or link["reason"] not in ("none fits", "not a person") or link["known"] is None:
        return None
    return 1.0 - float(link["known"])  # `known` is the probability of all candidates together


def grade(answered: bool, confidence: float | None) -> str:
    """The class of a name. Without confidences, every answer has the first class."""
    if not answered:
        return NIL
    return next(name for name, least in GRADES if confidence is None or confidence >= least)


def symbol(kind: str | None) -> str | None:
    """The symbol of the kind with this name, such as LOC; None without a kind."""
    return next((one.symbol for one in kinds() if one.name == kind), None)


def percent(confidence: float | None) -> str:
    """A probability for people: never 100 %, and 0 % only if it is 0."""
    if confidence is None:
        return ""
    if 0 < confidence < 0.005:
        return "<1 %"
    return ">99 %" if confidence > 0.99 else f"{100 * confidence:.0f} %"


NOTEBOOK = ".namesake" * 3
"""The selector of the box in a notebook; three times, to outweigh the notebook's own rules for tables and links."""


@cache
def style_sheet(*names: str, root: str = ":root", under: str = "body") -> str:
    """Style sheets of this package for HTML inside the selector `under`; `root` has the colours."""
    sheets = {name: (Path(__file__).parent / f"{name}.css").read_text(encoding="utf-8") for name in names}
    rules = "".join(f"@ [data-kind={kind.symbol}] {{ --kind: var(--{kind.colour}); }}\n" for kind in kinds())
    sheets |= {"style": sheets["style"] + rules} if "style" in names else {}
    return "".join(sheet.replace("@ ", f"{root if name == 'colours' else under} ") for name, sheet in sheets.items())


def notebook_style() -> str:
    """The style sheet of what a notebook shows."""
    return style_sheet("colours", "style", "notebook", root=NOTEBOOK, under=NOTEBOOK)


@cache
def _environment() -> Any:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    settings: dict[str, Any] = {"undefined": StrictUndefined, "trim_blocks": True, "lstrip_blocks": True}
    environment = Environment(loader=FileSystemLoader(Path(__file__).parents[1]), autoescape=True, **settings)
    environment.filters |= {"line": one_line, "percent": percent, "symbol": symbol}
    environment.globals |= {"wikidata_page": wikidata_page, "part_names": PARTS}
    return environment


def render(template: str, **values: Any) -> str:
    """A template of the package, such as `drawing/candidates.html`; texts are escaped unless it says `safe`."""
    return str(_environment().get_template(template).render(values))
