"""The results of many fits: one table, failures with their reasons, models by key, predictions of all at once."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.estimators.files import load
from porbnet.many.kept import Folder, Row
from porbnet.many.series_keys import Key, file_name, key_of

WRITTEN = ("table.csv", "table.parquet", "failures.csv", "report.html")
_LAST = ("elpd", "elpd_se", "n_high_k", "n_chains", "n_draws", "cpu_seconds", "seconds", "seed", "warnings", "model")
_FIRST = ("n", "converged", "predictions_converged", "verdict", "rhat", "ess", "out_of_time")
_INSIDE = ("key", "run", "n_given")


class ManyFits:
    """What `fit_many` has done, read from its folder.

    Parameters
    ----------
    folder : str or path
        The `out` of `fit_many`.

    Attributes
    ----------
    table : pandas.DataFrame
        A row per fitted series, in order of the keys: the columns of the key, then n (rows fitted), converged and
        predictions_converged, verdict, rhat (the worst), ess (the least), out_of_time, median and 90 % interval
        (`_lower`, `_upper`) of width, lengthscale, noise, amplitude and what else was learned, elpd with elpd_se and
        n_high_k (leave-one-out), n_chains, n_draws, cpu_seconds, seconds, seed, warnings, model (its file).
    failures : pandas.DataFrame
        A row per series that could not be fitted: the columns of the key, n, reason, seconds.
    n_fitted, n_reused, n_missing : int
        Series fitted by the call that gave this, those that an earlier one had fitted, and those that are left.
    stopped : str
        What has ended that call early: "interrupted" or "time is up"; else empty.
    """

    def __init__(
        self, folder: str | os.PathLike[str], *, n_fitted: int = 0, n_reused: int = 0, n_missing: int = 0,
        stopped: str = "",
    ) -> None:  # fmt: skip
        self._folder = Folder(folder)
        found = self._folder.asked()
        if found is None:
            raise _checks.fail("folder", str(folder), "it holds no results of fit_many")
        self._asked = found
        self.n_fitted, self.n_reused, self.n_missing = n_fitted, n_reused, n_missing
        self.stopped = stopped

    @property
    def folder(self) -> Path:
        """Where the results are."""
        return self._folder.place

    @property
    def by(self) -> list[str]:
        """Columns that tell series apart."""
        return list(self._asked["by"])

    @property
    def inputs(self) -> list[str]:
        """Columns of the inputs."""
        return list(self._asked["x"])

    @cached_property
    def table(self) -> Any:
        """A row per fitted series."""
        return self._tables[0]

    @cached_property
    def failures(self) -> Any:
        """A row per series that could not be fitted."""
        return self._tables[1]

    @cached_property
    def _tables(self) -> tuple[Any, Any]:
        import pandas

        rows = sorted(self._folder.rows(), key=lambda row: _sorting(row["key"]))
        good, bad = [r for r in rows if "failed" not in r], [r for r in rows if "failed" in r]
        names = list(dict.fromkeys(name for row in good for name in row if name not in _INSIDE))
        middle = [n for n in names if n not in (*_FIRST, *_LAST)]
        order = [n for n in (*_FIRST, *middle, *_LAST) if n in names]
        keys = {name: [row["key"][i] for row in good] for i, name in enumerate(self.by)}
        cells = {name: [_cell(name, row.get(name)) for row in good] for name in order}
        lost = {name: [row["key"][i] for row in bad] for i, name in enumerate(self.by)}
        told = {"n": "n", "reason": "failed", "seconds": "seconds"}
        failures = lost | {name: [row.get(source) for row in bad] for name, source in told.items()}
        self._places = {key_of(row["key"]): row.get("model") for row in good}
        return pandas.DataFrame(keys | cells), pandas.DataFrame(failures)

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        table, failures = self.table, self.failures
        good = int(table["converged"].sum()) if len(table) else 0
        return (
            f"ManyFits({str(self.folder)!r}: {len(table):,} series fitted, {good:,} of them converged, "
            f"{len(failures):,} failed)"
        )

    def keys(self) -> list[Any]:
        """Keys of the fitted series in the order of the table: values, or tuples of them if `by` is several columns."""
        columns = [self.table[name].tolist() for name in self.by]
        return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))

    def load(self, key: Any) -> Any:
        """The model of a series.

        Parameters
        ----------
        key : value, or tuple of values if `by` is several columns
        """
        wanted = key_of(key)
        if wanted not in self.places:
            raise _checks.fail("key", key, self._why_not(wanted))
        row: Row = {"key": list(wanted), "model": self.places[wanted]}
        place = row["model"]
        if place is not None and "start" not in place:
            return load(self.folder / "models" / place["file"])
        with tempfile.TemporaryDirectory() as scratch:
            path = Path(scratch) / f"{file_name(wanted)}.npz"
            path.write_bytes(self._folder.model_bytes(row))
            return load(path)

    @property
    def places(self) -> dict[Key, Any]:
        """Where each model is, by key; None of those that were not kept."""
        _ = self._tables
        return self._places

    def _why_not(self, key: Key) -> str:
        failures = self.failures
        lost = zip(*(failures[name].tolist() for name in self.by), strict=True)
        for place, values in enumerate(lost):
            if key_of(values) == key:
                return f"this series has failed: {failures['reason'].iloc[place]}"
        return f"it must be one of the {len(self.places):,} keys of fitted series; keys() lists them"

    def predict(self, new: Any, *, coverage: float = 0.9, of: str = "y", n_jobs: int | None = None) -> Any:
        """Predictions of all series at once.

        Parameters
        ----------
        new : frame or mapping
            With the columns of the key and of the inputs.
        coverage : float
            Probability between lower and upper.
        of : {"y", "f"}
            Whether sd and interval are those of a new observation or of the function.
        n_jobs : int, optional
            Series at a time, in threads, as in joblib.

        Returns
        -------
        pandas.DataFrame
            As many rows as `new`, in its order: its columns of the key and of the inputs, then mean, sd, lower and
            upper; of a classifier its prediction and the probability of each class. Rows of series without a model
            have missing values.
        """
        from porbnet.many.all_predictions import predictions

        return predictions(self, new, coverage, of, n_jobs)

    def worst(self, n: int = 12) -> list[Any]:
        """Keys of the series to look at first: by R-hat, those without one by their least effective sample size."""
        table = self.table
        bad = table["rhat"].astype(float).fillna(1.0).to_numpy() if len(table) else np.empty(0)
        few = -table["ess"].astype(float).fillna(0.0).to_numpy() if len(table) else np.empty(0)
        order = np.lexsort((few, -bad))[: _checks.count("n", n)]
        keys = self.keys()
        return [keys[i] for i in order]

    def plot(self, keys: Sequence[Any] | None = None, *, n: int = 12, n_columns: int = 4) -> Any:
        """Small pictures of fits in a grid, those first that are to be looked at first.

        Parameters
        ----------
        keys : sequence, optional
            Series to show; by default `worst(n)`.
        n : int
            How many.
        n_columns : int
            Of the grid.

        Returns
        -------
        array of matplotlib Axes, shape (n_rows, n_columns)
            Of a new figure.
        """
        from porbnet.many.small_pictures import grid

        return grid(self, self.worst(n) if keys is None else list(keys), _checks.count("n_columns", n_columns))

    def report(self, path: str | os.PathLike[str] | None = None, *, n: int = 12) -> Path:
        """Write a page: how many have converged, what was learned over all, small pictures of the worst, failures.

        Parameters
        ----------
        path : str or path, optional
            By default report.html in the folder.
        n : int
            Pictures in it.
        """
        from porbnet.many.many_page import html

        target = self.folder / "report.html" if path is None else Path(path)
        target.write_text(html(self, _checks.count("n", n, minimum=0)), encoding="utf-8")
        return target

    def write(self) -> None:
        """Write the table and the failures as files."""
        table = self.table
        table.to_csv(self.folder / "table.csv", index=False)
        self.failures.to_csv(self.folder / "failures.csv", index=False)
        try:
            table.to_parquet(self.folder / "table.parquet", index=False)
        except (ImportError, ValueError, TypeError):  # without pyarrow; keys of several types in one column
            (self.folder / "table.parquet").unlink(missing_ok=True)


def load_many(folder: str | os.PathLike[str]) -> ManyFits:
    """The results of an earlier `fit_many`.

    Parameters
    ----------
    folder : str or path
        Its `out`.
    """
    if not isinstance(folder, str | os.PathLike) or not str(folder):
        raise _checks.fail("folder", folder, "it must be the name of a folder")
    return ManyFits(folder)


def _sorting(values: Sequence[Any]) -> tuple[Any, ...]:
    """Numbers by size and before texts."""
    return tuple((1, 0.0, v) if isinstance(v, str) else (0, float(v), "") for v in values)


def _cell(name: str, value: Any) -> Any:
    if name == "warnings":
        return "; ".join(value or [])
    if name == "model":
        return None if value is None else value["file"]
    return value
