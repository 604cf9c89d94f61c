"""The error for users, which says what is wrong and what to do, and helpers for such messages."""

import sys
import warnings
from collections.abc import Iterable


class NamesakeError(Exception):
    """An error that the user can fix. Its text is one line that names the file, line or article.

    The command line prints it without a traceback and exits with 2. Arguments are written as Python names them, with
    `=` and between backticks, such as `threshold=` or `force=True`; the command line prints them as its options.
    """


def must_be(value: object, kinds: tuple[type | None, ...], what: str, wanted: str) -> None:
    """Refuse an argument `what` that is of none of these kinds; `wanted` says what it must be, in words."""
    if (value is None and None in kinds) or isinstance(value, tuple(kind for kind in kinds if kind is not None)):
        return
    raise TypeError(f"{what} must be {wanted}, not {type(value).__name__} {value!r:.60}")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the line of the program that uses the library."""
    caller, level = sys._getframe(1), 2
    while caller.f_back is not None and str(caller.f_globals.get("__name__")).startswith("namesake."):
        caller, level = caller.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def lacking(what: str, packages: str, extra: str) -> NamesakeError:
    """The error for packages of an extra that are not installed; `what` begins the sentence."""
    return NamesakeError(f"{what} {packages}: install namesake with its extra `{extra}` (pip install -e '.[{extra}]')")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'uiscore-paper'?)` if a known word is close to the one given, in any case; else nothing."""
    from difflib import get_close_matches  # only mistakes need it

    by_lower = {each.casefold(): each for each in known}
    close = get_close_matches(word.casefold(), by_lower, n=1)
    return f" (did you mean {by_lower[close[0]]!r}?)" if close else ""
