"""Namesake tells you which John Smith: links from names in text to Wikidata, each with its reason.

>>> from namesake import KB, Linker
>>> linker = Linker(KB.open("kb"))
>>> linker.link_text("Michael Jordan dunked for the Bulls.")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from namesake.errors import NamesakeError

if TYPE_CHECKING:
    from namesake.articles.builder import Mention
    from namesake.kb.build import build
    from namesake.kb.store import KB
    from namesake.linker import Link, Linker
    from namesake.recipe import Recipe
    from namesake.scorers import scorer

__version__ = "0.1.0"
__all__ = ["KB", "Link", "Linker", "Mention", "NamesakeError", "Recipe", "build", "scorer"]

_WINDOW = {
    "KB": ("namesake.kb.store", "KB"),
    "Link": ("namesake.linker", "Link"),
    "Linker": ("namesake.linker", "Linker"),
    "Mention": ("namesake.articles.builder", "Mention"),
    "Recipe": ("namesake.recipe", "Recipe"),
    "build": ("namesake.kb.build", "build"),
    "scorer": ("namesake.scorers", "scorer"),
}


def __getattr__(name: str) -> Any:
    """Import what is asked for when it is asked for: opening a KB needs no compiler."""
    if name not in _WINDOW:
        raise AttributeError(f"module 'namesake' has no attribute {name!r}")
    module, attribute = _WINDOW[name]
    return getattr(import_module(module), attribute)
