"""`porbnet compare`: cross-validated scores beside a Gaussian process and others."""

from __future__ import annotations

from typing import Annotated

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
    each as a mean over folds with its standard error.

    \b
    Methods:
      porbnet           lengthscale learned as a curve
      porbnet-constant  one unknown lengthscale
      gp                Gaussian process, squared-exponential, hyper-parameters by maximum likelihood (scikit-learn)
      spline            cubic smoothing spline, penalty by generalised cross-validation (SciPy; one input)
      linear            Bayesian linear regression (scikit-learn)

    \b
    Examples:
      porbnet compare crash.csv --x time --y acceleration
      porbnet compare crash.csv --folds 10 --only porbnet --only gp --json
    """
    from porbnet.cli.crossvalidation import cross_validate
    from porbnet.cli.reading import read_table
    from porbnet.cli.table import observations
    from porbnet.estimators.inputs import as_numbers

    rows = observations(read_table(data, header, quiet), x, y, drop_missing)
    tell(rows, quiet)
    sampling = {"n_draws": draws, "n_warmup": warmup, "n_chains": chains}
    found = cross_validate(as_numbers(rows.X)[0], rows.y, folds, seed, jobs, sampling, only)
    found = {
        "command": "compare",
        "observations": len(rows),
        "inputs": rows.names[:-1],
        "output": rows.names[-1],
        **found,
    }
    lines = [f"{'':<18}{'LLH':>9}{'±':>8}{'RMSE':>11}{'±':>9}{'CRPS':>11}{'±':>9}{'seconds':>10}"]
    for m in found["methods"]:
        scores = (
            f"{m['llh']['mean']:>9.3f}{m['llh']['se']:>8.3f}{m['rmse']['mean']:>11.4g}{m['rmse']['se']:>9.2g}"
            f"{m['crps']['mean']:>11.4g}{m['crps']['se']:>9.2g}{m['cpu_seconds']:>10.1f}"
        )
        failed = f"   not converged in {m['not_converged']} folds" if m["not_converged"] else ""
        lines.append(f"{m['name']:<18}{scores}{failed}")
    lines += [
        "",
        f"{folds} folds, seed {seed}; LLH per observation, higher is better; ± is the standard error over folds",
    ]
    show(found, "\n".join(lines), as_json, quiet)
    if any(m["not_converged"] for m in found["methods"]):
        raise typer.Exit(NOT_CONVERGED)
