"""`porbnet prior`: what a prior says, before there are data."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from porbnet.cli.common import Json, Quiet, Seed, numbers, show

if TYPE_CHECKING:
    from porbnet.statement.prior import Prior

_POINTS = 300


def command(
    lengthscale: Annotated[float, typer.Option(help="Over how much of x the function changes.")],
    amplitude: Annotated[float, typer.Option(help="Standard deviation of the function.")],
    region: Annotated[
        str | None, typer.Option(metavar="LOW,HIGH", help="Where units may lie; 0 to 10 lengthscales.")
    ] = None,
    bias: Annotated[float, typer.Option(help="Standard deviation of the constant.")] = 0.0,
    units_per_lengthscale: Annotated[float, typer.Option(help="More is closer to a Gaussian process.")] = 2.0,
    draws: Annotated[int, typer.Option(min=1, help="Functions drawn.")] = 20,
    out: Annotated[Path | None, typer.Option(help="Picture (.png, .svg, .pdf) or draws (.csv) to write.")] = None,
    covariance: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Covariance between places, as CSV.")
    ] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    r"""Draw functions from a prior and say what it means.

    \b
    Examples:
      porbnet prior --lengthscale 0.3 --amplitude 2
      porbnet prior --lengthscale 0.3 --amplitude 2 --region=-1,4 --out prior.png
      porbnet prior --lengthscale 0.3 --amplitude 2 --draws 100 --out draws.csv --covariance cov.csv
    """  # fmt: skip
    import numpy as np

    from porbnet.statement.prior import Prior

    ends = numbers("region", region) if region is not None else [0.0, 10.0 * lengthscale]
    prior = Prior(lengthscale, amplitude, region=ends, bias=bias, units_per_lengthscale=units_per_lengthscale)
    low, high = prior.region.bounds[0].tolist()
    x = np.linspace(low, high, _POINTS)
    middle = 0.5 * (low + high)
    found: dict[str, Any] = {
        "command": "prior",
        "expected_units": float(prior.expected_units),
        "region": [low, high],
        "sd": float(np.sqrt(prior.variance([middle])[0])),
        "correlation_at_one_lengthscale": float(
            prior.covariance([middle], [middle + lengthscale])[0, 0] / prior.variance([middle])[0]
        ),
        "upcrossings": float(prior.upcrossings((low, high))),
        "files": [str(p) for p in (out, covariance) if p is not None],
    }
    if covariance is not None:
        some = x[::3]
        values = np.column_stack([some, prior.covariance(some)])
        _write(covariance, ["x", *(f"{v:.7g}" for v in some)], values)
    if out is not None and out.suffix.lower() == ".csv":
        values = prior.sample(x, draws, random_state=seed)
        _write(out, ["x", *(f"f{i + 1}" for i in range(draws))], np.column_stack([x, values.T]))
    elif out is not None:
        _picture(prior, x, draws, seed, lengthscale, out)
    lines = [
        f"{found['expected_units']:.4g} units expected on [{low:g}, {high:g}]",
        f"sd of f in the middle {found['sd']:.4g}; correlation one lengthscale away "
        f"{found['correlation_at_one_lengthscale']:.3f}",
        f"zero upcrossings expected {found['upcrossings']:.3g}",
        *(["written: " + ", ".join(found["files"])] if found["files"] else []),
    ]
    show(found, "\n".join(lines), as_json, quiet)


def _write(path: Path, names: list[str], rows: Any) -> None:
    from porbnet.cli.writing import write_table

    write_table(dict(zip(names, rows.T.tolist(), strict=True)), path)


def _picture(prior: Prior, x: Any, draws: int, seed: int, lengthscale: float, out: Path) -> None:
    from porbnet import plot
    from porbnet.cli import pictures

    with pictures.canvas() as plt:
        figure, axes = plt.subplots(2, 1, figsize=(6.4, 5.2), sharex=True, height_ratios=(2, 1.2), layout="constrained")
        plot.prior_draws(prior, x, n=draws, random_state=seed, ax=axes[0])
        plot.covariogram(prior, (0.0, lengthscale, 2.0 * lengthscale), x, ax=axes[1])
        axes[0].set_xlabel("")
        for ax in axes:
            ax.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3)
        pictures.save(figure, out)
