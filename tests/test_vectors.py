"""Vectors in a KB: embedded against plain Python, walks against gensim, kills, damage, other people's vectors."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from namesake.encoders import load
from namesake.errors import NamesakeError
from namesake.kb.columns import Ragged
from namesake.kb.store import KB
from namesake.kb.vectors import make as embedding
from namesake.kb.vectors.make import embed, encoder_of, graph_of, joined, learn_vectors, walk
from namesake.kb.vectors.stored import FOLDER, open_vectors, wide
from namesake.linker import Linker
from namesake.progress import Reporter
from small_kb import writable
from small_vectors import write_words


@pytest.fixture
def bare(sample_kb, tmp_path) -> Path:
    """A KB of one's own, without vectors."""
    return Path(shutil.copytree(sample_kb.path, tmp_path / "kb"))


@pytest.fixture
def filled(vector_kb, tmp_path) -> Path:
    """A KB of one's own, with vectors."""
    return Path(shutil.copytree(vector_kb.path, tmp_path / "kb"))


# what embed writes
def test_embed_gives_an_entity_its_paragraph_else_the_mean_of_its_texts(vector_kb, oracle):
    encoder = encoder_of(vector_kb)
    opened = described = 0
    for row, qid in enumerate(vector_kb.qids.tolist()):
        entity = oracle.entities[f"Q{qid}"]
        texts = [entity.paragraph] if entity.paragraph else [entity.description, *oracle.value_texts(f"Q{qid}", False)]
        rows = encoder.encode(texts)
        rows = rows[rows.any(1)]
        expected = rows.mean(0) if len(rows) else np.zeros(encoder.dimension)
        assert vector_kb.text_vectors.entity(row) == pytest.approx(expected, abs=3e-3)
        opened += bool(entity.paragraph)
        described += not entity.paragraph
    assert opened >= 5
    assert described >= 50


def test_embed_gives_every_value_a_unit_vector(vector_kb):
    encoder, vectors = encoder_of(vector_kb), vector_kb.text_vectors
    without = 0
    for pair, value in enumerate(vector_kb.pair_value.tolist()):
        text = vector_kb.item_labels[value] if value >= 0 else vector_kb.strings[~value]
        [expected] = encoder.encode([text])
        row = int(vectors.pair_rows[pair])
        if not expected.any():
            assert row == -1
            without += 1
            continue
        assert vectors.value(row) == pytest.approx(expected / np.linalg.norm(expected), abs=1e-3)
    assert 0 < without < len(vector_kb.pair_value) / 2
    assert len(vectors.values) <= len(set(vector_kb.pair_value.tolist()))


def test_embed_encodes_each_text_once(bare, tmp_path):
    encoder = load(f"static:{write_words(tmp_path / 'words.txt')}")
    seen: list[str] = []

    class Counting:
        name, dimension, digest = encoder.name, encoder.dimension, encoder.digest

        def encode(self, texts):
            seen.extend(texts)
            return encoder.encode(texts)

    embed(bare, Counting())
    assert len(seen) == len(set(seen)) > 100
    assert "" not in seen
    KB.open(bare).verify()


def test_embed_goes_on_after_a_kill(bare, tmp_path, monkeypatch):
    """A process of its own is killed in the middle; the next run encodes the rest only, with the same result."""
    words = write_words(tmp_path / "words.txt")
    program = f"""
import os, signal
from namesake.kb.vectors import make as embedding
embedding.BLOCK = 50
class Killing(embedding.Reporter):
    blocks = 0
    def advance(self, fraction, count, unit="items"):
        self.blocks += 1
        if self.blocks == 3:
            os.kill(os.getpid(), signal.SIGKILL)
embedding.embed({str(bare)!r}, "static:{words}", reporter=Killing())
"""
    ran = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True)
    assert ran.returncode == -signal.SIGKILL, ran.stderr
    kb = KB.open(bare)
    kb.verify()  # what is left is no damage
    with pytest.raises(NamesakeError, match="has no text vectors: make them with `namesake kb embed"):
        _ = kb.text_vectors
    said: list[str] = []

    class Hearing(Reporter):
        def say(self, line: str) -> None:
            said.append(line)

    monkeypatch.setattr(embedding, "BLOCK", 50)
    embed(bare, f"static:{words}", reporter=Hearing())
    assert said == ["resuming after 150 texts that a stopped run encoded"]
    whole = Path(shutil.copytree(bare, tmp_path / "whole"))
    shutil.rmtree(whole / FOLDER)
    embed(whole, f"static:{words}")
    for name in ("entity.vector.npy", "value.vector.npy", "pair.vector.npy"):
        assert (whole / FOLDER / "text" / name).read_bytes() == (bare / FOLDER / "text" / name).read_bytes()


