"""Models of the transformers library, and encoders: the mean of the last hidden state, or a model's own pooling.

A model comes from a folder, a package or the hub. Texts are split into chunks of the model's maximum length. Chunks of
similar length form a batch. A text's vector is the mean over the tokens of all its chunks. `distil` derives word
vectors from a sentence encoder.
"""

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from importlib.util import find_spec
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from namesake.encoders import Float32
from namesake.errors import NamesakeError, lacking

BUDGET = {"cpu": 1 << 13, "cuda": 1 << 17}  # tokens in a batch, including padding
STEP = {"cpu": 1, "cuda": 32}  # lengths are padded to multiples of this: with few shapes, memory can be reused
MOST = 1024  # tokens of a chunk, if neither the model nor the tokenizer states a maximum
SMOOTH = 1e-3  # `distil`: words that are more frequent than this have little weight
BLOCK = 4096
PATIENCE = 5.0  # seconds to wait for the hub's first answer

Tokens = Sequence[int]
T = TypeVar("T")


class Model(NamedTuple):
    """A loaded model, its source and its device."""

    where: str  # the full path of a folder, or a name on the hub
    model: Any
    tokenizer: Any
    device: str
    digest: str  # a digest of the stored weights and of the vocabulary


def load_model(where: str, use: Literal["encoder", "seq2seq"], device: str | None = None) -> Model:
    """Load a model, an encoder or one that generates text; on a GPU, which is the default, in half precision."""
    try:
        import torch
        import transformers
    except ImportError as problem:
        raise lacking(f"{where} needs", str(problem.name), "neural") from None
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    on = choose_device(torch, device)
    source = str(_folder(where) or where)
    kind = transformers.AutoModel if use == "encoder" else transformers.AutoModelForSeq2SeqLM
    tokenizer, model = _load(transformers.AutoTokenizer, kind, source, where)
    digest = _digest(model, tokenizer)
    model = model.to(on, torch.float16 if on.startswith("cuda") else torch.float32).eval()
    model.config.use_cache = False  # a text is read once: cached keys and values would cost a seventh
    return Model(source, model, tokenizer, on, digest)


@contextmanager
def reading(torch: Any) -> Iterator[None]:
    """Run inference with attention kernels that take any shape; cuDNN plans for each shape, slower than the work."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    any_shape = [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]
    with torch.inference_mode(), sdpa_kernel(any_shape):
        yield


def padded(
    rows: Sequence[Sequence[int]], pad: int, width: int | None = None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return token sequences as one array, and a mask of the tokens that are not padding."""
    lengths = np.array([len(row) for row in rows])
    real = np.arange(width or lengths.max())[None, :] < lengths[:, None]
    ids = np.full(real.shape, pad, np.int64)
    ids[real] = np.fromiter(chain.from_iterable(rows), np.int64, int(lengths.sum()))
    return ids, real


def in_batches(
    encoder: Any, texts: Sequence[int], fit: Callable[[int], int], run: Callable[[Sequence[int]], T]
) -> Iterator[tuple[Sequence[int], T]]:
    """Yield batches of `fit(begin)` texts with what `run` returns; if memory runs out, `encoder.budget` is halved."""
    import torch

    begin = 0
    while begin < len(texts):
        some = texts[begin : begin + fit(begin)]
        try:
            found = run(some)
        except torch.OutOfMemoryError:
            if len(some) == 1:
                reason = "the GPU's memory does not suffice for a single text; use `device='cpu'`"
                raise NamesakeError(f"{encoder.loaded.where}: {reason}") from None
            torch.cuda.empty_cache()
            encoder.budget //= 2
            continue
        yield some, found
        begin += len(some)


