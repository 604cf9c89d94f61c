"""mGENRE with a tiny mBART: trees of titles against the model's own forward, one step after the other."""

import numpy as np
import pytest

from namesake.encoders.mgenre import MGenre, Tree
from namesake.encoders.transformer import load_model
from namesake.errors import NamesakeError
from namesake.linker import Linker
from namesake.recipe import Part, Recipe
from namesake.sample import ARTICLES
from namesake.settings import Neural
from small_vectors import write_bart, write_mbart

WORDS = [
    "[START]",
    "[END]",
    ">>",
    "en",
    "Tim",
    "Wheeler",
    "(politician)",
    "(actor)",
    "Adam",
    "Smith",
    "economist",
    "of",
    "the",
    "and",
    "a",
    "in",
    "said",
    "city",
]
TITLES = ["Tim Wheeler >> en", "Tim Wheeler (politician) >> en", "Tim >> en", "Adam Smith >> en", "Tim Wheeler"]
TEXT = "the economist said a city in the Tim Wheeler and Adam Smith of the city said a of the and in"
SPANS = [(TEXT.index("Tim"), TEXT.index("Tim") + 11), (TEXT.index("Adam"), TEXT.index("Adam") + 10)]


@pytest.fixture(scope="module")
def mbart(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mbart")
    model, tokenizer = write_mbart(folder, WORDS)
    return folder, model, tokenizer


@pytest.fixture(scope="module")
def mgenre(mbart) -> MGenre:
    return MGenre(load_model(str(mbart[0]), "seq2seq", "cpu"))


def step_by_step(model, text: list[int], title: list[int]) -> list[float]:
    """The log-probability of each token of a title, each from a run of the whole model on what stands before it."""
    import torch

    logs = []
    for size in range(len(title)):
        with torch.inference_mode():
            out = model(input_ids=torch.tensor([text]), decoder_input_ids=torch.tensor([[2, *title[:size]]]))
        logs.append(torch.log_softmax(out.logits[0, -1], -1)[title[size]].item())
    return logs


def tokens(tokenizer, title: str) -> list[int]:
    return [*tokenizer(title, add_special_tokens=False)["input_ids"], 2]


def test_mgenre_scores_are_step_by_step_probabilities(mbart, mgenre):
    """Also those of a title that is the beginning of another, and of texts of different length in one batch."""
    _, model, tokenizer = mbart
    questions = [mgenre.question(TEXT, span, TITLES, size) for span in SPANS for size in (2, 8)]
    for question, answer in zip(questions, mgenre.answers(questions), strict=True):
        for title, likelihood in zip(TITLES, answer, strict=True):
            logs = step_by_step(model, list(question.text), tokens(tokenizer, title))
            assert likelihood == pytest.approx(np.exp(np.mean(logs)), rel=1e-4)


def beam_search(model, text: list[int], titles: list[list[int]], width: int) -> set[int]:
    """Beam search constrained to titles, the model asked anew at every step."""
    alive: list[tuple[float, list[int]]] = [(0.0, [])]
    found: list[list[int]] = []
    while alive and len(found) < width:
        longer = []
        for score, path in alive:
            allowed = sorted({t[len(path)] for t in titles if t[: len(path)] == path and len(t) > len(path)})
            longer += [(score + step_by_step(model, text, [*path, token])[-1], [*path, token]) for token in allowed]
        longer.sort(key=lambda one: -one[0])
        found += [path for _, path in longer[:width] if path in titles]
        alive = [one for one in longer[: 2 * width] if one[1] not in titles][:width]
    return {at for at, title in enumerate(titles) if title in found}


@pytest.mark.parametrize("width", [1, 2, 3, 10])
def test_mgenre_beam_search_finds_what_a_plain_one_finds(mbart, mgenre, width):
    _, model, tokenizer = mbart
    question = mgenre.question(TEXT, SPANS[0], TITLES, 8)
    [every], [some] = mgenre.answers([question]), mgenre.answers([question], width)
    expected = beam_search(model, list(question.text), [tokens(tokenizer, title) for title in TITLES], width)
    assert set(np.flatnonzero(some)) == expected
    assert all(some[at] == every[at] for at in expected)
    if width >= len(TITLES):
        assert (some == every).all()


def test_mgenre_reads_so_many_tokens_on_each_side(mbart, mgenre):
    tokenizer = mbart[2]
    for size in (1, 3, 100):
        words = TEXT.split()
        at = words.index("Tim")
        left, right = words[max(at - size, 0) : at], words[at + 2 : at + 2 + size]
        expected = tokenizer(" ".join([*left, "[START] Tim Wheeler [END]", *right]))["input_ids"]
        assert list(mgenre.question(TEXT, SPANS[0], TITLES, size).text) == expected


def test_a_tree_holds_shared_beginnings_once():
    tree = Tree.of([[5, 6, 7], [5, 6], [5, 8], [9]], begin=2, end=3)
    assert tree.tokens == [2, 5, 6, 7, 8, 9]
    assert [[tree.edges[at][1] for at in path] for path in tree.paths] == [[5, 6, 7, 3], [5, 6, 3], [5, 8, 3], [9, 3]]
    assert tree.sees()[3].tolist() == [True, True, True, True, False, False]


def test_mgenre_that_runs_out_of_memory_takes_less_at_a_time(mbart, monkeypatch):
    import torch

    model = MGenre(load_model(str(mbart[0]), "seq2seq", "cpu"))
    questions = [model.question(TEXT, span, TITLES, size) for span in SPANS for size in range(1, 10)]
    expected = model.answers(questions)
    model.budget, whole, sizes = 400, model._logs, []

    def limited(some):
        sizes.append(len(some))
        if len(some) > 5:
            raise torch.OutOfMemoryError
        return whole(some)

    monkeypatch.setattr(model, "_logs", limited)
    for got, want in zip(model.answers(questions), expected, strict=True):
        assert got == pytest.approx(want, rel=1e-4)
    assert max(sizes) > 5


def test_a_model_of_another_kind_is_no_mgenre(tmp_path):
    write_bart(tmp_path, WORDS)
    with pytest.raises(NamesakeError, match="is a model of the kind bart, and mGENRE is an mbart"):
        MGenre(load_model(str(tmp_path), "seq2seq", "cpu"))


def test_mgenre_as_a_scorer_sums_over_the_spans(sample_kb, articles, tmp_path, monkeypatch):
    words = [*WORDS[:4], *sorted(set(ARTICLES.read_text(encoding="utf-8").split()) - set(WORDS[:4]))[:400]]
    model, tokenizer = write_mbart(tmp_path, words, positions=128)
    monkeypatch.setenv("NAMESAKE_MGENRE", str(tmp_path))
    recipe = Recipe("test", (Part("mGENRE"),), neural=Neural(tokens=6))
    linker = Linker(sample_kb, recipe)
    texts = dict(zip(articles.column("id").to_pylist(), articles.column("text").to_pylist(), strict=True))
    untitled = checked = 0
    asking = MGenre(load_model(str(tmp_path), "seq2seq", "cpu"))
    links = linker.link(articles.slice(0, 4), scores=True).to_pylist()
    for link in links:
        for candidate in link["candidates"]:
            row = int(sample_kb.rows(np.array([int(candidate["qid"][1:])]))[0])
            title = sample_kb.titles[row]
            if not title:
                untitled += 1
                assert candidate["score"] == 0
                continue
            expected = 0.0
            for span in link["spans"]:
                question = asking.question(texts[link["article_id"]], tuple(span), [title], 6)
                logs = step_by_step(model, list(question.text), tokens(tokenizer, f"{title} >> en"))
                expected += np.exp(np.mean(logs))
            assert candidate["score"] == pytest.approx(expected, rel=1e-3)
            checked += 1
    assert checked >= 4
    explained = linker.explain(articles.slice(0, 1)).to_pylist()
    assert all(row["matches"][0]["sources"][0]["source"] == "title" for row in explained if row["role"] == "part")
    assert untitled + checked == sum(len(link["candidates"]) for link in links)