def test_embed_by_another_encoder_does_not_go_on_with_its_texts(bare, tmp_path):
    one, other = write_words(tmp_path / "one.txt"), write_words(tmp_path / "other.txt", seed=4)

    class Stopped(Reporter):
        def advance(self, fraction, count, unit="items") -> None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed(bare, f"static:{one}", reporter=Stopped())
    embed(bare, f"static:{other}")
    assert encoder_of(KB.open(bare)).name == f"static:{other}"


def test_embed_replaces_vectors_with_force_only(filled, tmp_path):
    words = write_words(tmp_path / "words.txt", seed=9)
    with pytest.raises(NamesakeError, match="has text vectors already: replace them with `force=True`"):
        embed(filled, f"static:{words}")
    before = KB.open(filled).text_vectors.entity(3)
    embed(filled, f"static:{words}", force=True)
    assert (KB.open(filled).text_vectors.entity(3) != before).any()
    assert {path.name for path in (filled / FOLDER).iterdir()} == {"text", "walk"}


def test_embed_refuses_an_encoder_whose_vectors_are_not_finite(bare):
    class Infinite:
        name, dimension, digest = "infinite", 2, "sha256:0"

        def encode(self, texts):
            return np.full((len(texts), 2), 1e9, np.float32)

    with pytest.raises(NamesakeError, match="infinite made a vector that is not finite, or too large"):
        embed(bare, Infinite())
    assert not (bare / FOLDER / "text").exists()


def test_a_second_run_at_the_same_time_is_refused(bare, tmp_path):
    class Again(Reporter):
        def advance(self, fraction, count, unit="items") -> None:
            with pytest.raises(NamesakeError, match=r"text\.building: another process is at work there"):
                embed(bare, f"static:{words}")

    words = write_words(tmp_path / "words.txt")
    embed(bare, f"static:{words}", reporter=Again())
    KB.open(bare).verify()


# vectors that will not do
def test_vectors_of_another_kb_are_refused(filled, bare_other, tmp_path):
    shutil.copytree(filled / FOLDER, bare_other / FOLDER)
    with pytest.raises(NamesakeError, match="has the vectors of another KB"):
        Linker(bare_other, "cssve-paper").kb.text_vectors  # noqa: B018
    with pytest.raises(NamesakeError, match="has the vectors of another KB"):
        KB.open(bare_other).verify()


@pytest.fixture
def bare_other(tmp_path) -> Path:
    from namesake.kb.build import build
    from namesake.sample import DUMP

    build([DUMP], tmp_path / "other", keep="people")
    return tmp_path / "other"


def test_vectors_of_an_encoder_that_changed_are_refused(filled, articles):
    words = filled.parent / "words.txt"
    path = filled / FOLDER / "text"
    embed(filled, f"static:{write_words(words)}", force=True)
    assert encoder_of(KB.open(filled)).name == f"static:{words}"
    write_words(words, seed=5)
    with pytest.raises(NamesakeError, match="has changed since it made the KB's text vectors"):
        Linker(filled, "cse-paper").link(articles)
    words.unlink()
    with pytest.raises(NamesakeError, match="cannot read word vectors there"):
        Linker(filled, "cse-paper").link(articles)
    Linker(filled, "cssve-paper").link(articles)  # needs the vectors alone
    assert path.is_dir()


DAMAGE = {
    "NaN": lambda raw: raw[:-2] + np.array([np.nan], np.float16).tobytes(),
    "infinity": lambda raw: raw[:-2] + np.array([np.inf], np.float16).tobytes(),
    "one bit": lambda raw: raw[:-1] + bytes([raw[-1] ^ 1]),
    "short": lambda raw: raw[:-48],
    "header": lambda raw: b"x" + raw[1:],
    "nothing": lambda raw: b"",
}


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("name", ["entity.vector.npy", "value.vector.npy"])
def test_damaged_vectors_are_refused(filled, how, name):
    file = filled / FOLDER / "text" / name
    writable(file).write_bytes(DAMAGE[how](file.read_bytes()))
    kb = KB.open(filled)
    with pytest.raises(NamesakeError, match=rf"{name}.*make them again with `namesake kb embed .* --force`"):
        _ = kb.text_vectors
    with pytest.raises(NamesakeError, match=name):
        kb.verify()


def test_damaged_rows_and_manifests_of_vectors_are_refused(filled):
    pairs = filled / FOLDER / "text" / "pair.vector.npy"
    raw = pairs.read_bytes()
    writable(pairs).write_bytes(raw[:-4] + np.array([10**6], np.int32).tobytes())
    with pytest.raises(NamesakeError, match="names rows that do not exist"):
        open_vectors(KB.open(filled), "text")
    writable(pairs).write_bytes(raw)
    manifest = filled / FOLDER / "text" / "manifest.json"
    fields = json.loads(manifest.read_text())
    for change in ({"dimension": 12}, {"kb": "sha256:0"}, {"entities": 5}):
        writable(manifest).write_text(json.dumps(fields | change))
        with pytest.raises(NamesakeError, match="is damaged"):
            open_vectors(KB.open(filled), "text")
    writable(manifest).write_text("[]")
    with pytest.raises(NamesakeError, match="is damaged"):
        open_vectors(KB.open(filled), "text")


