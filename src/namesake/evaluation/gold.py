"""Gold answers, and the data set that aligns them with scores.

A gold file is JSON lines (or Parquet, or CSV) with `articleID, name, gold` (or `id, name, qid`) and any further
columns, such as `split` and `difficulty`. `gold` is the index of a candidate, a QID, or null for NIL.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from namesake.arrays import Bool, Int64
from namesake.errors import NamesakeError, did_you_mean
from namesake.evaluation.scores import Mention, ScoreTable, numbered_lines, pick, read_table
from namesake.files import kind

NIL = -1  # no candidate is right
MISSED = -2  # the right entity is known and is not among the candidates


@dataclass(frozen=True)
class GoldRow:
    """The truth about one mention: `gold` is an index into its candidates, a QID, or None for NIL."""

    mention: Mention
    gold: int | str | None
    columns: dict[str, str | None]
    where: str = "gold"
    """The file and the line, for messages."""


@dataclass(frozen=True)
class Dataset:
    """Scores and gold of the same mentions: `gold[i]` is a flat candidate index, or NIL, or MISSED."""

    table: ScoreTable
    gold: Int64
    gold_qids: list[str | None]
    columns: dict[str, list[str | None]]
    unscored: frozenset[Mention] = frozenset()
    """Mentions of the gold without scores: they have no candidates."""

    @property
    def offsets(self) -> Int64:
        """The bounds of each mention's candidates."""
        return self.table.offsets

    @property
    def answerable(self) -> Bool:
        """Mentions whose gold entity is among their candidates: the paper's denominator on Quotebank.

        If the candidates are not listed, mentions that have a gold entity.
        """
        return self.gold >= 0 if self.table.lists_candidates else self.gold != NIL

    @property
    def unanswerable(self) -> Bool:
        """Mentions for which NIL is the right answer: no candidate is right, if candidates are listed."""
        return self.gold < 0 if self.table.lists_candidates else self.gold == NIL

    @property
    def documents(self) -> Int64:
        """The number of each mention's article, for resampling and folds by document."""
        return article_numbers([self])

    def take(self, wanted: Sequence[int]) -> "Dataset":
        """Return the data with only some mentions."""
        at = np.asarray(wanted, np.int64)
        table, gold = self.table.take(wanted), self.gold[at]
        gold = np.where(gold >= 0, gold - self.offsets[at] + table.offsets[:-1], gold)
        qids, columns = pick(self.gold_qids, at), pick(self.columns, at)
        return Dataset(table, gold, qids, columns, self.unscored & set(table.mentions))

    def only(self, kept: Bool) -> "Dataset":
        """Return the same mentions with only some candidates, such as those of a KB; other gold becomes MISSED.

        Two columns to slice by are added: `known` (all candidates were kept, or some) and `rivals` (two or more).
        """
        table = self.table.only(kept)
        place = np.append(np.cumsum(kept) - 1, MISSED)
        stays = (self.gold >= 0) & np.append(kept, False)[self.gold]
        gold = np.where(stays, place[self.gold], np.where(self.gold == NIL, NIL, MISSED))
        size, before = np.diff(table.offsets), np.diff(self.offsets)
        known = np.where(size == before, "all known", "some known").tolist()
        known = [text if now else None for text, now in zip(known, size, strict=True)]
        rivals = ["rivals" if now > 1 else None for now in size]
        return Dataset(table, gold, self.gold_qids, self.columns | {"known": known, "rivals": rivals}, self.unscored)


def article_numbers(data: Sequence[Dataset]) -> Int64:
    """Return a number for the article of each mention of all data sets, in order of first appearance."""
    number: dict[str, int] = {}
    articles = (article for each in data for article, _ in each.table.mentions)
    return np.array([number.setdefault(article, len(number)) for article in articles], np.int64)


def read_gold(path: Path) -> list[GoldRow]:
    """Read a gold file; a mention with two golds is an error."""
    gold: dict[Mention, GoldRow] = {}
    table = kind(path) in {".parquet", ".csv"}
    rows = enumerate(read_table(path).to_pylist(), 1) if table else numbered_lines(path)
    for number, row in rows:
        where = f"{path} {'row' if table else 'line'} {number}"
        article, answered = (next((key for key in keys if key in row), "") for keys in (_ARTICLE, _ANSWER))
        if row.get(article) is None or row.get("name") is None or not answered:
            raise NamesakeError(f"{where}: a gold row needs articleID (or id), name and gold (or qid)")
        mention = (str(row[article]), str(row["name"]))
        if mention in gold:
            raise NamesakeError(f"{where}: two golds for {mention[1]!r} in article {mention[0]}")
        answer = row[answered]
        if isinstance(answer, bool) or not (
            answer is None or isinstance(answer, int) or re.fullmatch(r"Q\d+", str(answer))
        ):
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
    """Return the scores of the mentions that have gold, in the order of the gold.

    A mention without scores has no candidates and counts as missed. Gold without any scored mention is an error.
    """
    place = {mention: i for i, mention in enumerate(table.mentions)}
    unscored = [row.mention for row in gold if row.mention not in place]
    if len(unscored) == len(gold):
        article, name = gold[0].mention
        articles = {article for article, _ in table.mentions}
        what = f"has no mention {name!r}" if article in articles else "is not among those scored"
        which = f"{gold[0].where}: gold for {name!r} in article {article}"
        raise NamesakeError(f"{which}, but that article {what}, nor is other gold: give the scores of its articles")
    table = table.with_unscored(unscored)
    place |= {mention: i for i, mention in enumerate(unscored, len(place))}
    chosen = table.take([place[row.mention] for row in gold])
    names = dict.fromkeys(column for row in gold for column in row.columns)
    without = frozenset(unscored)
    index = np.array([_flat_index(chosen, i, row, row.mention in without) for i, row in enumerate(gold)], np.int64)
    pairs = zip(index, gold, strict=True)
    qids = [chosen.qids[at] if at >= 0 else row.gold if isinstance(row.gold, str) else None for at, row in pairs]
    columns = {column: [row.columns.get(column) for row in gold] for column in names}
    return Dataset(chosen, index, qids, columns, without)


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
