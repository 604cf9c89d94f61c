"""Where the command `namesake` begins. Imports little, so that `--version` and mistakes answer at once."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

from namesake import __version__
from namesake.errors import NamesakeError


def main() -> None:
    """Run the command line: a mistake the user can mend is one line and exit code 2."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        print(f"namesake {__version__}")
        sys.exit(0)
    gc.set_threshold(200_000, 20, 20)  # a million objects are loaded to stay: looking through them takes 0.1 s
    try:
        from namesake.apps.cli.commands import COMMANDS, app
        from namesake.stops import stoppable

        # A command is a command, whatever lies in the folder.
        if arguments and arguments[0] not in COMMANDS and _is_file(arguments[0]):
            arguments = ["link", *arguments]
        with stoppable():
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


def _is_file(argument: str) -> bool:
    """Whether it names a file, and is no option."""
    try:
        return not argument.startswith("-") and Path(argument).is_file()
    except OSError:  # such as a name that is too long
        return False
