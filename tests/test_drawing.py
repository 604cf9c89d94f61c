"""HTML drawn from tables: every span marked, every text escaped, waterfalls that add up, common facts folded away."""

import html
import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake.drawing.evidence import evidence, rounded, side_by_side, steps
from namesake.drawing.text import Mark, hint, marked_article
from namesake.drawing.theme import GRADES, grade, notebook_style
from namesake.errors import NamesakeError
from namesake.kinds import kinds

BULLS = (
    "Michael Jordan of the Chicago Bulls, once a baseball player, won with Scottie Pippen and Dennis Rodman. "
    "Jordan wept. John Smith of Kent did not."
)


class Reader(HTMLParser):
    """What a browser would make of a fragment: its text, and its tags with their attributes and what is in them."""

    VOID = frozenset({"rect", "line", "meta", "link", "input", "br", "circle", "path", "polyline"})

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text, self.tags, self.open = "", [], []
        self.feed(source)
        self.close()
        assert self.open == [], "every tag that opens is closed"

    def handle_starttag(self, tag, attrs):
        one = [tag, dict(attrs), ""]
        self.tags.append(one)
        if tag not in self.VOID:
            self.open.append(one)

    def handle_startendtag(self, tag, attrs):
        self.tags.append([tag, dict(attrs), ""])

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        if any(one[0] == "style" for one in self.open):
            return
        self.text += data
        for one in self.open:
            one[2] += data

    def classed(self, name: str) -> list[list]:
        return [one for one in self.tags if name in (one[1].get("class") or "").split()]


def marked(text, marks):
    """A text with marks, without the box around it."""
    return marked_article(text, None, marks, ()).removeprefix('<div class="text">').removesuffix("</div>")


@pytest.fixture(scope="module")
def explained(linker):
    return linker.explain_text(BULLS, date="1996-06-17")


plain = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x10FFFF, exclude_categories=("Cs", "Cc", "Cf", "Zl", "Zp"))
)


@given(plain, st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)), max_size=8))
def test_a_marked_text_reads_as_the_text(text, spans):
    """Whatever is in it and wherever marks are: nothing is lost, nothing becomes a tag."""
    seen = Reader(marked(text, [Mark(start, end, "b") for start, end in spans]))
    assert seen.text == text
    fitting = {(start, end) for start, end in spans if start < end <= len(text)}
    assert all(tag == "b" for tag, *_ in seen.tags)
    assert {inside for *_, inside in seen.tags} <= {text[start:end] for start, end in fitting}
    apart = sorted(fitting)
    if all(one[1] <= two[0] for one, two in pairwise(apart)):
        assert [inside for *_, inside in seen.tags] == [text[start:end] for start, end in apart]


@given(st.lists(st.floats(-50, 50), max_size=12))
def test_written_numbers_add_up_to_the_written_total(values):
    cents = rounded(values)
    assert sum(cents) == round(sum(values) * 100)
    assert all(abs(one - value * 100) < 1.001 for one, value in zip(cents, values, strict=True))


def test_every_span_of_a_name_is_marked(linker):
    links = linker.link_text(BULLS, date="1996-06-17", title="Michael Jordan <b>wins</b>")
    seen = Reader(links._repr_html_())
    wanted = [BULLS[start:end] for link in links for start, end in link.spans]
    titled = ["Michael Jordan" for link in links for _ in link.title_spans]
    assert sorted(one[2] for one in seen.classed("name")) == sorted([*wanted, *titled])
    assert "Jordan" in wanted
    assert titled == ["Michael Jordan"]
    assert BULLS in seen.text
    assert "Michael Jordan <b>wins</b>" in seen.text
    for tag, attributes, inside in seen.classed("name"):
        [link] = [
            one
            for one in links
            if inside in {BULLS[s:e] for s, e in one.spans} | ({one.name} if one.title_spans else set())
        ]
        assert (tag == "a") == (link.qid is not None)
        assert attributes.get("href") == (f"https://www.wikidata.org/wiki/{link.qid}" if link.qid else None)
        assert grade(link.qid is not None, link.confidence) in attributes["class"].split()
        assert (link.runner_up or "") in attributes["title"]
        if link.qid is None:
            assert attributes["title"].startswith("NIL: ")


