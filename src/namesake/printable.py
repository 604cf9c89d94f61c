"""Text that is safe to print: without control characters that steer a terminal or imitate another line."""

from collections.abc import Sequence

REPLACED = "\ufffd"
STEERING = {
    **dict.fromkeys([*range(32), *range(127, 160)], REPLACED),  # control characters, escape among them
    **dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], REPLACED),  # change the writing direction
    **dict.fromkeys(range(0xD800, 0xE000), REPLACED),  # lone surrogates, which cannot be encoded
    0x2028: " ",
    0x2029: " ",
    9: " ",
}
"""Replacements of control characters, one for one, so that spans still fit."""
IN_A_LINE = STEERING | {10: " ", 13: " "}
IN_A_TEXT = STEERING | {10: "\n", 13: " "}


def one_line(text: object) -> str:
    """A text as one line without control characters; None is the empty text."""
    return "" if text is None else str(text).translate(IN_A_LINE)


def lines(text: str) -> str:
    """A text without control characters other than line ends."""
    return text.translate(IN_A_TEXT)


def counted(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun, `1 article` or `2 articles`; `many` is the plural if it is not formed with `s`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(names: Sequence[object], most: int = 5) -> str:
    """The first names of a sequence and the number of the others, or `none`."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return (", ".join(str(name)[:200] for name in names[:most]) or "none") + more
