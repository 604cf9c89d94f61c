"""Declarations of the options that several commands share."""

import math
import re
from pathlib import Path
from typing import Annotated

import typer

from namesake.errors import NamesakeError

HELP = {
    "kb": "Folder of the KB. The default is $NAMESAKE_KB, or the embedded sample if that is not set.",
    "recipe": "Name of a shipped recipe, or path of a .toml file.",
    "threshold": "Minimum confidence of an answer: 0 to 1, or a calibrated one such as p95. The default is the "
    "recipe's.",
    "threads": "Number of threads; 0 means one per core.",
    "json": "Print JSON instead of text for people.",
    "as_json": "Print JSON instead of text for people.",
    "force": "Replace what is at the same place, once the new one is complete.",
    "mentions": "How to find names in articles that list no mentions: `names` (built-in detector), `spacy:MODEL`, "
    "or `given` (link listed mentions only).",
    "date": "Field of the date, such as published; or the date of articles that have none, such as 2016-12-26. "
    "By default the field is guessed.",
    "text": "Field of the text; a.b is field b within a. By default it is guessed.",
    "id": "Field of the id, such as url. By default it is guessed.",
    "title": "Field of the title, such as headline. By default it is guessed.",
    "encoding": "Encoding of CSV, TSV and text, such as cp1252. The default is UTF-8, or what a byte order mark "
    "indicates.",
    "articles": "Articles to link: JSONL (.gz .bz2 .zst) or Parquet.",
    "gold": "Right answers: JSONL with articleID, name and gold (index, QID or null).",
    "labelled": "Raw text with labels: JSONL files (.gz .bz2 .zst), or a folder of them; repeatable.",
    "out": "Folder for the report: report.md, report.html, tables.json and other files.",
    "samples": "Number of bootstrap samples.",
    "seed": "Seed of the bootstrap.",
    "split": "Use only gold of this split. The default is all gold.",
}
"""The help of shared options by the argument's name; the docstring of a command may have another help."""


def _recipes(incomplete: str) -> list[str]:
    """The shipped recipes whose names begin with this text, for shell completion."""
    from namesake.recipe import recipes

    return [name for name in recipes() if name.startswith(incomplete)]


Out = Annotated[Path, typer.Option("--out", "-o")]
OptionalOut = Annotated[Path | None, typer.Option("--out", "-o")]
Required = Annotated[Path, typer.Option()]
Positive = Annotated[int, typer.Option(min=1)]
Share = Annotated[float, typer.Option(min=0, max=1)]
Recipe = Annotated[str, typer.Option(autocompletion=_recipes)]
Threads = Annotated[int, typer.Option(min=0)]
Json = Annotated[bool, typer.Option("--json")]
MoreLabelled = Annotated[list[Path] | None, typer.Argument(help="More files of --labelled.", hidden=True)]
Samples = Annotated[int, typer.Option(min=100)]


def group(help: str) -> typer.Typer:
    """A command that has subcommands."""
    return typer.Typer(help=help, no_args_is_help=True, add_completion=False)


def listed(labelled: list[Path] | None, more: list[Path] | None) -> list[Path]:
    """All files of `--labelled A B C`: Click assigns the first to the option and the others to the argument."""
    if more and not labelled:
        raise NamesakeError(f"{more[0]}: unexpected file; if it is labelled text, write --labelled before it")
    return [*(labelled or ()), *(more or ())]


def threshold_of(text: str | None) -> float | str | None:
    """The value of `--threshold`: a number from 0 to 1, or the name of a calibrated threshold."""
    if text is None or re.fullmatch(r"p\d{1,2}", text, re.ASCII):
        return text
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1:
        raise NamesakeError(f"--threshold {text}: must be a number from 0 to 1, or a calibrated threshold such as p95")
    return number
