"""Entry point of the command `namesake`. It imports little, so that `--version` and errors are fast."""

import gc
import os
import sys
import warnings

from namesake import __version__
from namesake.errors import NamesakeError
from namesake.machine import StoppedError
from namesake.printable import one_line

USER_ERROR, INTERNAL_ERROR, INTERRUPTED = 2, 70, 130
"""Exit codes: an error that the user can fix, an internal error, an interruption."""


def main() -> None:
    """Run the command line. An error is printed as one line, and the exit code states its kind."""
    arguments = sys.argv[1:]
    match arguments:  # also accepted: `namesake version`, `namesake help COMMAND`
        case ["version"]:
            arguments = ["--version"]
        case ["help", *words]:
            arguments = [*words, "--help"]
    if arguments == ["--version"]:
        print(f"namesake {__version__}")
        sys.exit(0)
    warnings.formatwarning = lambda message, *_: f"namesake: {one_line(str(message))}\n"
    gc.set_threshold(200_000, 20, 20)  # a million objects stay loaded; collecting them would take 0.1 s
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its idle threads take 0.1 s of a build, and speed nothing up
    os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")  # which would take a tenth of compiling
    try:
        from namesake.apps.cli.commands import COMMANDS, OLD_NAMES, app
        from namesake.machine import stoppable

        # A command takes precedence over a file with the same name.
        first = arguments[0] if arguments else ""
        is_file = os.path.isfile(first)  # noqa: PTH113 - False also for a name that is too long
        if is_file and first not in {**COMMANDS, **OLD_NAMES} and not first.startswith("-"):
            arguments = ["link", *arguments]
        with stoppable():
            app(arguments)
    except BrokenPipeError:  # the reader of the output has exited, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except (Exception, KeyboardInterrupt) as problem:
        if os.environ.get("NAMESAKE_DEBUG"):
            raise
        code, line = exit_message(problem)
        print(f"namesake: {one_line(line)}", file=sys.stderr)
        sys.exit(code)
    finally:
        gc.freeze()  # or the interpreter would search all objects for cycles when it exits, for 0.15 s


def exit_message(problem: BaseException) -> tuple[int, str]:
    """The exit code and the line for an exception that ended a command: 2 for user errors, 70 for internal errors."""
    match problem:
        case KeyboardInterrupt() | StoppedError():
            return INTERRUPTED, "interrupted; no partial output was left"
        case NamesakeError():
            return USER_ERROR, str(problem)
        case OSError(strerror=str(reason)):
            where = f"{problem.filename}: " if problem.filename else ""
            return USER_ERROR, f"{where}{reason}; no partial output was left"
        case MemoryError():
            return USER_ERROR, "out of memory: use fewer workers or smaller files; no partial output was left"
        case RecursionError():
            return USER_ERROR, "the input is nested too deeply"
    what = str(problem).partition("\n")[0]
    advice = "this is an internal error; set NAMESAKE_DEBUG=1 to see the traceback, and report it"
    return INTERNAL_ERROR, f"unexpected {type(problem).__name__} ({what}): {advice}"
