"""`namesake link … --engine spark`: the same links, made by a cluster."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from namesake.apps.cli.folder import is_folder
from namesake.apps.cli.output import REASONS_SHOWN, named_kb, say
from namesake.errors import NamesakeError

_OURS = re.compile(r"NamesakeError: (.+)")


class Engine(StrEnum):
    """What does the work."""

    local = "local"
    spark = "spark"


def link_on_spark(
    articles: Sequence[Path],
    kb: Path | None,
    out: str | None,
    master: str | None,
    recipe: str,
    *,
    scores: bool,
    threshold: float | str | None,
    date: str | None,
) -> None:
    """Link on Spark, and say what came of it; what Java complains of becomes one line."""
    if out is None or not (is_folder(out) or "://" in out):
        raise NamesakeError("Spark writes a folder: name one with -o DIR/")
    if "://" not in out and Path(out).is_dir() and any(Path(out).iterdir()):
        raise NamesakeError(f"{out} is not empty, and Spark does not go on where it stopped: name another folder")
    folder = named_kb(kb)
    if folder is None:
        raise NamesakeError("Spark needs --kb, or NAMESAKE_KB: a folder that all machines see, or a pack of a KB")
    from namesake.engines.spark import link_with_spark

    began = time.perf_counter()
    try:
        mentions, reasons = link_with_spark(
            articles,
            folder,
            out.rstrip("/"),
            master=master,
            recipe=recipe,
            scores=scores,
            threshold=threshold,
            date=date,
        )
    except NamesakeError:
        raise
    except Exception as problem:
        if not type(problem).__module__.startswith(("py4j", "pyspark")):
            raise
        ours = _OURS.findall(str(problem))
        lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
        raise NamesakeError(ours[-1] if ours else f"Spark: {lines[0] if lines else type(problem).__name__}") from None
    say(f"{out}: {mentions:,} mentions in {time.perf_counter() - began:.1f} s on Spark")
    if reasons:
        say(f"{reasons.total():,} set aside:")
        for reason, count in reasons.most_common(REASONS_SHOWN):
            say(f"  {count:,} × {reason}")
