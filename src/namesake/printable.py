"""Text made fit to be printed: what others wrote cannot steer a terminal or pretend to be another line."""

from __future__ import annotations

REPLACED = "\ufffd"
STEERING = {
    **dict.fromkeys([*range(32), *range(127, 160)], REPLACED),  # control characters, escape among them
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], REPLACED),  # what turns the direction of writing
    **dict.fromkeys(range(0xD800, 0xE000), REPLACED),  # halves of characters, which no terminal can be sent
    0x2028: " ",
    0x2029: " ",
    9: " ",
}
"""What each steering character becomes; one for one, so that spans still fit."""
IN_A_LINE = STEERING | {10: " ", 13: " "}
IN_A_TEXT = STEERING | {10: "\n", 13: " "}


def one_line(text: object) -> str:
    """A text as one line that cannot steer the terminal; None is the empty text."""
    return "" if text is None else str(text).translate(IN_A_LINE)


def lines(text: str) -> str:
    """A text that cannot steer the terminal, its lines kept."""
    return text.translate(IN_A_TEXT)


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun, `1 article` or `2 articles`; `many` is the plural where `s` does not make it."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
