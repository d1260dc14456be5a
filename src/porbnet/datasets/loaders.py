"""Readers of the data sets: each gives arrays in the units of the source, with where they come from."""

from __future__ import annotations

import csv
import importlib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.errors import StatementError


@dataclass(frozen=True, eq=False)
class Dataset:
    """Inputs and outputs with their names, units and origin.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_dims)
        Inputs.
    y : ndarray of shape (n_rows,)
        Outputs, noise included.
    names : tuple of str
        Names of the inputs, then of the output; n_dims + 1 of them.
    units : tuple of str
        Units of the same; "1" where there is none.
    source : str
        Whom to cite.
    licence : str
        Terms of use.
    description : str
        What the rows are, in a sentence or two.
    f : ndarray of shape (n_rows,), optional
        The noiseless function at X where it is known.
    """

    X: FloatArray
    y: FloatArray
    names: tuple[str, ...]
    units: tuple[str, ...]
    source: str
    licence: str
    description: str
    f: FloatArray | None = None

    @property
    def n_dims(self) -> int:
        """Number of inputs."""
        return int(self.X.shape[1])

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        inputs = ", ".join(self.names[:-1])
        return f"Dataset({self.names[-1]} given {inputs}; {len(self)} rows)"


def load_motorcycle(form: str = "133") -> Dataset:
    """Head acceleration after the impact in simulated motorcycle accidents.

    Flat, then a deep dip and a rebound; the noise grows at the impact too.

    Parameters
    ----------
    form : {"133", "94"}
        "133": all readings, several at some times. "94": one reading per time.

    Returns
    -------
    Dataset
        Time in milliseconds, acceleration in g.

    Examples
    --------
    >>> load_motorcycle("94").X.shape
    (94, 1)
    """
    _checks.choice("form", form, ("133", "94"))
    columns = _read(f"motorcycle{form}.csv")
    silverman = (
        "Silverman, B. W. (1985). Some aspects of the spline smoothing approach to non-parametric regression curve "
        "fitting. Journal of the Royal Statistical Society B 47, 1-52."
    )
    every = "all readings" if form == "133" else "one reading per time"
    return Dataset(
        X=columns[:, :1].copy(),
        y=columns[:, 1].copy(),
        names=("time", "acceleration"),
        units=("ms", "g"),
        source=f"{silverman} As `{'mcycle' if form == '133' else 'motor'}` in the R package "
        f"{'MASS' if form == '133' else 'boot'}.",
        licence=(
            "Figures of a published experiment; redistribute with the citation."
            if form == "133"
            else "The R package boot: unlimited."
        ),
        description=f"Acceleration of the head of a test dummy after a simulated motorcycle impact, {every}.",
    )


def load_heartrate() -> Dataset:
    """Beat-to-beat heart rate over five minutes, with ectopic beats: smooth stretches and sudden spikes.

    Returns
    -------
    Dataset
        Time in seconds, heart rate in beats per minute; 500 rows.
    """
    columns = _read("heartrate.csv")
    return Dataset(
        X=columns[:, :1].copy(),
        y=columns[:, 1].copy(),
        names=("time", "heart rate"),
        units=("s", "beats/min"),
        source=(
            "MIT-BIH Arrhythmia Database, record 208. Moody, G. B. and Mark, R. G. (2001). The impact of the MIT-BIH "
            "Arrhythmia Database. IEEE Engineering in Medicine and Biology 20(3), 45-50. Goldberger, A. L. et al. "
            "(2000). PhysioBank, PhysioToolkit, and PhysioNet. Circulation 101(23), e215-e220."
        ),
        licence="Open Data Commons Attribution 1.0 (ODC-BY 1.0): use and share with the attribution in `source`.",
        description="Heart rate between successive R peaks of a five-minute electrocardiogram with ectopic beats.",
    )


def load_exp2d() -> Dataset:
    """The surface x1 exp(-x1² - x2²) on [-2, 6]² with noise of sd 0.01: busy in one corner, flat elsewhere.

    Returns
    -------
    Dataset
        200 rows, two inputs, with the noiseless `f`.
    """
    return _surface(
        "exp2d.csv", "x1 exp(-x1² - x2²) at random places of the square [-2, 6]², plus normal noise of sd 0.01."
    )


def load_chirp2d() -> Dataset:
    """Ripples on [-0.5, 1]² whose wavelength shrinks across the square, with noise of sd 0.025.

    f = 0.1 (sin b x1 + sin b x2) with b = π (2 x1 + x2 / 2 + 1).

    Returns
    -------
    Dataset
        300 rows, two inputs, with the noiseless `f`.
    """
    return _surface(
        "chirp2d.csv",
        "0.1 (sin b x1 + sin b x2), b = π (2 x1 + x2 / 2 + 1), at random places of the square [-0.5, 1]², plus normal "
        "noise of sd 0.025.",
    )


