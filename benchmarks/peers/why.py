"""Why a peer is ahead of porbnet, problem by problem: sentences for the page, each looked into first."""

from __future__ import annotations

TIME = """
Gaussian processes by maximal likelihood, boosting and BART take less time on small problems: they look for one best
answer, or move one tree at a time given all others, and do not wait until several chains agree. porbnet goes on until
its diagnostics are content, which on rough data takes tens of seconds.
"""
DRAWS = ""
PUBLISHED = """
On the motorcycle data the paper's BNN and PoRB-NET are both behind; the published figures come from another sampler and
other settings of the prior, some of which the paper leaves open.
"""
UNKNOWN = "No reason has been looked for yet."

_VIX = """
Most of it is three days in February 2018, when the index doubled and fell: on the first split they make four fifths of
porbnet's squared error, since its smooth curve goes on upwards between two days of the peak that it was shown; a kernel
of one short lengthscale goes back to the mean sooner, and trees stay between the values they have seen. Without these
days the error on that split is that of celerite2 (0.069; BART 0.082), and the LLH the best of the three.
"""
_ONE = """
The function is equally quick everywhere: a model with one lengthscale has nothing else to learn, while porbnet learns a
curve of lengthscales that is flat.
"""
_STEPS = """
Steps are what trees are made of; smooth units need several to make one, and round its corners.
"""
_ROUGH = """
The function has corners or steps; a process with one derivative or two passes them in less space than smooth units do.
"""
_GPS = ("sklearn-gp", "gpjax-sparse", "celerite2")
WHY: dict[tuple[str, str], str] = {
    **{(problem, peer): _ONE for problem in ("gp", "sine") for peer in _GPS},
    **{("blocks", peer): _STEPS for peer in ("stochtree", "boosting")},
    **{(problem, peer): _ROUGH for problem in ("blocks", "bumps") for peer in ("celerite2", "gpjax-sparse")},
    ("vix2018", "*"): _VIX,
    ("heartrate", "celerite2"): """
To a smooth function this series is mostly noise: twice the amplitude of what any model finds. celerite2's process, with
only one derivative, follows quick small changes a little better than smooth units do; the squared-exponential process
of scikit-learn, smoother still, is behind both.
""",
    ("heartrate", "boosting"): """
Ectopic beats make the errors skewed and heavy-tailed. Quantiles can take that shape, while porbnet's default noise is
Gaussian with one sd; boosting's mean is no better (its RMSE is behind).
""",
}
"""By problem and peer; "*" as peer is for all that have no sentence of their own."""


def reason(problem: str, peer: str) -> str:
    """The sentence for a peer that is ahead on a problem."""
    found = WHY.get((problem, peer)) or WHY.get((problem, "*")) or UNKNOWN
    return " ".join(found.split())
