"""Effective draws per CPU second of one chain on one core: motorcycle94 at the paper's settings, both samplers.

The data are the authors' split 1 (70 rows) in their scale; C = [-0.25, 1.25], λ = 33.33 known, s0² = 2,
σ_w² = σ_b² = 0.05, σ² = 0.04. Measured are effective draws (bulk) of f at 20 points of [0, 1], the median over them,
and of the number of units K. The time is that of the draws: warm-up is given beside it, compilation is left out. Every
row is the median over repeats with different seeds, the samplers taken in turns.

The paper's own sampler runs beside it at the authors' 100 leapfrog steps; its sweeps are compared with the authors'
iterations. Then NumPyro's NUTS on the network with K = 53 held (weights, bias and centers sampled), in a virtual
environment of its own that is made on first use under ~/.cache/porbnet-benchmarks (PORBNET_BENCHMARK_CACHE moves it).
The target is against NUTS as it comes. Its trees then grow to their bound of 1,023 steps, which f does not need, so a
second row gives it shorter ones (at most 127 steps, the best of the depths 5 to 8 here).

    python benchmarks/efficiency.py                       the table; some minutes
    python benchmarks/efficiency.py --no-peers            without NUTS
    python benchmarks/efficiency.py --no-paper            without the paper's sampler
    python benchmarks/efficiency.py --plans 20,5 30,5     other proposals per sweep: birth/death, moves
    python benchmarks/efficiency.py --problem paper-learned   the paper's settings with the intensity learned
    python benchmarks/efficiency.py --problem learned     motorcycle133 with the estimator's defaults, all learned
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import machine
import numpy as np
import protocol
from arviz_stats.base import array_stats
from peers.environment import python_of

from porbnet import PaperSampler, Prior
from porbnet.intensity import SigmoidGP
from porbnet.posterior.posterior import Posterior
from porbnet.sampling.collapsed.chain import CollapsedChain, Plan, default_plan
from porbnet.sampling.driver import ChainResult
from porbnet.sampling.problem import Problem
from porbnet.sampling.published.chain import PaperChain
from porbnet.statement.defaults import default_prior

S0, INTENSITY, REGION = 2.0**0.5, 33.33, (-0.25, 1.25)
AMPLITUDE2, BIAS2, NOISE2 = 0.05, 0.05, 0.04
POINTS = np.linspace(0.0, 1.0, 20)[:, None]
NUTS_UNITS = 53
PROBLEMS = ("paper", "paper-learned", "learned")
TARGETS = {"paper": {"f": 10_000.0, "K": 1_500.0}, "paper-learned": {"f": 3_000.0, "K": 200.0, "intensity": 200.0}}
TARGET_RATIO = 100.0
AUTHORS_SECONDS = {"paper": 0.094, "paper-learned": 0.43}  # an iteration of the authors' PyTorch code, on one core
KNOWN = {
    "paper": "the authors' code gives 6.0 f and 0.07 K per CPU second; posterior K 53.1 (sd 6.7)",
    "paper-learned": "the authors' code gives 0.7 f and 0.03 K per CPU second and does not converge",
}


@dataclass(frozen=True, eq=False)
class Run:
    """One repeat: draws of each quantity, shape (n_draws, n_columns), and CPU seconds of draws and warm-up."""

    quantities: dict[str, np.ndarray]
    seconds: float
    warmup_seconds: float
    note: str = ""


@dataclass(frozen=True, eq=False)
class Sampler:
    """A row of the table: a name, and a function from a seed to a `Run`. Further samplers are further ones of these."""

    name: str
    run: Callable[[int], Run]


def effective(values: np.ndarray) -> float:
    """Bulk effective draws of one chain, shape (n_draws,)."""
    return float(array_stats.ess(values[None], chain_axis=0, draw_axis=1, method="bulk"))


def measure(samplers: list[Sampler], repeats: int) -> list[dict[str, Any]]:
    """Every sampler `repeats` times, in turns; medians of effective draws per CPU second of each quantity."""
    found: list[list[dict[str, Any]]] = [[] for _ in samplers]
    for repeat in range(repeats):
        for sampler, rows in zip(samplers, found, strict=True):
            run = sampler.run(1 + repeat)
            n_draws = len(next(iter(run.quantities.values())))
            per_second = {
                name: float(np.median([effective(c) for c in values.T])) / run.seconds
                for name, values in run.quantities.items()
            }
            width = run.quantities.get("K")
            rows.append(
                {
                    "per_second": per_second,
                    "microseconds_per_draw": 1e6 * run.seconds / n_draws,
                    "seconds": run.seconds,
                    "warmup_seconds": run.warmup_seconds,
                    "K_mean": None if width is None else float(width.mean()),
                    "K_sd": None if width is None else float(width.std()),
                    "note": run.note,
                }
            )
    return [_summary(s.name, rows) for s, rows in zip(samplers, found, strict=True)]


def _summary(name: str, rows: list[dict[str, Any]]) -> dict[str, Any]:
    def middle(key: str) -> float | None:
        values = [r[key] for r in rows]
        return None if values[0] is None else float(np.median(values))

    quantities = rows[0]["per_second"]
    summary: dict[str, Any] = {"name": name, "note": rows[-1]["note"], "repeats": rows}
    summary["per_second"] = {q: float(np.median([r["per_second"][q] for r in rows])) for q in quantities}
    for key in ("microseconds_per_draw", "seconds", "warmup_seconds", "K_mean", "K_sd"):
        summary[key] = middle(key)
    return summary


def table(rows: list[dict[str, Any]]) -> str:
    """Rows as text, one column per quantity that any of them has."""
    quantities = list(dict.fromkeys(q for r in rows for q in r["per_second"]))
    width = max(len(r["name"]) for r in rows) + 2
    columns = "".join(f"{q + ' /s':>15}" for q in quantities)
    lines = [
        f"{'':<{width}}{columns}{'us/draw':>11}{'warm-up s':>11}{'draws s':>9}{'K mean (sd)':>15}   (min - max of f)"
    ]
    for r in rows:
        shown = "".join(f"{r['per_second'][q]:>15,.0f}" if q in r["per_second"] else f"{'':>15}" for q in quantities)
        k = "" if r["K_mean"] is None else f"{r['K_mean']:.1f} ({r['K_sd']:.1f})"
        f = [x["per_second"]["f"] for x in r["repeats"]]
        lines.append(
            f"{r['name']:<{width}}{shown}{r['microseconds_per_draw']:>11,.1f}{r['warmup_seconds']:>11.2f}"
            f"{r['seconds']:>9.2f}{k:>15}   ({min(f):,.0f} - {max(f):,.0f})  {r['note']}"
        )
    return "\n".join(lines)


# --- the collapsed sampler ------------------------------------------------------------------------------------------


def papers_problem() -> Problem:
    """Motorcycle94, split 1, at the authors' settings with a known constant intensity."""
    part = protocol.split(*protocol.load("motorcycle94"), seed=1)
    prior = Prior.from_paper(
        s0=S0, intensity=INTENSITY, sigma_w2=AMPLITUDE2, sigma_b2=BIAS2, noise_variance=NOISE2, region=REGION
    )
    return Problem.of(prior, part.X, part.y)


