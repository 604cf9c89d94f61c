"""What explains one name: the evidence for a candidate, one sentence about the link, and candidates side by side.

Parts of the score that say the same to a reader are one group (`words.toml`). The sentence names the groups that set
the answer apart from its rival: the next candidate, or NIL if there is no other. A waterfall of bars shows the score.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, groupby, pairwise
from typing import Any, NamedTuple

from namesake.decide import DECIDED, TOO_CLOSE
from namesake.decide import REASONS as WHY_NIL
from namesake.drawing.theme import GROUPS, REASONS, SOURCES, nil_confidence, percent, render
from namesake.kb.records import Found
from namesake.printable import one_line

Row = Mapping[str, Any]

COMMON = frozenset({"P31", "P21"})
"""Properties that hardly distinguish entities: instance of, such as human, and sex or gender."""
MOST, MOST_WORDS, MOST_OTHERS = 2, 3, 2  # how many groups, matched words and other names a sentence lists
LEAST, MUCH = 0.3, 2.0  # the difference in log-odds from which a group is named, and from which it is large
GROUP_OF = {part: name for name, group in GROUPS.items() for part in group["parts"]}
SHOWN = 5  # candidates that are shown, besides NIL
LINES = 5  # lines of each kind of evidence; further ones unfold
SMALL = 0.05  # parts that change the score by less are drawn as one
OTHERS, TOTAL = "all others", "total"


class Shared(NamedTuple):
    """A statement that a candidate shares with other entities in the text."""

    property: str
    value: str
    others: Sequence[tuple[str, str]]  # QID and label of each
    common: bool
    more: int  # how many more entities share it and are not listed


class Evidence(NamedTuple):
    """The evidence for a candidate, besides its scores."""

    words: list[tuple[str, list[str]]]  # by source, such as `occupation: baseball player`; as the text writes them
    shared: list[Shared]
    notes: list[str]  # other matches of scorers
    spans: list[tuple[int, int]]  # the places of the words in the text, in its order


def evidence(rows: Iterable[Row], text: str) -> Evidence:
    """The evidence in the rows of one candidate. A word that several parts matched counts once."""
    every = [match for row in rows for match in row["matches"] or ()]
    others, words = [match for match in every if match["word"] is None], dict[str, Row]()
    for match in every:
        if match["word"] is not None:
            words.setdefault(match["word"], match)
    spans = sorted({(start, end) for match in words.values() for start, end in match["spans"] or ()})
    notes = [place(source) for match in others if not of_anchors(match) for source in match["sources"]]
    shared: dict[tuple[str, str], Shared] = {}
    for match in filter(of_anchors, others):
        first = match["sources"][0]
        what = first["property_label"] or first["property"] or first["source"]
        anchors = [(s["anchor"], s["anchor_label"] or s["anchor"]) for s in match["sources"]]
        key, more = (one_line(what), one_line(first["value"])), match.get("more_sources") or 0
        shared[key] = Shared(*key, list(dict.fromkeys(anchors)), first["property"] in COMMON, more)
    telling = sorted(shared.values(), key=lambda one: one.common)  # those that distinguish entities first
    matches = list(words.values())
    nowhere = [("", [surface(match, text) for match in matches if not match["sources"]])]
    found = [
        (place(source), list(dict.fromkeys(surface(match, text) for match in group)))
        for source, group in by_source(matches)
    ]
    by_place = [one for one in (*nowhere, *found) if one[1]]
    return Evidence(by_place, telling, list(dict.fromkeys(notes)), spans)


def place(source: Row, plain: bool = True) -> str:
    """The source of a word, in plain words or in those of the scorer."""
    if source["source"] in {"description", "paragraph"}:
        return str(source["source"])
    also = " (also known as)" if source["source"] == "alias" else ""
    name = SOURCES.get(source["source"], source["source"]) if plain else source["source"]
    what = source["property_label"] or source["property"] or name
    return one_line(f"{what}: {source['value']}{also}" if source["value"] else what)


def of_anchors(match: Row) -> bool:
    """Whether a match is a statement shared with other entities in the text."""
    return bool(match["sources"]) and all(source["anchor"] for source in match["sources"])


def surface(match: Row, text: str) -> str:
    """A matched word as the text writes it."""
    if not match["spans"]:
        return one_line(match["word"])
    start, end = match["spans"][0]
    return one_line(text[start:end])


def by_source(matches: Iterable[Row]) -> list[tuple[Row, list[Row]]]:
    """Groups of matches by source: as few sources as needed, those with the most matches first."""
    found: list[tuple[Row, list[Row]]] = []
    left = [match for match in matches if match["sources"]]
    while left:
        under: dict[str, tuple[Row, list[Row]]] = {}
        for match in left:
            for source in match["sources"]:
                under.setdefault(place(source), (source, []))[1].append(match)
        found.append(max(under.values(), key=lambda one: len(one[1])))
        left = [match for match in left if match not in found[-1][1]]
    return found


# one sentence
def summary_sentence(rows: Sequence[Row], text: str = "") -> str:
    """Why a name has its answer, from its rows of `explain.EXPLANATION`."""
    by_rank = [list(some) for _, some in groupby(rows, key=lambda row: row["rank"])]
    candidates = [some for some in by_rank if some[0]["qid"] is not None]
    nil = next((some for some in by_rank if some[0]["qid"] is None), [])
    if not candidates:
        return "No entity in the knowledge base has this name."
    own, *others = candidates
    reason = own[0]["reason"]
    if reason == WHY_NIL[DECIDED]:
        return "A person decided that it is none of the candidates."
    if reason is not None:
        return _no_answer(candidates, nil, reason, text)
    said = _joined(reasons_for(own, others[0] if others else nil, text))
    if not others:
        return f"The only entity with this name{f': {said}' if said else ''}."
    return f"Mainly because {said}." if said else "The candidates hardly differ, and this one is slightly ahead."


def reasons_for(own: Sequence[Row], rival: Sequence[Row], text: str = "") -> list[str]:
    """What speaks for a candidate rather than for its rival, the strongest first."""
    alone = not (rival and rival[0]["qid"] is not None)
    ahead, about = _by_group(own), _about(own[0]["kind"])
    for group, amount in _by_group([] if alone else rival).items():
        ahead[group] -= amount
    found = evidence(own, text)
    words = [word for source, some in found.words for word in some]
    known = {word for _, some in evidence(rival, text).words for word in some}
    words = [word for word in dict.fromkeys(words) if word not in known]
    names = [label for one in found.shared if not one.common for _, label in one.others]
    about["words"] = _joined([f"“{one_line(word)}”" for word in words[:MOST_WORDS]])
    about["others"] = _joined([one_line(name) for name in dict.fromkeys(names)][:MOST_OTHERS])
    wanted = [form for form, holds in (("with_words", words), ("with_others", names), ("alone", alone)) if holds]
    return _phrases(ahead, about, *wanted, "much", "for")


def for_and_against(parts: Sequence[Mapping[str, float]], kinds: Sequence[str]) -> list[str]:
    """What speaks for and against candidates, best first, by the parts of their scores and their kinds."""
    amounts = [_by_name(one) for one in parts]
    found = []
    for own, kind in zip(amounts, kinds, strict=True):
        rival = next((other for other in amounts if other is not own), {})
        ahead = {group: own.get(group, 0.0) - rival.get(group, 0.0) for group in {**own, **rival}}
        good = _phrases(ahead, _about(kind), "with_property", "much" if rival else "alone", "for")
        bad = _phrases({group: -ahead[group] for group in ahead}, _about(kind), "against_property", "against")
        said = [f"{what}: {_joined(some)}." for what, some in (("For", good), ("Against", bad)) if some]
        found.append(" ".join(said) or "Nothing sets it apart from the others.")
    return found


def _by_name(parts: Mapping[str, float]) -> dict[str, float]:
    """The parts of a score by group; cells of a row by property, such as `row: occupation`; own parts have no group."""
    found: defaultdict[str, float] = defaultdict(float)
    for name, added in parts.items():
        source, _, property = name.partition(" > ")[0].partition(": ")
        if source in GROUP_OF:
            found[f"{GROUP_OF[source]}: {property}" if property else GROUP_OF[source]] += added
    return found


def _phrases(amounts: Mapping[str, float], about: Mapping[str, str], *wanted: str) -> list[str]:
    """The strongest groups in words, each in the first wanted form that it has; only the first names the candidate."""
    strong = sorted((one for one in amounts.items() if one[1] >= LEAST), key=lambda one: -one[1])[:MOST]
    said: list[str] = []
    for name, amount in (one for one in strong if 3 * one[1] >= strong[0][1]):  # no group that is much weaker
        group, _, property = name.partition(": ")
        holds = {"much": amount >= MUCH, "with_property": property, "against_property": property}
        forms = [GROUPS[group][form] for form in wanted if form in GROUPS[group] and holds.get(form, True)]
        said += [form.format(**about, property=property) for form in forms[:1]]
    naming = [at for at, one in enumerate(said) if one.startswith(f"{about['it']} ")]
    return [one.removeprefix(f"{about['it']} ") if at in naming[1:] else one for at, one in enumerate(said)]


def _about(kind: str | None) -> dict[str, str]:
    """How sentences name a candidate of a kind."""
    kind = "entity" if kind in (None, "", "other") else str(kind)
    return {"it": f"this {kind}", "kind": f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"}


def _no_answer(candidates: Sequence[Sequence[Row]], nil: Sequence[Row], reason: str, text: str) -> str:
    """Why a name has no answer."""
    best = candidates[0]
    who = _entity(best[0])
    if reason == WHY_NIL[TOO_CLOSE] and len(candidates) > 1:
        rival = candidates[1]
        sides = [(_entity(some[0]), reasons_for(some, other, text)) for some, other in ((best, rival), (rival, best))]
        between = ", but " if all(why for _, why in sides) else ", or "
        named = (f"{name}, because {_joined(why)}" if why else name for name, why in sides)
        return f"Too close to call: {between.join(named)}."
    said = _phrases({group: -amount for group, amount in _by_group(best).items()}, _about(best[0]["kind"]), "against")
    said += _phrases(_by_group(nil), _about(None), "nil")
    return f"The best candidate, {who}, is not likely enough{': ' if said else ''}{_joined(said[:MOST])}."


def _entity(row: Row) -> str:
    label = one_line(row["label"] or row["qid"])
    about = one_line(row["description"] or row["qid"])
    sure = f", {percent(row['confidence'])} likely" if row["confidence"] is not None else ""
    return f"{label} ({about}{sure})"


def _by_group(rows: Iterable[Row]) -> dict[str, float]:
    """The contributions of the parts of one candidate, or of NIL, by group."""
    return _by_name({row["part"]: row["contribution"] for row in rows if row["role"] == "part"})


def _joined(parts: Sequence[str]) -> str:
    """Such as `a, b and c`."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


