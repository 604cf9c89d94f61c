"""Scores and gold answers: files of scores as flat arrays, and the data set that aligns them with gold.

docs/evaluation.md describes the files: Parquet, JSON lines or CSV. Scores are long, with one row per candidate, or
nested, with one row per mention and its candidates as a list, as `namesake link --scores` writes them.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from namesake.arrays import Bool, Float64, Int8, Int64, indptr, list_parts, numpy_numbers, one_chunk, take_rows
from namesake.errors import NamesakeError, did_you_mean
from namesake.files import kind
from namesake.files.lines import json_lines
from namesake.kernels.kinds import KINDS
from namesake.parts import Combined
from namesake.recipe import Recipe

Mention = tuple[str, str]  # the article and the name of a mention
NIL = -1  # no candidate is right
MISSED = -2  # the right entity is known and is not among the candidates


@dataclass(frozen=True)
class ScoreTable:
    """Mentions with their candidates in CSR. From `chosen` on, fields are None or empty if the file lacks them."""

    mentions: list[Mention]
    offsets: Int64
    qids: list[str]
    scores: dict[str, Float64]
    chosen: list[str | None] | None = None  # the linker's answer for each mention; None for NIL
    tie_break: tuple[str, ...] = ("LQID",)
    confidence: Float64 | None = None  # the probability that the first candidate is right; NaN without candidates
    first: list[str | None] | None = None  # the linker's first candidate, also if it did not answer
    doubts: dict[str, Float64] = field(default_factory=dict)  # by kind of evidence for NIL, one number per mention
    kinds: Int8 | None = None  # the number in `KINDS` of each candidate, -1 for unknown; None: all are people

    def combined(self, recipe: Recipe) -> Combined:
        """Combine the scores with a recipe."""
        return recipe.combine(self.scores, self.offsets, self.doubts, self.kinds)

    @property
    def lists_candidates(self) -> bool:
        """False for links written without `--scores`: they contain answers but no candidates."""
        return len(self.qids) > 0

    def take(self, wanted: Sequence[int] | Int64) -> "ScoreTable":
        """Return the table with only some mentions, in the given order; -1 is one without candidates and evidence."""
        at = np.asarray(wanted, np.int64)
        offsets, candidates = take_rows(np.append(self.offsets, self.offsets[-1]), at)
        picked = {name: pick(getattr(self, name), at) for name in ("mentions", "chosen", "first", "doubts")}
        confidence = pick(self.confidence, at, np.nan)
        return replace(self.with_candidates(offsets, candidates), **picked, confidence=confidence)

    def with_candidates(self, offsets: Int64, candidates: Int64) -> "ScoreTable":
        """Return the table with only some candidates, between new offsets."""
        picked = {name: pick(getattr(self, name), candidates) for name in ("qids", "scores", "kinds")}
        return replace(self, offsets=offsets, **picked)


def pick(values: Any, at: Int64, missing: float = 0.0) -> Any:
    """Return some entries of an array, a list or each column of a dict; None stays None, and -1 is missing."""
    if isinstance(values, dict):
        return {name: pick(column, at) for name, column in values.items()}
    if isinstance(values, list):
        return [None if i < 0 else values[i] for i in at]
    return None if values is None else np.append(values, np.asarray(missing, values.dtype))[at]


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
    scores = _long(table, where) if "candidate" in table.column_names else nested_table(table, where)
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
            return pa.Table.from_pylist([row for _, row in json_lines(path, dict[str, Any], "a JSON object")])
    except FileNotFoundError:
        raise NamesakeError(f"{path}: no such file") from None
    except (OSError, pa.ArrowException) as problem:
        raise NamesakeError(f"{path} cannot be read ({str(problem).splitlines()[0]})") from None
    raise NamesakeError(f"{path}: scores and links come as .parquet, .jsonl (.gz .bz2 .zst) or .csv")


def _long(table: pa.Table, where: str) -> ScoreTable:
    """One row per candidate: group the rows by mention, in order of first appearance, candidates by their number."""
    keys = _mentions(table)
    number = {key: at for at, key in enumerate(dict.fromkeys(keys))}
    mention = np.array([number[key] for key in keys], np.int64)
    candidate = _numbers(table["candidate"], f"{where}: candidate", lambda row: f"row {row}")
    rows = np.lexsort([candidate, mention])

    def owner(row: int) -> str:
        return _candidate(keys[row], int(candidate[row]))

    twice = np.flatnonzero((np.diff(mention[rows]) == 0) & (np.diff(candidate[rows]) == 0))
    if len(twice):
        raise NamesakeError(f"{where}: {owner(rows[twice[0]])} appears twice")
    position = {"articleID", "name", "candidate", "qid"}
    scores = {
        column.name: _numbers(table[column.name], f"{where}: {column.name}", owner)[rows]
        for column in table.schema
        if column.name not in position and (pa.types.is_floating(column.type) or pa.types.is_integer(column.type))
    }
    qids = [str(qid) for qid in table["qid"].take(pa.array(rows)).to_pylist()]
    offsets = np.searchsorted(mention[rows], np.arange(len(number) + 1)).astype(np.int64)
    return ScoreTable(list(number), offsets, qids, scores)


def nested_table(table: pa.Table, where: str) -> ScoreTable:
    """One row per mention: unnest its candidates with their scores and parts."""
    mentions = _mentions(table)
    if len(set(mentions)) < len(mentions):
        article, name = next(mention for mention in mentions if mentions.count(mention) > 1)
        raise NamesakeError(f"{where}: two rows for {name!r} in {article}; a mention is one name in one article")
    offsets, given = np.zeros(len(mentions) + 1, np.int64), {}
    if "candidates" in table.column_names and table["candidates"].null_count < len(mentions):
        offsets, candidates = list_parts(one_chunk(table["candidates"]))
        given = _fields(candidates)

    def owner(row: int) -> str:
        mention = int(np.searchsorted(offsets, row, "right")) - 1
        return _candidate(mentions[mention], row - int(offsets[mention]))

    def about(row: int) -> str:
        return f"{mentions[row][1]!r} in article {mentions[row][0]}"

    none = pa.nulls(0)
    scored = _fields(given.get("parts", none)) | {"score": given.get("score", none)}
    doubts = _fields(one_chunk(table["doubts"])) if "doubts" in table.column_names else {}
    recipe = (table.schema.metadata or {}).get(b"namesake.recipe")
    ties = Recipe.parse(recipe.decode(), where, declared=False).tie_break if recipe else ("LQID",)
    qids, kinds = (given.get(name, none).to_pylist() for name in ("qid", "kind"))
    number = {kind: n for n, kind in enumerate(KINDS)}
    numbers = np.array([number.get(kind or "", -1) for kind in kinds], np.int8) if any(kinds) else None
    linked = table["qid"].to_pylist(), ties, *_confidence(table, where)
    evidence = _columns(doubts, where, about)
    return ScoreTable(mentions, offsets, qids, _columns(scored, where, owner), *linked, evidence, numbers)


def _fields(structs: pa.Array) -> dict[str, pa.Array]:
    """The fields of structs by name; nothing if they are not structs."""
    names = [each.name for each in structs.type] if pa.types.is_struct(structs.type) else []
    return {name: pc.struct_field(structs, name) for name in names}


def _columns(columns: dict[str, pa.Array], where: str, owner: Callable[[int], str]) -> dict[str, Float64]:
    """Columns of numbers; a column of nulls is absent, such as that of a scorer that never ran."""
    some = {name: column for name, column in columns.items() if column.null_count < len(column)}
    return {name: _numbers(column, f"{where}: {name}", owner) for name, column in some.items()}


def _confidence(table: pa.Table, where: str) -> tuple[Float64 | None, list[str | None] | None]:
    """The linker's probabilities of its first candidates, and those candidates."""
    if "confidence" not in table.column_names or table["confidence"].null_count == table.num_rows:
        return None, None
    first = table["best" if "best" in table.column_names else "qid"]
    confidence = _numbers(table["confidence"], f"{where}: confidence")
    confidence[numpy_numbers(first.is_null())] = np.nan
    if ((confidence < 0) | (confidence > 1)).any():
        raise NamesakeError(f"{where}: confidence must be a probability, between 0 and 1")
    return confidence, first.to_pylist()