def choose_device(torch: Any, device: str | None) -> str:
    """Return the requested device if it exists; default: the GPU if there is one."""
    if device is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    if device != "cpu" and not ((device.partition(":")[0] == "cuda" and device[5:].isdigit()) or device == "cuda"):
        raise NamesakeError(f"device {device!r}: must be cpu, cuda or cuda:0, cuda:1, …")
    if device != "cpu" and not torch.cuda.is_available():
        raise NamesakeError(f"device {device}: torch finds no GPU here; leave out `device=`, or use cpu")
    return device


def _folder(where: str) -> Path | None:
    """The folder `where`, or the model folder of the package `where`; None for a name on the hub."""
    path = Path(where)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise NamesakeError(f"{where}: no model in this folder (it has no config.json)")
        return path.absolute()
    if path.is_absolute() or where.startswith((".", "~")) or path.exists():
        raise NamesakeError(f"{where}: no such folder")
    name = where.replace("-", "_")
    package = find_spec(name) if name.isidentifier() else None
    locations = package.submodule_search_locations or () if package else ()
    folders = (folder for each in locations for folder in (Path(each) / "model", Path(each)))
    return next((folder for folder in folders if (folder / "config.json").is_file()), None)


def _load(tokenizers: Any, models: Any, source: str, where: str) -> tuple[Any, Any]:
    """Tokenizer and model, from this machine if possible, else from the hub."""
    reason = ""
    for local in (True, False):
        try:
            tokenizer = tokenizers.from_pretrained(source, local_files_only=local)
            return tokenizer, models.from_pretrained(source, local_files_only=local)
        except (OSError, ValueError, KeyError, ImportError, RuntimeError) as problem:
            reason = " ".join(str(problem).split())[:120]
        if Path(source).is_dir():
            raise NamesakeError(f"{where}: the model in this folder cannot be loaded ({reason})") from None
        if local and not _hub_answers():
            break
    reason = "no such folder or package here, and the hub does not give it (no network, or no such model)"
    raise NamesakeError(f"{where}: {reason}; name the folder of the model")


def _hub_answers() -> bool:
    """Whether the hub can be reached; its own client takes most of a minute to give up."""
    if any(os.environ.get(name) for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy")):
        return True
    hub = urlsplit(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")
    try:
        socket.create_connection((hub.hostname or "", hub.port or 443), PATIENCE).close()
    except OSError:
        return False
    return True


def _digest(model: Any, tokenizer: Any) -> str:
    hashed = sha256(json.dumps(sorted(tokenizer.get_vocab().items())).encode())
    for name, tensor in sorted(model.state_dict().items()):
        hashed.update(name.encode())
        hashed.update(tensor.detach().float().contiguous().cpu().numpy().tobytes())
    return f"sha256:{hashed.hexdigest()}"


class Transformer:
    """BART as the paper uses it, or a sentence-transformers model with the pooling and normalisation of its files.

    The special tokens around a text count as real tokens, as there. A text without other tokens has no vector.
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
        kept = [at for at, special in enumerate(cut["special_tokens_mask"]) if not all(special)]
        return [cut["input_ids"][at] for at in kept], [int(of_text[at]) for at in kept]

    def pooled(self, chunks: list[Tokens], of_text: Sequence[int], texts: int) -> Float32:
        """Return the vectors of texts from the tokens of their chunks."""
        total = np.zeros((texts, self.dimension), np.float32)
        count = np.zeros((texts, 1), np.float32)
        waiting = sorted(range(len(chunks)), key=lambda row: -len(chunks[row]))  # chunks of similar length in a batch

        def fit(begin: int) -> int:
            return max(self.budget // self._padded(len(chunks[waiting[begin]])), 1)

        batches = in_batches(self, waiting, fit, lambda rows: self._sums([chunks[row] for row in rows]))
        end: Any = None
        # a batch is read after the next one has started: the GPU computes while results are copied
        for (rows, (summed, counted)), _ in pairwise(chain(batches, [end])):
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
            counts = mask.sum(1, keepdims=True).astype(np.float32)
            return (hidden * real[:, :, None]).sum(1, dtype=torch.float32), counts


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
