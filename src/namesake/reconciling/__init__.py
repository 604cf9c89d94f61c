"""Reconciliation: the entity of each row of a table, by its name, words and values."""

from namesake.batch import Query
from namesake.reconciling.matching import Candidate, reconcile_queries

__all__ = ["Candidate", "Query", "reconcile_queries"]
