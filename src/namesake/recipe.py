"""A linking system as data: which scorers, how scaled and weighted, with which anchors, context, words and tie-breaks.

Recipes are TOML files. The paper's systems and `default` ship in `recipes/`; docs/recipes.md describes every key.
"""

import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import msgspec
import numpy as np
from msgspec import Meta

from namesake import rank
from namesake.arrays import Float64, Int8, Int64
from namesake.doubts import DOUBTS
from namesake.errors import NamesakeError, did_you_mean, warn
from namesake.rank import SCALES
from namesake.scorers import SCORERS, named
from namesake.settings import KINDS, PERSON, Checked, Settings

REST = "rest"
_NUMBERS = range(len(KINDS))
LARGEST = sys.float_info.max
Finite = Annotated[float, Meta(ge=-LARGEST, le=LARGEST, description="a number")]
Probability = Annotated[float, Meta(ge=0, le=1, description="a probability, between 0 and 1")]


def _above(number: float | None) -> str:
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
        return self.source + _above(self.above)

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
        weight = 0.0 if self.evidence else self.weight
        if not self.by_kind:
            return weight
        added = [sum(more for key, more in self.by_kind.items() if number in self.kinds_of(key)) for number in _NUMBERS]
        return (weight + np.array([*added, 0.0]))[PERSON if kinds is None else kinds]

    def kinds_of(self, key: str) -> tuple[int, ...]:
        """The numbers of the kinds that a key of `weights` concerns: all, one, or the rest."""
        if key == REST:
            return tuple(n for n in _NUMBERS if n != PERSON and KINDS[n] not in self.by_kind)
        return (KINDS.index(key),) if key else (-1, *_NUMBERS)

    @property
    def stands_in_for(self) -> tuple[str, ...]:
        """The names in `unless`."""
        return tuple(name for name in ((self.unless,) if isinstance(self.unless, str) else self.unless) if name)


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
        return self.doubt + _above(self.above)


class Decide(Checked, frozen=True):
    """When to answer. `decide.py` computes probabilities from scores."""

    nil: Annotated[Finite, Meta(description="a number, the score of none of the candidates")]
    """The score of NIL if no doubt is known, as in score files."""
    alone: Finite | None = None
    """The same for a mention with a single candidate; None: `nil`."""
    threshold: Probability = 0.5
    confirm: Probability = 1.0
    """Links with at least this confidence become anchors of a second pass; 1: there is no second pass."""
    thresholds: Annotated[
        dict[str, Probability], Meta(description="a table of probabilities between 0 and 1, such as p95 = 0.9")
    ] = msgspec.field(default_factory=dict)
    """For each precision in percent, the threshold that reaches it on labelled text."""
    parts: Annotated[tuple[DoubtPart, ...], Meta(description="[[decide.parts]] tables, each with a doubt")] = ()
    """The summands of the score of NIL."""

    def __post_init__(self) -> None:
        """Raise an error for a repeated doubt or a threshold whose name is not a precision."""
        super().__post_init__()
        for name in self.thresholds:
            if not re.fullmatch(r"p\d{1,2}", name, re.ASCII):
                raise NamesakeError(f"thresholds has {name!r}: its keys are precisions in percent, such as p95")
        _check_unique([part.name for part in self.parts])

    def nil_parts(self, doubts: Mapping[str, Float64], offsets: Int64) -> dict[str, Float64]:
        """The summands of the score of NIL for every mention: the known doubts, else `nil` or `alone`."""
        known = {part: numbers for part in self.parts if (numbers := column(doubts, part.doubt)) is not None}
        if known:
            return {
                part.name: part.weight * scaled(each, part.scale, part.above, offsets) for part, each in known.items()
            }
        single = np.diff(offsets) == 1
        if self.alone is None:
            return {"nil": np.full(len(single), float(self.nil))}
        return {"nil": np.where(single, 0.0, self.nil), "alone": np.where(single, self.alone, 0.0)}


@dataclass(frozen=True)
class Combined:
    """Scores of one recipe: `total` is the sum of `contributions`, part by part; `ties` break its ties in turn."""

    total: Float64
    contributions: dict[str, Float64]
    ties: dict[str, Float64]
    nil_parts: dict[str, Float64]
    """The summands of the score of NIL by mention; empty if the recipe always answers."""
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

    @cached_property
    def nil(self) -> Float64 | None:
        """The score of NIL for each mention; None if the recipe always answers."""
        if not self.nil_parts:
            return None
        first, *rest = self.nil_parts.values()
        total = first.copy()
        for numbers in rest:  # `np.sum` would add in another order for a single mention
            total += numbers
        return total


