"""One plain sentence about a link, from the rows of its explanation: why this entity, or why NIL.

Parts of the score that say the same to a reader are one group (`words.toml`). The sentence names the groups that set
the answer apart from its rival: the next candidate, or NIL if there is no other.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from namesake.decide import DECIDED, REASONS, TOO_CLOSE
from namesake.drawing.evidence import Row, evidence
from namesake.drawing.theme import GROUPS, percent
from namesake.printable import one_line

MOST, MOST_WORDS, MOST_OTHERS = 2, 3, 2
"""How many groups, matched words and other names a sentence lists."""
LEAST, MUCH = 0.3, 2.0
"""The difference in log-odds from which a group is named, and from which it is large."""
GROUP_OF = {part: name for name, group in GROUPS.items() for part in group["parts"]}


def summary_sentence(rows: Sequence[Row], text: str = "") -> str:
    """Why a name has its answer, from its rows of `explain.EXPLANATION`."""
    by_rank = [list(some) for _, some in groupby(rows, key=lambda row: row["rank"])]
    candidates = [some for some in by_rank if some[0]["qid"] is not None]
    nil = next((some for some in by_rank if some[0]["qid"] is None), [])
    if not candidates:
        return "No entity in the knowledge base has this name."
    own, *others = candidates
    reason = own[0]["reason"]
    if reason == REASONS[DECIDED]:
        return "A person decided that it is none of the candidates."
    if reason is not None:
        return _no_answer(candidates, nil, reason, text)
    said = _joined(reasons_for(own, others[0] if others else nil, text))
    if not others:
        return f"The only entity with this name{f': {said}' if said else ''}."
    return f"Mainly because {said}." if said else "The candidates hardly differ, and this one is slightly ahead."


def reasons_for(own: Sequence[Row], rival: Sequence[Row], text: str = "") -> list[str]:
    """What speaks for a candidate rather than for its rival, the strongest first."""
    ahead = _by_group(own)
    if rival and rival[0]["qid"] is not None:
        for group, amount in _by_group(rival).items():
            ahead[group] -= amount
    about = _about(own[0]["kind"])
    alone = not (rival and rival[0]["qid"] is not None)
    found = evidence(own, text)
    words = [word for source, some in found.words for word in some]
    known = {word for _, some in evidence(rival, text).words for word in some} if rival else set()
    words = [word for word in dict.fromkeys(words) if word not in known]
    names = [label for one in found.shared if not one.common for _, label in one.others]
    about |= {"words": _joined([f"“{one_line(word)}”" for word in words[:MOST_WORDS]])}
    about |= {"others": _joined([one_line(name) for name in dict.fromkeys(names)][:MOST_OTHERS])}
    said: list[str] = []
    for group in _strongest(ahead):
        forms = GROUPS[group]
        wanted = [("with_words", words), ("with_others", names), ("alone", alone), ("much", ahead[group] >= MUCH)]
        form = next((forms[name] for name, holds in wanted if holds and name in forms), forms["for"])
        said.append(form.format(**about))
    return _named_once(said, about["it"])


def for_and_against(parts: Sequence[Mapping[str, float]], kinds: Sequence[str]) -> list[str]:
    """What speaks for and against candidates, best first, by the parts of their scores and their kinds."""
    amounts = [_by_name(one) for one in parts]
    found = []
    for own, kind in zip(amounts, kinds, strict=True):
        rival = next((other for other in amounts if other is not own), {})
        ahead = {group: own.get(group, 0.0) - rival.get(group, 0.0) for group in {**own, **rival}}
        about, usual = _about(kind), "for" if rival else "alone"
        good = [_form(one, "much" if rival and ahead[one] >= MUCH else usual, about) for one in _strongest(ahead)]
        bad = [_form(group, "against", about) for group in _strongest({name: -ahead[name] for name in ahead})]
        said = [
            f"{what}: {_joined(_named_once(some, about['it']))}."
            for what, some in (("For", good), ("Against", [*filter(None, bad)]))
            if some
        ]
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


def _form(name: str, form: str, about: Mapping[str, str]) -> str:
    """A group in words; empty if it has none against a candidate."""
    group, _, property = name.partition(": ")
    if property:
        form = "against_property" if form == "against" else "with_property"
    forms = GROUPS[group]
    said: str = forms.get(form, "" if form == "against" else forms["for"])
    return said.format(**about, property=property)


def _named_once(said: Sequence[str], it: str) -> list[str]:
    """Reasons of which only the first names the candidate: `this person is better known and is connected with …`."""
    naming = [at for at, one in enumerate(said) if one.startswith(f"{it} ")]
    return [one.removeprefix(f"{it} ") if at in naming[1:] else one for at, one in enumerate(said)]


def _about(kind: str | None) -> dict[str, str]:
    """How sentences name a candidate of a kind."""
    kind = "entity" if kind in (None, "", "other") else str(kind)
    return {"it": f"this {kind}", "kind": f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"}


def _no_answer(candidates: Sequence[Sequence[Row]], nil: Sequence[Row], reason: str, text: str) -> str:
    """Why a name has no answer."""
    best = candidates[0]
    who = _entity(best[0])
    if reason == REASONS[TOO_CLOSE] and len(candidates) > 1:
        rival = candidates[1]
        sides = [(_entity(some[0]), reasons_for(some, other, text)) for some, other in ((best, rival), (rival, best))]
        between = ", but " if all(why for _, why in sides) else ", or "
        named = (f"{name}, because {_joined(why)}" if why else name for name, why in sides)
        return f"Too close to call: {between.join(named)}."
    against = _by_group(best)
    weak = _strongest({group: -amount for group, amount in against.items()})
    said = [GROUPS[group]["against"] for group in weak if "against" in GROUPS[group]]
    said += [GROUPS[group]["nil"] for group in _strongest(_by_group(nil)) if "nil" in GROUPS[group]]
    return f"The best candidate, {who}, is not likely enough{': ' if said else ''}{_joined(said[:MOST])}."


def _entity(row: Row) -> str:
    label = one_line(row["label"] or row["qid"])
    about = one_line(row["description"] or row["qid"])
    sure = f", {percent(row['confidence'])} likely" if row["confidence"] is not None else ""
    return f"{label} ({about}{sure})"


def _by_group(rows: Iterable[Row]) -> dict[str, float]:
    """The contributions of the parts of one candidate, or of NIL, by group."""
    return _by_name({row["part"]: row["contribution"] for row in rows if row["role"] == "part"})


def _strongest(amounts: Mapping[str, float]) -> list[str]:
    """The groups that count, the strongest first: at least a third as strong as the first."""
    ordered = sorted((one for one in amounts.items() if one[1] >= LEAST), key=lambda one: -one[1])
    return [group for group, amount in ordered[:MOST] if 3 * amount >= ordered[0][1]]


def _joined(parts: Sequence[str]) -> str:
    """Such as `a, b and c`."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))
