"""`namesake demo`, `compile` and `sample`, for a new installation."""

import time
from pathlib import Path
from shutil import copyfile
from typing import Annotated

import numpy as np
import typer
from rich.padding import Padding

import namesake
from namesake.apps.cli import common
from namesake.apps.terminal import Console, table
from namesake.errors import NamesakeError

TEXT = "Michael Collins of NASA, an astronaut, flew to the Moon with Buzz Aldrin. Collins was born in Rome."
ROWS = {"Name": ["Michael Jordan"] * 2, "About": ["Chicago Bulls", "machine learning"]}
ROWS |= {"Job": ["basketball player", "computer scientist"]}
MOST_NAMES = 8
NEXT = Path(__file__).with_name("demo.txt")  # what to type next, in the markup of Rich


def demo() -> None:
    """Build the sample KB, show its namesakes, link articles, a text and a table, and explain one decision."""
    from namesake.compiling import compile_kernels

    compile_kernels()
    import pyarrow as pa

    from namesake.apps.sample_kb import open_sample
    from namesake.apps.terminal.explanations import show_explanation, show_links, show_mistakes, show_texts
    from namesake.articles.builder import text_table
    from namesake.articles.rejects import NoRejects
    from namesake.evaluation.gold import read_gold
    from namesake.formats import read_articles
    from namesake.reconciling.table import Layout, reconcile_table
    from namesake.sample import ARTICLES, EXPECTED

    console = Console()
    console.print("[bold]1. A knowledge base from a Wikidata dump[/]")
    began = time.perf_counter()
    kb = open_sample()
    facts = kb.manifest
    entities = f"{facts.entities:,} entities, {facts.people:,} of them people, {facts.statements:,} statements"
    made = f"{entities}, {facts.names:,} names, {facts.words:,} words in {time.perf_counter() - began:.1f} s"
    console.print(f"   {made}: {kb.path}\n", highlight=False, soft_wrap=True)
    console.print("[bold]2. The namesakes in it[/]")
    rows = []
    for name in np.argsort(-np.diff(kb.names.entities.indptr), kind="stable")[:MOST_NAMES]:
        entities = kb.names.entities[name].tolist()
        described = "; ".join(filter(None, (kb.descriptions[row].split(" (")[0] for row in entities)))
        rows.append([kb.label(entities[0]), str(len(entities)), described])
    console.print(Padding(table(["name", "entities", "descriptions"], rows, (0, 2)), (0, 0, 1, 3)))

    console.print("[bold]3. Links of the sample's articles[/]\n")
    linker = namesake.Linker(kb)
    [articles] = read_articles(ARTICLES, NoRejects())
    show_links(linker, articles, linker.link(articles).to_pylist(), console)
    show_mistakes(linker, articles, {row.mention: row.gold for row in read_gold(EXPECTED)}, console)

    console.print("[bold]4. Names in a text[/], found and linked\n")
    text = text_table(TEXT, None, None)
    show_texts(text, linker.link(text).to_pylist(), console)

    console.print("\n[bold]5. Names in a table[/], whose other columns are evidence\n")
    layout = Layout("Name", ("About",), types=(("occupation", "Job"),))
    answers = reconcile_table(linker, pa.table(ROWS), layout).table
    columns = [*ROWS, "qid", "description"]
    found = [list(row.values()) for row in answers.select(columns).to_pylist()]
    console.print(Padding(table(columns, found, range(5)), (0, 0, 1, 3)))

    console.print("[bold]6. One decision explained[/]\n")
    one = articles.filter([identifier == "amazon-pilots" for identifier in articles.column("id").to_pylist()])
    show_explanation(one, linker.explain(one, "Chris Carter"), console)
    console.print(NEXT.read_text(encoding="utf-8"), highlight=False, soft_wrap=True)


def compile() -> None:
    """Compile all kernels for this machine, so that no later command has to wait for it."""
    from namesake.compiling import compile_kernels
    from namesake.kernels.code_cache import folders

    print(f"{compile_kernels(with_rare=True)} kernels are compiled, in {folders()[-1]}")


def sample(folder: Annotated[Path, typer.Argument(help="a new folder")]) -> None:
    """Write the embedded sample to a folder to play in: dump, first paragraphs, articles, expected links and its KB."""
    from namesake.sample import ARTICLES, DUMP, EXPECTED, WIKIPEDIA

    if folder.exists():
        raise NamesakeError(f"{folder} is there already: name a new folder")
    try:
        folder.mkdir(parents=True)
        for source in (DUMP, WIKIPEDIA, ARTICLES, EXPECTED):
            copyfile(source, folder / source.name)
    except OSError as problem:
        raise NamesakeError(f"{folder} cannot be written ({problem.strerror})") from None
    common.load_kernels()
    namesake.build_kb([folder / DUMP.name], folder / "kb", wikipedia=folder / WIKIPEDIA.name)
    print(f"{folder}: dump.json, wikipedia.json, articles.jsonl, expected.jsonl, kb")