def papers_learned_problem() -> Problem:
    """The same with the intensity learned: λ* = 66.67 known, a GP of variance 5 and lengthscale 0.25 within it."""
    part = protocol.split(*protocol.load("motorcycle94"), seed=1)
    intensity = SigmoidGP(2.0 * INTENSITY, 5.0, 0.25)
    prior = Prior.from_paper(
        s0=S0, intensity=intensity, sigma_w2=AMPLITUDE2, sigma_b2=BIAS2, noise_variance=NOISE2, region=REGION
    )
    return Problem.of(prior, part.X, part.y)


def learned_problem() -> Problem:
    """All 133 motorcycle readings on [0, 1], the estimator's defaults: noise, amplitude and lengthscale learned."""
    X, y = protocol.load("motorcycle133")
    X = (X - X.min()) / np.ptp(X)
    prior, offset = default_prior(X, y)
    return Problem.of(prior, X, y - offset)


def collapsed(name: str, problem: Problem, plan: Plan | None, n_warmup: int, n_draws: int) -> Sampler:
    """The package's default sampler."""

    def run(seed: int) -> Run:
        chain = CollapsedChain(problem, np.random.SeedSequence(seed), n_warmup, n_draws, plan=plan)
        start = time.thread_time()
        chain.advance(n_warmup)
        warmed = time.thread_time()
        chain.advance(n_draws)
        done = time.thread_time()
        result = ChainResult(chain.draws(), chain.acceptance(), 0, 0.0, done - start)
        note = f"plan {chain.plan.n_birth_death}+{chain.plan.n_moves}"
        return Run(quantities(Posterior(problem, [result])), done - warmed, warmed - start, note)

    return Sampler(name, run)


