"""The page in a real browser: from a pasted text to an explanation, by mouse, by keyboard, on a phone, in the dark."""

import csv
import json
import re
from collections import Counter

import numpy as np
import pytest

from browser import chromium, faint_texts, overflow, unlabelled
from namesake import Linker, NamesakeError
from namesake.apps.server.page_api import FILES, draw, samples
from namesake.kinds import kinds
from serving import running
from several_kinds import TEXT, WORLD, detector

BULLS = (
    "Michael Jordan of the Chicago Bulls, once a baseball player, won with Scottie Pippen and Dennis Rodman. "
    "Jordan wept. Adam Smith (born 1971), a baker of pork pies, did not."
)
PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def address(linker):
    with running(linker) as client:
        yield f"http://127.0.0.1:{client.port}"


@pytest.fixture(scope="module")
def browser():
    with chromium() as one:
        yield one


@pytest.fixture
def visit(browser, address):
    """Opens the page as somebody has it; at the end nothing may have gone wrong in the browser."""
    contexts, faults = [], []

    def opened(**options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        page.on("request", lambda asked: None if asked.url.startswith(address) else faults.append(asked.url))
        page.on("dialog", lambda dialog: (faults.append("a script ran"), dialog.dismiss()))
        page.goto(address)
        page.faults = faults
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


def paste(page, text: str, date: str = "") -> None:
    page.get_by_label("Text to link").fill(text)
    page.get_by_label("Date of the text").fill(date)
    page.get_by_role("button", name="Link names").click()


def explained(page, name: str) -> None:
    """Waits until this name is explained."""
    page.locator("#whose", has_text=re.compile(f"^{name}$")).wait_for()
    page.locator("#panel .candidate").first.wait_for()


def choose(page, name: str) -> None:
    page.locator("#marked .name", has_text=name).first.click()
    explained(page, name)


def fulfil(answer: dict):
    return lambda route: route.fulfill(**answer)


def marks(page) -> list[str]:
    page.locator("#marked").wait_for()
    return page.locator("#marked .name").all_inner_texts()


def test_page_from_paste_to_explanation(visit, linker):
    page = visit()
    paste(page, BULLS, "1996-06-17")
    links = linker.link_text(BULLS, date="1996-06-17")
    spans = sorted(span for link in links for span in link.spans)
    assert marks(page) == [BULLS[start:end] for start, end in spans]
    assert page.locator("#marked .text").inner_text() == BULLS
    choose(page, "Michael Jordan")
    why = page.get_by_role("region", name="Explanation")
    assert why.locator("h2").inner_text() == "Michael Jordan"
    best = why.locator(".candidate").first
    assert best.locator("h3 a").get_attribute("href") == "https://www.wikidata.org/wiki/Q41421"
    assert "1963–" in best.inner_text()
    assert linker.kb.descriptions[int(linker.kb.rows(np.array([41421]))[0])] in best.inner_text()
    assert why.locator(".candidate").count() > 2, "candidates stand side by side"
    one, two = (why.locator(".candidate").nth(i).bounding_box() for i in (0, 1))
    assert one["y"] == two["y"]
    assert one["x"] < two["x"]
    assert "NIL" in why.inner_text()
    values = best.locator(".waterfall tr").evaluate_all("rows => rows.map(row => Number(row.dataset.value))")
    assert sum(values[:-1]) == pytest.approx(values[-1])
    [link] = [link for link in links if link.name == "Michael Jordan"]
    assert values[-1] == pytest.approx(link.score)
    assert "Chicago Bulls with Dennis Rodman" in best.inner_text(), "statements shared with people of the text"


def test_page_marks_matched_words_where_they_stand(visit, linker):
    page = visit()
    paste(page, BULLS, "1996-06-17")
    choose(page, "Michael Jordan")
    why = linker.explain_text(BULLS, "Michael Jordan", "1996-06-17")
    for number, qid in enumerate(dict.fromkeys(row["qid"] for row in why.rows[0])):
        if number > 2:
            break
        page.locator(".candidate").nth(number).hover()
        spans = {
            (start, end)
            for row in why.rows[0]
            if row["qid"] == qid
            for match in row["matches"] or ()
            if match["word"] is not None
            for start, end in match["spans"]
        }
        names = [span for link in linker.link_text(BULLS, date="1996-06-17") for span in link.spans]
        free = [s for s in sorted(spans) if not any(s[0] < end and start < s[1] for start, end in names)]
        assert page.locator("#marked .match").all_inner_texts() == [BULLS[start:end] for start, end in free]
        if qid == "Q41421":
            assert "Bulls" in page.locator("#marked .match").all_inner_texts()


def test_page_tells_why_a_name_is_nobody_and_the_slider_moves_the_threshold(visit, linker):
    page = visit()
    paste(page, BULLS, "1996-06-17")
    links = {link.name: link for link in linker.link_text(BULLS, date="1996-06-17")}
    baker = links["Adam Smith"]
    assert baker.qid is None, "the baker is not the economist"
    choose(page, "Adam Smith")
    assert page.locator(".verdict").inner_text().startswith("NIL, ")
    for least in (0, 35, 50, 80, 97, 100):
        page.get_by_label("Lowest confidence").fill(str(least))
        wanted = sum(
            link.confidence >= least / 100
            for link in links.values()
            if link.reason not in ("not a person", "no candidates")
        )
        assert page.locator("#count").inner_text().startswith(f"{wanted} of {len(links)} names linked")
        is_nobody = baker.confidence < least / 100
        assert page.locator("#marked .name.nil", has_text="Adam Smith").count() == is_nobody
        assert page.locator("#slid").is_visible() == (not is_nobody)


def test_page_works_with_the_keyboard_alone(visit):
    page = visit()
    page.get_by_label("Text to link").focus()
    page.keyboard.insert_text(BULLS)
    page.keyboard.press("Control+Enter")
    assert marks(page)[0] == "Michael Jordan"
    focused = "() => document.activeElement.textContent"
    assert page.evaluate(focused) == "Michael Jordan"
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == "Scottie Pippen"
    page.keyboard.press("Enter")
    explained(page, "Scottie Pippen")
    page.keyboard.press("ArrowRight")
    explained(page, "Dennis Rodman")
    page.keyboard.press("Escape")
    assert page.locator("#why").is_hidden()
    assert page.evaluate(focused) == "Dennis Rodman"


def test_page_picks_a_sample_with_its_headline_and_date(visit, linker):
    page = visit()
    page.get_by_role("button", name="Learning machines fill the halls in Montreal").click()
    choose(page, "Michael Jordan")
    assert page.locator("#marked h2").inner_text() == "Learning machines fill the halls in Montreal"
    assert "Q3308285" in page.locator(".candidate").first.inner_text()
    page.get_by_role("button", name="Edit the text").click()
    assert page.get_by_label("Date of the text").input_value() == "2015-12-07"
    assert "Several thousand researchers" in page.get_by_label("Text to link").input_value()


def test_page_takes_a_dropped_file(visit):
    page = visit()
    drop = """([id, text]) => { const data = new DataTransfer(); data.items.add(new File([text], "news.txt"));
        const how = {dataTransfer: data, bubbles: true, cancelable: true};
        const events = ["dragover", "drop"].map((kind) => new DragEvent(kind, how));
        for (const event of events) document.getElementById(id).dispatchEvent(event);
        return events.every((event) => event.defaultPrevented); }"""
    for place in ("text", "hello"):  # on the field for it, or beside
        assert page.evaluate(drop, [place, BULLS]), "the browser leaves the page for the file"
        assert "Scottie Pippen" in marks(page)
        page.get_by_role("button", name="Edit the text").click()
    page.evaluate(drop, ["text", "a\0b"])
    page.get_by_role("alert").filter(has_text="not plain text").wait_for()
    page.evaluate(drop, ["text", "x" * (4 << 20) + "x"])
    page.get_by_role("alert").filter(has_text="too long").wait_for()
    assert page.get_by_label("Text to link").input_value() == BULLS


def test_page_never_runs_what_is_pasted(visit):
    hostile = (
        '<script>alert(1)</script><img src=x onerror=alert(2)> Michael Jordan "><svg onload=alert(3)> &lt;b&gt; '
        "</div></section><a href=javascript:alert(4)>Scottie Pippen</a> \u202e dunked for the Bulls."
    )
    page = visit()
    paste(page, hostile)
    assert marks(page) == ["Michael Jordan", "Scottie Pippen"]
    assert page.locator("#marked .text").inner_text() == hostile.replace("\u202e", "\ufffd")
    assert page.locator("#marked script, #marked img, #marked svg, #marked b").count() == 0
    choose(page, "Michael Jordan")


def test_page_says_kindly_what_went_wrong(visit):
    page = visit()
    alert = page.get_by_role("alert")
    paste(page, "   ")
    assert "no text yet" in alert.inner_text()
    paste(page, BULLS, "last week")
    alert.filter(has_text="2016-12-26").wait_for()
    assert "date" in alert.inner_text()
    page.faults.clear()  # the browser itself notes the status 422, and those below
    for answer, said in (
        ({"status": 500, "body": "<h1>oops</h1>"}, "500"),
        ({"status": 413, "body": '{"error": "the text is longer than 9 characters"}'}, "longer than 9"),
        ({"status": 503, "body": "{}"}, "busy"),
    ):
        page.route("**/draw", fulfil(answer))
        paste(page, BULLS)
        alert.filter(has_text=said).wait_for()
    page.route("**/draw", lambda route: route.abort())
    paste(page, BULLS)
    alert.filter(has_text="does not answer").wait_for()
    assert page.get_by_label("Text to link").input_value() == BULLS
    page.faults.clear()


def test_page_keeps_the_text_when_an_explanation_fails(visit):
    page = visit()
    paste(page, BULLS)
    page.locator("#marked .name").first.wait_for()
    page.route("**/draw", lambda route: route.abort())
    page.locator("#marked .name", has_text="Michael Jordan").click()
    page.get_by_role("alert").filter(has_text="does not answer").wait_for()
    assert "Michael Jordan" in marks(page)
    page.faults.clear()  # the browser notes the failure
    page.unroute("**/draw")
    choose(page, "Michael Jordan")
    assert page.locator("#message").is_hidden()


def test_page_without_names_says_so(visit):
    page = visit()
    paste(page, "It rained, and nobody came.")
    assert marks(page) == []
    assert "No name in this text" in page.locator("#count").inner_text()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, {"width": 1280, "height": 800}], ids=["phone", "desk"])
