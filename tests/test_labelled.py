"""Labelled text, from end to end: figures, intervals, misses, thresholds and fits, beside a slow and plain measure."""

import json
import math
import random
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import namesake
import oracle_people as oracle
from namesake import Linker, NamesakeError, Recipe
from namesake.analysis.evaluate import Corpus, link_text
from namesake.apps.cli.commands import app
from namesake.apps.cli.main import exit_message
from namesake.drawing.text import excerpt
from namesake.evaluation import text_figures as figures
from namesake.evaluation import tuning
from namesake.evaluation.fit_weights import few, learnable
from namesake.evaluation.gold import align, read_gold, read_scores
from namesake.evaluation.labelled_text import count_overlapping, read_corpora, read_corpus
from namesake.evaluation.measure import methods
from namesake.evaluation.text_figures import KINDS, Trade, fewest, thresholds
from namesake.kb.build import build
from namesake.kb.store import KB
from namesake.kinds import kinds
from namesake.recipe import Part
from namesake.sample import ARTICLES, DUMP, EXPECTED, WIKIPEDIA
from namesake.text import sentences
from small_gold import GOLD, gold_file, long_table


def write(path, documents):
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return path


def sampled_documents(seed: int) -> list[dict]:
    """The sample's articles with labels: who is meant, and by chance strangers, things and what is not judged."""
    rng = random.Random(seed)
    expected: dict = {}
    for row in map(json.loads, EXPECTED.read_text().splitlines()):
        expected.setdefault(row["id"], []).append((row["name"], row["qid"]))
    documents = []
    for article in map(json.loads, ARTICLES.read_text().splitlines()):
        text = article["text"]
        labels = [
            {"span": [at.start(), at.end()], "qid": qid}
            for name, qid in expected.get(article["id"], ())
            for part in {name, name.split()[-1]}
            for at in re.finditer(re.escape(part), text)
            if rng.random() < 0.8
        ]
        for at in re.finditer(r"[A-Z]\w+( [A-Z]\w+)?", text):
            label = {"span": [at.start(), at.end()], "qid": rng.choice([None, None, "Q999999999", "Q437267"])}
            label["type"] = rng.choice(["PER", "OTHER", "LOC", None])
            label["why"] = rng.choice([None, "nil", "unlinked"])
            label["nil_clean"], label["coref"] = rng.random() < 0.3, rng.random() < 0.2
            labels += [label] if rng.random() < 0.4 else []
        document = {"id": article["id"], "text": text, "date": article.get("date"), "labels": labels}
        if rng.random() < 0.3:
            document["evaluation_span"] = [0, len(text) // 2]
        documents.append(document)
    return documents


def plain_links(linker, documents):
    """For each document the spans found, with best candidate, confidence, and whether they may be answered."""
    found = []
    for document in documents:
        rows = linker.link_text(document["text"], date=document["date"])
        found.append([(span, r.best, r.confidence, r.qid is not None) for r in rows for span in r.spans])
    return found


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("seed", range(3))
def test_figures_are_those_of_the_plain_measure(sample_kb, tmp_path, seed, threshold):
    documents = sampled_documents(seed)
    path = write(tmp_path / "some.jsonl", documents)
    report = namesake.evaluate_text(labelled=[path], kb=sample_kb, threshold=threshold, samples=100)
    links = plain_links(Linker(sample_kb, threshold=0.0), documents)
    known = {f"Q{qid}" for qid in sample_kb.qids}
    wanted = oracle.measure(documents, links, threshold, known)
    got = {row["metric"]: row["value"] for row in report.rows}
    assert set(figures.FIGURES) <= set(got)
    for name, value in wanted.items():
        assert got[name] == pytest.approx(value), name
    gold = sum(label["qid"] in known for document in documents for label in oracle.judged_labels(document))
    assert {row["n"] for row in report.rows if row["metric"] == "recall"} == {gold}
    missed = sum(value for name, value in got.items() if name.startswith("missed"))
    assert missed == pytest.approx(1 - got["recall"])


def test_intervals_are_quantiles_over_drawn_documents(sample_kb, tmp_path):
    documents = sampled_documents(7)
    path, samples, seed = write(tmp_path / "some.jsonl", documents), 120, 5
    report = namesake.evaluate_text(labelled=[path], kb=sample_kb, samples=samples, seed=seed)
    links = plain_links(Linker(sample_kb, threshold=0.0), documents)
    known = {f"Q{qid}" for qid in sample_kb.qids}
    drawn = np.random.default_rng(seed).integers(len(documents), size=(samples, len(documents)), dtype=np.int32)
    plain = [oracle.measure([documents[d] for d in row], [links[d] for d in row], 0.5, known) for row in drawn]
    for row in report.rows:
        if row["metric"] in figures.FIGURES:
            values = [each[row["metric"]] for each in plain if each[row["metric"]] is not None]
            low, high = np.quantile(values, [0.025, 0.975])
            assert (row["low"], row["high"]) == pytest.approx((low, high)), row["metric"]


def test_the_mean_is_over_corpora(sample_kb, tmp_path):
    files = [write(tmp_path / f"c{seed}.jsonl", sampled_documents(seed)) for seed in range(3)]
    rows = namesake.evaluate_text(labelled=[tmp_path], kb=sample_kb, samples=100).rows
    assert [c.name for c in read_corpora([tmp_path])] == [file.stem for file in files]
    for metric in figures.FIGURES:
        values = {row["slice"]: row["value"] for row in rows if row["metric"] == metric}
        assert values.pop("mean") == pytest.approx(sum(values.values()) / 3)
        assert list(values) == ["c0", "c1", "c2"]


# The measure that others take, on real corpora


@pytest.fixture(scope="module")
def slice_kb(shared, tmp_path_factory):
    folder = tmp_path_factory.mktemp("slice") / "kb"
    build([shared / "wikidata" / "slice.json.gz"], folder, keep="people")
    return folder


REAL = ("meantime.jsonl.gz", "oke-2016-train.jsonl.gz")


@pytest.mark.slow
def test_real_corpora_are_measured_as_by_the_check(shared, slice_kb, tmp_path):
    files = [shared / "people" / name for name in REAL]
    command = tmp_path / "namesake"
    command.write_text(f"#!{sys.executable}\nfrom namesake.apps.cli.main import main\nmain()\n")
    command.chmod(0o755)
    check = [sys.executable, shared / "checks" / "people_f1.py", command, slice_kb, *files]
    printed = subprocess.run([str(word) for word in check], check=True, capture_output=True, text=True).stdout
    report = namesake.evaluate_text(labelled=files, kb=slice_kb, samples=100)
    got = {(row["slice"], row["metric"]): row for row in report.rows}
    pattern = r"(\S+) +docs +\d+ gold +(\d+) links +(\d+) +P (\S+) R (\S+) F1 (\S+) +AUROC (\S+) ECE (\S+) \(n (\d+)"
    lines = re.findall(pattern, printed)
    assert len(lines) == len(REAL)
    for corpus, gold, links, *values, spans in lines:
        assert got[corpus, "recall"]["n"] == int(gold)
        assert got[corpus, "precision"]["n"] == int(links)
        assert got[corpus, "ECE"]["n"] == int(spans)
        for metric, value in zip(("precision", "recall", "F1", "AUROC", "ECE"), values, strict=True):
            assert f"{got[corpus, metric]['value']:.3f}" == value, (corpus, metric)
    p, r, f1, ece = re.findall(r"0\.\d+", printed.splitlines()[-1])
    for metric, value in (("precision", p), ("recall", r), ("F1", f1), ("ECE", ece)):
        assert f"{got['mean', metric]['value']:.3f}" == value


@pytest.mark.slow
def test_tuning_on_labelled_text_can_be_repeated(shared, slice_kb, tmp_path):
    files = [shared / "people" / name for name in REAL]
    for out in ("one.toml", "two/one.toml"):
        (tmp_path / out).parent.mkdir(exist_ok=True)
        arguments = ["tune", "--kb", slice_kb, "--labelled", *files, "--out", tmp_path / out]
        result = CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "150"})
        assert result.exit_code == 0, result.exception
    assert (tmp_path / "one.toml").read_bytes() == (tmp_path / "two" / "one.toml").read_bytes()
    made, given_ = Recipe.load(tmp_path / "one.toml"), Recipe.load("default")
    assert made.name == "one"
    for new, old in zip([*made.parts, *made.decide.parts], [*given_.parts, *given_.decide.parts], strict=True):
        assert math.isfinite(new.weight)
        assert not new.fixed or new.weight == old.weight
    free = [new.weight != old.weight for new, old in zip(made.parts, given_.parts, strict=True) if new.scorer == "Fame"]
    assert len(free) > 1  # with those above a number
    assert all(free)
    assert made.decide.thresholds
    assert "“new”" in result.output
    both = [line.split() for line in result.output.splitlines() if line.strip().startswith(("meantime", "oke-2016"))]
    assert [len(line) for line in both] == [9, 9]
    assert any(line[1:5] != line[5:] for line in both)  # weights that have not seen a corpus answer otherwise
    # what tune says of the recipe it made is what evaluate measures of it
    rows = namesake.evaluate_text(labelled=files, kb=slice_kb, recipe=made, samples=100).rows
    measured = {(row["slice"], row["metric"]): f"{row['value']:.3f}".removeprefix("0") for row in rows}
    for line in both:
        assert line[1:5] == [measured[line[0], m] for m in ("precision", "recall", "F1", "ECE")]


