"""Options that several commands share."""

import math
import re
from pathlib import Path
from typing import Annotated

import typer

from namesake.errors import NamesakeError

Articles = Annotated[Path, typer.Option("--articles", help="JSONL (.gz .bz2 .zst) or Parquet")]
Encoding = Annotated[
    str | None,
    typer.Option("--encoding", help="of CSV, TSV and text, such as cp1252; default: UTF-8, or a byte order mark's"),
]
GOLD = typer.Option("--gold", help="JSONL with articleID, name, gold (index, QID or null), …")
Gold = Annotated[Path, GOLD]
Kb = Annotated[
    Path | None,
    typer.Option("--kb", help="folder made by `namesake kb build`; default: $NAMESAKE_KB, else the embedded sample"),
]
Known = Annotated[
    Path | None, typer.Option("--known", help="leave out candidates that this KB lacks; gold it lacks is nobody")
]
Labelled = Annotated[
    list[Path] | None,
    typer.Option(
        "--labelled", help="raw text with labels, JSONL (.gz .bz2 .zst) or a folder of it; several may follow"
    ),
]
MoreLabelled = Annotated[list[Path] | None, typer.Argument(help="more files of --labelled", hidden=True)]
Out = Annotated[Path, typer.Option("--out", "-o", help="folder for report.md, report.html, tables.json, …")]
Recipe = Annotated[str, typer.Option("--recipe", help="a shipped recipe's name, or a .toml file")]
Samples = Annotated[int, typer.Option("--samples", min=100, help="bootstrap samples")]
Seed = Annotated[int, typer.Option("--seed", help="of the bootstrap")]
Threshold = Annotated[
    str | None,
    typer.Option("--threshold", help="answer only with at least this confidence: 0 to 1, or calibrated such as p95"),
]
Split = Annotated[str | None, typer.Option("--split", help="only gold of this split")]


def listed(labelled: list[Path] | None, more: list[Path] | None) -> list[Path]:
    """All files of `--labelled A B C`: the option takes the first, what follows are arguments."""
    if more and not labelled:
        raise NamesakeError(f"{more[0]}: what is this file? Labelled text comes behind --labelled")
    return [*(labelled or ()), *(more or ())]


def threshold_of(text: str | None) -> float | str | None:
    """A threshold as typed: a number from 0 to 1, or the name of one that the recipe has calibrated."""
    if text is None or re.fullmatch(r"p\d{1,2}", text, re.ASCII):
        return text
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1:
        raise NamesakeError(
            f"--threshold {text}: must be a number from 0 to 1, or the name of a calibrated one such as p95"
        )
    return number
