"""CSE, NCSE, CSSVE, UCSE and Eigen against plain Python and numpy, and what they say in their defence."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from namesake.errors import NamesakeError
from namesake.kb.vectors.stored import wide
from namesake.kernels.vectors import widen
from namesake.linker import Linker
from namesake.recipe import Part, Recipe, recipes
from namesake.scorers.neural import distinct, encoder, theme
from namesake.settings import Neural
from namesake.text import sentences


def recipe(*scorers: str, **options) -> Recipe:
    return Recipe("test", tuple(Part(name) for name in scorers), **options)


def links_of(kb, articles, *scorers: str, **options) -> dict[str, list[dict]]:
    """The links of each article, with their candidates."""
    links = Linker(kb, recipe(*scorers, **options)).link(articles, scores=True).to_pylist()
    found: dict[str, list[dict]] = {}
    for link in links:
        found.setdefault(link["article_id"], []).append(link)
    return found


def cosine(one: np.ndarray, other: np.ndarray) -> float:
    lengths = np.linalg.norm(one) * np.linalg.norm(other)
    return float(one @ other / lengths) if lengths else -1.0


def row_of(kb, qid: str) -> int:
    return int(kb.rows(np.array([int(qid[1:])]))[0])


def test_cse_and_ncse_are_cosines_of_encoded_texts(vector_kb, articles):
    texts = dict(zip(articles.column("id").to_pylist(), articles.column("text").to_pylist(), strict=True))
    checked = 0
    for article, links in links_of(vector_kb, articles, "CSE", "NCSE").items():
        text = texts[article]
        for link in links:
            held = [text[a:b].strip() for a, b in sentences(text) if any(s < b and e > a for s, e in link["spans"])]
            whole, narrow = encoder(vector_kb).encode([text, " ".join(held)])
            for candidate in link["candidates"]:
                entity = wide(vector_kb.text_vectors.entities[row_of(vector_kb, candidate["qid"])])
                assert candidate["parts"]["CSE"] == pytest.approx(cosine(whole, entity), abs=1e-5)
                assert candidate["parts"]["NCSE"] == pytest.approx(cosine(narrow, entity), abs=1e-5)
                checked += 1
    assert checked > 100


def values_of(kb, oracle, qid: str) -> dict[tuple[str, str], np.ndarray]:
    """The unit vector of each statement's value that has one."""
    found = {}
    for name, value in oracle.entities[qid].statements:
        item = oracle.entities.get(value[2:])
        text = value[2:] if value.startswith("S:") else (item.label if item else "")
        [vector] = encoder(kb).encode([text])
        if vector.any():
            found[name, value] = vector / np.linalg.norm(vector)
    return found


@pytest.mark.parametrize("anchors", ["first", "all"])
def test_cssve_is_the_sum_over_all_pairs_of_statements(vector_kb, oracle, articles, anchors):
    positive = 0
    for links in links_of(vector_kb, articles, "CSSVE", anchors=anchors).values():
        alone = [(at, link["candidates"][0]["qid"]) for at, link in enumerate(links) if len(link["candidates"]) == 1]
        alone = alone[:1] if anchors == "first" else alone
        for at, link in enumerate(links):
            own = {qid for place, qid in alone if place == at}
            for candidate in link["candidates"]:
                union: dict[tuple[str, str], np.ndarray] = {}
                for _, qid in alone:
                    union |= values_of(vector_kb, oracle, qid) if qid not in {*own, candidate["qid"]} else {}
                mine = values_of(vector_kb, oracle, candidate["qid"])
                pairs = [u @ e for (p, _), u in union.items() for (q, _), e in mine.items() if p == q]
                assert candidate["parts"]["CSSVE"] == pytest.approx(sum(pairs), abs=0.01)
                positive += bool(pairs)
    assert positive > 30


def test_ucse_is_the_papers_sum_of_the_three(vector_kb, articles):
    links = Linker(vector_kb, "ucse-paper").link(articles, scores=True).to_pylist()
    for link in links:
        parts = [candidate["parts"] for candidate in link["candidates"]]
        smooth = sum(part["CSSVE"] + 1 for part in parts)
        for candidate, part in zip(link["candidates"], parts, strict=True):
            value = (part["CSSVE"] + 1) / smooth if smooth > 0 else 0
            expected = 0.45 * (part["CSE"] + 1) / 2 + 0.9 * (part["NCSE"] + 1) / 2 + 0.2 * value
            assert candidate["score"] == pytest.approx(expected)