class Recipe(Settings, frozen=True):
    """A linking system as data. `Recipe.load("uiscore-paper")`, `Recipe.load("mine.toml")`."""

    name: str
    parts: Annotated[tuple[Part, ...], Meta(min_length=1, description="at least one [[parts]] table with a scorer")]
    description: str = ""
    tie_break: Annotated[tuple[str, ...], Meta(description='a list of names, such as ["PR_WP", "LQID"]')] = (
        "PR_WP",
        "LQID",
    )
    decide: Annotated[Decide | None, Meta(description="a [decide] table with at least `nil`")] = None

    def __post_init__(self) -> None:
        """Raise an error for a repeated part, or for `unless` with a name that is no part."""
        super().__post_init__()
        names = [part.source for part in self.parts]
        _check_unique([part.name for part in self.parts])
        for part in self.parts:
            for name in part.stands_in_for:
                if name not in names:
                    hint = did_you_mean(name, names)
                    raise NamesakeError(f"{part.name} counts unless {name}, which is no part of the recipe{hint}")

    @classmethod
    def load(cls, source: "Recipe | str | Path") -> "Recipe":
        """Read a recipe: `source` is the name of a shipped one, or a `.toml` file; a recipe is returned unchanged."""
        if isinstance(source, Recipe):
            return source
        if str(source).endswith(".toml"):
            path = Path(source)
            try:
                text = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise NamesakeError(f"{path}: cannot read this recipe ({error})") from None
            return cls.parse(text, str(path))
        shipped = recipes()
        if str(source) not in shipped:
            hint = did_you_mean(str(source), shipped)
            raise NamesakeError(f"no recipe named {str(source)!r}{hint}; give a .toml file or {', '.join(shipped)}")
        return cls.parse(_shipped(str(source)), f"recipe {source}")

    @classmethod
    def parse(cls, text: str, where: str = "recipe", declared: bool = True) -> "Recipe":
        """Make a recipe from TOML.

        `where` names the file in messages. With `declared`, every scorer of the recipe must be declared in this
        program; without, it may be one that only the program that wrote the recipe had.
        """
        try:
            table = tomllib.loads(text)
            if (base := table.pop("extends", None)) in recipes():
                table = _extended(tomllib.loads(_shipped(base)), table)
            elif base is not None:
                raise NamesakeError(f"extends = {base!r}: must be one of {', '.join(recipes())}")
            recipe, renamed = cls.of(table).with_current_names()
            if renamed:
                changed = [f"{old} is {new}" for old, new in renamed.items()]
                more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
                warn(f"{where}: scores have new names: {', '.join(changed[:3])}{more} (docs/recipes.md)")
            for name in recipe.scorers if declared else ():
                named(name)
            for name in recipe.doubts if declared else ():
                named(name, "doubt")
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise NamesakeError(f"{where}: not TOML ({error})") from None
        except NamesakeError as error:
            raise NamesakeError(f"{where}: {error}") from None
        return recipe

    def at(self, threshold: float | str) -> "Recipe":
        """The same recipe with another threshold: a confidence, or the name of a calibrated one such as "p95"."""
        if self.decide is None:
            raise NamesakeError(f"recipe {self.name} always answers: it has no [decide] table, so no threshold")
        if isinstance(threshold, str):
            known = self.decide.thresholds
            if threshold not in known:
                raise NamesakeError(
                    f"recipe {self.name} has no threshold {threshold!r}; it has {', '.join(known) or 'none'}: "
                    "`namesake eval threshold --out mine.toml` calibrates some on labelled text"
                )
            threshold = known[threshold]
        return self.replace(decide=self.decide.replace(threshold=threshold))

    @property
    def scorers(self) -> tuple[str, ...]:
        """The distinct scorers of the recipe: parts first, then tie-breakers."""
        return tuple(dict.fromkeys([*(part.scorer for part in self.parts if part.scorer), *self.tie_break]))

    @property
    def doubts(self) -> tuple[str, ...]:
        """The distinct evidence of the recipe: for NIL, then of parts."""
        for_nil = () if self.decide is None else (part.doubt for part in self.decide.parts)
        return tuple(dict.fromkeys([*for_nil, *(part.evidence for part in self.parts if part.evidence)]))

    @property
    def uses_kinds(self) -> bool:
        """Whether a weight depends on the kind of a candidate."""
        return any(part.by_kind for part in self.parts)

    def toml(self) -> str:
        """The recipe as TOML; `Recipe.parse` reads it back equal."""
        table = msgspec.to_builtins(self, enc_hook=float)
        return "\n".join(_toml({"name": table.pop("name"), **table})) + "\n"

    def with_current_names(self) -> tuple["Recipe", dict[str, str]]:
        """The recipe with the current names of its scorers and doubts, and the former names that were replaced."""
        known = SCORERS | DOUBTS
        current = {alias: signal.name for signal in known.values() for alias in signal.aliases if alias not in known}
        renamed = {name: current[name] for name in (*self.scorers, *self.doubts) if name in current}
        if not renamed:
            return self, {}

        def new(names: Iterable[str]) -> tuple[str, ...]:
            return tuple(renamed.get(name, name) for name in names)

        parts = []
        for part in self.parts:
            scorer, evidence = new([part.scorer, part.evidence])
            parts.append(part.replace(scorer=scorer, evidence=evidence, unless=new(part.stands_in_for) or ""))
        decide = self.decide
        if decide is not None:
            decide = decide.replace(parts=tuple(part.replace(doubt=new([part.doubt])[0]) for part in decide.parts))
        return self.replace(parts=tuple(parts), tie_break=new(self.tie_break), decide=decide), renamed

    def save(self, path: str | Path) -> None:
        """Write the recipe to the `.toml` file `path`."""
        try:
            Path(path).write_text(self.toml(), encoding="utf-8")
        except OSError as error:
            raise NamesakeError(f"{path}: the recipe cannot be written there ({error.strerror})") from None

    def scaled(
        self, scores: Mapping[str, Float64], offsets: Int64, doubts: Mapping[str, Float64] | None = None
    ) -> dict[str, Float64 | None]:
        """The scaled, unweighted numbers of each part by candidate; None if it is absent or replaced by another part.

        `scores` are flat arrays over candidates, by scorer, and `doubts` arrays over mentions. The candidates of
        mention i are `offsets[i]` to `offsets[i + 1]`.
        """
        given = {part.source: column((doubts or {}) if part.evidence else scores, part.source) for part in self.parts}
        found: dict[str, Float64 | None] = {}
        for part in self.parts:
            numbers = given[part.source]
            if numbers is None or any(given[name] is not None for name in part.stands_in_for):
                found[part.name] = None
                continue
            numbers = np.repeat(numbers, np.diff(offsets)) if part.evidence else numbers
            rank.check(offsets, [numbers], [part.name])
            found[part.name] = scaled(numbers, part.scale, part.above, offsets)
        return found

    def combine(
        self,
        scores: Mapping[str, Float64],
        offsets: Int64,
        doubts: Mapping[str, Float64] | None = None,
        kinds: Int8 | None = None,
    ) -> Combined:
        """Weight and add the parts: scores and evidence as for `scaled`, and the kind of each candidate.

        Kinds are numbers of `KINDS`, -1 for unknown. Without them, all candidates are people.
        """
        total = np.zeros(int(offsets[-1]))
        contributions: dict[str, Float64] = {}
        values = self.scaled(scores, offsets, doubts)
        for part in self.parts:
            value = values[part.name]
            contributions[part.name] = np.zeros(len(total)) if value is None else part.weight_of(kinds) * value
            if value is not None:
                total += contributions[part.name]
        ties = {name: key for name in self.tie_break if (key := column(scores, name)) is not None}
        evidence = [part.evidence for part in self.parts if part.evidence]
        absent = [name for name in self.scorers if column(scores, name) is None]
        absent += [name for name in evidence if column(doubts or {}, name) is None]
        nil_parts = {} if self.decide is None else self.decide.nil_parts(doubts or {}, offsets)
        return Combined(total, contributions, ties, nil_parts, tuple(absent))


