"""The server gives what the linker gives: alone or in company, to one client or to many. The linker is the oracle."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import typer

from conftest import Ran
from namesake import build_kb
from namesake.apps.cli.commands import app
from namesake.apps.server.endpoint import RequestError
from namesake.apps.server.limits import Limits
from namesake.apps.server.pool import Job, Links, Pool
from namesake.apps.server.schema import GivenArticle, GivenMention
from namesake.articles.article import Article, Mention
from namesake.articles.builder import ArticleBuilder
from namesake.compiling import NOTICE
from namesake.kb.records import Entity, describe, look_up
from namesake.kb.store import KB
from namesake.linker import Linker
from namesake.sample import DUMP
from serving import Client, running
from small_kb import writable

COMMANDS = typer.main.get_group(app)
PROGRAM = "import sys; sys.argv[0] = 'namesake'; from namesake.apps.cli.main import main; main()"
TEXT = "Michael Jordan of the Chicago Bulls met Michael Jordan, who teaches statistics at Berkeley."


def texts_of(articles: pa.Table) -> list[str]:
    return articles.column("text").to_pylist()


def expected(linker: Linker, article: Article, scores: bool = False) -> list[dict[str, Any]]:
    """The linker's own links of one article, on its own."""
    builder = ArticleBuilder()
    builder.add(article)
    return linker.link(builder.table(), scores).to_pylist()


PLAIN = ("name", "qid", "best", "score", "margin", "tie_break", "confidence", "known", "reason")


def same(answered: list[dict[str, Any]], links: list[dict[str, Any]]) -> None:
    """Each link of an answer is the linker's, to the last digit."""
    assert [[one[field] for field in PLAIN] for one in answered] == [[one[field] for field in PLAIN] for one in links]
    assert [one["spans"] for one in answered] == [one["spans"] for one in links]
    assert [one["title_spans"] for one in answered] == [one["title_spans"] or [] for one in links]


def test_a_text_is_linked_as_the_linker_does(client: Client, linker: Linker, articles: pa.Table) -> None:
    for text in texts_of(articles):
        answer = client.post("/link", {"text": text})
        assert answer.status == 200
        same(answer.json["links"], expected(linker, Article("a", text)))


def test_links_carry_what_people_read(client: Client, linker: Linker, articles: pa.Table) -> None:
    links = client.post("/link", {"text": " ".join(texts_of(articles))}).json["links"]
    known = [one for one in links if one["qid"]]
    assert known
    assert len(known) < len(links)
    for one in known:
        entity = describe(linker.kb, look_up(linker.kb, one["qid"])[0])
        assert one["label"] == entity.label
        assert one["description"] == (entity.description or instead(entity))
        assert one["url"] == f"https://www.wikidata.org/wiki/{one['qid']}"
    for one in links:
        assert one["qid"] or (one["label"], one["description"], one["url"]) == (None, None, None)
        assert "candidates" not in one


def instead(entity: Entity) -> str:
    """What stands for a description: up to three occupations, then countries, four in all."""
    jobs, lands = ([one.label for one in entity.statements if one.property == p] for p in ("P106", "P27"))
    return ", ".join(list(dict.fromkeys(jobs[:3] + lands))[:4])


def test_people_without_a_description_are_told_apart(tmp_path: Path) -> None:
    """By occupation and country, wherever somebody is described: in a search, in links, over a marked name."""
    records = json.loads(DUMP.read_bytes())
    for record in records:
        record.pop("descriptions", None)
    dump = tmp_path / "dump.json"
    dump.write_text("[\n" + ",\n".join(map(json.dumps, records)) + "\n]\n")
    build_kb([dump], tmp_path / "kb", keep="people")
    linker = Linker(tmp_path / "kb", threshold=0.0)
    entity = describe(linker.kb, look_up(linker.kb, "Q41421")[0])
    assert entity.description == ""
    assert instead(entity)
    only = {"name": "Michael Jordan", "spans": [[0, 14]], "candidates": ["Q41421"]}
    with running(linker) as client:
        found = client.get("/search?name=Michael%20Jordan").json["results"]
        assert {one["qid"]: one["description"] for one in found}["Q41421"] == instead(entity)
        [link] = client.post("/link", {"text": TEXT, "mentions": [only]}).json["links"]
        assert link["description"] == instead(entity)
    links = linker.link_text(TEXT, [Mention("Michael Jordan", [(0, 14)], ["Q41421"])])
    assert [one.description for one in links] == [instead(entity)]
    assert instead(entity) in links._repr_html_()


