"""Tables of names: who each row means, by its name, its words and its values."""

from namesake.reconciling.query import Candidate, Query
from namesake.reconciling.reconcile import reconcile_queries

__all__ = ["Candidate", "Query", "reconcile_queries"]
