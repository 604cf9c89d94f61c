"""What commands have in common: lines on standard error, tables on the terminal, the KB that is meant by default."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from namesake import machine
from namesake.printable import counted, one_line

if TYPE_CHECKING:
    from namesake.articles.rejects import Rejects
    from namesake.evaluation.reports.report import View

REASONS_SHOWN = 10


_ARGUMENT = re.compile(r"`([a-z_]+)=([^`]*)`")
_OPTIONS = {"most_line": "max-line", "one_per_span": "flat"}
"""Options that are not called as the argument of the library is."""


def as_options(message: str) -> str:
    """A message of the library with Python's arguments as options: `max_line=5` becomes --max-line 5."""

    def option(found: re.Match[str]) -> str:
        name, value = found.groups()
        value = "" if value == "True" else value.strip("\"'")
        return f"--{_OPTIONS.get(name, name.replace('_', '-'))} {value}".rstrip()

    return _ARGUMENT.sub(option, message)


def say(line: str) -> None:
    """A message for the person at the terminal; results go to standard output."""
    print(one_line(as_options(line)), file=sys.stderr)


def load_kernels() -> None:
    """Have the first kernel that is not compiled yet compile all of them on all cores, with a progress bar."""
    from namesake.compiling import compile_on_all_cores

    compile_on_all_cores()


def named_kb(kb: Path | None) -> Path | None:
    """The KB the user named: with --kb, else by the variable NAMESAKE_KB."""
    return machine.named_kb() if kb is None else kb


def default_kb(kb: Path | None) -> Path:
    """The KB the user named, or the sample's, which is built on first use."""
    load_kernels()
    from namesake.apps.sample_kb import sample_kb

    return named_kb(kb) or sample_kb()


def warn_of_sample(folder: Path, kb: Path | None, files: Sequence[Path] = ()) -> None:
    """Say loudly that the sample is the whole world of a run on somebody's own files, where no KB was named.

    `folder` is what `default_kb` made of `kb`; `files` are what is linked.
    """
    from namesake.kb.manifest import read_manifest
    from namesake.sample import ARTICLES

    if named_kb(kb) is None and not (files and all(_same(file, ARTICLES) for file in files)):
        people = read_manifest(folder).people
        say(
            f"WARNING: no KB named, so the {people:,} people of the embedded sample are the whole world: all others are"
        )
        say("         nobody, or taken for one of them. Build a KB (`namesake kb build --help`) and name it with --kb.")


def _same(file: Path, other: Path) -> bool:
    """Whether a file holds what another does."""
    try:
        return file.stat().st_size == other.stat().st_size and file.read_bytes() == other.read_bytes()
    except OSError:
        return False


def report_rejects(rejects: Rejects) -> None:
    """Say what was set aside while articles were read: how many, the first of them, and where all of them are."""
    report_undated(rejects.unread_dates)
    if rejects.count:
        where = f", all of them in {rejects.path}" if rejects.path else ""
        say(f"{rejects.count:,} set aside{where}:")
        for reason, count in rejects.reasons.most_common(REASONS_SHOWN):
            if count > 1:
                say(f"  {count:,} × {reason}")
        for reject in rejects.first:
            say(f"  {reject}")


def report_undated(unread: Counter[str]) -> None:
    """Say how many articles have dates that could not be read, and such a date."""
    from namesake.articles.days import about_unread

    if unread:
        say(about_unread(unread))


def report_skipped(notes: Sequence[str], problems: Sequence[str]) -> None:
    """Say which files of folders were passed over, and which could not be read."""
    for note in notes:
        say(note)
    if problems:
        say(f"{counted(len(problems), 'file')} left out, in whole or in part, because of errors:")
    for problem in problems[:REASONS_SHOWN]:
        say(f"  {problem}")


def summary(mentions: int, articles: int, linked: int) -> str:
    """What a run linked, in words."""
    return f"{counted(mentions, 'mention')} of {counted(articles, 'article')}, {linked:,} linked"


def show(views: Sequence[View], lines: Sequence[str] = ()) -> None:
    """Print tables, and lines below them, on standard output."""
    from namesake.apps.terminal.console import Console
    from namesake.apps.terminal.tables import draw

    console = Console()
    for view in views:
        draw(view, console)
    for line in lines:
        console.print(as_options(line), highlight=False, markup=False, soft_wrap=True)
