"""Evidence in the text: what stands in and around each span of a mention that was found there.

A piece of evidence is one function that returns a number for each span; a mention has the mean over its spans, and 0 if
its article lists it. A recipe weighs it for NIL, as a doubt with the same name, or for candidates of some kinds
(`evidence` and `by_kind` of a part). To add one, list it in `SIGNS`, or declare a function here or in your own module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from namesake.arrays import Bool, Float64
from namesake.scorers.registry import Signal, as_numbers, doubt

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.kb.store import KB
    from namesake.names.hypotheses import Found

OfSpans = Any
"""One number or truth value for each span."""


class _Classes:
    """The classes of words and the bits of tokens, which load with the kernels that use them."""

    def __getattr__(self, name: str) -> int:
        from namesake.kernels.names import tokens

        return int(getattr(tokens, name))


t = _Classes()


def evidence(
    name: str, *aliases: str, formula: str | None = None, of_spans: bool = True
) -> Callable[[Callable[[Found], OfSpans]], Signal]:
    """Declare a function of the spans found in texts as evidence, with its former names (`aliases`).

    `formula` describes it; by default, the first line of the docstring does. Without `of_spans`, the function returns a
    number for each mention.
    """

    def declare(function: Callable[[Found], OfSpans]) -> Signal:
        def of_mentions(batch: Batch, kb: KB) -> Float64:
            found = batch.mentions.context
            if found is None:
                return np.zeros(len(batch.mentions))
            if not of_spans:
                return np.asarray(function(found))
            return found.mean(as_numbers(function(found), len(found.first), "spans", f"the evidence {name}"))

        def of_batch(batch: Batch) -> Float64:
            return batch.once(of_mentions)

        of_batch.__module__, of_batch.__doc__ = function.__module__, function.__doc__
        return doubt(name, formula=formula, aliases=aliases)(of_batch)

    return declare


def _capital_before(found: Found) -> Bool:
    opens = found.has("before", "AT_START") & found.has("before", "FUNCTION")
    return found.has("before", "HAS_CAPITAL") & ~(opens | found.has("before", "HONORIFIC", "TITLE", "NAME_TITLE"))


SIGNS: dict[str, tuple[Any, ...]] = {
    # the name
    "OneWord": (lambda found: found.sizes == 1, "for a name of one word."),
    "InCapitals": (
        lambda found: found.all_tokens(t.IS_UPPER) & (found.lengths > 3) & (found.styles != t.ALL_CAPITALS),
        "for a name in capitals, of four or more characters, in a text that also uses small letters.",
    ),
    "TextInCapitals": (lambda found: found.styles == t.ALL_CAPITALS, "in a text that consists of capitals."),
    "InLowerCase": (
        lambda found: (found.styles == t.LOWER) & ~found.has("first", "HAS_CAPITAL"),
        "for a name without any capital, in a text without capitals.",
    ),
    "EndsInLowerCase": (
        lambda found: ~found.has("last", "HAS_CAPITAL"),
        "for a name whose last word has no capital: American football.",
    ),
    "Abbreviated": ("first IS_DOTTED", "for a name that begins with an abbreviation and its period: U.S."),
    "DateWord": ("first DATE", "for a name that begins with a day, a month or a season."),
    "FunctionWord": ("first FUNCTION", "for a name that begins with a function word: The Times."),
    # its place in the sentence
    "SentenceStart": ("first AT_START", "at the start of a sentence, where every word has a capital."),
    "CapitalBefore": (
        _capital_before,
        'after another word with a capital: the name may be the end of a longer one. Not after a title, or "The".',
        *("FirstNameBefore", "Comes"),
    ),
    "CapitalAfter": (
        "after HAS_CAPITAL",
        "before another word with a capital: the name may be the beginning of a longer one.",
        *("NameContinues", "GoesOn"),
    ),
    "ParticleAfter": ("after PARTICLE", "before a word inside surnames: Virgil | van Dijk."),
    # words beside it
    "InPlace": (
        "before IN_PLACE",
        "after a word that comes before places: in, near, northern.",
        *("PlaceContext", "Place"),
    ),
    "ToPlace": ("before TO_PLACE", "after a word that comes before places and people: to, from."),
    "TitleBefore": ("before TITLE NAME_TITLE LOWER_TITLE", "after a title: President, Queen.", "Title"),
    "HonorificBefore": ("before HONORIFIC", "after an honorific: Mr, Dr."),
    "RoleBefore": ("before ROLE", "after a role: striker Messi.", "Role"),
    "ArticleBefore": ("before ARTICLE", "after the definite article."),
    "OrganisationWord": (
        "last FIRM FIRM_WORD",
        "for a name that ends with a word of organisations and places: Company, Stadium.",
    ),
    "OrganisationWordAfter": ("after FIRM FIRM_WORD", "before such a word."),
    "OwnerWordAfter": ("after AFTER_COMPANY", "before a word that follows companies: owner, shares."),
    "WordBefore": (
        lambda found: found.has("before", "EXISTS") & ~found.has("before", "HAS_CAPITAL", "IS_NUMBER", "FUNCTION"),
        "after a word in lower case that is no function word.",
    ),
    "FunctionWordBefore": ("before FUNCTION", "after a function word."),
    "FunctionWordAfter": ("after FUNCTION", "before a function word."),
}
"""Evidence that is 1 for a span with a sign, and 0 for others: a function, or a word in or beside the span and its
signs (see `Found.has`); when it is 1, and its former names."""


def _share(place: str, *signs: str) -> Callable[[Found], Float64]:
    return lambda found: found.share(place, *signs)


for _name, (_sign, _when, *_aliases) in SIGNS.items():
    _word = isinstance(_sign, str)
    evidence(_name, *_aliases, formula=f"1 {_when}", of_spans=not _word)(_share(*_sign.split()) if _word else _sign)


# the rest of the text
@evidence("CapitalsInLine")
def capitals_in_line(found: Found) -> OfSpans:
    """The share of the words in its line that have a capital."""
    return found.line_share(found.texts.marks & t.HAS_CAPITAL != 0)


@evidence("NameLength")
def name_length(found: Found) -> OfSpans:
    """log of the number of characters of the name."""
    return np.log(found.lengths)


@evidence("Occurrences")
def occurrences(found: Found) -> OfSpans:
    """log of the number of times that the text has the name."""
    return np.repeat(np.log(np.diff(found.span_indptr)), np.diff(found.span_indptr))


@evidence("SportWords")
def sport_words(found: Found) -> OfSpans:
    """log(1 + words of reports about sport in the text): league, scored."""
    return np.log1p(found.words_in_text(t.SPORT))
