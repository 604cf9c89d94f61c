"""Reports as pages: contents, links, sentences, plots; on a phone and in the dark in a real browser."""

import copy
import json
import pickle
import re

import numpy as np
import pytest

import namesake
from browser import chromium, faint_texts, overflow, unlabelled
from namesake.drawing.text import Excerpt, excerpt
from namesake.evaluation.reports import report as plots
from namesake.sample import ARTICLES, EXPECTED
from small_gold import gold_file


@pytest.fixture(scope="module")
def gold(tmp_path_factory):
    rows = [json.loads(line) for line in EXPECTED.read_text().splitlines()]
    made = [{"articleID": row["id"], "name": row["name"], "gold": row["qid"]} for row in rows]
    return gold_file(tmp_path_factory.mktemp("gold") / "gold.jsonl", made)


@pytest.fixture(scope="module")
def reports(sample_kb, gold, tmp_path_factory):
    """The pages of an evaluation, of mistakes, and of an evaluation on labelled text."""
    folder = tmp_path_factory.mktemp("reports")
    text = "Ann Zzz of Leeds. Paul Simon won. <b>Jordan</b> Michael Jordan of Berkeley & co. sang, Adam Smith baked."
    spans = [(m.start(), m.end()) for m in re.finditer("Ann Zzz|Paul Simon|Michael Jordan|Adam Smith", text)]
    labels = [
        {"span": span, "qid": qid} for span, qid in zip(spans, ("Q41421", "Q41421", "Q3308285", "Q9381"), strict=True)
    ]
    (folder / "labelled.jsonl").write_text(json.dumps({"id": "one", "text": text, "labels": labels}) + "\n")
    made = {
        "evaluate": namesake.evaluate(
            articles=ARTICLES, gold=gold, kb=sample_kb, methods=["Random", "NS", "default"], samples=100
        ),
        "errors": namesake.mistakes(ARTICLES, gold, sample_kb, "ns-paper"),
        "labelled": namesake.evaluate_text(labelled=[folder / "labelled.jsonl"], kb=sample_kb, samples=100),
    }
    for name, report in made.items():
        report.write(folder / name)
    return folder, made


def page_of(reports, name: str) -> str:
    return (reports[0] / name / "report.html").read_text()


@pytest.mark.parametrize("name", ["evaluate", "errors", "labelled"])
def test_the_page_of_a_report_has_contents_that_lead_somewhere(reports, name):
    page = page_of(reports, name)
    targets = re.findall(r"<nav.*?</nav>", page, re.DOTALL)[0]
    anchors = re.findall(r'href="#([^"]+)"', targets)
    assert len(anchors) >= len(reports[1][name].sections) > 0
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(anchors) <= set(ids)
    outside = re.sub(r"https://www\.wikidata\.org/wiki/Q\d+|http://www\.w3\.org/2000/svg", "", page)
    assert "://" not in outside.replace("file://", "")


def test_each_mistake_has_its_sentence_with_the_name_marked(reports):
    texts = {row["id"]: row["text"] for row in map(json.loads, ARTICLES.read_text().splitlines())}
    mistakes = reports[1]["errors"].rows
    page = page_of(reports, "errors")
    assert mistakes
    for mistake in mistakes:
        sentence = mistake["sentence"]
        assert isinstance(sentence, Excerpt)
        assert sentence.parts[1] in texts[mistake["article"]]
        assert mistake["name"].split()[-1] in sentence.parts[1]
        core = sentence.replace("«", "").replace("»", "").strip("…")
        assert core in " ".join(texts[mistake["article"]].split())
        assert sentence.html in page
        for side in ("gold", "chosen"):
            assert f'href="https://www.wikidata.org/wiki/{mistake[side]["qid"]}"' in page
    assert page.count('class="card"') == len(mistakes)
    assert page.count('<dt class="right">gold') == page.count('<dt class="wrong">chosen') == len(mistakes)


def test_what_others_wrote_is_no_html_in_the_page_of_a_report(reports):
    page = page_of(reports, "labelled")
    assert "<b>Jordan" not in page
    assert "&lt;b&gt;Jordan&lt;/b&gt;" in page
    assert re.search(r'<b class="name \w+">Paul Simon</b>', page)  # its label has another entity


