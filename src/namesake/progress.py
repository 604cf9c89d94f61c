"""The progress of long work: a bar with rate and remaining time on a terminal, one line per minute elsewhere."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from namesake.printable import counted, one_line

INTERVAL = 60.0  # seconds between two lines without a terminal
WIDE = 100  # columns of a terminal that fits a long bar


class Reporter:
    """Reports the progress of long work: a bar on a terminal, lines in a log, nothing without a stream."""

    stream: TextIO | None = None
    console: Any = None
    began = spoke = 0.0
    name = ""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = stream
        if stream is not None and stream.isatty():
            from rich.console import Console  # slow to load, and logs do not need it

            self.console = Console(file=stream)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """A part of the work, inside the block. `name` describes it, such as "reading the dump"."""
        self.name, self.began = name, time.monotonic()
        self.spoke = self.began
        if self.console is None:
            if self.stream is not None:
                self.say(f"{name} …")
            yield
            return
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

        width = 30 if self.console.width >= WIDE else 10
        self.taken = len(name) + width + 4  # the spinner, and the spaces between columns
        name_column, measure = TextColumn("{task.description}"), TextColumn("{task.fields[measure]}")
        columns = SpinnerColumn(), name_column, BarColumn(bar_width=width), measure
        with Progress(*columns, console=self.console, transient=True) as self.bar:
            self.task = self.bar.add_task(name, total=None, measure="")
            yield

    def advance(
        self, fraction: float | None, count: int, unit: str = "items", more: str = "", before: float = 0.0
    ) -> None:
        """Report the share that is done, if known, and the number of units; `before` is that of an earlier run."""
        now = time.monotonic()

        def measure(width: int | None) -> str:
            """Such as `42 %, 1,234,567 items, 98,765/s, 0:12:34 left`; without parts of `more` if `width` is small."""
            share = [] if fraction is None else [f"{100 * fraction:.0f} %"]
            pace = f"{count / max(now - self.began, 1e-9):,.0f}/s"
            parts = [counted(count, unit.removesuffix("s")), pace, *filter(None, more.split(", "))]
            done = (fraction or 0.0) - before
            left = [f"{duration((now - self.began) * (1 - (fraction or 0.0)) / done)} left"] if done > 0 else []
            while width is not None and parts and len(", ".join([*share, *parts, *left])) > width:
                del parts[2 if len(parts) > 2 else -1]
            return ", ".join([*share, *parts, *left])

        if self.console is not None:
            words, total = measure(self.console.width - self.taken), None if fraction is None else 1.0
            self.bar.update(self.task, completed=fraction or 0.0, total=total, measure=words)
        elif self.stream is not None and now - self.spoke >= INTERVAL:
            self.spoke = now
            self.say(f"{self.name}: {measure(None)}")

    def say(self, line: str) -> None:
        """Report one line: above the bar, or in the log."""
        if self.console is not None:
            self.console.print(one_line(line), highlight=False, markup=False, soft_wrap=True)
        elif self.stream is not None:
            print(one_line(line), file=self.stream, flush=True)


def reporter(stream: TextIO | None = None) -> Reporter:
    """A reporter for a stream, by default standard error."""
    return Reporter(sys.stderr if stream is None else stream)


def duration(seconds: float) -> str:
    """Seconds as h:mm:ss."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
