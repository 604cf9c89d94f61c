"""The command line. It mirrors the library: every command is a thin face of a function that Python users call."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer

from namesake import __version__
from namesake.errors import NamesakeError

app = typer.Typer(
    name="namesake",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
ROOMS = ("link", "kb", "evaluate", "analyse", "datasets", "demo")


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="print the version and stop")] = False) -> None:
    """Which John Smith? Links names in text to Wikidata: fast, explained, no training, no GPU.

    `namesake FILE …` is short for `namesake link FILE …`.
    """
    if version:
        print(f"namesake {__version__}")
        raise typer.Exit


for room in ROOMS:
    import_module(f"namesake.apps.cli.{room}").register(app)


def main() -> None:
    """Run the command line: a mistake the user can mend is one line and exit code 2."""
    arguments = sys.argv[1:]
    if arguments and not arguments[0].startswith("-") and Path(arguments[0]).is_file():
        arguments = ["link", *arguments]
    try:
        app(arguments)
    except NamesakeError as problem:
        print(f"namesake: {problem}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("namesake: interrupted; nothing half-written was left", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


def default_kb(kb: Path | None) -> Path:
    """The KB the user named, or the sample's, built on first use."""
    from namesake.apps.sample_kb import sample_kb

    return kb if kb is not None else sample_kb()
