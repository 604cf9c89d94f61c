"""The review: its cases and their order, the page in a real browser, the server, and a recipe learnt from decisions."""

import gzip
import json
import re
import threading
from pathlib import Path

import pyarrow as pa
import pytest

from browser import chromium, faint_texts, overflow, unlabelled
from namesake import Linker
from namesake.apps.review import Case, Option, ordered, sentence_at, text_cases, write_page
from namesake.articles.article import Mention
from namesake.articles.builder import text_table
from namesake.articles.rejects import Rejects
from namesake.decisions.records import read_decisions
from namesake.sample import ARTICLES
from serving import HOST, running

EVIL = "</script><script>document.title='ran'</script><img src=x onerror=\"document.title='ran'\">"
JORDAN, SCIENTIST = "Q41421", "Q3308285"


def case(name: str, uncertainty: float, mentions: int = 1, ids: tuple[str, ...] = ("Q1",), where: str = "a") -> Case:
    options = [Option(one, 0.5, "For: words of the text.") for one in ids]
    about = {"name": name, "context": f"{abs(hash((name, where))) & 0xFFFFFFFFFFFFFFFF:016x}", "article": where}
    about |= {"span": [0, len(name)], "text": f"{name} of {where}."}
    return Case(name, where, ("", name, f" of {where}."), [], None, None, options, 1, mentions, uncertainty, [about])


def page_data(page: Path) -> dict[str, object]:
    [data] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.S)
    return json.loads(data)


# the cases
def test_the_order_is_what_one_answer_settles_most():
    few, often = case("Ann", 0.9), [case("Bob", 0.4, 1, ("Q2",), f"b{at}") for at in range(4)]
    many = case("Cy", 0.2, 10, ("Q3",))
    found = [(one.name, one.where) for one in ordered([few, *often, many])]
    assert found == [("Cy", "a"), ("Bob", "b0"), ("Ann", "a"), ("Bob", "b1"), ("Bob", "b2"), ("Bob", "b3")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("He left. Then Ann Lee came back. All cheered.", "Then Ann Lee came back."),
        ("Ann Lee", "Ann Lee"),
        ("A title\nAnn Lee of St. Ives won!", "Ann Lee of St. Ives won!"),
        ("“Stop.” Ann Lee said. “Go on.”", "Ann Lee said."),
    ],
)
def test_the_sentence_around_a_name(text, sentence):
    start = text.index("Ann Lee")
    assert "".join(sentence_at(text, start, start + 7)) == sentence


def test_cases_of_text_are_the_uncertain_mentions(linker):
    articles = pa.table({"id": ["a", "b"], "text": ["Michael Jordan spoke. Michael Jordan left.", "Nobody came."]})
    links = linker.link(articles)
    [found] = text_cases(linker, links, [articles], 0.8)
    assert (found.name, found.where, found.mentions) == ("Michael Jordan", "a", 2)
    assert "".join(found.sentence) == "Michael Jordan spoke."
    assert found.options[0].id == links["best"][0].as_py()
    assert found.uncertainty == pytest.approx(1 - max(links["confidence"][0].as_py(), 1 - links["known"][0].as_py()))
    assert not list(text_cases(linker, links, [articles], 0.1))


def test_a_case_of_text_shows_the_longest_mention(linker):
    articles = text_table("Jordan spoke. Michael Jordan left.", [Mention("Michael Jordan", [(0, 6), (14, 28)])], None)
    [found] = text_cases(linker, linker.link(articles), [articles], 0.8)
    assert found.sentence == ("", "Michael Jordan", " left.")


def test_rows_with_the_same_content_are_one_case_and_others_with_the_name_are_similar(run):
    rows = "Name,Job\n" + "Imran Khan,politician\n" * 2 + "Imran Khan,painter\n"
    Path("t.csv").write_text(rows)
    ran = run("review", "t.csv", "--name", "Name", "--type", "occupation=Job", "--below", "1", "-o", "r.html")
    assert "r.html: 3 rows to review" in ran.err
    cases = page_data(Path("r.html"))["cases"]
    assert sorted((one["where"], one["mentions"]) for one in cases) == [
        ("row 2 and 1 with the same content", 2),
        ("row 4", 1),
    ]
    assert len({one["group"] for one in cases}) == 1
    [both] = [one for one in cases if one["mentions"] == 2]
    assert both["decided"][0]["cells"] == {"Name": "Imran Khan", "Job": "politician"}
    said = " ".join(option["why"] for one in cases for option in one["options"])
    assert "occupation of the row" in said
    assert "PropertyValues" not in said


