"""What a doubt is, how one is declared, and the registry of all that are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from namesake.errors import NamesakeError, did_you_mean
from namesake.scorers.matches import Match
from namesake.scorers.reading import Reading
from namesake.scorers.registry import Need, Scores, first_line, numbers, of_batch

if TYPE_CHECKING:
    from namesake.batch import Batch

Explain = Callable[[Reading], Iterable[Match]]

TAKEN = ("nil", "alone")
"""What explanations call the constant scores of "none of them"."""


@dataclass(frozen=True, eq=False)
class Doubt:
    """One reason to think that a name is a stranger's: what it is called, needs and computes, and how it says why."""

    name: str
    formula: str
    """In one line: what the number is."""
    compute: Callable[[Batch], Any]
    """From a batch to one number for each of its mentions."""
    module: str
    """Where it was declared."""
    needs: Need | None = None
    explain: Explain | None = None
    """What of a mention gave rise to it."""

    def __call__(self, batch: Batch) -> Scores:
        """One finite number for each mention of the batch."""
        return numbers(f"the doubt {self.name}", self.compute(batch), len(batch.names), "mentions")

    def matches(self, reading: Reading) -> list[Match]:
        """What of a mention gave rise to it; nothing where the doubt does not say."""
        return [] if self.explain is None else list(self.explain(reading))


DOUBTS: dict[str, Doubt] = {}
"""Every doubt by the name that recipes use, in the order of declaration: those of Namesake, then your own."""


def named_doubt(name: str) -> Doubt:
    """The doubt called `name`; says which there are where none is."""
    if name not in DOUBTS:
        raise NamesakeError(
            f"unknown doubt {name!r}{did_you_mean(name, DOUBTS)}; known are {', '.join(sorted(DOUBTS))}; "
            "your own must be declared before a recipe names it"
        )
    return DOUBTS[name]


def doubt(
    name: str, *, needs: Need | None = None, explain: Explain | None = None, formula: str | None = None
) -> Callable[[Callable[..., Any]], Doubt]:
    """Declare a function as the doubt `name`, which the `[[decide.parts]]` of recipes may then use.

    The function takes the batch, or the batch and its KB, and returns one finite number for each mention; weights tell
    whether it speaks for or against "none of them". `needs`, `explain` (of a `Reading`) and `formula` are as for
    scorers: on a KB that lacks what it needs, a doubt counts as absent.
    """

    def declare(function: Callable[..., Any]) -> Doubt:
        compute = of_batch(f"the doubt {name}", function)
        said = first_line(function) if formula is None else formula
        return _add(Doubt(name, said, compute, function.__module__, needs, explain))

    return declare


def _add(new: Doubt) -> Doubt:
    """Enter a doubt into the registry. Declared anew in the same module, as in a notebook, it replaces itself."""
    if not isinstance(new.name, str) or not new.name or new.name in TAKEN:
        raise NamesakeError(f"a doubt cannot be called {new.name!r}: choose another name")
    old = DOUBTS.get(new.name)
    if old is not None and old.module != new.module:
        raise NamesakeError(f"there is a doubt {new.name} already, declared in {old.module}: choose another name")
    DOUBTS[new.name] = new
    return new
