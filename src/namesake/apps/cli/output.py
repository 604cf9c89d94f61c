"""What commands share: messages on standard error, tables on the terminal, exit codes, and the default KB."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from namesake import machine
from namesake.printable import counted, one_line

if TYPE_CHECKING:
    from namesake.articles.rejects import Rejects
    from namesake.evaluation.reports.report import View
    from namesake.linker import Linker

NO_RESULT, INCOMPLETE = 3, 4
"""Exit codes: every record was rejected or no threshold suffices; a file could not be read to its end."""
REASONS_SHOWN = 10

_ARGUMENT = re.compile(r"`([a-z_]+)=([^`]*)`")
_OPTIONS = {"most_line": "max-line", "one_per_span": "flat"}
"""Options whose names differ from the library's arguments."""


def as_options(message: str) -> str:
    """A message of the library with Python arguments written as options: `most_line=5` becomes --max-line 5."""

    def option(found: re.Match[str]) -> str:
        name, value = found.groups()
        value = "" if value == "True" else value.strip("\"'")
        return f"--{_OPTIONS.get(name, name.replace('_', '-'))} {value}".rstrip()

    return _ARGUMENT.sub(option, message)


def say(line: str) -> None:
    """Print a message on standard error; results go to standard output."""
    print(one_line(as_options(line)), file=sys.stderr)


def load_kernels() -> None:
    """Have the first kernel that is not compiled yet compile all of them on all cores, with a progress bar."""
    from namesake.compiling import compile_on_all_cores

    compile_on_all_cores()


# the KB
def named_kb(kb: Path | None) -> Path | None:
    """The KB that the user named, with --kb or in the variable NAMESAKE_KB."""
    return machine.named_kb() if kb is None else kb


def default_kb(kb: Path | None) -> Path:
    """The KB that the user named, or the sample's, which is built on first use."""
    load_kernels()
    from namesake.apps.sample_kb import sample_kb

    return named_kb(kb) or sample_kb()


def open_linker(
    kb: Path | None, recipe: str, threshold: str | None, mentions: str = "names", files: Sequence[Path] = ()
) -> Linker:
    """The linker that the options --kb, --recipe, --threshold and --mentions describe, to link `files`."""
    from namesake.apps.cli.options import threshold_of

    number, folder = threshold_of(threshold), default_kb(kb)
    from namesake import Linker

    linker = Linker(folder, recipe, number, mentions)
    _warn_of_sample(folder, kb, files)
    return linker


def kb_to_measure(kb: Path | None, files: Sequence[Path]) -> Path:
    """The folder of the KB that links `files`, with a warning if it is the sample's."""
    folder = default_kb(kb)
    _warn_of_sample(folder, kb, files)
    return folder


def _warn_of_sample(folder: Path, kb: Path | None, files: Sequence[Path]) -> None:
    """Warn if the user named no KB and the embedded sample links other files than its own articles."""
    from namesake.kb.manifest import read_manifest
    from namesake.sample import ARTICLES

    if named_kb(kb) is None and not (files and all(_same(file, ARTICLES) for file in files)):
        people = read_manifest(folder).people
        say(f"WARNING: no KB is named, so only the {people:,} people of the embedded sample can be linked. All other")
        say("         names become NIL or wrong links. Build a KB (`namesake kb build --help`); name it with --kb.")


def _same(file: Path, other: Path) -> bool:
    try:
        return file.stat().st_size == other.stat().st_size and file.read_bytes() == other.read_bytes()
    except OSError:
        return False


# what a run did
def rate(count: int, seconds: float, unit: str) -> str:
    """Such as `1 article/s` or `2,000 rows/s`."""
    return f"{counted(round(count / max(seconds, 1e-9)), unit)}/s"


@contextmanager
def reported_rejects(out: Path | None = None) -> Iterator[Rejects]:
    """Collect rejected records, and report their number, the first of them, and the file beside `out` with them all."""
    from namesake.articles.rejects import Rejects

    beside = None if out is None or str(out) == "-" else out.with_name(out.name + ".rejects.jsonl")
    with Rejects(beside) as rejects:
        yield rejects
    report_undated(rejects.unread_dates)
    if rejects.count:
        where = f"; all of them are in {rejects.path}" if rejects.path else ""
        say(f"{counted(rejects.count, 'record')} rejected{where}:")
        report_reasons({reason: count for reason, count in rejects.reasons.items() if count > 1})
        for reject in rejects.first:
            say(f"  {reject}")


def report_reasons(reasons: Mapping[str, int]) -> None:
    """Report the most frequent reasons, one per line."""
    for reason, count in Counter(reasons).most_common(REASONS_SHOWN):
        say(f"  {count:,} × {reason}")


def report_undated(unread: Counter[str]) -> None:
    """Report how many articles have a date that cannot be parsed, with an example."""
    from namesake.articles.days import about_unread

    if unread:
        say(about_unread(unread))


def report_skipped(notes: Sequence[str], problems: Sequence[str]) -> None:
    """Report which files in folders were skipped, and which could not be read."""
    for note in notes:
        say(note)
    if problems:
        say(f"{counted(len(problems), 'file')} could not be read, or not to the end:")
    for problem in problems[:REASONS_SHOWN]:
        say(f"  {problem}")


# results on standard output
def print_json(value: Any) -> None:
    """Print a value as indented JSON."""
    import msgspec

    print(msgspec.json.format(msgspec.json.encode(value), indent=2).decode())


def show(views: Sequence[View], lines: Sequence[str] = ()) -> None:
    """Print tables, and lines below them."""
    from namesake.apps.terminal import Console, draw

    console = Console()
    for view in views:
        draw(view, console)
    for line in lines:
        console.print(as_options(line), highlight=False, markup=False, soft_wrap=True)
