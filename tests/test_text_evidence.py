"""Evidence in the text: each function, for spans whose surroundings are written down here."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from few_people import SmallKB
from namesake.doubts import DOUBTS
from namesake.errors import NamesakeError
from namesake.kb.columns.column_files import Strings
from namesake.kernels.names import tokens
from namesake.kernels.names.around import MARKS, MARKS_AT
from namesake.names.hypotheses import Found, _signs, find
from namesake.text_evidence import evidence

SMITH = "Zara Smith"
KNOWN = {SMITH: 9.0, "US": 9.0, "U.S. Steel": 9.0, "The Weeknd": 9.0, "Monday": 9.0, "Ann Mary Lee": 9.0}
KNOWN |= {"Ford Company": 9.0, "American football": 9.0, "Houston": 9.0, "Boeing": 9.0, "NASA": 9.0}

CASES: dict[str, list[tuple[str, str, float]]] = {
    "OneWord": [("Then Houston won.", "Houston", 1), ("Then Zara Smith won.", SMITH, 0)],
    "InCapitals": [
        ("Then NASA won.", "NASA", 1),
        ("Then US won.", "US", 0),
        ("THEN NASA WON", "NASA", 0),
        ("Then Houston won.", "Houston", 0),
    ],
    "TextInCapitals": [("THEN NASA WON", "NASA", 1), ("Then NASA won.", "NASA", 0)],
    "EndsInLowerCase": [
        ("Then American football won.", "American football", 1),
        ("Then American Football won.", "American Football", 0),
    ],
    "InLowerCase": [("then houston won.", "houston", 1), ("Then Houston won.", "Houston", 0)],
    "Abbreviated": [("Then U.S. Steel won.", "U.S. Steel", 1), ("Then Zara Smith won.", SMITH, 0)],
    "DateWord": [("Then Monday won.", "Monday", 1), ("Then Zara Smith won.", SMITH, 0)],
    "FunctionWord": [("So The Weeknd won.", "The Weeknd", 1), ("Then Zara Smith won.", SMITH, 0)],
    "SentenceStart": [
        ("Zara Smith won.", SMITH, 1),
        ("It won. Zara Smith lost.", SMITH, 1),
        ("We saw Mr. Zara Smith.", SMITH, 0),
        ("Then Zara Smith won. Zara Smith lost.", SMITH, 0.5),
    ],
    "CapitalBefore": [
        ("Then Mary Zara Smith won.", SMITH, 1),
        ("Then President Zara Smith won.", SMITH, 0),
        ("Then Mary, Zara Smith won.", SMITH, 0),
        ("The Houston won.", "Houston", 0),
        ("Then The Houston won.", "Houston", 1),
    ],
    "SportWords": [
        ("Then Zara Smith scored in the final match.", SMITH, math.log1p(3)),
        ("Then Zara Smith won.", SMITH, 0),
    ],
    "CapitalAfter": [("Then Zara Smith Jones won.", SMITH, 1), ("Then Zara Smith. Jones won.", SMITH, 0)],
    "ParticleAfter": [("Then Zara Smith van Dijk won.", SMITH, 1), ("Then Zara Smith won.", SMITH, 0)],
    "OwnerWordAfter": [("Then Zara Smith shares rose.", SMITH, 1), ("Then Zara Smith won.", SMITH, 0)],
    "InPlace": [("It rose in Houston now.", "Houston", 1), ("It rose to Houston now.", "Houston", 0)],
    "ToPlace": [("It flew to Houston now.", "Houston", 1), ("It flew in Houston now.", "Houston", 0)],
    "TitleBefore": [("Then Queen Zara Smith won.", SMITH, 1), ("Then Mr. Zara Smith won.", SMITH, 1)],
    "HonorificBefore": [("Then Mr. Zara Smith won.", SMITH, 1), ("Then Zara Smith won.", SMITH, 0)],
    "RoleBefore": [("The striker Zara Smith won.", SMITH, 1), ("The tall Zara Smith won.", SMITH, 0)],
    "ArticleBefore": [("In the Houston way.", "Houston", 1), ("In a Houston way.", "Houston", 0)],
    "OrganisationWord": [("Then Ford Company won.", "Ford Company", 1), ("Then Zara Smith won.", SMITH, 0)],
    "OrganisationWordAfter": [("Then Zara Smith Stadium won.", SMITH, 1), ("Then Zara Smith won.", SMITH, 0)],
    "WordBefore": [("Tall Bob saw tall Zara Smith.", SMITH, 1), ("Bob met the Zara Smith.", SMITH, 0)],
    "FunctionWordBefore": [("Bob met the Zara Smith.", SMITH, 1), ("Bob saw tall Zara Smith.", SMITH, 0)],
    "FunctionWordAfter": [("Then Zara Smith of Rome won.", SMITH, 1), ("Then Zara Smith won.", SMITH, 0)],
    "CapitalsInLine": [("Bob.\nThen Zara Smith won it now\nIt.", SMITH, 3 / 6)],
    "NameLength": [("Then Zara Smith won.", SMITH, math.log(10))],
    "Occurrences": [("Then Zara Smith won. Zara Smith lost.", SMITH, math.log(2)), ("Then Zara Smith won.", SMITH, 0)],
}


@pytest.fixture(scope="module")
def kb() -> SmallKB:
    return SmallKB({label: (fame, []) for label, fame in KNOWN.items()})


@dataclass
class Mentions:
    """Those of a text."""

    context: Found

    def __len__(self) -> int:
        return len(self.context)


class OneText:
    """As much of a batch as evidence reads: the names found in texts, the one that is asked for between two others."""

    def __init__(self, kb: SmallKB, text: str) -> None:
        column = Strings.of(["", "Monday, 3 NASA", text, "NASA 1999"])
        self.found = find(kb, column.data, column.offsets)
        names = [text[slice(*span)] for span in self.found.spans[self.found.leads]]
        self.names = [
            name if self.found.span_text[span] == 2 else "" for name, span in zip(names, self.found.leads, strict=True)
        ]

        self.mentions = Mentions(self.found)

    def once(self, make):
        return make(self, None)


@pytest.mark.parametrize(
    ("name", "text", "span", "value"), [(name, *case) for name, cases in CASES.items() for case in cases]
)
def test_evidence_is_what_stands_around_a_name(kb: SmallKB, name: str, text: str, span: str, value: float) -> None:
    batch = OneText(kb, text)
    assert DOUBTS[name](batch)[batch.names.index(span)] == pytest.approx(value)


def test_every_function_has_a_case() -> None:
    assert {name for name, one in DOUBTS.items() if one.module == "namesake.text_evidence"} == set(CASES)


@pytest.mark.parametrize("name", CASES)
def test_evidence_is_described(name: str) -> None:
    assert DOUBTS[name].formula


@pytest.mark.parametrize("name", CASES)
def test_a_text_without_names_has_no_evidence(kb: SmallKB, name: str) -> None:
    column = Strings.of(["", "..."])
    found = find(kb, column.data, column.offsets)

    class Nothing:
        names, mentions = (), Mentions(found)

        def once(self, make):
            return make(self, None)

    assert DOUBTS[name](Nothing()).tolist() == []


def test_evidence_of_your_own(kb: SmallKB) -> None:
    @evidence("EndsWithH")
    def ends_with_h(found):
        """1 for a name that ends with the token smith."""
        return found.texts.hashes[found.end - 1] == found.texts.hashes[found.end[found.sizes == 2][0] - 1]

    try:
        batch = OneText(kb, "Then Zara Smith met Houston.")
        values = DOUBTS["EndsWithH"](batch)
        assert [values[batch.names.index(name)] for name in (SMITH, "Houston")] == [1, 0]
        assert DOUBTS["EndsWithH"].formula == "1 for a name that ends with the token smith."
    finally:
        DOUBTS.pop("EndsWithH")


@pytest.mark.parametrize("name", MARKS)
def test_each_mark_is_read_as_a_mark(name: str) -> None:
    assert _signs((name,)) == getattr(tokens, name) << MARKS_AT


def test_mistakes_in_evidence_of_your_own_are_named(kb: SmallKB) -> None:
    batch = OneText(kb, "Then Zara Smith met Houston.")
    cases = {
        "gave 1 numbers for 5 spans": lambda found: [1.0],
        "gave one number for": lambda found: None,
        r"no sign of words 'IS_NUMBR' \(did you mean 'IS_NUMBER'": lambda found: found.has("first", "IS_NUMBR"),
        r"no place 'befor' \(did you mean 'before'": lambda found: found.has("befor", "IS_NUMBER"),
    }
    for message, function in cases.items():
        evidence("Wrong", formula="1")(function)
        try:
            with pytest.raises(NamesakeError, match=message):
                DOUBTS["Wrong"](batch)
        finally:
            DOUBTS.pop("Wrong")


def test_words_inside_a_name_of_the_same_entity_are_not_chosen(kb: SmallKB) -> None:
    column = Strings.of(["then zara smith met zara"])
    found = find(kb, column.data, column.offsets)
    score = np.where(found.sizes[found.leads] > 1, 1.0, 0.9)
    same, other = np.zeros(len(found), np.int64), np.arange(len(found))

    def chosen(best: np.ndarray) -> list[list[int]]:
        return sorted(found.spans[found.best_spans(score, best)].tolist())

    assert chosen(same) == [[5, 15], [20, 24]]
    assert chosen(other) == [[5, 9], [10, 15], [20, 24]]
