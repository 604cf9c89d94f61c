"""Score files as flat arrays: for each mention its candidates, for each candidate its scores.

Two layouts are read, from Parquet, JSON lines or CSV. Long, a row per candidate: `articleID, name, candidate, qid`
and a column for each score. Nested, a row per mention, as `namesake link --scores` writes it: `article_id, name, qid`
and `candidates`, a list of structs `qid, score, parts`.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from namesake.errors import NamesakeError, did_you_mean
from namesake.files import kind
from namesake.files.lines import json_lines
from namesake.rank import FloatArray, IntArray
from namesake.recipe import Recipe

BoolArray = npt.NDArray[np.bool_]
Mention = tuple[str, str]
"""A mention is known by its article and its name."""


@dataclass(frozen=True)
class ScoreTable:
    """Mentions with their candidates in CSR: those of mention i are `offsets[i]` to `offsets[i + 1]`."""

    mentions: list[Mention]
    offsets: IntArray
    qids: list[str]
    scores: dict[str, FloatArray]
    chosen: list[str | None] | None = None
    """What a linker answered for each mention, where the file says so; None stands for nobody."""
    tie_break: tuple[str, ...] = ("LQID",)
    """How the linker broke ties, where the file says so."""
    confidence: FloatArray | None = None
    """The linker's probability that its first candidate is right, where the file says so; NaN without candidates."""
    first: list[str | None] | None = None
    """The linker's first candidate, also where it was too unsure to answer, where the file says so."""
    doubts: dict[str, FloatArray] = field(default_factory=dict)
    """What "none of them" is weighed by, a number for each mention, where the file says so."""

    @property
    def lists_candidates(self) -> bool:
        """False for links written without `--scores`: what was answered is known, what it was chosen from is not."""
        return len(self.qids) > 0

    def take(self, wanted: Sequence[int]) -> "ScoreTable":
        """The same table with only some mentions, in the given order."""
        candidates = np.concatenate(
            [np.empty(0, np.int64), *(np.arange(self.offsets[i], self.offsets[i + 1]) for i in wanted)]
        )
        size = [self.offsets[i + 1] - self.offsets[i] for i in wanted]
        return ScoreTable(
            [self.mentions[i] for i in wanted],
            np.cumsum([0, *size]).astype(np.int64),
            [self.qids[c] for c in candidates],
            {name: score[candidates] for name, score in self.scores.items()},
            None if self.chosen is None else [self.chosen[i] for i in wanted],
            self.tie_break,
            None if self.confidence is None else self.confidence[list(wanted)],
            None if self.first is None else [self.first[i] for i in wanted],
            {name: doubt[list(wanted)] for name, doubt in self.doubts.items()},
        )

    def with_unscored(self, mentions: Sequence[Mention]) -> "ScoreTable":
        """The same table, with mentions behind the others that have no candidates, no answer and no doubts."""
        if not mentions:
            return self
        more = len(mentions)
        return replace(
            self,
            mentions=[*self.mentions, *mentions],
            offsets=np.append(self.offsets, np.full(more, self.offsets[-1])),
            chosen=None if self.chosen is None else [*self.chosen, *[None] * more],
            confidence=None if self.confidence is None else np.append(self.confidence, np.full(more, np.nan)),
            first=None if self.first is None else [*self.first, *[None] * more],
            doubts={name: np.append(doubt, np.zeros(more)) for name, doubt in self.doubts.items()},
        )

    def only(self, kept: BoolArray) -> "ScoreTable":
        """The same mentions with only some of their candidates."""
        before = np.concatenate([[0], np.cumsum(kept)])
        return replace(
            self,
            offsets=before[self.offsets].astype(np.int64),
            qids=[qid for qid, keep in zip(self.qids, kept, strict=True) if keep],
            scores={name: score[kept] for name, score in self.scores.items()},
        )


def read_scores(path: Path) -> ScoreTable:
    """Read a score file of either layout; scores must be numbers, and a mention stands in the file once."""
    return score_table(read_table(path), str(path))