def test_articles_keep_their_ids_and_order(client: Client, linker: Linker, articles: pa.Table) -> None:
    rows = articles.to_pylist()
    sent = [{"id": row["id"], "text": row["text"], "title": row["title"], "date": row["date"]} for row in rows]
    answer = client.post("/link", {"articles": [*sent, {"text": TEXT}]}).json["articles"]
    assert [one["id"] for one in answer] == [*(row["id"] for row in rows), str(len(rows))]
    for one, row in zip(answer, rows, strict=False):
        same(one["links"], expected(linker, Article("x", row["text"], row["title"], row["date"])))


def test_given_mentions_candidates_and_parts(client: Client, linker: Linker) -> None:
    mention = {"name": "Michael Jordan", "spans": [[40, 54]], "candidates": ["Q41421", "Q3308285"]}
    sent = {"text": TEXT, "mentions": [mention, "Berkeley"], "parts": True}
    links = client.post("/link", sent).json["links"]
    given = [Mention("Michael Jordan", [(40, 54)], ["Q41421", "Q3308285"]), Mention("Berkeley", [(82, 90)])]
    wanted = expected(linker, Article("a", TEXT, mentions=given), scores=True)
    same(links, wanted)
    for one, other in zip(links, wanted, strict=True):
        assert one["doubts"] == other["doubts"]
        shown = [{name: each[name] for name in ("qid", "score", "parts", "kind")} for each in one["candidates"]]
        assert shown == sorted(other["candidates"], key=lambda each: -each["score"])
    without = client.post("/link", sent | {"parts": False, "candidates": True}).json["links"]
    assert all("parts" not in each for one in without for each in one["candidates"])


@pytest.mark.parametrize("threshold", [0, 0.999, "p95"])
def test_a_threshold_of_ones_own(client: Client, sample_kb: KB, articles: pa.Table, threshold: float | str) -> None:
    strict = Linker(sample_kb, threshold=threshold)
    for text in texts_of(articles):
        answer = client.post("/link", {"text": text, "threshold": threshold})
        same(answer.json["links"], expected(strict, Article("a", text)))


def test_company_changes_nothing(linker: Linker, sample_kb: KB, articles: pa.Table) -> None:
    """Many clients at once: each gets what it would get alone, though their texts are linked together."""
    texts = [f"{text} ({number})" for number in range(6) for text in texts_of(articles)]
    wishes: list[dict[str, Any]] = [{}, {"threshold": 0.9}, {"candidates": True}]
    sure = Linker(sample_kb, threshold=0.9)
    with running(linker, Limits(linger=0.05)) as client, ThreadPoolExecutor(16) as clients:

        def ask(number: int) -> list[dict[str, Any]]:
            sent = {"text": texts[number]} | wishes[number % 3]
            answer = client.post("/link", sent)
            assert answer.status == 200, answer.body
            return answer.json["links"]

        answers = list(clients.map(ask, range(len(texts))))
        assert client.metric("namesake_articles_total") == len(texts)
        assert client.metric("namesake_batches_total") < len(texts)
    for number, links in enumerate(answers):
        judge = sure if number % 3 == 1 else linker
        same(links, expected(judge, Article("a", texts[number])))
        assert all(("candidates" in one) == (number % 3 == 2) for one in links)


def test_a_fault_is_its_own_requests(linker: Linker) -> None:
    """An article that the linker refuses fails alone: those in the same batch are answered."""
    pool = Pool(linker, Limits(linger=0.1))
    good = GivenArticle(TEXT, mentions=[GivenMention("Michael Jordan", [(0, 14)])])
    bad = GivenArticle(TEXT, mentions=[GivenMention("Michael Jordan", [(0, 14)], ["nobody"])])

    def render(links: Links) -> bytes:
        return b" ".join((link.qid or "nobody").encode() for links_of_one in links for link in links_of_one)

    async def ask(articles: list[GivenArticle]) -> bytes:
        return await pool.link(Job(articles, render))

    async def ask_all() -> list[bytes | BaseException]:
        first = asyncio.create_task(ask([good]))  # while it is linked, the others wait for each other
        await asyncio.sleep(0)
        rest = [asyncio.create_task(ask(articles)) for articles in ([good], [good, bad], [good, good])]
        return [await first, *await asyncio.gather(*rest, return_exceptions=True)]

    alone, one, refused, two = asyncio.run(ask_all())
    pool.close()
    assert isinstance(refused, RequestError)
    assert refused.status == 422
    assert refused.problem.error.startswith("article 1 cannot be linked: candidate 'nobody'")
    assert (one, two) == (alone, b"%s %s" % (alone, alone))
    [batches] = pool.counts["batches"].collect()
    assert batches.samples[0].value == 2


