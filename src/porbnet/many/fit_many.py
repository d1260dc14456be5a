"""`fit_many`: a fit for every series of a table, on this machine or on a Dask cluster."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.errors import StatementError
from porbnet.many.batches import Plan
from porbnet.many.kept import ASKED, MODELS, ROWS, Folder
from porbnet.many.many_fits import WRITTEN, ManyFits
from porbnet.many.many_run import ManyRun
from porbnet.many.series_keys import columns
from porbnet.many.series_tables import Roles
from porbnet.many.sources import source_of
from porbnet.storage.checkpoint import locked
from porbnet.work.bounded import connected

_GRACE = 5.0  # seconds beyond twice the time of a series, before it is taken to hang


def fit_many(
    frame: Any,
    by: str | Sequence[str],
    x: str | Sequence[str],
    y: str,
    *,
    out: str | os.PathLike[str],
    estimator: Any = None,
    fit_params: Mapping[str, str] | None = None,
    drop_missing: bool = False,
    models: str = "files",
    loo: bool = True,
    max_seconds: float | None = None,
    max_seconds_in_all: float | None = None,
    batch_size: int | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    overwrite: bool = False,
    progress: bool | None = None,
    **options: Any,
) -> ManyFits:
    """Fit every series of a table, each by itself; what is done is kept, and the same call again does the rest.

    Parameters
    ----------
    frame : frame, mapping or path
        All series, one row per observation: a frame (pandas, polars, pyarrow, Dask), a mapping of columns, or the name
        of a Parquet file or folder, which is read part by part, by the workers where there is a cluster.
    by : str or sequence of str
        Column or columns that tell series apart. Rows in which one of them is missing are left out, with a warning.
    x, y : str or sequence of str, and str
        Columns of the inputs (numbers or dates) and of the output.
    out : str or path
        Folder of the results. If it holds results of the same call, only what is missing, has failed or has another
        number of rows by now is fitted.
    estimator : estimator or class, default PoRBNetRegressor
        Any of the package's, as it would be used for one series. Its `random_state` is the seed of all: the seed of a
        series is made from it and the series' key.
    fit_params : mapping of str to str, optional
        Further arguments of `fit` that are columns, as {"sample_weight": "weight"}.
    drop_missing : bool
        Leave out rows with missing values. Otherwise a series that has some is a failure.
    models : {"files", "archive", "none"}
        Where models go: a file each, archives (tar) of a batch each, or nowhere.
    loo : bool
        Whether the table has leave-one-out: about a tenth of the time of a usual fit, a third of a short one.
    max_seconds : float, optional
        Time on the clock for a series: sampling then ends with what there is, as the estimator's parameter of this name
        has it. What is still not done after twice this time and five seconds, since it hangs, is ended and a failure.
        By default what the estimator says, and no such end.
    max_seconds_in_all : float, optional
        Of wall-clock time; what is not done by then is left for the next call.
    batch_size : int, optional
        Most series that a process or worker gets at once. By default up to 50, fewer if there are few.
    n_jobs : int, optional
        Processes on this machine, as in joblib; by default one per core.
    client : dask.distributed.Client or str, optional
        A cluster, or the address of its scheduler.
    overwrite : bool
        Begin anew if the folder holds results.
    progress : bool or None
        A bar over series with the time left; None: if standard error is a terminal.
    **options
        Parameters of the estimator, as lengthscale="constant" or random_state=1.

    Returns
    -------
    ManyFits
        With `table`, `failures`, `load`, `predict`, `plot`, `report`. The folder has table.csv, table.parquet,
        failures.csv and the models.

    Notes
    -----
    Ctrl-C and the end of `max_seconds_in_all` return what there is, with a warning. Series are fitted in processes of
    their own: one that fails, hangs or ends its process costs that series only. Results depend on the key and the data
    of a series and on the seed, not on order, partition, worker or engine; where time has ended sampling, how many
    draws there are depends on the machine.

    Examples
    --------
    >>> import numpy as np, tempfile, porbnet
    >>> time = np.tile(np.linspace(0, 1, 30), 2)
    >>> patient = np.repeat(["a", "b"], 30)
    >>> rate = np.sin(6 * time) + 0.1 * np.random.default_rng(0).standard_normal(60)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     fits = porbnet.fit_many(
    ...         {"patient": patient, "time": time, "rate": rate}, by="patient", x="time", y="rate",
    ...         out=folder, lengthscale="constant", n_draws=50, n_warmup=50, n_chains=2, random_state=0, n_jobs=1,
    ...     )
    ...     list(fits.table["patient"]), len(fits.failures), fits.load("a").predict([[0.5]]).shape
    (['a', 'b'], 0, (1,))
    """
    roles = Roles(columns("by", by), columns("x", x), _name("y", y), _also(fit_params), bool(drop_missing))
    _checks.choice("models", models, ("files", "archive", "none"))
    for name, value in (("max_seconds", max_seconds), ("max_seconds_in_all", max_seconds_in_all)):
        if value is not None:
            _checks.positive(name, value)
    if batch_size is not None:
        _checks.count("batch_size", batch_size)
    if not isinstance(out, str | os.PathLike) or not str(out):
        raise _checks.fail("out", out, "it must be the name of a folder")
    model, seed = _stated(estimator, options, max_seconds)
    source, jobs = source_of(frame, roles), _jobs(n_jobs)
    folder = Folder(Path(out).absolute())
    if overwrite:
        _clear(folder)
    asked: dict[str, Any] = {"by": list(roles.by), "x": list(roles.x), "y": roles.y, "fit_params": dict(roles.also),
             "drop_missing": roles.drop_missing, "estimator": _in_words(model), "seed": seed}  # fmt: skip
    with _cluster(client, frame) as found:
        asked = folder.begin(asked | {"seed": _entropy(seed, folder)})
        plan = Plan(
            uuid.uuid4().hex[:12], _pickled(model), roles, int(asked["seed"]), str(folder.place), models, bool(loo),
            None if max_seconds is None else 2.0 * max_seconds + _GRACE,
        )  # fmt: skip
        with locked(folder.place):
            run = ManyRun(plan, folder, source, found, jobs, batch_size, max_seconds_in_all, progress)
            return run.through()


def _name(name: str, value: Any) -> str:
    return columns(name, value)[0] if isinstance(value, str) else _refuse(name, value)


def _refuse(name: str, value: Any) -> str:
    raise _checks.fail(name, value, "it must be the name of a column")


def _also(given: Mapping[str, str] | None) -> dict[str, str]:
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(v, str) for pair in given.items() for v in pair):
        raise _checks.fail("fit_params", given, "it must be names of columns by the argument of fit that they are for")
    return dict(given)


def _jobs(n_jobs: int | None) -> int:
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, int | np.integer) or n_jobs == 0):
        raise _checks.fail("n_jobs", n_jobs, "it must be a whole number other than 0 (-1: all cores) or None")
    from joblib import effective_n_jobs

    return int(effective_n_jobs(-1 if n_jobs is None else int(n_jobs)))


def _stated(estimator: Any, options: dict[str, Any], max_seconds: float | None) -> tuple[Any, int | None]:
    """The estimator, checked as far as it can be without data, and the seed of all."""
    from sklearn.base import clone

    from porbnet.estimators.regressor import PoRBNetRegressor

    kind = PoRBNetRegressor if estimator is None else estimator
    model = kind() if isinstance(kind, type) else clone(kind)
    known = model.get_params(deep=False)
    for name in options:
        if name not in known:
            raise StatementError(f"{name}= is no argument of fit_many, and no parameter of {type(model).__name__}")
    model.set_params(**options)
    seed = model.random_state
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0):
        raise _checks.fail("random_state", seed, "for many series it must be a whole number of at least 0, or None")
    if getattr(model, "checkpoint", None) is not None:
        raise _checks.fail("checkpoint", model.checkpoint, "for many series it must be None: the folder is one")
    model.set_params(random_state=None)
    if max_seconds is not None and "max_seconds" in known:
        model.set_params(max_seconds=max_seconds)
    model._check_running()
    return model, None if seed is None else int(seed)


def _entropy(seed: int | None, folder: Folder) -> int:
    """The seed of all: as stated, else that of the folder, else a new one."""
    if seed is not None:
        return seed
    known = folder.asked()
    return int(known["seed"]) if known is not None else int(np.random.SeedSequence().generate_state(1)[0])


def _in_words(model: Any) -> dict[str, str]:
    """An estimator as text, without addresses in memory: to tell whether a folder holds fits of the same."""
    parameters = model.get_params(deep=False)
    running = ("n_jobs", "progress", "checkpoint", "checkpoint_seconds", "random_state", "max_seconds")
    told = {name: re.sub(r" at 0x[0-9a-fA-F]+", "", repr(v)) for name, v in parameters.items() if name not in running}
    return {"kind": type(model).__name__, **told}


def _pickled(model: Any) -> bytes:
    """With functions that were defined in a script or a notebook; joblib brings the means, inside it before 1.6."""
    try:
        import cloudpickle
    except ImportError:
        from joblib.externals import cloudpickle

    return bytes(cloudpickle.dumps(model))


def _clear(folder: Folder) -> None:
    """Forget earlier results; only what fit_many writes is removed."""
    if folder.asked() is None:
        return
    for name in (ROWS, MODELS):
        shutil.rmtree(folder.place / name, ignore_errors=True)
    for name in (ASKED, *WRITTEN):
        (folder.place / name).unlink(missing_ok=True)


@contextlib.contextmanager
def _cluster(client: Any, frame: Any) -> Iterator[Any]:
    """The client to use, or None for this machine; one that is made here is closed at the end."""
    if client is None and hasattr(frame, "to_delayed"):
        with contextlib.suppress(ImportError, ValueError):
            from distributed import get_client

            client = get_client()
    if client is not None and not isinstance(client, str) and not hasattr(client, "submit"):
        raise _checks.fail("client", client, "it must be a dask.distributed.Client or the address of a scheduler")
    with connected(client) if isinstance(client, str) else contextlib.nullcontext(client) as found:
        yield found
