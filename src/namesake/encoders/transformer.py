"""Encoders that are transformers: the mean of the last hidden state over real tokens, or what a sentence model says.

Texts are cut into chunks of as many tokens as the model takes, chunks of similar length go through it together, and a
text's vector is the mean over the tokens of all its chunks.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from namesake.encoders.models import Model, reading
from namesake.encoders.protocol import Float32
from namesake.errors import NamesakeError

BUDGET = {"cpu": 1 << 13, "cuda": 1 << 17}
"""Tokens that go through the model together, padding included."""
STEP = {"cpu": 1, "cuda": 32}
"""Lengths are padded to multiples of this, so that few shapes occur: memory that was used fits again."""
MOST = 1024
"""Tokens of a chunk, where neither model nor tokenizer says."""

Tokens = Sequence[int]
T = TypeVar("T")


class Transformer:
    """BART as the paper uses it, or a sentence-transformers model: its pooling and its normalisation as its files say.

    Special tokens, which begin and end a text, are real tokens here as in the paper and in sentence-transformers; a
    text that has no others has no vector.
    """

    def __init__(self, kind: str, loaded: Model, truncate: bool = False) -> None:
        self.name = f"{kind}:{loaded.where}"
        self.loaded, self.truncate = loaded, truncate
        self.pooling, self.normalise, longest = _sentence_settings(loaded) if kind == "sentence" else ("mean", False, 0)
        self.most = longest or _most(loaded)
        self.dimension = int(loaded.model.config.hidden_size)
        settings = f"{loaded.digest} {self.pooling} {self.normalise} {self.most} {truncate}"
        self.digest = f"sha256:{sha256(settings.encode()).hexdigest()}"
        self.pad = loaded.tokenizer.pad_token_id or 0
        device = loaded.device.partition(":")[0]
        self.budget, self.step = BUDGET[device], STEP[device]
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str]) -> Float32:
        """One row for each text; all zeros for a text of no tokens but the special ones."""
        if not texts:
            return np.zeros((0, self.dimension), np.float32)
        with self._lock:
            chunks, of_text = self._chunks(list(texts))
            return self.pooled(chunks, of_text, len(texts))

    def _chunks(self, texts: list[str]) -> tuple[list[Tokens], list[int]]:
        """The tokens of every chunk, and which text it is of; texts of no tokens have none."""
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
        """The vectors of texts whose chunks are given as tokens."""
        total = np.zeros((texts, self.dimension), np.float32)
        count = np.zeros((texts, 1), np.float32)
        for rows, summed, counted in _one_behind(self._through_the_model(chunks)):
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

    def _through_the_model(self, chunks: list[Tokens]) -> Iterator[tuple[list[int], Any, Float32]]:
        """Chunks of similar length together: which they are, the sums over their tokens (torch), how many tokens."""
        import torch

        waiting = sorted(range(len(chunks)), key=lambda row: -len(chunks[row]))
        begin = 0
        while begin < len(waiting):
            size = max(self.budget // self._padded(len(chunks[waiting[begin]])), 1)
            rows = waiting[begin : begin + size]
            try:
                summed, counted = self._sums([chunks[row] for row in rows])
            except torch.OutOfMemoryError:
                self._take_less(len(rows))
                continue
            yield rows, summed, counted
            begin += len(rows)

    def _take_less(self, rows: int) -> None:
        """Halve what goes through the model together, after it ran out of memory."""
        import torch

        if rows == 1:
            raise NamesakeError(f"{self.name}: the GPU's memory does not suffice for a single text; use `device='cpu'`")
        torch.cuda.empty_cache()
        self.budget //= 2

    def _padded(self, length: int) -> int:
        """The length that chunks are padded to, the longest of which has `length` tokens."""
        return min(-(-length // self.step) * self.step, self.most)

    def _sums(self, chunks: list[Tokens]) -> tuple[Any, Float32]:
        import torch

        lengths = np.array([len(chunk) for chunk in chunks])
        mask = np.arange(self._padded(int(lengths.max())))[None, :] < lengths[:, None]
        ids = np.full(mask.shape, self.pad, np.int64)
        ids[mask] = np.fromiter(chain.from_iterable(chunks), np.int64, int(lengths.sum()))
        with reading(torch):
            real = torch.from_numpy(mask).to(self.loaded.device, non_blocking=True)
            output = self.loaded.model(
                input_ids=torch.from_numpy(ids).to(self.loaded.device, non_blocking=True),
                attention_mask=None if mask.all() else real.long(),  # attention without a mask is faster
            )
            hidden = output.last_hidden_state
            if self.pooling == "cls":
                return hidden[:, 0].float(), np.ones((len(chunks), 1), np.float32)
            return (hidden * real[:, :, None]).sum(1, dtype=torch.float32), lengths[:, None].astype(np.float32)


def _one_behind(batches: Iterator[T]) -> Iterator[T]:
    """The same, each when the next has been begun: a GPU works on one while another's numbers are fetched."""
    before: list[T] = []
    for batch in batches:
        yield from before
        before = [batch]
    yield from before


def _most(loaded: Model) -> int:
    """How many tokens the model takes."""
    config, said = loaded.model.config, loaded.tokenizer.model_max_length
    positions = getattr(config, "max_position_embeddings", MOST)
    return int(min(said, positions))  # a tokenizer that does not know says 10 ** 30


def _sentence_settings(loaded: Model) -> tuple[Literal["mean", "cls"], bool, int]:
    """How a sentence-transformers model pools, whether it normalises, how many tokens it takes (0: as the model)."""
    read = _reader(loaded)
    modules = [module["type"].rpartition(".")[2] for module in read("modules.json") or []]
    if unknown := set(modules) - {"Transformer", "Pooling", "Normalize"}:
        raise NamesakeError(f"{loaded.where}: has a module {min(unknown)}, which is not supported")
    pooling = next((module["path"] for module in read("modules.json") or [] if "Pooling" in module["type"]), None)
    modes = (read(f"{pooling}/config.json") or {}) if pooling else {}
    cls = bool(modes.get("pooling_mode_cls_token")) or modes.get("pooling_mode") == "cls"
    if not cls and modes and not modes.get("pooling_mode_mean_tokens") and modes.get("pooling_mode") != "mean":
        raise NamesakeError(f"{loaded.where}: pools neither by mean nor by its first token, which is not supported")
    longest = int((read("sentence_bert_config.json") or {}).get("max_seq_length") or 0)
    return "cls" if cls else "mean", "Normalize" in modules, longest


def _reader(loaded: Model) -> Callable[[str], Any]:
    """What reads the settings in a model's folder, or in the hub's copy of it; None for a file that is not there."""

    def read(name: str) -> Any:
        if loaded.folder is not None:
            path = loaded.folder / name
            return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
        from transformers.utils import cached_file

        found = cached_file(loaded.where, name, _raise_exceptions_for_missing_entries=False)
        return None if found is None else json.loads(Path(found).read_text(encoding="utf-8"))

    return read