# Reasons for misses


def test_each_kind_of_miss_in_a_corpus_made_by_hand(sample_kb, tmp_path):
    """On the sample's KB, whose only Rabil is Q7153074; threshold 0.5."""
    texts = {
        "found": ("Paul Rabil won.", "Paul Rabil", "Q7153074"),
        "not found: one word": ("Then xrabil won.", "xrabil", "Q7153074"),
        "not found: a name of the KB": ("then paul rabil Won It All.", "paul rabil", "Q7153074"),
        "not found: a variant": ("Then Paulus Arabil Xyz won.", "Paulus Arabil", "Q7153074"),
        "refused: best is right": ("Then Rabil scored twice.", "Rabil", "Q7153074"),
        "refused: best is another": ("Then Rabil scored twice.", "Rabil", "Q437267"),
        "wrong": ("Paul Rabil won.", "Paul Rabil", "Q437267"),
    }
    documents = [
        {"id": kind, "text": text, "labels": [{"span": [text.index(name), text.index(name) + len(name)], "qid": qid}]}
        for kind, (text, name, qid) in texts.items()
    ]
    path = write(tmp_path / "made.jsonl", documents)
    report = namesake.evaluate_text(labelled=[path], kb=sample_kb, samples=100)
    shares = {row["metric"]: row["value"] for row in report.rows}
    assert {kind: shares[f"missed, {kind}"] for kind in KINDS} == pytest.approx(dict.fromkeys(KINDS, 1 / 7))
    rows = {row[1]: row for view in report.views if view.name.startswith("examples") for row in view.rows}
    assert set(rows) == set(KINDS)
    for kind, row in rows.items():
        text, name, qid = texts[kind]
        assert row[2:4] == [text.replace(name, f"«{name}»"), qid]
    assert rows["wrong"][4] == rows["refused: best is another"][4] == "Q7153074"
    wrong = next(view for view in report.views if view.name == "wrong_links")
    assert wrong.rows == [["made", "1", "0", "0", "0", "0"]]