def score_table(table: pa.Table, where: str) -> ScoreTable:
    """Make flat arrays of an Arrow table of either layout; `where` names it in messages."""
    if "article_id" in table.column_names:
        table = table.rename_columns({"article_id": "articleID"})
    for needed in ("articleID", "name", "qid"):
        if needed not in table.column_names:
            hint = did_you_mean(needed, table.column_names)
            raise NamesakeError(f"{where}: no column `{needed}`; it has {', '.join(table.column_names)}{hint}")
    if table.num_rows == 0:
        raise NamesakeError(f"{where}: no rows")
    read = _long if "candidate" in table.column_names else _nested
    scores = read(table, where)
    if "LQID" not in scores.scores and all(re.fullmatch(r"Q\d+", qid) for qid in scores.qids):
        scores.scores["LQID"] = -np.array([int(qid[1:]) for qid in scores.qids], np.float64)
    return scores


def read_table(path: Path) -> pa.Table:
    """An Arrow table from Parquet, JSON lines (`.gz .bz2 .zst`) or CSV, by suffix."""
    read = TABLES.get(kind(path))
    if read is None:
        raise NamesakeError(f"{path}: scores and links come as .parquet, .jsonl (.gz .bz2 .zst) or .csv")
    try:
        return read(path)
    except FileNotFoundError:
        raise NamesakeError(f"{path}: no such file") from None
    except (OSError, pa.ArrowException) as problem:
        raise NamesakeError(f"{path} cannot be read ({str(problem).splitlines()[0]})") from None


def _from_lines(path: Path) -> pa.Table:
    try:
        return pa.Table.from_pylist(read_lines(path))
    except pa.ArrowException as problem:
        raise NamesakeError(f"{path}: rows differ in type ({problem})") from None


TABLES: dict[str, Callable[[Path], pa.Table]] = {
    ".parquet": pq.read_table,
    ".csv": pyarrow.csv.read_csv,
    ".jsonl": _from_lines,
    ".ndjson": _from_lines,
    ".json": _from_lines,
}
"""What reads a table, by the suffix of its file, compression apart."""


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines."""
    return [row for _, row in numbered_lines(path)]


def numbered_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON lines, each with its line's number."""
    return json_lines(path, dict[str, Any], "a JSON object")


def _long(table: pa.Table, where: str) -> ScoreTable:
    """A row per candidate: group the rows by mention, in order of first appearance, candidates by their number."""
    keys = list(zip(_texts(table, "articleID"), _texts(table, "name"), strict=True))
    mentions = list(dict.fromkeys(keys))
    number = {mention: i for i, mention in enumerate(mentions)}
    mention = np.array([number[key] for key in keys], np.int64)
    candidate = _numbers(table["candidate"], f"{where}: candidate", lambda row: f"row {row}")
    rows = np.lexsort([candidate, mention])

    def owner(row: int) -> str:
        return _owner(keys[row], int(candidate[row]))

    twice = np.flatnonzero((np.diff(mention[rows]) == 0) & (np.diff(candidate[rows]) == 0))
    if len(twice):
        raise NamesakeError(f"{where}: {owner(rows[twice[0]])} stands twice")
    position = {"articleID", "name", "candidate", "qid"}
    scores = {
        column: _numbers(table[column], f"{where}: {column}", owner)[rows]
        for column in table.column_names
        if column not in position and _is_number(table[column].type)
    }
    qids = _texts(table, "qid")
    offsets = np.searchsorted(mention[rows], np.arange(len(mentions) + 1)).astype(np.int64)
    return ScoreTable(mentions, offsets, [qids[row] for row in rows], scores)


