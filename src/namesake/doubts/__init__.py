"""Doubts: what speaks for "none of them", one number a mention. One declaration each, and one registry.

A recipe weighs doubts as it weighs scorers; their sum is the score of "none of them" (`decide.py`). Most numbers come
from the name and the text around it. Importing this room loads no compiled code.
"""

from namesake.doubts.registry import DOUBTS, Doubt, doubt, named_doubt

# Each of these modules declares doubts.
from namesake.doubts import names, found  # isort: skip  # noqa: F401

__all__ = ["DOUBTS", "Doubt", "doubt", "named_doubt"]
