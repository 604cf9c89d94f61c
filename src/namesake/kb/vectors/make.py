"""Make vectors of a KB: of its texts (`namesake kb embed`), and of the graph of its statements (`namesake kb walk`).

Each distinct text is encoded once: statement values first, then descriptions and first paragraphs. An entity's vector
is that of its first paragraph; without one, the mean over its description and the values of its statements.

Nodes of the graph are entities and the items in their statements; a statement is an edge. Random walks are the
sentences from which a skip-gram model with negative samples learns a vector for each node (DeepWalk).
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import Float32, Int32, Int64, indptr
from namesake.encoders import Encoder, load
from namesake.errors import NamesakeError
from namesake.kb.columns import Ragged
from namesake.kb.store import KB
from namesake.kb.vectors import stored
from namesake.kb.vectors.stored import VectorDraft, VectorManifest, halves, has_vectors
from namesake.progress import Reporter

BLOCK = 4096  # texts that are encoded between two checkpoints
ROWS = 1 << 16  # entities whose vectors are computed at a time
WALKS = 1 << 14  # walks between two reports
NOISE = 1 << 20  # size of the table of negative samples: nodes in proportion to their degree to the power ¾
RATE = 0.025  # the learning rate at the beginning


class Texts:
    """The distinct texts of a KB, of which the first `values` are those of statements.

    `pairs`, `descriptions` and `paragraphs` have the text of each pair's value and of each entity, -1 if there is none.
    """

    def __init__(self, kb: KB) -> None:
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
        ends = [len(value_texts), len(value_texts) + len(descriptions)]
        self.pairs, self.descriptions, self.paragraphs = np.split(codes, ends)
        self.texts, self.values = coded.dictionary, int(self.pairs.max(initial=-1)) + 1

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
    kb, reporter = kb if isinstance(kb, KB) else KB.open(kb), reporter or Reporter()
    if has_vectors(kb, "text") and not force:
        raise NamesakeError(f"{kb.path} has text vectors already: replace them with `force=True`")
    encoder = load(encoder, device, truncate) if isinstance(encoder, str) else encoder
    texts = Texts(kb)
    made = {"encoder": encoder.name, "digest": encoder.digest, "long": "truncate" if truncate else "chunks"}
    counts = {"texts": len(texts.texts), "values": texts.values, "pairs": len(texts.pairs)}
    with VectorDraft(kb, "text", made, encoder.dimension, force, **counts) as draft:
        with reporter.stage("encoding texts"):
            began = done = draft.done
            if done:
                reporter.say(f"resuming after {done:,} texts that a stopped run encoded")
            while done < len(texts.texts):
                vectors = encoder.encode(texts.texts.slice(done, BLOCK).to_pylist())
                draft.append(done, halves(vectors, encoder.name))
                done += len(vectors)
                reporter.advance((done - began) / (len(texts.texts) - began), done - began, "texts")
        with reporter.stage("entities"):
            _write(draft, kb, texts)
        return draft.publish()


def _write(draft: VectorDraft, kb: KB, texts: Texts) -> None:
    from namesake.kernels.vectors import means

    encoded = draft.encoded()
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

    draft.write(stored.VALUE, units())
    draft.write(stored.PAIR, [np.where(np.append(known, False)[texts.pairs], texts.pairs, -1)])
    draft.write(stored.ENTITY, entities())


@lru_cache(maxsize=4)
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


def graph_of(kb: KB) -> Ragged:
    """The graph of the statements whose values are items: the neighbours of each node, which is an item."""
    value = kb.pair_value[kb.statements.values]
    items = value >= 0
    head = np.repeat(kb.entity_item, np.diff(kb.statements.indptr))[items]
    return joined(head, value[items], len(kb.item_qids))


def joined(head: Int32, tail: Int32, nodes: int) -> Ragged:
    """The undirected graph with an edge for each head and tail; a node is not its own neighbour."""
    other = head != tail
    head, tail = head[other].astype(np.int64), tail[other].astype(np.int64)
    both = np.unique(np.concatenate([head * nodes + tail, tail * nodes + head]))
    indptr = np.searchsorted(both, np.arange(nodes + 1, dtype=np.int64) * nodes).astype(np.int64)
    return Ragged(indptr, (both % max(nodes, 1)).astype(np.int32))


def walk(
    kb: KB | str | Path,
    *,
    dimensions: int = 64,
    walks: int = 5,
    length: int = 20,
    window: int = 5,
    negatives: int = 5,
    seed: int = 1,
    force: bool = False,
    reporter: Reporter | None = None,
) -> VectorManifest:
    """Give a KB vectors of its graph: `KB/vectors/walk`. The same seed gives the same vectors.

    Args:
        kb: a KB or its folder.
        dimensions: length of a vector.
        walks: number of walks from each node.
        length: number of nodes of a walk.
        window: largest distance in a walk between nodes that count as near.
        negatives: number of random nodes that each pair of near nodes is contrasted with.
        seed: seed of the random numbers.
        force: replace existing walk vectors.
        reporter: receives the progress.
    """
    settings = {"dimensions": dimensions, "walks": walks, "length": length, "window": window, "negatives": negatives}
    for name, value in settings.items():
        if value < 1:
            raise NamesakeError(f"`{name}={value}`: must be 1 or more")
    kb, reporter = kb if isinstance(kb, KB) else KB.open(kb), reporter or Reporter()
    made = {"method": "deepwalk", **{name: str(value) for name, value in (*settings.items(), ("seed", seed))}}
    with VectorDraft(kb, "walk", made, dimensions, force) as draft:
        with reporter.stage("walking"):
            graph = graph_of(kb)
            if not len(graph.values):
                raise NamesakeError(f"{kb.path}: no statement has an item as its value, so there is no graph")
            vectors = learn_vectors(graph, settings, seed, reporter)
        known = np.diff(graph.indptr)[kb.entity_item] > 0
        draft.write(stored.ENTITY, [halves(np.where(known[:, None], vectors[kb.entity_item], 0), "kb walk")])
        return draft.publish()


def learn_vectors(graph: Ragged, settings: dict[str, int], seed: int, reporter: Reporter) -> Float32:
    """A vector for each node, from walks that start at each node with neighbours."""
    from namesake.kernels.vectors import learn

    dimensions, walks, *rest = settings.values()
    nodes, degree = len(graph), np.diff(graph.indptr)
    random = np.random.default_rng(seed)
    vectors: Float32 = (random.random((nodes, dimensions), np.float32) - np.float32(0.5)) / np.float32(dimensions)
    contexts = np.zeros((nodes, dimensions), np.float32)
    starts = random.permutation(np.flatnonzero(degree).astype(np.int32))
    share = np.cumsum(degree.astype(np.float64) ** 0.75)
    noise = np.searchsorted(share, (np.arange(NOISE) + 0.5) / NOISE * share[-1]).astype(np.int32)
    total = walks * len(starts)
    for first in range(0, total, WALKS):
        last = min(first + WALKS, total)
        learn(
            *(vectors, contexts, graph.indptr, graph.values, starts, noise, np.uint64(seed)),
            *(first, last, total, *rest, RATE),
        )
        reporter.advance(last / total, last, "walks")
    return vectors
