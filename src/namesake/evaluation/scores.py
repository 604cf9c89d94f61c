"""Score files as flat arrays: the candidates of each mention, the scores of each candidate.

Two layouts are read, from Parquet, JSON lines or CSV. Long, one row per candidate: `articleID, name, candidate, qid`
and a column for each score. Nested, one row per mention, as `namesake link --scores` writes it: `article_id, name, qid`
and `candidates`, a list of structs `qid, score, parts`, with `kind` if the recipe has weights by kind.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from namesake.arrays import Bool, Float64, Int8, Int64, take_rows
from namesake.errors import NamesakeError, did_you_mean
from namesake.files import kind
from namesake.files.lines import json_lines
from namesake.parts import Combined
from namesake.recipe import Recipe
from namesake.settings import KINDS

Mention = tuple[str, str]
"""The article and the name of a mention."""


@dataclass(frozen=True)
class ScoreTable:
    """Mentions with their candidates in CSR: those of mention i are `offsets[i]` to `offsets[i + 1]`.

    From `chosen` on, fields are None or empty if the file does not contain them.
    """

    mentions: list[Mention]
    offsets: Int64
    qids: list[str]
    scores: dict[str, Float64]
    chosen: list[str | None] | None = None
    """The linker's answer for each mention; None for NIL."""
    tie_break: tuple[str, ...] = ("LQID",)
    confidence: Float64 | None = None
    """The linker's probability that its first candidate is right; NaN without candidates."""
    first: list[str | None] | None = None
    """The linker's first candidate, also if it did not answer."""
    doubts: dict[str, Float64] = field(default_factory=dict)
    """The evidence for NIL: one number per mention for each kind of evidence."""
    kinds: Int8 | None = None
    """The kind of each candidate, a number of `KINDS`, -1 for unknown; None: all are people."""

    def combined(self, recipe: Recipe) -> Combined:
        """Combine the scores with a recipe."""
        return recipe.combine(self.scores, self.offsets, self.doubts, self.kinds)

    @property
    def lists_candidates(self) -> bool:
        """False for links written without `--scores`: they contain answers but no candidates."""
        return len(self.qids) > 0

    def take(self, wanted: Sequence[int]) -> "ScoreTable":
        """Return the table with only some mentions, in the given order."""
        at = np.asarray(wanted, np.int64)
        offsets, candidates = take_rows(self.offsets, at)
        mentions, chosen, confidence, first, doubts = (
            pick(values, at) for values in (self.mentions, self.chosen, self.confidence, self.first, self.doubts)
        )
        qids, scores, kinds = (pick(values, candidates) for values in (self.qids, self.scores, self.kinds))
        return ScoreTable(mentions, offsets, qids, scores, chosen, self.tie_break, confidence, first, doubts, kinds)

    def with_unscored(self, mentions: Sequence[Mention]) -> "ScoreTable":
        """Return the table with more mentions at the end, without candidates, answers and evidence."""
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

    def only(self, kept: Bool) -> "ScoreTable":
        """Return the same mentions with only some of their candidates."""
        before, at = np.concatenate([[0], np.cumsum(kept)]), np.flatnonzero(kept)
        offsets = before[self.offsets].astype(np.int64)
        qids, scores, kinds = (pick(values, at) for values in (self.qids, self.scores, self.kinds))
        return replace(self, offsets=offsets, qids=qids, scores=scores, kinds=kinds)


def pick(values: Any, at: Int64) -> Any:
    """Return some entries of an array, a list or each column of a dict; None stays None."""
    if isinstance(values, dict):
        return {name: pick(column, at) for name, column in values.items()}
    return [values[i] for i in at] if isinstance(values, list) else None if values is None else values[at]


def read_scores(path: Path) -> ScoreTable:
    """Read a score file of either layout. Scores must be numbers, and mentions must be unique."""
    return score_table(read_table(path), str(path))


