"""The wrong links of a run, gold and chosen candidate side by side, with the paper's categories where a rule can tell.

What a rule cannot tell is left to a person: the table has a row for each mistake and is meant to be reviewed by hand.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from namesake.drawing.evidence import surface
from namesake.drawing.waterfall import number, steps
from namesake.drawing.words import part_name
from namesake.evaluation.reports.report import Report, Section, View

Span = tuple[int, int]
Statement = tuple[str, str]
"""A property's id and a value's label."""

DOMAIN = ("P106", "P101", "P641")  # occupation, field of work, sport

SIMILAR = "similar domain"
UNKNOWN = "gold entity not in the KB"
ABSENT = "key property absent from the KB"
DECOY = "decoy mention"
UNTOLD = "to be told by hand"


@dataclass(frozen=True)
class Side:
    """One of the two candidates: what the linker knew of it and what matched."""

    qid: str
    label: str
    description: str
    score: float
    parts: dict[str, float]
    """What each part contributes: together they are the score."""
    words: dict[str, list[Span]]
    """Matched words, normalised, and where they stand in the article."""
    shared: list[str]
    """Statements shared with anchors."""
    statements: frozenset[Statement]
    known: bool = True
    """Whether the KB has the entity at all."""
    written: Mapping[str, str] = field(default_factory=dict)
    """The matched words as the article writes them first."""

    def as_written(self, words: Iterable[str]) -> list[str]:
        """Matched words as the article writes them."""
        return list(dict.fromkeys(self.written.get(word, word) for word in words))


@dataclass(frozen=True)
class Context:
    """The article around a mention: its sentences, and where this name and the others stand."""

    sentences: Sequence[Span]
    own: Sequence[Span]
    others: Mapping[str, Sequence[Span]]


@dataclass(frozen=True)
class Mistake:
    """A mention whose first candidate is not the gold entity: a wrong link, or a refusal."""

    article: str
    name: str
    gold: Side
    chosen: Side
    context: Context
    tie_break: str | None = None
    sentence: str = ""
    """The sentence that the name first stands in, the name marked (`drawing.excerpt`)."""
    refused: str | None = None
    """Why the mention has no answer (`decide.REASONS`); None where it is linked to the chosen candidate."""
    categories: list[str] = field(init=False)

    def __post_init__(self) -> None:
        """Tell what rules can tell."""
        object.__setattr__(self, "categories", categories(self))


def categories(mistake: Mistake) -> list[str]:
    """The paper's error sources that apply, by rule; UNTOLD where none does.

    Similar domain: both candidates have an occupation, field of work or sport in common. Key property absent:
    nothing said in the sentences with the name is in the gold entity's record. Decoy: most of the words that only
    the chosen candidate matched stand only in sentences about somebody else. Ours alone: the
    KB lacks the gold entity.
    """
    found = []
    if {s for s in mistake.gold.statements & mistake.chosen.statements if s[0] in DOMAIN}:
        found.append(SIMILAR)
    near = [span for spans in mistake.gold.words.values() for span in spans if _with_name(span, mistake.context)]
    if not mistake.gold.known:
        found.append(UNKNOWN)
    elif not near:
        found.append(ABSENT)
    if decoys(mistake):
        found.append(DECOY)
    return found or [UNTOLD]


def decoys(mistake: Mistake) -> list[str]:
    """Words only the chosen candidate matched, if most of them come from sentences about other mentions."""
    extra = {word: spans for word, spans in mistake.chosen.words.items() if word not in mistake.gold.words}
    elsewhere = [word for word, spans in extra.items() if all(_elsewhere(span, mistake.context) for span in spans)]
    return elsewhere if 2 * len(elsewhere) > len(extra) else []


def _sentence(span: Span, context: Context) -> Span:
    """The sentence a span begins in; the span itself where none holds it."""
    return next((s for s in context.sentences if s[0] <= span[0] < s[1]), span)


def _holds(sentence: Span, spans: Iterable[Span]) -> bool:
    return any(sentence[0] <= start < sentence[1] for start, _ in spans)


def _with_name(span: Span, context: Context) -> bool:
    return _holds(_sentence(span, context), context.own)


def _elsewhere(span: Span, context: Context) -> bool:
    """Whether a span stands in a sentence that names somebody else and not this mention."""
    sentence = _sentence(span, context)
    others = [other for spans in context.others.values() for other in spans]
    return not _holds(sentence, context.own) and _holds(sentence, others)


def side(rows: Sequence[Mapping[str, Any]], statements: Iterable[Statement], known: bool, text: str) -> Side:
    """A candidate from its rows of an explanation, one for each part; `text` is the article's."""
    parts = [row for row in rows if row["role"] == "part"]
    words: dict[str, list[Span]] = {}
    written: dict[str, str] = {}
    shared: dict[str, None] = {}
    for row in parts:
        for match in row["matches"] or []:
            if match["word"] is not None:
                words.setdefault(match["word"], [(start, end) for start, end in match["spans"]])
                written.setdefault(match["word"], surface(match, text))
                continue
            for source in match["sources"]:
                what = source["property_label"] or source["property"] or source["source"]
                shared[f"{what}: {source['value']}"] = None
    first = rows[0]
    return Side(
        first["qid"],
        first["label"] or "",
        first["description"] or "",
        float(first["score"]),
        {row["part"]: float(row["contribution"]) + 0.0 for row in parts},  # + 0.0: a penalty of -0 is 0
        words,
        list(shared),
        frozenset(statements),
        known,
        written,
    )


