"""A system is a recipe: which scorers, how scaled and weighted, with which anchors, context, words and tie-breaks.

Recipes are data in TOML. The paper's systems ship in `recipes/`, and so does `default`:

    name = "uiscore-paper"
    anchors = "first"                  # first | all: which unambiguous mentions EEIScore and CSSVE compare with
    context = "article"                # article | narrow | both: the words of the text that IScore looks at
    words = "D+S"                      # the words of the entity: a sum of D, P, S, S_A
    variants = "never"                 # never | missing | always: candidates by variants of a name, not its spelling
    tie_break = ["PR_WP", "LQID"]
    [neural]                           # optional: what scorers that read vectors and models are told
    themes = 10                        # Eigen: how many singular vectors count
    themes_from = "any"                # any | walk | text: the vectors that Eigen takes
    tokens = 128                       # mGENRE: how much text on each side of a name
    beam = 0                           # mGENRE: the width of its beam search; 0: the likelihood of every title
    [[parts]]
    scorer = "IScore"
    weight = 1.0
    scale = "none"                     # one of SCALES
    unless = "IScore_IDF"              # optional: count this part only where that scorer (or all of a list) is absent
    fixed = true                       # optional: tuning leaves this weight alone
    [decide]                           # without it the best candidate always wins
    nil = 5.0                          # the score of "none of them"; scores are then log-odds
    alone = 1.0                        # optional: the same for a mention with one candidate
    threshold = 0.5                    # answer with at least this probability
    confirm = 1.0                      # links at least this sure become anchors of a second pass; 1: none
    [decide.thresholds]                # optional: the confidence from which 95 of 100 answers are right, and so on
    p95 = 0.9
    [[decide.parts]]                   # optional: what "none of them" is made of, in place of `nil` and `alone`
    doubt = "ExpectedNamesakes"
    weight = 0.5                       # below 0: it speaks for the candidates
    scale = "none"                     # none | log1p | sqrt
"""

import json
import re
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, ClassVar, Literal

import msgspec
import numpy as np
from msgspec import Meta
from msgspec.structs import asdict

from namesake import rank
from namesake.checked import Checked
from namesake.doubts import named_doubt
from namesake.errors import NamesakeError, did_you_mean
from namesake.rank import FloatArray, IntArray
from namesake.scale import SCALES
from namesake.scorers import SCORERS, named
from namesake.settings import Neural, Settings

LARGEST = sys.float_info.max
Finite = Annotated[float, Meta(ge=-LARGEST, le=LARGEST, description="a number")]
Probability = Annotated[float, Meta(ge=0, le=1, description="a probability, between 0 and 1")]


Names = Annotated[str | tuple[str, ...], Meta(description="the name of another part, in quotes, or a list of them")]


class Part(Checked, frozen=True):
    """One summand of a score: weight × scale(scorer)."""

    called_by: ClassVar[str] = "scorer"

    scorer: Annotated[str, Meta(description="the name of a scorer, in quotes")]
    weight: Annotated[float, Meta(ge=0, le=LARGEST, description="a number from 0 up")] = 1.0
    scale: str = "none"
    unless: Names = ""
    """The scorer, or scorers, that this part stands in for: it counts only where they are absent."""
    fixed: bool = False
    """Tuning leaves this weight alone: it was reasoned out, for want of mentions to learn it from."""

    def __post_init__(self) -> None:
        """Refuse a scale there is none of."""
        super().__post_init__()
        if self.scale not in SCALES:
            hint = did_you_mean(self.scale, SCALES)
            raise NamesakeError(f"scale of {self.scorer} = {self.scale!r}: must be one of {', '.join(SCALES)}{hint}")

    @property
    def stands_in_for(self) -> tuple[str, ...]:
        """The scorers in whose absence alone this part counts."""
        return tuple(name for name in ((self.unless,) if isinstance(self.unless, str) else self.unless) if name)


class DoubtPart(Checked, frozen=True):
    """One summand of the score of "none of them": weight × scale(doubt)."""

    called_by: ClassVar[str] = "doubt"

    doubt: Annotated[str, Meta(description="the name of a doubt, in quotes")]
    weight: Finite = 1.0
    scale: Literal["none", "log1p", "sqrt"] = "none"
    fixed: bool = False
    """Tuning leaves this weight alone."""