def _nested(table: pa.Table, where: str) -> ScoreTable:
    """One row per mention: unnest its candidates, their score and its parts."""
    mentions = list(zip(_texts(table, "articleID"), _texts(table, "name"), strict=True))
    if len(set(mentions)) < len(mentions):
        article, name = next(mention for mention in mentions if mentions.count(mention) > 1)
        raise NamesakeError(f"{where}: two rows for {name!r} in {article}; a mention is one name in one article")
    lists: list[list[dict[str, Any]]] = [[] for _ in mentions]
    if "candidates" in table.column_names:
        lists = [row or [] for row in table["candidates"].to_pylist()]
    owners = [(mention, i) for mention, row in zip(mentions, lists, strict=True) for i in range(len(row))]
    flat = [candidate for row in lists for candidate in row]
    names = dict.fromkeys(part for candidate in flat for part in candidate.get("parts") or {})
    columns = {name: [(candidate.get("parts") or {}).get(name) for candidate in flat] for name in names}
    columns["score"] = [candidate.get("score") for candidate in flat]
    scores = {
        name: _numbers(pa.array(values, pa.float64()), f"{where}: {name}", lambda row: _owner(*owners[row]))
        for name, values in columns.items()
        if any(value is not None for value in values)  # a scorer that never ran is absent, not wrong
    }
    offsets = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    recipe = (table.schema.metadata or {}).get(b"namesake.recipe")
    ties = Recipe.parse(recipe.decode(), where, declared=False).tie_break if recipe else ("LQID",)
    chosen = table["qid"].to_pylist()
    qids, sureness = [c["qid"] for c in flat], _sureness(table, where)
    return ScoreTable(mentions, offsets, qids, scores, chosen, ties, *sureness, _doubts(table, mentions, where))


def _doubts(table: pa.Table, mentions: list[Mention], where: str) -> dict[str, FloatArray]:
    """The columns of the struct `doubts`, which a linker writes beside its candidates; a doubt of nulls is absent."""
    if "doubts" not in table.column_names or not pa.types.is_struct(table["doubts"].type):
        return {}
    rows = table["doubts"].to_pylist()
    names = [field.name for field in table["doubts"].type]
    columns = {name: [row and row[name] for row in rows] for name in names}
    return {
        name: _numbers(pa.array(values, pa.float64()), f"{where}: {name}", _named(mentions))
        for name, values in columns.items()
        if any(value is not None for value in values)
    }


def _sureness(table: pa.Table, where: str) -> tuple[FloatArray | None, list[str | None] | None]:
    """What a linker with probabilities says: how sure it is of its first candidate, and who that is."""
    if "confidence" not in table.column_names or table["confidence"].null_count == table.num_rows:
        return None, None
    try:
        values = table["confidence"].cast(pa.float64()).to_pylist()
    except pa.ArrowException:
        raise NamesakeError(f"{where}: confidence is not a column of numbers") from None
    first = table["best" if "best" in table.column_names else "qid"].to_pylist()
    confidence = np.array([np.nan if v is None or qid is None else v for v, qid in zip(values, first, strict=True)])
    if ((confidence < 0) | (confidence > 1)).any():
        raise NamesakeError(f"{where}: confidence must be a probability, between 0 and 1")
    return confidence, first


def _named(mentions: list[Mention]) -> Callable[[int], str]:
    return lambda row: f"{mentions[row][1]!r} in article {mentions[row][0]}"


def _owner(mention: Mention, candidate: int) -> str:
    return f"candidate {candidate} of {mention[1]!r} in article {mention[0]}"


def _numbers(column: Any, what: str, owner: Callable[[int], str]) -> FloatArray:
    """A column as float64; a value that is missing or NaN is refused, with `what` it is and whose."""
    try:
        values: FloatArray = np.array(column.to_pylist(), np.float64)
    except (TypeError, ValueError):
        raise NamesakeError(f"{what} is not a column of numbers") from None
    missing = np.flatnonzero(np.isnan(values))
    if len(missing):
        raise NamesakeError(f"{what} of {owner(int(missing[0]))} is not a number (NaN or null)")
    return values


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def _texts(table: pa.Table, column: str) -> list[str]:
    return [str(value) for value in table[column].to_pylist()]