def _candidate(mention: Mention, candidate: int) -> str:
    return f"candidate {candidate} of {mention[1]!r} in article {mention[0]}"


def _numbers(column: Any, what: str, owner: Callable[[int], str] | None = None) -> Float64:
    """A column as float64; with an `owner` of each row for the message, a missing value is an error, otherwise NaN."""
    try:
        values: Float64 = np.array(column.to_pylist(), np.float64)
    except (TypeError, ValueError):
        raise NamesakeError(f"{what} is not a column of numbers") from None
    missing = np.flatnonzero(np.isnan(values))
    if len(missing) and owner is not None:
        raise NamesakeError(f"{what} of {owner(int(missing[0]))} is not a number (NaN or null)")
    return values


def _mentions(table: pa.Table) -> list[Mention]:
    articles, names = table["articleID"].to_pylist(), table["name"].to_pylist()
    return [(str(article), str(name)) for article, name in zip(articles, names, strict=True)]


class GoldRow(NamedTuple):
    """The truth about one mention: `gold` is an index into its candidates, a QID, or None for NIL."""

    mention: Mention
    gold: int | str | None
    columns: dict[str, str | None]
    where: str = "gold"  # the file and the line, for messages


@dataclass(frozen=True)
class Dataset:
    """Scores and gold of the same mentions: `gold[i]` is a flat candidate index, or NIL, or MISSED."""

    table: ScoreTable
    gold: Int64
    gold_qids: list[str | None]
    columns: dict[str, list[str | None]]
    unscored: frozenset[Mention] = frozenset()  # mentions of the gold without scores: they have no candidates

    @property
    def offsets(self) -> Int64:
        """The bounds of each mention's candidates."""
        return self.table.offsets

    @property
    def answerable(self) -> Bool:
        """Mentions whose gold entity is among their candidates; if these are not listed, those with a gold entity."""
        return self.gold >= 0 if self.table.lists_candidates else self.gold != NIL

    @property
    def unanswerable(self) -> Bool:
        """Mentions for which NIL is the right answer: no candidate is right, if candidates are listed."""
        return self.gold < 0 if self.table.lists_candidates else self.gold == NIL

    def take(self, wanted: Sequence[int] | Int64) -> "Dataset":
        """Return the data with only some mentions."""
        at = np.asarray(wanted, np.int64)
        table, gold = self.table.take(wanted), self.gold[at]
        gold = np.where(gold >= 0, gold - self.offsets[at] + table.offsets[:-1], gold)
        qids, columns = pick(self.gold_qids, at), pick(self.columns, at)
        return Dataset(table, gold, qids, columns, self.unscored & set(table.mentions))

    def only(self, kept: Bool) -> "Dataset":
        """Return the data with some candidates, and the columns `known` (all kept, or some) and `rivals` (several)."""
        table = self.table.with_candidates(indptr(kept)[self.offsets], np.flatnonzero(kept))
        place = np.append(np.cumsum(kept) - 1, MISSED)
        stays = (self.gold >= 0) & np.append(kept, False)[self.gold]
        gold = np.where(stays, place[self.gold], np.where(self.gold == NIL, NIL, MISSED))
        sizes = list(zip(np.diff(table.offsets), np.diff(self.offsets), strict=True))
        known = [("all known" if now == before else "some known") if now else None for now, before in sizes]
        rivals = ["rivals" if now > 1 else None for now, _ in sizes]
        return Dataset(table, gold, self.gold_qids, self.columns | {"known": known, "rivals": rivals}, self.unscored)


