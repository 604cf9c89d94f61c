"""How fast encoders and mGENRE are on a GPU, with random weights of the true size: speed does not depend on them.

Needs numpy, torch and transformers only: `python benchmarks/neural.py`. Without a GPU it runs tiny models, to show that
it runs.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from namesake.encoders.mgenre import MGenre, Question, Tree
from namesake.encoders.transformer import Model, Transformer

CANDIDATES = {2: 245, 3: 98, 4: 53, 5: 26, 6: 32, 7: 21, 8: 7, 9: 9, 10: 6, 11: 11, 12: 6, 13: 2, 14: 3, 15: 4, 17: 4}
CANDIDATES |= {18: 2, 19: 8, 20: 2, 21: 1, 23: 2, 25: 1, 33: 1, 40: 1, 257: 1}
"""How many of the 546 ambiguous mentions of the paper's 300 articles have so many candidates."""
SPANS = {1: 296, 2: 96, 3: 52, 4: 35, 5: 18, 6: 11, 7: 5, 8: 3, 9: 5, 10: 2, 11: 3, 12: 2, 13: 4, 15: 3, 16: 2, 20: 2}
SPANS |= {21: 1, 22: 2, 28: 1, 37: 1, 54: 1, 172: 1}
"""The same for spans."""
WORDS = (228, 338, 418, 508, 595, 706, 859, 997, 1230, 2041)
"""Words of the 300 articles: the 5th, 15th, … 95th of each hundred."""
TOKENS_PER_WORD = 1.3
KB_TEXTS = 46_202
"""Distinct texts of the slice's 545,610 entities: descriptions and values of statements, some five tokens each."""
CONTEXT = 128


def main() -> None:
    import torch

    device = "cuda" if torch.cuda.is_available() else "cpu"
    name = torch.cuda.get_device_name() if device == "cuda" else "CPU, tiny models: these are no figures"
    print(f"{name}; torch {torch.__version__}\n\n| what | figure |\n|---|---:|", flush=True)
    bart(device)
    mgenre(device)


def row(what: str, figure: str) -> None:
    print(f"| {what} | {figure} |", flush=True)


def loaded(kind: type, config: object, device: str) -> Model:
    """A model with random weights on the device, half precision on a GPU; its tokenizer is never asked."""
    import torch

    with torch.device(device):
        model = kind(config)
    model = model.to(torch.float16 if device == "cuda" else torch.float32).eval()
    model.config.use_cache = False
    tokenizer = SimpleNamespace(pad_token_id=1, model_max_length=1024)
    return Model("random", model, tokenizer, device, "random")


def shape(device: str, **true: int) -> dict[str, int]:
    tiny = {"d_model": 32, "encoder_ffn_dim": 64, "decoder_ffn_dim": 64, "encoder_layers": 1, "decoder_layers": 1}
    heads = {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "vocab_size": 1000}
    return true if device == "cuda" else true | tiny | heads


def seconds(device: str, work) -> tuple[float, float]:
    """How long the work takes, and the GiB of GPU memory that it takes at most."""
    import torch

    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
    began = time.perf_counter()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    taken = time.perf_counter() - began
    return taken, torch.cuda.max_memory_allocated() / 2**30 if device == "cuda" else 0.0


