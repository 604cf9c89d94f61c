"""A system is a recipe: which scorers, how scaled and weighted, with which anchors, context, words and tie-breaks.

Recipes are data in TOML. The paper's systems ship in `recipes/`, and so does `default`:

    name = "uiscore-paper"
    anchors = "first"                  # first | all: which unambiguous mentions EEIScore and CSSVE compare with
    context = "article"                # article | narrow | both: the words of the text that IScore looks at
    words = "D+S"                      # the words of the entity: a sum of D, P, S, S_A
    variants = "never"                 # never | missing | always: candidates by variants of a name, not its spelling
    tie_break = ["PR_WP", "LQID"]
    [[parts]]
    scorer = "IScore"
    weight = 1.0
    scale = "none"                     # one of SCALES
    unless = "IScore_IDF"              # optional: count this part only where that scorer is absent
    fixed = true                       # optional: tuning leaves this weight alone
    [decide]                           # without it the best candidate always wins
    nil = 5.0                          # the score of "none of them"; scores are then log-odds
    alone = 1.0                        # optional: the same for a mention with one candidate
    threshold = 0.5                    # answer with at least this probability
    confirm = 1.0                      # links at least this sure become anchors of a second pass; 1: none
"""

import json
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from namesake import rank
from namesake.errors import NamesakeError
from namesake.rank import FloatArray, IntArray
from namesake.scale import SCALES

SCORERS = (
    *("Random", "LQID", "NP", "NS", "PR_WD", "PR_WP", "IScore", "NIScore", "EEIScore"),
    *("CSE", "NCSE", "CSSVE", "Eigen", "Eigen_IScore", "mGENRE"),
    *("IScore_IDF", "NIScore_IDF", "EEIScore_IDF", "Phrases", "Born", "Dead", "Tenure", "Match"),
)
"""The scorers a recipe may name: those of the paper by their names there, then ours."""

ALIASES = {"PR_WD": ("PRWD",), "PR_WP": ("PRWP",), "mGENRE": ("mGENRE_t128",)}
"""Other names that score files use; the paper's Table 2 reports mGENRE with 128 tokens of context."""

OPTIONS = {
    "anchors": ("first", "all"),
    "context": ("article", "narrow", "both"),
    "variants": ("never", "missing", "always"),
}
WORDS = ("D", "P", "S", "S_A")


@dataclass(frozen=True)
class Part:
    """One summand of a score: weight × scale(scorer)."""

    scorer: str
    weight: float = 1.0
    scale: str = "none"
    unless: str = ""
    """A scorer this part stands in for: it counts only where that one is absent."""
    fixed: bool = False
    """Tuning leaves this weight alone: it was reasoned out, for want of mentions to learn it from."""


@dataclass(frozen=True)
class Decide:
    """When to answer: see `decide.py` for the probabilities that these numbers make of scores."""

    nil: float
    """The score of "none of them"."""
    alone: float | None = None
    """The same for a mention with a single candidate; None: no different."""
    threshold: float = 0.5
    confirm: float = 1.0
    """Links at least this sure become anchors of a second pass; 1: there is none."""