# candidates side by side
def shown(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of the first candidates of one name, candidate by candidate, and of NIL wherever it is ranked."""
    candidates = [list(group) for _, group in groupby(rows, key=lambda row: row["rank"])]
    entities = [candidate for candidate in candidates if candidate[0]["qid"] is not None]
    return [candidate for candidate in candidates if candidate not in entities[SHOWN:]]


def side_by_side(rows: Sequence[Row], text: str, found: Mapping[str, Found], link: Row | None = None) -> str:
    """Cards of the first candidates of one name; with `link`, also the verdict on the name."""
    candidates = shown(rows)
    cards: list[dict[str, Any]] = [
        {"first": some[0], "found": found.get(some[0]["qid"]), "evidence": evidence(some, text), "bars": bars}
        for some, bars in zip(candidates, waterfalls(candidates), strict=True)
    ]
    total = (link or {}).get("candidates") or 0
    return render(
        "drawing/candidates.html",
        cards=cards,
        link=link and {"best_label": None, "label": None, **link},
        sentence=summary_sentence(rows, text) if rows else "",
        nil=link and nil_confidence(link),
        reason=link and REASONS.get(link["reason"], one_line(link["reason"])),
        more=total - sum(card["first"]["qid"] is not None for card in cards),
        lines=LINES,
    )


# the score
class Step(NamedTuple):
    """A bar: the part and its value, the value as it is written, and where the bar begins and ends."""

    part: str
    value: float
    written: str
    begin: float
    end: float


def steps(rows: Iterable[Row]) -> list[Step]:
    """The steps of one candidate, the largest first and small ones as one. Also as written they add up to the score."""
    parts = {row["part"]: float(row["contribution"]) for row in rows if row["role"] == "part"}
    ordered = sorted((one for one in parts.items() if abs(one[1]) >= SMALL), key=lambda one: -abs(one[1]))
    small = [value for value in parts.values() if abs(value) < SMALL]
    if any(small):
        ordered.append((OTHERS, sum(small)))
    values = [value for _, value in ordered]
    bars = zip(ordered, rounded(values), pairwise(accumulate(values, initial=0.0)), strict=True)
    return [Step(part, value, number(hundredths / 100), *ends) for (part, value), hundredths, ends in bars]


def rounded(values: Sequence[float]) -> list[int]:
    """Each value in hundredths, rounded up or down so that they add up to the rounded sum."""
    down = [int(value * 100 // 1) for value in values]
    missing = round(sum(values) * 100) - sum(down)
    by_rest = sorted(range(len(values)), key=lambda i: down[i] - values[i] * 100)
    for i in by_rest[:missing]:
        down[i] += 1
    return down


def number(value: float) -> str:
    """A contribution with its sign: +1.20, −0.30, 0.00."""
    return f"{value:+.2f}".replace("-", "−") if round(value, 2) else "0.00"


def waterfalls(candidates: Sequence[Sequence[Row]]) -> list[list[dict[str, Any]]]:
    """The bars of several candidates, all drawn to one scale: steps, and positions in percent of the width."""
    every = [steps(rows) for rows in candidates]
    for some in every:
        value = sum(step.value for step in some)
        some.append(Step(TOTAL, value, number(round(value * 100) / 100).removeprefix("+"), 0.0, value))
    ends = [0.0, *(end for some in every for step in some for end in (step.begin, step.end))]
    low, width = min(ends), (max(ends) - min(ends)) or 1.0

    def bar(step: Step) -> dict[str, Any]:
        left, right = (100 * (at - low) / width for at in sorted((step.begin, step.end)))
        return step._asdict() | {"zero": 100 * -low / width, "left": left, "width": max(right - left, 0.6)}

    return [[bar(step) for step in some] for some in every]
