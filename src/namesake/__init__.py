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
    from namesake.datasets.catalogue import convert_dataset, get_dataset, list_datasets
    from namesake.doubts import doubt
    from namesake.engines.file_linker import link_files
    from namesake.engines.folder import link_folder
    from namesake.engines.quote_speakers import disambiguate
    from namesake.frames import link_frame, reconcile_frame
    from namesake.kb.build import build as build_kb
    from namesake.kb.build import update as update_kb
    from namesake.kb.diff import diff as diff_kbs
    from namesake.kb.publish.pack import get as get_kb
    from namesake.kb.publish.pack import pack as pack_kb
    from namesake.kb.store import KB
    from namesake.kb.vectors.make import embed, walk
    from namesake.linker import Link, Linker
    from namesake.own_entities import add_entities, remove_entities, undo_addition
    from namesake.recipe import Recipe
    from namesake.scorers import scorer

__version__ = "0.1.0"
__all__ = ["KB", "Link", "Linker", "Mention", "NamesakeError", "Recipe", "doubt", "scorer"]
__all__ += ["disambiguate", "link_files", "link_folder", "link_frame", "reconcile", "reconcile_frame"]
__all__ += ["build_kb", "diff_kbs", "get_kb", "pack_kb", "update_kb"]
__all__ += ["add_entities", "remove_entities", "undo_addition"]
__all__ += ["ablate", "evaluate", "evaluate_text", "mistakes", "reproduce", "threshold", "tune"]
__all__ += ["convert_dataset", "embed", "get_dataset", "list_datasets", "walk"]

_NAMES = {
    "analysis.evaluate": "ablate evaluate evaluate_text reproduce",
    "analysis.mistakes": "mistakes",
    "analysis.tune": "threshold tune",
    "apps.reconcile_file": "reconcile",
    "articles.article": "Mention",
    "datasets.catalogue": "convert_dataset get_dataset list_datasets",
    "doubts": "doubt",
    "engines.file_linker": "link_files",
    "engines.folder": "link_folder",
    "engines.quote_speakers": "disambiguate",
    "frames": "link_frame reconcile_frame",
    "kb.build": "build_kb update_kb",
    "kb.diff": "diff_kbs",
    "kb.publish.pack": "get_kb pack_kb",
    "kb.store": "KB",
    "kb.vectors.make": "embed walk",
    "linker": "Link Linker",
    "own_entities": "add_entities remove_entities undo_addition",
    "recipe": "Recipe",
    "scorers": "scorer",
}
"""The public names of each module."""
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
_OWN_NAMES = {"build_kb": "build", "diff_kbs": "diff", "get_kb": "get", "pack_kb": "pack", "update_kb": "update"}
"""The names in their modules, if they differ."""


def __getattr__(name: str) -> object:
    """Import a name on first use: opening a KB does not load the compiler."""
    if name not in _HOMES:
        raise AttributeError(f"module 'namesake' has no attribute {name!r}")
    found: object = getattr(_import_module(f"namesake.{_HOMES[name]}"), _OWN_NAMES.get(name, name))
    if "numba" in _modules:  # a kernel may have to be compiled
        from namesake.compiling import announce_compiling as _announce_compiling

        _announce_compiling()
    return found


def __dir__() -> list[str]:
    """The public names."""
    return [*__all__, "__version__"]
