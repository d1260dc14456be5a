"""Normal variates within an interval, against their law."""

import numpy as np
import pytest
from scipy import stats

from porbnet.base.compiled import kernel
from porbnet.kernels.truncated import truncated_normal


@kernel
def fill(out, low, high, rng):
    for i in range(len(out)):
        out[i] = truncated_normal(low, high, rng)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (-1.0, 2.0),
        (0.3, np.inf),
        (-np.inf, -0.3),
        (4.0, np.inf),
        (-np.inf, 5.0),
        (30.0, 30.1),
        (-0.2, 0.3),
        (-8.0, -7.0),
    ],
)
def test_law(low, high, seed):
    """Kolmogorov-Smirnov; 8 tests at 1e-4: about 1 in 1,250."""
    out = np.empty(20_000)
    fill(out, low, high, np.random.default_rng(seed))
    assert out.min() >= low and out.max() <= high
    assert stats.kstest(out, stats.truncnorm(low, high).cdf).pvalue > 1e-4
