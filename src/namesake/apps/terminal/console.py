"""The console for all terminal output: only our own styles reach the terminal as escape sequences."""

from __future__ import annotations

from collections.abc import Iterable

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment

from namesake.printable import lines


class Console(rich.console.Console):
    """Rich's console with the text of every segment sanitised."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Rich's segments, with control characters in texts replaced by U+FFFD."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else lines(text), style, control)