def test_rows_are_decided_by_their_numbers(run):
    Path("t.csv").write_text("Name,About\nMichael Jordan,wrote a book\nMichael Jordan,basketball\n")
    given = ["review", "t.csv", "--name", "Name", "--context", "About", "-o", "d.jsonl"]
    assert run(*given, "--decide", f"2={SCIENTIST}", "--decide", "3=not:Q41421", "--by", "anna").code == 0
    found = [(one.decision.decision, one.decision.entity, one.decision.by) for one in read_decisions("d.jsonl")]
    assert found == [("entity", SCIENTIST, "anna"), ("never", JORDAN, "anna")]
    before = Path("d.jsonl").read_bytes()
    for wrong, said in [
        ("2=nil", "contradicts 'Michael Jordan' = entity Q3308285 (d.jsonl line 1)"),
        ("1=nil", "t.csv has rows 2 to 3"),
        ("2", "write ROW=QID or ROW=nil"),
        ("2=Barack", "entity is 'Barack', not a QID"),
    ]:
        ran = run(*given, "--decide", wrong)
        assert ran.code == 2
        assert said in ran.err.splitlines()[-1]
    assert Path("d.jsonl").read_bytes() == before


def test_agreement_of_two_reviewers(run):
    def lines(by: str, answers: list[str | None]) -> str:
        made = [{"decision": "nil" if qid is None else "entity", "name": "A", "by": by} for qid in answers]
        made = [one | ({} if qid is None else {"entity": qid}) for one, qid in zip(made, answers, strict=True)]
        return "".join(json.dumps(one | {"context": f"{at:016x}"}) + "\n" for at, one in enumerate(made))

    Path("a.jsonl").write_text(lines("anna", ["Q1"] * 25 + [None] * 25))
    Path("b.jsonl").write_text(lines("ben", ["Q1"] * 20 + [None] * 5 + ["Q1"] * 10 + [None] * 15))
    ran = run("review", "--agreement", "a.jsonl", "b.jsonl")
    assert "35 of 50 cases alike, Cohen's kappa 0.400" in ran.out
    Path("both.jsonl").write_text(Path("a.jsonl").read_text() + Path("b.jsonl").read_text())
    assert "anna and ben: 35 of 50 cases alike" in run("review", "--agreement", "both.jsonl").out
    assert run("review", "--agreement", "a.jsonl").code == 2


# the page
def test_what_texts_and_tables_hold_is_never_markup(run):
    Path("t.csv").write_text(f'Name,Note\nMichael Jordan,"{EVIL.replace(chr(34), chr(39))}"\n')
    run("review", "t.csv", "--name", "Name", "--context", "Note", "--below", "1", "-o", "r.html")
    text = Path("r.html").read_text()
    assert text.count("<script") == 2
    assert "<img" not in text
    assert not re.findall(r"(?:src|href)=[\"']?http", text)


@pytest.fixture(scope="module")
def browser():
    pytest.importorskip("playwright.sync_api", reason="playwright drives the page")
    with chromium() as opened:
        yield opened


@pytest.fixture
def ten_thousand(linker, tmp_path) -> Path:
    cases = [case(f"Name {at % 2000}", 0.5, 1, (JORDAN, SCIENTIST), f"a{at}") for at in range(10_000)]
    assert write_page(cases, tmp_path / "r.html", "many", linker) == 10_000
    return tmp_path / "r.html"


