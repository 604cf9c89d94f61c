"""Builds the parts of a KB that follow from items and statements: in parallel in memory, or one by one in files."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from namesake.kb.columns import large
from namesake.kb.publish.draft import Draft
from namesake.kb.publish.journal import Part
from namesake.progress import Reporter

Parts = dict[str, Callable[[], int | None]]
"""Functions that write columns to the draft and return a count, by the message that is shown meanwhile."""


def build_parts(parts: Parts, draft: Draft, workers: int, reporter: Reporter) -> dict[str, int | None]:
    """The results of the parts. Parts that an earlier run of the build has finished are not built again."""
    done = draft.journal.finished.parts
    counts = {name: done[name].count for name in parts if name in done}
    left = {name: part for name, part in parts.items() if name not in done}
    if large.room().folder is None:
        with reporter.stage("indexing names and words, ranking items"):
            return counts | _in_parallel(left, workers)
    for name, part in left.items():
        before = set(draft.files)
        with reporter.stage(name):
            counts[name] = part()
        written = {file: digest for file, digest in draft.files.items() if file not in before}
        draft.journal.note_part(name, Part(written, counts[name]))
        large.give_back()
    return counts


def _in_parallel(parts: Parts, workers: int) -> dict[str, int | None]:
    """On threads: the work is compiled and releases the interpreter's lock."""
    with ThreadPoolExecutor(workers, "assemble") as pool:
        futures = {name: pool.submit(copy_context().run, part) for name, part in parts.items()}
        return {name: future.result() for name, future in futures.items()}