def test_page_can_be_read_by_all(visit, scheme, size):
    """Contrast, labels and width: of the empty page, of a marked text, and of an explanation."""
    page = visit(viewport=size, color_scheme=scheme)
    page.locator("#samples button").first.wait_for()
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(map(int, re.findall(r"\d+", ground))) < 200) == (scheme == "dark")

    def checked() -> None:
        assert (faint_texts(page), unlabelled(page), overflow(page)) == ([], [], [])

    checked()
    paste(page, BULLS, "1996-06-17")
    assert "Jordan" in marks(page)
    checked()
    choose(page, "Adam Smith")
    checked()
    choose(page, "Michael Jordan")
    checked()


def test_page_fits_the_screen_while_it_explains(visit):
    """The pane is whole above the fold and scrolls by itself; the page does not scroll for it."""
    page = visit(viewport={"width": 1280, "height": 720})
    paste(page, BULLS)
    page.locator("#marked .name").first.click()
    page.locator("#panel .candidate").first.wait_for()
    height, bottom, inner = page.evaluate(
        """() => [document.documentElement.scrollHeight, document.querySelector("#why").getBoundingClientRect().bottom,
          document.querySelector("#why").scrollHeight]"""
    )
    assert inner > 720
    assert bottom <= height <= 720


def test_the_page_refers_to_nothing_outside():
    for kind, body in FILES.values():
        if kind != "image/svg+xml":
            assert b"//" not in body.replace(b"// ", b""), kind
    assert {"/", "/page.css", "/page.js", "/samples.json"} <= FILES.keys()
    assert b" style=" not in FILES["/"][1]


