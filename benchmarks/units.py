"""Many units: milliseconds a sweep against their number, and effective draws beside the sampler without blocks.

The region grows with the number of units, about one unit per lengthscale and three rows per unit, so that every unit
overlaps with as many others whatever their number. One chain on one core, after a short warm-up; the intensity is
known, or a learned curve over the whole region. The slope is that of log time against log units. Known intensities are
sampled in blocks, curves in windows; beside them stands the sampler with one block, on the same problem.

    python benchmarks/units.py                    the slopes, one and two inputs; some minutes
    python benchmarks/units.py --beside           effective draws per CPU second beside those of one block, in turns
    python benchmarks/units.py --quick            a tenth of the sizes
"""

from __future__ import annotations

import argparse
import time
import warnings

import machine
import numpy as np
from arviz_stats.base import array_stats

import porbnet.sampling.collapsed.chain as chains
from porbnet import LogNormal, Prior
from porbnet.functions.grid_gp import EXPONENTIAL
from porbnet.intensity import Gamma, SigmoidGP
from porbnet.posterior.posterior import Posterior
from porbnet.sampling.driver import ChainResult
from porbnet.sampling.problem import Problem
from porbnet.sampling.samplers import collapsed_chain
from porbnet.statement.defaults import KNOTS, KNOTS_PER_CURVE, KNOTS_PER_LENGTHSCALE

SIZES = {1: (50, 100, 200, 500, 1000, 2000, 5000), 2: (50, 100, 200, 500, 1000)}
MOST_SLOPE = {1: 1.1, 2: 1.3}
BESIDE = (
    (1, False, 50),
    (1, False, 100),
    (1, False, 200),
    (1, True, 50),
    (1, True, 100),
    (1, True, 200),
    (2, False, 100),
    (2, True, 250),
)


def problem(n_dims: int, n_units: int, learned: bool) -> Problem:
    """A sine over a region of so many lengthscales, noise 0.3."""
    rng, side = np.random.default_rng(0), n_units ** (1.0 / n_dims)
    X = rng.uniform(0.0, side, (3 * n_units, n_dims))
    y = np.sin(X.sum(axis=1)) + 0.3 * rng.standard_normal(len(X))
    lengthscale: SigmoidGP | float = 1.0
    if learned:  # as many knots as by default
        knots = float(np.clip(KNOTS_PER_LENGTHSCALE * side, *KNOTS[n_dims]))
        refinement = knots * 0.2 / KNOTS_PER_CURVE[n_dims]
        lengthscale = SigmoidGP(Gamma(4.0, 2.0), 1.0, 0.2 * side, refinement=refinement, kernel=EXPONENTIAL)
    stated = {"amplitude": LogNormal(1.0, 2.0), "noise": LogNormal(0.3, 2.0), "bias": 1.0, "units_per_lengthscale": 1.0}
    return Problem.of(Prior(lengthscale, region=[(0.0, side)] * n_dims, **stated), X, y)


def blocks(on: bool | None) -> None:
    """Blocks always, never, or as by default."""
    most = {True: (-1, -1), False: (10**6, 10**6), None: DEFAULT}[on]
    chains.MOST_SQUARE, chains.MOST_SQUARE_BEYOND = most


DEFAULT = (chains.MOST_SQUARE, chains.MOST_SQUARE_BEYOND)


def milliseconds(n_dims: int, n_units: int, learned: bool) -> tuple[float, int]:
    """CPU milliseconds a sweep of a chain with the defaults, every fourth sweep stored; and its units."""
    chain = collapsed_chain(problem(n_dims, n_units, learned), np.random.SeedSequence(1), 60, 10**6, 4)
    chain.advance(60)
    start, made = time.process_time(), 0
    while made < 40 or time.process_time() - start < 2.0:
        made += chain.advance(20)
    return 1e3 * (time.process_time() - start) / made, int(chain.state.units.n)


def slopes(quick: bool) -> None:
    for n_dims, learned in ((1, False), (1, True), (2, False), (2, True)):
        sizes = [n for n in SIZES[n_dims] if not quick or n <= max(SIZES[n_dims]) // 10]
        milliseconds(n_dims, sizes[0], learned)  # compile
        found = np.array([milliseconds(n_dims, n, learned) for n in sizes])
        slope = np.polyfit(np.log(found[:, 1]), np.log(found[:, 0]), 1)[0]
        kind = "learned curve" if learned else "known intensity"
        print(f"\n{n_dims} input(s), {kind}: slope {slope:.2f} (target at most {MOST_SLOPE[n_dims]})")
        for n, (ms, units) in zip(sizes, found, strict=True):
            print(f"  {n:5d} expected, {units:5.0f} units  {ms:8.3f} ms a sweep")


def effective(n_dims: int, n_units: int, learned: bool, with_blocks: bool, seconds: float) -> dict[str, float]:
    """Effective draws per CPU second of f (median over places), K, noise, and with a curve the lengthscale."""
    blocks(None if learned and with_blocks else with_blocks)
    stated, results, spent = problem(n_dims, n_units, learned), [], 0.0
    for seed in np.random.SeedSequence(3).spawn(2):
        make = collapsed_chain if with_blocks else chains.CollapsedChain
        chain = make(stated, seed, 300, 10**6, 4)
        chain.advance(300)
        start = time.process_time()
        while time.process_time() - start < seconds:
            chain.advance(20)
        spent += time.process_time() - start
        results.append(ChainResult(chain.draws(), {}, 0, 0.0, 0.0))
    blocks(None)
    posterior = Posterior(
        stated, [ChainResult(r.draws.first(min(len(r.draws) for r in results)), {}, 0, 0.0, 0.0) for r in results]
    )
    places = stated.X[:: len(stated.X) // 12]
    named = {"f": posterior.f(places), "K": posterior.n_units[:, None], "noise": posterior.noise[:, None]}
    if learned:
        named["lengthscale"] = np.log(posterior.lengthscale(places))
    bulk = {
        k: np.median([array_stats.ess(posterior.by_chain(c), method="bulk") for c in v.T]) for k, v in named.items()
    }
    return {name: float(value) / spent for name, value in bulk.items()}


def beside(seconds: float) -> None:
    print("\neffective draws per CPU second, in blocks or windows / in one block (ratio)")
    for n_dims, learned, n_units in BESIDE:
        effective(n_dims, n_units, learned, True, 0.1)
        on, off = (effective(n_dims, n_units, learned, w, seconds) for w in (True, False))
        text = ", ".join(f"{name} {on[name]:.1f} / {off[name]:.1f} ({on[name] / off[name]:.2f})" for name in on)
        print(f"  {n_dims} input(s), {'learned' if learned else 'known'}, {n_units:4d} expected: {text}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--beside", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    print(machine.line(machine.describe()))
    if arguments.beside:
        beside(2.0 if arguments.quick else 12.0)
    else:
        slopes(arguments.quick)


if __name__ == "__main__":
    main()
