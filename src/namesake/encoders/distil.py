"""Word vectors from a sentence encoder: each word of its vocabulary as it sees it alone, less what all have in common.

For machines without a GPU: a text then costs a thousandth of what the encoder takes. Words weigh by their rarity,
a / (a + p), with p from their rank, as vocabularies are sorted by frequency (Zipf).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from namesake.encoders.models import load_model
from namesake.encoders.transformer import Transformer
from namesake.errors import NamesakeError

SMOOTH = 1e-3
"""a: words more frequent than this weigh little."""
BLOCK = 4096


def distil(where: str, path: str | Path, dimensions: int = 64, device: str | None = None) -> int:
    """Write the words of a sentence encoder's vocabulary and their vectors to an `.npz` file; how many there are.

    Args:
        where: the encoder: a folder, a package or a name of the hub, as behind `sentence:`.
        path: the file to write.
        dimensions: how many of the principal components of all vectors are kept.
        device: `cpu` or `cuda`; by default the GPU where there is one.
    """
    encoder = Transformer("sentence", load_model(where, "encoder", device))
    vocabulary = sorted(encoder.loaded.tokenizer.get_vocab().items(), key=lambda one: one[1])
    words = [word for word, _ in vocabulary if word.isalpha()]
    if len(words) < dimensions:
        raise NamesakeError(f"{where}: its vocabulary has {len(words)} words, fewer than {dimensions} dimensions")
    vectors = np.concatenate([encoder.encode(words[at : at + BLOCK]) for at in range(0, len(words), BLOCK)])
    vectors = vectors - vectors.mean(0)
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    share = 1 / np.arange(1, len(words) + 1)
    weights = SMOOTH / (SMOOTH + share / share.sum())
    kept = vectors @ directions[:, ::-1][:, :dimensions] * weights[:, None]
    np.savez(path, words=np.array(words), vectors=kept.astype(np.float32))
    return len(words)
