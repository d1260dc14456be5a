"""Geweke's joint test of every kind at length, as a table.

    python tests/statistical/joint_evidence.py --sweeps 300000

For each kind the means of all test functions along a chain that redraws its data after every sweep are held against
those of draws from the prior, in combined standard errors. Two-sided tail probabilities of all of them are read by
Holm's rule.
"""

import argparse
import hashlib
import json
import sys
import zlib
from pathlib import Path

import numpy as np
import test_outcomes_joint as outcomes
from collapsed_tools import estimate_mean, worst, z_scores
from outcome_tools import simulate
from scipy import stats
from test_collapsed_joint import AT_LENGTH, geweke
from test_outcomes_exact import stated

from porbnet.validation.ecdf_bands import FAMILY, holm
from porbnet.validation.evidence_keys import source_hash


def of_outcomes(kind, n_prior, sweeps, seed):
    """z scores of labels, counts and limits."""
    likelihood, rng = outcomes.KINDS[kind], np.random.default_rng(seed)
    draws, _, f_new, own = simulate(stated(likelihood), n_prior, rng)
    exact = outcomes.functions(draws.counts, draws.amplitude, f_new, own)
    exact = {name: estimate_mean(values[None]) for name, values in exact.items()}
    along = outcomes.successive(likelihood, sweeps, seed)
    return z_scores({name: estimate_mean(v[None, sweeps // 50 :]) for name, v in along.items()}, exact)


def one_kind(kind, sweeps, folder):
    """z scores of a kind, kept."""
    key = hashlib.sha256(repr((kind, sweeps, source_hash())).encode()).hexdigest()[:16]
    place = folder / f"joint-{key}.json"
    if not place.exists():
        n_prior, seed = min(max(sweeps, 40_000), 400_000), zlib.crc32(kind.encode())
        z = (geweke if kind in AT_LENGTH else of_outcomes)(kind, n_prior, sweeps, seed)
        place.write_text(json.dumps({name: round(float(v), 4) for name, v in z.items()}), encoding="utf-8")
    return json.loads(place.read_text(encoding="utf-8"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sweeps", type=int, default=300_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path, default=Path("docs/validation/joint.json"))
    parser.add_argument("--cache", type=Path, default=Path(".validation"))
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    rows = []
    for kind in [*AT_LENGTH, *outcomes.KINDS]:
        if options.only in kind:
            z = one_kind(kind, options.sweeps, options.cache)
            name, value = worst(z)
            p = {key: float(2.0 * stats.norm.sf(abs(v))) for key, v in z.items()}
            command = f"python tests/statistical/joint_evidence.py --sweeps {options.sweeps} --only '{kind}'"
            rows.append({"kind": kind, "sweeps": options.sweeps, "functions": len(z), "worst": name})
            rows[-1] |= {"z": round(value, 2), "p": p, "command": command}
            print(f"{kind}: {value:.2f} ({name}), {len(z)} functions", flush=True)
    tests = [(r["kind"], name, p) for r in rows for name, p in r["p"].items()]
    rejected = [t for t, no in zip(tests, holm([p for *_, p in tests]), strict=True) if no]
    for row in rows:
        del row["p"]
    if not options.only:
        document = {"tests": len(tests), "family": FAMILY, "rejected": rejected, "rows": rows}
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(tests)} tests, rejected by Holm's rule: {rejected or 'none'}")
    return 1 if rejected else 0


if __name__ == "__main__":
    sys.exit(main())
