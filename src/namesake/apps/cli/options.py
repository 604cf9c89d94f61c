"""Declarations of the options that several commands share."""

import math
import re
from pathlib import Path
from typing import Annotated

import typer

from namesake.errors import NamesakeError


def _recipes(incomplete: str) -> list[str]:
    """The shipped recipes whose names begin with this text, for shell completion."""
    from namesake.recipe import recipes

    return [name for name in recipes() if name.startswith(incomplete)]


# kinds of options, whose help stands with the command
Out = Annotated[Path, typer.Option("--out", "-o")]
OptionalOut = Annotated[Path | None, typer.Option("--out", "-o")]
Positive = Annotated[int, typer.Option(min=1)]
Share = Annotated[float, typer.Option(min=0, max=1)]

# what links
KB_HELP = "Folder of the KB. The default is $NAMESAKE_KB, or the embedded sample if that is not set."
Kb = Annotated[Path | None, typer.Option(help=KB_HELP)]
RECIPE_HELP = "Name of a shipped recipe, or path of a .toml file."
Recipe = Annotated[str, typer.Option(help=RECIPE_HELP, autocompletion=_recipes)]
THRESHOLD_HELP = (
    "Minimum confidence of an answer: 0 to 1, or a calibrated one such as p95. The default is the recipe's."
)
Threshold = Annotated[str | None, typer.Option(help=THRESHOLD_HELP)]
Threads = Annotated[int, typer.Option(min=0, help="Number of threads; 0 means one per core.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text for people.")]
Force = Annotated[bool, typer.Option(help="Replace what is at the same place, once the new one is complete.")]

# articles
MENTIONS_HELP = (
    "How to find names in articles that list no mentions: `names` (built-in detector), `spacy:MODEL`, "
    "or `given` (link listed mentions only)."
)
Mentions = Annotated[str, typer.Option(help=MENTIONS_HELP)]
DATE_HELP = (
    "Field of the date, such as published; or the date of articles that have none, such as 2016-12-26. "
    "By default the field is guessed."
)
Date = Annotated[str | None, typer.Option(help=DATE_HELP)]
Text = Annotated[str | None, typer.Option(help="Field of the text; a.b is field b within a. By default it is guessed.")]
Id = Annotated[str | None, typer.Option(help="Field of the id, such as url. By default it is guessed.")]
Title = Annotated[str | None, typer.Option(help="Field of the title, such as headline. By default it is guessed.")]
ENCODING_HELP = (
    "Encoding of CSV, TSV and text, such as cp1252. The default is UTF-8, or what a byte order mark indicates."
)
Encoding = Annotated[str | None, typer.Option(help=ENCODING_HELP)]

# measuring
Articles = Annotated[Path, typer.Option(help="Articles to link: JSONL (.gz .bz2 .zst) or Parquet.")]
Gold = Annotated[Path, typer.Option(help="Right answers: JSONL with articleID, name and gold (index, QID or null).")]
LABELLED_HELP = "Raw text with labels: JSONL files (.gz .bz2 .zst), or a folder of them; repeatable."
Labelled = Annotated[list[Path] | None, typer.Option(help=LABELLED_HELP)]
MoreLabelled = Annotated[list[Path] | None, typer.Argument(help="More files of --labelled.", hidden=True)]
REPORT_HELP = "Folder for the report: report.md, report.html, tables.json and other files."
ReportOut = Annotated[Path, typer.Option("--out", "-o", help=REPORT_HELP)]
Samples = Annotated[int, typer.Option(min=100, help="Number of bootstrap samples.")]
Seed = Annotated[int, typer.Option(help="Seed of the bootstrap.")]
Split = Annotated[str | None, typer.Option(help="Use only gold of this split. The default is all gold.")]


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