def recipes() -> list[str]:
    """Names of the recipes that ship with Namesake."""
    folder = resources.files("namesake") / "recipes"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def _shipped(name: str) -> str:
    return (resources.files("namesake") / "recipes" / f"{name}.toml").read_text(encoding="utf-8")


def column(scores: Mapping[str, Float64], name: str) -> Float64 | None:
    """The numbers of a scorer or doubt, by its name or an alias; None if they are absent."""
    signal = SCORERS.get(name) or DOUBTS.get(name)
    for each in (name, *(signal.aliases if signal else ())):
        if each in scores:
            return np.asarray(scores[each], np.float64)
    return None


def _check_unique(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise NamesakeError(f"{name} is a part twice: add the weights up in one part")


def _extended(base: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
    """The shipped recipe `base` with the keys of `table`; parts of the same name are replaced, others appended."""

    def by_name(parts: Any) -> dict[tuple[str, float | None], Any]:
        return {(part["scorer" if "scorer" in part else "evidence"], part.get("above")): part for part in parts}

    parts = by_name(base["parts"])
    try:
        parts |= by_name(table.get("parts", []))
    except (LookupError, TypeError):
        return base | table  # `Checked` reports the faulty part
    return base | table | {"parts": list(parts.values())}


def _toml(table: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """The lines of a TOML table: its plain values, then its tables."""
    tables = [key for key, value in table.items() if key == "parts" or (isinstance(value, dict) and key != "by_kind")]
    for key, value in table.items():
        if key == "by_kind":
            yield f"by_kind = {{ {', '.join(f'{kind} = {json.dumps(number)}' for kind, number in value.items())} }}"
        elif key not in tables and value is not None:  # JSON's syntax, and DEL, which only TOML wants escaped
            yield f"{key} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007f")
    for key in tables:
        several = key == "parts"
        for one in table[key] if several else [table[key]]:
            header = f"[[{path}{key}]]" if several else f"[{path}{key}]"
            yield from ("", header, *_toml(one, f"{path}{key}."))