def test_explain_gives_the_linkers_rows(client: Client, linker: Linker) -> None:
    builder = ArticleBuilder()
    builder.add(Article("a", TEXT))
    rows = linker.explain(builder.table(), "Michael Jordan").drop_columns("article_id").to_pylist()
    answer = client.post("/explain", {"text": TEXT, "name": "Michael Jordan"})
    assert rows
    assert answer.json["rows"] == json.loads(json.dumps(rows))
    assert client.post("/explain", {"text": TEXT, "name": "Nobody Here"}).json == {"rows": []}


def test_the_best_candidates_are_given(client: Client, linker: Linker) -> None:
    """As many as are asked for, the best first; of links and of explanations alike."""
    [link] = expected(linker, Article("a", TEXT, mentions=[Mention("Michael Jordan", [(0, 14)])]), scores=True)
    every = sorted(link["candidates"], key=lambda one: -one["score"])
    scores = [one["score"] for one in every]
    assert len(set(scores)) == len(scores) > 3, "the order is the score's alone"
    sent = {"text": TEXT, "mentions": [{"name": "Michael Jordan", "spans": [[0, 14]]}]}
    for limit in (1, 3, 100):
        [one] = client.post("/link", sent | {"candidates": True, "limit": limit}).json["links"]
        assert [each["qid"] for each in one["candidates"]] == [each["qid"] for each in every][:limit]
        rows = client.post("/explain", sent | {"limit": limit}).json["rows"]
        explained = [row["qid"] for row in rows if row["qid"] is not None]
        assert list(dict.fromkeys(explained)) == [each["qid"] for each in every][:limit]


def test_entities_and_names(client: Client, linker: Linker) -> None:
    kb = linker.kb
    found = client.get("/search?name=michael%20jordan").json["results"]
    assert [one["qid"] for one in found] == [f"Q{kb.qids[row]}" for row in look_up(kb, "Michael Jordan")]
    assert client.get("/search?name=michael+jordan&limit=1").json["results"] == found[:1]
    assert client.get("/search?name=xyzzy").json["results"] == []
    for one in found:
        entity = client.get(f"/entity/{one['qid']}").json
        wanted = describe(kb, look_up(kb, one["qid"])[0])
        assert (entity["qid"], entity["label"], entity["aliases"]) == (wanted.qid, wanted.label, wanted.aliases)
        assert len(entity["statements"]) == len(wanted.statements)


def test_health_and_metrics(client: Client, linker: Linker) -> None:
    assert client.get("/health").json["entities"] == len(linker.kb)
    before = client.metric('namesake_requests_total{method="GET",route="/health",status="200"}')
    client.get("/health")
    told = client.get("/metrics")
    assert told.headers["content-type"].startswith("text/plain")
    lines = told.body.decode().splitlines()
    assert f'namesake_requests_total{{method="GET",route="/health",status="200"}} {before + 1}' in lines
    for line in lines:
        assert re.fullmatch(r'# (HELP|TYPE) namesake_\w+ .+|namesake_\w+(\{(\w+="[^"]*",?)+\})? [-+.\deE]+', line), line
    kinds = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(kinds) == len(set(kinds))
    counts = [float(line.split()[-1]) for line in lines if re.search('bucket.*route="/health"', line)]
    assert counts
    assert counts == sorted(counts)


def test_the_page_and_the_docs_need_nothing_from_outside(client: Client) -> None:
    for path in ("/", "/docs"):
        page = client.get(path)
        assert page.status == 200
        assert page.headers["content-type"].startswith("text/html")
        assert "default-src 'none'" in page.headers["content-security-policy"]
        assert re.findall(rb'(?:src|href)=["\']?(https?:|//)', page.body) == []
    told = client.get("/openapi.json").json
    assert {"/link", "/explain", "/entity/{qid}", "/search", "/reconcile", "/nif", "/rel"} <= told["paths"].keys()
    page = client.get("/docs").body.decode()
    assert [path for path in told["paths"] if path not in page] == []
    drawn = client.post("/draw", {"text": "Barack Obama <script>alert(1)</script>", "title": None}).json
    assert "<script" not in drawn["html"]


