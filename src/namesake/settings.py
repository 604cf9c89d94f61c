"""What a recipe tells all of its scorers. A recipe is one (`recipe.Recipe`), and a batch carries it to the scorers."""

from typing import Annotated, Literal

from msgspec import Meta

from namesake.checked import Checked
from namesake.errors import NamesakeError

WORDS = ("D", "P", "S", "S_A")
"""The words of an entity: of its description, its first paragraph, its statements' values, their aliases too."""

_ONE = "|".join(WORDS)


class Neural(Checked, frozen=True, kw_only=True):
    """What a recipe tells the scorers that read vectors and models."""

    themes: Annotated[int, Meta(ge=1, le=1000, description="a whole number from 1 to 1000")] = 10
    """The dimensions of an article's theme, of Eigen: how many singular vectors count."""
    themes_from: Literal["any", "walk", "text"] = "any"
    """The vectors that Eigen takes: of the graph, of the texts; any: of the graph where the KB has them."""
    tokens: Annotated[int, Meta(ge=1, le=500, description="a whole number from 1 to 500")] = 128
    """The tokens of text that mGENRE reads on each side of a name."""
    beam: Annotated[int, Meta(ge=0, le=1000, description="a whole number from 0 to 1000")] = 0
    """The width of mGENRE's beam search: titles it does not find have 0. Without it (0) all have their likelihood."""


class Settings(Checked, frozen=True, kw_only=True):
    """The anchors of an article, the context of IScore, the words of an entity, the variants of names."""

    anchors: Literal["first", "all"] = "all"
    """Which unambiguous mentions EEIScore and CSSVE compare with."""
    context: Literal["article", "narrow", "both"] = "article"
    """The words of the text that IScore looks at: all, those of the sentences with the name, or the sum of both."""
    words: Annotated[
        str,
        Meta(
            pattern=rf"^(?:{_ONE})(?:\+(?:{_ONE}))*$",
            description=f"a sum of {', '.join(WORDS)} such as 'D+S', each of them once",
        ),
    ] = "D+S"
    variants: Literal["never", "missing", "always"] = "never"
    """Whether candidates are sought by variants of a name, too: where it has none of its own, or always."""

    neural: Annotated[Neural, Meta(description="a [neural] table")] = Neural()

    def __post_init__(self) -> None:
        """Refuse what no scorer could follow."""
        super().__post_init__()
        if len(set(self.features)) < len(self.features):
            raise NamesakeError(self.fault("words"))

    @property
    def features(self) -> list[str]:
        """The summands of `words`."""
        return self.words.split("+")
