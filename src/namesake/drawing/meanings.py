"""What each colour means, in one place: notebooks, the page and reports all read it here.

Blue is a person, the deeper the surer; grey and dashed is nobody; yellow is what matched in the text; green speaks for
a candidate or is right, orange speaks against it or is wrong. Series of plots have colours of their own.
"""

from __future__ import annotations

LIGHT = {
    "ink": "#1b2430",
    "soft": "#566273",
    "paper": "#fcfcfa",
    "band": "#f2f3ef",
    "rule": "#d8dbd4",
    "person": "#0b5c99",
    "sure": "#b9dcf6",
    "likely": "#d9ecfa",
    "faint": "#edf5fb",
    "nobody": "#626c78",
    "match": "#ffe58a",
    "for": "#00775a",
    "against": "#b04a00",
}
DARK = {
    "ink": "#e7eaee",
    "soft": "#a3aebb",
    "paper": "#14181e",
    "band": "#1c222a",
    "rule": "#38414c",
    "person": "#7cc4f5",
    "sure": "#1b4f7a",
    "likely": "#1b3d59",
    "faint": "#1b2d3d",
    "nobody": "#929eab",
    "match": "#6b5a10",
    "for": "#3ccfa0",
    "against": "#f0a04b",
}
SERIES_LIGHT = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58900", "#56b4e9", "#7a5195", "#444444")
SERIES_DARK = ("#56b4e9", "#e69f00", "#2fc79a", "#e39cc4", "#f0e442", "#3d8fd1", "#b79ad6", "#bbbbbb")
"""Colours of methods and corpora in plots: the first of them is the first method of a report, in all its plots."""

GRADES = (("sure", 0.9), ("likely", 0.7), ("faint", 0.0))
"""How sure an answer is, from which confidence: from surest to faintest."""
NOBODY = "nobody"

REASONS = {
    "no candidates": "nobody in the knowledge base bears this name",
    "none fits": "it is more likely somebody else, or no person at all, than any of these",
    "too close to call": "several fit, and none is likely enough",
    "not sure enough": "the best is not likely enough, though nobody else comes close",
    "not a person": "the text shows that this is no person",
}
"""Why a name is linked to nobody, in words."""


def grade(answered: bool, confidence: float | None) -> str:
    """The class of a name: how sure its answer is, or that it has none; without confidences every answer is sure."""
    if not answered:
        return NOBODY
    return next(name for name, least in GRADES if confidence is None or confidence >= least)


def percent(confidence: float | None) -> str:
    """A probability as a person reads it: never quite certain."""
    if confidence is None:
        return ""
    return ">99 %" if confidence > 0.99 else f"{100 * confidence:.0f} %"


def variables(under: str = ":root", themes: tuple[str, str] | None = None) -> str:
    """The colours as variables of CSS, for light readers and dark ones; `under` is the selector that has them.

    `themes` are selectors of what is around it where a page is light, and dark: they count more than the system.
    """
    light = LIGHT | {f"s{i}": colour for i, colour in enumerate(SERIES_LIGHT)}
    dark = DARK | {f"s{i}": colour for i, colour in enumerate(SERIES_DARK)}
    both = [" ".join(f"--{name}: {colour};" for name, colour in theme.items()) for theme in (light, dark)]
    rules = [
        f"{under} {{ color-scheme: light dark; {both[0]} }}\n",
        f"@media (prefers-color-scheme: dark) {{ {under} {{ {both[1]} }} }}\n",
    ]
    if themes is not None:
        schemes = zip(themes, ("light", "dark"), both, strict=True)
        rules += [f"{around} {under} {{ color-scheme: {scheme}; {own} }}\n" for around, scheme, own in schemes]
    return "".join(rules)
