"""How far long work is: a bar with rate and time left on a terminal, one line a minute elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeRemainingColumn

INTERVAL = 60.0  # seconds between two lines where there is no terminal


class Reporter:
    """Says nothing: the ear of work that nobody watches, and the interface of those that speak."""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """A part of the work, from here to the end of the block."""
        yield

    def advance(self, fraction: float | None, count: int, unit: str = "items") -> None:
        """How much of this stage is done, where that is known, and what it has seen so far."""

    def say(self, line: str) -> None:
        """Something worth a line of its own."""


class Lines(Reporter):
    """For logs: a line when a stage begins, and one a minute while it lasts."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.began = self.spoke = time.monotonic()
        self.name = ""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """A part of the work, from here to the end of the block."""
        self.name = name
        self.began = self.spoke = time.monotonic()
        self.say(f"{name} …")
        yield

    def advance(self, fraction: float | None, count: int, unit: str = "items") -> None:
        """A line, if the last is a minute old."""
        now = time.monotonic()
        if now - self.spoke >= INTERVAL:
            self.spoke = now
            self.say(f"{self.name}: {_measure(fraction, count, unit, now - self.began)}")

    def say(self, line: str) -> None:
        """Print a line as it is."""
        self.console.print(line, highlight=False, markup=False, soft_wrap=True)


class Bar(Lines):
    """For terminals: a bar with percentage, rate and time left."""

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """A part of the work, from here to the end of the block."""
        self.began = time.monotonic()
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[measure]}"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=self.console, transient=True) as self.bar:
            self.task: TaskID = self.bar.add_task(name, total=None, measure="")
            yield

    def advance(self, fraction: float | None, count: int, unit: str = "items") -> None:
        """Redraw the bar."""
        measure = _measure(fraction, count, unit, time.monotonic() - self.began, eta=False)
        total = None if fraction is None else 1.0
        self.bar.update(self.task, completed=fraction or 0.0, total=total, measure=measure)


def reporter(console: Console) -> Reporter:
    """The reporter that suits where the console writes to."""
    return Bar(console) if console.is_terminal else Lines(console)


def _measure(fraction: float | None, count: int, unit: str, seconds: float, eta: bool = True) -> str:
    """Such as `42 %, 1,234,567 items, 98,765/s, 0:12:34 left`, as far as it is known."""
    parts = [] if fraction is None else [f"{100 * fraction:.0f} %"]
    parts += [f"{count:,} {unit}", f"{count / max(seconds, 1e-9):,.0f}/s"]
    if eta and fraction:
        parts.append(f"{duration(seconds / fraction - seconds)} left")
    return ", ".join(parts)


def duration(seconds: float) -> str:
    """Seconds as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
