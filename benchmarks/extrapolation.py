"""How often intervals hold the truth beyond the data: a line, and a line with a wave, with and without a trend.

    python benchmarks/extrapolation.py             100 data sets
    python benchmarks/extrapolation.py --sets 20   fewer

Inputs are uniform over one range; at 1.25, 1.5 and 2 ranges from its beginning, the table has the share of data sets
whose 90 % interval of a new observation holds one, and that of f the function; and the mean width of the latter.
"""

import argparse
import warnings

import numpy as np

from porbnet import PoRBNetRegressor

PLACES = (1.25, 1.5, 2.0)


def truth(kind, rng):
    slope, wave = 3.0 * rng.standard_normal(), rng.standard_normal()
    start = 5.0 * rng.standard_normal()
    bend = 0.0 if kind == "line" else 0.5
    return lambda x: start + slope * x + bend * np.sin(12.0 * x + wave)


def one(kind, trend, seed):
    rng = np.random.default_rng(seed)
    f, x, places = truth(kind, rng), rng.uniform(size=60), np.array(PLACES)
    y = f(x) + 0.3 * rng.standard_normal(len(x))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PoRBNetRegressor(
            trend=trend, n_chains=2, n_draws=500, n_warmup=300, random_state=seed, n_jobs=1, progress=False
        ).fit(x[:, None], y)
        ends, ends_y = model.predict_interval(places[:, None], of="f"), model.predict_interval(places[:, None])
    new = f(places) + 0.3 * rng.standard_normal(len(places))
    held, held_y = (ends[:, 0] < f(places)) & (f(places) < ends[:, 1]), (ends_y[:, 0] < new) & (new < ends_y[:, 1])
    return held, held_y, ends[:, 1] - ends[:, 0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=100)
    sets = parser.parse_args().sets
    print(f"{'truth':<16}{'trend':<10}{'at':>6}{'of y':>8}{'of f':>8}{'width':>9}")
    for trend in ("linear", None):
        for kind in ("line", "line and wave"):
            found = [one(kind, trend, seed) for seed in range(sets)]
            shares = [np.mean([f[part] for f in found], axis=0) for part in range(3)]
            for i, place in enumerate(PLACES):
                numbers = f"{shares[1][i]:>8.2f}{shares[0][i]:>8.2f}{shares[2][i]:>9.2f}"
                print(f"{kind:<16}{trend or 'none':<10}{place:>6}{numbers}", flush=True)


if __name__ == "__main__":
    main()
