"""People in labelled text, measured slowly and plainly: what `namesake eval run --labelled` must agree with."""

from __future__ import annotations

from itertools import pairwise

UNJUDGED = ("unmapped", "unlinked", "unannotated")


def over(one, other):
    return one[0] < other[1] and other[0] < one[1]


def judged_labels(document):
    low, high = document.get("evaluation_span") or (0, len(document["text"]))
    return [
        label
        for label in document["labels"]
        if not label.get("coref")
        and label.get("why") not in UNJUDGED
        and low <= label["span"][0]
        and label["span"][1] <= high
    ]


def is_person(label, known):
    if label.get("qid") in known or label.get("type") == "PER":
        return True
    return label.get("type") is None and bool(label.get("nil_clean"))


def harmonic(p, r):
    return 2 * p * r / (p + r) if p + r else 0.0


def share(part, whole):
    return part / whole if whole else 0.0


def measure(documents, links, threshold, known):
    """Figures over documents, each with its links (span, best, confidence, whether it may be answered)."""
    made = right = hit = gold = 0
    found = found_right = people = people_found = nil_right = nil_hit = told = 0
    truth, claim = [], []
    for document, here in zip(documents, links, strict=True):
        labels = judged_labels(document)
        names = [label for label in labels if label.get("qid") in known]
        gold += len(names)
        persons = [label for label in labels if is_person(label, known)]
        people += len(persons)
        near = [link for link in here if any(over(link[0], label["span"]) for label in labels)]
        answers = [(span, best) for span, best, claimed, may in near if best and may and claimed >= threshold]
        made += len(answers)
        right += sum(any(best == x["qid"] and over(span, x["span"]) for x in names) for span, best in answers)
        hits = [any(best == x["qid"] and over(span, x["span"]) for span, best in answers) for x in names]
        hit += sum(hits)
        for span, best, claimed, may in near:
            around = [label for label in labels if over(span, label["span"])]
            if best:
                truth.append(any(best == label.get("qid") for label in around))
                claim.append(claimed)
            if not may:
                continue
            found += 1
            around_known = [label for label in around if label.get("qid") in known]
            if claimed >= threshold:
                nil_right += any(best == label["qid"] for label in around_known)
            else:
                nil_right += not around_known
            if any(x.get("qid") or x.get("type") or x.get("nil_clean") for x in around):
                told += 1
                found_right += any(is_person(label, known) for label in around)
        for label in persons:
            people_found += any(may and over(span, label["span"]) for span, _, _, may in here)
            if label.get("qid") in known:
                nil_hit += any(best == label["qid"] and over(span, label["span"]) for span, best in answers)
            else:
                nil_hit += not any(over(span, label["span"]) for span, _ in answers)
    figures = {}
    for name, (p, r) in {
        "{}": (share(right, made), share(hit, gold)),
        "{} with NIL": (share(nil_right, found), share(nil_hit, people)),
        "detection {}": (share(found_right, told), share(people_found, people)),
    }.items():
        figures |= {name.format("precision"): p, name.format("recall"): r, name.format("F1"): harmonic(p, r)}
    return figures | {"AUROC": auroc(truth, claim), "ECE": calibration_error(truth, claim)}


def auroc(truth, claim):
    rights = [c for t, c in zip(truth, claim, strict=True) if t]
    wrongs = [c for t, c in zip(truth, claim, strict=True) if not t]
    won = sum((r > w) + (r == w) / 2 for r in rights for w in wrongs)
    return won / (len(rights) * len(wrongs)) if rights and wrongs else None


def calibration_error(truth, claim):
    bins = {}
    for t, c in zip(truth, claim, strict=True):
        bins.setdefault(min(int(c * 10), 9), []).append((t, c))
    return share(sum(abs(sum(t for t, _ in b) - sum(c for _, c in b)) for b in bins.values()), len(truth)) or None


def overlapping(spans):
    """Spans that share a character with one that begins before them, or with them."""
    ordered = sorted(spans)
    return sum(any(over(one, two) for one in ordered[:k]) for k, two in enumerate(ordered))


def disjoint(spans):
    return all(one[1] <= two[0] for one, two in pairwise(sorted(spans)))


def measure_kinds(documents, links, threshold, kind_of):
    """On a KB of several kinds: for None, all kinds together, and for each kind: labels, links, P, R and F1.

    `kind_of` has the kind of every entity in the KB, by QID.
    """
    found = {None: [0, 0, 0, 0]} | {kind: [0, 0, 0, 0] for kind in kind_of.values()}
    for document, here in zip(documents, links, strict=True):
        low, high = document.get("evaluation_span") or (0, len(document["text"]))
        every = [x for x in document["labels"] if low <= x["span"][0] and x["span"][1] <= high]
        stated = [x for x in judged_labels(document) if x.get("qid") or is_person(x, ())]
        labels = [x for x in stated if any(c.isupper() for c in document["text"][slice(*x["span"])])]
        answers = [(span, best) for span, best, claimed, may in here if best and may and claimed >= threshold]
        scored = []
        for span, best in answers:
            unlabelled = not any(over(span, x["span"]) for x in every) and low <= span[0] and span[1] <= high
            if any(over(span, x["span"]) for x in labels) or (document.get("complete") and unlabelled):
                scored.append((span, best))
        for kind, counts in found.items():
            gold = [x for x in labels if kind_of.get(x.get("qid"), "") in ([kind] if kind else kind_of.values())]
            made = [(span, best) for span, best in scored if kind in (None, kind_of.get(best))]
            counts[0] += len(gold)
            counts[1] += len(made)
            counts[2] += sum(any(best == x["qid"] and over(span, x["span"]) for x in gold) for span, best in made)
            counts[3] += sum(any(best == x["qid"] and over(span, x["span"]) for span, best in made) for x in gold)
    figures = {}
    for kind, (gold, made, right, hit) in found.items():
        p, r = share(right, made), share(hit, gold)
        figures[kind] = (gold, made, p, r, harmonic(p, r))
    return figures