def test_wrong_links_are_told_by_their_labels(sample_kb, tmp_path):
    text = "Paul Rabil won. Paul Rabil lost."
    kinds = ({"qid": "Q437267"}, {"type": "PER"}, {"type": "OTHER", "qid": "Q999999999"}, {}, {"qid": "Q7153074"})
    documents = [
        {"id": n, "text": text, "labels": [{"span": [0, 10], **kind}, {"span": [16, 26], "why": "unlinked"}]}
        for n, kind in enumerate(kinds)
    ]
    report = namesake.evaluate_text(labelled=[write(tmp_path / "a.jsonl", documents)], kb=sample_kb, samples=100)
    wrong = next(view for view in report.views if view.name == "wrong_links")
    assert list(zip(wrong.header, wrong.rows[0], strict=True))[1:] == [
        ("another entity in the KB", "1"),
        ("a person not in the KB", "1"),
        ("not a person", "1"),
        ("not stated", "1"),
        ("no label", "0"),
    ]


def test_long_sentences_are_cut_around_the_name():
    text = "A first one. " + "x " * 200 + "Ann Lee\nspoke" + " y" * 200 + ". The end."
    at = text.index("Ann")
    shown = excerpt(text, (at, at + 7), sentences(text))
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert "x «Ann Lee» spoke y" in shown
    assert len(shown) < 300
    assert excerpt("Ann Lee", (0, 7), sentences("Ann Lee")) == "«Ann Lee»"


# What cannot be read


GOOD = {"id": "a", "text": "Paul Rabil won.", "labels": [{"span": [0, 10], "qid": "Q7153074"}]}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", r"line 2: not a labelled document"),
        ('{"id": "a", "text": "x"}', r"line 2: not a labelled document \(Object missing required field `labels`"),
        ({**GOOD, "labels": [{"span": [0]}]}, r"line 2: not a labelled document .* at `\$.labels\[0\].span`"),
        ({**GOOD, "labels": [{"span": [0, 99]}]}, r"line 2: label \[0, 99\] lies outside the text of 15 characters"),
        ({**GOOD, "labels": [{"span": [-1, 3]}]}, r"line 2: label \[-1, 3\] lies outside the text"),
        ({**GOOD, "labels": [{"span": [5, 5]}]}, r"line 2: label \[5, 5\] lies outside the text"),
        ({**GOOD, "labels": [{"span": [0, 5], "core": [3, 16]}]}, r"line 2: label \[3, 16\] lies outside the text"),
        ({**GOOD, "labels": [{"span": [0, 5], "qid": "X7"}]}, r"line 2: .* \[0, 5\] .*'X7'"),
        ({**GOOD, "labels": [{"span": [0, 5], "qid": "Q7\n"}]}, r"line 2: .* \[0, 5\] .*'Q7\\n'"),
        ({**GOOD, "labels": [{"span": [0, 5], "qid": 7}]}, r"line 2: not a labelled document .* `\$.labels\[0\].qid`"),
    ],
)
def test_bad_labels_are_refused_with_their_line(sample_kb, tmp_path, line, message):
    text = line if isinstance(line, str) else json.dumps(line)
    (tmp_path / "bad.jsonl").write_text(f"{json.dumps(GOOD)}\n{text}\n")
    for command in ("evaluate", "threshold", "tune"):
        arguments = [
            command,
            "--kb",
            sample_kb.path,
            "--labelled",
            tmp_path / "bad.jsonl",
            "--out",
            tmp_path / "r.toml",
        ]
        result = CliRunner().invoke(app, list(map(str, arguments)))
        assert isinstance(result.exception, NamesakeError)
        code, said = exit_message(result.exception)
        assert code == 2
        assert re.search(rf"bad.jsonl {message}", said), said
        assert not (tmp_path / "r.toml").exists()


@pytest.mark.parametrize(
    ("content", "message"), [("", "bad.jsonl: no labelled documents"), ("\n\n", "bad.jsonl: no labelled documents")]
)
def test_files_without_documents_are_refused(sample_kb, tmp_path, content, message):
    (tmp_path / "bad.jsonl").write_text(content)
    with pytest.raises(NamesakeError, match=message):
        namesake.evaluate_text(labelled=[tmp_path / "bad.jsonl"], kb=sample_kb)
    (tmp_path / "folder").mkdir()
    with pytest.raises(NamesakeError, match="no JSON lines"):
        namesake.evaluate_text(labelled=[tmp_path / "folder"], kb=sample_kb)
    with pytest.raises(NamesakeError, match=r"nowhere\.jsonl"):
        namesake.evaluate_text(labelled=[tmp_path / "nowhere.jsonl"], kb=sample_kb)


def test_what_is_odd_about_labels_is_counted_and_said(sample_kb, tmp_path):
    labels = [{"span": [0, 10], "qid": "Q7153074"}, {"span": [5, 10], "qid": "Q999999999"}, {"span": [5, 10]}]
    documents = [{**GOOD, "labels": labels}, GOOD]
    paths = [write(tmp_path / "one.jsonl", documents), write(tmp_path / "two.jsonl", [GOOD])]
    said = "\n".join(namesake.evaluate_text(labelled=paths, kb=sample_kb, samples=100).remarks)
    assert "Labels that overlap another: 2 in one;" in said
    assert "Labels whose QID is not in the KB: 1 in one;" in said
    assert "Ids that several documents have, which are measured separately: 1 in one." in said
    lonely = write(tmp_path / "none.jsonl", [{**GOOD, "labels": []}])
    with pytest.raises(NamesakeError, match="no label has the QID of an entity of"):
        namesake.evaluate_text(labelled=[lonely], kb=sample_kb)
    said = namesake.evaluate_text(labelled=[lonely, paths[1]], kb=sample_kb, samples=100).remarks
    assert said == ["No label is in the KB in none: figures of linking are 0 there."]


