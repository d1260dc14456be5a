"""Models to compare with, behind one interface: fit, predict, sample_f, log_density.

================  =====================================================================================================
`GPRegressor`     squared-exponential Gaussian process, hyper-parameters by maximal marginal likelihood or by HMC
`BNNRegressor`    one hidden layer of RBF or tanh units by NUTS; prior matched to PoRB-NET in expected upcrossings
`BRBFNRegressor`  Poisson-process network with one scale for all units (Andrieu et al. 2001)
`LGPRegressor`    Gaussian process whose lengthscale (and noise, and amplitude) varies over the input, by NUTS
`DropoutRegressor`  MC dropout (Gal and Ghahramani 2016)
================  =====================================================================================================

All but the first (by maximal likelihood) and the third need the extra `paper` (NumPyro, JAX, optax).
"""

from porbnet.baselines.base import Baseline
from porbnet.baselines.bnn import BNNRegressor, matched_bnn
from porbnet.baselines.brbfn import BRBFNRegressor
from porbnet.baselines.dropout import DropoutRegressor
from porbnet.baselines.gaussian_process import GPRegressor
from porbnet.baselines.lgp import LGPRegressor

__all__ = [
    "BNNRegressor",
    "BRBFNRegressor",
    "Baseline",
    "DropoutRegressor",
    "GPRegressor",
    "LGPRegressor",
    "matched_bnn",
]