def paper(name: str, problem: Problem, options: PaperSampler, n_warmup: int, n_draws: int) -> Sampler:
    """The paper's sampler."""

    def run(seed: int) -> Run:
        chain = PaperChain(problem, np.random.SeedSequence(seed), n_warmup, n_draws, sampler=options)
        start = time.thread_time()
        chain.advance(n_warmup)
        warmed = time.thread_time()
        chain.advance(n_draws)
        done = time.thread_time()
        result = ChainResult(chain.draws(), chain.acceptance(), 0, 0.0, done - start)
        note = f"{chain.sampler.n_leapfrog} leapfrog steps, accept {chain.acceptance()['network']:.2f}; "
        note += f"{chain.n_birth_death} births and deaths"
        return Run(quantities(Posterior(problem, [result])), done - warmed, warmed - start, note)

    return Sampler(name, run)


def beside_the_paper(problem: str, collapsed: dict[str, Any], papers: list[dict[str, Any]]) -> list[str]:
    """How the samplers compare, and the paper's with the authors' code."""
    lines = []
    for row in papers:
        ratios = {q: collapsed["per_second"][q] / v for q, v in row["per_second"].items()}
        lines.append(
            f"{collapsed['name']} : {row['name']} = " + ", ".join(f"{r:,.1f} in {q}" for q, r in ratios.items())
        )
        if problem in AUTHORS_SECONDS:
            ours, theirs = 1e-6 * row["microseconds_per_draw"], AUTHORS_SECONDS[problem]
            text = f"{row['name']}: {ours:.5f} s an iteration, the authors' code {theirs} s: {theirs / ours:,.0f} times"
            lines.append(text)
    return lines


def quantities(posterior: Posterior) -> dict[str, np.ndarray]:
    """What is measured: f at 20 points, K, and whatever is unknown (the intensity at 10 points)."""
    prior = posterior.problem.prior
    named = {"f": posterior.f(POINTS), "K": posterior.n_units[:, None].astype(np.float64)}
    for parameter in posterior.problem.parameters:
        if parameter.name in ("noise", "amplitude") and not parameter.known:
            named[parameter.name] = posterior.parameter(parameter.name)[:, None]
    if not prior.intensity.known:
        named["intensity"] = posterior.intensity(POINTS[::2])
    return named


# --- peers ----------------------------------------------------------------------------------------------------------


def nuts(python: Path, problem: Problem, n_warmup: int, n_draws: int, depth: int = 10) -> Sampler:
    """NumPyro's NUTS on the same network with K held at 53; at most 2^depth - 1 leapfrog steps a draw."""
    part = protocol.split(*protocol.load("motorcycle94"), seed=1)
    prior = problem.prior
    # one core: XLA's own threads cost more than they bring at this size
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    environment = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "OMP_NUM_THREADS": "1"}

    def run(seed: int) -> Run:
        with tempfile.TemporaryDirectory() as folder:
            stated, drawn = Path(folder, "problem.npz"), Path(folder, "draws.npz")
            np.savez(
                stated, x=part.X[:, 0], y=part.y, points=POINTS[:, 0],
                n_units=NUTS_UNITS, low=REGION[0], high=REGION[1], scale=S0 * INTENSITY,
                weight_variance=prior.weight_variance, bias_variance=BIAS2, noise_variance=NOISE2,
                seed=seed, n_warmup=n_warmup, n_draws=n_draws, depth=depth,
            )  # fmt: skip
            script = Path(__file__).parent / "peers" / "nuts_fixed_width.py"
            subprocess.run([str(python), str(script), str(stated), str(drawn)], check=True, env=environment)
            with np.load(drawn) as out:
                note = f"{out['n_leapfrog']:.0f} leapfrog steps a draw, accept {out['accept']:.2f}; {out['versions']}"
                return Run({"f": out["f"]}, float(out["seconds"]), float(out["warmup_seconds"]), note)

    return Sampler(f"NUTS, K = {NUTS_UNITS} held" + ("" if depth == 10 else ", short trees"), run)


