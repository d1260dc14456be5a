"""How surely is each mutant rejected? The comparison with importance sampling, repeated with other seeds.

    python tests/statistical/mutant_power.py --runs 10

In every run data, reference and chains are drawn anew. A mutant is rejected if one of the compared numbers is off by
more than 4 standard errors. Power is told by the number that was farthest off in the first run: its z in the others has
a mean and a spread, and the power is the probability that a normal variable of these leaves 4; the test looks at the
others too, so that it is a lower bound. The sampler without a mutant is run as well: it is to be rejected as rarely as
the limit says.
"""

import argparse
import functools
import hashlib
import json
import math
import sys
import tempfile
from pathlib import Path

import numpy as np
import test_curves_exact as curves
from collapsed_tools import LIMIT, always_in_blocks, estimates_of, sample, worst, z_scores
from importance import Reference
from mutants import MUTANTS, NAME, build, forget, switch_on
from pytest import MonkeyPatch
from scipy import stats
from test_collapsed_exact import PLAN, observations, only_jump
from test_collapsed_mutants import PRIORS, WHERE, WHERE_OF_CURVES, WHERE_OF_WINDOWS, in_windows
from test_windows_exact import CASES as WINDOWS

from porbnet.sampling.collapsed.chain import Plan
from porbnet.validation.evidence_keys import source_hash

DRAWS = 2500
NONE = "no mutant: "
IN_WINDOWS = "in windows: "


@functools.cache
def problem(kind, run):
    """Data of a kind of problem, and posterior means and variances by importance sampling."""
    rng = np.random.default_rng([run, int(hashlib.sha256(kind.encode()).hexdigest()[:8], 16)])
    if kind in PRIORS:
        X, y, X_new = observations(PRIORS[kind], rng)
        return X, y, X_new, Reference(PRIORS[kind], X, y, X_new, rng, n=100_000).estimates
    X, y, X_new = curves.observations(rng)
    prior = WINDOWS[kind.removeprefix(IN_WINDOWS)][0] if kind.startswith(IN_WINDOWS) else curves.CASES[kind][0]
    return X, y, X_new, curves.CurveReference(prior, X, y, X_new, rng, n=100_000).estimates


def scores(name, kind, run, chain_types):
    """z of everything that is compared, of the sampler with a mutant (None: with none)."""
    X, y, X_new, exact = problem(kind, run)
    mutate, (chain_type, window_type) = switch_on(name), chain_types
    if kind.startswith(IN_WINDOWS):
        posterior = in_windows(kind.removeprefix(IN_WINDOWS), X, y, run, window_type, mutate, DRAWS)
        found = curves.chain_estimates(posterior, X_new)
        return z_scores(found, {key: exact[key] for key in found})
    if kind not in PRIORS:
        prior, plan = curves.CASES[kind]
        found = curves.chain_estimates(
            sample(prior, X, y, run, n_draws=DRAWS, thin=3, plan=plan, chain_type=chain_type, prepare=mutate), X_new
        )
        return z_scores(found, {key: exact[key] for key in found})

    def prepare(chain):
        mutate(chain)
        if kind == "unknown, jump only":
            only_jump(chain)

    with MonkeyPatch.context() as patch:
        more = {"n_warmup": 0 if kind == "unknown, jump only" else 300, "n_draws": DRAWS, "plan": PLAN}
        if kind.endswith("blocks"):
            always_in_blocks(patch, "porbnet")
            always_in_blocks(patch, NAME)
            more["n_draws"] = 6000
        if kind.endswith("moves"):
            more["plan"] = Plan(3, 15)
        posterior = sample(PRIORS[kind], X, y, run, chain_type=chain_type, prepare=prepare, **more)
    return z_scores(estimates_of(posterior, X_new), exact)


def power_row(name, kind, runs, chain_types, kept):
    """What the runs say of one mutant."""
    made = [kept(name, kind, run, lambda r=run: scores(name, kind, r, chain_types)) for run in range(runs)]
    farthest, _ = worst(made[0])
    z = np.array([m[farthest] for m in made[1:]])
    spread = max(float(z.std(ddof=1)), 1.0) if len(z) > 1 else 1.0
    outside = (abs(z.mean()) - LIMIT) / spread
    return {
        "mutant": f"{NONE}{kind}" if name is None else name,
        "problem": kind,
        "runs": runs,
        "rejected": sum(abs(worst(m)[1]) > LIMIT for m in made),
        "numbers": len(made[0]),
        "farthest": farthest,
        "mean_z": round(float(z.mean()), 2),
        "sd_z": round(float(z.std(ddof=1)) if len(z) > 1 else 0.0, 2),
        "power": None if name is None else math.floor(1e5 * float(stats.norm.cdf(outside))) / 1e5,
        "command": f"python tests/statistical/mutant_power.py --runs {runs} --only '{name or NONE}'",
    }


def keeper(folder):
    """Results of runs in files: what was made is made once."""
    folder.mkdir(parents=True, exist_ok=True)

    def kept(name, kind, run, make):
        key = hashlib.sha256(repr((name, kind, run, DRAWS, source_hash())).encode()).hexdigest()[:16]
        place = folder / f"mutant-{key}.json"
        if not place.exists():
            found = {" ".join(reversed(k)): round(float(z), 4) for k, z in make().items()}
            place.write_text(json.dumps(found), encoding="utf-8")
        return json.loads(place.read_text(encoding="utf-8"))

    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path, default=Path("docs/validation/mutants.json"))
    parser.add_argument("--cache", type=Path, default=Path(".validation"))
    options = parser.parse_args()
    where = WHERE | WHERE_OF_CURVES | {name: IN_WINDOWS + case for name, case in WHERE_OF_WINDOWS.items()}
    assert where.keys() == MUTANTS.keys()
    wanted = [(None, kind) for kind in dict.fromkeys(where.values())] + list(where.items())
    rows, kept = [], keeper(options.cache)
    with tempfile.TemporaryDirectory() as folder:
        chain_types = build(Path(folder))
        for name, kind in wanted:
            if options.only in (name or f"{NONE}{kind}"):
                rows.append(power_row(name, kind, options.runs, chain_types, kept))
                print(json.dumps(rows[-1], ensure_ascii=False), flush=True)
        forget()
    if not options.only:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"limit": LIMIT, "rows": rows}, indent=1, ensure_ascii=False)
        options.out.write_text(text + "\n", encoding="utf-8")
    weak = [r["mutant"] for r in rows if r["power"] is not None and r["power"] < 0.99]
    print(f"power below 0.99: {weak or 'none'}")
    return 1 if weak else 0


if __name__ == "__main__":
    sys.exit(main())