def article_numbers(data: Sequence[Dataset]) -> Int64:
    """Return a number for the article of each mention of all data sets, for resampling and folds by document."""
    number: dict[str, int] = {}
    articles = (article for each in data for article, _ in each.table.mentions)
    return np.array([number.setdefault(article, len(number)) for article in articles], np.int64)


def read_gold(path: Path) -> list[GoldRow]:
    """Read a gold file; a mention with two golds is an error."""
    gold: dict[Mention, GoldRow] = {}
    table = kind(path) in {".parquet", ".csv"}
    lines = json_lines(path, dict[str, Any], "a JSON object")
    for number, row in enumerate(read_table(path).to_pylist(), 1) if table else lines:
        where = f"{path} {'row' if table else 'line'} {number}"
        article, answered = (next((key for key in keys if key in row), "") for keys in (_ARTICLE, _ANSWER))
        if row.get(article) is None or row.get("name") is None or not answered:
            raise NamesakeError(f"{where}: a gold row needs articleID (or id), name and gold (or qid)")
        mention = (str(row[article]), str(row["name"]))
        if mention in gold:
            raise NamesakeError(f"{where}: two golds for {mention[1]!r} in article {mention[0]}")
        answer = row[answered]
        is_index = isinstance(answer, int) and not isinstance(answer, bool)
        if not (answer is None or is_index or re.fullmatch(r"Q\d+", str(answer))):
            raise NamesakeError(f"{where}: gold is {answer!r}, not an index, a QID such as Q76, or null")
        columns = {k: None if v is None else str(v) for k, v in row.items() if k not in (article, "name", answered)}
        gold[mention] = GoldRow(mention, answer, columns, where)
    if not gold:
        raise NamesakeError(f"{path}: no gold rows")
    return list(gold.values())