def test_the_keys_of_the_page(browser, linker, tmp_path):
    cases = [case("Ann Lee", 0.9, 2, (JORDAN, SCIENTIST), f"a{at}") for at in range(4)] + [case(EVIL, 0.1)]
    page_path = tmp_path / "r.html"
    write_page(cases, page_path, EVIL, linker)
    page = browser.new_page(viewport={"width": 390, "height": 800})
    asked, wrong, urls = [], [], []
    page.on("pageerror", lambda problem: wrong.append(str(problem)))
    page.on("request", lambda request: urls.append(request.url))
    page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.accept()))
    page.goto(page_path.as_uri())
    assert "0 of 9 decided, 5 cases to go" in page.inner_text("#progress")
    assert "American computer scientist" in page.inner_text("#options")
    page.fill("#by", "anna")
    page.press("#by", "Tab")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("2")
    assert "6 more like this: apply?" in page.inner_text("#alike")
    assert "2 of 9 decided" in page.inner_text("#progress")  # never silently
    page.keyboard.press("n")
    page.keyboard.press("u")
    assert "2 of 9 decided" in page.inner_text("#progress")
    page.keyboard.press("n")
    page.keyboard.press("y")
    assert "8 of 9 decided" in page.inner_text("#progress")
    page.keyboard.press("u")
    assert "2 of 9 decided" in page.inner_text("#progress")  # all that the answer settled
    page.keyboard.press("Shift+Digit1")
    page.keyboard.press(" ")
    page.reload()
    assert asked == ["beforeunload"]  # nothing was saved yet
    assert "4 of 9 decided" in page.inner_text("#progress")  # and nothing is lost
    page.evaluate("document.activeElement.blur()")
    assert page.input_value("#by") == "anna"
    while "0 cases to go" not in page.inner_text("#progress"):
        if page.inner_text("h2") == EVIL:
            page.fill("#other", "acme:jane-doe")
            page.press("#other", "Enter")
        else:
            page.keyboard.press("Enter")
    assert page.title() == "Review of names"
    assert not (faint_texts(page) + unlabelled(page) + overflow(page) + wrong)
    with page.expect_download() as download:
        page.keyboard.press("s")
    download.value.save_as(tmp_path / "d.jsonl")
    assert all(url.startswith(("file:", "blob:")) for url in urls)
    found = [placed.decision for placed in read_decisions(tmp_path / "d.jsonl")]
    assert sorted((one.decision, one.entity or "") for one in found) == [
        ("entity", SCIENTIST),
        ("entity", "acme:jane-doe"),
        ("never", JORDAN),
        ("nil", ""),
        ("nil", ""),
    ]
    assert {one.by for one in found} == {"anna"}
    assert all(one.at and one.kb and one.recipe == "default" and one.context for one in found)
    page.close()


def test_a_page_of_ten_thousand_cases_works(browser, ten_thousand):
    page = browser.new_page()
    page.goto(ten_thousand.as_uri())
    assert "0 of 10000 decided" in page.inner_text("#progress")
    page.keyboard.press("1")
    page.keyboard.press("y")
    assert "5 of 10000 decided" in page.inner_text("#progress")
    page.close()


def test_a_blind_page_shows_nothing_of_the_linker(browser, linker, tmp_path):
    write_page([case("Ann Lee", 0.5, 1, (JORDAN, SCIENTIST))], tmp_path / "r.html", "t", linker, blind=True)
    page = browser.new_page()
    page.goto((tmp_path / "r.html").as_uri())
    shown = page.inner_text("main")
    assert "50 %" not in shown
    assert "The answer now" not in shown
    assert "For:" not in shown
    assert shown.index(SCIENTIST) < shown.index(JORDAN)  # by their ids
    page.close()


def until(page, condition: str) -> None:
    """Wait for a condition. Playwright's own function needs `eval`, which the page forbids."""
    for _ in range(600):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never true: {condition}")


def test_two_reviewers_on_the_server_lose_nothing(browser, linker, tmp_path):
    cases = [case(f"Ann {at}", 0.5, 1, (JORDAN, SCIENTIST)) for at in range(10)]
    write_page(cases, tmp_path / "r.html", "t", linker)
    decisions = tmp_path / "d.jsonl"
    with running(linker, review=(tmp_path / "r.html", decisions)) as client:
        page = browser.new_page()
        page.goto(f"http://{HOST}:{client.port}/review")
        other = [
            threading.Thread(
                target=client.post, args=["/review", {"decisions": [{"decision": "nil", "name": f"B {at}"}]}]
            )
            for at in range(20)
        ]
        [one.start() for one in other]
        for key in ("1", "2", "u", "n"):
            page.keyboard.press(key)
        until(page, "document.getElementById('saved').textContent === 'saved' && !queue.length")
        [one.join() for one in other]
        page.evaluate("localStorage.clear()")
        page.reload()  # in another browser: the server has the decisions
        until(page, "document.getElementById('progress').textContent.startsWith('2 of 10')")
        page.close()
        for body, status in [
            ({"decisions": [{"decision": "alias", "name": "x"}]}, 422),
            ({"more": 1}, 422),
            (b"x", 400),
        ]:
            assert client.post("/review", body).status == status
        assert client.post("/review", b"{}", kind="text/plain").status == 415
        assert client.get("/review/decisions").body == decisions.read_bytes()
    names = sorted(placed.decision.name for placed in read_decisions(decisions))
    assert names == sorted([f"B {at}" for at in range(20)] + ["Ann 0", "Ann 1"])