def test_rows_as_rel_gives_them(client: Client, linker: Linker) -> None:
    text = "Barack Obama spoke. Later Barack Obama left."
    found = client.post("/rel", {"text": text, "spans": []}).json
    links = [link for link in linker.link_text(text) if link.qid]
    places = sorted((start, end - start, link.qid) for link in links for start, end in link.spans)
    assert [(row[0], row[1], row[3]) for row in found] == places
    assert [text[row[0] : row[0] + row[1]] for row in found] == [row[2] for row in found]
    [given] = client.post("/rel", {"text": text, "spans": [[26, 12]]}).json
    [link] = linker.link_text(text, [Mention("Barack Obama", [(26, 38)])])
    assert given == [26, 12, "Barack Obama", link.qid, link.confidence, link.probability_known, "PER"]
    for spans in ([{"start": 26, "length": 12}], [{"start": 26, "length": 12}, [26, 12]]):
        assert client.post("/rel", {"text": text, "spans": spans}).json == [given]
    for wrong in ({"start": 26}, {"start": 26, "length": 12, "end": 38}, {"start": 26, "length": 99}, [26]):
        assert client.post("/rel", {"text": text, "spans": [wrong]}).status == 422


def test_a_long_article_blocks_no_one(sample_kb: KB) -> None:
    """While a large request is being linked, and does not end, small ones are answered."""
    go_on, begun = threading.Event(), threading.Event()

    def find(texts: list[str]) -> list[list[tuple[int, int]]]:
        if any(len(text) > 1000 for text in texts):
            begun.set()
            assert go_on.wait(60)
        return [[(0, 12)] for _ in texts]

    linker = Linker(sample_kb, mentions=find)
    with running(linker, Limits(small=1000)) as client, ThreadPoolExecutor(1) as other:
        large = other.submit(client.post, "/link", {"text": "Barack Obama spoke. " * 100})
        try:
            assert begun.wait(60)
            for _ in range(3):
                assert client.post("/link", {"text": "Barack Obama spoke."}).status == 200
            assert not large.done()
        finally:
            go_on.set()
        assert large.result().status == 200


def test_look_ups_and_the_page_wait_for_no_explanation(sample_kb: KB) -> None:
    """While large explanations and links are being made, and do not end, whoever looks something up is answered."""
    go_on, begun = threading.Event(), threading.Event()

    def find(texts: list[str]) -> list[list[tuple[int, int]]]:
        if any("wait" in text for text in texts):
            begun.set()
            assert go_on.wait(60)
        return [[(0, 12)] for _ in texts]

    sent = {"text": "Barack Obama spoke. " * 100 + "wait"}
    with running(Linker(sample_kb, mentions=find), Limits(small=1000)) as client, ThreadPoolExecutor(3) as others:
        large = [others.submit(client.post, path, sent) for path in ("/explain", "/explain", "/link")]
        try:
            assert begun.wait(60)
            assert client.get("/search?name=Barack%20Obama").json["results"]
            assert client.get("/entity/Q76").status == 200
            assert client.post("/draw", {"text": "Barack Obama spoke.", "mention": 0}).status == 200
            assert client.get("/reconcile/suggest/entity?prefix=Bar").status == 200
            assert not any(one.done() for one in large)
        finally:
            go_on.set()
        assert [one.result().status for one in large] == [200] * 3


def test_a_fault_of_ours_is_told_without_its_insides(sample_kb: KB, capsys: pytest.CaptureFixture[str]) -> None:
    def find(texts: list[str]) -> list[list[tuple[int, int]]]:
        if any("trap" in text for text in texts):
            raise RuntimeError("secret insides")
        return [[] for _ in texts]

    with running(Linker(sample_kb, mentions=find)) as client:
        answer = client.post("/link", {"text": "a trap"})
        assert (answer.status, set(answer.json)) == (500, {"error", "what_to_do"})
        assert b"secret" not in answer.body
        assert client.post("/link", {"text": "fine"}).status == 200
    assert "secret insides" in capsys.readouterr().err


