"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

Articles = Annotated[Path, typer.Option("--articles", help="JSONL (.gz .bz2 .zst) or Parquet")]
Gold = Annotated[Path, typer.Option("--gold", help="JSONL with articleID, name, gold (index, QID or null), …")]
Kb = Annotated[
    Path | None,
    typer.Option("--kb", help="folder made by `namesake kb build`; default: $NAMESAKE_KB, else the embedded sample"),
]
Known = Annotated[
    Path | None, typer.Option("--known", help="leave out candidates that this KB lacks; gold it lacks is nobody")
]
Out = Annotated[Path, typer.Option("--out", "-o", help="folder for report.md, report.html, tables.json, …")]
Recipe = Annotated[str, typer.Option("--recipe", help="a shipped recipe's name, or a .toml file")]
Samples = Annotated[int, typer.Option("--samples", min=100, help="bootstrap samples")]
Seed = Annotated[int, typer.Option("--seed", help="of the bootstrap")]
Split = Annotated[str | None, typer.Option("--split", help="only gold of this split")]
