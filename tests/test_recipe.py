"""Recipes: TOML there and back, refusals that name the culprit, and the arithmetic of `combine`."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from namesake import rank
from namesake.doubts import DOUBTS
from namesake.errors import NamesakeError
from namesake.kernels.kinds import KINDS
from namesake.rank import SCALES
from namesake.recipe import Decide, Part, Recipe, recipes
from namesake.scorers import SCORERS as REGISTRY

SCORERS = sorted(REGISTRY)

PAPER_CHAINS = {  # the tie-breaks behind the paper's Table 2, each ending in LQID
    "iscore-paper": ("NP", "LQID"),
    "niscore-paper": ("NS", "LQID"),
    "cse-paper": ("NS", "LQID"),
    "cssve-paper": ("NS", "LQID"),
    "np-paper": ("NS", "LQID"),
    "pr_wd-paper": ("NS", "LQID"),
    "eeiscore-paper": ("PR_WP", "LQID"),
    "uiscore-paper": ("PR_WP", "LQID"),
    "ucse-paper": ("PR_WP", "LQID"),
}

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
scales = st.sampled_from(sorted(SCALES))
by_kind = st.dictionaries(st.sampled_from(KINDS), st.floats(-1e9, 1e9), max_size=4)
scored_parts = st.builds(
    Part, st.sampled_from(SCORERS), st.floats(0, 1e9), scales, fixed=st.booleans(), by_kind=by_kind
)
evidence_parts = st.builds(Part, evidence=st.sampled_from(sorted(DOUBTS)), scale=scales, by_kind=by_kind.filter(len))
parts = st.lists(
    scored_parts | evidence_parts,
    min_size=1,
    max_size=4,
    unique_by=lambda part: part.name,
).map(tuple)
any_recipe = st.builds(
    Recipe,
    name=texts,
    parts=parts,
    description=texts,
    anchors=st.sampled_from(["first", "all"]),
    context=st.sampled_from(["article", "narrow", "both"]),
    words=st.sampled_from(["D", "S", "D+S", "D+P+S_A", "S_A"]),
    variants=st.sampled_from(["never", "missing", "always"]),
    decide=st.none()
    | st.builds(
        Decide, st.floats(-1e9, 1e9), st.none() | st.floats(-1e9, 1e9), st.floats(0, 1), confirm=st.floats(0, 1)
    ),
    tie_break=st.lists(st.sampled_from(SCORERS), max_size=3).map(tuple),
)


@given(any_recipe)
def test_toml_reads_back_equal(recipe):
    assert Recipe.parse(recipe.toml()) == recipe


def test_every_shipped_recipe_loads_under_its_own_name():
    assert {"default", "random", *PAPER_CHAINS} <= set(recipes())
    for name in recipes():
        recipe = Recipe.load(name)
        assert recipe.name == name
        assert recipe.description
        assert recipe.anchors == ("first" if name.endswith("-paper") or "paper-" in name else recipe.anchors)


@pytest.mark.parametrize(("name", "chain"), PAPER_CHAINS.items())
def test_the_papers_tie_breaks(name, chain):
    assert Recipe.load(name).tie_break == chain


def test_a_recipe_file_is_loaded_by_its_path(tmp_path):
    recipe = Recipe("mine", (Part("NS", 0.5, "log1p"), Part("IScore")), anchors="first")
    recipe.save(tmp_path / "mine.toml")
    assert Recipe.load(tmp_path / "mine.toml") == recipe
    assert Recipe.load(str(tmp_path / "mine.toml")).scorers == ("NS", "IScore", "PR_WP", "LQID")


GOOD = 'name = "x"\n[[parts]]\nscorer = "NS"\n'
EVIDENCE = 'name = "x"\n[[parts]]\nevidence = "OneWord"\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('name = "x"\n[[parts]]\nscorer = "Sitelinks"', r"bad.toml: unknown scorer 'Sitelinks'; known are .*NIScore"),
        ('tie_break = ["NX"]\n' + GOOD, "unknown scorer 'NX'"),
        ('name = "x"\n[[parts]]\nscorer = "NIScor"', r"unknown scorer 'NIScor' \(did you mean 'NIScore'\?\)"),
        ('name = "x"\n[[parts]]\nscorer = "iscore"', r"unknown scorer 'iscore' \(did you mean 'IScore'\?\)"),
        (GOOD + "weight = -0.5", r"weight of NS = -0.5: must be a number from 0 up"),
        (GOOD + "weight = nan", r"weight of NS = nan: must be a number"),
        (GOOD + "weight = inf", r"weight of NS = inf: must be a number"),
        (GOOD + "weight = true", r"weight of NS = True: must be a number"),
        (GOOD + 'weight = "much"', "weight of NS = 'much': must be a number"),
        (GOOD + 'scale = "cubed"', "scale of NS = 'cubed': must be one of none, unit"),
        (GOOD + 'scale = "log"', r"scale of NS = 'log': must be one of .*log1p.* \(did you mean 'log1p'\?\)"),
        (GOOD + "scale = 2", "scale of NS = 2: must be one of none, unit"),
        (GOOD + "fixed = 1", "fixed of NS = 1: must be true or false"),
        (GOOD + "unless = 1", "unless of NS = 1: must be the name of another part"),
        (GOOD + 'unless = "NIScore"', "NS counts unless NIScore, which is no part of the recipe"),
        (GOOD + "wait = 1", r"unknown key 'wait' \(did you mean 'weight'\?\); known are scorer, weight, scale"),
        ('colour = "red"\n' + GOOD, "unknown key 'colour'; known are name, parts"),
        ('anchor = "all"\n' + GOOD, r"unknown key 'anchor' \(did you mean 'anchors'\?\)"),
        ('anchors = "some"\n' + GOOD, "anchors = 'some': must be one of first, all"),
        ('anchors = "frist"\n' + GOOD, r"must be one of first, all \(did you mean 'first'\?\)"),
        ('context = "wide"\n' + GOOD, "context = 'wide': must be one of article, narrow, both"),
        ("context = 3\n" + GOOD, "context = 3: must be one of article, narrow, both"),
        ('variants = "sometimes"\n' + GOOD, "variants = 'sometimes': must be one of never, missing, always"),
        ('words = "D+X"\n' + GOOD, r"words = 'D\+X': must be a sum of D, P, S, S_A"),
        ('words = "D+D"\n' + GOOD, r"words = 'D\+D': must be a sum of .*, each of them once"),
        ("words = 3\n" + GOOD, "words = 3: must be a sum of"),
        ("name = 3\n" + GOOD.partition("\n")[2], "name = 3: must be a text in quotes"),
        ('name = "x"', r"parts is missing: it must be at least one \[\[parts\]\] table with a scorer"),
        ('name = "x"\nparts = []', r"parts = \[\]: must be at least one \[\[parts\]\] table"),
        ('name = "x"\nparts = 3', r"parts = 3: must be at least one \[\[parts\]\] table"),
        ('name = "x"\nparts = [3]', r"parts = \[3\]: must be at least one \[\[parts\]\] table"),
        ('[[parts]]\nscorer = "NS"', "name is missing: it must be a text"),
        ('name = "x"\n[[parts]]\nweight = 1', "scorer is missing from parts: it must be the name of a scorer"),
        (GOOD + '[[parts]]\nscorer = "NS"', "NS is a part twice"),
        (
            GOOD + "by_kind = { plase = 1 }",
            r"by_kind of NS has 'plase' \(did you mean 'place'\?\); the kinds are other",
        ),
        (GOOD + "by_kind = { organization = 1 }", r"\(did you mean 'organisation'\?\)"),
        (GOOD + "by_kind = { place = inf }", r"by_kind of NS = \{'place': inf\}: must be a table of numbers by kind"),
        (GOOD + "by_kind = 3", "by_kind of NS = 3: must be a table of numbers by kind"),
        (GOOD + 'evidence = "OneWord"', "NS and OneWord: a part has a scorer or evidence, not both"),
        (EVIDENCE, "evidence OneWord must have its weights in `by_kind`"),
        (EVIDENCE + "weight = 2.0\nby_kind = { place = 1 }", "evidence OneWord must have its weights in `by_kind`"),
        (EVIDENCE + "by_kind = { place = 1 }\nscale = 2", "scale of OneWord = 2: must be one of none, unit"),
        (EVIDENCE.replace("One", "Won") + "by_kind = { place = 1 }", r"unknown doubt .*\(did you mean 'OneWord'\?\)"),
        ('tie_break = "NS"\n' + GOOD, "tie_break = 'NS': must be a list of names, such as"),
        ('tie_break = ["NS", 1]\n' + GOOD, r"tie_break = \['NS', 1\]: must be a list of names, such as"),
        ("decide = 3\n" + GOOD, r"decide = 3: must be a \[decide\] table with at least `nil`"),
        (GOOD + "[decide]\nthreshold = 0.5", "nil is missing from decide: it must be a number, the score of none"),
        (GOOD + "[decide]\nnil = inf", "nil = inf: must be a number"),
        (GOOD + "[decide]\nnil = 1\nalone = nan", "alone = nan: must be a number"),
        (GOOD + "[decide]\nnil = 1\nthreshold = 2", "threshold = 2: must be a probability, between 0 and 1"),
        (GOOD + "[decide]\nnill = 1", r"unknown key 'nill' \(did you mean 'nil'\?\)"),
        ('"x - at `$.y" = 1\n' + GOOD, "unknown key"),
        ('"a\\nb" = 1\n' + GOOD, r"unknown key 'a\\nb'"),
        ("a = " + "[" * 5000, "bad.toml: not TOML"),
        ("name = ", "bad.toml: not TOML"),
    ],
)
def test_a_bad_recipe_is_refused_in_one_line_that_names_it(tmp_path, text, message):
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(NamesakeError, match=message) as refusal:
        Recipe.load(path)
    assert "\n" not in str(refusal.value)


def test_an_unknown_name_lists_the_shipped_ones(tmp_path):
    with pytest.raises(NamesakeError, match=r"no recipe named 'uiscore' \(did you mean 'uiscore-paper'\?\); give a "):
        Recipe.load("uiscore")
    with pytest.raises(NamesakeError, match="cannot read"):
        Recipe.load(tmp_path / "nowhere.toml")


def test_a_program_is_told_the_same_as_a_file():
    for wrong, message in (
        (lambda: Part("NS", -1), r"weight of NS = -1: must be a number from 0 up"),
        (lambda: Part(3), "scorer = 3: must be the name of a scorer"),
        (lambda: Recipe("x", ()), r"parts = \(\): must be at least one"),
        (lambda: Recipe("x", (Part("NS"),), anchors="some"), "anchors = 'some': must be one of first, all"),
        (lambda: Recipe("x", (Part("NS"), Part("NS"))), "NS is a part twice"),
        (lambda: Decide(nil=float("nan")), "nil = nan: must be a number"),
        (lambda: Recipe.load("default").at(1.5), "threshold = 1.5: must be a probability"),
        (lambda: Recipe("x", (Part("NS"),)).replace(words="D+D"), "words = 'D"),
    ):
        with pytest.raises(NamesakeError, match=message):
            wrong()
    assert Part("NS", np.float64(0.5)) == Part("NS", 0.5)


ragged = st.lists(st.lists(st.floats(-1, 100, allow_subnormal=False), min_size=0, max_size=5), max_size=5)


@given(ragged)
def test_scales_against_plain_python(mentions):
    offsets = np.cumsum([0, *map(len, mentions)]).astype(np.int64)
    flat = np.array([x for mention in mentions for x in mention], np.float64)
    expected = {name: [] for name in SCALES}
    for mention in mentions:
        total, smoothed, best = sum(mention), sum(x + 1 for x in mention), max(mention, default=0)
        for x in mention:
            expected["none"].append(x)
            expected["unit"].append((x + 1) / 2)
            expected["smooth"].append((x + 1) / smoothed if smoothed > 0 else 0)
            expected["share"].append(x / total if total > 0 else 0)
            expected["top"].append(x / best if best > 0 else 0)
            expected["log1p"].append(np.log1p(max(x, 0)))
            expected["sqrt"].append(max(x, 0) ** 0.5)
    for name, function in SCALES.items():
        np.testing.assert_allclose(function(flat, offsets), expected[name], rtol=1e-9)


def test_combine_adds_weighted_parts_and_reports_what_is_absent():
    offsets = np.array([0, 2, 3], np.int64)
    scores = {"IScore": np.array([2.0, 1.0, 4.0]), "PRWP": np.array([0.1, 0.9, 0.5])}
    recipe = Recipe("x", (Part("IScore", 0.5), Part("PR_WP", 2.0), Part("CSE", 1.0)), tie_break=("NS", "PR_WP"))
    combined = recipe.combine(scores, offsets)
    np.testing.assert_allclose(combined.total, [1.2, 2.3, 3.0])
    contributions = recipe.contributions(scores, offsets)
    np.testing.assert_allclose(sum(contributions.values()), combined.total)
    assert contributions["CSE"].tolist() == [0, 0, 0]
    assert combined.absent == ("CSE", "NS")
    assert combined.names == ("score", "PR_WP")
    assert rank.winner(offsets, *combined.keys).tolist() == [1, 2]


numbers = st.floats(-5, 5)
kind_weights = st.dictionaries(st.sampled_from(KINDS), numbers, min_size=1)
candidates = st.lists(st.tuples(st.integers(-1, len(KINDS) - 1), numbers, numbers), max_size=4)
"""The kind of each candidate of a mention, -1 for unknown, and its values of two scorers."""


@given(st.lists(st.tuples(numbers, candidates), max_size=4), st.floats(0, 3), kind_weights, kind_weights, kind_weights)
def test_weights_by_kind_against_plain_python(mentions, weight, of_score, of_evidence, of_constant):
    parts = (
        Part("NS", weight, by_kind=of_score),
        Part("IScore", 0.5),
        Part(evidence="PlaceContext", by_kind=of_evidence),
        Part(evidence="Constant", by_kind=of_constant),
        Part(evidence="OneWord", by_kind=of_constant),  # absent
    )
    flat = [candidate for _, mention in mentions for candidate in mention]
    kinds, first, second = (np.array([one[k] for one in flat]) for k in range(3))
    scores = {"NS": first.astype(float), "IScore": second.astype(float)}
    evidence = {"PlaceContext": np.array([value for value, _ in mentions]), "Constant": np.ones(len(mentions))}
    offsets = np.cumsum([0, *(len(mention) for _, mention in mentions)]).astype(np.int64)
    recipe, given = Recipe("x", parts, tie_break=()), (scores, offsets, evidence, kinds.astype(np.int8))
    combined, contributions = recipe.combine(*given), recipe.contributions(*given)
    expected = []
    for place, mention in mentions:
        for number, ns, iscore in mention:
            kind = KINDS[number] if number >= 0 else None
            score = (weight + of_score.get(kind, 0)) * ns + 0.5 * iscore
            expected.append(score + of_evidence.get(kind, 0) * place + of_constant.get(kind, 0))
    np.testing.assert_allclose(combined.total, expected, atol=1e-12)
    np.testing.assert_allclose(sum(contributions.values()), combined.total, atol=1e-12)
    assert list(contributions) == [part.name for part in parts]
    assert combined.absent == ("OneWord",)


def test_candidates_without_kinds_are_people():
    parts = (
        Part("NS", 1.0, by_kind={"person": 0.5, "place": 9.0}),
        Part(evidence="Constant", by_kind={"person": -3.0}),
    )
    recipe = Recipe("x", parts)
    combined = recipe.combine({"NS": np.array([2.0, 4.0])}, np.array([0, 2]), {"Constant": np.ones(1)})
    assert combined.total.tolist() == [0.0, 3.0]
    assert recipe.scorers == ("NS", "PR_WP", "LQID")
    assert recipe.doubts == ("Constant",)
    assert recipe.uses_kinds
    assert not any(Recipe.load(name).uses_kinds for name in recipes() if "paper" in name)


def test_evidence_may_replace_a_part_and_be_replaced():
    parts = (Part("NS", unless="OneWord"), Part(evidence="OneWord", by_kind={"person": 2.0}, unless="CSE"), Part("CSE"))
    recipe, offsets = Recipe("x", parts), np.array([0, 1])
    scores, evidence = {"NS": np.array([5.0])}, {"OneWord": np.array([1.0])}
    assert recipe.combine(scores, offsets).total.tolist() == [5.0]
    assert recipe.combine(scores, offsets, evidence).total.tolist() == [2.0]
    assert recipe.combine(scores | {"CSE": np.array([0.25])}, offsets, evidence).total.tolist() == [0.25]


def test_combine_refuses_nan_by_the_scorers_name():
    with pytest.raises(NamesakeError, match="IScore is not a number"):
        Recipe("x", (Part("IScore"),)).combine({"IScore": np.array([1.0, np.nan])}, np.array([0, 2], np.int64))


def test_former_names_of_scores_still_load_with_one_notice():
    old = """