class Decide(Checked, frozen=True):
    """When to answer: see `decide.py` for the probabilities that these numbers make of scores."""

    nil: Annotated[Finite, Meta(description="a number, the score of none of the candidates")]
    """The score of "none of them", where no doubt is known."""
    alone: Finite | None = None
    """The same for a mention with a single candidate; None: no different."""
    threshold: Probability = 0.5
    confirm: Probability = 1.0
    """Links at least this sure become anchors of a second pass; 1: there is none."""
    thresholds: Annotated[
        dict[str, Probability], Meta(description="a table of probabilities between 0 and 1, such as p95 = 0.9")
    ] = msgspec.field(default_factory=dict)
    """The threshold that gives so many right answers of a hundred, as measured on labelled text."""
    parts: Annotated[tuple[DoubtPart, ...], Meta(description="[[decide.parts]] tables, each with a doubt")] = ()
    """What the score of "none of them" is made of; where all doubts are absent, as in score files, `nil` is."""

    def __post_init__(self) -> None:
        """Refuse a doubt that stands twice, and thresholds for what is no precision."""
        super().__post_init__()
        for name in self.thresholds:
            if not re.fullmatch(r"p\d{1,2}", name, re.ASCII):
                raise NamesakeError(
                    f"thresholds has {name!r}: it is a table of precisions in percent, such as p95 = 0.9"
                )
        doubts = [part.doubt for part in self.parts]
        for name in doubts:
            if doubts.count(name) > 1:
                raise NamesakeError(f"{name} is a part twice: add the weights up in one part")

    def nobody(self, doubts: Mapping[str, FloatArray], offsets: IntArray) -> dict[str, FloatArray]:
        """The summands of "none of them", a number each for every mention: its doubts, else `nil` and `alone`."""
        known = [part for part in self.parts if part.doubt in doubts]
        if known:
            return {part.doubt: part.weight * SCALES[part.scale](doubts[part.doubt], offsets) for part in known}
        lone = np.diff(offsets) == 1
        if self.alone is None:
            return {"nil": np.full(len(lone), float(self.nil))}
        return {"nil": np.where(lone, 0.0, self.nil), "alone": np.where(lone, self.alone, 0.0)}