def test_links_are_still_a_list(linker):
    links = linker.link_text(BULLS)
    assert isinstance(links, list)
    assert links == list(links)
    assert linker.link_text("Nobody at all.") == []
    assert "Nobody at all." in linker.link_text("Nobody at all.")._repr_html_()


def test_the_runner_up_is_the_second_candidate(linker):
    """The oracle is the link table with all candidates, and the explanation's own probabilities."""
    from namesake.articles.builder import text_table

    rows = linker.link(text_table(BULLS, None, "1996-06-17"), scores=True).to_pylist()
    explained = linker.explain_text(BULLS, date="1996-06-17")
    seen = 0
    for row, link, why in zip(rows, explained.links, explained.rows, strict=True):
        assert link["candidates"] == len(row["candidates"])
        people = [one for one in why if one["qid"] is not None]
        ranked = list(dict.fromkeys(one["qid"] for one in people))
        assert ranked[0] == row["best"] == link["best"]
        assert link["runner_up"] == (ranked[1] if len(ranked) > 1 else None)
        if len(ranked) > 1:
            seen += 1
            [confidence] = {one["confidence"] for one in people if one["qid"] == ranked[1]}
            assert link["runner_up_confidence"] == pytest.approx(confidence)
    assert seen


def waterfalls(source: str) -> list[list[tuple[str, float, str]]]:
    """Part, value and written number of each line of each waterfall."""
    tables = re.findall(r'<table class="waterfall">(.*?)</table>', source, re.DOTALL)
    line = re.compile(r'data-part="(.*?)" data-value="(.*?)".*?<td>([^<]*)</td></tr>', re.DOTALL)
    return [[(part, float(value), shown) for part, value, shown in line.findall(table)] for table in tables]


def test_waterfalls_add_up_to_the_score_none_of_them_included(explained):
    number = 0
    for rows in explained.rows:
        drawn = waterfalls(side_by_side(rows, explained.text, explained.people))
        scores = list(dict.fromkeys((row["rank"], row["qid"], row["score"]) for row in rows))
        kept = [one for one in scores if one[1] is None] + [one for one in scores if one[1] is not None][:5]
        assert None in {qid for _, qid, _ in kept}
        for (_, _, score), lines in zip(sorted(kept), drawn, strict=True):
            *parts, (last, total, written) = lines
            assert last == "total"
            assert total == pytest.approx(score, abs=1e-9)
            assert sum(value for _, value, _ in parts) == pytest.approx(score, abs=1e-9)
            as_shown = [float(shown.replace("−", "-")) for *_, shown in parts]
            assert sum(as_shown) == pytest.approx(float(written.replace("−", "-")), abs=1e-9)
            number += 1
    assert number > 8


def test_a_step_begins_where_the_one_before_it_ended(explained):
    for rows in explained.rows:
        first = [row for row in rows if row["rank"] == 1]
        bars = steps(first)
        assert bars[0].begin == 0
        assert all(one.end == two.begin for one, two in pairwise(bars))
        assert {row["part"] for row in first if abs(row["contribution"] or 0) >= 0.05} <= {bar.part for bar in bars}


def test_evidence_names_words_as_the_text_has_them_and_folds_common_facts(explained):
    rows = [row for row in explained.rows[0] if row["qid"] == "Q41421"]
    found = evidence(rows, BULLS)
    words = {word for _, group in found.words for word in group}
    assert "Chicago" in words
    assert all(word in BULLS for word in words)
    assert {BULLS[start:end] for start, end in found.spans} >= words
    matches = [m for row in rows for m in row["matches"] or () if m["word"] is None]
    common = {s["value"] for m in matches for s in m["sources"] if s["property"] in ("P31", "P21")}
    assert {one.value for one in found.shared if one.common} == common != set()
    seen = Reader(side_by_side(explained.rows[0], BULLS, explained.people))
    folded = " ".join(inside for tag, _, inside in seen.tags if tag == "details")
    assert all(value in folded for value in common)


