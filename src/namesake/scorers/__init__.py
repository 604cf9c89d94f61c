"""Scorers: one number per candidate, higher is better. Each is declared once, in one registry.

Importing this package loads no compiled code: scorers import their kernels when they run.
"""

from importlib import import_module

from namesake.scorers.evidence_shown import Candidate, Match, Source
from namesake.scorers.registry import SCORERS, Need, Scores, Signal, named, scorer

for module in (  # the order of the registry, the paper's scorers first
    *("popularity", "word_overlap", "shared_statements", "neural"),
    *("life_dates", "name_match", "table_rows"),
):
    import_module(f"namesake.scorers.{module}")

__all__ = ["SCORERS", "Candidate", "Match", "Need", "Scores", "Signal", "Source", "named", "scorer"]
