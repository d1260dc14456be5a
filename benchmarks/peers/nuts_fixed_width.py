"""NumPyro's NUTS on the network with a fixed number of units: weights, bias and centers sampled, all else held.

Run by `efficiency.py` in an environment of its own; it imports neither porbnet nor the other benchmarks.

    python nuts_fixed_width.py problem.npz draws.npz

problem.npz: x, y, points (1-D arrays); n_units, low, high, scale, weight_variance, bias_variance, noise_variance; seed,
n_warmup, n_draws, depth (of a tree, at most). draws.npz: f (n_draws, n_points), seconds and warmup_seconds (CPU of all
threads, compilation excluded), compile_seconds, n_leapfrog (mean per draw), accept (mean probability), versions.
"""

from __future__ import annotations

import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import NUTS

CHUNK = 100  # sweeps per compiled call


def network(x, centers, weights, bias, scale):
    """The network at x, shape (len(x),)."""
    return bias + jnp.exp(-0.5 * (scale * (x[:, None] - centers)) ** 2) @ weights


def model(p):
    """Prior and likelihood; p holds the problem's arrays and numbers."""
    n = int(p["n_units"])
    centers = numpyro.sample("centers", dist.Uniform(p["low"], p["high"]).expand([n]).to_event(1))
    weights = numpyro.sample("weights", dist.Normal(0.0, p["weight_variance"] ** 0.5).expand([n]).to_event(1))
    bias = numpyro.sample("bias", dist.Normal(0.0, p["bias_variance"] ** 0.5))
    f = network(p["x"], centers, weights, bias, p["scale"])
    numpyro.sample("y", dist.Normal(f, p["noise_variance"] ** 0.5), obs=p["y"])


def main() -> None:
    with np.load(sys.argv[1]) as stored:
        p = {name: (stored[name] if stored[name].ndim else stored[name].item()) for name in stored}
    p["x"], p["y"] = jnp.asarray(p["x"]), jnp.asarray(p["y"])
    n_warmup, n_draws = int(p["n_warmup"]), int(p["n_draws"])
    start = time.process_time()
    kernel = NUTS(model, max_tree_depth=int(p["depth"]))
    state = kernel.init(jax.random.PRNGKey(int(p["seed"])), n_warmup, None, (p,), {})
    points = jnp.asarray(p["points"])
    to_prior = kernel.postprocess_fn((p,), {})

    def step(state, _):
        state = kernel.sample(state, (p,), {})
        z = to_prior(state.z)
        f = network(points, z["centers"], z["weights"], z["bias"], p["scale"])
        return state, (f, state.num_steps, state.mean_accept_prob)

    chunk = jax.jit(lambda state: jax.lax.scan(step, state, None, length=CHUNK)).lower(state).compile()
    compiled = time.process_time()
    for _ in range(-(-n_warmup // CHUNK)):
        state, _ = jax.block_until_ready(chunk(state))
    warmed = time.process_time()
    kept = []
    for _ in range(-(-n_draws // CHUNK)):
        state, found = jax.block_until_ready(chunk(state))
        kept.append([np.asarray(v) for v in found])
    done = time.process_time()
    f, n_steps, accept = (np.concatenate(v) for v in zip(*kept, strict=True))
    np.savez(
        sys.argv[2],
        f=f.astype(np.float64),
        seconds=done - warmed,
        warmup_seconds=warmed - compiled,
        compile_seconds=compiled - start,
        n_leapfrog=n_steps.mean(),
        accept=accept[-1],
        versions=f"numpyro {numpyro.__version__}, jax {jax.__version__}",
    )


if __name__ == "__main__":
    main()
