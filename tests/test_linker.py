"""The linker: one row a mention, the same for any batch and any number of threads, whatever the tables look like."""

import datetime
import json
import shutil
import threading
import tomllib

import hypothesis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from namesake.articles import builder as cutting
from namesake.articles.article import FEW_NAMES, MOST_LENGTHS, Article, Mention, all_occurrences, occurrences
from namesake.articles.builder import ArticleBuilder
from namesake.articles.rejects import NoRejects, Rejects
from namesake.articles.schema import ARTICLES
from namesake.engines.file_linker import link_tables
from namesake.errors import NamesakeError
from namesake.formats import read_articles
from namesake.linker import Linker
from namesake.machine import MOST_FOR_A_CORE, cores
from namesake.recipe import Recipe
from namesake.sample import ARTICLES as SAMPLE_ARTICLES
from small_kb import writable

UNKNOWN = "Q999999999"
MENTIONS = ARTICLES.field("mentions").type
DOWNEY = "The council is now headed by Mary Downey. Downey, a singer, was elected in May."


def table_of(*articles: Article) -> pa.Table:
    builder = ArticleBuilder()
    for article in articles:
        builder.add(article)
    return builder.table()


def names_of(kb, name: str) -> list[str]:
    """The QIDs of everybody in the KB who bears a name."""
    return [f"Q{kb.qids[row]}" for row in kb.names.lookup(name)[0]]


@pytest.fixture(scope="module")
def articles() -> pa.Table:
    return pa.concat_tables(read_articles(SAMPLE_ARTICLES, Rejects()))


@pytest.fixture(scope="module")
def linker(sample_kb) -> Linker:
    return Linker(sample_kb, "uiscore-paper")


# the 300 articles of the paper and the KB of the slice
@pytest.fixture(scope="module")
def quotebank(shared) -> pa.Table:
    return pa.concat_tables(read_articles(shared / "quotebank" / "articles.jsonl.gz", Rejects()))


@pytest.fixture(scope="module")
def slice_linker(shared, tmp_path_factory) -> Linker:
    from namesake.kb.build import build

    folder = tmp_path_factory.mktemp("kb") / "slice"
    build([shared / "wikidata" / "slice.json.gz"], folder, keep="people")
    return Linker(folder, "uiscore-paper")


@pytest.fixture(scope="module")
def whole(slice_linker, quotebank) -> pa.Table:
    """The links of all articles in one piece, on one thread, with every score."""
    return slice_linker.link(quotebank, scores=True)


SLICE = pytest.mark.xdist_group("slice")


@SLICE
def test_rows_are_the_mentions_in_the_order_of_the_input(quotebank, whole):
    given = [(a["id"], m["name"], m["spans"]) for a in quotebank.to_pylist() for m in a["mentions"]]
    assert [(r["article_id"], r["name"], r["spans"]) for r in whole.to_pylist()] == given


@SLICE
def test_given_candidates_are_used_as_they_are(quotebank, whole):
    given = [m["candidates"] for a in quotebank.to_pylist() for m in a["mentions"]]
    assert [[c["qid"] for c in r["candidates"]] for r in whole.to_pylist()] == given


@SLICE
def test_the_best_candidate_is_first_by_score_then_by_the_recipes_tie_breaks(whole):
    """Python's own `max` over the scores that the output shows."""
    ties = 0
    for row in whole.to_pylist():
        keys = [k for k in ("PR_WP", "LQID") if k in row["candidates"][0]["parts"]]
        ordered = sorted(row["candidates"], key=lambda c: (c["score"], *(c["parts"][k] for k in keys)), reverse=True)
        assert row["qid"] == row["best"] == ordered[0]["qid"]
        assert row["score"] == ordered[0]["score"]
        if len(ordered) == 1:
            assert row["margin"] is None
            assert row["tie_break"] is None
            continue
        assert row["margin"] == ordered[0]["score"] - ordered[1]["score"]
        deciding = [k for k in keys if ordered[0]["parts"][k] != ordered[1]["parts"][k]]
        assert row["tie_break"] == (deciding[0] if row["margin"] == 0 else None)
        ties += row["margin"] == 0
    assert ties > 10


