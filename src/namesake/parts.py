"""The parts of a recipe: how scores and evidence are scaled, weighted and added to the score of a candidate."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np
from msgspec import Meta

from namesake import rank
from namesake.arrays import Float64, Int8, Int64
from namesake.doubts import DOUBTS
from namesake.errors import NamesakeError, did_you_mean
from namesake.kernels.kinds import KINDS, PERSON
from namesake.rank import SCALES
from namesake.scorers import SCORERS
from namesake.scorers.registry import ByClass
from namesake.settings import Checked

REST = "rest"
_NUMBERS = range(len(KINDS))
LARGEST = sys.float_info.max
AT_ONCE = 4096
"""Mentions whose evidence is weighed at once, so that it stays in the processor's cache."""
Finite = Annotated[float, Meta(ge=-LARGEST, le=LARGEST, description="a number")]
Probability = Annotated[float, Meta(ge=0, le=1, description="a probability, between 0 and 1")]


def above_text(number: float | None) -> str:
    """The end of the name of a part with `above`."""
    return "" if number is None else f" > {number:g}"


def scaled(numbers: Float64, scale: str, above: float | None, offsets: Int64) -> Float64:
    """Numbers in the scale of a part, or what exceeds the number in `above`."""
    found: Float64 = SCALES[scale](numbers, offsets)
    return found if above is None else np.maximum(found - above, 0.0)


class Part(Checked, frozen=True):
    """One summand of a candidate's score: weight × scale(scorer), or weight of its kind × scale(evidence)."""

    called_by: ClassVar[tuple[str, ...]] = ("scorer", "evidence")

    scorer: Annotated[str, Meta(description="the name of a scorer, in quotes")] = ""
    weight: Finite = 1.0
    scale: Literal["none", "unit", "smooth", "share", "top", "log1p", "sqrt"] = "none"
    above: Finite | None = None
    """Only what exceeds this number counts: max(scale(scorer) - above, 0). Such a part bends the line of another."""
    unless: Annotated[
        str | tuple[str, ...], Meta(description="the name of another part, in quotes, or a list of them")
    ] = ""
    """The part counts only if this scorer, or each of these, is absent."""
    fixed: bool = False
    """Whether tuning keeps these weights."""
    evidence: Annotated[str, Meta(description="the name of evidence such as PlaceContext, in quotes")] = ""
    """Instead of a scorer: a number of the mention (`doubts.py`), which counts with the weights in `by_kind` only."""
    by_kind: Annotated[dict[str, Finite], Meta(description="a table of numbers by kind, such as { place = 0.4 }")] = (
        msgspec.field(default_factory=dict)
    )
    """What is added to the weight for candidates of a kind; `rest` stands for kinds that are not listed, but people."""

    def __post_init__(self) -> None:
        """Raise an error for a part without a scorer or evidence, and for an unknown kind."""
        super().__post_init__()
        if self.weight < 0 and self.above is None:
            raise NamesakeError(f"weight of {self.name} = {self.weight:g}: must be a number from 0 up")
        if not self.name:
            raise NamesakeError("scorer is missing from parts: it must be the name of a scorer, or give `evidence`")
        if self.scorer and self.evidence:
            raise NamesakeError(f"{self.scorer} and {self.evidence}: a part has a scorer or evidence, not both")
        if self.evidence and (self.weight != 1 or not self.by_kind):
            raise NamesakeError(f"evidence {self.evidence} must have its weights in `by_kind`, as {{ place = 0.4 }}")
        for kind in self.by_kind:
            if kind not in (*KINDS, REST):
                hint = did_you_mean(kind, KINDS)
                raise NamesakeError(f"by_kind of {self.name} has {kind!r}{hint}; the kinds are {', '.join(KINDS)}")

    @property
    def source(self) -> str:
        """The scorer or the evidence."""
        return self.scorer or self.evidence

    @property
    def name(self) -> str:
        """The scorer or the evidence, with the number in `above`."""
        return self.source + above_text(self.above)

    @property
    def weights(self) -> dict[str, float]:
        """All numbers that tuning may change: `weight` under the key "", unless it is evidence, and `by_kind`."""
        return ({} if self.evidence else {"": self.weight}) | self.by_kind

    def with_weights(self, weights: Mapping[str, float]) -> "Part":
        """The same part with other `weights`."""
        by_kind = {kind: float(weights[kind]) for kind in self.by_kind}
        return self.replace(weight=float(weights.get("", self.weight)), by_kind=by_kind)

    def weight_of(self, kinds: Any) -> Any:
        """The weight for a candidate, or an array of candidates, of these kinds (numbers of `KINDS`).

        `by_kind` adds nothing for the kind -1, unknown. Without kinds, all candidates are people.
        """
        return self.weights_by_kind()[PERSON if kinds is None else kinds] if self.by_kind else self.weight

    def weights_by_kind(self) -> Float64:
        """The weight for each of `KINDS`, and last for unknown ones."""
        return _weights_by_kind(0.0 if self.evidence else self.weight, tuple(self.by_kind.items()))

    def kinds_of(self, key: str) -> tuple[int, ...]:
        """The numbers of the kinds that a key of `weights` concerns: all, one, or the rest."""
        if key == REST:
            return tuple(n for n in _NUMBERS if n != PERSON and KINDS[n] not in self.by_kind)
        return (KINDS.index(key),) if key else (-1, *_NUMBERS)

    @property
    def stands_in_for(self) -> tuple[str, ...]:
        """The names in `unless`."""
        if isinstance(self.unless, str):
            return (self.unless,) if self.unless else ()
        return self.unless


