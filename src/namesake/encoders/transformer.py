"""Transformer encoders: the mean of the last hidden state over real tokens, or a sentence model's own pooling.

Texts are split into chunks of the model's maximum length. Chunks of similar length form a batch. A text's vector is the
mean over the tokens of all its chunks. `distil` derives word vectors from a sentence encoder.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from namesake.encoders import Float32
from namesake.encoders.models import Model, in_batches, load_model, padded, reading
from namesake.errors import NamesakeError

BUDGET = {"cpu": 1 << 13, "cuda": 1 << 17}
"""Tokens in a batch, including padding."""
STEP = {"cpu": 1, "cuda": 32}
"""Lengths are padded to multiples of this: with few shapes, memory can be reused."""
MOST = 1024
"""Tokens of a chunk, if neither the model nor the tokenizer states a maximum."""
SMOOTH = 1e-3
"""`distil`: words that are more frequent than this have little weight."""
BLOCK = 4096

Tokens = Sequence[int]
T = TypeVar("T")


class Transformer:
    """BART as the paper uses it, or a sentence-transformers model with the pooling and normalisation of its files.

    The special tokens that begin and end a text count as real tokens, as in the paper and in sentence-transformers. A
    text without other tokens has no vector.
    """

    def __init__(self, kind: str, loaded: Model, truncate: bool = False) -> None:
        self.name = f"{kind}:{loaded.where}"
        self.loaded, self.truncate = loaded, truncate
        self.pooling, self.normalise, longest = _sentence_settings(loaded) if kind == "sentence" else ("mean", False, 0)
        positions = getattr(loaded.model.config, "max_position_embeddings", MOST)
        self.most = longest or int(min(loaded.tokenizer.model_max_length, positions))
        self.dimension = int(loaded.model.config.hidden_size)
        settings = f"{loaded.digest} {self.pooling} {self.normalise} {self.most} {truncate}"
        self.digest = f"sha256:{sha256(settings.encode()).hexdigest()}"
        self.pad = loaded.tokenizer.pad_token_id or 0
        device = loaded.device.partition(":")[0]
        self.budget, self.step = BUDGET[device], STEP[device]
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Float32:
        """Return one row for each text; zeros for a text without tokens."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        with self._lock:
            chunks, of_text = self._chunks(list(texts))
            return self.pooled(chunks, of_text, len(texts))

    def _chunks(self, texts: list[str]) -> tuple[list[Tokens], list[int]]:
        """The tokens of every chunk, and its text; texts without tokens have no chunks."""
        cut = self.loaded.tokenizer(
            texts,
            truncation=True,
            max_length=self.most,
            return_overflowing_tokens=not self.truncate,
            return_special_tokens_mask=True,
            return_attention_mask=False,
        )
        of_text = cut.get("overflow_to_sample_mapping", range(len(texts)))
        real = [not all(special) for special in cut["special_tokens_mask"]]
        kept = [at for at, has_tokens in enumerate(real) if has_tokens]
        return [cut["input_ids"][at] for at in kept], [int(of_text[at]) for at in kept]

    def pooled(self, chunks: list[Tokens], of_text: Sequence[int], texts: int) -> Float32:
        """Return the vectors of texts from the tokens of their chunks."""
        total = np.zeros((texts, self.dimension), np.float32)
        count = np.zeros((texts, 1), np.float32)
        waiting = sorted(range(len(chunks)), key=lambda row: -len(chunks[row]))  # chunks of similar length in a batch

        def fit(begin: int) -> int:
            return max(self.budget // self._padded(len(chunks[waiting[begin]])), 1)

        batches = in_batches(self, waiting, fit, lambda rows: self._sums([chunks[row] for row in rows]))
        for rows, (summed, counted) in _one_behind(batches):
            places = np.array([of_text[row] for row in rows])
            np.add.at(total, places, summed.cpu().numpy())
            np.add.at(count, places, counted)
        np.divide(total, count, out=total, where=count > 0)
        if self.normalise:
            length = np.linalg.norm(total, axis=1, keepdims=True)
            np.divide(total, length, out=total, where=length > 0)
        if not np.isfinite(total).all():
            raise NamesakeError(f"{self.name}: made a vector that is not finite; its weights or its precision are bad")
        return total

    def _padded(self, length: int) -> int:
        """The padded length of chunks, the longest of which has `length` tokens."""
        return min(-(-length // self.step) * self.step, self.most)

    def _sums(self, chunks: list[Tokens]) -> tuple[Any, Float32]:
        """The sums over the tokens of each chunk (torch), and the numbers of tokens."""
        import torch

        ids, mask = padded(chunks, self.pad, self._padded(max(map(len, chunks))))
        with reading(torch):
            real = torch.from_numpy(mask).to(self.loaded.device, non_blocking=True)
            output = self.loaded.model(
                input_ids=torch.from_numpy(ids).to(self.loaded.device, non_blocking=True),
                attention_mask=None if mask.all() else real.long(),  # attention without a mask is faster
            )
            hidden = output.last_hidden_state
            if self.pooling == "cls":
                return hidden[:, 0].float(), np.ones((len(chunks), 1), np.float32)
            return (hidden * real[:, :, None]).sum(1, dtype=torch.float32), mask.sum(1, keepdims=True).astype(
                np.float32
            )


def _one_behind(batches: Iterator[T]) -> Iterator[T]:
    """Yield each batch after the next one has started: the GPU computes while results are copied."""
    before: list[T] = []
    for batch in batches:
        yield from before
        before = [batch]
    yield from before


def _sentence_settings(loaded: Model) -> tuple[Literal["mean", "cls"], bool, int]:
    """The pooling of a sentence-transformers model, whether it normalises, its maximum length (0: the model's)."""
    listed = _settings(loaded, "modules.json") or []
    modules = {module["type"].rpartition(".")[2]: module["path"] for module in listed}
    if unknown := set(modules) - {"Transformer", "Pooling", "Normalize"}:
        raise NamesakeError(f"{loaded.where}: has a module {min(unknown)}, which is not supported")
    pooling = modules.get("Pooling")
    modes = (_settings(loaded, f"{pooling}/config.json") or {}) if pooling else {}
    cls = bool(modes.get("pooling_mode_cls_token")) or modes.get("pooling_mode") == "cls"
    if not cls and modes and not modes.get("pooling_mode_mean_tokens") and modes.get("pooling_mode") != "mean":
        raise NamesakeError(f"{loaded.where}: pools neither by mean nor by its first token, which is not supported")
    longest = int((_settings(loaded, "sentence_bert_config.json") or {}).get("max_seq_length") or 0)
    return "cls" if cls else "mean", "Normalize" in modules, longest


def _settings(loaded: Model, name: str) -> Any:
    """A settings file of a model, from its folder or from the hub; None if there is none."""
    from transformers.utils import cached_file

    found = cached_file(loaded.where, name, _raise_exceptions_for_missing_entries=False)
    return None if found is None else json.loads(Path(found).read_text(encoding="utf-8"))


def distil(where: str, path: str | Path, dimensions: int = 64, device: str | None = None) -> int:
    """Write word vectors from a sentence encoder to an `.npz` file, and return the number of words.

    Each word of the vocabulary is encoded alone and centred. Encoding a text with the result costs a thousandth of the
    encoder's time, without a GPU. A word has the weight a / (a + p), with p estimated from its rank (Zipf), since
    vocabularies are sorted by frequency.

    Args:
        where: the encoder: a folder, a package or a name on the hub, as after `sentence:`.
        path: the file to write.
        dimensions: the number of principal components to keep.
        device: `cpu` or `cuda`; default: the GPU if there is one.
    """
    encoder = Transformer("sentence", load_model(where, "encoder", device))
    vocabulary = sorted(encoder.loaded.tokenizer.get_vocab().items(), key=lambda one: one[1])
    words = [word for word, _ in vocabulary if word.isalpha()]
    if len(words) < dimensions:
        raise NamesakeError(f"{where}: its vocabulary has {len(words)} words, fewer than {dimensions} dimensions")
    vectors = np.concatenate([encoder.encode(words[at : at + BLOCK]) for at in range(0, len(words), BLOCK)])
    vectors = vectors - vectors.mean(0)
    _, directions = np.linalg.eigh(vectors.T @ vectors)
    share = 1 / np.arange(1, len(words) + 1)
    weights = SMOOTH / (SMOOTH + share / share.sum())
    kept = vectors @ directions[:, ::-1][:, :dimensions] * weights[:, None]
    np.savez(path, words=np.array(words), vectors=kept.astype(np.float32))
    return len(words)
