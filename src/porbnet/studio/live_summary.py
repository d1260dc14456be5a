"""What is known of the posterior while chains run, from draws that are spread evenly over all there are so far.

Up to `MOST` draws of each chain count, every one of them at first, every second when there are too many, and so on. It
costs a few milliseconds a picture, however long the chains run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.posterior.posterior import Posterior
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.driver import ChainResult
from porbnet.sampling.problem import Problem
from porbnet.studio.rows import Rows
from porbnet.studio.shown_outcomes import SHARES, SHOWN, has_outputs

MOST = 128  # draws of a chain that count


def posterior_of(problem: Problem, pieces: list[ChainDraws], offset: float) -> Posterior:
    """Some draws of one chain as a posterior."""
    return Posterior(problem, [ChainResult(ChainDraws.joined(pieces, problem.most_dims), {}, 0, 0.0, 0.0)], offset)


class ChainTables:
    """Values of a chain's draws at places, by name, shape (n_draws, n_places) each, on the scale that is shown.

    Of f, of f at mean weights, of a new observation, of the lengthscale and of the noise, as far as there are such.
    """

    def __init__(self, problem: Problem, offset: float, places: FloatArray, seed: int, rows: Rows) -> None:
        self.problem, self.offset, self.places, self.rows = problem, offset, places, rows
        self.stride, self.seen = 1, 0
        self.rng = np.random.default_rng([seed, 7])
        self.tables: dict[str, FloatArray] = {}
        self.widths: dict[int, int] = {}
        self.last: FloatArray = np.empty((0, problem.most_dims))

    def add(self, draws: ChainDraws) -> None:
        """Take in new draws."""
        n = len(draws)
        if n == 0:
            return
        for width, count in zip(*np.unique(draws.counts, return_counts=True), strict=True):
            self.widths[int(width)] = self.widths.get(int(width), 0) + int(count)
        last = draws.after(n - 1)
        self.last = self.problem.scaling.centers(last.centers)
        wanted = np.arange((-self.seen) % self.stride, n, self.stride)
        self.seen += n
        if len(wanted) == 0:
            return
        some = posterior_of(self.problem, [draws.after(int(i)).first(1) for i in wanted], self.offset)
        new = self._values(some)
        self.tables = {
            name: np.concatenate([self.tables[name], v]) if name in self.tables else v for name, v in new.items()
        }
        while len(self.tables["f"]) > MOST:
            self.stride *= 2
            self.tables = {name: v[::2] for name, v in self.tables.items()}

    def _values(self, some: Posterior) -> dict[str, FloatArray]:
        f, all_of_them = some.networks.within()(self.places), np.arange(len(some))  # those of the region: quick
        shown = SHOWN[self.rows.kind]
        found = {"f": shown.link(f), "lengthscale": some.lengthscale(self.places)}
        if self.rows.kind == "real":  # the mean of f is known better than by its draws
            found["mean"] = some.mean_networks(self.places)
        if shown.has_noise:
            found["noise"] = some.noise_at(self.places)
        if has_outputs(self.rows):
            found["y"] = some.sample_outputs(self.places, f.T, all_of_them, self.rng).T
        return found


def joined(chains: list[ChainTables], name: str) -> FloatArray:
    """A table of all chains, or one without rows."""
    found = [c.tables[name] for c in chains if name in c.tables]
    return np.concatenate(found) if found else np.empty((0, 0))


def ends(table: FloatArray) -> FloatArray:
    """The 5 %, 50 % and 95 % points of each column, shape (3, n_places), without interpolating between draws."""
    kth = [round(share * (len(table) - 1)) for share in SHARES]
    return np.partition(table, kth, axis=0)[kth]


def picture(chains: list[ChainTables], with_curves: bool, rows: Rows) -> dict[str, FloatArray]:
    """Bands and curves by name, each of shape (n_places,), a map of two inputs mean and spread; empty without draws."""
    f, shown = joined(chains, "f"), SHOWN[rows.kind]
    if len(f) == 0:
        return {}
    low, middle, high = ends(f)
    means = joined(chains, "mean")
    found: dict[str, Any] = {"mean": middle if shown.by_median else (means if len(means) else f).mean(axis=0)}
    if rows.n_dims == 2:
        found["sd"] = f.std(axis=0) if rows.kind == "real" else high - low
        return found
    found["f_low"], found["f_high"] = low, high
    if has_outputs(rows):
        found["y_low"], _, found["y_high"] = ends(joined(chains, "y"))
    if with_curves:
        for name in ("lengthscale", "noise")[: 1 + shown.has_noise]:
            found[f"{name}_low"], found[name], found[f"{name}_high"] = ends(joined(chains, name))
    return found


def width_counts(chains: list[ChainTables]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Widths that were met and how often."""
    total: dict[int, int] = {}
    for chain in chains:
        for width, count in chain.widths.items():
            total[width] = total.get(width, 0) + count
    widths = np.array(sorted(total), dtype=np.int64)
    return widths, np.array([total[int(w)] for w in widths], dtype=np.int64)