@dataclass(frozen=True)
class Combined:
    """Scores of one recipe: `total` is the sum of `contributions`, part by part; `ties` break its ties in turn."""

    total: FloatArray
    contributions: dict[str, FloatArray]
    ties: dict[str, FloatArray]
    nobody: dict[str, FloatArray]
    """The summands of "none of them" by mention; empty where the recipe always answers."""
    absent: tuple[str, ...]
    """Scorers the recipe names and the scores lack: as parts they count 0, as tie-breakers they are passed over."""

    @property
    def keys(self) -> tuple[FloatArray, ...]:
        """What `rank.order` takes: the score, then its tie-breakers."""
        return (self.total, *self.ties.values())

    @property
    def none(self) -> FloatArray | None:
        """The score of "none of them" for each mention; None where the recipe always answers."""
        if not self.nobody:
            return None
        first, *rest = self.nobody.values()
        total = first.copy()
        for numbers in rest:  # in this order whatever the batch; `np.sum` adds a lone mention's in another
            total += numbers
        return total

    @property
    def names(self) -> tuple[str, ...]:
        """The names of `keys`."""
        return ("score", *self.ties)


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
        """Refuse what no linker could follow."""
        super().__post_init__()
        scorers = [part.scorer for part in self.parts]
        for part in self.parts:
            if scorers.count(part.scorer) > 1:
                raise NamesakeError(f"{part.scorer} is a part twice: add the weights up in one part")
            for name in part.stands_in_for:
                if name not in scorers:
                    hint = did_you_mean(name, scorers)
                    raise NamesakeError(f"{part.scorer} counts unless {name}, which is no part of the recipe{hint}")

    @classmethod
    def load(cls, source: str | Path) -> "Recipe":
        """Read a recipe: `source` is the name of a shipped one, or a `.toml` file."""
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
            raise NamesakeError(
                f"no recipe named {str(source)!r}{hint}; shipped are {', '.join(shipped)}; your own is a .toml file"
            )
        text = (resources.files("namesake") / "recipes" / f"{source}.toml").read_text(encoding="utf-8")
        return cls.parse(text, f"recipe {source}")

    @classmethod
    def parse(cls, text: str, where: str = "recipe", declared: bool = True) -> "Recipe":
        """Make a recipe from TOML.

        `where` names the file in messages. With `declared`, every scorer the recipe names must be declared here;
        without, it may be one that only the program had which wrote the recipe.
        """
        try:
            recipe = cls.of(tomllib.loads(text))
            for name in recipe.scorers if declared else ():
                named(name)
            for name in recipe.doubts if declared else ():
                named_doubt(name)
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise NamesakeError(f"{where}: not TOML ({error})") from None
        except NamesakeError as error:
            raise NamesakeError(f"{where}: {error}") from None
        return recipe

    def at(self, threshold: float | str) -> "Recipe":
        """The same recipe, answering only with at least the confidence `threshold`: a number, or such as "p95"."""
        if self.decide is None:
            raise NamesakeError(f"recipe {self.name} always answers: it has no [decide] table, so no threshold")
        if isinstance(threshold, str):
            known = self.decide.thresholds
            if threshold not in known:
                raise NamesakeError(
                    f"recipe {self.name} has no threshold {threshold!r}; it has {', '.join(known) or 'none'}: "
                    "`namesake threshold --out mine.toml` calibrates some on labelled text"
                )
            threshold = known[threshold]
        return self.replace(decide=self.decide.replace(threshold=threshold))

    @property
    def scorers(self) -> tuple[str, ...]:
        """Every scorer the recipe needs, parts first, then tie-breakers; each once."""
        return tuple(dict.fromkeys([*(part.scorer for part in self.parts), *self.tie_break]))

    @property
    def doubts(self) -> tuple[str, ...]:
        """Every doubt that the recipe weighs."""
        return () if self.decide is None else tuple(part.doubt for part in self.decide.parts)

    def toml(self) -> str:
        """The recipe as TOML; `Recipe.parse` reads it back equal."""
        plain = ("name", "description", "anchors", "context", "words", "variants")
        lines = [f"{key} = {_quoted(getattr(self, key))}" for key in plain]
        lines.append(f"tie_break = [{', '.join(map(_quoted, self.tie_break))}]")
        if self.neural != Neural():
            lines += ["", "[neural]", *(f"{key} = {json.dumps(value)}" for key, value in asdict(self.neural).items())]
        for part in self.parts:
            lines += ["", "[[parts]]", f"scorer = {_quoted(part.scorer)}"]
            lines += [f"weight = {float(part.weight)!r}", f"scale = {_quoted(part.scale)}"]
            lines += [f"unless = {_quoted_names(part.unless)}"] if part.unless else []
            lines += ["fixed = true"] if part.fixed else []
        if self.decide is not None:
            numbers = {key: getattr(self.decide, key) for key in ("nil", "alone", "threshold", "confirm")}
            lines += ["", "[decide]", *(f"{key} = {float(n)!r}" for key, n in numbers.items() if n is not None)]
            if self.decide.thresholds:
                lines += ["", "[decide.thresholds]"]
                lines += [f"{name} = {float(n)!r}" for name, n in self.decide.thresholds.items()]
            for doubted in self.decide.parts:
                lines += ["", "[[decide.parts]]", f"doubt = {_quoted(doubted.doubt)}"]
                lines += [f"weight = {float(doubted.weight)!r}", f"scale = {_quoted(doubted.scale)}"]
                lines += ["fixed = true"] if doubted.fixed else []
        return "\n".join(lines) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the recipe to the `.toml` file `path`."""
        try:
            Path(path).write_text(self.toml(), encoding="utf-8")
        except OSError as error:
            raise NamesakeError(f"{path}: the recipe cannot be written there ({error.strerror})") from None

    def combine(
        self, scores: Mapping[str, FloatArray], offsets: IntArray, doubts: Mapping[str, FloatArray] | None = None
    ) -> Combined:
        """Weigh and add the parts.

        `scores` are flat arrays over candidates, by scorer, `doubts` are arrays over mentions; `offsets` says where
        each mention's candidates begin.
        """
        total = np.zeros(int(offsets[-1]))
        contributions: dict[str, FloatArray] = {}
        for part in self.parts:
            score = column(scores, part.scorer)
            if score is None or any(column(scores, name) is not None for name in part.stands_in_for):
                contributions[part.scorer] = np.zeros(len(total))
                continue
            rank.check(offsets, [score], [part.scorer])
            contributions[part.scorer] = part.weight * SCALES[part.scale](score, offsets)
            total += contributions[part.scorer]
        ties = {name: column(scores, name) for name in self.tie_break}
        absent = tuple(name for name in self.scorers if column(scores, name) is None)
        present = {name: key for name, key in ties.items() if key is not None}
        nobody = {} if self.decide is None else self.decide.nobody(doubts or {}, offsets)
        return Combined(total, contributions, present, nobody, absent)


def recipes() -> list[str]:
    """Names of the recipes that ship with Namesake."""
    folder = resources.files("namesake") / "recipes"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def column(scores: Mapping[str, FloatArray], scorer: str) -> FloatArray | None:
    """The scores of a scorer, by its own name or by one of its aliases; None where they are absent."""
    aliases = SCORERS[scorer].aliases if scorer in SCORERS else ()
    for name in (scorer, *aliases):
        if name in scores:
            return np.asarray(scores[name], np.float64)
    return None


def _quoted(text: str) -> str:
    """A TOML basic string: JSON's escapes, and DEL, which only TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _quoted_names(names: str | tuple[str, ...]) -> str:
    return _quoted(names) if isinstance(names, str) else f"[{', '.join(map(_quoted, names))}]"