def errors_report(mistakes: Sequence[Mistake], measured: int, about: Sequence[str], refused: int = 0) -> Report:
    """Counts by category, and every mistake as a row to review; `rows` also carry the texts in full.

    `refused` counts the mentions that are refused although their first candidate is the gold entity.
    """
    names = [UNKNOWN, SIMILAR, ABSENT, DECOY, UNTOLD]
    counts = [[name, str(sum(name in mistake.categories for mistake in mistakes))] for name in names]
    header = ["article", "name", "sentence", "outcome", "gold", "chosen"]
    header += ["only gold matched", "only chosen matched", "category"]
    rows = [
        [
            mistake.article,
            mistake.name,
            mistake.sentence,
            "linked" if mistake.refused is None else f"refused ({mistake.refused}); chosen is the best candidate",
            _about(mistake.gold),
            _about(mistake.chosen),
            _only(mistake.gold, mistake.chosen),
            _only(mistake.chosen, mistake.gold),
            "; ".join(mistake.categories),
        ]
        for mistake in mistakes
    ]
    text = (
        "Sources are told by rule: a shared occupation, field or sport; a gold "
        "entity of which nothing is said beside its name; matches that come from sentences about somebody else."
    )
    overlap = "A mistake may have several sources."
    summary = View("error_sources", "Error sources.", ["source", "mentions"], counts, overlap)
    table = View(
        "errors",
        "Mistakes.",
        header,
        rows,
        words=frozenset(range(len(header))),
        qids=frozenset({4, 5}),
        kinds={4: "right", 5: "wrong"},
        cards=True,
    )
    intro = [*about, _outcome([mistake.refused for mistake in mistakes], refused, measured)]
    section = Section("Mistakes", [text], [summary, table])
    return Report("Which links are wrong, and why?", [section], _rows(mistakes), intro, [summary], intro[-1:])


def _outcome(mistakes: Sequence[str | None], refused: int, measured: int) -> str:
    """How many answerable mentions are linked to a wrong entity, and how many are refused."""
    linked = mistakes.count(None)
    line = f"Linked to the wrong entity: {linked} of {measured} answerable mentions."
    if len(mistakes) > linked or refused:
        line += f" Refused, and the best candidate is wrong: {len(mistakes) - linked}."
        line += f" Refused, and the best candidate is right (not listed): {refused}."
    return line


def _about(candidate: Side) -> str:
    """Who a candidate is, its score, and what the parts of the recipe contribute to it."""
    if not candidate.known:
        return f"{candidate.qid}: not in the KB"
    rows = ({"part": name, "role": "part", "contribution": value} for name, value in candidate.parts.items())
    parts = ", ".join(f"{part_name(step.part)} {step.written}" for step in steps(rows))
    what = candidate.description or "no description"
    score = number(candidate.score).removeprefix("+")
    return f"{candidate.qid} {candidate.label or '?'} ({what}): {score}" + (f" = {parts}" if parts else "")


def _only(one: Side, other: Side) -> str:
    words = one.as_written(word for word in one.words if word not in other.words)
    return "; ".join([", ".join(words), *(s for s in one.shared if s not in other.shared)]).strip("; ")


def _rows(mistakes: Sequence[Mistake]) -> list[dict[str, Any]]:
    return [
        {
            "article": mistake.article,
            "name": mistake.name,
            "sentence": mistake.sentence,
            "tie_break": mistake.tie_break,
            "categories": mistake.categories,
            "refused": mistake.refused,
            "decoys": mistake.chosen.as_written(decoys(mistake)),
            **{
                role: {
                    "qid": candidate.qid,
                    "known": candidate.known,
                    "label": candidate.label,
                    "description": candidate.description,
                    "score": candidate.score,
                    "parts": candidate.parts,
                    "words": candidate.as_written(candidate.words),
                    "shared": candidate.shared,
                }
                for role, candidate in (("gold", mistake.gold), ("chosen", mistake.chosen))
            },
        }
        for mistake in mistakes
    ]
