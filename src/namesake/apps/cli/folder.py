"""`namesake link … -o DIR/`: links of any number of files, in a folder; what is stopped goes on."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from namesake.apps.cli.output import report_skipped, report_undated, say, summary

if TYPE_CHECKING:
    from namesake.formats.field_names import Reading
    from namesake.linker import Linker

INCOMPLETE = 4
"""The exit code of a run that had to leave something out: a file that cannot be read, a shard that failed."""


def is_folder(out: str) -> bool:
    """Whether links are to go into a folder: its name ends in a slash, or it is there and is not called like a file."""
    from namesake.files import kind
    from namesake.formats.link_writers import SUFFIXES

    return out.endswith("/") or (Path(out).is_dir() and kind(Path(out)) not in SUFFIXES)


def link_into_folder(
    linker: Linker,
    articles: Sequence[Path],
    out: Path,
    *,
    workers: int,
    scores: bool,
    date: str | None,
    most_line: int,
    reading: Reading,
) -> None:
    """Link, and say what came of it."""
    from namesake.engines.folder import link_folder
    from namesake.progress import reporter

    began = time.perf_counter()
    try:
        run = link_folder(
            linker,
            articles,
            out,
            workers=workers,
            scores=scores,
            date=date,
            most_line=most_line,
            reading=reading,
            reporter=reporter(),
        )
    except KeyboardInterrupt:
        say(f"namesake: stopped; the same command goes on from here, {out} holds what is done")
        raise typer.Exit(130) from None
    counts, rate = run.counts, run.linked_now / max(time.perf_counter() - began, 1e-9)
    none_now = "nothing new" if run.problems else "all of it done before"
    pace = f"{rate:,.0f} articles/s" if run.linked_now else none_now
    say(f"{out}: {summary(counts.mentions, counts.articles, counts.linked)}, {pace}")
    if run.undated:
        report_undated(Counter({run.unread_date or "": run.undated}))
    report_skipped(run.notes, ())
    if run.rejects:
        say(f"{run.rejects:,} set aside, all of them in {out / 'rejects'}")
    if run.problems:
        say(
            f"files or parts that could not be linked: {len(run.problems):,}, see {out / 'run.json'}; mend them, and "
            "the same command takes them in"
        )
        raise typer.Exit(INCOMPLETE)
