"""What an encoder is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Float32 = npt.NDArray[np.float32]


class Encoder(Protocol):
    """Texts to vectors. One encoder may be used from many threads."""

    @property
    def name(self) -> str:
        """What `load` makes it from again: KIND:WHERE, with the full path of a file or folder."""

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""

    @property
    def digest(self) -> str:
        """What tells it from every other encoder: of its weights, its words and its settings."""

    def encode(self, texts: Sequence[str]) -> Float32:
        """One row for each text, finite; all zeros for a text of no tokens, and for no other."""
