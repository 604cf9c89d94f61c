"""The parts of a KB that follow from items and statements: side by side in memory, or one after the other in files."""

from __future__ import annotations

from collections.abc import Callable

from namesake.kb.columns import large
from namesake.kb.publish.draft import Draft
from namesake.progress import Reporter
from namesake.threads import in_order

Parts = dict[str, Callable[[], int | None]]
"""By what is done: functions that write columns to the draft, and say how many of what they hold there are."""


def make_parts(parts: Parts, draft: Draft, workers: int, reporter: Reporter) -> dict[str, int | None]:
    """What each part returns. Parts that a stopped build has finished in this draft are not made again."""
    known = draft.stages
    counts = {name: known[name].facts for name in parts if name in known}
    left = {name: part for name, part in parts.items() if name not in known}
    if large.room().folder is None:
        with reporter.stage("indexing names and words, ranking items"):
            made = in_order(lambda part: part(), left.values(), workers)  # compiled code, which releases the GIL
            return counts | dict(zip(left, made, strict=True))
    for name, part in left.items():
        before = set(draft.files)
        with reporter.stage(name):
            counts[name] = part()
        written = {file: digest for file, digest in draft.files.items() if file not in before}
        draft.note(name, counts[name], written)
        large.give_back()
    return counts