def score_table(table: pa.Table, where: str) -> ScoreTable:
    """Convert an Arrow table of either layout; messages begin with `where`."""
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
    """Read Parquet, JSON lines (`.gz .bz2 .zst`) or CSV, by suffix."""
    suffix = kind(path)
    try:
        if suffix == ".parquet":
            return pq.read_table(path)
        if suffix == ".csv":
            return pyarrow.csv.read_csv(path)
        if suffix in {".jsonl", ".ndjson", ".json"}:
            return pa.Table.from_pylist([row for _, row in numbered_lines(path)])
    except FileNotFoundError:
        raise NamesakeError(f"{path}: no such file") from None
    except (OSError, pa.ArrowException) as problem:
        raise NamesakeError(f"{path} cannot be read ({str(problem).splitlines()[0]})") from None
    raise NamesakeError(f"{path}: scores and links come as .parquet, .jsonl (.gz .bz2 .zst) or .csv")


def numbered_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a file of JSON lines with their line numbers."""
    return json_lines(path, dict[str, Any], "a JSON object")


def _long(table: pa.Table, where: str) -> ScoreTable:
    """One row per candidate: group the rows by mention, in order of first appearance, candidates by their number."""
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
        raise NamesakeError(f"{where}: {owner(rows[twice[0]])} appears twice")
    position = {"articleID", "name", "candidate", "qid"}
    scores = {
        column.name: _numbers(table[column.name], f"{where}: {column.name}", owner)[rows]
        for column in table.schema
        if column.name not in position and (pa.types.is_floating(column.type) or pa.types.is_integer(column.type))
    }
    qids = _texts(table, "qid")
    offsets = np.searchsorted(mention[rows], np.arange(len(mentions) + 1)).astype(np.int64)
    return ScoreTable(mentions, offsets, [qids[row] for row in rows], scores)


def _nested(table: pa.Table, where: str) -> ScoreTable:
    """One row per mention: unnest its candidates with their scores and parts."""
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
    scores = _columns(columns, where, lambda row: _owner(*owners[row]))
    offsets = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    recipe = (table.schema.metadata or {}).get(b"namesake.recipe")
    ties = Recipe.parse(recipe.decode(), where, declared=False).tie_break if recipe else ("LQID",)
    chosen = table["qid"].to_pylist()
    qids, confidence = [c["qid"] for c in flat], _confidence(table, where)
    doubts: dict[str, list[Any]] = {}
    if "doubts" in table.column_names and pa.types.is_struct(table["doubts"].type):
        rows = table["doubts"].to_pylist()
        doubts = {field.name: [row and row[field.name] for row in rows] for field in table["doubts"].type}
    evidence = _columns(doubts, where, lambda row: f"{mentions[row][1]!r} in article {mentions[row][0]}")
    kinds = kind_numbers([candidate.get("kind") for candidate in flat])
    return ScoreTable(mentions, offsets, qids, scores, chosen, ties, *confidence, evidence, kinds)


def kind_numbers(kinds: Sequence[str | None]) -> Int8 | None:
    """Return the numbers of kinds, -1 for null and for an unknown kind; None if all are null."""
    number = {kind: n for n, kind in enumerate(KINDS)}
    return np.array([number.get(kind or "", -1) for kind in kinds], np.int8) if any(kinds) else None


def _columns(columns: dict[str, list[Any]], where: str, owner: Callable[[int], str]) -> dict[str, Float64]:
    """Columns of numbers; a column of nulls is absent, such as that of a scorer that never ran."""
    return {
        name: _numbers(pa.array(values, pa.float64()), f"{where}: {name}", owner)
        for name, values in columns.items()
        if any(value is not None for value in values)
    }


def _confidence(table: pa.Table, where: str) -> tuple[Float64 | None, list[str | None] | None]:
    """The linker's probabilities of its first candidates, and those candidates."""
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


def _owner(mention: Mention, candidate: int) -> str:
    return f"candidate {candidate} of {mention[1]!r} in article {mention[0]}"


def _numbers(column: Any, what: str, owner: Callable[[int], str]) -> Float64:
    """A column as float64; a missing value is an error, which names the column and the `owner` of the row."""
    try:
        values: Float64 = np.array(column.to_pylist(), np.float64)
    except (TypeError, ValueError):
        raise NamesakeError(f"{what} is not a column of numbers") from None
    missing = np.flatnonzero(np.isnan(values))
    if len(missing):
        raise NamesakeError(f"{what} of {owner(int(missing[0]))} is not a number (NaN or null)")
    return values


def _texts(table: pa.Table, column: str) -> list[str]:
    return [str(value) for value in table[column].to_pylist()]