def test_a_kb_without_names_of_one_word_is_told(sample_kb, tmp_path):
    path = write(tmp_path / "a.jsonl", [GOOD])
    assert not link_text([path], sample_kb, Recipe.load("default")).remarks
    human = {"mainsnak": {"snaktype": "value", "property": "P31", "datavalue": {"type": "wikibase-entityid"}}}
    human["mainsnak"]["datavalue"]["value"] = {"entity-type": "item", "id": "Q5", "numeric-id": 5}
    nameless = {"type": "item", "id": "Q7153074", "labels": {}, "claims": {"P31": [human | {"rank": "normal"}]}}
    (tmp_path / "dump.json").write_text(f"[\n{json.dumps(nameless)}\n]\n")
    build([tmp_path / "dump.json"], tmp_path / "kb", keep="people")
    [line] = namesake.evaluate_text(labelled=[path], kb=tmp_path / "kb", samples=100).remarks
    assert "has no names of one word" in line
    assert "namesake kb build" in line


def test_a_kb_of_an_older_format_is_refused_in_one_line(sample_kb, tmp_path):
    manifest = json.loads((sample_kb.path / "manifest.json").read_text())
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "manifest.json").write_text(json.dumps(manifest | {"format_version": 3}))
    with pytest.raises(NamesakeError, match=r"has KB format 3.*build the KB again"):
        namesake.evaluate_text(labelled=[write(tmp_path / "a.jsonl", [GOOD])], kb=tmp_path / "old")


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 6)).map(lambda pair: (pair[0], sum(pair)))))
def test_overlapping_labels_are_counted(spans):
    assert count_overlapping(spans) == oracle.overlapping(spans)
    assert (count_overlapping(spans) == 0) == oracle.disjoint(spans)


def test_labels_that_are_not_judged_are_left_out(tmp_path):
    more = [{"span": [0, 4], "coref": True}, {"span": [0, 4], "why": "unmapped"}, {"span": [11, 14]}]
    path = write(tmp_path / "a.jsonl", [{**GOOD, "labels": [*GOOD["labels"], *more], "evaluation_span": [0, 10]}])
    [document] = read_corpus(path).documents
    assert [label.span for label in document.labels] == [(0, 10)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kb": None}, "linked with a KB: name one with `kb=`"),
        ({"threshold": 1.5}, "threshold = 1.5: must be a probability"),
        ({"threshold": "p42"}, "has no threshold 'p42'"),
        ({"recipe": "ns-paper", "threshold": 0.5}, "ns-paper always answers"),
    ],
)
def test_what_means_nothing_with_labelled_text_is_refused(sample_kb, tmp_path, arguments, message):
    path = write(tmp_path / "a.jsonl", [GOOD])
    with pytest.raises(NamesakeError, match=message):
        namesake.evaluate_text(**{"labelled": [path], "kb": sample_kb, **arguments})


def test_the_truth_must_come_from_somewhere():
    with pytest.raises(NamesakeError, match=r"needs one of .*`scores=`"):
        namesake.evaluate("gold.jsonl")
    with pytest.raises(NamesakeError, match=r"give `articles=` and `kb=`, or neither"):
        namesake.evaluate("gold.jsonl", scores="s.parquet", kb="kb")
    with pytest.raises(NamesakeError, match="tune needs scores and their `gold=`, or `labelled=`"):
        namesake.tune()


def test_a_recipe_that_always_answers_has_no_confidence_to_judge(sample_kb, tmp_path):
    documents = sampled_documents(1)
    path = write(tmp_path / "a.jsonl", documents)
    report = namesake.evaluate_text(labelled=[path], kb=sample_kb, recipe="ns-paper", samples=100)
    got = {row["metric"]: row["value"] for row in report.rows}
    assert not {"AUROC", "ECE"} & set(got)
    rows = [Linker(sample_kb, "ns-paper").link_text(d["text"], date=d["date"]) for d in documents]
    links = [[(span, r.best, 1.0, r.qid is not None) for r in some for span in r.spans] for some in rows]
    wanted = oracle.measure(documents, links, 0.5, {f"Q{qid}" for qid in sample_kb.qids})
    assert got["F1"] == pytest.approx(wanted["F1"])


def test_gold_that_has_no_candidates_counts_as_missed(tmp_path):
    pq.write_table(long_table(), tmp_path / "s.parquet")
    more = [{"articleID": "a1", "name": "x", "gold": "Q7"}, {"articleID": "a9", "name": "y", "gold": 3}]
    gold = gold_file(tmp_path / "g.jsonl", [*GOLD, *more, {"articleID": "a9", "name": "z", "gold": None}])
    data = align(read_scores(tmp_path / "s.parquet"), read_gold(gold))
    assert data.gold.tolist()[4:] == [-2, -2, -1]
    [method] = methods(["IScore"], data)
    assert method.hit.tolist() == [1, 1, 1, 0, 0, 0, 0]
    assert method.right_with_nil.tolist()[4:] == [1, 1, 1]  # no candidate is right, and nobody was linked
    report = namesake.evaluate(gold, scores=tmp_path / "s.parquet", methods=["IScore"], samples=100)
    got = {row["metric"]: (row["value"], row["n"]) for row in report.rows if row["slice"] == "all"}
    assert got["P@1 of all"] == (pytest.approx(3 / 7), 7)
    assert got["candidate recall"] == (pytest.approx(3 / 7), 7)
    assert got["P@1"] == (1.0, 3)
    assert "3 mentions of the gold have no candidates: they count as missed." in report.remarks


