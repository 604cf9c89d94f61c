"""`namesake ablate` and `namesake errors`: what makes the links good, and what makes them wrong.

Evaluation sees tables only; the linker is called here.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from namesake.errors import NamesakeError

if TYPE_CHECKING:
    import pyarrow as pa

    from namesake.evaluate.gold import Dataset, GoldRow
    from namesake.evaluate.reports.errors import Context, Mistake, Side
    from namesake.evaluate.scores import BoolArray, ScoreTable
    from namesake.kb.store import KB
    from namesake.linker import Linker
    from namesake.recipe import Recipe

ArticlesOption = Annotated[Path, typer.Option("--articles", help="JSONL (.gz .bz2 .zst) or Parquet")]
GoldOption = Annotated[Path, typer.Option("--gold", help="JSONL with articleID, name, gold (index, QID or null), …")]
SplitOption = Annotated[str | None, typer.Option("--split", help="only gold of this split")]
OutOption = Annotated[Path, typer.Option("--out", "-o", help="folder for report.md, report.html, tables.json, …")]


def register(app: typer.Typer) -> None:
    """Mount the commands."""
    app.command()(ablate)
    app.command()(errors)


def ablate(
    articles: ArticlesOption,
    gold: GoldOption,
    out: OutOption,
    kb: Annotated[
        list[Path] | None, typer.Option("--kb", help="a KB; several, built with different --words, are compared")
    ] = None,
    split: SplitOption = None,
) -> None:
    """Measure IScore over each kind of words and each context, as the paper's Tables 6 and 7 do.

    Example: namesake ablate --kb kb/ --articles news.jsonl.gz --gold gold.jsonl --out report/
    """
    from namesake.apps.cli.main import default_kb
    from namesake.evaluate.gold import in_split, read_gold
    from namesake.evaluate.paper import ablation
    from namesake.evaluate.reports.report import show, write
    from namesake.kb.store import KB

    rows = in_split(read_gold(gold), split)
    features, context = [], []
    for path in kb or [default_kb(None)]:
        opened = KB.open(path)
        label = ablation.NORMALISATION[opened.manifest.words_how]
        recipes = ablation.feature_recipes(paragraphs=len(opened.words_p.values) > 0)
        scored = {name: (recipe, dataset(articles, opened, recipe, rows)) for name, recipe in recipes.items()}
        features += ablation.measure(scored, label)
        recipes = ablation.context_recipes()
        scored = {name: (recipe, dataset(articles, opened, recipe, rows)) for name, recipe in recipes.items()}
        context += ablation.measure(scored, label)
    report = ablation.ablation_report(features, context, [f"{articles} against {gold}."])
    write(report, out)
    console = Console()
    for view in report.views:
        show(view, console)
    console.print(f"wrote {out / 'report.html'}, report.md, tables.json", highlight=False, soft_wrap=True)


def errors(
    articles: ArticlesOption,
    gold: GoldOption,
    out: OutOption,
    kb: Annotated[Path | None, typer.Option("--kb", help="folder made by `namesake kb build`; default: sample")] = None,
    recipe: Annotated[str, typer.Option("--recipe", help="a shipped recipe's name, or a .toml file")] = "default",
    split: SplitOption = None,
) -> None:
    """Show every wrong link next to the right one, with what matched and why it may have gone wrong.

    Example: namesake errors --kb kb/ --articles news.jsonl.gz --gold gold.jsonl --out report/
    """
    from namesake.apps.cli.main import default_kb
    from namesake.evaluate.gold import in_split, read_gold
    from namesake.evaluate.reports.errors import errors_report
    from namesake.evaluate.reports.report import show, write
    from namesake.linker import Linker
    from namesake.recipe import Recipe

    linker = Linker(default_kb(kb), Recipe.load(recipe))
    data = dataset(articles, linker.kb, linker.recipe, in_split(read_gold(gold), split))
    mistakes = list(_mistakes(linker, articles, data))
    about = [f"{articles} linked with {linker.recipe.name}, against {gold}."]
    report = errors_report(mistakes, int(data.answerable.sum()), about)
    write(report, out)
    console = Console()
    show(report.views[0], console)
    console.print(f"{report.intro[-1]} They are in {out / 'report.html'} and {out / 'errors.csv'}", highlight=False)


def linked(articles: Path, kb: KB | Path | None, recipe: Recipe) -> pa.Table:
    """Links of all articles with the scores of every candidate: where evaluation meets the linker."""
    import pyarrow as pa

    from namesake.apps.cli.main import default_kb
    from namesake.articles.rejects import Rejects
    from namesake.linker import Linker

    linker = Linker(default_kb(kb) if kb is None or isinstance(kb, Path) else kb, recipe)
    with Rejects() as rejects:
        tables = [linker.link(table, scores=True, rejects=rejects) for table in _tables(articles)]
    if not tables:
        raise NamesakeError(f"{articles}: no articles")
    return pa.concat_tables(tables).replace_schema_metadata({"namesake.recipe": recipe.toml()})


def _tables(articles: Path) -> Iterator[pa.Table]:
    from namesake.articles.rejects import Rejects
    from namesake.formats import read_articles

    with Rejects() as rejects:
        yield from read_articles(articles, rejects)


def dataset(articles: Path, kb: KB, recipe: Recipe, gold: list[GoldRow]) -> Dataset:
    """The mentions that have gold, with what the linker makes of them."""
    from namesake.evaluate.gold import align
    from namesake.evaluate.scores import score_table

    return align(score_table(linked(articles, kb, recipe), str(articles)), gold)


def known_candidates(table: ScoreTable, kb: Path) -> BoolArray:
    """Which candidates of a score file a KB has."""
    import re

    import numpy as np

    from namesake.kb.store import KB

    numbers = [int(qid[1:]) if re.fullmatch(r"Q\d{1,18}", qid) else -1 for qid in table.qids]
    return np.asarray(KB.open(kb).rows(np.array(numbers, np.int64)) >= 0)


def only_known(data: Dataset, kb: Path | None) -> Dataset:
    """The data set without candidates that a KB lacks; as it is without a KB."""
    return data if kb is None else data.only(known_candidates(data.table, kb))


def _mistakes(linker: Linker, articles: Path, data: Dataset) -> Iterator[Mistake]:
    """Explain the mentions whose first candidate is not the gold one."""
    import pyarrow.compute as pc

    from namesake.evaluate.measures.methods import linked as answers
    from namesake.evaluate.reports.errors import Mistake

    right = answers("links", data).right
    wrong = {
        mention: qid
        for mention, qid, hit, known in zip(data.table.mentions, data.gold_qids, right, data.answerable, strict=True)
        if known and not hit
    }
    for table in _tables(articles):
        ids = [i for i in table.column("id").to_pylist() if any(i == article for article, _ in wrong)]
        for identifier in ids:
            one = table.filter(pc.equal(table.column("id"), identifier))
            for name in [name for article, name in wrong if article == identifier]:
                rows = linker.explain(one, name).to_pylist()
                gold = [row for row in rows if row["qid"] == wrong[identifier, name]]
                people = [row for row in rows if row["qid"] is not None]  # "none of them" is no link
                chosen = [row for row in people if row["rank"] == people[0]["rank"]]
                sides = (_side(linker.kb, gold), _side(linker.kb, chosen))
                yield Mistake(identifier, name, *sides, _context(one, name), rows[0]["tie_break"])


def _side(kb: KB, rows: list[dict[str, Any]]) -> Side:
    """A candidate's explanation with its statements from the KB."""
    import numpy as np

    from namesake.evaluate.reports.errors import side
    from namesake.scorers.matches import statement_source

    at = int(kb.rows(np.array([int(rows[0]["qid"][1:])], np.int64))[0])
    pairs = kb.statements[at].tolist() if at >= 0 else []
    sources = [statement_source(kb, pair) for pair in pairs]
    return side(rows, [(source.property or "", source.value or "") for source in sources], known=at >= 0)


def _context(article: pa.Table, name: str) -> Context:
    """Sentences and names of an article (a table of one row)."""
    from namesake.evaluate.reports.errors import Context
    from namesake.text import sentences

    spans = {mention["name"]: mention["spans"] or [] for mention in article.column("mentions")[0].as_py() or []}
    own = spans.pop(name, [])
    return Context(sentences(article.column("text")[0].as_py()), own, spans)