def test_candidates_have_description_dates_and_a_link(explained):
    source = side_by_side(explained.rows[0], BULLS, explained.people)
    seen = Reader(source)
    best = seen.classed("best")[0]
    person = explained.people["Q41421"]
    assert person.years.startswith("1963–")
    assert person.years in best[2]
    assert person.description in best[2]
    assert "https://www.wikidata.org/wiki/Q41421" in source


def test_who_has_no_description_is_told_by_occupation_and_country(sample_kb):
    from namesake.kb.records import describe, found

    bare = [row for row in range(len(sample_kb.qids)) if not sample_kb.descriptions[row]]
    assert bare
    for row in bare:
        told = [s.label for s in describe(sample_kb, row).statements if s.property in ("P106", "P27")]
        assert all(one in found(sample_kb, row).description for one in told[:2])
    described = next(row for row in range(len(sample_kb.qids)) if sample_kb.descriptions[row])
    assert found(sample_kb, described).description == sample_kb.descriptions[described]


def test_an_explanation_shows_itself(linker):
    why = linker.explain_text("<script>alert(1)</script> " + BULLS, name="michael jordan", title="A <i>title</i>")
    assert {row["name"] for row in why.table.to_pylist()} == {"Michael Jordan"}
    assert "Michael Jordan: Michael Jordan, Q41421" in repr(why)
    source = why._repr_html_()
    assert "<script" not in source
    assert "<i>" not in source
    assert "details" in source
    assert 'class="why" open' in source
    assert "http" not in re.sub(r'href="https://www\.wikidata\.org/wiki/Q\d+"', "", source), "no outside resources"
    assert "names" in linker._repr_html_()
    assert "recipe" in linker._repr_html_()


def test_a_name_that_is_not_there_is_refused_with_those_that_are(linker):
    with pytest.raises(NamesakeError, match=r"no name 'Michael Jordon' .did you mean 'Michael Jordan'.*; its names"):
        linker.explain_text(BULLS, name="Michael Jordon")
    one = linker.explain_text(BULLS, name="MICHAEL  JORDAN", most=1)
    assert repr(one).startswith("Explanation of 1 name (")
    assert {row["qid"] for row in one.table.to_pylist()} == {"Q41421", None}


def test_what_others_wrote_is_escaped_in_hints():
    link = {"qid": "Q1", "label": 'A "B" <i>', "description": "<b>", "confidence": 0.8, "best": "Q1", "reason": None}
    assert hint(link) == 'A "B" <i>, Q1, 80 % (<b>)'
    from namesake.drawing.text import name_marks

    drawn = marked("Abc", name_marks([link | {"spans": [[0, 3]]}]))
    [(tag, attributes, inside)] = Reader(drawn).tags
    assert (tag, inside, attributes["title"]) == ("a", "Abc", hint(link))
    assert html.unescape(drawn).count("<") == drawn.count("<") + 2


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    high, low = sorted((luminance(one), luminance(two)), reverse=True)
    return (high + 0.05) / (low + 0.05)


COLOURS = re.findall(r"--(\w+): light-dark\((#\w{6}), (#\w{6})\)", notebook_style())
LIGHT, DARK = ({name: both[theme] for name, *both in COLOURS} for theme in (0, 1))


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_colours_can_be_read(theme):
    """WCAG AA: 4.5 for what is text, on every ground that it stands on."""
    for ground in ("paper", "band"):
        for text in ("ink", "soft", "person", "for", "against", "nil"):
            assert contrast(theme[text], theme[ground]) >= 4.5, (text, ground)
    assert contrast(theme["ink"], theme["match"]) >= 4.5
    shares = [
        int(share) for share in re.findall(r"color-mix\(in srgb, [^%]* (\d+)%, var\(--paper\)\)", notebook_style())
    ]
    assert len(shares) == len(GRADES)
    for kind in kinds():  # a name is marked in the colour of its kind, the more confident the stronger
        for share in shares:
            assert contrast(theme["ink"], mixed(theme[kind.colour], theme["paper"], share)) >= 4.5, (kind.name, share)


def mixed(colour: str, ground: str, share: int) -> str:
    """So many percent of a colour, and the rest of the ground."""
    pairs = ((int(one[at : at + 2], 16) for one in (colour, ground)) for at in (1, 3, 5))
    return "#" + "".join(f"{round((a * share + b * (100 - share)) / 100):02x}" for a, b in pairs)


