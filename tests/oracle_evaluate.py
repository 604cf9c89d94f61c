"""Slow and obvious twins of the evaluation: one mention, one sample, one grid point at a time."""

import math


def place_of_gold(candidates, gold):
    """Rank of candidate `gold` when tuples of keys are sorted, highest first, stably; infinity without gold."""
    if gold is None:
        return math.inf
    order = sorted(range(len(candidates)), key=lambda i: tuple(-key for key in candidates[i]))
    return order.index(gold) + 1


def mean(values, weights):
    """Weighted mean over the values that are inside the slice (not None)."""
    pairs = [(value, weight) for value, weight in zip(values, weights, strict=True) if value is not None]
    total = sum(weight for _, weight in pairs)
    return sum(value * weight for value, weight in pairs) / total if total else math.nan


def auroc(confidence, right, weights):
    """Share of (right, wrong) pairs that are in the right order, ties half, pairs weighted."""
    won = pairs = 0.0
    for c1, r1, w1 in zip(confidence, right, weights, strict=True):
        for c2, r2, w2 in zip(confidence, right, weights, strict=True):
            if r1 and not r2:
                pairs += w1 * w2
                won += w1 * w2 * (1 if c1 > c2 else 0.5 if c1 == c2 else 0)
    return won / pairs if pairs else math.nan


def calibration_error(probability, right, weights):
    """Over ten equal bins, |mean probability − share right| weighted by the bin's share."""
    error, total = 0.0, sum(weights)
    for b in range(10):
        inside = [i for i, p in enumerate(probability) if min(int(p * 10), 9) == b]
        weight = sum(weights[i] for i in inside)
        if weight:
            claimed = sum(weights[i] * probability[i] for i in inside) / weight
            true = sum(weights[i] * right[i] for i in inside) / weight
            error += weight / total * abs(claimed - true)
    return error


def risk_at(confidence, right, threshold):
    """Coverage and risk when everything at or above a confidence is answered."""
    answered = [r for c, r in zip(confidence, right, strict=True) if c >= threshold]
    return len(answered) / len(right), 1 - sum(answered) / len(answered)


def random_mrr(size):
    """Mean of 1/place over all places the gold candidate may take in a uniform order."""
    return sum(1 / place for place in range(1, size + 1)) / size


def grid_places(recipe, data, points):
    """Rank of every gold candidate at every point, each through `Recipe.combine`."""
    table = []
    for point in points:
        parts = tuple(part.replace(weight=float(w)) for part, w in zip(recipe.parts, point, strict=True))
        combined = recipe.replace(parts=parts).combine(data.table.scores, data.offsets)
        places = []
        for m, gold in enumerate(data.gold):
            start, end = data.offsets[m], data.offsets[m + 1]
            candidates = [tuple(key[c] for key in combined.keys) for c in range(start, end)]
            places.append(place_of_gold(candidates, int(gold - start)))
        table.append(places)
    return [list(row) for row in zip(*table, strict=True)]


def log_likelihood(parts, gold, beta, none=None):
    """log of the softmax probability of the right alternative of one mention.

    The alternatives are its candidates and, with the score `none`, "none of them", which is right where gold is None.
    """
    scores = [sum(b * x for b, x in zip(beta, row, strict=True)) for row in parts]
    alternatives = scores if none is None else [*scores, none]
    right = none if gold is None else scores[gold]
    return right - math.log(sum(math.exp(score) for score in alternatives))


def penalised_loss(mentions, weights, nil, alone, penalty):
    """What the fit minimises, mention by mention: (parts of each candidate, index of the right one or None)."""
    loss = penalty * sum(w * w for w in weights) / 2
    for parts, gold in mentions:
        loss -= log_likelihood(parts, gold, weights, alone if len(parts) == 1 else nil)
    return loss
