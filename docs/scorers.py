"""Write the tables of docs/recipes.md: scorers, evidence for NIL and former names. Run: python docs/scorers.py."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from namesake.doubts import DOUBTS
from namesake.scorers import SCORERS

PAGE = Path(__file__).with_name("recipes.md")


def table(heading: str, registry: Mapping[str, Any]) -> str:
    """The shipped declarations of a registry, one per row."""
    lines = [f"| {heading} | Definition |", "|---|---|"]
    for name, one in registry.items():
        if one.module.startswith("namesake."):
            needs = f" Needs {one.needs.what}." if one.needs else ""
            definition = f"{one.formula}{needs}".replace("|", r"\|")
            lines.append(f"| `{name}` | {definition} |")
    return "\n".join(lines)


def former_names() -> str:
    """The former and other names of the shipped scorers and kinds of evidence."""
    lines = ["| Former name | Name | Kind |", "|---|---|---|"]
    for kind, registry in (("scorer", SCORERS), ("evidence for NIL", DOUBTS)):
        for name, one in registry.items():
            if one.module.startswith("namesake."):
                lines += [f"| `{alias}` | `{name}` | {kind} |" for alias in one.aliases]
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with its tables written again."""
    tables = {"Scorer": table("Scorer", SCORERS), "Evidence": table("Evidence", DOUBTS), "Former": former_names()}
    for heading, lines in tables.items():
        begin, end = f"<!-- begin {heading}: python docs/scorers.py -->", f"<!-- end {heading} -->"
        before, _, rest = text.partition(begin)
        _, _, after = rest.partition(end)
        text = f"{before}{begin}\n\n{lines}\n\n{end}{after}"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
