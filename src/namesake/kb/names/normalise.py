"""`normalise` maps the spellings of a name to one form."""

import re
import unicodedata
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import Int8, Int64, UInt8, arrow_numbers, arrow_scalar, numpy_numbers
from namesake.kb.columns import Strings, concatenate, large
from namesake.kernels.names import fold as kernels
from namesake.language import Language

APOSTROPHES = "'’‘`´ʼʻʽʹʾʿˈ′‛"
PLAIN_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ħ": "h", "ı": "i", "ŧ": "t"}
    | {"ŋ": "n", "ĸ": "k", "ə": "e", "ɛ": "e", "ɔ": "o", "ɨ": "i", "ʉ": "u", "ɓ": "b", "ɗ": "d", "ƙ": "k", "ё": "е"}
)
"""Letters that Unicode does not decompose, and their usual replacement."""

TABLE_END = 0x2070
HARD_RANGES = ((0x0300, 0x0370), (0x0483, 0x048A), (0x0590, 0x1E00))
BRACKETS = r"[\"“”„«(][^\"“”„«»()]+[\"”“»)]"
QUOTED = r"[\"“„](?P<nickname>[^\"“”„]+)[\"”“](?P<rest>.*[\pL\pN_].*)"
IS_MARK = np.isin(np.arange(256), list(b'"(,\x9c\x9e\xab'))
"""By byte: whether a name with it may have other forms; the last three end “ „ and «."""


class _Fold(dict[int, str]):
    """Each character in lower case, without its accents; a space for punctuation, nothing for apostrophes."""

    def __missing__(self, point: int) -> str:
        if chr(point) in APOSTROPHES or unicodedata.category(chr(point)) in ("Cf", "Cs"):
            return self.setdefault(point, "")
        parts = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", chr(point)).casefold())
        base = ord(parts[0])
        if base < 0x0400 or 0x1E00 <= base < 0x2000:  # Latin and Greek; in other scripts marks are letters
            parts = "".join(part for part in parts if not 0x0300 <= ord(part) < 0x0370)
        parts = unicodedata.normalize("NFC", parts).translate(PLAIN_LETTERS)
        return self.setdefault(
            point, "".join(part if unicodedata.category(part)[0] in "LNM" else " " for part in parts)
        )


FOLD = _Fold()


def normalise(name: str) -> str:
    """The form under which a name is indexed: "J. K. Rowling, PhD" is "jk rowling phd", "Gaël Clichy" "gael clichy".

    Lower case without accents, apostrophes dropped, other punctuation one space, initials in a row one token.
    """
    tokens: list[str] = []
    after_initial = False
    for token in unicodedata.normalize("NFC", name).translate(FOLD).split():
        initial = len(token) == 1 and token.isalpha() and ord(token) < 0x0590
        if initial and after_initial:
            tokens[-1] += token
        else:
            tokens.append(token)
        after_initial = initial
    return " ".join(tokens)


@cache
def fold_table() -> tuple[Int8, UInt8]:
    """`FOLD` for the kernel: width and bytes of the replacement of each European character."""
    widths = np.full(TABLE_END, kernels.HARD, np.int8)
    letters = np.zeros((TABLE_END, kernels.WIDEST), np.uint8)
    for point in set(range(TABLE_END)).difference(*(range(low, high) for low, high in HARD_RANGES)):
        folded = FOLD[point].encode()
        if folded == b" ":
            widths[point] = kernels.SEPARATOR
        elif len(folded) <= len(chr(point).encode()) and b" " not in folded:
            widths[point] = len(folded)
            letters[point, : len(folded)] = list(folded)
    return widths, letters


def normalise_many(texts: Strings) -> Strings:
    """`normalise` for every string of a column: compiled for European scripts, in Python for others."""
    out = large.empty(len(texts.data), np.uint8)
    offsets = large.zeros(len(texts) + 1, np.int64)
    hard = np.empty(len(texts), np.bool_)
    kernels.fold_many(texts.data, texts.offsets, *fold_table(), out, offsets[1:], hard)
    easy = Strings(offsets, out[: offsets[-1]])
    rows = np.flatnonzero(hard)
    if not len(rows):
        return easy
    return replaced(easy, rows, Strings.of(normalise(texts[row]) for row in rows.tolist()))


def replaced(texts: Strings, rows: Int64, others: Strings) -> Strings:
    """A column of strings in which `others` replace these ascending rows."""
    taken = np.arange(len(texts))
    taken[rows] = len(texts) + np.arange(len(rows))
    return concatenate([texts, others]).take(taken)


@cache
def _peerage(language: Language) -> str:
    """The pattern of a name with a peerage after its first comma: "16th Earl of Kinnoull", "the Prince of Wales"."""
    begins = "|".join([r"\d", *map(re.escape, language.peerages)])
    return rf"(?i)^[^,]*,\s*(?:{re.escape(language.article)} )?(?:{begins})"


def most_other_forms(names: Strings) -> int:
    """A bound of the number of `other_forms`, without a look at the names."""
    return 3 * int(np.count_nonzero(IS_MARK[names.data]))


def other_forms(names: Strings, language: Language) -> tuple[Strings, Int64]:
    """Forms of names without their brackets, quotation marks or peerage, and the name of each, ascending.

    'William "Bill" Gates (businessman)' is also "William Gates" and "Bill Gates", and "Charles Hay, 16th Earl of
    Kinnoull" is also "Charles Hay".
    """
    marks = np.flatnonzero(IS_MARK[names.data])
    rows = np.unique(np.searchsorted(names.offsets, marks, side="right") - 1)
    texts = names.take(rows).arrow()
    plain = pc.replace_substring_regex(texts, BRACKETS, " ")
    quoted = pc.extract_regex(texts, QUOTED)
    nickname, rest = (pc.struct_field(quoted, field) for field in ("nickname", "rest"))
    space = arrow_scalar(" ", pa.large_string())
    called = pc.binary_join_element_wise(nickname, pc.replace_substring_regex(rest, BRACKETS, " "), space)
    person = pc.replace_substring_regex(texts, "(?s),.*", "")
    forms = [
        (plain, pc.not_equal(plain, texts)),
        (called, pc.is_valid(called)),
        (person, pc.match_substring_regex(texts, _peerage(language))),
    ]
    found = pa.concat_arrays([form.filter(chosen) for form, chosen in forms])
    of_name = np.concatenate([rows[numpy_numbers(chosen)] for _, chosen in forms])
    order = np.argsort(of_name, kind="stable")
    return Strings.of_arrow(found.take(arrow_numbers(order))), of_name[order]