def test_gold_without_candidates_stops_neither_tuning_nor_errors(sample_kb, tmp_path):
    rows = [json.loads(line) for line in EXPECTED.read_text().splitlines()]
    gold = [{"articleID": row["id"], "name": row["name"], "gold": row["qid"]} for row in rows]
    whole = gold_file(tmp_path / "whole.jsonl", gold)
    more = gold_file(tmp_path / "more.jsonl", [*gold, {"articleID": rows[0]["id"], "name": "x", "gold": "Q5"}])
    links, plain = tmp_path / "s.parquet", tmp_path / "plain.parquet"
    pq.write_table(Corpus(ARTICLES, sample_kb).links(Recipe.load("default")), links)
    learnt = [learnable(Recipe.load("default"), align(read_scores(links), read_gold(path))) for path in (whole, more)]
    assert learnt[0].table.mentions == learnt[1].table.mentions
    assert learnt[0].gold.tolist() == learnt[1].gold.tolist()
    assert namesake.mistakes(ARTICLES, more, sample_kb).rows == namesake.mistakes(ARTICLES, whole, sample_kb).rows
    with pytest.raises(NamesakeError, match="needs IScore, NIScore, EEIScore, but the scores have"):
        namesake.tune([links], [more], "uiscore-paper")
    # links without their candidates: whether gold is a candidate is not known, so it is missed
    pq.write_table(pq.read_table(links).drop_columns(["candidates", "doubts"]), plain)
    figures_ = {
        path: {row["metric"]: row for row in namesake.evaluate(path, scores=plain, samples=100).rows}
        for path in (whole, more)
    }
    hits = [figures_[path]["P@1"]["value"] * figures_[path]["P@1"]["n"] for path in (whole, more)]
    assert hits[0] == pytest.approx(hits[1])
    assert figures_[more]["P@1"]["n"] == figures_[whole]["P@1"]["n"] + 1


def test_the_printed_table_keeps_each_corpus_on_one_line_of_80_characters(sample_kb, tmp_path):
    documents = [{**GOOD, "id": number} for number in range(9)]
    names = ["wp-current-events-2015-09", "other"]
    files = [write(tmp_path / f"{name}.jsonl", documents) for name in names]
    arguments = ["evaluate", "--kb", sample_kb.path, "--labelled", *files, "--out", tmp_path / "r", "--samples", 100]
    result = CliRunner().invoke(app, list(map(str, arguments)), env={"COLUMNS": "80"})
    assert result.exit_code == 0, result.exception
    lines = {line.split()[0]: line.split()[1:] for line in result.output.splitlines() if " ± " in line}
    figures = json.loads((tmp_path / "r" / "tables.json").read_text())
    ece = {row["slice"]: f"{row['value']:.3f}"[1:] for row in figures if row["metric"] == "ECE"}
    assert lines == {
        name: [n, "1.000", "1.000", "1.000", "±", ".000", ece[name]]
        for name, n in ((names[0], "9"), ("other", "9"), ("mean", "18"))
    }
    written = {path.name for path in (tmp_path / "r").iterdir()}
    assert {
        "report.html",
        "report.md",
        "tables.json",
        "linking.csv",
        "with_nil.csv",
        "detection.csv",
        "misses.csv",
    } <= written
    assert "Reasons for misses" in (tmp_path / "r" / "report.html").read_text()


def test_the_default_can_be_written_anew_with_its_comments():
    from benchmarks.entities import DEFAULT, rewritten

    text = DEFAULT.read_text()
    recipe = Recipe.load("default")
    assert rewritten(text, recipe) == text
    more = {"": 0.25} | {kind: -0.5 for part in recipe.parts for kind in part.by_kind}
    parts = tuple(
        part.with_weights({kind: weight + more[kind] for kind, weight in part.weights.items()}) for part in recipe.parts
    )
    doubts = tuple(part.replace(weight=part.weight - 1) for part in recipe.decide.parts)
    rule = recipe.decide.replace(parts=doubts, nil=3.5, alone=0.5, thresholds={"p50": 0.25, "p95": 0.75})
    changed = recipe.replace(parts=parts, decide=rule)
    made = rewritten(text, changed)
    assert Recipe.parse(made) == changed
    comments = [line for line in text.splitlines() if line.startswith("#")]
    assert [line for line in made.splitlines() if line.startswith("#")] == comments


# Thresholds


@pytest.fixture(scope="module")
def labelled(sample_kb, tmp_path_factory):
    """The sample's documents, twice over with other labels, as two files."""
    folder = tmp_path_factory.mktemp("labelled")
    return [write(folder / f"c{seed}.jsonl", sampled_documents(seed)) for seed in (3, 4)]


def test_thresholds_are_worth_what_the_plain_measure_says(sample_kb, labelled):
    outcomes = link_text(labelled, sample_kb, Recipe.load("default")).outcomes
    trade = Trade.of(outcomes)
    documents = [json.loads(line) for path in labelled for line in path.read_text().splitlines()]
    told = only_told(documents)
    links = plain_links(Linker(sample_kb, threshold=0.0), documents)
    known = {f"Q{qid}" for qid in sample_kb.qids}
    assert (np.diff(trade.threshold) < 0).all()
    for entry, threshold in enumerate(trade.threshold):
        wanted = oracle.measure(told, links, threshold, known)
        got = (trade.precision[entry], trade.recall[entry], trade.f1[entry])
        assert got == pytest.approx((wanted["precision"], wanted["recall"], wanted["F1"]))
    around = [[label["span"] for label in oracle.judged_labels(document)] for document in told]
    pairs = [(link[0], spans) for here, spans in zip(links, around, strict=True) for link in here]
    spans = sum(any(oracle.over(span, label) for label in labels) for span, labels in pairs)
    assert trade.coverage * spans == pytest.approx(trade.answers)


def only_told(documents):
    """The documents without labels that tell neither who it is nor what."""

    def told(label):
        return label["qid"] or label.get("type") or label.get("nil_clean")

    return [{**document, "labels": [label for label in document["labels"] if told(label)]} for document in documents]


def trade_of(precision, answers):
    size = len(precision)
    levels = np.linspace(0.99, 0.01, size)
    return Trade(levels, np.array(precision), np.zeros(size), np.zeros(size), np.array(answers), np.zeros(size))


