"""Popularity: what the KB contains about an entity, whatever the article says."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from namesake.kernels.dump.wikidata import FIRST_OWN, LARGEST_ID
from namesake.scorers.registry import Need, Scores, Signal, scorer

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB

LINKS = Need(
    "Wikipedia's link graph (`kb build --wikipedia`) or ready-made ranks (`kb build --ranks wikipedia=FILE`)",
    lambda kb: "wikipedia: none" not in kb.manifest.ranks,
)


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


def _declare_logarithm(row: int, name: str, formula: str, *aliases: str) -> Signal:
    """Declare a row of `_popularity` as a scorer, which is 0 for an entity that is not in the KB."""
    declare = scorer(name, formula=f"{formula}; 0 if not in the KB.", early=True, aliases=aliases)
    return declare(lambda batch: batch.once(_popularity)[row])


_declare_logarithm(0, "Fame", "log(1 + fame): sitelinks, or what population and use in statements amount to")


@scorer("FameShare", early=True)
def fame_share(batch: Batch) -> Scores:
    """log of the share of the fame of all candidates with this name; 0 for an entity that is not in the KB."""
    share, is_found = batch.once(_popularity)[1], batch.mentions.context is not None
    return share if is_found else np.where(np.isnan(batch.mentions.quality), 0.0, share)  # lists may be selections


_declare_logarithm(2, "TimesNamed", "log(1 + statements of the KB that name the entity)")
item_age = _declare_logarithm(
    3, "ItemAge", "-log(1 + QID / 20,000,000): entities that were added late are seldom in texts", "Early"
)


@scorer("FoundItemAge", early=True)
def found_item_age(batch: Batch) -> Scores:
    """ItemAge for names found in the text; 0 for names that articles list, which are more often of new entities."""
    return np.zeros(len(batch.rows)) if batch.mentions.context is None else item_age(batch)


@scorer("OwnEntity", early=True)
def own_entity(batch: Batch) -> Scores:
    """1 for an own entity (`namesake kb add`), 0 for an item of Wikidata; its weight is the `prior` of a linker."""
    return (batch.qids >= FIRST_OWN).astype(np.float64)


_declare_logarithm(4, "StatementCount", "log((1 + statements) / (1 + the median of the KB's people))", "Record")


def _popularity(batch: Batch, kb: KB) -> list[Scores]:
    """The numbers of `kernels.link.candidate_tables.popularity` for each candidate, in logarithms."""
    from namesake.kernels.link.candidate_tables import popularity

    middle = int(kb.qids[len(kb.qids) // 2]) if len(kb.qids) else 0  # own entities count as an item of medium age
    qids = np.where(batch.qids >= FIRST_OWN, middle, batch.qids)
    columns = kb.fame, kb.used, kb.statements.indptr
    numbers = popularity(batch.offsets, batch.rows, qids, *columns, median_statements(kb))
    return list(np.log(numbers, out=numbers))


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
