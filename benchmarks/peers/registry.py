"""The models that are compared: which adapter, which environment, and which problems it can be asked."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Peer:
    """One model.

    Attributes
    ----------
    key : str
        Short name, of files and of `--peers`.
    title : str
        As tables have it.
    adapter : str
        File in `adapters/`.
    environment : str
        Of `environment.python_of`; "" is the one that runs the benchmark.
    packages : tuple of str
        For pip.
    check : str
        Statement that must run in the environment.
    about : str
        How it is used here, for the page.
    most_rows : int
        With more it is not tried; `beyond` says why.
    most_dims : int
    n_splits : int
        At most; costly samplers see fewer.
    color, marker : str
        Of its points.
    """

    key: str
    title: str
    adapter: str
    environment: str
    packages: tuple[str, ...]
    check: str
    about: str
    most_rows: int = 10_000_000
    beyond: str = ""
    most_dims: int = 10
    many_dims: str = ""
    n_splits: int = 3
    variables: dict[str, str] = field(default_factory=dict)


_CUBIC = "a matrix of all pairs of rows: 80 GB"
_LINE = "one input only"
PEERS: dict[str, Peer] = {
    peer.key: peer
    for peer in (
        Peer(
            "porbnet", "porbnet", "porbnet_default.py", "", (), "import porbnet",
            "`PoRBNetRegressor` with all its defaults; chains stop when they can be trusted, or when the time is over",
        ),
        Peer(
            "sklearn-gp", "GP, scikit-learn", "sklearn_gp.py", "", (), "import sklearn",
            "exact Gaussian process, squared-exponential kernel with a lengthscale per input, noise; maximal marginal "
            "likelihood from four starts",
            most_rows=20_000, beyond=_CUBIC,
        ),
        Peer(
            "gpjax-sparse", "sparse GP, GPJax", "gpjax_sparse.py", "gpjax", ("gpjax",), "import gpjax",
            "collapsed variational Gaussian process with 100 inducing points, Matérn-5/2 kernel; bound "
            "maximised for at most 10,000 of the rows, predictions given all of them",
            n_splits=1,
        ),
        Peer(
            "celerite2", "GP, celerite2", "celerite2_matern.py", "celerite2", ("celerite2", "scipy"),
            "import celerite2",
            "Gaussian process on a line in linear time, Matérn-3/2 kernel and noise; maximal likelihood",
            most_dims=1, many_dims=_LINE,
        ),
        Peer(
            "numpyro-gp", "nonstationary GP, NumPyro", "numpyro_gibbs.py", "numpyro", ("numpyro",), "import numpyro",
            "Gibbs kernel, log lengthscale a Gaussian process at 20 knots, amplitude and noise learned; NUTS",
            most_rows=1_000, beyond="cubic in the rows, at every step of every draw", most_dims=1, many_dims=_LINE,
            n_splits=1,
        ),
        Peer(
            "pymc-gibbs", "Gibbs-kernel GP, PyMC", "pymc_gibbs.py", "pymc", ("pymc",), "import pymc",
            "`pm.gp.Marginal` with `pm.gp.cov.Gibbs`, log lengthscale by 10 smooth bumps with normal weights; NUTS",
            most_rows=1_000, beyond="cubic in the rows, at every step of every draw", most_dims=1,
            many_dims="PyMC's Gibbs kernel has one input", n_splits=1,
        ),
        Peer(
            "numpyro-bnn", "BNN, NumPyro", "numpyro_bnn.py", "numpyro", ("numpyro",), "import numpyro",
            "one hidden layer of 50 tanh units, scales of both layers and noise learned; NUTS",
            most_rows=10_000, beyond="every row at every step of every draw", n_splits=1,
        ),
        Peer(
            "stochtree", "BART, stochtree", "stochtree_bart.py", "stochtree", ("stochtree",), "import stochtree",
            "`BARTModel`, 200 trees: 10 grow-from-root sweeps, then 500 draws",
            most_rows=20_000, beyond="in proportion to the rows, which makes some 200 CPU s at 100,000",
        ),
        Peer(
            "pybayesppr", "Bayesian PPR, pyBayesPPR", "pybayesppr_default.py", "pybayesppr", ("pyBayesPPR",),
            "import pyBayesPPR", "`bppr` with all its defaults",
        ),
        Peer(
            "boosting", "boosting, scikit-learn", "boosting.py", "", (), "import sklearn",
            "`HistGradientBoostingRegressor`, one per quantile (15 levels) and one of the mean, all defaults",
        ),
    )
}  # fmt: skip


def refusal(peer: Peer, n_rows: int, n_dims: int) -> str | None:
    """Why a peer is not asked a problem, or None if it is."""
    if n_dims > peer.most_dims:
        return peer.many_dims
    if n_rows > peer.most_rows:
        return peer.beyond
    return None
