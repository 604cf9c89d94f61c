"""The ids of entities: QIDs of Wikidata, and ids of own entities such as `acme:jane-doe`.

Columns have numbers: that of the QID, and for own entities `FIRST_OWN` and up, in the order of `own.jsonl`.
"""

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from namesake.arrays import Int64, arrow_numbers, arrow_scalar, arrow_texts, text_buffers
from namesake.kb import WIKIDATA
from namesake.kernels.dump.wikidata import FIRST_OWN

QID = re.compile(r"Q[1-9][0-9]{0,17}", re.ASCII)
OWN_IRI = "urn:namesake:"  # prefix of the IRIs of own entities, by default


def wikidata_page(identifier: str | None) -> str | None:
    """The page of a QID; None for own entities and for NIL."""
    return WIKIDATA + identifier if identifier and QID.fullmatch(identifier) else None


class Ids:
    """Numbers to ids and back, with the ids of a KB's own entities and the prefix of their IRIs."""

    def __init__(self, own: Sequence[str] = (), own_iri: str = "") -> None:
        self.own, self.own_iri = own, own_iri or OWN_IRI
        self._numbers = {text: FIRST_OWN + row for row, text in enumerate(own)}

    def text(self, number: int) -> str:
        """The id of a number: Q76, or acme:jane-doe."""
        return self.own[number - FIRST_OWN] if number >= FIRST_OWN else f"Q{number}"

    def texts(self, numbers: Int64) -> pa.StringArray:
        """The ids of numbers, null for negative ones."""
        letter, between = (arrow_scalar(text, pa.string()) for text in ("Q", ""))
        texts = pc.binary_join_element_wise(letter, arrow_numbers(numbers, numbers < 0).cast(pa.string()), between)
        if not self.own or not (own := numbers >= FIRST_OWN).any():
            return texts
        named = arrow_texts(self.own).take(arrow_numbers(np.maximum(numbers - FIRST_OWN, 0), ~own))
        return pc.if_else(arrow_numbers(own), named, texts)

    def number(self, text: str) -> int:
        """The number of an id, -1 for a text that is neither a QID nor the id of an own entity."""
        return self._numbers.get(text, -1) if not QID.fullmatch(text) else int(text[1:])

    def parse(self, texts: pa.Array) -> Int64:
        """The numbers of ids, -1 for a text that is neither a QID nor the id of an own entity."""
        from namesake.kernels.link.candidate_tables import parse_qids  # loads kernels

        numbers: Int64 = parse_qids(*text_buffers(texts))
        for row in np.flatnonzero(numbers < 0).tolist() if self.own else ():
            numbers[row] = self._numbers.get(texts[row].as_py(), -1)
        return numbers

    def iris(self, texts: pa.StringArray) -> pa.StringArray:
        """The address of each id, null for null."""
        wikidata, own, nothing = (arrow_scalar(text, pa.string()) for text in (WIKIDATA, self.own_iri, ""))
        begin = pc.if_else(pc.match_substring(texts, ":"), own, wikidata)
        return pc.binary_join_element_wise(begin, texts, nothing, null_handling="emit_null")

    def iri(self, identifier: str, wikidata: str = WIKIDATA) -> str:
        """The address of an entity: under `wikidata` for a QID, otherwise under the prefix for own entities."""
        return (wikidata if QID.fullmatch(identifier) else self.own_iri) + identifier
