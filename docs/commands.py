"""Write docs/cli.md: the help of every command, as the command line prints it. Run: python docs/commands.py."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

WIDTH = "100"
os.environ |= {"COLUMNS": WIDTH, "TERMINAL_WIDTH": WIDTH, "NO_COLOR": "1", "TERM": "dumb"}  # before typer looks

import typer  # noqa: E402
from typer.core import TyperGroup  # noqa: E402

from namesake.apps.cli.commands import app  # noqa: E402

PAGE = Path(__file__).with_name("cli.md")
HEAD = """# Commands

This page contains the output of `namesake COMMAND --help` for every command. Run `namesake --install-completion` to
install shell completion. The former commands `namesake evaluate`, `threshold`, `tune`, `errors`, `ablate`
and `reproduce` still work and print a notice; they are now in the group `namesake eval`.

"""


def helps(command: object, words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Each command below this one, with its help."""
    root = typer.main.get_command(app)
    shown = io.StringIO()
    with redirect_stdout(shown):
        root.main([*words[1:], "--help"], prog_name="namesake", standalone_mode=False)
    yield " ".join(words), "\n".join(line.rstrip() for line in shown.getvalue().strip("\n").splitlines())
    if isinstance(command, TyperGroup):
        for name, below in command.commands.items():
            yield from helps(below, (*words, name))


def page() -> str:
    """The whole page."""
    found = helps(typer.main.get_command(app), ("namesake",))
    return HEAD + "\n".join(f"## {name}\n\n```text\n{text.strip()}\n```\n" for name, text in found)


if __name__ == "__main__":
    sys.stdout.write(page()) if sys.argv[1:] == ["-"] else PAGE.write_text(page(), encoding="utf-8")