def load_vix(year: int = 2018) -> Dataset:
    """The volatility index VIX at the close of each trading day of one year, read from the package `arch`.

    Parameters
    ----------
    year : int
        Calendar year; `arch` ships 2014 to 2018 in full.

    Returns
    -------
    Dataset
        x is the index of the weekday in the year (0 is its first Monday-to-Friday day), y the index at the close.
        Days without a value are left out; 2018 has 251 rows.

    Raises
    ------
    ImportError
        If `arch` is not installed; it ships the series, porbnet does not.
    """
    year = _checks.count("year", year)
    try:
        vix = importlib.import_module("arch.data.vix")
    except ImportError as error:
        raise ImportError("load_vix reads the series from the package arch: pip install arch") from error
    table: Any = vix.load()
    days = np.asarray(table.index, dtype="datetime64[D]")
    closes = np.asarray(table.iloc[:, 0], dtype=np.float64)
    wanted = (days.astype("datetime64[Y]") == np.datetime64(str(year), "Y")) & np.isfinite(closes)
    if not wanted.any():
        first, last = days[[0, -1]].astype("datetime64[Y]")
        raise _checks.fail("year", year, f"the series runs from {first} to {last}")
    position = np.busday_count(np.datetime64(f"{year}-01-01", "D"), days[wanted])
    return Dataset(
        X=position.astype(np.float64)[:, None],
        y=closes[wanted],
        names=("weekday", "VIX"),
        units=("day", "1"),
        source="Cboe Volatility Index, daily close, as shipped in the Python package arch (arch.data.vix).",
        licence="Copyright Cboe; not part of porbnet.",
        description=f"Daily close of the VIX in {year} by weekday of the year; days without a value are left out.",
    )


def load_mimic(path: str | Path) -> Dataset:
    """A series of your own from MIMIC, which needs credentialed access and is not shipped.

    Parameters
    ----------
    path : path
        A CSV file with one line of names and two columns of numbers: time in hours, and the measurement (such as heart
        rate in beats per minute). Rows without a measurement may be left empty there; they are left out.

    Returns
    -------
    Dataset
        In the units of the file.

    Raises
    ------
    StatementError
        If the file is not there or is not such a table; the message says what is needed.
    """
    how = (
        "it must be a CSV file with a line of names and two columns, time and measurement, extracted from MIMIC "
        "(https://physionet.org/content/mimiciii/, credentialed access); load_heartrate() is an open stand-in"
    )
    try:
        with open(path, encoding="utf-8", newline="") as lines:
            names, *rows = [row for row in csv.reader(lines) if row] or [[]]
        columns = np.array([[float(cell) if cell.strip() else np.nan for cell in row] for row in rows])
    except (OSError, ValueError) as error:
        raise StatementError(f"path={_checks.show(str(path))} cannot be read ({error}): {how}") from error
    if len(names) != 2 or columns.ndim != 2 or columns.shape[1] != 2:
        raise StatementError(f"path={_checks.show(str(path))} has {len(names)} columns, {len(rows)} rows: {how}")
    columns = columns[np.isfinite(columns[:, 1])]
    if len(columns) < 2 or not np.all(np.isfinite(columns)):
        raise StatementError(f"path={_checks.show(str(path))} has fewer than 2 rows, or times that are missing: {how}")
    columns = columns[np.argsort(columns[:, 0], kind="stable")]
    return Dataset(
        X=columns[:, :1].copy(),
        y=columns[:, 1].copy(),
        names=(names[0].strip(), names[1].strip()),
        units=("h", "1"),
        source="Johnson, A. E. W. et al. (2016). MIMIC-III, a freely accessible critical care database. Sci. Data 3.",
        licence="PhysioNet Credentialed Health Data License; not part of porbnet, and not to be shared.",
        description=f"A series extracted from MIMIC: {names[1].strip()} over {names[0].strip()}.",
    )


def _surface(file: str, description: str) -> Dataset:
    columns = _read(file)
    return Dataset(
        X=columns[:, :2].copy(),
        y=columns[:, 3].copy(),
        names=("x1", "x2", "y"),
        units=("1", "1", "1"),
        source="Computed from the formula in the description.",
        licence="MIT, with the package.",
        description=description,
        f=columns[:, 2].copy(),
    )


def _read(file: str) -> FloatArray:
    """Columns of a file of this folder, header skipped."""
    with resources.files("porbnet.datasets").joinpath("data", file).open(encoding="utf-8") as lines:
        return np.loadtxt(lines, delimiter=",", skiprows=1, ndmin=2)