def test_what_the_page_is_told_is_what_the_linker_says(linker):
    asked = (BULLS, "Jordan & co.", "1996-06-17")
    told = draw(linker, *asked)
    links = linker.link_text(BULLS, date="1996-06-17", title="Jordan & co.")
    names = ("name", "qid", "best", "confidence", "reason")
    assert [tuple(one[name] for name in names) for one in told["mentions"]] == [
        tuple(getattr(link, name) for name in names) for link in links
    ]
    assert told["threshold"] == linker.recipe.decide.threshold
    for number, link in enumerate(links):
        why = draw(linker, *asked, number)
        assert (link.qid or "NIL") in why["panel"]
        assert " style=" not in told["html"] + why["html"] + why["panel"]
        assert re.sub(r'<span class="word" data-at="\d+">(.*?)</span>', r"\1", why["html"]) == told["html"]
    for beyond in (-1, len(links)):
        with pytest.raises(NamesakeError, match=f"mention {beyond}: the text has {len(links)} names"):
            draw(linker, *asked, beyond)
    assert draw(Linker(linker.kb, "iscore-paper"), BULLS)["threshold"] is None


# kinds
@pytest.fixture(scope="module")
def world_address(world_kb):
    with running(Linker(world_kb, threshold=0.0, mentions=detector("Zorblax Quux"))) as client:
        yield f"http://127.0.0.1:{client.port}"


