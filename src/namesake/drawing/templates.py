"""HTML from Jinja2 templates. Jinja2 is loaded when the first page is drawn."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from namesake.drawing.theme import percent
from namesake.drawing.words import part_name
from namesake.kb import WIKIDATA
from namesake.printable import one_line

if TYPE_CHECKING:
    from jinja2 import Environment


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