@SLICE
@pytest.mark.parametrize("most", [1, 3, 64])
def test_same_links_for_any_batch_size(slice_linker, quotebank, whole, monkeypatch, most):
    monkeypatch.setattr(cutting, "MOST_ARTICLES", most)
    assert slice_linker.link(quotebank, scores=True).combine_chunks().equals(whole.combine_chunks())


@SLICE
def test_same_links_where_bytes_bound_the_pieces(slice_linker, quotebank, whole, monkeypatch):
    monkeypatch.setattr(cutting, "MOST_BYTES", 20_000)
    assert slice_linker.link(quotebank, scores=True).combine_chunks().equals(whole.combine_chunks())


@SLICE
@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("size", [7, 100])
def test_same_links_for_any_number_of_threads(slice_linker, quotebank, whole, threads, size):
    fresh = Linker(slice_linker.kb, slice_linker.recipe)
    tables = [quotebank.slice(at, size) for at in range(0, quotebank.num_rows, size)]
    done = list(link_tables(fresh, iter(tables), NoRejects(), threads, scores=True))
    assert [one.articles.num_rows for one in done] == [table.num_rows for table in tables]
    assert pa.concat_tables([one.links for one in done]).combine_chunks().equals(whole.combine_chunks())


@SLICE
def test_what_a_lexicon_remembers_changes_nothing(slice_linker, quotebank, whole):
    """Articles backwards, one at a time, on a lexicon that has seen them all."""
    backwards = [slice_linker.link(quotebank.slice(at, 1), scores=True) for at in reversed(range(quotebank.num_rows))]
    assert pa.concat_tables(backwards[::-1]).combine_chunks().equals(whole.combine_chunks())


@SLICE
@pytest.mark.parametrize("recipe", ["uiscore-paper", "default"])
def test_same_links_for_any_batch_where_names_are_found(slice_linker, quotebank, recipe):
    """Raw text, and the recipe whose second pass and probabilities look at whole articles."""
    raw = quotebank.set_column(
        quotebank.schema.get_field_index("mentions"), quotebank.schema.field("mentions"), pa.nulls(300, MENTIONS)
    )
    mixed = pa.concat_tables([raw.slice(0, 150), quotebank.slice(150)])
    linker = Linker(slice_linker.kb, recipe)
    whole = linker.link(mixed, scores=True)
    assert whole.num_rows > 1000
    singly = [linker.link(mixed.slice(at, 1), scores=True) for at in range(mixed.num_rows)]
    assert pa.concat_tables(singly).combine_chunks().equals(whole.combine_chunks())
    shuffled = [linker.link(mixed.slice(at, 40), scores=True) for at in reversed(range(0, 300, 40))]
    assert pa.concat_tables(shuffled[::-1]).combine_chunks().equals(whole.combine_chunks())


def test_pieces_are_bounded_by_text_and_candidates(monkeypatch):
    crowd = [Mention("a", [], [f"Q{n}" for n in range(1, 1001)])]
    few = [Article(str(n), "x" * 10) for n in range(5)]
    table = table_of(*few, *(Article(str(n), "x", mentions=crowd) for n in range(5, 9)), Article("9", "x" * 10**6))
    monkeypatch.setattr(cutting, "MOST_BYTES", 250_000)
    sizes = [piece.num_rows for piece in cutting.pieces(table)]
    assert sizes == [5, 2, 2, 1]  # without mentions, with (1,000 candidates weigh 100,000), and without
    assert [r for piece in cutting.pieces(table) for r in piece.column("id").to_pylist()] == [*"0123456789"]


