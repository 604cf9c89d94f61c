"""The paper's scores that need a neural encoder: they are not computed here yet, but score files may have them."""

from namesake.scorers.registry import Scorer, add


def _in_files(name: str, formula: str, anchors: bool = False, aliases: tuple[str, ...] = ()) -> Scorer:
    return add(Scorer(name, formula, None, __name__, anchors=anchors, aliases=aliases))


cse = _in_files("CSE", "cos(ε(A), ε(e)): the article and the entity's first paragraph as an encoder sees them.")
ncse = _in_files("NCSE", "CSE over the sentences that hold a span of the mention.")
cssve = _in_files(
    "CSSVE", "Σ cos(ε(v_u), ε(v_e)) over statements of anchors and candidate with equal property.", anchors=True
)
eigen = _in_files(
    "Eigen", "Eigenthemes: nearness to the subspace that all candidates of the article span, weighted by NS."
)
eigen_iscore = _in_files("Eigen_IScore", "Eigen with the candidates weighted by IScore.")
mgenre = _in_files(
    "mGENRE",
    "Likelihood of the candidate's title given the text around the mention, summed over its spans.",
    aliases=("mGENRE_t128",),  # the paper's Table 2 reports 128 tokens of context
)