def test_the_lowest_threshold_that_is_precise_enough():
    trade = trade_of([1.0, 0.96, 0.94, 0.97, 0.8], [10, 70, 80, 90, 100])
    assert trade.reaching(0.95) == 3
    assert trade.reaching(0.8) == 4
    assert trade.reaching(0.98) is None  # ten answers are too few
    assert trade.best(20) == 3
    assert trade.best(1000) is None
    assert thresholds(trade) == {"p80": 0.01, "p85": 0.255, "p90": 0.255, "p95": 0.255}
    assert [fewest(p) for p in (0.5, 0.9, 0.95, 0.99, 1.0)] == [20, 30, 60, 300, 300]


def test_thresholds_are_short_and_let_no_more_pass():
    levels = np.array([0.987654321, 0.98765, 0.5])
    trade = Trade(levels, *np.zeros((5, 3)))
    assert trade.rounded(0) == 0.987654
    assert trade.rounded(1) == 0.9876
    for entry in range(3):
        assert (levels >= trade.rounded(entry)).sum() == entry + 1


def test_threshold_on_the_command_line(sample_kb, labelled, tmp_path):
    arguments = ["threshold", "--kb", sample_kb.path, "--labelled", *labelled, "--samples", 100]
    run = CliRunner()
    out = tmp_path / "mine.toml"
    result = run.invoke(app, [*map(str, [*arguments, "--target-precision", 0.1, "--out", out])])
    assert result.exit_code == 0, result.exception
    suggested = re.search(r"threshold (\S+): precision (\S+) \((\S+) to (\S+)\), recall", result.output)
    value, precision, low, high = map(float, suggested.groups())
    assert 0.1 <= low <= precision <= high
    told = [only_told([json.loads(line) for line in path.read_text().splitlines()]) for path in labelled]
    files = [write(tmp_path / f"told{k}.jsonl", documents) for k, documents in enumerate(told)]
    report = namesake.evaluate_text(labelled=files, kb=sample_kb, threshold=value, samples=100)
    rows = [row for row in report.rows if row["metric"] == "precision" and row["slice"] != "mean"]
    pooled = sum(row["value"] * row["n"] for row in rows) / sum(row["n"] for row in rows)
    assert precision == pytest.approx(pooled, abs=5e-4)
    assert "P precision, R recall, C coverage over threshold" in result.output
    made = Recipe.load(out)
    assert made.decide.thresholds["p10"] == value
    assert Linker(sample_kb, made, threshold="p10").recipe.decide.threshold == value
    assert made.replace(decide=made.decide.replace(thresholds={})) == Recipe.load("default").replace(
        decide=Recipe.load("default").decide.replace(thresholds={})
    )
    result = run.invoke(app, [*map(str, [*arguments, "--target-precision", 1])])
    assert result.exit_code == 3
    assert re.search(r"no threshold gives precision 1 |to measure precision 1 takes 300 answers", result.output)
    for wrong in ("0", "1.5", "nan"):
        result = run.invoke(app, [*map(str, [*arguments, "--target-precision", wrong])])
        assert "must be above 0 and at most 1" in str(result.exception)


def test_a_threshold_by_name(sample_kb, tmp_path):
    known = Recipe.load("default").decide.thresholds
    assert list(known)[:4] == ["p80", "p85", "p90", "p95"]
    assert list(known.values()) == sorted(known.values())
    assert Linker(sample_kb, threshold="p95").recipe.decide.threshold == known["p95"]
    own = Recipe.load("default")
    own = own.replace(name="own", decide=own.decide.replace(thresholds={}))
    with pytest.raises(NamesakeError, match=r"own has no threshold 'p95'; it has none: `namesake eval threshold --out"):
        Linker(sample_kb, own, threshold="p95")
    with pytest.raises(NamesakeError, match="it has p80, p85"):
        Linker(sample_kb, threshold="p42")
    with pytest.raises(NamesakeError, match="ns-paper always answers"):
        Linker(sample_kb, "ns-paper", threshold="p95")
    (tmp_path / "a.txt").write_text("Paul Rabil won.")
    [found] = Linker(sample_kb).link_text("Paul Rabil won.")
    around = own.decide.replace(thresholds={"p80": found.confidence - 0.01, "p95": found.confidence + 0.001})
    own.replace(decide=around).save(tmp_path / "own.toml")
    links = {}
    for name in ("p80", "p95", "0.0", "1"):
        out = tmp_path / f"{name}.jsonl"
        arguments = ["link", tmp_path / "a.txt", "--kb", sample_kb.path, "--threshold", name, "-o", out]
        arguments += ["--recipe", tmp_path / "own.toml"]
        assert CliRunner().invoke(app, list(map(str, arguments))).exit_code == 0
        [links[name]] = map(json.loads, out.read_text().splitlines())
    assert [links[name]["qid"] for name in links] == ["Q7153074", None, "Q7153074", None]
    for wrong in ("p5000", "1.1", "-0.1", "nan", "much", ""):
        arguments = ["link", tmp_path / "a.txt", "--kb", sample_kb.path, f"--threshold={wrong}"]
        assert "--threshold" in str(CliRunner().invoke(app, list(map(str, arguments))).exception)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("p95 = 1.5", "thresholds = .*must be a table of probabilities between 0 and 1"),
        ('p95 = "x"', "thresholds = .*must be a table of probabilities"),
        ("ninety = 0.5", "thresholds has 'ninety': .*precisions in percent"),
    ],
)
def test_thresholds_that_no_recipe_can_mean(line, message):
    with pytest.raises(NamesakeError, match=message):
        Recipe.parse(f'name = "x"\n[[parts]]\nscorer = "NS"\n[decide]\nnil = 1.0\n[decide.thresholds]\n{line}')


def test_thresholds_are_read_back_as_written():
    recipe = Recipe.load("default")
    assert Recipe.parse(recipe.toml()) == recipe
    assert "[decide.thresholds]" in recipe.toml()


# Tuning


