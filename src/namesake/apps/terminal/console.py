"""The console that everything is drawn on: whatever is printed, only our own styles reach the terminal as escapes."""

from __future__ import annotations

from collections.abc import Iterable

import rich.console
from rich.console import ConsoleOptions, RenderableType
from rich.segment import Segment

from namesake.printable import lines


class Console(rich.console.Console):
    """Rich's console, with the text of every segment cleaned."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Segments as Rich makes them; escapes in their texts, which are never ours, become U+FFFD."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else lines(text), style, control)
