"""The default recipe on labelled text, end to end, and fitted anew on all corpora but one.

    python -m benchmarks.people --kb KB [--people FOLDER] [--slice KB --quotebank FOLDER] [--fit RECIPE.toml]

FOLDER has a file of JSON lines for each corpus: documents with `text`, `date` and `labels` (span, qid, known). A link
is right when a label with its QID overlaps it; links that overlap no label are not judged. For each corpus: precision,
recall and F1 at the threshold, and AUROC and ECE of the confidence in the best candidates of all names found; as the
recipe is, and with weights that were fitted on the other corpora. With `--slice`, a KB of the Wikidata slice, fits also
see Quotebank's tune split: given names, of whose candidates that KB has two or more. With `--fit`, the recipe fitted on
all is written.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from namesake import decide, rank
from namesake.analysis.corpus import Corpus, only_known
from namesake.articles.article import Article
from namesake.articles.builder import ArticleBuilder
from namesake.evaluation.gold import NIL, Dataset, in_split, read_gold
from namesake.evaluation.measures import metrics
from namesake.evaluation.scores import ScoreTable
from namesake.evaluation.tuning import logit
from namesake.kb.store import KB
from namesake.linker import Linker
from namesake.recipe import Recipe

SHARED = Path(__file__).resolve().parents[2] / "shared"
UNJUDGED = ("unmapped", "unlinked", "unannotated")
PENALTY = 3.0
"""Of the fit; between 1 and 10 nothing changes."""

Span = Sequence[int]
Label = dict[str, Any]


@dataclass(frozen=True)
class Mention:
    """A name that was found and overlaps labels: what was made of it, and the labels near each judged span."""

    link: dict[str, Any]
    near: list[list[tuple[int, Label]]]
    """For each judged span the labels that overlap it, with their numbers."""

    def right(self, qid: str, known: bool) -> int:
        """How many spans overlap a label with this QID, one of a person of the KB if that must be known."""
        return sum(
            any(label["qid"] == qid and (label.get("known") or not known) for _, label in near) for near in self.near
        )

    def hits(self, qid: str) -> set[int]:
        """The labels of a person of the KB that this answer finds."""
        return {number for near in self.near for number, label in near if label.get("known") and label["qid"] == qid}

    @property
    def is_told(self) -> bool:
        """Whether the labels say who it is, or that it is nobody of the KB, rather than just not saying."""
        return any(label.get("qid") or label.get("type") or label.get("nil_clean") for n in self.near for _, label in n)


@dataclass(frozen=True)
class Judged:
    """A corpus with what was found in it, as the fit sees it and as the measure does."""

    name: str
    labels: int
    """Labels that are people of the KB: what recall is over."""
    mentions: list[Mention]
    data: Dataset

    def measure(self, recipe: Recipe) -> dict[str, float]:
        """Precision, recall and F1 of a recipe's answers by span, AUROC and ECE of its confidence."""
        combined = recipe.combine(self.data.table.scores, self.data.offsets, self.data.table.doubts)
        first = rank.winner(self.data.offsets, *combined.keys)
        decision = decide.decide(combined.total, combined.none, self.data.offsets, first, recipe.decide)
        made = right = 0
        found: set[int] = set()
        truth, claim = [], []
        for m, mention in enumerate(self.mentions):
            best, confidence = self.data.table.qids[first[m]], float(decision.confidence[m])
            hits = mention.right(best, known=False)
            truth += [1.0] * hits + [0.0] * (len(mention.near) - hits)
            claim += [confidence] * len(mention.near)
            if decision.reason[m] == decide.ANSWERED:
                made += len(mention.near)
                right += mention.right(best, known=True)
                found |= mention.hits(best)
        p, r = right / max(made, 1), len(found) / max(self.labels, 1)
        claimed, true, once = np.array(claim), np.array(truth) == 1, np.ones((1, len(truth)))
        auroc, ece = (float(of(claimed, true, once)[0]) for of in (metrics.auroc, metrics.calibration_error))
        return {"P": p, "R": r, "F1": 2 * p * r / max(p + r, 1e-9), "AUROC": auroc, "ECE": ece}


def judge(path: Path, linker: Linker) -> Judged:
    """Link a corpus and lay its labels beside what was found."""
    with gzip.open(path, "rt") as lines:
        documents = [json.loads(line) for line in lines]
    labels = [labels_of(document) for document in documents]
    builder = ArticleBuilder()
    for number, document in enumerate(documents):
        builder.add(Article(str(number), document["text"], date=document.get("date")))
    before = np.cumsum([0, *map(len, labels)]).tolist()
    mentions = []
    for link in linker.link(builder.table(), scores=True).to_pylist():
        document = int(link["article_id"])
        numbered = list(enumerate(labels[document], before[document]))
        near = [[each for each in numbered if overlap(span, each[1]["span"])] for span in link["spans"]]
        if link["candidates"] and any(near):
            mentions.append(Mention(link, [some for some in near if some]))
    known = sum(bool(label.get("known")) for some in labels for label in some)
    return Judged(path.name.split(".")[0], known, mentions, dataset(mentions))


