"""The table of commands. A command's module is imported when the command is chosen or listed in a help text.

The help of a command begins with the docstring of its function; the rest, also of its options, stands in `help.toml`.
"""

from collections import UserDict
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from namesake import __version__
from namesake.apps.cli import common
from namesake.errors import NamesakeError
from namesake.machine import StoppedError

MODULES = {"link": "link explain", "reconcile": "reconcile review", "kb": "kb", "evaluation": "eval", "serve": "serve"}
MODULES |= {"datasets": "datasets quotebank", "demo": "demo sample compile"}
COMMANDS = {name: module for module, names in MODULES.items() for name in names.split()}
"""The commands in the order of the help, each with its module. A module of one group calls that group `group`."""

OLD_NAMES = {"evaluate": "run"} | {name: name for name in ("threshold", "tune", "errors", "ablate", "reproduce")}
"""Former top-level commands, and their names in the group `eval`. They still work; the help does not list them."""


class _Commands(UserDict[str, Any]):
    """The commands by name; each is imported on its first lookup."""

    def __contains__(self, name: object) -> bool:
        return name in self.data or name in OLD_NAMES

    def __getitem__(self, name: str) -> Any:
        return _command("eval").commands[OLD_NAMES[name]] if name in OLD_NAMES else _command(name)


class _Root(TyperGroup):
    """The group of all commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Commands(COMMANDS)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command to run, with a notice if the user typed its old name."""
        if args[0] in OLD_NAMES and not ctx.resilient_parsing:
            now = f"`namesake eval {OLD_NAMES[args[0]]}`"
            common.say(f"notice: `namesake {args[0]}` is now {now}; the old name still works")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the chosen command; its error messages name options instead of Python arguments."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as stop:
            raise StoppedError from stop
        except NamesakeError as problem:
            problem.args = (common.as_options(str(problem)),)
            raise


@cache
def _command(name: str) -> Any:
    """The function or the Typer group of a command as a Click command, with the help of its options."""
    module = import_module(f"namesake.apps.cli.{COMMANDS[name]}")
    one = getattr(module, name, None) or module.group
    if not (group := isinstance(one, typer.Typer)):
        function, one = one, typer.Typer(add_completion=False)
        one.command(name)(function)
    command = typer.main.get_command(one)
    command.name = name
    for leaf in getattr(command, "commands", {"": command}).values():
        own = common.HELP["commands"].get(f"{name} {leaf.name}" if group else name, {})
        examples = (f"Example: {example}" for example in own.get("examples", ()))
        leaf.help = "\n\n".join([leaf.help or "", *own.get("about", ()), *examples])
        helps = common.HELP["options"] | own
        for parameter in leaf.params:
            if parameter.name in helps and not parameter.help:
                parameter.help = helps[parameter.name]
            if getattr(parameter, "is_flag", False):
                parameter.secondary_opts, parameter.metavar = [], ""  # without the switch `--no-…`
    return command


app = typer.Typer(
    name="namesake",
    cls=_Root,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    """Link names in English text to Wikidata entities.

    `namesake FILE …` is short for `namesake link FILE …`.
    """
    if version:
        print(f"namesake {__version__}")
        raise typer.Exit
