"""Builds the parts of a KB that follow from items and statements: in parallel in memory, or one by one in files."""

from __future__ import annotations

from collections.abc import Callable

from namesake.kb.columns import large
from namesake.kb.publish.draft import Draft
from namesake.progress import Reporter
from namesake.threads import in_order

Parts = dict[str, Callable[[], int | None]]
"""Functions that write columns to the draft and return a count, by the message that is shown meanwhile."""


def build_parts(parts: Parts, draft: Draft, workers: int, reporter: Reporter) -> dict[str, int | None]:
    """The results of the parts. Parts that a stopped build has finished in this draft are not built again."""
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
