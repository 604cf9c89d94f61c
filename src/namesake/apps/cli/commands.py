"""Every command and the module that holds it; a module is imported when its command is chosen, or listed in a help.

Each command is a thin face of a function that Python users call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from namesake import __version__
from namesake.errors import NamesakeError
from namesake.stops import StoppedError

COMMANDS = {
    "link": "link",
    "explain": "explain",
    "reconcile": "reconcile",
    "kb": "kb",
    "evaluate": "evaluate",
    "threshold": "threshold",
    "tune": "tune",
    "reproduce": "evaluate",
    "ablate": "analyse",
    "errors": "analyse",
    "quotebank": "quotebank",
    "serve": "serve",
    "datasets": "datasets",
    "demo": "demo",
    "sample": "demo",
    "compile": "compile",
}
"""In the order of the help: the command, and the module of this folder in which a function or group has its name."""


class _Modules(MutableMapping[str, Any]):
    """The commands by name, each imported when it is first looked up."""

    def __init__(self) -> None:
        self.loaded: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.loaded:
            module = import_module(f"namesake.apps.cli.{COMMANDS[name]}")
            self.loaded[name] = command_of(getattr(module, name), name)
        return self.loaded[name]

    def __setitem__(self, name: str, command: Any) -> None:
        self.loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self.loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _PlainSwitches:
    """A command whose help shows no type behind options that take no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        """The options and arguments, `--help` among them."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return parameters


class _Command(_PlainSwitches, TyperCommand):
    """A command of ours."""


class _Group(_PlainSwitches, TyperGroup):
    """A command that has commands."""


class _Root(_Group):
    """The group of all commands, none of which is imported before it is wanted."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Modules()

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was chosen."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise StoppedError from stop
        except NamesakeError as problem:
            from namesake.apps.cli.output import as_options

            problem.args = (as_options(str(problem)),)
            raise


def command_of(function: Callable[..., Any] | typer.Typer, name: str) -> Any:
    """A function, or a group of functions, as a command for the command line to run."""
    if isinstance(function, typer.Typer):
        function.info.cls = _Group
        for command in function.registered_commands:
            command.cls = _Command
        group = typer.main.get_command(function)
        group.name = name
        return group
    single = typer.Typer(add_completion=False)
    single.command(name, cls=_Command)(function)
    return typer.main.get_command(single)


app = typer.Typer(
    name="namesake",
    cls=_Root,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="print the version and stop")] = False) -> None:
    """Which John Smith? Links names in text to Wikidata: fast, explained, no training, no GPU.

    `namesake FILE …` is short for `namesake link FILE …`.
    """
    if version:
        print(f"namesake {__version__}")
        raise typer.Exit
