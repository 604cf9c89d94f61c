"""A model of the transformers library with its tokenizer, from a folder, a package or the hub."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt

from namesake.errors import NamesakeError, lacking

PATIENCE = 5.0
"""Seconds to wait for the hub's first answer."""

T = TypeVar("T")
Use = Literal["encoder", "seq2seq"]


@dataclass(frozen=True)
class Model:
    """A loaded model, its source and its device."""

    where: str
    """The full path of a folder, or a name on the hub."""
    model: Any
    tokenizer: Any
    device: str
    digest: str
    """A digest of the stored weights and of the vocabulary."""


def load_model(where: str, use: Use, device: str | None = None) -> Model:
    """Load a model from a folder, a package or the hub; in half precision on a GPU.

    Args:
        where: the folder, the package or the name on the hub.
        use: `encoder`, or `seq2seq` for a model that generates text.
        device: `cpu` or `cuda`; default: the GPU if there is one.
    """
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
    """Yield batches of texts with what `run` returns; `fit(begin)` texts from `begin` on are within `encoder.budget`.

    The budget is halved if the GPU runs out of memory; an error if a single text is too much.
    """
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
    for location in (package.submodule_search_locations or ()) if package else ():
        for found in (Path(location) / "model", Path(location)):
            if (found / "config.json").is_file():
                return found
    return None


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
