"""Correction of UTF-8 that was decoded with another encoding: "JosÃ©" for "José", "ÐŸÑƒÑ‚Ð¸Ð½" for "Путин".

Runs of characters are corrected if their bytes are UTF-8 and no writer would have meant them. A run that could be
meant, such as the "É’" of "CAFÉ’S", stays unchanged.
"""

import re
import unicodedata

_LATER = "".join(re.escape(bytes(range(0x80, 0xC0)).decode(code, "ignore")) for code in ("cp1252", "latin-1"))
"""The later bytes of a UTF-8 character, decoded as Windows-1252 and as ISO Latin-1."""
_SIGNS = "\u00a0-\u00aa\u00ac-\u00ba\u00bc-\u00bf"
"""Those of them that do not follow a letter in correct text."""
_CLOSING = "’”“»›…–—™®°ªº·´\u00a0\u00ad"
"""Those that may follow a letter: "CAFÉ™", "«ÜBER»"; below, those after another one, and those before no letter."""
_CLOSED = "…–—’”\u00a0"
_JOINING = "’“”…–—·´\u00a0\u00ad"

_CHARACTER = f"[Â-ß][{_LATER}]|[à-ï][{_LATER}]{{2}}|[ð-ô][{_LATER}]{{3}}"
_LOWERED = f"[ãäå][{_SIGNS}]"
_characters, _lowered = re.compile(_CHARACTER), re.compile(_LOWERED)
_MIS_DECODED = re.compile(f"(?P<run>(?:{_CHARACTER})+)|{_LOWERED}")
_APART = re.compile(f"([ÂÃÄÅ]) ([{_LATER}])(?= |$)|([ãäå]) ([{_SIGNS}])(?= |$)")

LATIN, SIGN = "latin", "sign"


def mend(text: str) -> str:
    """The text with mis-decoded UTF-8 corrected where that is certain.

    The number of whitespace tokens stays the same, so that offsets in tokens still fit.
    """
    return text if text.isascii() else _MIS_DECODED.sub(_mended, text)


def mend_apart(text: str) -> str:
    """`mend`, also if a tokenizer has separated the two halves of a letter: "courrã © ges" is "courré ges"."""
    return text if text.isascii() else mend(_APART.sub(lambda match: match[0].replace(" ", ""), text))


def _mended(match: re.Match[str]) -> str:
    if not match["run"]:
        return _raised(match)
    found = _characters.findall(match["run"])
    read = [_read(one) for one in found]
    kinds = [_kind(one) for one in read]
    before, after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    mended: list[str] = []
    sure = False
    for at, one in enumerate(found):
        left = mended[-1][-1:] if mended else before
        right = found[at + 1][0] if at + 1 < len(found) else after
        beside = {*kinds[max(at - 1, 0) : at], *kinds[at + 1 : at + 2]}
        sure = (
            (sure and kinds[at] is not None)  # errors come in runs
            or _is_sure(one, kinds[at], left, right)
            or (kinds[at] not in (None, LATIN, SIGN) and kinds[at] in beside)
        )
        mended.append(read[at] if sure else _lowered.sub(_raised, one))
    return "".join(mended)


def _raised(match: re.Match[str]) -> str:
    """A letter whose first half was lowercased, "ã©"."""
    letter = _read(match[0][0].upper() + match[0][1:])
    return letter if _kind(letter) else match[0]


def _read(found: str) -> str:
    """The characters decoded as UTF-8; empty if they are not UTF-8."""
    try:
        return b"".join(one.encode("latin-1") if ord(one) < 0x100 else one.encode("cp1252") for one in found).decode()
    except UnicodeError:
        return ""


def _kind(letter: str) -> str | None:
    """Latin, a sign, or the name of another script; None for a character that texts do not contain."""
    if not letter or letter.isspace() or unicodedata.category(letter) in ("Cc", "Cn", "Co"):
        return None
    name = unicodedata.name(letter, "")
    script = name.partition(" ")[0]
    if script in ("SYRIAC", "THAANA", "NKO") or ("\u0234" <= letter <= "\u02af" and letter != "ə"):
        return None  # rarer than "Ü", "ß" or "É" before a mark
    if unicodedata.category(letter)[0] in "PSC":
        return LATIN if ord(letter) < 0x100 else SIGN
    if name.startswith(("LATIN", "MODIFIER LETTER", "COMBINING")) or ord(letter) < 0x100:
        return LATIN
    return "CJK" if script in ("HIRAGANA", "KATAKANA", "HANGUL", "KATAKANA-HIRAGANA") else script


def _is_sure(found: str, kind: str | None, left: str, right: str) -> bool:
    """Whether no writer would have meant these characters between these neighbours."""
    first, later = found[0], found[1:]
    if kind is None:
        return False
    natural = later in _CLOSING if len(later) == 1 else later[0] in _CLOSING and later[1] in _CLOSED
    if kind not in (LATIN, SIGN):
        alone = not (left.isalpha() or right.isalpha())  # "π", and words of one letter
        return not natural and (len(later) > 2 or (alone and kind in ("GREEK", "CYRILLIC")))
    if not natural or (first.isupper() and left.islower()):
        return True
    if first in "ÂÃÄÅ":
        unit = first == "Å" and not left.isalpha() and later in "’”»…–—"  # “5 Å”
        return (not left.isupper() and not unit) or (right.isalpha() and later != "’")
    return right.isalpha() and later[-1] not in (_JOINING if len(later) == 1 else "–—")
