"""The page of the evidence, from the JSON that the parts have left: docs/validation.md."""

from __future__ import annotations

from typing import Any

from porbnet.validation.evidence_keys import source_hash

Document = dict[str, Any]

_HEAD = """# Validation

What was tried to show that the package is wrong, and what came of it. Every row says by which command it is made
again; `make validate` makes all of them (days on one core at full size; it goes on where it was interrupted), and
this page is made by `python -m porbnet.validation page` from the JSON in [docs/validation](validation). Figures are
those of the sizes that the rows tell.
"""

_MISSING = "\nThis part was not made yet.\n"


def page(parts: dict[str, Document]) -> str:
    """The whole page; parts that have not been made are said to be missing."""
    return "\n".join(
        [
            _HEAD,
            _calibration(parts.get("calibration", {})),
            _joint(parts.get("joint", {})),
            _mutants(parts.get("mutants", {})),
            _coverage(parts.get("coverage", {})),
            _drift(parts.get("drift", {})),
            _fuzzing(parts.get("fuzzing", {})),
        ]
    )


def _table(head: list[str], rows: list[list[Any]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _calibration(found: Document) -> str:
    head = """## Calibration

Truths are drawn from the prior, data from the truths, and a chain is run on each data set: the rank of a truth
among 99 draws is uniform if the sampler is right. Ranked are f among the rows and near the edge of the region, K,
amplitude, the likelihood's own parameters, λ where it is unknown, the log likelihood of the data given f, and a new
y. Data sets have ten rows.

**The rule.** For each quantity the distribution function of the ranks is looked at in 19 places; p is the share of
simulated sets of uniform ranks whose most unlikely place is as unlikely (a simultaneous band;
`porbnet.validation.ecdf_bands`). All p of the table are read together by Holm's rule at 5 %: if everything is
right, the table has any rejection with a probability of 5 % at most. Beside it stands how many leave their own 95 %
band, of which one in twenty is to be expected.
"""
    if not found:
        return head + _MISSING
    judged = found["judgement"]
    rejected = judged["rejected"]
    verdict = (
        f"{judged['tests']} tests of {len(found['rows'])} combinations: Holm's rule rejects {len(rejected) or 'none'}. "
        f"{judged['outside_own_band']} leave their own 95 % band ({judged['expected_outside']} expected); "
        f"the smallest p is {judged['smallest_p']:.2g}.\n"
    )
    if rejected:
        verdict += (
            "\nRejected: " + "; ".join(f"{r['quantity']} of {r['row']} (p {r['p']:.2g})" for r in rejected) + ".\n"
        )
    older = sum(r.get("source") != source_hash()[:12] for r in found["rows"])
    if older:
        verdict += f"\n{older} of the rows were made before the last change of the sources that draws depend on.\n"
    rows = []
    for r in found["rows"]:
        parts, quantities = r["parts"], r["quantities"]
        worst = min(quantities, key=lambda name: quantities[name]["p"])
        rows.append(
            [
                parts["likelihood"],
                parts["intensity"],
                parts["sampler"],
                parts["n_dims"],
                r["datasets"],
                len(quantities),
                f"{quantities[worst]['p']:.2g} ({worst})",
                "yes" if any(b["row"] == r["name"] for b in rejected) else "no",
            ]
        )
    table = _table(
        ["likelihood", "intensity", "sampler", "inputs", "data sets", "ranks", "smallest p", "rejected"], rows
    )
    again = (
        "\nA row again: `python -m porbnet.validation calibration --only 'LIKELIHOOD / INTENSITY / SAMPLER / 1-D' "
        "--datasets N`. `boxes` is the default sampler with births, deaths and moves made box by box, as it does by "
        "itself where there are many units. The paper's sampler knows Gaussian errors only, and no learned law of a "
        "curve. Counts of ranks are in [calibration.json](validation/calibration.json).\n"
    )
    return "\n".join([head, verdict, table, again])


def _joint(found: Document) -> str:
    head = """## Joint tests

Geweke's test: a chain that redraws its data after every sweep has the law of draws from the prior. Means of test
functions are compared in combined standard errors, and read by Holm's rule at 5 % as above.
"""
    if not found:
        return head + _MISSING
    rejected = found["rejected"]
    verdict = f"{found['tests']} comparisons: Holm's rule rejects {rejected or 'none'}.\n"
    rows = [[r["kind"], f"{r['sweeps']:,}", r["functions"], f"{r['z']:.2f} ({r['worst']})"] for r in found["rows"]]
    again = "\nA row again: `python tests/statistical/joint_evidence.py --sweeps N --only KIND`.\n"
    return "\n".join([head, verdict, _table(["kind", "sweeps", "functions", "worst z"], rows), again])


def _mutants(found: Document) -> str:
    head = """## Mutants

Would the tests notice? Errors of the kind that one makes are put into a copy of the sampler, one at a time, and the
comparison with importance sampling must reject each: a number off by more than 4 standard errors. Power is that of
the number that was farthest off in the first run, from the mean and the spread of its z in the others, so that it
is a lower bound.
"""
    if not found:
        return head + _MISSING
    rows, innocent = [], [r for r in found["rows"] if r["power"] is None]
    for r in found["rows"]:
        if r["power"] is not None:
            power = ">0.9999" if r["power"] >= 0.9999 else f"{r['power']:.4f}"
            z = f"{r['mean_z']:.1f} ± {r['sd_z']:.1f}"
            rows.append([r["mutant"], f"{r['rejected']} of {r['runs']}", z, power])
    alarms = sum(r["rejected"] for r in innocent)
    of = sum(r["runs"] for r in innocent)
    numbers = sum(r["runs"] * r["numbers"] for r in innocent)
    weak = [r["mutant"] for r in found["rows"] if r["power"] is not None and r["power"] < 0.99]
    verdict = (
        f"{len(rows)} mutants; power below 0.99: {', '.join(weak) or 'none'}. Without a mutant {alarms} of {of} runs "
        f"are rejected ({numbers * 6.3e-5:.1f} expected of {numbers:,} numbers, if their errors were normal).\n"
    )
    again = "\nA row again: `python tests/statistical/mutant_power.py --runs N --only MUTANT`.\n"
    return "\n".join([head, verdict, _table(["mutant", "rejected", "z of one number", "power"], rows), again])


def _coverage(found: Document) -> str:
    head = """## Functions outside the model

Ten functions that no draw of the prior is like, scaled to a standard deviation of 1, with noise of 0.2. Fits with
default settings and 2 x 500 draws. Coverage is that of 90 % intervals, averaged over 401 places: of f, which
nothing promises where f breaks the prior (near jumps and spikes, and for what is rough everywhere), and of new
observations.
"""
    if not found:
        return head + _MISSING
    rows = []
    for r in found["rows"]:
        se = "" if r["coverage_of_f_se"] is None else f" ± {r['coverage_of_f_se']:.2f}"
        rows.append(
            [
                r["function"], r["n"], r["repetitions"], f"{r['rmse']:.3f}", f"{r['coverage_of_f']:.2f}{se}",
                f"{r['coverage_of_y']:.2f}", f"{r['width_of_f']:.2f}", f"{r['worst_rhat']:.2f}",
            ]
        )  # fmt: skip
    names = ["function", "rows", "fits", "RMSE", "coverage of f", "coverage of y", "width of f", "worst R-hat"]
    again = "\nA row again: `python -m porbnet.validation coverage --only FUNCTION --repetitions N`.\n"
    return "\n".join([head, _table(names, rows), again])


def _drift(found: Document) -> str:
    head = """## Drift

One long chain on the motorcycle data, defaults throughout: its halves against each other, and what is cached
against what is computed anew.
"""
    if not found:
        return head + _MISSING
    halves = found["halves"]
    largest = max(abs(h["z"]) for h in halves.values())
    verdict = (
        f"{found['sweeps']:,} sweeps: the largest difference of the halves is {largest:.1f} standard errors of "
        f"{len(halves)} quantities. What is cached was off by {found['drift']:.1e} at most when it was computed anew; "
        f"{found['forced_refreshes']} times it had to be before its time.\n"
    )
    rows = [[name, h["first"], h["second"], h["effective_draws"], h["z"]] for name, h in halves.items()]
    table = _table(["quantity", "first half", "second half", "effective draws", "z"], rows)
    return "\n".join([head, verdict, table, f"\nAgain: `{found['command']}`.\n"])


def _fuzzing(found: Document) -> str:
    head = """## Hostile cases

Every public function, every method of the estimators, pictures, files and the command line are called with what
users hand over by mistake or on purpose. An outcome is a result whose numbers are finite, or a refusal in the
package's words (scikit-learn's, for plain arrays); a wrong usage of a command; anything else is a fault: an error
from inside, a NaN, a warning of others, a crash, more than a minute.
"""
    if not found:
        return head + _MISSING
    kinds = sorted({kind for counts in found["by_target"].values() for kind in counts})
    rows = [[name, *(counts.get(kind, 0) for kind in kinds)] for name, counts in found["by_target"].items()]
    rows.append(["all", *(found["counts"].get(kind, 0) for kind in kinds)])
    verdict = (
        f"{found['cases']:,} cases, {len(found['faults'])} faults; the longest took "
        f"{found['longest_seconds']:.0f} s on a busy machine.\n"
    )
    return "\n".join([head, verdict, _table(["what is called", *kinds], rows), f"\nAgain: `{found['command']}`.\n"])