@lru_cache(maxsize=4096)
def _weights_by_kind(weight: float, by_kind: tuple[tuple[str, float], ...]) -> Float64:
    added = dict(by_kind)
    rest = added.get(REST, 0.0)
    of_kinds = [added.get(kind, 0.0 if number == PERSON else rest) for number, kind in enumerate(KINDS)]
    weights = weight + np.array([*of_kinds, 0.0])
    weights.flags.writeable = False
    return weights


class DoubtPart(Checked, frozen=True):
    """One summand of the score of NIL: weight × scale(doubt)."""

    called_by: ClassVar[tuple[str, ...]] = ("doubt",)

    doubt: Annotated[str, Meta(description="the name of a doubt, in quotes")]
    weight: Finite = 1.0
    scale: Literal["none", "log1p", "sqrt"] = "none"
    above: Finite | None = None
    """As for other parts."""
    fixed: bool = False
    """Whether tuning keeps this weight."""

    @property
    def name(self) -> str:
        """The doubt, with the number in `above`."""
        return self.doubt + above_text(self.above)


@dataclass(frozen=True)
class Combined:
    """Scores of one recipe: `total` is the sum of its parts; `ties` break its ties in turn."""

    total: Float64
    ties: dict[str, Float64]
    nil: Float64 | None
    """The score of NIL for each mention; None if the recipe always answers."""
    absent: tuple[str, ...]
    """Scorers and evidence that the scores lack: as parts they count 0, as tie-breakers they are skipped."""

    @property
    def keys(self) -> tuple[Float64, ...]:
        """The keys of `rank.order`: the score, then its tie-breakers."""
        return (self.total, *self.ties.values())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of `keys`."""
        return ("score", *self.ties)


def key_of(scores: Mapping[str, Float64], name: str) -> str | None:
    """The key of a scorer or doubt: its name or an alias; None if it is absent."""
    if name in scores:
        return name
    signal = SCORERS.get(name) or DOUBTS.get(name)
    return next((each for each in (signal.aliases if signal else ()) if each in scores), None)


def column(scores: Mapping[str, Float64], name: str) -> Float64 | None:
    """The numbers of a scorer or doubt, by its name or an alias; None if they are absent."""
    key = key_of(scores, name)
    return None if key is None else np.asarray(scores[key], np.float64)


def scaled_values(
    parts: Sequence[Part], scores: Mapping[str, Float64], offsets: Int64, doubts: Mapping[str, Float64] | None = None
) -> dict[str, Float64 | None]:
    """The scaled, unweighted numbers of each part by candidate; None if it is absent or replaced by another part.

    `scores` are flat arrays over candidates, by scorer, and `doubts` arrays over mentions. The candidates of
    mention i are `offsets[i]` to `offsets[i + 1]`.
    """
    doubts = doubts or {}
    found: dict[str, Float64 | None] = {}
    for part in parts:
        numbers = column(doubts if part.evidence else scores, part.source)
        if numbers is None or not _counts(part, scores, doubts):
            found[part.name] = None
            continue
        numbers = np.repeat(numbers, np.diff(offsets)) if part.evidence else numbers
        rank.check(offsets, [numbers], [part.name])
        found[part.name] = scaled(numbers, part.scale, part.above, offsets)
    return found


def _counts(part: Part, scores: Mapping[str, Float64], doubts: Mapping[str, Float64]) -> bool:
    """Whether a part is neither absent nor replaced by another part."""
    if key_of(doubts if part.evidence else scores, part.source) is None:
        return False
    return all(key_of(scores, name) is None and key_of(doubts, name) is None for name in part.stands_in_for)


def sum_of(
    parts: Sequence[Part],
    scorers: Iterable[str],
    scores: Mapping[str, Float64],
    offsets: Int64,
    doubts: Mapping[str, Float64],
    kinds: Int8 | None,
) -> Float64:
    """The sum of the parts of some scorers for each candidate."""
    from namesake.kernels.link.candidate_tables import add_part, add_tables  # loads with the first batch

    total = np.zeros(int(offsets[-1]))
    of_kind = np.full(len(total), PERSON, np.int8) if kinds is None else kinds
    tables: dict[int, tuple[Int8, Float64]] = {}
    for part in parts:
        if part.scorer not in scorers or not _counts(part, scores, doubts):
            continue
        given: Any = scores[key_of(scores, part.scorer) or ""]
        weights = part.weights_by_kind()
        rank.check_length(offsets, given, part.name)
        if isinstance(given, ByClass) and part.scale == "none":
            _, table = tables.setdefault(id(given.of), (given.of, np.zeros((len(weights), len(given.table)))))
            table += np.outer(weights, scaled(given.table, "none", part.above, offsets))
        else:
            value = SCALES[part.scale](np.asarray(given, np.float64), offsets)
            add_part(total, value, _above(part), of_kind, weights)
    for of_class, table in tables.values():
        add_tables(total, of_kind, of_class, table)
    if np.isnan(total).any():
        scaled_values(parts, scores, offsets, doubts)  # raises an error that says where
    return total


def evidence_of(
    parts: Sequence[Part],
    nil_parts: Sequence[DoubtPart],
    scores: Mapping[str, Float64],
    offsets: Int64,
    doubts: Mapping[str, Float64],
    kinds: Int8 | None,
) -> tuple[Float64, Float64 | None]:
    """The sums of the parts with evidence: for each candidate, by its mention and kind, and for NIL of each mention.

    The second is None if no evidence for NIL is known.
    """
    parts = [part for part in parts if part.evidence and _counts(part, scores, doubts)]
    nil_parts = [part for part in nil_parts if key_of(doubts, part.doubt) is not None]
    found, nil = np.zeros(int(offsets[-1])), np.zeros(len(offsets) - 1)
    if not parts and not nil_parts:
        return found, None
    from namesake.kernels.link.candidate_tables import weigh_evidence  # loads with the first recipe with evidence

    of_nil = np.array([part.weight for part in nil_parts])
    of_kinds = np.array([part.weights_by_kind() for part in parts]).reshape(-1, len(KINDS) + 1)
    asked = [(part.doubt, part.scale) for part in nil_parts] + [(part.evidence, part.scale) for part in parts]
    sources = {source: number for number, source in enumerate(dict.fromkeys(asked))}
    mentions, sizes = np.arange(len(offsets)), np.diff(offsets)
    numbers = []
    for name, scale in sources:
        given = doubts[key_of(doubts, name) or name]
        rank.check_length(mentions, given, name)
        number = SCALES[scale](given, mentions)
        numbers.append(number / np.maximum(sizes, 1) if scale in ("share", "smooth") else number)
    source, above = np.array([sources[one] for one in asked]), np.array([_above(part) for part in (*nil_parts, *parts)])
    of_kind = np.full(len(found), PERSON, np.int8) if kinds is None else kinds
    values = np.empty((len(sources), min(AT_ONCE, len(sizes))))
    for low in range(0, len(sizes), AT_ONCE):
        some = slice(low, min(low + AT_ONCE, len(sizes)))
        for place, number in enumerate(numbers):
            values[place, : some.stop - low] = number[some]
        of_mentions = offsets[low : some.stop + 1], of_kind, values
        weigh_evidence(*of_mentions, source, above, of_nil, of_kinds, nil[some], found)
    if np.isnan(found).any():
        scaled_values(parts, scores, offsets, doubts)  # raises an error that says where
    return found, nil if nil_parts else None


def _above(part: Any) -> float:
    return -np.inf if part.above is None else float(part.above)
