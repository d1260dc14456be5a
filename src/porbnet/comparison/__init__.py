"""The priors that the paper compares with, and how to match one prior to another.

======================  ==========================================================================
`GaussianProcessPrior`  the squared-exponential Gaussian process
`BRBFNPrior`            the network of Andrieu et al. (2001): one scale for all units
`BNNPrior`              the standard Bayesian neural network, with RBF or tanh units
`match_upcrossings`     the parameter value at which a prior has the expected upcrossings of another
======================  ==========================================================================

All are `porbnet.statement.function_prior.FunctionPrior`s, as `porbnet.Prior` is: draws, covariance and upcrossings are
asked of each in the same words.
"""

from porbnet.comparison.bnn_prior import BNNPrior
from porbnet.comparison.brbfn_prior import BRBFNPrior
from porbnet.comparison.gp_prior import GaussianProcessPrior
from porbnet.comparison.matching import Match, match_upcrossings

__all__ = ["BNNPrior", "BRBFNPrior", "GaussianProcessPrior", "Match", "match_upcrossings"]