def test_a_lone_corpus_is_held_out_by_folds(sample_kb, labelled, tmp_path):
    tuning = namesake.tune(labelled=labelled[:1], kb=sample_kb, name="mine")
    corpora = next(view for view in tuning.views if view.name == "corpora")
    assert [row[0] for row in corpora.rows] == ["c3"]
    assert "10 folds by document" in corpora.caption
    weights = [part.weight for part in (*tuning.recipe.parts, *tuning.recipe.decide.parts)]
    assert all(map(math.isfinite, weights))
    tuning.recipe.save(tmp_path / "mine.toml")
    assert Recipe.load(tmp_path / "mine.toml") == tuning.recipe


def test_weights_by_kind_are_fitted_to_labelled_text(sample_kb, labelled, tmp_path):
    base = Recipe.load("default")
    parts = (*base.parts, Part(evidence="NameFame", by_kind={"person": 0.0, "place": 0.7}))
    tuned = namesake.tune(labelled=labelled, kb=sample_kb, recipe=base.replace(parts=parts), name="mine").recipe
    assert tuned.parts[-1].by_kind["person"] != 0.0
    assert tuned.parts[-1].by_kind["place"] == 0.7  # the KB has people only
    tuned.save(tmp_path / "mine.toml")
    assert Recipe.load(tmp_path / "mine.toml") == tuned


def test_one_document_is_too_few_for_folds_and_that_is_said(sample_kb, tmp_path):
    text = "The basketball player Michael Jordan spoke."
    document = {"id": "a", "text": text, "labels": [{"span": [22, 36], "qid": "Q41421", "type": "PER"}]}
    one = write(tmp_path / "one.jsonl", [document])
    with pytest.raises(NamesakeError, match="all names to learn from are in 1 document, too few for cross-validation"):
        namesake.tune(labelled=[one], kb=sample_kb)
    other = write(tmp_path / "other.jsonl", [{"id": "b", "text": "Nothing.", "labels": []}])
    with pytest.raises(NamesakeError, match="all names to learn from are in one: label some in the other files"):
        namesake.tune(labelled=[one, other], kb=sample_kb)
    nobody = write(tmp_path / "nobody.jsonl", [document | {"labels": [{"span": [22, 36], "qid": "Q9381"}]}])
    with pytest.raises(NamesakeError, match="nothing to learn from"):
        namesake.tune(labelled=[nobody], kb=sample_kb)


def test_few_mentions_for_many_weights_are_warned_of(sample_kb, labelled, tmp_path):
    tuning = namesake.tune(labelled=labelled[:1], kb=sample_kb)
    recipe = Recipe.load("default")
    weights = sum(len(part.weights) for part in recipe.parts if not part.fixed)
    weights += sum(not part.fixed for part in recipe.decide.parts)
    assert 0 < tuning.mentions < 10 * weights
    assert f"{tuning.mentions} labelled mentions are few for {weights} weights: with fewer than" in tuning.warning
    assert few(recipe, 10 * weights) is None
    arguments = ["tune", "--labelled", labelled[0], "--kb", sample_kb.path, "--out", tmp_path / "mine.toml"]
    ran = CliRunner().invoke(app, [str(part) for part in arguments])
    assert "warning: " in ran.stderr
    assert "labelled mentions are few" in ran.stderr


def test_weights_can_be_held(sample_kb, labelled):
    given_ = Recipe.load("default")
    held = namesake.tune(labelled=labelled, kb=sample_kb, hold=True).recipe
    assert held.parts == given_.parts
    changed = [
        new.doubt
        for new, old in zip(held.decide.parts, given_.decide.parts, strict=True)
        if (new.weight, new.fixed) != (old.weight, old.fixed)
    ]
    assert changed == ["Constant"]


def test_scores_and_labelled_text_are_learnt_from_together(sample_kb, labelled, tmp_path):
    rows = [json.loads(line) for line in EXPECTED.read_text().splitlines()]
    gold = [{"articleID": row["id"], "name": row["name"], "gold": row["qid"]} for row in rows]
    gold_file(tmp_path / "g.jsonl", gold)
    pq.write_table(Corpus(ARTICLES, sample_kb).links(Recipe.load("default")), tmp_path / "s.parquet")
    alone = namesake.tune(labelled=labelled, kb=sample_kb).recipe
    both = namesake.tune([tmp_path / "s.parquet"], [tmp_path / "g.jsonl"], labelled=labelled, kb=sample_kb).recipe
    assert both.parts != alone.parts
    with pytest.raises(NamesakeError, match="`how='grid'` is for score files"):
        namesake.tune(labelled=labelled, kb=sample_kb, how="grid")


# several kinds
@pytest.fixture(scope="module")
def kinds_kb(tmp_path_factory):
    """The sample's KB with entities of every kind."""
    folder = tmp_path_factory.mktemp("kinds") / "kb"
    build([DUMP], folder, wikipedia=WIKIPEDIA)
    return KB.open(folder)


def documents_of_kinds(kb, seed: int) -> list[dict]:
    """The sample's articles, some of them complete, with labels of people and by chance of other entities."""
    rng = random.Random(seed)
    documents = sampled_documents(seed)
    qids = [f"Q{qid}" for qid in kb.qids]
    for document in documents:
        for at in re.finditer(r"\w+( [A-Z]\w+)*", document["text"]):
            named = [one.qid for one in kb.search(at.group())]
            label = {"span": list(at.span()), "qid": rng.choice([*named, rng.choice(qids)]), "type": "OTHER"}
            document["labels"] += [label] if rng.random() < (0.8 if named else 0.02) else []
        document["complete"] = rng.random() < 0.5
    return documents


