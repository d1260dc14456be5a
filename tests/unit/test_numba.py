"""The vector exponential, and kernels as plain Python."""

import json
import os
import subprocess
import sys

import numpy as np

from porbnet import Prior
from porbnet.base.compiled import fast_exp, kernel


@kernel
def set_exponentials(x, out):
    for i in range(len(x)):
        out[i] = fast_exp(x[i])


def exponentials(x):
    out = np.empty_like(x)
    set_exponentials(x, out)
    return out


def test_fast_exp_to_four_in_ten_to_the_sixteen(seed):
    rng = np.random.default_rng(seed)
    ends = np.array([-708.0, -707.999, 0.5, 0.0, -0.0, -1e-300, -0.5 * np.log(2.0), 0.5 * np.log(2.0)])
    x = np.concatenate([ends, rng.uniform(-708.0, 0.5, 200_000), rng.uniform(-1.0, 0.5, 200_000)])
    exact = np.exp(x.astype(np.longdouble))
    assert float(np.max(np.abs(exponentials(x) / exact - 1.0))) <= 4e-16


def test_fast_exp_of_zero_is_one():
    assert exponentials(np.zeros(1))[0] == 1.0


_SCRIPT = """
import json, sys, numba
from porbnet import Prior
from porbnet.base.compiled import fast_exp
assert numba.config.DISABLE_JIT == 1 and not hasattr(fast_exp, "py_func")
results = []
for region, lengthscale, X in json.loads(sys.argv[1]):
    networks = Prior(lengthscale, 1.0, region=region, bias=0.3).sample_networks(3, 5)
    results.append([networks(X).tolist(), networks.gradient(X).tolist(), [fast_exp(-3.7), fast_exp(0.4)]])
print(json.dumps(results))
"""


def test_plain_python_gives_the_same_networks():
    """One- and two-dimensional networks, and enough points in the first case for the grid."""
    cases = [
        [[0.0, 1.0], 0.4, np.linspace(0.2, 0.8, 60).tolist()],
        [[0.0, 1.0], 0.4, [0.7, 0.1, 0.4]],
        [[[0.0, 1.0], [0.0, 2.0]], [0.8, 1.1], [[0.2, 0.3], [0.9, 1.7], [0.1, 0.1]]],
    ]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, json.dumps(cases)], check=True, capture_output=True, text=True, env=environment
    )
    for (region, lengthscale, X), (values, gradients, exps) in zip(cases, json.loads(done.stdout), strict=True):
        networks = Prior(lengthscale, 1.0, region=region, bias=0.3).sample_networks(3, 5)
        np.testing.assert_allclose(networks(X), values, atol=2e-14)
        np.testing.assert_allclose(networks.gradient(X), gradients, atol=1e-12)
        np.testing.assert_allclose(exps, np.exp([-3.7, 0.4]), rtol=1e-15)