def bart(device: str) -> None:
    from transformers import BartConfig, BartModel

    wanted = shape(
        device,
        vocab_size=50_265,
        d_model=768,
        encoder_layers=6,
        decoder_layers=6,
        encoder_attention_heads=12,
        decoder_attention_heads=12,
        encoder_ffn_dim=3072,
        decoder_ffn_dim=3072,
    )
    encoder = Transformer("bart", loaded(BartModel, BartConfig(**wanted), device))
    random = np.random.default_rng(1)
    count = 6000 if device == "cuda" else 20
    sizes = (random.choice(WORDS, count) * random.uniform(0.9, 1.1, count) * TOKENS_PER_WORD).astype(int)
    vocabulary = wanted["vocab_size"]

    def texts(lengths: np.ndarray) -> list[list[int]]:
        return [random.integers(4, vocabulary, max(int(size), 2)).tolist() for size in lengths]

    encoder.pooled(texts(np.full(8, 1024)), range(8), 8)  # warm
    first = texts(np.minimum(sizes, 1024))
    taken, memory = seconds(device, lambda: encoder.pooled(first, range(count), count))
    row(
        f"bart-base, articles, first 1,024 tokens ({sum(map(len, first)) / count:.0f} on average)",
        f"{count / taken:,.0f}/s",
    )
    row("… tokens", f"{sum(map(len, first)) / taken:,.0f}/s")
    row("… GPU memory", f"{memory:.1f} GiB")
    chunks = [(at, min(1024, size - begin)) for at, size in enumerate(sizes) for begin in range(0, size, 1024)]
    whole, of_text = texts(np.array([size for _, size in chunks])), [at for at, _ in chunks]
    taken, _ = seconds(device, lambda: encoder.pooled(whole, of_text, count))
    row(f"bart-base, articles, whole in chunks ({sizes.mean():.0f} tokens on average)", f"{count / taken:,.0f}/s")
    short = texts(2 + random.poisson(5, KB_TEXTS if device == "cuda" else 500))
    taken, _ = seconds(device, lambda: encoder.pooled(short, range(len(short)), len(short)))
    row("bart-base, texts of a KB (7 tokens on average)", f"{len(short) / taken:,.0f}/s")
    row(f"… all {len(short):,} texts of the slice's entities", f"{taken:.1f} s")


def mgenre(device: str) -> None:
    from transformers import MBartConfig, MBartForConditionalGeneration

    wanted = shape(
        device,
        vocab_size=256_001,
        d_model=1024,
        encoder_layers=12,
        decoder_layers=12,
        encoder_attention_heads=16,
        decoder_attention_heads=16,
        encoder_ffn_dim=4096,
        decoder_ffn_dim=4096,
    )
    config = MBartConfig(**wanted, decoder_start_token_id=2, pad_token_id=1, eos_token_id=2)
    model = MGenre(loaded(MBartForConditionalGeneration, config, device))
    mentions = questions(wanted["vocab_size"])[: None if device == "cuda" else 5]
    asked = [question for mention in mentions for question in mention]
    model.answers(asked[:32])  # warm
    taken, memory = seconds(device, lambda: model.answers(asked))
    ambiguous = f"{len(mentions):,} mentions, {len(asked):,} spans"
    row(f"mGENRE, all titles, t = {CONTEXT}: {ambiguous}", f"{1000 * taken / len(mentions):.2f} ms a mention")
    row("…", f"{1000 * taken / len(asked):.2f} ms a span")
    row("… GPU memory", f"{memory:.1f} GiB")
    taken, _ = seconds(device, lambda: model.answers(asked, 10))
    row("mGENRE, beam search of 10", f"{1000 * taken / len(mentions):.2f} ms a mention")


def questions(vocabulary: int) -> list[list[Question]]:
    """For each mention a question for each of its spans: 2 × 128 tokens of text, titles that share the name."""
    random = np.random.default_rng(2)
    candidates = np.repeat(list(CANDIDATES), list(CANDIDATES.values()))
    spans = random.permutation(np.repeat(list(SPANS), list(SPANS.values())))
    mentions = []
    for count, places in zip(candidates.tolist(), spans.tolist(), strict=True):
        name, ending = random.integers(4, vocabulary, 4).tolist(), [5, 6, 7]
        titles = [name + ending]
        titles += [[*name, 8, *random.integers(4, vocabulary, 2).tolist(), 9, *ending] for _ in range(count - 1)]
        tree = Tree.of(titles, 2, 2)
        mentions.append(
            [Question(random.integers(4, vocabulary, 2 * CONTEXT + 10).tolist(), tree) for _ in range(places)]
        )
    return mentions


if __name__ == "__main__":
    main()
