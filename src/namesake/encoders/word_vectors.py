"""Word vectors: the vector of a text is the mean of the vectors of its words. Needs numpy only.

Three formats are read: text (one line per word, `word 0.1 0.2 …`, optionally after a line with two counts; also .gz),
`.npz` with the arrays `words` and `vectors`, and a model2vec folder (`model.safetensors` and `tokenizer.json`).
"""

import gzip
import json
import re
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any

import numpy as np

from namesake.encoders import Float32
from namesake.errors import NamesakeError

WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
PIECE = re.compile(r"\w+|[^\w\s]|_")
MAX_WORD = 100  # WordPiece treats longer words as unknown
TENSOR_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I8": "|i1"}

Tokens = Callable[[str], Iterator[int]]  # returns the rows of the vectors of a text's words


class WordVectors:
    """Vectors by word. A text without known words has a row of zeros."""

    def __init__(self, path: Path, vectors: Float32, tokens: Tokens, digest: str, normalise: bool = False) -> None:
        if not np.isfinite(vectors).all():
            raise NamesakeError(f"{path}: a vector contains a value that is not a finite number")
        self.name = f"static:{path.absolute()}"
        self.vectors, self.tokens, self.digest = vectors, tokens, f"sha256:{digest}"
        self.dimension = int(vectors.shape[1])
        self.normalise = normalise

    @classmethod
    def read(cls, path: Path) -> "WordVectors":
        """Read word vectors in any of the three formats."""
        try:
            if path.is_dir():
                return read_model2vec(path)
            return read_npz(path) if path.suffix == ".npz" else read_text(path)
        except (OSError, EOFError, zlib.error) as problem:
            reason = getattr(problem, "strerror", None) or problem
            raise NamesakeError(f"{path}: cannot read word vectors there ({reason})") from None

    def encode(self, texts: Sequence[str]) -> Float32:
        """Return the mean vector of the words of each text."""
        encoded = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in enumerate(texts):
            known = list(self.tokens(text))
            if known:
                encoded[row] = self.vectors[known].mean(0)
        if self.normalise:
            length = np.linalg.norm(encoded, axis=1, keepdims=True)
            np.divide(encoded, length, out=encoded, where=length > 0)
        return encoded


def by_word(rows: dict[str, int]) -> Tokens:
    """Look up words unchanged, else in lower case, else the parts between hyphens, apostrophes and full stops."""

    def tokens(text: str) -> Iterator[int]:
        for word in WORD.findall(text):
            row = rows.get(word, rows.get(word.lower()))
            if row is not None:
                yield row
                continue
            parts = re.split(r"['’.-]", word.lower())
            yield from (rows[part] for part in parts if len(parts) > 1 and part in rows)

    return tokens


def read_text(path: Path) -> WordVectors:
    """Read lines of a word and its numbers. A first line of two integers (words and dimensions) is skipped."""
    hashed = sha256()
    words: dict[str, int] = {}
    rows: list[Float32] = []
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        for number, line in enumerate(file, 1):
            hashed.update(line)
            word, _, numbers = line.strip().partition(b" ")
            if number == 1 and word.isdigit() and numbers.isdigit():
                continue
            try:
                vector = np.array(numbers.split(), np.float32)
                text = word.decode()
            except ValueError:
                raise NamesakeError(f"{path}: line {number} is not a word with its numbers") from None
            if not len(vector) or (rows and len(vector) != len(rows[0])):
                wanted = len(rows[0]) if rows else "some"
                raise NamesakeError(f"{path}: line {number} has {len(vector)} numbers, not {wanted}")
            if text not in words:
                words[text] = len(rows)
                rows.append(vector)
    if not rows:
        raise NamesakeError(f"{path}: no word vectors in it")
    return WordVectors(path, np.stack(rows), by_word(words), hashed.hexdigest())


def read_npz(path: Path) -> WordVectors:
    """Read the arrays `words` (texts) and `vectors` (one row for each word)."""
    try:
        with np.load(path, allow_pickle=False) as held:
            words, vectors = held["words"], np.ascontiguousarray(held["vectors"], np.float32)
    except (KeyError, ValueError, zipfile.BadZipFile) as problem:
        raise NamesakeError(f"{path}: needs the arrays `words` (texts) and `vectors` ({problem})") from None
    if words.dtype.kind != "U" or vectors.ndim != 2 or words.shape != vectors.shape[:1] or not vectors.size:
        raise NamesakeError(f"{path}: `words` must be texts and `vectors` a row for each of them")
    rows = {word: row for row, word in reversed(list(enumerate(words.tolist())))}
    return WordVectors(path, vectors, by_word(rows), _digest(path))


def read_model2vec(folder: Path) -> WordVectors:
    """Read the vectors of word pieces from `model.safetensors`, and the pieces from `tokenizer.json`."""
    try:
        vectors = read_embeddings(folder / "model.safetensors")
        tokens, last = by_piece(json.loads((folder / "tokenizer.json").read_text(encoding="utf-8")))
        config = folder / "config.json"
        normalise = config.is_file() and bool(json.loads(config.read_text(encoding="utf-8")).get("normalize"))
    except (ValueError, KeyError, TypeError) as problem:
        raise NamesakeError(f"{folder}: not a model2vec folder that can be read ({problem})") from None
    if last >= len(vectors):
        raise NamesakeError(f"{folder}: tokenizer.json has more pieces than there are vectors")
    files = (folder / name for name in ("model.safetensors", "tokenizer.json"))
    digest = sha256("".join(f"sha256:{_digest(file)}" for file in files).encode()).hexdigest()
    return WordVectors(folder, vectors, tokens, digest, normalise)


def read_embeddings(path: Path) -> Float32:
    """Read the tensor `embeddings` of a safetensors file: the length of a JSON header, the header, the numbers."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    entry = json.loads(raw[8 : 8 + size])["embeddings"]
    begin, end = (8 + size + at for at in entry["data_offsets"])
    numbers = np.frombuffer(raw[begin:end], TENSOR_TYPES[entry["dtype"]])
    rows, dimension = entry["shape"]
    return np.ascontiguousarray(numbers.reshape(rows, dimension), np.float32)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def by_piece(tokenizer: dict[str, Any]) -> tuple[Tokens, int]:
    """BERT's WordPiece tokenizer from the parsed `tokenizer.json`, and its last row; ValueError for another kind."""
    model, normaliser = tokenizer["model"], tokenizer.get("normalizer") or {}
    if model.get("type") != "WordPiece":
        raise ValueError(f"its tokenizer is {model.get('type')}, not WordPiece")
    rows = {str(piece): int(row) for piece, row in model["vocab"].items()}
    if not rows or min(rows.values()) < 0:
        raise ValueError("its tokenizer has no pieces")
    inner, lower = model.get("continuing_subword_prefix", "##"), normaliser.get("lowercase", True)

    def tokens(text: str) -> Iterator[int]:
        if lower:
            decomposed = unicodedata.normalize("NFD", text.lower())
            text = "".join(letter for letter in decomposed if unicodedata.category(letter) != "Mn")
        for word in PIECE.findall(text):
            found: list[int] = []
            begin = 0
            while begin < len(word) <= MAX_WORD:
                mark = inner if begin else ""
                ends = (end for end in range(len(word), begin, -1) if mark + word[begin:end] in rows)
                end = next(ends, None)
                if end is None:  # a word that does not split into known pieces is skipped
                    found = []
                    break
                found.append(rows[mark + word[begin:end]])
                begin = end
            yield from found

    return tokens, max(rows.values())