def test_what_is_no_vectors_is_no_part_of_the_kb(filled):
    (filled / FOLDER / "thesis.txt").write_text("mine")
    with pytest.raises(NamesakeError, match=r"thesis\.txt is no part of the KB's vectors"):
        KB.open(filled).verify()
    (filled / FOLDER / "thesis.txt").unlink()
    (filled / FOLDER / "walk" / "more.npy").write_text("mine")
    with pytest.raises(NamesakeError, match=r"more\.npy is no part of the KB's vectors"):
        KB.open(filled).verify()


@pytest.mark.parametrize("what", ["vectors", "vectors/text", "vectors/walk.building"])
@pytest.mark.parametrize("make", [lambda path: path.write_text("mine"), lambda path: path.symlink_to("nowhere")])
def test_a_file_in_the_place_of_vectors_is_named(bare, what, make):
    path = bare / what
    path.parent.mkdir(exist_ok=True)
    make(path)
    with pytest.raises(NamesakeError, match=rf"{what} is (not a folder and )?no part of the KB.*: remove it"):
        KB.open(bare).verify()
    if what != "vectors/text":
        with pytest.raises(NamesakeError, match=rf"{what} is in the way: remove it"):
            walk(bare)
    path.unlink()
    KB.open(bare).verify()


# walks
def test_the_graph_of_walks_has_every_statement_both_ways(sample_kb, oracle):
    graph = graph_of(sample_kb)
    number = {int(qid): row for row, qid in enumerate(sample_kb.item_qids.tolist())}
    edges = set()
    for qid in sample_kb.qids.tolist():
        for _, value in oracle.entities[f"Q{qid}"].statements:
            if value.startswith("Q:") and value != f"Q:Q{qid}":
                one, other = number[qid], number[int(value[3:])]
                edges |= {(one, other), (other, one)}
    got = [(node, int(n)) for node in range(len(number)) for n in graph[node]]
    assert len(got) == len(set(got))
    assert set(got) == edges


def test_walks_with_a_seed_are_the_same_and_with_another_differ(bare, tmp_path):
    def vectors(name: str, seed: int) -> np.ndarray:
        kb = Path(shutil.copytree(bare, tmp_path / name))
        walk(kb, dimensions=8, walks=2, seed=seed)
        return wide(KB.open(kb).walk_vectors.entities)

    one, same, other = vectors("one", 1), vectors("same", 1), vectors("other", 2)
    assert (one == same).all()
    assert (one != other).any()
    assert np.isfinite(one).all()


def communities(groups: int, size: int) -> tuple[Ragged, np.ndarray]:
    """Groups whose members know each other well, and few of the others."""
    random = np.random.default_rng(5)
    group = np.repeat(np.arange(groups), size)
    chance = np.where(group[:, None] == group[None, :], 0.3, 0.01)
    head, tail = np.nonzero(np.triu(random.random(chance.shape) < chance, 1))
    return joined(head.astype(np.int32), tail.astype(np.int32), groups * size), group


def purity(vectors: np.ndarray, group: np.ndarray) -> float:
    """The share of each node's five nearest that are of its group."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    near = unit @ unit.T
    np.fill_diagonal(near, -2)
    return float((group[np.argsort(-near, 1)[:, :5]] == group[:, None]).mean())


def test_walks_find_communities_as_well_as_gensim_does():
    import gensim.models as gensim

    graph, group = communities(6, 30)
    settings = {"dimensions": 16, "walks": 20, "length": 20, "window": 5, "negatives": 5}
    ours = learn_vectors(graph, settings, 1, Reporter())
    random = np.random.default_rng(1)
    sentences = []
    for node in np.tile(np.arange(len(group)), 20):
        path = [int(node)]
        while len(path) < 20:
            path.append(int(random.choice(graph[path[-1]])))
        sentences.append([str(at) for at in path])
    learned = gensim.Word2Vec(
        sentences, vector_size=16, window=5, negative=5, sg=1, min_count=0, sample=0, epochs=1, workers=1
    )
    theirs = np.stack([learned.wv[str(at)] for at in range(len(group))])
    assert purity(ours, group) > 0.8
    assert purity(ours, group) > purity(theirs, group) - 0.05


def test_walk_refuses_what_it_cannot_do(bare, tmp_path):
    with pytest.raises(NamesakeError, match="`window=0`: must be 1 or more"):
        walk(bare, window=0)
    walk(bare, dimensions=4, walks=1)
    with pytest.raises(NamesakeError, match="exists: replace it with `force=True`"):
        walk(bare, dimensions=4, walks=1)


def test_a_kb_with_vectors_is_not_replaced(filled):
    from namesake.kb.build import build
    from namesake.sample import DUMP

    with pytest.raises(NamesakeError, match="is not replaced, because vectors in it is not part of the KB"):
        build([DUMP], filled, keep="people", force=True)
    assert KB.open(filled).text_vectors.manifest.dimension == 24
