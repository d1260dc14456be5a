"""How often intervals of f hold it where a third of the outputs lie below a detection limit.

    python benchmarks/censoring.py             100 data sets
    python benchmarks/censoring.py --sets 20   fewer

120 rows of a sine with noise 0.3; outputs below the limit are known to be below it only. The table has the mean share
of 400 places at which a 90 % interval of f holds it, once with `censored=`, and once with the limit taken for the
output.
"""

import argparse
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from porbnet import PoRBNetRegressor

SHARE = 1 / 3
PLACES = np.linspace(0.0, 1.0, 400)


def one(seed, ignored):
    rng = np.random.default_rng(seed)
    x, phase = rng.uniform(size=120), rng.uniform(0.0, 2.0 * np.pi)
    f = lambda x: np.sin(8.0 * x + phase)  # noqa: E731
    y = f(x) + 0.3 * rng.standard_normal(len(x))
    limit = np.quantile(y, SHARE)
    low = y < limit
    given = {} if ignored else {"censored": np.where(low, "left", "")}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        model = PoRBNetRegressor(
            n_chains=2, n_draws=500, n_warmup=300, random_state=seed, n_jobs=1, progress=False
        ).fit(x[:, None], np.where(low, limit, y), **given)
        ends = model.predict_interval(PLACES[:, None], of="f")
    return np.mean((ends[:, 0] < f(PLACES)) & (f(PLACES) < ends[:, 1]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=100)
    sets = parser.parse_args().sets
    for label, ignored in (("with censored=", False), ("ignored", True)):
        found = [one(seed, ignored) for seed in range(sets)]
        print(f"{label:<16}{np.mean(found):.3f} (+- {np.std(found) / np.sqrt(sets):.3f})", flush=True)


if __name__ == "__main__":
    main()
