"""`namesake kb embed`: vectors of the texts of a KB.

Each distinct text is encoded once: statement values first, then descriptions and first paragraphs. An entity's vector
is that of its first paragraph; without one, the mean over its description and the values of its statements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import Int32, Int64, indptr
from namesake.encoders import Encoder, load
from namesake.errors import NamesakeError
from namesake.kb.store import KB
from namesake.kb.vectors import stored
from namesake.kb.vectors.stored import VectorDraft, VectorManifest, halves, has_vectors
from namesake.progress import Reporter

BLOCK = 4096
"""Texts that are encoded between two checkpoints."""
ROWS = 1 << 16
"""Entities whose vectors are computed at a time."""


@dataclass(frozen=True)
class Texts:
    """The distinct texts of a KB, those of values first, and the texts of each pair and each entity."""

    texts: pa.LargeStringArray
    values: int
    """Number of texts of values."""
    pairs: Int32
    """The text of each pair's value, -1 if it has none."""
    descriptions: Int32
    """The text of each entity's description, -1 if it has none."""
    paragraphs: Int32
    """The text of each entity's first paragraph, -1 if it has none."""

    @staticmethod
    def of(kb: KB) -> Texts:
        """The texts of a KB."""
        items = kb.pair_value >= 0
        labels = kb.item_labels.take(np.where(items, kb.pair_value, -1)).arrow()
        strings = kb.strings.take(np.where(items, -1, ~kb.pair_value)).arrow()
        value_texts = pc.if_else(pa.array(items), labels, strings)
        descriptions, paragraphs = kb.descriptions.arrow(), kb.paragraphs.arrow()
        descriptions = pc.if_else(pc.equal(paragraphs, ""), descriptions, "")  # not used if there is a paragraph
        whole = pa.chunked_array([value_texts, descriptions, paragraphs])
        coded = pc.if_else(pc.equal(pc.utf8_trim_whitespace(whole), ""), None, whole).combine_chunks()
        coded = coded.dictionary_encode()
        codes = np.asarray(coded.indices.fill_null(-1), np.int32)
        pairs, described, opened = np.split(codes, [len(value_texts), len(value_texts) + len(descriptions)])
        return Texts(coded.dictionary, int(pairs.max(initial=-1)) + 1, pairs, described, opened)

    def of_entities(self, kb: KB, first: int, last: int) -> tuple[Int64, Int32]:
        """The texts that make the vectors of entities `first` to `last`, ragged."""
        bounds = kb.statements.indptr[first : last + 1]
        values = self.pairs[kb.statements.values[bounds[0] : bounds[-1]]]
        rows = np.arange(last - first)
        whose = np.repeat(rows, np.diff(bounds))
        opened = self.paragraphs[first:last]
        keep = opened[whose] < 0
        whose = np.concatenate([rows, whose[keep]])
        texts = np.concatenate([np.where(opened >= 0, opened, self.descriptions[first:last]), values[keep]])
        order = np.argsort(whose, kind="stable")
        return indptr(np.bincount(whose, minlength=last - first)), np.ascontiguousarray(texts[order], np.int32)


def embed(
    kb: KB | str | Path,
    encoder: str | Encoder,
    *,
    device: str | None = None,
    truncate: bool = False,
    force: bool = False,
    reporter: Reporter | None = None,
) -> VectorManifest:
    """Give a KB the vectors of its texts: `KB/vectors/text`. A stopped run is resumed.

    Args:
        kb: a KB or its folder.
        encoder: `static:FILE`, `sentence:NAME` or `bart:NAME`, or an encoder.
        device: `cpu` or `cuda`; by default the GPU if there is one.
        truncate: cut texts that are too long for the encoder, instead of encoding them in chunks.
        force: replace existing vectors.
        reporter: receives the progress.
    """
    kb = kb if isinstance(kb, KB) else KB.open(kb)
    reporter = Reporter() if reporter is None else reporter
    if has_vectors(kb, "text") and not force:
        raise NamesakeError(f"{kb.path} has text vectors already: replace them with `force=True`")
    encoder = load(encoder, device, truncate) if isinstance(encoder, str) else encoder
    texts = Texts.of(kb)
    made = {"encoder": encoder.name, "digest": encoder.digest, "long": "truncate" if truncate else "chunks"}
    with VectorDraft(kb, "text", made, encoder.dimension, force, len(texts.texts)) as draft:
        with reporter.stage("encoding texts"):
            _encode(draft, texts.texts, encoder, reporter)
        with reporter.stage("entities"):
            counts = _write(draft, kb, texts)
        return draft.publish(**counts)


def _encode(draft: VectorDraft, texts: pa.LargeStringArray, encoder: Encoder, reporter: Reporter) -> None:
    """Encode the remaining texts, a block at a time."""
    began = done = draft.done
    if done:
        reporter.say(f"resuming after {done:,} texts that a stopped run encoded")
    while done < len(texts):
        vectors = encoder.encode(texts.slice(done, BLOCK).to_pylist())
        draft.append(done, halves(vectors, encoder.name))
        done += len(vectors)
        reporter.advance((done - began) / (len(texts) - began), done - began, "texts")


def _write(draft: VectorDraft, kb: KB, texts: Texts) -> dict[str, int]:
    """Write the columns; returns the counts for the manifest."""
    from namesake.kernels.vectors.cosine import means

    encoded, dimension = draft.encoded(), draft.dimension
    known = np.zeros(texts.values, np.bool_)

    def units() -> Iterator[npt.NDArray[np.float16]]:
        for first in range(0, texts.values, ROWS):
            wide = encoded[first : min(first + ROWS, texts.values)].view(np.float16).astype(np.float32)
            length = np.linalg.norm(wide, axis=1, keepdims=True)
            known[first : first + ROWS] = length[:, 0] > 0
            yield np.divide(wide, length, out=np.zeros_like(wide), where=length > 0).astype(np.float16)

    def entities() -> Iterator[npt.NDArray[np.float16]]:
        for first in range(0, len(kb), ROWS):
            bounds, of_entities = texts.of_entities(kb, first, min(first + ROWS, len(kb)))
            yield halves(means(bounds, of_entities, encoded), "the mean over an entity's texts")

    draft.write(stored.VALUE, stored.HALF, texts.values * dimension, units())
    pairs = np.where(texts.pairs >= 0, texts.pairs, 0)
    pairs = np.where((texts.pairs >= 0) & known[pairs] if len(known) else False, texts.pairs, -1)
    draft.write(stored.PAIR, stored.INT32, len(pairs), [pairs])
    draft.write(stored.ENTITY, stored.HALF, len(kb) * dimension, entities())
    return {"entities": len(kb), "values": texts.values, "pairs": len(pairs)}


def encoder_of(kb: KB) -> Encoder:
    """The encoder that made a KB's text vectors; NamesakeError if it is missing or has changed."""
    vectors = kb.text_vectors.manifest
    name = vectors.made.get("encoder", "")
    encoder = load(name, truncate=vectors.made.get("long") == "truncate")
    if encoder.digest != vectors.made.get("digest") or encoder.dimension != vectors.dimension:
        raise NamesakeError(
            f"{kb.path}: {name} has changed since it made the KB's text vectors; make them again with "
            f"`namesake kb embed {kb.path} --encoder {name} --force`"
        )
    return encoder
