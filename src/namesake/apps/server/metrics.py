"""What has happened, as Prometheus reads it: counters, a histogram of times, and how full the server is."""

from __future__ import annotations

import resource
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator

from namesake.apps.server.http import Held
from namesake.apps.server.pool import Pool
from namesake.kb.columns.large import held as memory

BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper bounds of the histogram's buckets, in seconds."""
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}


class Metrics:
    """Counts requests. Routes are few, and what is at no route counts as one: labels do not grow."""

    def __init__(self) -> None:
        self.began = time.time()
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.buckets: dict[str, list[int]] = {}
        self.seconds: dict[str, float] = {}

    def note(self, place: str, method: str, status: int, seconds: float) -> None:
        """Count an answer."""
        place = place or "none"
        self.requests[place, method if method in METHODS else "other", status] += 1
        if place not in self.buckets:
            self.buckets[place], self.seconds[place] = [0] * (len(BOUNDS) + 1), 0.0
        self.buckets[place][bisect_left(BOUNDS, seconds)] += 1
        self.seconds[place] += seconds

    def text(self, pool: Pool, held: Held) -> str:
        """Everything in Prometheus's text format."""
        return "\n".join([*self._of_requests(), *_of_work(pool, held), *self._of_process()]) + "\n"

    def _of_requests(self) -> Iterator[str]:
        yield from _head("namesake_requests_total", "counter", "Answers by route, method and status.")
        for (place, method, status), count in sorted(self.requests.items()):
            yield f'namesake_requests_total{{route="{place}",method="{method}",status="{status}"}} {count}'
        yield from _head("namesake_request_seconds", "histogram", "Time from a request's head to its answer.")
        for place, counts in sorted(self.buckets.items()):
            so_far = 0
            for bound, count in zip((*BOUNDS, "+Inf"), counts, strict=True):
                so_far += count
                yield f'namesake_request_seconds_bucket{{route="{place}",le="{bound}"}} {so_far}'
            yield f'namesake_request_seconds_sum{{route="{place}"}} {self.seconds[place]:.6f}'
            yield f'namesake_request_seconds_count{{route="{place}"}} {so_far}'

    def _of_process(self) -> Iterator[str]:
        used = resource.getrusage(resource.RUSAGE_SELF)
        yield from _number("process_cpu_seconds_total", "counter", "CPU time.", used.ru_utime + used.ru_stime)
        yield from _number("process_start_time_seconds", "gauge", "When the server began.", self.began)
        if resident := memory()[0]:
            yield from _number("process_resident_bytes", "gauge", "Memory, pages of the KB included.", resident)


def _of_work(pool: Pool, held: Held) -> Iterator[str]:
    counts = pool.counts
    yield from _number("articles_total", "counter", "Articles linked.", counts.articles)
    yield from _number("batches_total", "counter", "Batches that they were linked in.", counts.batches)
    yield from _number("links_total", "counter", "Names found or given.", counts.links)
    yield from _number("links_answered_total", "counter", "Names that somebody was found for.", counts.answered)
    yield from _number("waiting_requests", "gauge", "Requests that wait to be linked.", pool.waiting)
    yield from _number("busy_threads", "gauge", "Threads that link.", pool.small.busy + pool.large.busy)
    yield from _number("open_requests", "gauge", "Requests that are being answered.", held.requests)
    yield from _number("held_bytes", "gauge", "Bytes of their bodies.", held.size)
    yield from _number("kb_entities", "gauge", "People and others in the KB.", len(pool.linker.kb))


def _head(name: str, kind: str, what: str) -> Iterator[str]:
    yield f"# HELP {name} {what}"
    yield f"# TYPE {name} {kind}"


def _number(name: str, kind: str, what: str, value: float) -> Iterator[str]:
    yield from _head(f"namesake_{name}", kind, what)
    yield f"namesake_{name} {value}"