def labelled(page) -> list[tuple[str, str]]:
    """The names that are marked, each with the label behind it."""
    return page.locator("#marked .name:not(.off)").evaluate_all(
        """names => names.map((name) =>
          [name.textContent, getComputedStyle(name, "::after").content.replaceAll('"', "")])"""
    )


def test_page_labels_the_kind_of_each_name_and_filters_by_it(browser, world_address):
    page = browser.new_page()
    page.goto(world_address)
    paste(page, TEXT)
    page.locator("#marked .name").first.wait_for()
    symbols = {kind.name: kind.symbol for kind in kinds()}
    expected = sorted(([one.label, symbols[one.kind]] for one in WORLD.values()), key=lambda one: TEXT.index(one[0]))
    assert labelled(page) == [*expected, ["Zorblax Quux", "none"]], "a name in no KB has no kind"
    assert page.locator("#marked .text").inner_text() == TEXT, "the labels are not part of the text"
    colours = page.locator("#marked .name[data-kind]").evaluate_all(
        "names => Object.fromEntries(names.map(name => [name.dataset.kind, getComputedStyle(name).borderBottomColor]))"
    )
    assert len(set(colours.values())) == len(colours) == len({one.kind for one in WORLD.values()})
    paris = page.locator("#marked .name", has_text="Paris")
    assert "(place: capital and largest city of France)" in paris.get_attribute("title")
    group = page.get_by_role("group", name="Kinds")
    assert [" ".join(one.split()) for one in group.locator("label:visible").all_inner_texts()] == [
        "PER people 1", "LOC places 4", "ORG organisations 1", "WRK works 1", "EVT events 1", "PRD products 1",
        "CHR characters 1",
    ]  # fmt: skip
    group.get_by_label("places").focus()
    page.keyboard.press("Space")
    left = [one for one in expected if one[1] != "LOC"]
    assert labelled(page) == [*left, ["Zorblax Quux", "none"]]
    assert page.locator("#count").inner_text().startswith(f"{len(left)} of {len(WORLD) + 1} names linked")
    page.locator("#marked .name", has_text="Angela Merkel").focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.textContent") == "United Nations", "arrows skip Paris"
    choose(page, "United Nations")
    assert "organisation" in page.locator(".candidate[data-qid=Q1065]").inner_text()
    assert labelled(page) == [*left, ["Zorblax Quux", "none"]], "the filter stays while a name is explained"
    group.get_by_label("places").check()
    assert labelled(page) == [*expected, ["Zorblax Quux", "none"]]
    assert (faint_texts(page), unlabelled(page), overflow(page)) == ([], [], [])
    page.close()


def test_page_of_people_has_no_filter(visit):
    page = visit()
    paste(page, BULLS)
    assert marks(page)
    assert page.locator("#kinds").is_hidden()
    assert "The knowledge base has" in page.locator("#count").inner_text()
    assert page.locator("#count").inner_text().endswith(" people.")


def test_examples_fit_the_kb():
    few, more = (json.loads(samples(count)) for count in (1, 8))
    assert more[-len(few) :] == few
    assert len(more) > len(few)
    assert all(one["title"] and one["date"] and len(one["text"]) > 200 for one in more)


# --- taking the result away


def linked_page(visit, **options):
    page = visit(**options)
    page.fill("#text", BULLS)
    page.click("#go")
    page.wait_for_selector("#marked .name")
    return page


