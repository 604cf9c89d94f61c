"""Text that was UTF-8 and was read as something else: "JosÃ©" for "José", "itâ€™s", also in lower case, "josã©".

Latin letters and the marks of typesetters are mended. What could just as well be meant, such as the "é’" of "café’s",
is left as it is.
"""

from __future__ import annotations

import re

_LATER = "".join(re.escape(bytes(range(0x80, 0xC0)).decode(code, "ignore")) for code in ("cp1252", "latin-1"))
"""What the later bytes of a UTF-8 character look like in Windows' and in ISO's Latin alphabet."""
_SIGNS = "\u00a0-\u00aa\u00ac-\u00ba\u00bc-\u00bf"
"""Those among them that follow no letter in sound text."""

_MIS_DECODED = re.compile(f"[ÂÃÄÅ][{_LATER}]|[ãäå][{_SIGNS}]|â[€\x80‚\x82„\x84][{_LATER}]")
_APART = re.compile(f"([ÂÃÄÅ]) ([{_LATER}])(?= |$)|([ãäå]) ([{_SIGNS}])(?= |$)")


def mend(text: str) -> str:
    """The text with mis-decoded UTF-8 decoded as it should have been, where that can be told; the rest as it is.

    The number of whitespace tokens stays the same, so that offsets that count them still fit.
    """
    return text if text.isascii() else _MIS_DECODED.sub(_mended, text)


def mend_apart(text: str) -> str:
    """`mend`, also where a tokenizer has set the second half of a letter apart: "courrã © ges" is "courré ges"."""
    return text if text.isascii() else mend(_APART.sub(lambda match: match[0].replace(" ", ""), text))


def _mended(match: re.Match[str]) -> str:
    """What the characters are as UTF-8; the first may have been put into lower case."""
    found = match[0]
    if len(found) == 2:
        found = found[0].upper() + found[1:]
    try:
        letter = _bytes(found).decode("utf-8")
    except UnicodeError:
        return match[0]
    return match[0] if letter.isspace() else letter


def _bytes(text: str) -> bytes:
    """Each character as the byte that it was."""
    return b"".join(one.encode("latin-1") if ord(one) < 0x100 else one.encode("cp1252") for one in text)
