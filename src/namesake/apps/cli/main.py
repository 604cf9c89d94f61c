"""Where the command `namesake` begins. Imports little, so that `--version` and mistakes answer at once."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

from namesake import __version__
from namesake.errors import NamesakeError
from namesake.printable import one_line
from namesake.stops import StoppedError

MENDABLE, OUR_FAULT, INTERRUPTED = 2, 70, 130
"""Exit codes beside 0."""


def main() -> None:
    """Run the command line: whatever goes wrong is one line, and an exit code that says which kind."""
    arguments = sys.argv[1:]
    match arguments:  # what people type at programs they do not know yet
        case ["version"]:
            arguments = ["--version"]
        case ["help", *words]:
            arguments = [*words, "--help"]
    if arguments == ["--version"]:
        print(f"namesake {__version__}")
        sys.exit(0)
    gc.set_threshold(200_000, 20, 20)  # a million objects are loaded to stay: looking through them takes 0.1 s
    try:
        from namesake.apps.cli.commands import COMMANDS, OLD_NAMES, app
        from namesake.stops import stoppable

        # A command is a command, whatever lies in the folder.
        if arguments and arguments[0] not in {**COMMANDS, **OLD_NAMES} and _is_file(arguments[0]):
            arguments = ["link", *arguments]
        with stoppable():
            app(arguments)
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (Exception, KeyboardInterrupt) as problem:
        if os.environ.get("NAMESAKE_DEBUG"):
            raise
        code, line = last_words(problem)
        print(f"namesake: {one_line(line)}", file=sys.stderr)
        sys.exit(code)


def last_words(problem: BaseException) -> tuple[int, str]:
    """The exit code and the one line for whatever ended a command: 2 what its user can mend, 70 a fault of ours."""
    match problem:
        case KeyboardInterrupt() | StoppedError():
            return INTERRUPTED, "interrupted; nothing half-written was left"
        case NamesakeError():
            return MENDABLE, str(problem)
        case OSError(strerror=str(reason)):
            where = f"{problem.filename}: " if problem.filename else ""
            return MENDABLE, f"{where}{reason}; nothing half-written was left"
        case MemoryError():
            return MENDABLE, "out of memory: fewer workers or smaller files need less; nothing half-written was left"
        case RecursionError():
            return MENDABLE, "the input is nested too deeply to be read"
    what = str(problem).partition("\n")[0]
    return OUR_FAULT, (
        f"unexpected {type(problem).__name__} ({what}): this is a fault of namesake, not yours; "
        "NAMESAKE_DEBUG=1 shows where it happened, for a report"
    )


def _is_file(argument: str) -> bool:
    """Whether it names a file, and is no option."""
    try:
        return not argument.startswith("-") and Path(argument).is_file()
    except (OSError, ValueError):  # such as a name that is too long
        return False
