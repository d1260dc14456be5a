"""`porbnet compare`: cross-validated scores beside a Gaussian process and others."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from porbnet.cli.common import (
    NOT_CONVERGED,
    DropMissing,
    Header,
    Jobs,
    Json,
    Quiet,
    Seed,
    Table,
    XColumns,
    YColumn,
    numbers,
    show,
    tell,
)


def command(
    data: Table,
    x: XColumns = None,
    y: YColumn = None,
    folds: Annotated[int, typer.Option(min=2, help="Parts of the data that are held out in turn.")] = 5,
    draws: Annotated[int, typer.Option(min=1, help="Draws kept per chain.")] = 1000,
    warmup: Annotated[int, typer.Option(min=0, help="Sweeps of warm-up.")] = 500,
    chains: Annotated[int, typer.Option(min=1, help="Chains per fit.")] = 4,
    lengthscale: Annotated[
        list[str] | None, typer.Option(help="Of PoRB-NET, as in fit; repeat it to compare several, with every noise.")
    ] = None,
    noise: Annotated[
        list[str] | None, typer.Option(help="Of PoRB-NET, as in fit; repeat it to compare several.")
    ] = None,
    rank_by: Annotated[str, typer.Option(help="Score to rank by: llh, rmse or crps.")] = "llh",
    only: Annotated[list[str] | None, typer.Option(metavar="METHOD", help="Only these methods; repeat it.")] = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
    header: Header = None,
    drop_missing: DropMissing = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    r"""Compare PoRB-NET with a Gaussian process and simpler methods by cross-validation.

    Log density (LLH, higher is better), root mean square error and CRPS (lower is better) of held-out observations,
    each as a mean over folds with its standard error. The best comes first; the last column says how far a method is
    behind it, row by row on the same held-out rows, and = marks those within two standard errors of it.

    \b
    Methods:
      porbnet           lengthscale learned as a curve, one noise sd
      porbnet-constant  one unknown lengthscale
      porbnet-varying   the noise learned as a curve too
      porbnet-robust    Student-t errors
      porbnet-...       what --lengthscale and --noise ask for, instead of these four
      gp                Gaussian process, squared-exponential, hyper-parameters by maximum likelihood (scikit-learn)
      boosting          gradient boosting of trees, one fit per quantile, default settings (scikit-learn)
      spline            cubic smoothing spline, penalty by generalised cross-validation (SciPy; one input)
      linear            Bayesian linear regression (scikit-learn)

    \b
    Examples:
      porbnet compare crash.csv --x time --y acceleration
      porbnet compare crash.csv --noise learned --noise varying --lengthscale learned --lengthscale constant
      porbnet compare crash.csv --folds 10 --only porbnet --only gp --json
    """
    from porbnet.cli.crossvalidation import cross_validate, fits_of
    from porbnet.cli.reading import read_table
    from porbnet.cli.table import observations
    from porbnet.estimators.inputs import as_numbers

    lengths = [numbers("lengthscale", text, ("learned", "constant")) for text in lengthscale or []]
    noises = [numbers("noise", text, ("learned", "varying", "robust", "auto")) for text in noise or []]
    rows = observations(read_table(data, header, quiet), x, y, drop_missing)
    tell(rows, quiet)
    sampling = {"n_draws": draws, "n_warmup": warmup, "n_chains": chains}
    X = as_numbers(rows.X)[0]
    fits = fits_of(lengths, noises, X.shape[1])
    found = cross_validate(X, rows.y, folds, seed, jobs, sampling, fits, only, rank_by)
    found = {
        "command": "compare",
        "observations": len(rows),
        "inputs": rows.names[:-1],
        "output": rows.names[-1],
        **found,
    }
    show(found, _table(found), as_json, quiet)
    if any(m["not_converged"] for m in found["methods"]):
        raise typer.Exit(NOT_CONVERGED)


def _table(found: dict[str, Any]) -> str:
    """One line per method, the best first."""
    width = max(18, 5 + max(len(m["name"]) for m in found["methods"]))
    heads = f"{'LLH':>9}{'±':>8}{'RMSE':>11}{'±':>9}{'CRPS':>11}{'±':>9}{'seconds':>10}{'behind':>10}{'±':>8}"
    lines = [f"{'':<{width}}{heads}"]
    for m in found["methods"]:
        behind, se = m["behind"]["mean"], m["behind"]["se"]
        scores = (
            f"{m['llh']['mean']:>9.3f}{m['llh']['se']:>8.3f}{m['rmse']['mean']:>11.4g}{m['rmse']['se']:>9.2g}"
            f"{m['crps']['mean']:>11.4g}{m['crps']['se']:>9.2g}{m['cpu_seconds']:>10.1f}"
        )
        apart = f"{behind:>10.3g}{se:>8.2g}" if m["rank"] > 1 else ""
        same = " =" if m["rank"] > 1 and behind <= 2.0 * se else ""
        failed = f"   not converged in {m['not_converged']} folds" if m["not_converged"] else ""
        lines.append(f"{m['rank']:>2}. {m['name']:<{width - 4}}{scores}{apart}{same}{failed}")
    what = {"llh": "LLH", "rmse": "squared error", "crps": "CRPS"}[found["rank_by"]]
    return "\n".join(
        [
            *lines,
            "",
            f"{found['folds']} folds, seed {found['seed']}; LLH per observation, higher is better; ± is the standard "
            "error over folds",
            f"behind: {what} per observation behind the best, with its standard error; =: within two of these",
        ]
    )