_ARTICLE, _ANSWER = ("articleID", "article_id", "id"), ("gold", "qid")
"""The names of the columns of the article and of the answer; the first that exists counts."""


def in_split(gold: list[GoldRow], split: str | None) -> list[GoldRow]:
    """Return the gold rows of one split; all of them if `split` is None."""
    if split is None:
        return gold
    chosen = [row for row in gold if row.columns.get("split") == split]
    if not chosen:
        known = sorted({row.columns["split"] or "null" for row in gold if "split" in row.columns})
        there = f"the slice is empty; splits are {', '.join(known) or 'none'}"
        raise NamesakeError(f"no gold in split {split!r}{did_you_mean(split, known)}: {there}")
    return chosen


def resolved(gold: list[GoldRow]) -> tuple[list[GoldRow], int]:
    """Return the rows whose truth is resolved, and the number of the others: their titles have no QID yet."""
    kept = [row for row in gold if row.columns.get("truth") != "unresolved"]
    if not kept:
        raise NamesakeError("the truth of all gold rows is unresolved: use `namesake datasets convert … --kb KB`")
    return kept, len(gold) - len(kept)


def align(table: ScoreTable, gold: list[GoldRow]) -> Dataset:
    """Return the scores of the mentions that have gold, in its order; a mention without scores has no candidates."""
    place = {mention: i for i, mention in enumerate(table.mentions)}
    unscored = frozenset(row.mention for row in gold if row.mention not in place)
    if all(row.mention in unscored for row in gold):
        article, name = gold[0].mention
        articles = {article for article, _ in table.mentions}
        what = f"has no mention {name!r}" if article in articles else "is not among those scored"
        which = f"{gold[0].where}: gold for {name!r} in article {article}"
        raise NamesakeError(f"{which}, but that article {what}, nor is other gold: give the scores of its articles")
    chosen = table.take([place.get(row.mention, -1) for row in gold])
    chosen = replace(chosen, mentions=[row.mention for row in gold])
    names = dict.fromkeys(column for row in gold for column in row.columns)
    index = np.array([_flat_index(chosen, i, row, row.mention in unscored) for i, row in enumerate(gold)], np.int64)
    pairs = zip(index, gold, strict=True)
    qids = [chosen.qids[at] if at >= 0 else row.gold if isinstance(row.gold, str) else None for at, row in pairs]
    columns = {column: [row.columns.get(column) for row in gold] for column in names}
    return Dataset(chosen, index, qids, columns, unscored)


def _flat_index(table: ScoreTable, mention: int, row: GoldRow, unscored: bool) -> int:
    """The index of a mention's gold candidate among all candidates."""
    start, end = int(table.offsets[mention]), int(table.offsets[mention + 1])
    if row.gold is None:
        return NIL
    if isinstance(row.gold, str):
        return table.qids.index(row.gold, start, end) if row.gold in table.qids[start:end] else MISSED
    if unscored:
        return MISSED
    if not 0 <= row.gold < end - start:
        article, name = row.mention
        hint = "" if end > start else " (links without candidates? link with `scores=True`, or give gold as QIDs)"
        which = f"{row.where}: gold of {name!r} in article {article} is candidate {row.gold}"
        raise NamesakeError(f"{which}, but it has {end - start} candidates{hint}")
    return start + row.gold
