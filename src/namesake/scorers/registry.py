"""Declarations of scorers and of evidence for NIL, and the registries that recipes look them up in."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from namesake.arrays import Float64, Int8
from namesake.errors import NamesakeError, did_you_mean

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB
    from namesake.scorers.evidence_shown import Candidate, Match, Reading

Scores = Float64


class ByClass:
    """Scores that depend on a class of each candidate only: `table[of[c]]`. Sums read the table."""

    def __init__(self, table: Float64, of: Int8) -> None:
        self.table, self.of = table, of

    def __len__(self) -> int:
        return len(self.of)

    def __getitem__(self, candidates: Any) -> Scores:
        """The scores of some candidates."""
        scores: Scores = self.table[self.of[candidates]]
        return scores

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        """The scores of all candidates."""
        return self[:]


@dataclass(frozen=True)
class Need:
    """Data that a scorer needs and that some KBs lack. Without it, the scorer counts as absent."""

    what: str
    """What is needed and how a KB gets it, for messages."""
    met: Callable[[KB], bool]
    refused: bool = False
    """Whether a recipe with this scorer is refused on a KB that lacks the data."""


@dataclass(frozen=True, eq=False)
class Signal:
    """A number that recipes weigh: its name, the data it needs, how it is computed and explained."""

    kind: str
    """`scorer`: one number per candidate, higher is better; `doubt`: evidence for NIL, one number per mention."""
    name: str
    formula: str
    """What the number is, in one line."""
    compute: Callable[[Batch], Any]
    module: str
    """The module that declares it."""
    needs: Need | None = None
    explain: Callable[[Any], Iterable[Match]] | None = None
    aliases: tuple[str, ...] = ()
    """Other and former names, which recipes and score files may contain."""
    anchors: bool = False
    """Whether it reads the anchors of an article, so that a second pass must compute it again."""
    early: bool = False
    """Whether it helps to leave out candidates of found names, before other scores are computed."""

    def __call__(self, batch: Batch) -> Scores:
        """One finite number for each candidate, or each mention, of the batch."""
        count, of = (len(batch.rows), "candidates") if self.kind == "scorer" else (len(batch.mentions), "mentions")
        who, given = f"the {self.kind} {self.name}", self.compute(batch)
        if isinstance(given, ByClass):
            return cast(Scores, given)
        scores = as_numbers(given, count, of, who)
        with np.errstate(all="ignore"):
            is_finite = np.isfinite(scores.sum()) or np.isfinite(scores).all()  # large numbers may have an infinite sum
        if not is_finite:
            raise NamesakeError(f"{who} gave a score that is no finite number")
        return scores

    def matches(self, explained: Candidate | Reading) -> list[Match]:
        """The evidence for a candidate, or for a mention; empty for a candidate that is not in the KB."""
        return [] if self.explain is None or explained.row < 0 else list(self.explain(explained))


def as_numbers(given: Any, count: int, of: str, who: str) -> Scores:
    """What a function gave as an array of so many numbers."""
    try:
        numbers = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise NamesakeError(f"{who} gave no array of numbers: {given!r:.60}") from None
    if numbers.shape != (count,):
        size = f"{' × '.join(map(str, numbers.shape))} numbers" if numbers.shape else "one number"
        raise NamesakeError(f"{who} gave {size} for {count} {of}: one for each is needed")
    return numbers


SCORERS: dict[str, Signal] = {}
"""Every scorer by its name in recipes, in the order of declaration."""
DOUBTS: dict[str, Signal] = {}
"""All evidence for NIL by its name in recipes, in the order of declaration."""
_REGISTRIES = {"scorer": SCORERS, "doubt": DOUBTS}
_RESERVED = ("score", "position", "nil", "alone")
"""Names of other rows in explanations."""


def named(name: str, kind: str = "scorer") -> Signal:
    """The scorer with this name, or the evidence for NIL if `kind` is "doubt"."""
    registry = _REGISTRIES[kind]
    if name not in registry:
        raise NamesakeError(
            f"unknown {kind} {name!r}{did_you_mean(name, registry)}; known are {', '.join(sorted(registry))}; "
            f"declare your own {kind} before you load a recipe that uses it"
        )
    return registry[name]


def scorer(
    name: str,
    *,
    needs: Need | None = None,
    anchors: bool = False,
    early: bool = False,
    explain: Callable[[Candidate], Iterable[Match]] | None = None,
    formula: str | None = None,
    aliases: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], Signal]:
    """Declare a function as the scorer `name` for recipes.

    The function takes the batch, or the batch and its KB, and returns one finite number for each candidate; higher is
    better. The number must not depend on the other articles of the batch.

    Args:
        name: the name in recipes.
        needs: data that some KBs lack; without it, the scorer counts as absent.
        anchors: whether the function reads `batch.anchors`.
        early: whether it helps to leave out candidates of found names, before other scores are computed.
        explain: a function that takes a `Candidate` and yields a `Match` for each piece of evidence.
        formula: what is computed, in one line; by default the first line of the docstring.
        aliases: other names of the scorer in recipes and score files.
    """
    return lambda function: _declare("scorer", name, function, formula, needs, explain, aliases, anchors, early)


def doubt(
    name: str,
    *,
    needs: Need | None = None,
    explain: Callable[[Reading], Iterable[Match]] | None = None,
    formula: str | None = None,
    aliases: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], Signal]:
    """Declare a function as evidence for NIL ("doubt"), under a `name` for the `[[decide.parts]]` of recipes.

    The function takes the batch, or the batch and its KB, and returns one finite number for each mention. A positive
    weight makes NIL more likely. `needs`, `formula` and `aliases` are those of `scorer`; `explain` takes a `Reading`.
    """
    return lambda function: _declare("doubt", name, function, formula, needs, explain, aliases)


def _declare(kind: str, name: str, function: Callable[..., Any], formula: str | None, *rest: Any) -> Signal:
    """Register a signal. A second declaration in the same module, as in a notebook, replaces the first."""
    if not isinstance(name, str) or not name or name in _RESERVED:
        raise NamesakeError(f"a {kind} cannot be called {name!r}: choose another name")
    old = _REGISTRIES[kind].get(name)
    if old is not None and old.module != function.__module__:
        raise NamesakeError(f"there is a {kind} {name} already, declared in {old.module}: choose another name")
    given = inspect.signature(function).parameters.values()
    required = [each for each in given if each.default is each.empty and each.kind is not each.VAR_KEYWORD]
    with_kb = len(required) == 2 or any(each.kind is each.VAR_POSITIONAL for each in given)
    if not with_kb and len(required) != 1:
        raise NamesakeError(f"the {kind} {name} must be a function of the batch, or of the batch and the KB")
    said = (function.__doc__ or "").strip().partition("\n")[0] if formula is None else formula
    compute = (lambda batch: function(batch, batch.kb)) if with_kb else function
    new = Signal(kind, name, said, compute, function.__module__, *rest)
    _REGISTRIES[kind][name] = new
    return new