def labels_of(document: dict[str, Any]) -> list[Label]:
    """The labels that count: names, and inside the span that was labelled."""
    low, high = document.get("evaluation_span") or (0, 1 << 60)
    names = (each for each in document["labels"] if not each.get("coref") and each.get("why") not in UNJUDGED)
    return [label for label in names if low <= label["span"][0] and label["span"][1] <= high]


def overlap(one: Span, other: Span) -> bool:
    """Whether two spans share a character."""
    return one[0] < other[1] and other[0] < one[1]


def dataset(mentions: list[Mention]) -> Dataset:
    """Mentions as the fit wants them: the right candidate is the one that most spans' labels name."""
    candidates = [candidate for mention in mentions for candidate in mention.link["candidates"]]
    qids = [candidate["qid"] for candidate in candidates]
    offsets = np.cumsum([0, *(len(mention.link["candidates"]) for mention in mentions)]).astype(np.int64)
    gold = np.full(len(mentions), NIL, np.int64)
    for m, mention in enumerate(mentions):
        spans = [mention.right(qid, known=True) for qid in qids[offsets[m] : offsets[m + 1]]]
        gold[m] = offsets[m] + int(np.argmax(spans)) if max(spans) else NIL
    table = ScoreTable(
        [(mention.link["article_id"], f"{mention.link['name']} {m}") for m, mention in enumerate(mentions)],
        offsets,
        qids,
        _columns([candidate["parts"] for candidate in candidates]),
        doubts=_columns([mention.link["doubts"] for mention in mentions]),
    )
    return Dataset(table, gold, [qids[k] if k >= 0 else None for k in gold], {})


def quotebank(folder: Path, kb: KB, recipe: Recipe) -> Dataset:
    """Quotebank's tune split, less the candidates that a KB lacks and the mentions that have lost their rivals so."""
    rows = in_split(read_gold(folder / "gold.jsonl"), "tune")
    data = only_known(Corpus(folder / "articles.jsonl.gz", kb).dataset(recipe, rows), kb)
    lost = zip(data.columns["known"], data.columns["rivals"], strict=True)
    return data.take([i for i, mention in enumerate(lost) if mention not in {("some known", None), (None, None)}])


def fitted(recipe: Recipe, corpora: list[Judged], more: Sequence[Dataset] = ()) -> Recipe:
    """The recipe with weights fitted on corpora and on more data, which count as much as an average corpus.

    A mention counts as the root of its spans, and so does a corpus: large ones count more, but not in proportion.
    """
    told = [[m for m, mention in enumerate(corpus.mentions) if mention.is_told] for corpus in corpora]
    data = [corpus.data.take(some) for corpus, some in zip(corpora, told, strict=True)]
    spans = [np.sqrt([len(c.mentions[m].near) for m in some]) for c, some in zip(corpora, told, strict=True)]
    weights = [each / np.sqrt(each.sum()) for each in spans]
    average = np.mean([each.sum() for each in weights])
    weights += [np.full(len(each.gold), average / len(each.gold)) for each in more]
    problem = logit.Problem.of(recipe, [*data, *more])
    weight = np.concatenate(weights)
    problem = replace(problem, weight=weight * len(weight) / weight.sum())
    return logit.fitted(recipe, problem, problem.fit(PENALTY))


def _columns(rows: list[dict[str, float]]) -> dict[str, np.ndarray]:
    return {name: np.array([row[name] for row in rows], np.float64) for name in rows[0]}


def table(rows: dict[str, dict[str, float]], others: dict[str, dict[str, float]]) -> None:
    """Print figures as they are beside those of weights fitted without the corpus."""
    keys = ("P", "R", "F1", "AUROC", "ECE")
    rows["mean"], others["mean"] = (
        {key: float(np.nanmean([row[key] for row in some.values()])) for key in keys} for some in (rows, others)
    )
    print("| corpus |", " | ".join([*keys, *(f"without: {key}" for key in keys)]), "|")
    print("|---|" + "---:|" * (2 * len(keys)))
    for name, row in rows.items():
        print(f"| {name} |", " | ".join(f"{some[key]:.3f}" for some in (row, others[name]) for key in keys), "|")


def main() -> None:
    """Print the table, and write the fitted recipe where asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kb", type=Path, required=True)
    parser.add_argument("--people", type=Path, default=SHARED / "people")
    parser.add_argument("--quotebank", type=Path, default=SHARED / "quotebank")
    parser.add_argument("--slice", type=Path)
    parser.add_argument("--recipe", default="default")
    parser.add_argument("--fit", type=Path)
    options = parser.parse_args()
    recipe = Recipe.load(options.recipe)
    linker = Linker(KB.open(options.kb), recipe)
    corpora = [judge(path, linker) for path in sorted(options.people.glob("*.jsonl.gz"))]
    more = [quotebank(options.quotebank, KB.open(options.slice), recipe)] if options.slice else []
    if options.fit:
        recipe = fitted(recipe, corpora, more)
        recipe.save(options.fit)
    held_out = {each.name: fitted(recipe, [c for c in corpora if c is not each], more) for each in corpora}
    table(
        {each.name: each.measure(recipe) for each in corpora},
        {each.name: each.measure(held_out[each.name]) for each in corpora},
    )


if __name__ == "__main__":
    main()