# tables of any shape
def test_sliced_chunked_and_copied_tables_are_the_same(linker, articles):
    whole = linker.link(articles, scores=True)
    chunked = pa.concat_tables([articles.slice(at, 2) for at in range(0, articles.num_rows, 2)])
    assert chunked.column("text").num_chunks > 1
    assert linker.link(chunked, scores=True).equals(whole)
    copied = pa.Table.from_pylist(articles.to_pylist(), ARTICLES)
    assert linker.link(copied, scores=True).equals(whole)
    middle = [row for row in whole.to_pylist() if row["article_id"] in articles.slice(3, 4).column("id").to_pylist()]
    assert linker.link(articles.slice(3, 4), scores=True).to_pylist() == middle
    assert linker.link(chunked.slice(3, 4), scores=True).to_pylist() == middle


def test_a_table_by_others_with_the_needed_columns_only(linker, articles):
    """64-bit numbers, plain lists, plain strings, columns missing or in another order."""
    rows = [
        {"mentions": a["mentions"], "text": a["text"], "id": a["id"], "date": a["date"]} for a in articles.to_pylist()
    ]
    theirs = pa.Table.from_pylist(rows)
    assert theirs.schema.field("text").type == pa.string()
    assert linker.link(theirs).equals(linker.link(articles))


def test_null_mentions_spans_and_candidates_between_others(linker, sample_kb):
    mary = Mention("Mary Downey", [(29, 40)])
    mixed = table_of(
        Article("none", "Nobody here."),
        Article("empty", "Nobody here.", mentions=[]),
        Article("asked", DOWNEY, mentions=[mary]),
        Article("given", DOWNEY, mentions=[Mention("Mary Downey", [(29, 40)], ["Q42", "Q43"]), mary]),
    )
    rows = mixed.to_pylist()
    rows[3]["mentions"][1]["spans"] = None
    links = linker.link(pa.Table.from_pylist(rows, ARTICLES), scores=True).to_pylist()
    assert [link["article_id"] for link in links if link["article_id"] in ("asked", "given")] == [
        "asked",
        "given",
        "given",
    ]
    given = [link for link in links if link["article_id"] == "given"]
    assert [c["qid"] for c in given[0]["candidates"]] == ["Q42", "Q43"]
    assert [c["parts"]["NIScore"] for c in given[1]["candidates"]] == [0.0] * len(given[1]["candidates"])


def test_a_null_slipped_under_a_null_list_does_not_shift_the_others(linker):
    """Arrow allows values under a null list; they are not the next mention's."""
    table = table_of(
        Article("a", DOWNEY, mentions=[Mention("Mary Downey", [(29, 40)], ["Q1", "Q2"])]),
        Article("b", DOWNEY, mentions=[Mention("Mary Downey", [(29, 40)], ["Q3"])]),
    )
    mentions = table.column("mentions").chunk(0)
    masked = pa.ListArray.from_arrays(
        mentions.offsets, mentions.values, type=mentions.type, mask=pa.array([True, False])
    )
    hidden = table.set_column(table.schema.get_field_index("mentions"), table.schema.field("mentions"), masked)
    assert [(r["article_id"], r["qid"]) for r in linker.link(hidden).to_pylist() if r["qid"]][-1] == ("b", "Q3")


def test_nothing_in_nothing_out(linker):
    for scores in (False, True):
        empty = linker.link(ARTICLES.empty_table(), scores)
        assert empty.num_rows == 0
        assert empty.schema == linker.empty_links(scores).schema
        assert empty.schema == linker.link(table_of(Article("a", DOWNEY, mentions=[])), scores).schema


# candidates
def test_candidates_come_from_the_kbs_names_where_none_are_given(linker, articles, sample_kb):
    links = linker.link(articles, scores=True).to_pylist()
    several = 0
    for link in links:
        assert {c["qid"] for c in link["candidates"]} == set(names_of(sample_kb, link["name"]))
        several += len(link["candidates"]) > 1
    assert several > 10