@pytest.mark.parametrize("threshold", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_figures_by_kind_are_those_of_the_plain_measure(kinds_kb, tmp_path, seed, threshold):
    documents = documents_of_kinds(kinds_kb, seed)
    halves = [documents[::2], documents[1::2]]
    paths = [write(tmp_path / f"{name}.jsonl", half) for name, half in zip("ab", halves, strict=True)]
    report = namesake.evaluate_text(labelled=paths, kb=kinds_kb, threshold=threshold, samples=100)
    linker = Linker(kinds_kb, threshold=0.0)
    kind_of = {f"Q{qid}": kinds_kb.kind_of(row).name for row, qid in enumerate(kinds_kb.qids)}
    plurals = {kind.plural: kind.name for kind in kinds()}
    together = oracle.measure_kinds(documents, plain_links(linker, documents), threshold, kind_of)
    expected = {(plural, *one) for plural, one in _listed({p: together.get(n) for p, n in plurals.items()})}
    got = {}
    for row in report.rows:
        if row.get("table") == "kinds":
            got.setdefault(row["slice"], []).append((row["metric"], row["value"], row["n"]))
    assert {
        (plural, metric, round(value, 9), n) for plural, rows in got.items() for metric, value, n in rows
    } == expected
    assert len(got) > 2
    view = next(view for view in report.views if view.name == "kinds_by_corpus")
    for half, row in zip(halves, view.rows, strict=True):
        alone = oracle.measure_kinds(half, plain_links(linker, half), threshold, kind_of)
        whole = {each["metric"]: each["value"] for each in report.rows if each["slice"] == row[0]}
        assert [whole[name] for name in figures.LINKING] == pytest.approx(alone[None][2:])
        for plural, cell in list(zip(view.header, row, strict=True))[1:]:
            labels, *_, f1 = alone.get(plurals[plural], (0, 0))
            assert cell == (f"{f1:.3f}" if labels else "")


def _listed(figures_of):
    """The figures of each kind that has labels or links, with their denominators."""
    for plural, found in figures_of.items():
        if found and (found[0] or found[1]):
            gold, made, *values = found
            for metric, value, n in zip(("precision", "recall", "F1"), values, (made, gold, gold), strict=True):
                yield plural, (metric, round(value, 9), n)


def test_links_without_a_label_are_wrong_only_where_every_name_is_labelled(kinds_kb, tmp_path, capsys):
    text = "Michael Jordan of the Chicago Bulls, the basketball player, spoke. Scottie Pippen of the Bulls did not."
    document = {"id": "a", "text": text, "labels": [{"span": [0, 14], "qid": "Q41421"}]}
    path = write(tmp_path / "news.jsonl", [document])
    links = [link for link in Linker(kinds_kb, threshold=0.0).link_text(text) if link.qid]
    assert links[0].name == "Michael Jordan"
    assert len(links) > 1

    def precision(**options):
        rows = namesake.evaluate_text(path, kinds_kb, threshold=0.0, samples=100, **options).rows
        return next((row["value"], row["n"]) for row in rows if row["metric"] == "precision")

    assert precision() == (1.0, 1)
    spans = sum(len(link.spans) for link in links)
    assert precision(complete="news") == (pytest.approx(1 / spans), spans)
    write(path, [document | {"complete": True}])
    assert precision() == (pytest.approx(1 / spans), spans)
    write(path, [document | {"complete": True, "evaluation_span": [0, 20]}])
    assert precision() == (1.0, 1)
    unsaid = {"span": [text.index("Scottie"), text.index("Scottie") + 14], "why": "unlinked"}
    write(path, [document | {"complete": True, "labels": [*document["labels"], unsaid]}])
    assert precision()[1] == spans - 1
    with pytest.raises(NamesakeError, match=r"no corpus 'new' \(did you mean 'news'"):
        precision(complete=["new"])


def test_a_kb_of_people_has_no_figures_by_kind(sample_kb, tmp_path):
    report = namesake.evaluate_text([write(tmp_path / "a.jsonl", sampled_documents(1))], sample_kb, samples=100)
    assert not any("kind" in view.name for view in report.views)
    assert not any("table" in row for row in report.rows)


def test_weights_of_mentions_in_a_sample(sample_kb, tmp_path):
    """The root of the number of spans, a quarter of that without a label in a complete text, 0 without information."""
    text = "Paul Rabil met Tim Wheeler. Paul Rabil met Chris Carter and Michael Jordan. Paul Simon sang."
    spans = {
        name: [m.span() for m in re.finditer(name, text)] for name in ("Paul Rabil", "Tim Wheeler", "Chris Carter")
    }
    labels = [{"span": span, "qid": "Q7153074", "type": "PER"} for span in spans["Paul Rabil"]]
    labels.append({"span": spans["Tim Wheeler"][0], "type": "PER", "nil_clean": False})
    labels.append({"span": spans["Chris Carter"][0], "type": "PER", "why": "unlinked"})
    document = {"id": "a", "text": text, "labels": labels}
    wanted = {"Paul Rabil": math.sqrt(2), "Tim Wheeler": 0.0}
    for complete, more in (("", {}), ("news", {"Michael Jordan": 0.25, "Paul Simon": 0.25})):
        path = write(tmp_path / "news.jsonl", [document])
        [(alignment, links)] = link_text(
            [path], sample_kb, Recipe.load("default"), scores=True, complete=complete
        ).corpora
        sample = tuning.Sample.of(alignment, links)
        names = links.column("name").take(pa.array(alignment.mentions)).to_pylist()
        assert dict(zip(names, sample.weight.tolist(), strict=True)) == pytest.approx(wanted | more)
    assert {names[m] for m in sample.learnable(Recipe.load("default"))} == {
        "Paul Rabil",
        "Michael Jordan",
        "Paul Simon",
    }
    assert [names[m] for m in sample.answerable(Recipe.load("default"))] == ["Paul Rabil"]


def test_complete_corpora_are_those_of_labelled_text():
    with pytest.raises(NamesakeError, match="`complete=` applies to `labelled=` text"):
        namesake.tune(["scores.parquet"], ["gold.jsonl"], complete="news")
