"""Word vectors: the vector of a text is the mean of its words'. Needs numpy alone.

Three kinds of files hold them: text (`word 0.1 0.2 …` a line, with or without a first line of two counts; also .gz),
`.npz` with the arrays `words` and `vectors`, and a folder of model2vec (`model.safetensors` and `tokenizer.json`).
"""

from __future__ import annotations

import gzip
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from namesake.encoders.protocol import Float32
from namesake.encoders.wordpiece import WordPiece
from namesake.errors import NamesakeError

WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
TENSOR_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I8": "|i1"}

Tokens = Callable[[str], Iterator[int]]
"""The rows of the vectors of a text's words."""


class Static:
    """Vectors by word. A text that has none of the words has no vector: a row of zeros."""

    def __init__(self, path: Path, vectors: Float32, tokens: Tokens, digest: str, normalise: bool = False) -> None:
        if not np.isfinite(vectors).all():
            raise NamesakeError(f"{path}: a vector holds what is no finite number")
        self.name = f"static:{path.absolute()}"
        self.vectors, self.tokens, self.digest = vectors, tokens, digest
        self.dimension = int(vectors.shape[1])
        self.normalise = normalise

    @classmethod
    def read(cls, path: Path) -> Static:
        """Read word vectors, of whichever of the three kinds the file or folder is."""
        try:
            if path.is_dir():
                return read_model2vec(path)
            return read_npz(path) if path.suffix == ".npz" else read_text(path)
        except (OSError, EOFError, zlib.error) as problem:
            reason = getattr(problem, "strerror", None) or problem
            raise NamesakeError(f"{path}: cannot read word vectors there ({reason})") from None

    def encode(self, texts: Sequence[str]) -> Float32:
        """The mean of the vectors of each text's words."""
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
    """Words of a text that have a vector: as they stand, else in lower case, else without what is joined to them."""

    def tokens(text: str) -> Iterator[int]:
        for word in WORD.findall(text):
            row = rows.get(word, rows.get(word.lower()))
            if row is not None:
                yield row
                continue
            parts = re.split(r"['’.-]", word.lower())
            yield from (rows[part] for part in parts if len(parts) > 1 and part in rows)

    return tokens


def read_text(path: Path) -> Static:
    """Lines of a word and its numbers; a first line of two whole numbers counts words and dimensions."""
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
                raise NamesakeError(f"{path}: line {number} is no word with its numbers") from None
            if not len(vector) or (rows and len(vector) != len(rows[0])):
                wanted = len(rows[0]) if rows else "some"
                raise NamesakeError(f"{path}: line {number} has {len(vector)} numbers, not {wanted}")
            if text not in words:
                words[text] = len(rows)
                rows.append(vector)
    if not rows:
        raise NamesakeError(f"{path}: no word vectors in it")
    return Static(path, np.stack(rows), by_word(words), f"sha256:{hashed.hexdigest()}")


def read_npz(path: Path) -> Static:
    """The arrays `words`, of texts, and `vectors`, a row for each word."""
    try:
        with np.load(path, allow_pickle=False) as held:
            words, vectors = held["words"], np.ascontiguousarray(held["vectors"], np.float32)
    except (KeyError, ValueError, zipfile.BadZipFile) as problem:
        raise NamesakeError(f"{path}: needs the arrays `words` (texts) and `vectors` ({problem})") from None
    if words.dtype.kind != "U" or vectors.ndim != 2 or words.shape != vectors.shape[:1] or not vectors.size:
        raise NamesakeError(f"{path}: `words` must be texts and `vectors` a row for each of them")
    rows = {word: row for row, word in reversed(list(enumerate(words.tolist())))}
    return Static(path, vectors, by_word(rows), file_digest(path))


def read_model2vec(folder: Path) -> Static:
    """The vectors of word pieces in `model.safetensors`, and the pieces in `tokenizer.json`."""
    try:
        vectors = read_embeddings(folder / "model.safetensors")
        pieces = WordPiece.of(json.loads((folder / "tokenizer.json").read_text(encoding="utf-8")))
        config = folder / "config.json"
        normalise = config.is_file() and bool(json.loads(config.read_text(encoding="utf-8")).get("normalize"))
    except (ValueError, KeyError, TypeError) as problem:
        raise NamesakeError(f"{folder}: no model2vec folder that can be read here ({problem})") from None
    if max(pieces.rows.values()) >= len(vectors):
        raise NamesakeError(f"{folder}: tokenizer.json has more pieces than there are vectors")
    files = (folder / name for name in ("model.safetensors", "tokenizer.json"))
    digest = sha256("".join(map(file_digest, files)).encode()).hexdigest()
    return Static(folder, vectors, pieces.tokens, f"sha256:{digest}", normalise)


def read_embeddings(path: Path) -> Float32:
    """The tensor `embeddings` of a safetensors file: the length of a JSON header, the header, the numbers."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    entry = json.loads(raw[8 : 8 + size])["embeddings"]
    begin, end = (8 + size + at for at in entry["data_offsets"])
    numbers = np.frombuffer(raw[begin:end], TENSOR_TYPES[entry["dtype"]])
    rows, dimension = entry["shape"]
    return np.ascontiguousarray(numbers.reshape(rows, dimension), np.float32)


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    hashed = sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 22):
            hashed.update(block)
    return f"sha256:{hashed.hexdigest()}"
