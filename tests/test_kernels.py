"""Kernels of overlap, ranking and QIDs against Python's own sets, sorts and strings."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake import rank
from namesake.kb.ids import Ids
from namesake.kernels.link.anchor_statements import shared_statements
from namesake.kernels.link.candidate_tables import parse_qids, top_two
from namesake.kernels.link.contexts import Runs, narrow_contexts
from namesake.kernels.link.word_sums import overlap
from namesake.kernels.types import Ragged
from namesake.scorers.word_overlap import gather_features

pytestmark = pytest.mark.kernel

VOCABULARY = 12
WORDS = st.integers(0, VOCABULARY - 1)
WEIGHT = 2.0 ** np.arange(VOCABULARY)  # sums of distinct powers tell which words were counted
SETS = st.frozensets(WORDS, max_size=8)


def csr(rows, dtype=np.int32):
    """Lists as a ragged array."""
    lists = [sorted(row) if isinstance(row, set | frozenset) else list(row) for row in rows]
    indptr = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return Ragged(indptr, np.array([x for row in lists for x in row], dtype))


@given(
    entities=st.lists(SETS, min_size=1, max_size=4),
    articles=st.lists(
        st.tuples(
            st.lists(WORDS, max_size=10),
            st.lists(st.tuples(SETS, st.lists(st.integers(-1, 3), max_size=4)), max_size=4),
        ),
        max_size=3,
    ),
)
def test_overlap_is_set_intersection_without_the_name(entities, articles):
    mentions = [(a, name, rows) for a, (_, ms) in enumerate(articles) for name, rows in ms]
    rows = [[min(r, len(entities) - 1) for r in candidates] for _, _, candidates in mentions]
    context = np.array([a for a, _, _ in mentions], np.int64)
    texts = csr([text for text, _ in articles])
    got = overlap(
        WEIGHT,
        texts,
        context,
        Runs(np.arange(len(articles) + 1), np.column_stack([texts.indptr[:-1], texts.indptr[1:]])),
        context,
        csr([name for _, name, _ in mentions]),
        *csr(rows, np.int64),
        csr(entities),
    )
    want = [
        sum(WEIGHT[w] for w in (set(articles[a][0]) & entities[row]) - name) if row >= 0 else 0
        for (a, name, _), candidates in zip(mentions, rows, strict=True)
        for row in candidates
    ]
    assert got.tolist() == want


@given(st.data())
def test_narrow_context_is_the_sentences_that_hold_a_span(data):
    size = data.draw(st.integers(1, 40))
    bounds = sorted({0, *data.draw(st.lists(st.integers(1, size), max_size=4))} - {size})
    starts = sorted(data.draw(st.sets(st.integers(0, size - 1), max_size=10)))
    span = st.integers(0, size - 1).flatmap(lambda a: st.tuples(st.just(a), st.integers(a + 1, size)))
    mentions = data.draw(st.lists(st.lists(span, max_size=3), max_size=3))
    span_indptr = np.cumsum([0, *map(len, mentions)]).astype(np.int64)
    spans = np.array([s for m in mentions for s in m], np.int32).reshape(-1, 2)
    one = np.array([0, len(starts)], np.int64)
    context, indptr, runs = narrow_contexts(
        one, np.array(starts, np.int32), np.array([0, len(bounds)], np.int64), np.array(bounds, np.int32),
        np.zeros(len(mentions), np.int64), span_indptr, spans,
    )  # fmt: skip
    ends = [*bounds[1:], size]
    for m, mention in enumerate(mentions):
        held = [(b, e) for b, e in zip(bounds, ends, strict=True) if any(s < e and t > b for s, t in mention)]
        want = [k for k, at in enumerate(starts) if any(b <= at < e for b, e in held)]
        mine = runs[indptr[context[m]] : indptr[context[m] + 1]].tolist()
        assert [k for begin, end in mine for k in range(begin, end)] == want
    assert len(indptr) <= len(mentions) + 1


@given(
    text=st.lists(WORDS, min_size=1, max_size=30),
    entities=st.lists(SETS, min_size=1, max_size=3),
    mentions=st.lists(
        st.tuples(SETS, st.sets(st.integers(0, 29), max_size=8), st.lists(st.integers(-1, 2), max_size=2)), max_size=6
    ),
)
def test_overlap_looks_words_up_where_contexts_are_many_and_long(text, entities, mentions):
    """Contexts of a text of 50 times the words, enough of them that not all are marked: the answer is the same."""
    long, mentions = text * 50, mentions * 20
    bounds = [sorted(place * len(long) // 30 for place in places) for _, places, _ in mentions]
    runs = [list(zip(ends[::2], ends[1::2], strict=False)) for ends in bounds]
    offsets, rows = csr([[min(r, len(entities) - 1) for r in some] for _, _, some in mentions], np.int64)
    got = overlap(
        WEIGHT,
        csr([long]),
        np.zeros(len(mentions), np.int64),
        Runs(np.cumsum([0, *map(len, runs)]), np.array([r for one in runs for r in one], np.int64).reshape(-1, 2)),
        np.arange(len(mentions)),
        csr([name for name, _, _ in mentions]),
        offsets,
        rows,
        csr(entities),
    )
    words = [{w for begin, end in one for w in long[begin:end]} for one in runs]
    want = [
        sum(WEIGHT[w] for w in (words[m] & entities[rows[k]]) - mentions[m][0]) if rows[k] >= 0 else 0
        for m in range(len(mentions))
        for k in range(offsets[m], offsets[m + 1])
    ]
    assert got.tolist() == want


@given(
    statements=st.lists(st.frozensets(st.integers(0, 30), max_size=12), min_size=1, max_size=5),
    articles=st.lists(
        st.lists(st.tuples(st.lists(st.integers(-1, 4), max_size=3), st.integers(-1, 4)), max_size=5), max_size=3
    ),
    weighted=st.booleans(),
)
def test_shared_statements_are_those_of_the_other_anchors(statements, articles, weighted):
    last = len(statements) - 1
    clipped = [[([min(r, last) for r in rows], min(anchor, last)) for rows, anchor in article] for article in articles]
    offsets, rows = csr([rows for article in clipped for rows, _ in article], np.int64)
    anchors = np.array([anchor for article in clipped for _, anchor in article], np.int64)
    starts = np.cumsum([0, *map(len, clipped)]).astype(np.int64)
    counts = np.array([max(sum(pair in s for s in statements), 1) for pair in range(31)], np.int32)
    rarity = np.log(100 / counts) / np.log(100) if weighted else np.empty(0)
    got = shared_statements(starts, offsets, rows, anchors, *csr(statements), counts, rarity)
    want, by_chance = [], []
    made = max(sum(map(len, statements)), 1)

    def weight(pair):
        return rarity[pair] if weighted else 1.0

    for article in clipped:
        for rows, own in article:
            for row in rows:
                others = {anchor for _, anchor in article} - {own, row, -1}
                union = frozenset().union(*(statements[anchor] for anchor in others))
                shared = statements[row] & union if row >= 0 else frozenset()
                want.append(sum(map(weight, shared)))
                size = len(statements[row]) if row >= 0 else 0
                by_chance.append(size * sum(counts[pair] / made * weight(pair) for pair in union))
    assert got[0] == pytest.approx(want)
    assert got[1] == pytest.approx(by_chance)


@given(
    d=st.lists(SETS, min_size=3, max_size=3),
    p=st.lists(SETS, min_size=3, max_size=3),
    items=st.lists(st.tuples(SETS, SETS), min_size=2, max_size=2),
    strings=st.lists(SETS, min_size=2, max_size=2),
    pairs=st.lists(st.integers(-2, 1), min_size=4, max_size=4),
    statements=st.lists(st.frozensets(st.integers(0, 3)), min_size=3, max_size=3),
    rows=st.lists(st.integers(-1, 2), max_size=5),
    features=st.sets(st.sampled_from(["D", "P", "S", "S_A"]), min_size=1),
)
def test_gathered_words_are_the_union_of_the_features(d, p, items, strings, pairs, statements, rows, features):
    kb = SimpleNamespace(
        words=range(VOCABULARY),
        words_d=csr(d),
        words_p=csr(p),
        statements=csr(statements),
        pair_value=np.array(pairs, np.int32),
        words_item=csr([label for label, _ in items]),
        words_item_aliases=csr([aliases for _, aliases in items]),
        words_string=csr(strings),
    )
    indptr, words = gather_features(kb, np.array(rows, np.int64), features)
    for k, row in enumerate(rows):
        want = set()
        if row >= 0:
            want |= (d[row] if "D" in features else set()) | (p[row] if "P" in features else set())
            for value in (pairs[pair] for pair in statements[row] if features & {"S", "S_A"}):
                want |= strings[~value] if value < 0 else items[value][0]
                want |= items[value][1] if value >= 0 and "S_A" in features else set()
        got = words[indptr[k] : indptr[k + 1]].tolist()
        assert len(got) == len(set(got))
        assert set(got) == want


@given(
    st.lists(st.integers(0, 4), max_size=5).flatmap(
        lambda sizes: st.tuples(
            st.just(sizes),
            st.lists(st.lists(st.integers(0, 2), min_size=sum(sizes), max_size=sum(sizes)), min_size=1, max_size=3),
        )
    )
)
def test_top_two_agree_with_the_full_order(drawn):
    sizes, keys = drawn
    offsets = np.cumsum([0, *sizes]).astype(np.int64)
    columns = [np.array(key, np.float64) for key in keys]
    first, second, decided = top_two(offsets, np.stack(columns))
    order = rank.order(offsets, *columns)
    for m, size in enumerate(sizes):
        assert first[m] == (order[offsets[m]] if size > 0 else -1)
        assert second[m] == (order[offsets[m] + 1] if size > 1 else -1)
        differing = [k for k, key in enumerate(columns) if size > 1 and key[first[m]] != key[second[m]]]
        assert decided[m] == ((differing[0] if differing else len(columns)) if size > 1 else -1)


@given(st.lists(st.integers(1, 10**15) | st.text("Q0123456789x", max_size=20), max_size=8))
def test_qids_are_read_and_written(values):
    texts = [f"Q{v}" if isinstance(v, int) else v for v in values]
    raw = [t.encode() for t in texts]
    offsets = np.cumsum([0, *map(len, raw)]).astype(np.int64)
    numbers = parse_qids(np.frombuffer(b"".join(raw) + b" ", np.uint8), offsets)

    def number(text: str) -> int:
        digits = text[1:]
        good = text[:1] == "Q" and digits.isdigit() and digits[0] != "0" and len(digits) <= 17
        return int(digits) if good else -1

    assert numbers.tolist() == [number(t) for t in texts]
    assert Ids().texts(numbers).to_pylist() == [t if n >= 0 else None for t, n in zip(texts, numbers, strict=True)]
