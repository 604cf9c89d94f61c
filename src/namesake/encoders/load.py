"""An encoder by its name: `static:FILE`, `sentence:NAME`, `bart:NAME`."""

from __future__ import annotations

from pathlib import Path

from namesake.encoders.protocol import Encoder
from namesake.errors import NamesakeError, did_you_mean

KINDS = ("static", "sentence", "bart")


def load(name: str, device: str | None = None, truncate: bool = False) -> Encoder:
    """The encoder called `name`: KIND:WHERE.

    Args:
        name: `static:FILE` (word vectors; needs no torch), `sentence:NAME` or `bart:NAME`, where NAME is a folder, a
            package that holds one, or a model of the hub.
        device: `cpu` or `cuda`; by default the GPU where there is one. Static vectors need none.
        truncate: leave out what goes beyond the model's longest text, as the paper does, instead of encoding longer
            texts in chunks.
    """
    kind, colon, where = name.partition(":")
    if kind not in KINDS or not colon or not where:
        raise NamesakeError(
            f"encoder {name!r}{did_you_mean(kind, KINDS)}: must be static:FILE, sentence:NAME or bart:NAME"
        )
    if kind == "static":
        from namesake.encoders.static import Static

        return Static.read(Path(where))
    from namesake.encoders.models import load_model
    from namesake.encoders.transformer import Transformer

    return Transformer(kind, load_model(where, "encoder", device), truncate)