# unknown is least
def test_who_is_unknown_wins_no_tie_by_a_zero(vector_kb, articles):
    from test_scorers import quotebank_like

    table = quotebank_like(articles, vector_kb)
    unknown = 0
    for links in links_of(vector_kb, table, "CSE", "NCSE", "CSSVE", "Eigen").values():
        for link in links:
            stranger = [c for c in link["candidates"] if c["qid"] == "Q999999999"]
            for candidate in stranger:
                unknown += 1
                for part, score in candidate["parts"].items():
                    assert score <= min(c["parts"][part] for c in link["candidates"]), part
                assert candidate["parts"]["CSE"] == candidate["parts"]["NCSE"] == -1
    assert unknown > 10


# eigen
vectors = st.integers(1, 12).flatmap(
    lambda n: st.integers(1, 12).flatmap(
        lambda d: st.tuples(
            arrays(np.float64, (n, d), elements=st.floats(-4, 4, width=16)),
            arrays(np.float64, n, elements=st.integers(0, 5).map(float)),
            st.integers(1, 5),
        )
    )
)


@given(vectors)
def test_eigen_is_numpys_singular_value_decomposition(given_rows):
    rows, weights, k = given_rows
    scores, share = theme(rows, weights, k)
    _, sigma, right = np.linalg.svd(rows * weights[:, None], full_matrices=False)
    sigma, right = sigma[:k], right[:k]
    lengths = np.linalg.norm(rows, axis=1)
    if sigma.sum() < 1e-9:
        assert np.abs(scores).max() < 1e-6
        return
    near = np.linalg.norm(rows @ right.T * sigma, axis=1) / sigma.sum()
    gap = (
        len(np.linalg.svd(rows * weights[:, None], compute_uv=False)) <= k or sigma[-1] - _next(rows, weights, k) > 1e-6
    )
    if gap:  # else the k-th direction is anybody's choice
        expected = np.divide(near, lengths, out=np.zeros(len(rows)), where=lengths > 0)
        assert scores == pytest.approx(expected, abs=1e-6)
        assert share.sum() == pytest.approx(1)
    assert np.isfinite(scores).all()


@given(st.lists(st.tuples(st.integers(-1, 4), st.integers(0, 3)), min_size=1, max_size=12), st.integers(1, 3))
def test_eigen_with_candidates_twice_is_that_of_all_rows(candidates, k):
    rows, weights = (np.array(column) for column in zip(*candidates, strict=True))
    held = np.random.default_rng(0).normal(size=(5, 4))
    single, place, own = distinct(rows, weights.astype(np.float64))
    near, _ = theme(held[single], own, k) if len(single) else (np.zeros(0), None)
    known = rows >= 0
    if not known.any() or not weights[known].any():
        return
    whole, sigma = held[rows[known]], np.linalg.svd(held[rows[known]] * weights[known, None], compute_uv=False)
    if k < len(sigma) and sigma[k - 1] - sigma[k] < 1e-6:
        return
    expected, _ = theme(whole, weights[known].astype(np.float64), k)
    assert np.append(near, 0)[place][known] == pytest.approx(expected, abs=1e-6)
    assert (np.append(near, 0)[place][~known] == 0).all()


def _next(rows: np.ndarray, weights: np.ndarray, k: int) -> float:
    return float(np.linalg.svd(rows * weights[:, None], compute_uv=False)[k])


@pytest.mark.parametrize(("name", "weight"), [("Eigen", "NS"), ("Eigen_IScore", "IScore")])
@pytest.mark.parametrize("source", ["walk", "text"])
def test_eigen_weighs_all_candidates_of_the_article(vector_kb, articles, name, weight, source):
    told = Neural(themes=3, themes_from=source)
    kept = vector_kb.walk_vectors if source == "walk" else vector_kb.text_vectors
    for links in links_of(vector_kb, articles, name, weight, neural=told).values():
        candidates = [c for link in links for c in link["candidates"]]
        if not candidates:
            continue
        rows = np.stack([kept.entity(row_of(vector_kb, c["qid"])) for c in candidates]).astype(np.float64)
        weights = np.array([c["parts"][weight] for c in candidates])
        _, sigma, right = np.linalg.svd(rows * weights[:, None], full_matrices=False)
        sigma, right = sigma[:3], right[:3]
        near = np.linalg.norm(rows @ right.T * sigma, axis=1)
        length = np.linalg.norm(rows, axis=1)
        bottom = length * sigma.sum()
        expected = np.divide(near, bottom, out=np.zeros(len(rows)), where=bottom > 0)
        assert [c["parts"][name] for c in candidates] == pytest.approx(expected, abs=1e-6)


