"""A linking system as data: which scorers, how scaled and weighted, with which anchors, context, words and tie-breaks.

Recipes are TOML files. The paper's systems and `default` ship in `recipes/`; docs/recipes.md describes every key.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from namesake.arrays import Float64, Int8, Int64
from namesake.doubts import DOUBTS
from namesake.errors import NamesakeError, did_you_mean, warn
from namesake.parts import (
    Combined,
    DoubtPart,
    Finite,
    Part,
    Probability,
    column,
    evidence_of,
    key_of,
    scaled,
    scaled_values,
    sum_of,
)
from namesake.scorers import SCORERS, named
from namesake.settings import Checked, Settings

SHIPPED = Path(__file__).with_name("recipes")


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

    def nil_parts(self, doubts: Mapping[str, Float64], offsets: Int64) -> Iterator[tuple[str, Float64]]:
        """The summands of the score of NIL for every mention: the known doubts, else `nil` or `alone`."""
        is_known = False
        for part in self.parts:
            if (numbers := column(doubts, part.doubt)) is not None:
                is_known = True
                yield part.name, part.weight * scaled(numbers, part.scale, part.above, offsets)
        single = np.diff(offsets) == 1
        if not is_known:
            yield "nil", np.where(single & (self.alone is not None), 0.0, float(self.nil))
        if not is_known and self.alone is not None:
            yield "alone", np.where(single, self.alone, 0.0)

    def nil_score(self, doubts: Mapping[str, Float64], offsets: Int64) -> Float64:
        """The score of NIL for every mention."""
        return sum((numbers for _, numbers in self.nil_parts(doubts, offsets)), np.zeros(len(offsets) - 1))


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
        path, where = Path(source), str(Path(source))
        if not str(source).endswith(".toml"):
            if str(source) not in (shipped := recipes()):
                hint = did_you_mean(str(source), shipped)
                raise NamesakeError(f"no recipe named {str(source)!r}{hint}; give a .toml file or {', '.join(shipped)}")
            path, where = SHIPPED / f"{source}.toml", f"recipe {source}"
        try:
            return cls.parse(path.read_text(encoding="utf-8"), where)
        except (OSError, UnicodeDecodeError) as error:
            raise NamesakeError(f"{path}: cannot read this recipe ({error})") from None

    @classmethod
    def parse(cls, text: str, where: str = "recipe", declared: bool = True) -> "Recipe":
        """Make a recipe from TOML. `where` is for messages; `declared`: this program must declare its scorers."""
        try:
            table = tomllib.loads(text)
            if (base := table.pop("extends", None)) in recipes():
                table = _extended(tomllib.loads((SHIPPED / f"{base}.toml").read_text(encoding="utf-8")), table)
            elif base is not None:
                hint = did_you_mean(str(base), recipes())
                raise NamesakeError(f"extends = {base!r}{hint}: must be one of {', '.join(recipes())}")
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

        def new(name: str) -> str:
            return renamed.get(name, name)

        parts = []
        for part in self.parts:
            unless = tuple(map(new, part.stands_in_for)) or ""
            parts.append(part.replace(scorer=new(part.scorer), evidence=new(part.evidence), unless=unless))
        decide = self.decide
        if decide is not None:
            decide = decide.replace(parts=tuple(part.replace(doubt=new(part.doubt)) for part in decide.parts))
        return self.replace(parts=tuple(parts), tie_break=tuple(map(new, self.tie_break)), decide=decide), renamed

    def save(self, path: str | Path) -> None:
        """Write the recipe to the `.toml` file `path`."""
        try:
            Path(path).write_text(self.toml(), encoding="utf-8")
        except OSError as error:
            raise NamesakeError(f"{path}: the recipe cannot be written there ({error.strerror})") from None

    def combine(
        self,
        scores: Mapping[str, Float64],
        offsets: Int64,
        doubts: Mapping[str, Float64] | None = None,
        kinds: Int8 | None = None,
    ) -> Combined:
        """Weight and add the parts; the kinds of candidates are numbers of `KINDS`, -1 for unknown, None for people."""
        doubts = doubts or {}
        total, rule = sum_of(self.parts, self.scorers, scores, offsets, doubts, kinds), self.decide
        nil_parts = () if rule is None else rule.parts
        evidence, nil = evidence_of(self.parts, nil_parts, scores, offsets, doubts, kinds)
        if rule is not None and nil is None:
            nil = rule.nil_score({}, offsets)
        ties = {name: key for name in self.tie_break if (key := column(scores, name)) is not None}
        absent = [name for name in self.scorers if key_of(scores, name) is None]
        absent += [part.evidence for part in self.parts if part.evidence and key_of(doubts, part.evidence) is None]
        return Combined(total + evidence, ties, nil, tuple(absent))

    def contributions(
        self,
        scores: Mapping[str, Float64],
        offsets: Int64,
        doubts: Mapping[str, Float64] | None = None,
        kinds: Int8 | None = None,
    ) -> dict[str, Float64]:
        """What each part adds to the score of each candidate; the arguments are those of `combine`."""
        zeros, values = np.zeros(int(offsets[-1])), scaled_values(self.parts, scores, offsets, doubts)
        return {
            part.name: zeros if (value := values[part.name]) is None else part.weight_of(kinds) * value
            for part in self.parts
        }


def recipes() -> list[str]:
    """Names of the recipes that ship with Namesake."""
    return sorted(file.stem for file in SHIPPED.glob("*.toml"))


def _check_unique(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise NamesakeError(f"{name} is a part twice: add the weights up in one part")


def _extended(base: dict[str, Any], table: dict[str, Any]) -> dict[str, Any]:
    """The shipped recipe `base` with the keys of `table`; parts of the same name are replaced, others appended."""

    def by_name(parts: Any) -> dict[tuple[str, float | None], Any]:
        return {(part["scorer" if "scorer" in part else "evidence"], part.get("above")): part for part in parts}

    with suppress(LookupError, TypeError):  # `Checked` reports a faulty part
        parts = by_name(base["parts"]) | by_name(table.get("parts", []))
        return base | table | {"parts": list(parts.values())}
    return base | table


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