name = "old"
tie_break = ["Early"]
[[parts]]
scorer = "Words"
[[parts]]
scorer = "IScore"
unless = "Words"
[decide]
nil = 1.0
[[decide.parts]]
doubt = "Comes"
"""
    with pytest.warns(UserWarning, match="Words is ArticleWords, .*Comes is CapitalBefore") as notices:
        recipe = Recipe.parse(old)
    assert len(notices) == 1
    assert recipe.scorers == ("ArticleWords", "IScore", "ItemAge")
    assert recipe.parts[1].stands_in_for == ("ArticleWords",)
    assert recipe.doubts == ("CapitalBefore",)
    scores = {"Words": np.array([2.0]), "IScore": np.array([5.0])}  # a score file of an earlier version
    combined = recipe.combine(scores, np.array([0, 1]), {"Comes": np.array([0.5])})
    assert combined.total.tolist() == [2.0]
    assert combined.nil.tolist() == [0.5]


def test_a_recipe_extends_a_shipped_one():
    base, more = Recipe.load("default"), Recipe.load("reconcile")
    assert more.parts[: len(base.parts)] == base.parts
    added = ["WordsNotShared", "EntityType", "PropertyValues", "GivenName"]
    assert [part.source for part in more.parts[len(base.parts) :]] == added
    assert more.decide == base.decide
    replaced = Recipe.parse('name = "mine"\nextends = "default"\n[[parts]]\nscorer = "Fame"\nweight = 9.0\n')
    assert [part.scorer for part in replaced.parts] == [part.scorer for part in base.parts]
    assert {part.weight for part in replaced.parts if part.name == "Fame"} == {9.0}
    more = Recipe.parse(
        'name = "mine"\nextends = "default"\n[[parts]]\nevidence = "ExpectedNamesakes"\nby_kind = { place = 1 }\n'
    )
    assert more.parts == (*base.parts, Part(evidence="ExpectedNamesakes", by_kind={"place": 1.0}))
    with pytest.raises(NamesakeError, match="extends = 'nothing': must be one of cse-paper"):
        Recipe.parse('name = "mine"\nextends = "nothing"\n[[parts]]\nscorer = "NS"\n')
