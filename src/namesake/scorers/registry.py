"""What a scorer is, how one is declared, and the registry of all that are."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from namesake.errors import NamesakeError, did_you_mean
from namesake.scorers.matches import Candidate, Match

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB

Scores = npt.NDArray[np.float64]
Explain = Callable[[Candidate], Iterable[Match]]

TAKEN = ("score", "position")
"""What links and explanations call the sum of a recipe's parts, and the last tie-break."""


@dataclass(frozen=True)
class Need:
    """Something that a scorer needs and not every KB has; a scorer whose need is not met counts as absent."""

    what: str
    """For people: what it is and how a KB gets it."""
    met: Callable[[KB], bool]
    refused: bool = False
    """Whether a recipe with such a scorer is refused on a KB without it, as it would be another system."""


@dataclass(frozen=True, eq=False)
class Scorer:
    """One signal: what it is called, what it needs, what it computes, and how it says why."""

    name: str
    formula: str
    """In one line: what the number is."""
    compute: Callable[[Batch], Any]
    """From a batch to one number for each of its candidates."""
    module: str
    """Where it was declared."""
    needs: Need | None = None
    anchors: bool = False
    """Whether it looks at the anchors of an article, so that a second pass must run it again."""
    explain: Explain | None = None
    """What of a candidate matched."""
    aliases: tuple[str, ...] = ()
    """Other names that score files have for it."""

    def __call__(self, batch: Batch) -> Scores:
        """One finite number for each candidate of the batch."""
        return numbers(f"the scorer {self.name}", self.compute(batch), len(batch.rows), "candidates")

    def matches(self, candidate: Candidate) -> list[Match]:
        """What of a candidate matched; nothing where the KB does not have it or the scorer does not say."""
        if self.explain is None or candidate.row < 0:
            return []
        return list(self.explain(candidate))


SCORERS: dict[str, Scorer] = {}
"""Every scorer by the name that recipes use, in the order of declaration: those of Namesake, then your own."""


def named(name: str) -> Scorer:
    """The scorer called `name`; says which there are where none is."""
    if name not in SCORERS:
        raise NamesakeError(
            f"unknown scorer {name!r}{did_you_mean(name, SCORERS)}; known are {', '.join(sorted(SCORERS))}; "
            "your own must be declared before a recipe names it"
        )
    return SCORERS[name]


def scorer(
    name: str,
    *,
    needs: Need | None = None,
    anchors: bool = False,
    explain: Explain | None = None,
    formula: str | None = None,
    aliases: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], Scorer]:
    """Declare a function as the scorer `name`, which recipes may then use.

    The function takes the batch, or the batch and its KB, and returns one finite number for each candidate, higher
    for better. It must not depend on the batch an article happens to come in.

    `needs` is what not every KB has: on a KB that lacks it, the scorer counts as absent. `anchors` says that it reads
    `batch.anchors`. `explain` takes a `Candidate` and yields a `Match` for each thing that matched. `formula` says
    in a line what is computed; without it, that is the first line of the function's docstring. `aliases` are other
    names that score files have for the scorer.
    """

    def declare(function: Callable[..., Any]) -> Scorer:
        compute = of_batch(f"the scorer {name}", function)
        said = first_line(function) if formula is None else formula
        return add(Scorer(name, said, compute, function.__module__, needs, anchors, explain, aliases))

    return declare


def add(new: Scorer) -> Scorer:
    """Enter a scorer into the registry. Declared anew in the same module, as in a notebook, it replaces itself."""
    if not isinstance(new.name, str) or not new.name or new.name in TAKEN:
        raise NamesakeError(f"a scorer cannot be called {new.name!r}: choose another name")
    old = SCORERS.get(new.name)
    if old is not None and old.module != new.module:
        raise NamesakeError(f"there is a scorer {new.name} already, declared in {old.module}: choose another name")
    SCORERS[new.name] = new
    return new


def first_line(function: Callable[..., Any]) -> str:
    """The first line of a function's docstring."""
    first, *_ = (inspect.getdoc(function) or "").splitlines() or [""]
    return first


def numbers(who: str, given: Any, count: int, of: str) -> Scores:
    """What `who` gave, if it is one finite number for each of so many candidates, or whatever they are of."""
    try:
        scores = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise NamesakeError(f"{who} gave no array of numbers: {given!r:.60}") from None
    if scores.shape != (count,):
        size = f"{' × '.join(map(str, scores.shape))} numbers" if scores.shape else "one number"
        raise NamesakeError(f"{who} gave {size} for {count} {of}: one for each is needed")
    if not np.isfinite(scores).all():
        raise NamesakeError(f"{who} gave a score that is no finite number")
    return scores


def of_batch(who: str, function: Callable[..., Any]) -> Callable[[Batch], Any]:
    """The function as one of the batch alone: the KB is handed to those that take two arguments."""
    given = inspect.signature(function).parameters.values()
    if any(each.kind is each.VAR_POSITIONAL for each in given):
        return lambda batch: function(batch, batch.kb)
    required = [each for each in given if each.default is each.empty and each.kind is not each.VAR_KEYWORD]
    if len(required) == 1:
        return function
    if len(required) == 2:
        return lambda batch: function(batch, batch.kb)
    raise NamesakeError(f"{who} must be a function of the batch, or of the batch and the KB")