@dataclass(frozen=True)
class Combined:
    """Scores of one recipe: `total` is the sum of `contributions`, part by part; `ties` break its ties in turn."""

    total: FloatArray
    contributions: dict[str, FloatArray]
    ties: dict[str, FloatArray]
    absent: tuple[str, ...]
    """Scorers the recipe names and the scores lack: as parts they count 0, as tie-breakers they are passed over."""

    @property
    def keys(self) -> tuple[FloatArray, ...]:
        """What `rank.order` takes: the score, then its tie-breakers."""
        return (self.total, *self.ties.values())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of `keys`."""
        return ("score", *self.ties)


@dataclass(frozen=True)
class Recipe:
    """A linking system as data. `Recipe.load("uiscore-paper")`, `Recipe.load("mine.toml")`."""

    name: str
    parts: tuple[Part, ...]
    description: str = ""
    anchors: str = "all"
    context: str = "article"
    words: str = "D+S"
    variants: str = "never"
    tie_break: tuple[str, ...] = ("PR_WP", "LQID")
    decide: Decide | None = None

    def __post_init__(self) -> None:
        """Refuse what no linker could follow."""
        _validate(self)

    @classmethod
    def load(cls, source: str | Path, known: Collection[str] = SCORERS) -> "Recipe":
        """Read a shipped recipe by its name, or a `.toml` file; `known` are the scorers it may name."""
        if str(source).endswith(".toml"):
            path = Path(source)
            try:
                text = path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise NamesakeError(f"{path}: cannot read this recipe ({error})") from None
            return cls.parse(text, str(path), known)
        if str(source) not in recipes():
            raise NamesakeError(
                f"no recipe named {str(source)!r}; shipped are {', '.join(recipes())}; your own is a .toml file"
            )
        shipped = resources.files("namesake") / "recipes" / f"{source}.toml"
        return cls.parse(shipped.read_text(encoding="utf-8"), f"recipe {source}", known)

    @classmethod
    def parse(cls, text: str, where: str = "recipe", known: Collection[str] = SCORERS) -> "Recipe":
        """Make a recipe from TOML; `where` names the file in messages."""
        try:
            table = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise NamesakeError(f"{where}: not TOML ({error})") from None
        try:
            recipe = cls(**_fields(cls, table | _structured(table)))
        except NamesakeError as error:
            raise NamesakeError(f"{where}: {error}") from None
        for scorer in recipe.scorers:
            if scorer not in known:
                raise NamesakeError(f"{where}: unknown scorer {scorer!r}; known are {', '.join(sorted(known))}")
        return recipe

    def at(self, threshold: float) -> "Recipe":
        """The same recipe, answering only with at least this confidence."""
        if self.decide is None:
            raise NamesakeError(f"recipe {self.name} always answers: it has no [decide] table, so no threshold")
        return replace(self, decide=replace(self.decide, threshold=threshold))

    @property
    def scorers(self) -> tuple[str, ...]:
        """Every scorer the recipe needs, parts first, then tie-breakers; each once."""
        return tuple(dict.fromkeys([*(part.scorer for part in self.parts), *self.tie_break]))

    def toml(self) -> str:
        """The recipe as TOML; `Recipe.parse` reads it back equal."""
        lines = [f"{key} = {_quoted(getattr(self, key))}" for key in _PLAIN]
        lines.append(f"tie_break = [{', '.join(map(_quoted, self.tie_break))}]")
        for part in self.parts:
            lines += ["", "[[parts]]", f"scorer = {_quoted(part.scorer)}"]
            lines += [f"weight = {float(part.weight)!r}", f"scale = {_quoted(part.scale)}"]
            lines += [f"unless = {_quoted(part.unless)}"] if part.unless else []
            lines += ["fixed = true"] if part.fixed else []
        if self.decide is not None:
            given = {f.name: getattr(self.decide, f.name) for f in fields(Decide)}
            lines += ["", "[decide]", *(f"{key} = {float(n)!r}" for key, n in given.items() if n is not None)]
        return "\n".join(lines) + "\n"

    def save(self, path: str | Path) -> None:
        """Write the recipe to a `.toml` file."""
        try:
            Path(path).write_text(self.toml(), encoding="utf-8")
        except OSError as error:
            raise NamesakeError(f"{path}: the recipe cannot be written there ({error.strerror})") from None

    def combine(self, scores: Mapping[str, FloatArray], offsets: IntArray) -> Combined:
        """Weigh and add the parts of `scores`, flat arrays over the candidates that `offsets` divides by mention."""
        total = np.zeros(int(offsets[-1]))
        contributions: dict[str, FloatArray] = {}
        for part in self.parts:
            score = column(scores, part.scorer)
            if score is None or (part.unless and column(scores, part.unless) is not None):
                contributions[part.scorer] = np.zeros(len(total))
                continue
            rank.check(offsets, [score], [part.scorer])
            contributions[part.scorer] = part.weight * SCALES[part.scale](score, offsets)
            total = total + contributions[part.scorer]
        ties = {name: column(scores, name) for name in self.tie_break}
        absent = tuple(name for name in self.scorers if column(scores, name) is None)
        return Combined(total, contributions, {name: key for name, key in ties.items() if key is not None}, absent)


def recipes() -> list[str]:
    """Names of the recipes that ship with Namesake."""
    folder = resources.files("namesake") / "recipes"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def column(scores: Mapping[str, FloatArray], scorer: str) -> FloatArray | None:
    """The scores of a scorer, by its own name or by one of its aliases; None where they are absent."""
    for name in (scorer, *ALIASES.get(scorer, ())):
        if name in scores:
            return np.asarray(scores[name], np.float64)
    return None


def _quoted(text: str) -> str:
    """A TOML basic string: JSON's escapes, and DEL, which only TOML wants escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


