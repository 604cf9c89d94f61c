"""The parts of a KB that follow from items and statements: side by side in memory, or one after the other in files."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from namesake.kb.columns import large
from namesake.kb.publish.draft import Draft
from namesake.kb.publish.journal import Part
from namesake.progress import Reporter

Parts = dict[str, Callable[[], int | None]]
"""By what is done: functions that write columns to the draft, and say how many of what they hold there are."""


def make_parts(parts: Parts, draft: Draft, workers: int, reporter: Reporter) -> dict[str, int | None]:
    """What each part returns. Those that a build before had made in this draft are not made again."""
    known = draft.journal.finished.parts
    counts = {name: known[name].count for name in parts if name in known}
    left = {name: part for name, part in parts.items() if name not in known}
    if large.room().folder is None:
        with reporter.stage("indexing names and words, ranking items"):
            return counts | _side_by_side(left, workers)
    for name, part in left.items():
        before = set(draft.files)
        with reporter.stage(name):
            counts[name] = part()
        written = {file: digest for file, digest in draft.files.items() if file not in before}
        draft.journal.note_part(name, Part(written, counts[name]))
        large.give_back()
    return counts


def _side_by_side(parts: Parts, workers: int) -> dict[str, int | None]:
    """On threads: what they do is compiled and holds no lock of the interpreter."""
    with ThreadPoolExecutor(workers, "assemble") as pool:
        futures = {name: pool.submit(copy_context().run, part) for name, part in parts.items()}
        return {name: future.result() for name, future in futures.items()}
