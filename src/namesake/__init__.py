"""Namesake links names in English text to Wikidata entities, and explains each link.

>>> from namesake import KB, Linker
>>> linker = Linker(KB.open("kb"))
>>> linker.link_text("Michael Jordan dunked for the Bulls.")
"""

from importlib import import_module as _import_module
from sys import modules as _modules
from typing import TYPE_CHECKING as _TYPE_CHECKING

from namesake.errors import NamesakeError

if _TYPE_CHECKING:
    from namesake.analysis.evaluate import ablate, evaluate, evaluate_text, reproduce
    from namesake.analysis.mistakes import mistakes
    from namesake.analysis.tune import threshold, tune
    from namesake.apps.reconcile_file import reconcile
    from namesake.articles.article import Mention
    from namesake.datasets.catalogue import get_dataset, list_datasets
    from namesake.datasets.convert import convert_dataset
    from namesake.doubts import doubt
    from namesake.engines.file_linker import link_files
    from namesake.engines.folder import link_folder
    from namesake.engines.quote_speakers import disambiguate
    from namesake.frames import link_frame, reconcile_frame
    from namesake.kb.build import build as build_kb
    from namesake.kb.publish.pack import get as get_kb
    from namesake.kb.publish.pack import pack as pack_kb
    from namesake.kb.store import KB
    from namesake.kb.vectors.make import embed, walk
    from namesake.linker import Link, Linker
    from namesake.recipe import Recipe
    from namesake.scorers import scorer

__version__ = "0.1.0"
__all__ = [
    "KB",
    "Link",
    "Linker",
    "Mention",
    "NamesakeError",
    "Recipe",
    "ablate",
    "build_kb",
    "convert_dataset",
    "disambiguate",
    "doubt",
    "embed",
    "evaluate",
    "evaluate_text",
    "get_dataset",
    "get_kb",
    "link_files",
    "link_folder",
    "link_frame",
    "list_datasets",
    "mistakes",
    "pack_kb",
    "reconcile",
    "reconcile_frame",
    "reproduce",
    "scorer",
    "threshold",
    "tune",
    "walk",
]

_HOMES = {
    "KB": "kb.store",
    "Link": "linker",
    "Linker": "linker",
    "Mention": "articles.article",
    "Recipe": "recipe",
    "ablate": "analysis.evaluate",
    "build_kb": "kb.build:build",
    "convert_dataset": "datasets.convert",
    "disambiguate": "engines.quote_speakers",
    "doubt": "doubts",
    "embed": "kb.vectors.make",
    "evaluate": "analysis.evaluate",
    "evaluate_text": "analysis.evaluate",
    "get_dataset": "datasets.catalogue",
    "get_kb": "kb.publish.pack:get",
    "link_files": "engines.file_linker",
    "link_folder": "engines.folder",
    "link_frame": "frames",
    "list_datasets": "datasets.catalogue",
    "mistakes": "analysis.mistakes",
    "pack_kb": "kb.publish.pack:pack",
    "reconcile": "apps.reconcile_file",
    "reconcile_frame": "frames",
    "reproduce": "analysis.evaluate",
    "scorer": "scorers",
    "threshold": "analysis.tune",
    "tune": "analysis.tune",
    "walk": "kb.vectors.make",
}
"""The module of each name, and its name there if that differs."""


def __getattr__(name: str) -> object:
    """Import a name on first use: opening a KB does not load the compiler."""
    if name not in _HOMES:
        raise AttributeError(f"module 'namesake' has no attribute {name!r}")
    module, _, own_name = _HOMES[name].partition(":")
    found: object = getattr(_import_module(f"namesake.{module}"), own_name or name)
    if "numba" in _modules:  # a kernel may have to be compiled
        from namesake.compiling import announce_compiling as _announce_compiling

        _announce_compiling()
    return found


def __dir__() -> list[str]:
    """The public names."""
    return [*__all__, "__version__"]