def test_an_excerpt_is_text_that_knows_its_name():
    one = excerpt("A. «B»  C\nD. E", (8, 9), [(0, 3), (3, 12)])
    assert one == "«B» «C» D."
    assert one.parts == ("«B» ", "C", " D.")
    assert pickle.loads(pickle.dumps(one)).parts == copy.copy(one).parts == one.parts
    assert Excerpt("<", "&", ">").html == '&lt;<b class="name sure">&amp;</b>&gt;'


def test_bars_tell_how_many_mentions_stand_behind_each_point(reports):
    report, page = reports[1]["evaluate"], page_of(reports, "evaluate")
    figure = next(one for one in page.split("<figure>") if "<figcaption>Calibration" in one)
    table = next(view for view in report.views if view.name == "calibration")
    counts = [int(row[2]) for row in table.rows]
    bars = re.findall(r'height="([\d.]+)"><title>(.*?): ([\d,]+) mentions', figure)
    assert [int(count.replace(",", "")) for *_, count in bars] == counts
    tallest = max(float(height) for height, *_ in bars)
    for height, _, count in bars:
        assert float(height) / tallest == pytest.approx(int(count) / max(counts), abs=0.01)


def test_a_method_keeps_its_colour_from_plot_to_plot(reports):
    colours: dict[str, set[str]] = {}
    for figure in page_of(reports, "evaluate").split("<figure>")[1:]:
        if "<figcaption>P@1" in figure:
            continue  # its colours are slices
        for colour, name in re.findall(r'<li class="(s\d)">(.*?)</li>', figure):
            colours.setdefault(name, set()).add(colour)
    assert "default" in colours
    assert all(len(used) == 1 for used in colours.values())
    assert len({min(used) for used in colours.values()}) == len(colours)


def test_curves_may_have_more_names_than_colours():
    lines = [plots.Line(f"m{i}", [(0.0, 0.0), (1.0, 1.0)], [1, 2]) for i in range(plots.SERIES + 2)]
    drawn = plots.curve_plot(lines, "t", "a", "b")
    assert drawn.count("<polyline") == plots.SERIES + 2
    assert f"s{plots.SERIES}" not in drawn


def test_known_leaves_out_gold_that_the_kb_lacks(sample_kb, tmp_path):
    """The oracle: Q6279 is no person of the sample, and no recipe prefers it."""
    assert int(sample_kb.rows(np.array([6279]))[0]) == -1
    text = "Michael Jordan spoke."
    article = {"id": "a", "text": text, "mentions": [{"name": "Michael Jordan", "spans": [[0, 14]]}]}
    article["mentions"][0]["candidates"] = ["Q41421", "Q6279"]
    other = {"id": "b", **{key: article[key] for key in ("text", "mentions")}}
    other["mentions"] = [article["mentions"][0] | {"candidates": ["Q41421", "Q3308285"]}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(one) + "\n" for one in (article, other)))
    gold = [
        {"articleID": one, "name": "Michael Jordan", "gold": qid} for one, qid in (("a", "Q6279"), ("b", "Q3308285"))
    ]
    gold_path = gold_file(tmp_path / "gold.jsonl", gold)
    every = namesake.mistakes(tmp_path / "a.jsonl", gold_path, sample_kb, "ns-paper")
    known = namesake.mistakes(tmp_path / "a.jsonl", gold_path, sample_kb, "ns-paper", known=True)
    assert [row["article"] for row in every.rows] == ["a", "b"]
    assert [row["article"] for row in known.rows] == ["b"]
    assert "1 of 1 answerable" in known.intro[-1]
    assert "their gold entity is not in the KB: 1." in " ".join(known.intro)


@pytest.fixture(scope="module")
def browser():
    with chromium() as one:
        yield one


@pytest.mark.parametrize("name", ["evaluate", "errors", "labelled"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_of_a_report_can_be_read_on_a_phone(browser, reports, name, scheme):
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    page = context.new_page()
    page.goto((reports[0] / name / "report.html").as_uri())
    assert (faint_texts(page), unlabelled(page), overflow(page)) == ([], [], [])
    sizes = page.evaluate("""() => [...document.querySelectorAll("figure svg")].flatMap((svg) => {
        const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
        const size = (text) => parseFloat(getComputedStyle(text).fontSize) * scale;
        return [...svg.querySelectorAll("text")].map(size); })""")
    assert all(size >= 9 for size in sizes), "texts of plots stay legible"
    assert bool(sizes) == (name != "errors")
    context.close()