def test_the_list_has_every_entity_with_its_count_sorted_and_filtered(visit, linker):
    page = linked_page(visit)
    counts = Counter()
    for link in linker.link_text(BULLS):
        counts.update({link.qid: len(link.spans)} if link.qid else {})
    rows = [row.inner_text().split("\t") for row in page.locator("#list tr").all()]
    assert {row[0].split()[-1]: int(row[2]) for row in rows} == dict(counts)
    assert [int(row[2]) for row in rows] == sorted(counts.values(), reverse=True)
    page.click("#found button[data-by=label]")
    labels = page.locator("#list th button").all_inner_texts()
    assert labels == sorted(labels)
    assert page.locator("#found th[aria-sort=ascending]").inner_text().startswith("Entity")
    page.fill("#filter", "pippen")
    assert page.locator("#list th button").all_inner_texts() == ["Scottie Pippen"]
    page.fill("#filter", "nobody has this name")
    assert page.locator("#empty").is_visible()
    page.fill("#filter", "jordan")
    for place in (0, 1, 0):
        page.click("#list th button")
        focused = page.evaluate("() => [...document.querySelectorAll('#marked .name')].indexOf(document.activeElement)")
        marks = page.locator("#marked .name").all()
        own = [at for at, mark in enumerate(marks) if "Jordan" in mark.inner_text()]
        assert focused == own[place % len(own)]
    page.locator("#threshold").fill("100")
    assert page.locator("#list tr").count() == 0


def test_downloads_are_the_links_of_the_linker(visit, linker, tmp_path):
    page = linked_page(visit)
    wanted = [(start, end, link.name, link.qid) for link in linker.link_text(BULLS) for start, end in link.spans]
    files = {}
    for form in ("csv", "jsonl"):
        with page.expect_download() as download:
            page.click(f"#{form}")
        files[form] = tmp_path / f"entities.{form}"
        download.value.save_as(files[form])
    lines = [json.loads(line) for line in files["jsonl"].read_text("utf-8").splitlines()]
    assert [(one["start"], one["end"], one["name"], one["qid"]) for one in lines] == wanted
    with files["csv"].open(encoding="utf-8-sig", newline="") as file:
        cells = list(csv.DictReader(file))
    assert [(int(one["start"]), int(one["end"]), one["name"], one["qid"] or None) for one in cells] == wanted
    assert all(one["confidence"] is None for one in lines if one["qid"] is None), "NIL has no confidence of a candidate"


def test_the_text_with_links_and_a_link_to_the_text_are_copied(visit, linker):
    page = linked_page(visit)
    page.evaluate(
        """() => { window.clips = {}; const set = DataTransfer.prototype.setData;
          DataTransfer.prototype.setData = function (type, text) {
            window.clips[type] = text; set.call(this, type, text); }; }"""
    )
    page.click("#copy")
    copied = page.evaluate("() => window.clips")
    plain, rich = copied["text/plain"], copied["text/html"]
    for link in linker.link_text(BULLS):
        if link.qid:
            start, end = link.spans[0]
            assert f"[{BULLS[start:end]}](https://www.wikidata.org/wiki/{link.qid})" in plain
            assert f'<a href="https://www.wikidata.org/wiki/{link.qid}">{BULLS[start:end]}</a>' in rich
    assert re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", plain) == BULLS
    page.click("#permalink")
    address = page.evaluate("() => location.href")
    assert "#text=" in address
    sent = []
    other = visit()
    other.on("request", lambda request: sent.append(request.url))
    other.goto(address)
    other.wait_for_selector("#marked .name")
    other.reload()
    other.wait_for_selector("#marked .name")
    assert other.locator("#marked").inner_text() == page.locator("#marked").inner_text()
    assert not any("Jordan" in url for url in sent), "the text is in no address that is requested"


def test_a_sentence_and_a_legend_stand_with_the_waterfalls(visit):
    page = linked_page(visit)
    page.click("#marked .name")
    page.wait_for_selector("#panel .sentence")
    assert page.locator("#panel .sentence").inner_text().startswith("Mainly because ")
    assert "log-odds" in page.locator("#panel .legend-of-points").inner_text()
    assert "Click a name" in page.locator("#next").inner_text()


@pytest.mark.parametrize("width", [390, 1400])
def test_the_list_is_readable_and_fits_the_screen(visit, width):
    page = linked_page(visit, viewport={"width": width, "height": 900})
    assert (faint_texts(page), unlabelled(page), overflow(page)) == ([], [], [])


def test_script_in_texts_and_names_stays_text(visit):
    page = visit()
    page.fill(
        "#text", '<img src=x onerror="alert(1)"> Michael Jordan of the Chicago Bulls =cmd <script>alert(2)</script>'
    )
    page.click("#go")
    page.wait_for_selector("#marked .name")
    page.fill("#filter", "<script>")
    assert page.locator("#marked img, #marked script, #found script").count() == 0
