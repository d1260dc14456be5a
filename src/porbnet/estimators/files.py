"""From files back to an estimator: `load` a saved model, `resume` a fit from its checkpoint."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import numpy as np

from porbnet.base import checks as _checks
from porbnet.errors import ModelFileError, StatementError
from porbnet.estimators.binary import BinaryFit
from porbnet.estimators.classifier import PoRBNetClassifier
from porbnet.estimators.counts import PoRBNetCountRegressor
from porbnet.estimators.regressor import PoRBNetRegressor
from porbnet.storage import checkpoint
from porbnet.storage.model import read_models
from porbnet.storage.start import Start

_KINDS: dict[str, type[PoRBNetRegressor]] = {
    "PoRBNetRegressor": PoRBNetRegressor,
    "PoRBNetClassifier": BinaryFit,
    "PoRBNetCountRegressor": PoRBNetCountRegressor,
}


def load(path: str | os.PathLike[str]) -> Any:
    """A model saved by the method `save` of an estimator; it predicts what the saved one did, bit for bit.

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
    found = read_models(_path("path", path), _parameter_names())
    models = []
    for saved in found:
        model = _estimator(saved.start, os.fspath(path))
        model.prior_, model.offset_ = saved.start.problem.prior, saved.start.offset
        model.posterior_, model.diagnostics_ = saved.posterior, saved.diagnostics
        models.append(model)
    return _whole(models, os.fspath(path))


def resume(
    folder: str | os.PathLike[str],
    *,
    max_seconds: Literal["auto"] | float | None = "auto",
    n_jobs: int | None = -1,
    progress: bool | None = None,
) -> Any:
    """Go on with a fit that was interrupted or killed, or whose time was over, from its checkpoint to its end.

    The draws are those of a fit that ran through, bit for bit (on the same machine and with the same versions).

    Parameters
    ----------
    folder : str or path
        The `checkpoint` of the fit.
    max_seconds : "auto", float or None
        Time to go on for; "auto": as much as the fit had.
    n_jobs : int or None, default -1
        As in `PoRBNetRegressor`.
    progress : bool or None
        As in `PoRBNetRegressor`.

    Returns
    -------
    PoRBNetRegressor, PoRBNetClassifier or PoRBNetCountRegressor
        Fitted. If the fit was done already, no sweep is made.

    Raises
    ------
    porbnet.errors.ModelFileError
        If the checkpoint is not whole.
    porbnet.errors.StorageError
        If there is none, or another process works on it.
    """
    place = Path(_path("folder", folder))
    parts = sorted(place.glob("class*/fit.npz"), key=lambda p: (len(p.parent.name), p.parent.name))
    reopened = [checkpoint.reopen(part, _parameter_names()) for part in [p.parent for p in parts] or [place]]
    models = []
    for start, root, keeper in reopened:
        model = _estimator(start, keeper.place)
        model.set_params(n_jobs=n_jobs, progress=progress, checkpoint=folder)
        if not (isinstance(max_seconds, str) and max_seconds == "auto"):
            model.set_params(max_seconds=max_seconds)
        model._check_running()
        models.append(model._sample(start.problem, start.offset, root, keeper))
    return _whole(models, os.fspath(folder))


def _path(name: str, value: Any) -> str | os.PathLike[str]:
    if not isinstance(value, str | os.PathLike) or not str(value):
        raise _checks.fail(name, value, "it must be the name of a file or folder")
    return value


def _parameter_names() -> dict[str, set[str]]:
    return {name: set(kind().get_params(deep=False)) for name, kind in _KINDS.items()}


def _whole(models: list[PoRBNetRegressor], name: str) -> Any:
    """The estimator that fits are part of."""
    first = models[0]
    if not isinstance(first, BinaryFit):
        if len(models) > 1:
            raise ModelFileError(f"{name!r} is refused: it has several fits, which only a classifier has")
        return first
    classes, kind, _ = first.class_
    wanted = [1] if len(classes) == 2 else list(range(len(classes)))
    found = [m.class_ if isinstance(m, BinaryFit) else None for m in models]
    if found != [[classes, kind, place] for place in wanted]:
        raise ModelFileError(f"{name!r} is refused: its fits are not those of its {len(classes)} classes")
    whole = PoRBNetClassifier(**first.get_params(deep=False))
    return whole._take(np.array(classes, dtype=object if kind == "O" else None), models)  # type: ignore[arg-type]


def _estimator(start: Start, name: str) -> PoRBNetRegressor:
    """An estimator with the parameters of a file, as after `fit` has seen the data."""
    model = _KINDS[start.estimator](**start.parameters)
    try:
        model._check_running()
    except StatementError as error:
        raise ModelFileError(f"{name!r} is refused: {error}") from error
    model.n_features_in_ = start.problem.X.shape[1]
    if start.features is not None:
        model.feature_names_in_ = np.array(start.features, dtype=object)
    if start.labels is not None:
        model.labels_ = start.labels
    if start.of_class is not None:
        model.class_ = start.of_class  # type: ignore[attr-defined]
    model._remember_dates(start.dates)
    model._remember_choice(start.choice)
    return model