def test_no_candidates_is_nobody_with_a_reason(linker):
    nobody = Mention("Mary Downey", [(29, 40)], [])
    unheard = Mention("Xyzzy Qwertyuiop", [(0, 3)])
    for mention in (nobody, unheard):
        [link] = linker.link(table_of(Article("a", DOWNEY, mentions=[mention])), scores=True).to_pylist()
        assert link["candidates"] == []
        assert link["reason"] == "no candidates"
        for column in ("qid", "best", "score", "margin", "tie_break", "confidence"):
            assert link[column] is None


def test_unknown_qids_are_kept_and_score_nothing(linker, sample_kb):
    known = names_of(sample_kb, "Michael Jordan")
    mixed = [UNKNOWN, *known, "Q999999998"]
    text = "The basketball player Michael Jordan met the scientist."
    table = table_of(Article("a", text, mentions=[Mention("Michael Jordan", [(22, 36)], mixed)]))
    [link] = linker.link(table, scores=True).to_pylist()
    assert [c["qid"] for c in link["candidates"]] == mixed
    for candidate in (link["candidates"][0], link["candidates"][-1]):
        parts = candidate["parts"]
        assert candidate["score"] == parts["IScore"] == parts["NIScore"] == parts["EEIScore"] == 0
    assert link["qid"] in known
    [only] = linker.link(table_of(Article("a", text, mentions=[Mention("M J", [], [UNKNOWN])]))).to_pylist()
    assert only["qid"] == UNKNOWN


def test_an_unknown_anchor_is_no_anchor(linker, sample_kb):
    known = names_of(sample_kb, "Michael Jordan")
    text = "Michael Jordan met John Doe."
    pair = [Mention("Michael Jordan", [(0, 14)], known), Mention("John Doe", [(19, 27)], [UNKNOWN])]
    links = linker.link(table_of(Article("a", text, mentions=pair)), scores=True).to_pylist()
    assert [c["parts"]["EEIScore"] for c in links[0]["candidates"]] == [0.0] * len(known)


# bad articles
BAD = {
    "reversed span": Mention("Mary Downey", [(40, 29)], ["Q1"]),
    "span past the end": Mention("Mary Downey", [(29, 4000)], ["Q1"]),
    "negative span": Mention("Mary Downey", [(-3, 4)], ["Q1"]),
    "empty span": Mention("Mary Downey", [(4, 4)], ["Q1"]),
    "no QID": Mention("Mary Downey", [(29, 40)], ["Q1", "Mary"]),
    "property": Mention("Mary Downey", [(29, 40)], ["P31"]),
}


@pytest.mark.parametrize("mention", BAD.values(), ids=BAD)
def test_a_bad_article_is_set_aside_and_the_others_linked(linker, mention):
    good = Article("good", DOWNEY, mentions=[Mention("Mary Downey", [(29, 40)], ["Q7"])])
    table = table_of(good, Article("bad", DOWNEY, mentions=[mention]), Article("last", DOWNEY, mentions=good.mentions))
    rejects = Rejects()
    links = linker.link(table, rejects=rejects).to_pylist()
    assert [(link["article_id"], link["qid"]) for link in links] == [("good", "Q7"), ("last", "Q7")]
    [reject] = rejects.first
    assert reject.article_id == "bad"
    assert "Mary Downey" in reject.reason
    with pytest.raises(NamesakeError, match=r"article bad: .*Mary Downey"):
        linker.link(table)


def test_overlapping_spans_count_their_sentence_once(linker, sample_kb):
    text = "The basketball player Michael Jordan spoke. Basketball is over."
    ids = names_of(sample_kb, "Michael Jordan")

    def narrow(spans: list[tuple[int, int]]) -> list[float]:
        table = table_of(Article("a", text, mentions=[Mention("Michael Jordan", spans, ids)]))
        [link] = linker.link(table, scores=True).to_pylist()
        return [c["parts"]["NIScore"] for c in link["candidates"]]

    once = narrow([(22, 36)])
    assert max(once) > 0
    assert narrow([(22, 36), (22, 29), (30, 36), (22, 36)]) == once