def test_one_style_sheet_for_light_and_dark_without_outside_resources():
    sheet = notebook_style()
    assert "color-scheme: light dark" in sheet
    assert "url(" not in sheet
    assert "@import" not in sheet
    used = set(re.findall(r"var\(--(\w+)\)", sheet))
    assert used - {"own", "kind"} <= set(LIGHT) == set(DARK)
    assert [grade(True, least) for _, least in GRADES] == [name for name, _ in GRADES]
    assert grade(False, 0.99) == "nil"
    assert grade(True, None) == "sure"


JUPYTER = """<style>
body { background: GROUND; }
.jp-RenderedHTMLCommon { color: INK; }
.jp-RenderedHTMLCommon a:link, .jp-RenderedHTMLCommon a:visited { text-decoration: none; color: LINK; }
.jp-RenderedHTMLCommon table { border-collapse: collapse; color: INK; font-size: 13px; table-layout: fixed;
  margin: 0 auto 1em; }
.jp-RenderedHTMLCommon td, .jp-RenderedHTMLCommon th, .jp-RenderedHTMLCommon tr { vertical-align: middle; padding: .5em;
  line-height: normal; white-space: normal; max-width: none; border: none; }
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon td, :not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon th,
:not(.jp-RenderedMarkdown).jp-RenderedHTMLCommon tr { text-align: right; }
.jp-RenderedHTMLCommon th { font-weight: bold; }
.jp-RenderedHTMLCommon tbody tr:nth-child(odd) { background: GROUND; }
.jp-RenderedHTMLCommon tbody tr:nth-child(even) { background: STRIPE; }
.jp-RenderedHTMLCommon tbody tr:hover { background: HOVER; }
</style>"""
"""What JupyterLab says of tables and links, with the colours of its two themes to be filled in."""
THEMES = {
    "true": {
        "GROUND": "#ffffff",
        "INK": "rgba(0, 0, 0, .87)",
        "STRIPE": "#f5f5f5",
        "HOVER": "#e1f5fe",
        "LINK": "#1976d2",
    },
    "false": {"GROUND": "#111111", "INK": "#ffffff", "STRIPE": "#212121", "HOVER": "#0a3d5c", "LINK": "#64b5f6"},
}


@pytest.mark.parametrize("system", ["light", "dark"])
@pytest.mark.parametrize("theme", ["true", "false", None])
def test_explanations_are_readable_in_jupyter_whatever_its_theme_and_the_systems(explained, tmp_path, theme, system):
    from browser import chromium, faint_texts

    rules = JUPYTER
    for name, colour in THEMES[theme or "true"].items():
        rules = rules.replace(name, colour)
    told = "" if theme is None else f' data-jp-theme-light="{theme}"'
    shown = f'<body{told}>{rules}<div class="jp-RenderedHTMLCommon">{explained._repr_html_()}</div></body>'
    (tmp_path / "a.html").write_text(f"<!doctype html><meta charset=utf-8>{shown}")
    with chromium() as browser:
        page = browser.new_page(color_scheme=system)
        page.goto((tmp_path / "a.html").as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert faint_texts(page) == []
        light = theme == "true" if theme else system == "light"
        ground = page.evaluate("getComputedStyle(document.querySelector('.namesake')).backgroundColor")
        assert ground == "rgb" + str(tuple(bytes.fromhex((LIGHT if light else DARK)["paper"][1:])))
        page.hover(".waterfall tr:nth-child(2)")
        rows = page.evaluate(
            "[...document.querySelectorAll('.waterfall tr')].map(r => getComputedStyle(r).backgroundColor)"
        )
        assert set(rows) == {"rgba(0, 0, 0, 0)"}
        aligned = page.evaluate(
            "[...document.querySelectorAll('.waterfall th')].map(c => getComputedStyle(c).textAlign)"
        )
        assert set(aligned) == {"left"}
        [padding] = page.evaluate(
            "[...new Set([...document.querySelectorAll('.waterfall tr')].map(r => getComputedStyle(r).paddingTop))]"
        )
        assert padding == "0px"
