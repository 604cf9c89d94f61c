"""Popularity: what the KB contains about an entity, whatever the article says."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from namesake.kernels.dump.wikidata import FIRST_OWN, LARGEST_ID
from namesake.rank import reduce_mentions
from namesake.scorers.registry import Need, Scores, Signal, scorer

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB

LINKS = Need(
    "Wikipedia's link graph (`kb build --wikipedia`) or ready-made ranks (`kb build --ranks wikipedia=FILE`)",
    lambda kb: "wikipedia: none" not in kb.manifest.ranks,
)
LEAST_FAME = 0.01  # what is added to a fame before its logarithm
HALF_AGE = 2e7  # the QID at which ItemAge is -log 2


@scorer("Random")
def random(batch: Batch) -> Scores:
    """1 / |E_m|: what a uniform pick gets in expectation. Equal for all candidates, so the tie-break decides."""
    size = np.diff(batch.offsets)
    return np.repeat(1 / np.maximum(size, 1), size)


@scorer("LQID")
def lowest_qid(batch: Batch) -> Scores:
    """-QID: well-known entities were added to Wikidata early."""
    return -np.minimum(batch.qids, LARGEST_ID).astype(np.float64)  # own entities are the last


def _column(name: str, column: str, formula: str, **settings: Any) -> Signal:
    """Declare a column of the KB as a scorer."""
    declare = scorer(name, formula=formula, **settings)
    return declare(lambda batch, kb: _known(getattr(kb, column), batch))


_column("NP", "properties", "Distinct properties in the entity's statements.")
sitelinks = _column("NS", "sitelinks", "Wikimedia pages about the entity.")
_column("PR_WD", "pagerank_wikidata", "PageRank on the Wikidata item graph.", aliases=("PRWD",))
_column("PR_WP", "pagerank_wikipedia", "PageRank on the Wikipedia link graph.", needs=LINKS, aliases=("PRWP",))


@scorer("Fame", early=True)
def fame(batch: Batch, kb: KB) -> Scores:
    """log(1 + fame): sitelinks, or what population and use in statements amount to; 0 if not in the KB."""
    return np.log1p(batch.once(fames))


@scorer("FameShare", early=True)
def fame_share(batch: Batch, kb: KB) -> Scores:
    """log of the share of the fame of all candidates with this name; 0 for an entity that is not in the KB."""
    fame, size = batch.once(fames), np.diff(batch.offsets)
    total = reduce_mentions(np.add, fame, batch.offsets, 0.0) + LEAST_FAME * size  # exact in any order: float32
    shares = (fame + LEAST_FAME) / np.repeat(total, size)
    is_listed = np.isnan(batch.mentions.quality)  # by the article, whose list may be a selection
    return np.where((batch.rows >= 0) & ~is_listed, np.log(shares), 0.0)


@scorer("TimesNamed", early=True)
def times_named(batch: Batch, kb: KB) -> Scores:
    """log(1 + statements of the KB that name the entity); 0 for an entity that is not in the KB."""
    return np.log1p(_known(kb.used, batch))


@scorer("ItemAge", early=True, aliases=("Early",))
def item_age(batch: Batch, kb: KB) -> Scores:
    """-log(1 + QID / 20,000,000): entities that were added late are seldom in texts; 0 if not in the KB."""
    return batch.once(_item_age)


def _item_age(batch: Batch, kb: KB) -> Scores:
    median = int(kb.qids[len(kb.qids) // 2]) if len(kb.qids) else 0
    qids = np.where(batch.qids >= FIRST_OWN, median, batch.qids)  # own entities count as an item of medium age
    return np.where(batch.rows >= 0, -np.log1p(qids / HALF_AGE), 0.0)


@scorer("FoundItemAge", early=True)
def found_item_age(batch: Batch, kb: KB) -> Scores:
    """ItemAge for names found in the text; 0 for names that articles list, which are more often of new entities."""
    return np.zeros(len(batch.rows)) if batch.mentions.context is None else batch.once(_item_age)


@scorer("OwnEntity", early=True)
def own_entity(batch: Batch) -> Scores:
    """1 for an own entity (`namesake kb add`), 0 for an item of Wikidata; its weight is the `prior` of a linker."""
    return (batch.qids >= FIRST_OWN).astype(np.float64)


@scorer("StatementCount", early=True, aliases=("Record",))
def statement_count(batch: Batch, kb: KB) -> Scores:
    """log((1 + statements) / (1 + the median of the KB's people)); 0 for an entity that is not in the KB."""
    indptr, rows = kb.statements.indptr, np.maximum(batch.rows, 0)
    size = indptr[np.minimum(rows + 1, len(indptr) - 1)] - indptr[rows]
    return np.where(batch.rows >= 0, np.log((1 + size) / (1 + median_statements(kb))), 0.0)


@lru_cache(maxsize=4)
def median_statements(kb: KB) -> float:
    """The median number of statements of a person in the KB."""
    size = np.diff(kb.statements.indptr)[kb.person.astype(np.bool_)]
    return float(np.median(size)) if len(size) else 0.0


def fames(batch: Batch, kb: KB) -> Scores:
    """The fame of each candidate, 0 for one that is not in the KB."""
    return _known(kb.fame, batch)


def _known(column: npt.NDArray[np.generic], batch: Batch) -> Scores:
    """The column's value for each candidate, 0 for one that is not in the KB."""
    if not len(column):
        return np.zeros(len(batch.rows))
    known = column.take(batch.rows, mode="clip").astype(np.float64)
    known[batch.rows < 0] = 0.0
    return known
