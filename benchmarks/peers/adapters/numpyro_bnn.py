"""NumPyro: a Bayesian neural network, one hidden layer of 50 tanh units, scales and noise learned; NUTS."""

from __future__ import annotations

from typing import Any

import adapter
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import numpyro_nuts

N_UNITS = 50


def network(xp: Any, X: Any, draw: dict[str, Any]) -> Any:
    """Values of one draw at points in [0, 1]ᵈ, which are moved to [-1, 1]ᵈ; shape (len(X),)."""
    inner, outer = draw["inner_sd"], draw["outer_sd"] / np.sqrt(N_UNITS)
    hidden = xp.tanh((2.0 * X - 1.0) @ (inner * draw["slopes"]) + inner * draw["shifts"])
    return hidden @ (outer * draw["weights"]) + draw["bias"]


def model(X: Any, y: Any) -> None:
    def normal(name: str, *shape: int) -> Any:
        return numpyro.sample(name, dist.Normal(0.0, 1.0).expand(shape).to_event(len(shape)))

    draw = {"slopes": normal("slopes", X.shape[1], N_UNITS), "shifts": normal("shifts", N_UNITS)}
    draw |= {"weights": normal("weights", N_UNITS), "bias": normal("bias")}
    draw["inner_sd"] = numpyro.sample("inner_sd", dist.LogNormal(np.log(5.0), 1.0))
    draw["outer_sd"] = numpyro.sample("outer_sd", dist.LogNormal(0.0, 1.0))
    noise = numpyro.sample("noise", dist.LogNormal(np.log(0.1), 1.0))
    numpyro.sample("y", dist.Normal(network(jnp, X, draw), noise), obs=y)


def fit(problem: adapter.Problem) -> dict[str, np.ndarray]:
    return numpyro_nuts.draws(model, (jnp.asarray(problem.X), jnp.asarray(problem.y)), problem)


def predict(found: dict[str, np.ndarray], problem: adapter.Problem) -> dict[str, Any]:
    draws = [{name: values[i] for name, values in found.items()} for i in range(len(found["noise"]))]
    f = np.array([network(np, problem.X_test, draw) for draw in draws])
    return {
        "form": "mixture",
        "means": f,
        "sds": found["noise"][:, None],
        "f_draws": f[None][:, :, adapter.places(f.shape[1])],
    }


if __name__ == "__main__":
    adapter.run(fit, predict, lambda: f"NumPyro {numpyro.__version__}, JAX {jax.__version__}")