# why
def test_neural_explanations_name_sentence_value_and_theme(vector_kb, articles):
    rows = Linker(vector_kb, recipe("CSE", "NCSE", "CSSVE", "Eigen")).explain(articles, "Chris Carter").to_pylist()
    text = dict(zip(articles.column("id").to_pylist(), articles.column("text").to_pylist(), strict=True))
    seen = set()
    for row in rows:
        if row["role"] != "part":
            continue
        sources = [source for match in row["matches"] for source in match["sources"]]
        seen |= {(row["part"], source["source"]) for source in sources}
        if row["part"] in {"CSE", "NCSE"}:
            [match] = row["matches"]
            [(start, end)] = match["spans"]
            shown = " ".join(text[row["article_id"]][start:end].split())
            assert sources[0]["value"].startswith(shown[:100])
            if row["part"] == "NCSE":
                assert "Carter" in shown
        if row["part"] == "CSSVE":
            for source in sources:
                assert source["anchor"].startswith("Q")
                assert re.search(r"\(-?\d\.\d\d\)$", source["value"])
    assert {("CSE", "sentence"), ("NCSE", "sentence"), ("CSSVE", "anchor"), ("Eigen", "theme")} <= seen


# what recipes say
def test_neural_settings_travel_with_the_recipe():
    told = recipe("Eigen", neural=Neural(themes=3, themes_from="walk", tokens=64, beam=10))
    assert Recipe.parse(told.toml()) == told
    assert Recipe.load("mgenre-paper").neural == Neural(tokens=128, beam=10)
    for wrong in ({"themes": 0}, {"tokens": 1000}, {"themes_from": "wlak"}, {"beam": -1}):
        with pytest.raises(NamesakeError, match=next(iter(wrong))):
            Neural(**wrong)
    with pytest.raises(NamesakeError, match="themes"):
        Recipe.parse('name = "x"\n[neural]\nthemes = 1.5\n[[parts]]\nscorer = "Eigen"\n')


def test_a_recipe_may_ask_for_vectors_that_are_not_there(sample_kb, vector_kb, articles, tmp_path):
    import shutil

    kb = shutil.copytree(vector_kb.path, tmp_path / "kb")
    shutil.rmtree(kb / "vectors" / "walk")
    Linker(kb, "eigen-paper").link(articles)  # of the texts, for want of others
    with pytest.raises(NamesakeError, match="has no walk vectors: make them with `namesake kb walk"):
        Linker(kb, recipe("Eigen", neural=Neural(themes_from="walk"))).link(articles)


@pytest.mark.kernel
@given(arrays(np.float16, (3, 5), elements=st.floats(-65504, 65504, width=16)))
def test_halves_are_widened_exactly(halves):
    row = np.empty(5, np.float32)
    compiled = getattr(widen, "compiled", widen)
    if compiled is widen:  # without the compiler it can be called on its own
        widen(halves.view(np.uint16), 1, row)
    else:
        _widened(halves.view(np.uint16), row)
    assert (row == halves[1].astype(np.float32)).all()


def _widened(bits: np.ndarray, row: np.ndarray) -> None:
    """Through a kernel that calls it: the mean of one text."""
    from namesake.kernels.vectors import means

    row[:] = means(np.array([0, 1]), np.array([1], np.int32), bits)[0]


def test_every_shipped_recipe_runs_on_a_kb_with_vectors_and_a_model(vector_kb, monkeypatch):
    monkeypatch.setenv("NAMESAKE_MGENRE", "somewhere")
    for name in recipes():
        Linker(vector_kb, name)


def test_the_default_with_vectors_is_the_default_with_two_cosines():
    base, more = Recipe.load("default"), Recipe.load("default+vectors")
    assert [part.scorer for part in more.parts[len(base.parts) :]] == ["CSE", "NCSE"]
    assert more.replace(parts=more.parts[: len(base.parts)], name="", description="") == base.replace(
        name="", description=""
    )
