"""What commands share: options, messages on standard error, tables on the terminal, exit codes, and the default KB."""

import filecmp
import math
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import namesake
from namesake.errors import NamesakeError
from namesake.machine import named_kb
from namesake.printable import counted, one_line

if TYPE_CHECKING:
    from namesake.articles.rejects import Rejects
    from namesake.evaluation.reports.report import View

HELP: dict[str, Any] = tomllib.loads(Path(__file__).with_name("help.toml").read_text(encoding="utf-8"))
NO_RESULT, INCOMPLETE = 3, 4
"""Exit codes: every record was rejected or no threshold suffices; a file could not be read to its end."""
REASONS_SHOWN = 10

_ARGUMENT = re.compile(r"`([a-z_]+)=([^`]*)`")
_OPTIONS = {"most_line": "max-line", "one_per_span": "flat"}  # options whose names differ from the library's arguments


# options
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
Kinds = Annotated[str | None, typer.Option(metavar="KINDS")]
Decided = Annotated[list[Path] | None, typer.Option("--decisions", metavar="FILE")]
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


def properties(type: list[str] | None) -> dict[str, list[str]]:
    """The columns of each property that `--type property=column` names."""
    types: dict[str, list[str]] = {}
    for text in type or ():
        property, _, column = (part.strip() for part in text.partition("="))
        if not property or not column:
            raise NamesakeError(f"--type {text}: write it as property=column, such as occupation=Job")
        types.setdefault(property, []).append(column)
    return types


# messages
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


@contextmanager
def resumable() -> Iterator[None]:
    """Report that the user stopped work that the same command resumes."""
    try:
        yield
    except KeyboardInterrupt as stop:
        say(f"namesake: {str(stop) or 'stopped; the same command resumes the run'}")
        raise typer.Exit(130) from None


def load_kernels() -> None:
    """Have the first kernel that is not compiled yet compile all of them on all cores, with a progress bar."""
    from namesake.compiling import compiled_first
    from namesake.kernels import compiled

    compiled.around_compiling = compiled_first


# the KB
def open_linker(
    kb: Path | None, recipe: str, threshold: str | None, files: Sequence[Path] = (), **options: Any
) -> "namesake.Linker":
    """The linker for `files` that --kb, --recipe, --threshold and other options describe."""
    decisions, number = options.pop("decisions", None), threshold_of(threshold)
    linker = namesake.Linker(default_kb(kb, files), recipe, number, **options)
    return linker.with_decisions(decisions, say) if decisions else linker


def default_kb(kb: Path | None, files: Sequence[Path]) -> "Path | namesake.KB":
    """The KB that the user named, or the sample's, with a warning if it links other files than its own articles."""
    load_kernels()
    if named := kb or named_kb():
        return named
    from namesake.apps.sample_kb import open_sample
    from namesake.sample import ARTICLES

    sample = open_sample()
    if not files or not all(file.is_file() and filecmp.cmp(file, ARTICLES, shallow=False) for file in files):
        people = sample.manifest.people
        say(f"WARNING: no KB is named, so only the {people:,} people of the embedded sample can be linked. All other")
        say("         names become NIL or wrong links. Build a KB (`namesake kb build --help`); name it with --kb.")
    return sample


# what a run did
def rate(count: int, seconds: float, unit: str) -> str:
    """Such as `1 article/s` or `2,000 rows/s`."""
    return f"{counted(round(count / max(seconds, 1e-9)), unit)}/s"


@contextmanager
def reported_rejects(out: Path | None = None) -> Iterator["Rejects"]:
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


def show(views: Sequence["View"], lines: Sequence[str] = ()) -> None:
    """Print tables, and lines below them."""
    from namesake.apps.terminal import Console, draw

    console = Console()
    for view in views:
        draw(view, console)
    for line in lines:
        console.print(as_options(line), highlight=False, markup=False, soft_wrap=True)