# from the first key to the improved recipe
def test_decisions_improve_a_recipe(browser, linker, sample_kb, run, tmp_path):
    """A reviewer answers every case by the gold of the sample; the recipe begins with its weights of words removed."""
    worse = linker.recipe.replace(
        name="worse",
        parts=tuple(
            part.replace(weight=0.0) if part.name in ("ArticleWords", "SentenceWords", "SharedStatements") else part
            for part in linker.recipe.parts
        ),
    )
    worse.save("worse.toml")
    people = {"basketball player Chicago Bulls dunked": JORDAN, "machine learning statistics professor": SCIENTIST}
    with gzip.open("a.jsonl.gz", "wt") as file:
        for at in range(40):
            said, _ = list(people.items())[at % 2]
            file.write(
                json.dumps({"id": f"a{at}", "text": f"Number {at}: {said}, said Michael Jordan in {1990 + at}."}) + "\n"
            )
    assert run("link", "a.jsonl.gz", "--recipe", "worse.toml", "-o", "l.parquet").code == 0
    assert (
        run(
            "review", "l.parquet", "--articles", "a.jsonl.gz", "--recipe", "worse.toml", "--below", "1", "-o", "r.html"
        ).code
        == 0
    )
    page = browser.new_page()
    page.goto(Path("r.html").absolute().as_uri())
    while "0 cases to go" not in (progress := page.inner_text("#progress")) or progress.startswith("0"):
        right = SCIENTIST if "machine" in page.inner_text(".sentence") else JORDAN
        shown = [re.search(r"Q\d+", one)[0] for one in page.locator(".option .note a").all_inner_texts() if "Q" in one]
        page.keyboard.press(str(shown.index(right) + 1))
    with page.expect_download() as download:
        page.keyboard.press("s")
    download.value.save_as("d.jsonl")
    page.close()
    new = "Number 99: machine learning statistics professor, said Michael Jordan in 2031."
    assert Linker(sample_kb, "worse.toml").link_text(new)[0].best != SCIENTIST
    for more in ((), ("--articles", "a.jsonl.gz")):
        ran = run("tune", "--decisions", "d.jsonl", *more, "--recipe", "worse.toml", "-o", "better.toml")
        assert ran.code == 0, ran.err + ran.out
        assert "right before" in ran.out
        assert "wrote better.toml" in ran.out
        found = Linker(sample_kb, "better.toml").link_text(new)
        assert found[0].best == SCIENTIST
    ran = run("tune", "--decisions", "d.jsonl", "--recipe", "better.toml", "-o", "again.toml")
    if ran.code:
        assert ran.code == 3
        assert "no recipe written" in ran.out
        assert not Path("again.toml").exists()


def test_too_few_decisions_are_refused(run):
    Path("d.jsonl").write_text(
        '{"decision": "nil", "name": "Ann", "context": "0000000000000000", "text": "Ann came."}\n'
    )
    ran = run("tune", "--decisions", "d.jsonl", "-o", "x.toml")
    assert ran.code == 2
    assert "1 decision to learn from, and 10 are needed" in ran.err


def test_links_of_the_sample_are_reviewed(linker, tmp_path, run):
    assert run("link", ARTICLES, "-o", "l.csv").code == 0
    ran = run("review", "l.csv", "--articles", ARTICLES, "-o", "r.html")
    assert ran.code == 0
    data = page_data(Path("r.html"))
    assert all(one["uncertainty"] > 0.2 and one["name"] in "".join(one["sentence"]) for one in data["cases"])
    assert run("review", "l.csv", "--articles", ARTICLES, "-o", "l.csv").code == 2
    assert run("review", ARTICLES, "--articles", ARTICLES, "-o", "r.html").code == 2
    assert Rejects().count == 0