def test_a_kb_that_goes_away_is_still_served(sample_kb: KB, tmp_path: Path) -> None:
    folder = tmp_path / "kb"
    shutil.copytree(sample_kb.path, folder)
    linker = Linker(folder)
    with running(linker) as client:
        before = [client.post("/link", {"text": TEXT}).json, client.get("/entity/Q41421").json]
        shutil.rmtree(folder)
        after = [client.post("/link", {"text": TEXT}).json, client.get("/entity/Q41421").json]
        assert before == after
        assert client.post("/link", {"text": TEXT, "threshold": 0.123}).status == 200
        assert client.get("/entity/Q999999999").status == 404


@pytest.mark.parametrize("given", ["names.example", "ftp://names.example", "https://", "https://x.example/?a"])
def test_a_public_address_that_is_none(run: Callable[..., Ran], given: str) -> None:
    ran = run("serve", "--public-url", given)
    assert ran.code == 2
    assert ran.err.startswith(f"namesake: --public-url {given!r} is not an address")


def test_the_image_runs_as_a_user_of_its_own() -> None:
    """What the Dockerfile says of its last stage: a user that is not root, and a command that exists."""
    stage = (Path(__file__).parents[1] / "Dockerfile").read_text().rpartition("\nFROM ")[2].splitlines()
    lines = [line for line in stage if line and not line.startswith("#")]
    users = [at for at, line in enumerate(lines) if line.startswith("USER ")]
    start = next(at for at, line in enumerate(lines) if line.startswith("ENTRYPOINT "))
    assert lines[users[-1]] == "USER namesake"
    assert users[-1] < start
    assert json.loads(lines[start].removeprefix("ENTRYPOINT ")) == ["namesake"]
    asked = json.loads(lines[start + 1].removeprefix("CMD "))
    command = COMMANDS.get_command(typer.Context(COMMANDS), asked[0])
    assert command is not None
    assert set(asked[1::2]) <= {name for option in command.params for name in option.opts}


@pytest.fixture(scope="module")
def process(sample_kb: KB) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The command itself."""
    with serving(sample_kb.path) as started:
        yield started


@contextmanager
def serving(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """`namesake serve` on a KB, and its port."""
    command = [sys.executable, "-c", PROGRAM, "serve", "--kb", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running_command:
        assert running_command.stderr is not None
        lines = (line for line in running_command.stderr if line != f"{NOTICE}\n")
        told = re.search(r"http://127\.0\.0\.1:(\d+)", next(lines))
        assert told is not None
        yield running_command, int(told[1])
        running_command.kill()


@pytest.mark.parametrize("asked", ["/health", "/link"])
def test_a_kb_that_is_written_into_ends_the_server(sample_kb: KB, tmp_path: Path, asked: str) -> None:
    """503 to those who ask, then one line and the exit code 2: what is read from such a KB may be anything."""
    folder = tmp_path / "kb"
    shutil.copytree(sample_kb.path, folder)
    with serving(folder) as (command, port):
        client = Client(port)

        def ask() -> int:
            return (client.get(asked) if asked == "/health" else client.post(asked, {"text": TEXT})).status

        assert ask() == 200
        with writable(folder / "entity.sitelinks.npy").open("r+b") as file:
            whole = file.read()
            file.seek(0)
            file.write(whole)  # the same bytes, so that the test itself stays harmless
        statuses = []
        while not statuses or statuses[-1] == 200:  # the files are looked at ten times a second
            statuses.append(ask())
        assert statuses[-1] == 503
        assert command.wait(30) == 2
        assert command.stderr is not None
        assert re.fullmatch(r"namesake: .*/entity\.sitelinks\.npy was written to while .*\n", command.stderr.read())


def test_sigterm_ends_it_in_order(process: tuple[subprocess.Popen[str], int], sample_kb: KB) -> None:
    """A request that has begun is answered, the exit code is 0, and nothing is printed."""
    command, port = process
    client = Client(port)
    assert client.post("/link", {"text": TEXT}).status == 200
    taken = subprocess.run(
        [sys.executable, "-c", PROGRAM, "serve", "--kb", str(sample_kb.path), "--port", str(port)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert taken.returncode == 2
    assert re.fullmatch(r"namesake: cannot listen at 127\.0\.0\.1 port \d+ \(.*\): choose another .*\n", taken.stderr)
    body = json.dumps({"text": TEXT}).encode()
    head = b"POST /link HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
    with client.raw(head + body[:10]) as connection:
        client.get("/health")  # by now the head of the other request has been read
        command.send_signal(signal.SIGTERM)
        connection.sendall(body[10:])
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
    assert command.wait(30) == 0
    assert command.stderr is not None
    assert command.stderr.read() == ""