_NUMBERS = ("weight", "nil", "alone", "threshold", "confirm")
_PLAIN = ("name", "description", "anchors", "context", "words", "variants")


def _validate(recipe: Recipe) -> None:
    """Check what can be checked without knowing the scorers."""
    if not recipe.parts:
        raise NamesakeError("a recipe needs at least one [[parts]] table with a scorer")
    for option, choices in OPTIONS.items():
        if getattr(recipe, option) not in choices:
            raise NamesakeError(f"{option} = {getattr(recipe, option)!r}: must be one of {', '.join(choices)}")
    words = recipe.words.split("+")
    if not set(words) <= set(WORDS) or len(set(words)) < len(words):
        raise NamesakeError(f"words = {recipe.words!r}: must be a sum of {', '.join(WORDS)} such as 'D+S'")
    for part in recipe.parts:
        if not (part.weight >= 0 and np.isfinite(part.weight)):
            raise NamesakeError(f"weight of {part.scorer} is {part.weight}: weights are numbers from 0 up")
        if part.unless and part.unless not in {other.scorer for other in recipe.parts}:
            raise NamesakeError(f"{part.scorer} counts unless {part.unless}, which is no part of the recipe")
        if part.scale not in SCALES:
            raise NamesakeError(f"scale of {part.scorer} is {part.scale!r}: must be one of {', '.join(SCALES)}")
    if recipe.decide is not None:
        for name, value in (("nil", recipe.decide.nil), ("alone", recipe.decide.alone)):
            if value is not None and not np.isfinite(value):
                raise NamesakeError(f"{name} is {value}: it must be a number")
        for name, value in (("threshold", recipe.decide.threshold), ("confirm", recipe.decide.confirm)):
            if not 0 <= value <= 1:
                raise NamesakeError(f"{name} is {value}: a probability is between 0 and 1")
    scorers = [part.scorer for part in recipe.parts]
    for scorer in scorers:
        if scorers.count(scorer) > 1:
            raise NamesakeError(f"{scorer} is a part twice: add the weights up in one part")


def _fields(cls: type, table: Mapping[str, Any]) -> dict[str, Any]:
    """The table as arguments of a dataclass; refuses keys it does not have and texts that are none."""
    names = [field.name for field in fields(cls)]
    for key, value in table.items():
        if key not in names:
            raise NamesakeError(f"unknown key {key!r}; known are {', '.join(names)}")
        if key in (*_PLAIN, "scorer", "scale", "unless") and not isinstance(value, str):
            raise NamesakeError(f"{key} must be a text in quotes, not {value!r}")
        if key in _NUMBERS and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise NamesakeError(f"{key} must be a number, not {value!r}")
        if key == "fixed" and not isinstance(value, bool):
            raise NamesakeError(f"fixed must be true or false, not {value!r}")
    for required in ("name", "scorer"):
        if required in names and required not in table:
            raise NamesakeError(f"{required} is missing")
    return dict(table)


def _structured(table: Mapping[str, Any]) -> dict[str, Any]:
    """What is not a plain value in the TOML: parts, tie-breakers and the rule that decides."""
    return {"parts": _parts(table), "tie_break": _names(table, "tie_break"), "decide": _decide(table)}


def _decide(table: Mapping[str, Any]) -> Decide | None:
    """The [decide] table of a recipe."""
    given = table.get("decide")
    if given is None:
        return None
    if not isinstance(given, dict) or "nil" not in given:
        raise NamesakeError("[decide] must be a table with at least `nil`, the score of none of the candidates")
    return Decide(**_fields(Decide, given))


def _parts(table: Mapping[str, Any]) -> tuple[Part, ...]:
    """The [[parts]] of a recipe."""
    parts = table.get("parts", [])
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise NamesakeError("parts must be [[parts]] tables, each with a scorer")
    return tuple(Part(**_fields(Part, part)) for part in parts)


def _names(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """A list of names such as tie_break."""
    names = table.get(key, ["PR_WP", "LQID"])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise NamesakeError(f'{key} must be a list of names, such as ["PR_WP", "LQID"]')
    return tuple(names)
