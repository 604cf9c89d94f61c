"""Word vectors and tiny models, made on the spot."""

import re
from pathlib import Path

import numpy as np

from namesake.sample import ARTICLES, DUMP, WIKIPEDIA

DIMENSION = 24


def sample_words() -> list[str]:
    """The words of the sample's articles, dump and first paragraphs, but for every twentieth: some are unknown."""
    text = "".join(path.read_text(encoding="utf-8") for path in (ARTICLES, DUMP, WIKIPEDIA))
    words = sorted({word.lower() for word in re.findall(r"[A-Za-z]{2,}", text)})
    return [word for at, word in enumerate(words) if at % 20]


def write_words(path: Path, seed: int = 3) -> Path:
    """A file of random word vectors for the sample."""
    words = sample_words()
    random = np.random.default_rng(seed)
    with path.open("w", encoding="utf-8") as file:
        file.write(f"{len(words)} {DIMENSION}\n")
        for word in words:
            file.write(f"{word} {' '.join(f'{x:.4f}' for x in random.normal(size=DIMENSION))}\n")
    return path


def write_tokenizer(folder: Path, words: list[str], **options):
    """A tokenizer of whole words, saved in a folder; unknown words are <unk>."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    vocabulary = {token: at for at, token in enumerate([*special, *words])}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    inner.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    names = {"bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=inner, **names, **options)
    tokenizer.save_pretrained(folder)
    return tokenizer


def write_bart(folder: Path, words: list[str], positions: int = 32):
    """A BART of two layers with random weights, saved in a folder with its tokenizer."""
    import torch
    from transformers import BartConfig, BartModel

    tokenizer = write_tokenizer(folder, words, model_max_length=positions)
    torch.manual_seed(7)
    config = BartConfig(**_shape(len(tokenizer), positions))
    model = BartModel(config).eval()
    model.save_pretrained(folder)
    return model, tokenizer


def write_mbart(folder: Path, words: list[str], positions: int = 64):
    """An mBART of two layers with random weights large enough to have opinions, saved with its tokenizer."""
    import torch
    from transformers import MBartConfig, MBartForConditionalGeneration

    tokenizer = write_tokenizer(folder, words, model_max_length=positions)
    torch.manual_seed(11)
    config = MBartConfig(**_shape(len(tokenizer), positions), decoder_start_token_id=2, init_std=0.4)
    model = MBartForConditionalGeneration(config).eval()
    model.save_pretrained(folder)
    return model, tokenizer


def _shape(vocabulary: int, positions: int) -> dict[str, int]:
    return {
        "vocab_size": vocabulary,
        "max_position_embeddings": positions,
        "d_model": 32,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
        "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64,
        "pad_token_id": 1,
        "bos_token_id": 0,
        "eos_token_id": 2,
    }
