"""Evidence in the text: what stands in and around each span of a mention that was found there.

A piece of evidence is one function that returns a number for each span; a mention has the mean over its spans, and 0 if
its article lists it. A recipe weighs it for NIL, as a doubt with the same name, or for candidates of some kinds
(`evidence` and `by_kind` of a part). To add one, declare a function here or in your own module.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from namesake.arrays import indptr
from namesake.scorers.registry import Signal, doubt

if TYPE_CHECKING:
    from namesake.batch import Batch
    from namesake.names.hypotheses import Found

OfSpans = Any
"""One number or truth value for each span."""


class _Classes:
    """The classes of words and the bits of tokens, which load with the kernels that use them."""

    def __getattr__(self, name: str) -> int:
        from namesake.kernels.names import tokens

        return int(getattr(tokens, name))


t = _Classes()


def evidence(name: str, *aliases: str) -> Callable[[Callable[[Found], OfSpans]], Signal]:
    """Declare a function of the spans found in texts as evidence; the first line of its docstring describes it.

    `aliases` are former names.
    """

    def declare(function: Callable[[Found], OfSpans]) -> Signal:
        def of_batch(batch: Batch) -> Any:
            return batch.of_text(function)

        of_batch.__module__ = function.__module__
        described = (function.__doc__ or "").strip().partition("\n")[0]
        return doubt(name, formula=described, aliases=aliases)(of_batch)

    return declare


# the name
@evidence("OneWord")
def one_word(found: Found) -> OfSpans:
    """1 for a name of one word."""
    return found.sizes == 1


@evidence("InCapitals")
def in_capitals(found: Found) -> OfSpans:
    """1 for a name in capitals, of four or more characters, in a text that also uses small letters."""
    return found.all_tokens(t.IS_UPPER) & (found.lengths > 3) & (found.styles != t.ALL_CAPITALS)


@evidence("TextInCapitals")
def text_in_capitals(found: Found) -> OfSpans:
    """1 in a text that consists of capitals."""
    return found.styles == t.ALL_CAPITALS


@evidence("InLowerCase")
def in_lower_case(found: Found) -> OfSpans:
    """1 for a name without any capital, in a text without capitals."""
    return (found.styles == t.LOWER) & ~found.has_capital(found.first)


@evidence("EndsInLowerCase")
def ends_in_lower_case(found: Found) -> OfSpans:
    """1 for a name whose last word has no capital: American football."""
    return ~found.has_capital(found.end - 1)


@evidence("Abbreviated")
def abbreviated(found: Found) -> OfSpans:
    """1 for a name that begins with an abbreviation and its period: U.S."""
    return found.has_bit(found.first, t.IS_DOTTED)


@evidence("DateWord")
def date_word(found: Found) -> OfSpans:
    """1 for a name that begins with a day, a month or a season."""
    return found.is_listed(found.first, t.DATE)


@evidence("FunctionWord")
def function_word(found: Found) -> OfSpans:
    """1 for a name that begins with a function word: The Times."""
    return found.is_listed(found.first, t.FUNCTION)


# its place in the sentence
@evidence("SentenceStart")
def sentence_start(found: Found) -> OfSpans:
    """1 at the start of a sentence, where every word has a capital."""
    return found.has_mark(found.first, t.AT_START)


@evidence("CapitalBefore", "FirstNameBefore", "Comes")
def capital_before(found: Found) -> OfSpans:
    """1 after another word with a capital: the name may be the end of a longer one. Not after a title, or "The"."""
    before, title = found.first - 1, t.HONORIFIC | t.TITLE | t.NAME_TITLE
    opens = found.has_mark(before, t.AT_START) & found.is_listed(before, t.FUNCTION)
    return found.continues(found.first) & found.has_capital(before) & ~found.is_listed(before, title) & ~opens


@evidence("CapitalAfter", "NameContinues", "GoesOn")
def capital_after(found: Found) -> OfSpans:
    """1 before another word with a capital: the name may be the beginning of a longer one."""
    return found.continues(found.end) & found.has_capital(found.end)


@evidence("ParticleAfter")
def particle_after(found: Found) -> OfSpans:
    """1 before a word inside surnames: Virgil | van Dijk."""
    return found.is_after(t.PARTICLE)


# words beside it
@evidence("InPlace", "PlaceContext", "Place")
def in_place(found: Found) -> OfSpans:
    """1 after a word that comes before places: in, near, northern."""
    return found.is_before(t.IN_PLACE)


@evidence("ToPlace")
def to_place(found: Found) -> OfSpans:
    """1 after a word that comes before places and people: to, from."""
    return found.is_before(t.TO_PLACE)


@evidence("TitleBefore", "Title")
def title_before(found: Found) -> OfSpans:
    """1 after a title: President, Queen."""
    return found.is_before(t.TITLE | t.NAME_TITLE | t.LOWER_TITLE)


@evidence("HonorificBefore")
def honorific_before(found: Found) -> OfSpans:
    """1 after an honorific: Mr, Dr."""
    return found.is_before(t.HONORIFIC)


@evidence("RoleBefore", "Role")
def role_before(found: Found) -> OfSpans:
    """1 after a role: striker Messi."""
    return found.is_before(t.ROLE)


@evidence("ArticleBefore")
def article_before(found: Found) -> OfSpans:
    """1 after the definite article."""
    return found.is_before(t.ARTICLE)


@evidence("OrganisationWord")
def organisation_word(found: Found) -> OfSpans:
    """1 for a name that ends with a word of organisations and places: Company, Stadium."""
    return found.is_listed(found.end - 1, t.FIRM | t.FIRM_WORD)


@evidence("OrganisationWordAfter")
def organisation_word_after(found: Found) -> OfSpans:
    """1 before such a word."""
    return found.is_after(t.FIRM | t.FIRM_WORD)


@evidence("OwnerWordAfter")
def owner_word_after(found: Found) -> OfSpans:
    """1 before a word that follows companies: owner, shares."""
    return found.is_after(t.AFTER_COMPANY)


@evidence("WordBefore")
def word_before(found: Found) -> OfSpans:
    """1 after a word in lower case that is no function word."""
    return (
        found.continues(found.first) & found.is_plain(found.first - 1) & ~found.is_listed(found.first - 1, t.FUNCTION)
    )


@evidence("FunctionWordBefore")
def function_word_before(found: Found) -> OfSpans:
    """1 after a function word."""
    return found.is_before(t.FUNCTION)


@evidence("FunctionWordAfter")
def function_word_after(found: Found) -> OfSpans:
    """1 before a function word."""
    return found.is_after(t.FUNCTION)


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
    before = indptr(found.texts.classes & np.uint32(t.SPORT) != 0)
    count = np.diff(before[found.texts.indptr])
    return np.log1p(count)[found.span_text]