# what made the links
def test_metadata_names_the_kb_and_the_recipe(linker, sample_kb):
    facts = json.loads(linker.metadata["kb"])
    assert facts["entities"] == len(sample_kb)
    assert facts["path"] == sample_kb.path.name
    assert Recipe.parse(linker.metadata["recipe"]) == linker.recipe
    assert tomllib.loads(linker.metadata["recipe"])["name"] == "uiscore-paper"


def test_a_path_and_a_recipes_name_make_a_linker(sample_kb, articles, linker):
    assert Linker(str(sample_kb.path), Recipe.load("uiscore-paper")).link(articles).equals(linker.link(articles))


# one text
def test_link_text_with_names(linker, sample_kb):
    text = "The basketball player Michael Jordan spoke. Michael Jordan scored."
    [link] = linker.link_text(text, ["Michael Jordan"], date="1996-01-01")
    assert link.spans == [(22, 36), (44, 58)]
    row = int(sample_kb.rows(np.array([int(link.qid[1:])]))[0])
    assert "basketball" in link.description == sample_kb.descriptions[row]
    assert link.label == "Michael Jordan"
    [same] = linker.link_text(text, [Mention("Michael Jordan", [(22, 36), (44, 58)])], date="1996-01-01")
    assert same == link


def test_link_text_finds_the_names_where_none_are_given(linker):
    """The full name and its short form are two mentions of one entity."""
    found = linker.link_text("The basketball player Michael Jordan spoke. Then Jordan left, and Michael Jordan came.")
    assert [(link.name, link.spans) for link in found] == [
        ("Michael Jordan", [(22, 36), (66, 80)]),
        ("Jordan", [(49, 55)]),
    ]
    assert all("basketball" in link.description for link in found)
    assert linker.link_text("Nobody spoke.") == []


def test_names_in_a_title_are_linked_and_marked_as_such(linker):
    title, text = "Michael Jordan leaves", "The basketball player spoke. Then Jordan left."
    link, short = linker.link_text(text, title=title)
    assert (link.name, link.spans, link.title_spans) == ("Michael Jordan", [], [(0, 14)])
    assert (short.name, short.spans, short.title_spans) == ("Jordan", [(34, 40)], [])
    assert short.qid == link.qid
    assert "basketball" in link.description
    [only] = linker.link_text("The basketball player spoke.", title=title)
    assert (only.spans, only.title_spans, only.qid) == ([], [(0, 14)], link.qid)
    [given] = linker.link_text(text, ["Jordan"], title=title)
    assert (given.spans, given.title_spans) == ([(34, 40)], [])
    assert linker.link_text("The player spoke.", title="\ud800") == []
    with pytest.raises(TypeError, match="title must be a text"):
        linker.link_text(text, title=3)


def test_a_title_changes_no_score_of_given_mentions(linker, articles):
    place = articles.schema.get_field_index("title")
    untitled = articles.set_column(place, articles.schema.field(place), pa.nulls(len(articles), pa.string()))
    assert articles.column("title").null_count < len(articles)
    assert linker.link(untitled, scores=True).equals(linker.link(articles, scores=True))


def test_explanations_name_the_place_of_a_name(linker):
    titled = table_of(Article("a", "The player left.", "Michael Jordan leaves"), Article("b", "Michael Jordan left."))
    places = {(r["article_id"], str(r["spans"]), str(r["title_spans"])) for r in linker.explain(titled).to_pylist()}
    assert places == {("a", "[]", "[[0, 14]]"), ("b", "[[0, 14]]", "None")}


def test_link_text_with_spans_and_candidates(linker):
    links = linker.link_text(DOWNEY, [Mention("Mary Downey", [(29, 40)], [UNKNOWN]), Mention("Nobody", [], [])])
    assert [(link.qid, link.label, link.description) for link in links] == [(UNKNOWN, None, None), (None, None, None)]
    assert links[1].reason == "no candidates"


