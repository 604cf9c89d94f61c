"""Scorers: one number per candidate, higher is better. One declaration each, and one registry that all others read.

Importing this room loads no compiled code: scorers import their kernels when they run, and evaluation only asks which
scorers there are.
"""

from namesake.scorers.matches import Candidate, Match, Source
from namesake.scorers.registry import SCORERS, Need, Scorer, Scores, named, scorer

# Each of these modules declares scorers, the paper's first.
from namesake.scorers import popularity, overlap, relations, cosine, values, themes, titles, dates, names, lifetime  # isort: skip  # noqa: F401

__all__ = ["SCORERS", "Candidate", "Match", "Need", "Scorer", "Scores", "Source", "named", "scorer"]