def _plan(text: str) -> Plan:
    births, moves = (int(v) for v in text.split(","))
    return Plan(births, moves)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problem", choices=PROBLEMS, default="paper")
    parser.add_argument("--plans", nargs="+", type=_plan, metavar="BIRTHS,MOVES", help="instead of the default plan")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--warmup", type=int, default=1000, help="sweeps of warm-up of the collapsed sampler")
    parser.add_argument("--draws", type=int, default=20_000, help="sweeps after it")
    parser.add_argument("--no-peers", action="store_true", help="without NumPyro's NUTS")
    parser.add_argument("--no-paper", action="store_true", help="without the paper's sampler")
    parser.add_argument("--paper-draws", type=int, default=4000, help="sweeps of the paper's sampler after warm-up")
    parser.add_argument("--leapfrog", type=int, default=100, help="its leapfrog steps")
    parser.add_argument(
        "--births", type=int, help="its births and deaths per sweep; default: as many as expected units"
    )
    parser.add_argument("--nuts-draws", type=int, default=1000, help="draws of NUTS, after as many of warm-up")
    parser.add_argument("--json", metavar="FILE", help="write the results there too")
    options = parser.parse_args()
    problem = {"paper": papers_problem, "paper-learned": papers_learned_problem, "learned": learned_problem}[
        options.problem
    ]()
    plans = options.plans or [None]
    samplers = [
        collapsed(
            "collapsed" if p is None else f"collapsed {p.n_birth_death}+{p.n_moves}",
            problem, p, options.warmup, options.draws,
        )
        for p in plans
    ]  # fmt: skip
    # what the alternation of both updates of the curve brings, against one of them
    if problem.components[0].process is not None:
        plan = default_plan(problem)
        for name, *updates in (("centered alone", 1, 0, 0), ("marked alone", 0, 3, 0), ("stretched alone", 0, 0, 3)):
            alone = replace(plan, n_centered=updates[0], n_marked=updates[1], n_stretched=updates[2])
            samplers.append(collapsed(f"collapsed, {name}", problem, alone, options.warmup, options.draws))
    collapsed("", problem, None, 50, 50).run(0)  # compile or load
    found = machine.describe()
    print(machine.line(found))
    n_collapsed = len(samplers)
    if not options.no_paper:
        stated = {"n_leapfrog": options.leapfrog, "n_birth_death": options.births}
        variants = {"paper's": PaperSampler(**stated)}
        if not problem.prior.intensity.known and problem.components[0].process is not None:
            variants["paper's, plug-in"] = PaperSampler(**stated, plug_in=True)
        for name, variant in variants.items():
            paper("", problem, variant, 50, 50).run(0)
            samplers.append(paper(name, problem, variant, options.warmup, options.paper_draws))
    rows = measure(samplers, options.repeats)
    peers = []
    if options.problem == "paper" and not options.no_peers:
        python = python_of("numpyro", ["numpyro", "jax"], "import numpyro, jax")
        if python is not None:
            n = options.nuts_draws
            peers = measure([nuts(python, problem, n, n), nuts(python, problem, n, n, 7)], min(options.repeats, 3))
    print(f"\neffective draws per CPU second, {options.problem} problem, median of {options.repeats} repeats")
    print(table(rows + peers))
    for line in beside_the_paper(options.problem, rows[0], rows[n_collapsed:]):
        print(line)
    reached = True
    targets = TARGETS.get(options.problem, {})
    if targets:
        first = rows[0]["per_second"]
        reached = all(first[name] >= wanted for name, wanted in targets.items())
        listed = ", ".join(f"{wanted:,.0f} {name}" for name, wanted in targets.items())
        print(f"\ntargets: {listed}; {KNOWN[options.problem]}")
        for i, peer in enumerate(peers):
            ratio = rows[0]["per_second"]["f"] / peer["per_second"]["f"]
            wanted = f" (target {TARGET_RATIO:.0f})" if i == 0 else ""
            reached = reached and (i > 0 or ratio >= TARGET_RATIO)
            print(f"{rows[0]['name']} : {peer['name']} = {ratio:,.0f} times the effective f{wanted}")
        print("targets reached" if reached else "targets not reached")
    machine.save(options.json, {"problem": options.problem, "rows": rows + peers, "reached": reached}, found)
    return 0 if reached else 1


if __name__ == "__main__":
    raise SystemExit(main())
