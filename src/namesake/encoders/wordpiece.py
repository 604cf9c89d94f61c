"""WordPiece, as BERT cuts words into pieces: what a `tokenizer.json` of that kind says, without its library."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

LONGEST = 100
"""Letters of a word beyond which it counts as unknown."""
TOKEN = re.compile(r"\w+|[^\w\s]|_")


@dataclass(frozen=True)
class WordPiece:
    """The rows of pieces; those that go on within a word bear a mark before them."""

    rows: dict[str, int]
    mark: str
    lower: bool

    @staticmethod
    def of(tokenizer: dict[str, Any]) -> WordPiece:
        """From the parsed `tokenizer.json`; ValueError where it is of another kind."""
        model, normaliser = tokenizer["model"], tokenizer.get("normalizer") or {}
        if model.get("type") != "WordPiece":
            raise ValueError(f"its tokenizer is {model.get('type')}, not WordPiece")
        rows = {str(piece): int(row) for piece, row in model["vocab"].items()}
        if not rows or min(rows.values()) < 0:
            raise ValueError("its tokenizer has no pieces")
        return WordPiece(rows, model.get("continuing_subword_prefix", "##"), normaliser.get("lowercase", True))

    def tokens(self, text: str) -> Iterator[int]:
        """The rows of a text's pieces; words that cannot be cut into known pieces are passed over."""
        if self.lower:
            decomposed = unicodedata.normalize("NFD", text.lower())
            text = "".join(letter for letter in decomposed if unicodedata.category(letter) != "Mn")
        for found in TOKEN.finditer(text):
            yield from self._pieces(found.group())

    def _pieces(self, word: str) -> list[int]:
        rows: list[int] = []
        begin = 0
        while begin < len(word) <= LONGEST:
            mark = self.mark if begin else ""
            end = next((end for end in range(len(word), begin, -1) if mark + word[begin:end] in self.rows), 0)
            if not end:
                return []
            rows.append(self.rows[mark + word[begin:end]])
            begin = end
        return rows
