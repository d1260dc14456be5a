"""From files back to an estimator: `load` a saved model, `resume` a fit from its checkpoint."""

from __future__ import annotations

import os
from typing import Any

from porbnet.base import checks as _checks
from porbnet.errors import ModelFileError, StatementError
from porbnet.estimators.regressor import PoRBNetRegressor
from porbnet.storage import checkpoint
from porbnet.storage.model import read_model
from porbnet.storage.start import Start


def load(path: str | os.PathLike[str]) -> PoRBNetRegressor:
    """A model saved by `PoRBNetRegressor.save`; it predicts what the saved one did, bit for bit.

    Parameters
    ----------
    path : str or path

    Raises
    ------
    porbnet.errors.ModelFileError
        If the file is not a saved model, is damaged, or is of a newer version. Nothing in a file is ever executed.
    porbnet.errors.StorageError
        If it cannot be read.

    Examples
    --------
    >>> import numpy as np, os, tempfile, porbnet
    >>> x = np.linspace(0, 1, 20)[:, None]
    >>> model = porbnet.PoRBNetRegressor(0.3, noise=0.1, random_state=0).fit(x, np.sin(6 * x[:, 0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "model.npz"))
    ...     same = porbnet.load(os.path.join(folder, "model.npz"))
    >>> bool((same.predict(x) == model.predict(x)).all())
    True
    """
    saved = read_model(_path("path", path), _parameter_names())
    model = _estimator(saved.start, os.fspath(path))
    model.prior_, model.offset_ = saved.start.problem.prior, saved.start.offset
    model.posterior_, model.diagnostics_ = saved.posterior, saved.diagnostics
    return model


def resume(
    folder: str | os.PathLike[str], *, n_jobs: int | None = -1, progress: bool | None = None
) -> PoRBNetRegressor:
    """Go on with a fit that was interrupted or killed, from its checkpoint to its end.

    The draws are those of a fit that ran through, bit for bit (on the same machine and with the same versions).

    Parameters
    ----------
    folder : str or path
        The `checkpoint` of the fit.
    n_jobs : int or None, default -1
        As in `PoRBNetRegressor`.
    progress : bool or None
        As in `PoRBNetRegressor`.

    Returns
    -------
    PoRBNetRegressor
        Fitted. If the fit was done already, no sweep is made.

    Raises
    ------
    porbnet.errors.ModelFileError
        If the checkpoint is not whole.
    porbnet.errors.StorageError
        If there is none, or another process works on it.
    """
    start, root, keeper = checkpoint.reopen(_path("folder", folder), _parameter_names())
    model = _estimator(start, keeper.place)
    model.set_params(n_jobs=n_jobs, progress=progress, checkpoint=folder)
    model._check_running()
    return model._sample(start.problem, start.offset, root, keeper)


def _path(name: str, value: Any) -> str | os.PathLike[str]:
    if not isinstance(value, str | os.PathLike) or not str(value):
        raise _checks.fail(name, value, "it must be the name of a file or folder")
    return value


def _parameter_names() -> set[str]:
    return set(PoRBNetRegressor().get_params(deep=False))


def _estimator(start: Start, name: str) -> PoRBNetRegressor:
    """An estimator with the parameters of a file, as after `fit` has seen the data."""
    model = PoRBNetRegressor(**start.parameters)
    try:
        model._check_running()
    except StatementError as error:
        raise ModelFileError(f"{name!r} is refused: {error}") from error
    model.n_features_in_ = start.problem.X.shape[1]
    if start.features is not None:
        import numpy as np

        model.feature_names_in_ = np.array(start.features, dtype=object)
    if start.labels is not None:
        model.labels_ = start.labels
    model._remember_dates(start.dates)
    return model
