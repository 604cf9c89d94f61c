"""Years of a text, by regular expressions: slow, and independent of the kernel."""

import re

from namesake.language import English

NUMBER = re.compile(r"(?<![0-9])[0-9]{4}(?![0-9])")
GLUED = "0-9A-Za-z_\u00c0-\u07ff"
MONEY = "$\u00a2-\u00a5\u20a0-\u20cf"
BLANK = "[\x00-\x20\xa0]"


def has(words: frozenset[str], found: re.Match | None) -> bool:
    return found is not None and found[1].lower() in words


def touches_left(before: str) -> bool:
    """Whether what touches a number from the left makes it no year."""
    if re.search(rf"[{GLUED}{MONEY}#+=@№]\Z", before):
        return True
    if re.search(r"[0-9]\.\Z", before):
        return not re.search(r"(?<![0-9])[0-9]{1,2}\.[0-9]{1,2}\.\Z", before)
    if hyphen := re.search(r"([0-9]*|[A-Z])-\Z", before):
        return hyphen[1].isalpha() or len(hyphen[1]) not in (0, 1, 2, 4)
    return False


def touches_right(behind: str) -> bool:
    """Whether what touches a number from the right makes it no year."""
    if re.match(f"[sS](?![{GLUED}])", behind):
        return False
    if re.match(f"[{GLUED}{MONEY}%°]", behind):
        return True
    if re.match(r"\.[0-9]", behind):
        return not re.match(r"\.[0-9]{1,2}\.[0-9]{1,2}(?![0-9])", behind)
    if re.match(r",[0-9]", behind):
        return not re.match(r",[0-9]{4}(?![0-9])", behind)
    if number := re.match(r"-([0-9]+)", behind):
        years = len(number[1]) == 4 and 1000 <= int(number[1]) <= 2049
        return not years and len(number[1]) > 2
    if word := re.match(r"-([A-Za-z]+)", behind):
        if has(English.joined_to_years, word):
            return False
        return has(English.measures | English.counted, word) or word[1][0].islower()
    return bool(re.match(r":[0-9]", behind))


def words_object(before: str, number: str, behind: str) -> bool:
    """Whether the words beside a number make it no year."""
    if re.search(rf"[{MONEY}#№]{BLANK}+\Z", before):
        return True
    if has(English.numbered, re.search(rf"([A-Za-z]+)(?:\.{BLANK}*|{BLANK}+)\Z", before)):
        return True
    if re.match(f"{BLANK}+[{MONEY}%°](?![0-9])", behind):
        return True
    left = re.search(rf"([A-Za-z]+){BLANK}+\Z", before)
    opens = has(English.before_years | English.dates, left)
    owns = has(English.before_events | {English.article, English.possessive}, left)
    right = re.match(rf"{BLANK}+([A-Za-z]+)(?![{GLUED}])", behind)
    if right is None:
        return False
    titled = bool(re.fullmatch("[A-Z]|[A-Z][a-z][A-Za-z]*", right[1]))
    if has(English.measures, right):
        return not (titled and opens)
    if titled or opens:
        return False
    if has(English.counted, right):
        return True
    plural = len(right[1]) > 3 and re.search("[^s]s$", right[1]) and not has(FUNCTION, right)
    return bool(plural) and not owns and (int(number) % 100 == 0 or int(number) < 1700)


FUNCTION = English.function_words | English.stop_words


def is_year(text: str, start: int, end: int) -> bool:
    """Whether the four digits text[start:end] are a year."""
    before, number, behind = text[:start], text[start:end], text[end:]
    if not 1000 <= int(number) <= 2049 or touches_left(before) or touches_right(behind):
        return False
    return behind[:1] in ("s", "S") or not words_object(before, number, behind)


def years(text: str) -> list[float]:
    """The years that a text names, ascending."""
    return sorted(float(found[0]) for found in NUMBER.finditer(text) if is_year(text, found.start(), found.end()))
