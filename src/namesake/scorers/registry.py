"""Declarations of scorers and of evidence for NIL, and the registries that recipes look them up in."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from namesake.arrays import Float64
from namesake.errors import NamesakeError, did_you_mean

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB
    from namesake.scorers.evidence_shown import Candidate, Match, Reading

Scores = Float64


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
    """A number that recipes weigh: its name, what it needs, how it is computed and explained."""

    name: str
    formula: str
    """What the number is, in one line."""
    compute: Callable[[Batch], Any]
    module: str
    """The module that declares it."""
    needs: Need | None = None


@dataclass(frozen=True, eq=False)
class Scorer(Signal):
    """A number for each candidate; higher is better."""

    anchors: bool = False
    """Whether it reads the anchors of an article, so that a second pass must compute it again."""
    explain: Callable[[Candidate], Iterable[Match]] | None = None
    aliases: tuple[str, ...] = ()
    """Other names of this score in score files."""

    def __call__(self, batch: Batch) -> Scores:
        """One finite number for each candidate of the batch."""
        return _checked(f"the scorer {self.name}", self.compute(batch), len(batch.rows), "candidates")

    def matches(self, candidate: Candidate) -> list[Match]:
        """What of a candidate matched; empty for an entity that is not in the KB."""
        return [] if self.explain is None or candidate.row < 0 else list(self.explain(candidate))


@dataclass(frozen=True, eq=False)
class Doubt(Signal):
    """Evidence for NIL ("not in the knowledge base"): a number for each mention."""

    explain: Callable[[Reading], Iterable[Match]] | None = None

    def __call__(self, batch: Batch) -> Scores:
        """One finite number for each mention of the batch."""
        return _checked(f"the doubt {self.name}", self.compute(batch), len(batch.names), "mentions")

    def matches(self, reading: Reading) -> list[Match]:
        """The data that the number comes from."""
        return [] if self.explain is None else list(self.explain(reading))


SignalType = TypeVar("SignalType", bound=Signal)

SCORERS: dict[str, Scorer] = {}
"""Every scorer by its name in recipes, in the order of declaration."""
DOUBTS: dict[str, Doubt] = {}
"""All evidence for NIL by its name in recipes, in the order of declaration."""

RESERVED = {"scorer": ("score", "position"), "doubt": ("nil", "alone")}
"""Names that explanations use for other rows."""

RENAMED = {
    "Words": "ArticleWords",
    "Sentence": "SentenceWords",
    "Company": "SharedStatements",
    "Record": "StatementCount",
    "Early": "ItemAge",
    "Alias": "AliasName",
    "Variant": "VariantName",
    "Quality": "NameMatchQuality",
    "Taken": "AlreadyLinked",
    "Era": "YearsFromLifetime",
    "Lifetime": "OutsideLifetime",
    "Vital": "LifeDatesMatch",
    "Office": "OfficeHeld",
    "Born": "NotYetBorn",
    "Expected": "ExpectedNamesakes",
    "Length": "ArticleLength",
    "GoesOn": "NameContinues",
    "Comes": "FirstNameBefore",
    "Suffix": "SuffixAfter",
    "Thing": "OtherEntityFame",
    "ThingShare": "OtherEntityShare",
    "Lower": "LowercaseUse",
    "Place": "PlaceContext",
    "Bearers": "NamesakeCount",
    "FirstName": "FirstNameOnly",
    "Role": "RoleBefore",
    "Title": "TitleBefore",
    "Wide": "VariantMatch",
    "Dropped": "ExtraWords",
    "Spelled": "Misspelling",
}
"""Former names of scorers and doubts, which recipes and score files may still contain."""
FORMER = {new: old for old, new in RENAMED.items()}


def named(name: str) -> Scorer:
    """The scorer with this name."""
    return _find(SCORERS, "scorer", name)


def named_doubt(name: str) -> Doubt:
    """The evidence for NIL with this name."""
    return _find(DOUBTS, "doubt", name)


def _find(registry: Mapping[str, SignalType], kind: str, name: str) -> SignalType:
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
    explain: Callable[[Candidate], Iterable[Match]] | None = None,
    formula: str | None = None,
    aliases: tuple[str, ...] = (),
) -> Callable[[Callable[..., Any]], Scorer]:
    """Declare a function as the scorer `name` for recipes.

    The function takes the batch, or the batch and its KB, and returns one finite number for each candidate; higher is
    better. The number must not depend on the other articles of the batch.

    Args:
        name: the name in recipes.
        needs: data that some KBs lack; without it, the scorer counts as absent.
        anchors: whether the function reads `batch.anchors`.
        explain: a function that takes a `Candidate` and yields a `Match` for each piece of evidence.
        formula: what is computed, in one line; by default the first line of the docstring.
        aliases: other names of this score in score files.
    """

    def declare(function: Callable[..., Any]) -> Scorer:
        said = _first_line(function) if formula is None else formula
        compute = _of_batch(f"the scorer {name}", function)
        return _add(
            SCORERS, "scorer", Scorer(name, said, compute, function.__module__, needs, anchors, explain, aliases)
        )

    return declare


def doubt(
    name: str,
    *,
    needs: Need | None = None,
    explain: Callable[[Reading], Iterable[Match]] | None = None,
    formula: str | None = None,
) -> Callable[[Callable[..., Any]], Doubt]:
    """Declare a function as evidence for NIL, called "doubt" for short, for the `[[decide.parts]]` of recipes.

    The function takes the batch, or the batch and its KB, and returns one finite number for each mention. A positive
    weight makes NIL more likely. The other arguments are those of `scorer`; `explain` takes a `Reading`.
    """

    def declare(function: Callable[..., Any]) -> Doubt:
        said = _first_line(function) if formula is None else formula
        compute = _of_batch(f"the doubt {name}", function)
        return _add(DOUBTS, "doubt", Doubt(name, said, compute, function.__module__, needs, explain))

    return declare


def _add(registry: dict[str, SignalType], kind: str, new: SignalType) -> SignalType:
    """Register a signal. A second declaration in the same module, as in a notebook, replaces the first."""
    if not isinstance(new.name, str) or not new.name or new.name in RESERVED[kind]:
        raise NamesakeError(f"a {kind} cannot be called {new.name!r}: choose another name")
    old = registry.get(new.name)
    if old is not None and old.module != new.module:
        raise NamesakeError(f"there is a {kind} {new.name} already, declared in {old.module}: choose another name")
    registry[new.name] = new
    return new


def _first_line(function: Callable[..., Any]) -> str:
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _checked(who: str, given: Any, count: int, of: str) -> Scores:
    """The numbers that `who` returned, if there is one finite number for each of `count` candidates or mentions."""
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


def _of_batch(who: str, function: Callable[..., Any]) -> Callable[[Batch], Any]:
    """The function with the batch as its only argument; functions of two arguments also receive the KB."""
    given = inspect.signature(function).parameters.values()
    variadic = any(each.kind is each.VAR_POSITIONAL for each in given)
    required = [each for each in given if each.default is each.empty and each.kind is not each.VAR_KEYWORD]
    if variadic or len(required) == 2:
        return lambda batch: function(batch, batch.kb)
    if len(required) == 1:
        return function
    raise NamesakeError(f"{who} must be a function of the batch, or of the batch and the KB")