def test_link_text_of_odd_texts(linker):
    for text in ("", "\0", "\ud800 Mary Downey \ud800", "Mary Downey" * 2, "é" * 70 + " Mary Downey"):
        [link] = linker.link_text(text, ["Mary Downey"])
        assert [text[start:end] for start, end in link.spans] == ["Mary Downey"] * text.count("Mary Downey")
    assert linker.link_text("Mary Downey", []) == []
    [nameless] = linker.link_text("Mary Downey", [""])
    assert nameless.spans == []


def test_no_more_threads_are_started_than_cores_can_use(sample_kb, articles):
    tables = [articles.slice(i % articles.num_rows, 1) for i in range(40 * cores())]
    alive = [threading.active_count() for _ in link_tables(Linker(sample_kb), tables, NoRejects(), threads=5000)]
    assert max(alive) - threading.active_count() <= MOST_FOR_A_CORE * cores()


def test_a_date_may_be_a_date(linker):
    text = "Michael Jordan came."
    for given in (datetime.date(2016, 12, 26), datetime.datetime(2016, 12, 26, 8, 15)):
        assert linker.link_text(text, date=given) == linker.link_text(text, date="2016-12-26")
        assert linker.explain_text(text, date=given).table == linker.explain_text(text, date="2016-12-26").table


def test_a_linker_says_what_it_links_with(linker):
    assert repr(linker) == f"<Linker: 117 people of {linker.kb.path}, recipe uiscore-paper>"


def test_a_folder_may_be_under_the_home(linker, monkeypatch):
    monkeypatch.setenv("HOME", str(linker.kb.path.parent))
    assert Linker(f"~/{linker.kb.path.name}").kb.path == linker.kb.path
    with pytest.raises(NamesakeError, match="~nobody-of-this-name"):
        Linker("~nobody-of-this-name/kb")


NAMES = st.text("abAB é", max_size=6)


@hypothesis.given(st.lists(NAMES, max_size=30), st.text("abAB é", max_size=60), st.booleans())
def test_many_names_are_found_where_each_of_them_is(names, text, common):
    """One pass over the text for all names against one search for each."""
    more = [f"name {number}" for number in range(FEW_NAMES)]  # so many that one pass is worth it
    more += [f"com{'m' * number}on" for number in range(MOST_LENGTHS + 1)] if common else []
    text = f"{text} {'comm' * 20}on name 12 {text} common name 7name 199 {text}"
    expected = {name: list(occurrences(name, text)) for name in [*names, *more]}
    assert all_occurrences([*names, *more], text) == expected


class CountedText(str):
    """A text that counts the characters that are looked at."""

    looked_at = 0

    def __getitem__(self, place):
        found = super().__getitem__(place)
        CountedText.looked_at += len(found)
        return found

    def find(self, name, *where):
        CountedText.looked_at += len(self)
        return super().find(name, *where)


def test_the_search_for_given_names_grows_with_the_text_no_faster():
    work = []
    for size in (1000, 4000):
        names = [f"Ann{number:05} Bee{number:05}" for number in range(size)]
        before = CountedText.looked_at
        all_occurrences(names, CountedText(", ".join(names)))
        work.append(CountedText.looked_at - before)
    assert work[1] < 5 * work[0]


def test_a_kb_that_is_written_into_ends_linking(sample_kb, articles, tmp_path, monkeypatch):
    monkeypatch.setattr("namesake.kb.store.LOOKS_APART", -1.0)  # each call looks
    monkeypatch.setattr("namesake.kb.store.LOOKS_SHARE", float("inf"))
    shutil.copytree(sample_kb.path, tmp_path / "kb")
    linker = Linker(tmp_path / "kb")
    first = linker.link(articles)
    column = writable(tmp_path / "kb" / "entity.sitelinks.npy")
    assert linker.link(articles) == first  # other rights are no other content
    with column.open("r+b") as file:
        whole = file.read()
        file.seek(0)
        file.write(whole)
    for call in (linker.link, linker.explain, linker.scored):
        with pytest.raises(NamesakeError, match="was written to while the KB was in use: replace a KB as a whole"):
            call(articles)
