"""Whether numbers from a file can be those of a chain: rules for draws, and for the snapshot of a chain's state.

Compiled code trusts what it is given: an index out of range ends the process, a value out of range ends in NaN or in a
loop that never does. What a file says is therefore held, name by name, against the state of a chain that was just made
for the same problem, and against itself. Complaints are `ValueError`s that name the array.

Ranges are far wider than what sampling can reach, and narrow enough that squares and products of them are numbers.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from porbnet.base.checks import FloatArray
from porbnet.kernels.state import MOST_UPDATES, padded
from porbnet.likelihood.base import Drawn
from porbnet.sampling.chain import MOST_KEPT, BaseChain
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.problem import Problem

Snapshot = dict[str, NDArray[Any]]

LEAST, MOST = 1e-50, 1e50  # of what is positive, and of the size of anything else
_MOST_CARRIED = 1e100  # of matrices and sums
_MOST_WHITENED = 1e3  # of coefficients whose prior is N(0, 1)
_MOST_LOG_STEP = 50.0
_MOST_BYTES = 2**36  # that room for units may take
_LEAST_RELATIVE = 1e-300  # intensity over its upper level
_LEAST_ACCEPTED = 1e-8  # share of places drawn uniformly that an intensity accepts: a search for one must end
_MOST_SWEEPS = 10**12
_MOST_PLACES = 30  # at which a noise curve is looked at
_MOST_DENSITY = 1e7  # units, of the table by which windows are laid
_SLACK = 1e-9  # of the box's edges
_CLOSE = 1e-6  # of what follows from something else
_GRAM = 0.01  # of the Gram matrix, whose diagonal may have been raised

_BY_UNIT = ("owner", "centers", "relative", "scales", "low", "high", "weights", "thinned")  # in a snapshot
_POSITIVE = ("relative", "scales", "root", "integral", "plug_integral", "rows.count")
_NOT_NEGATIVE = ("tried", "accepted", "forced", "n_sweeps", "square", "plug")
_UNBOUNDED = ("drift",)  # only shown


# --- draws ----------------------------------------------------------------------------------------------------------


def check_draws(draws: ChainDraws, problem: Problem) -> None:
    """Raise `ValueError` if numbers of draws, whose shapes and types are right, are out of range."""
    with np.errstate(all="ignore"):
        _check_draws(draws, problem)


def _check_draws(draws: ChainDraws, problem: Problem) -> None:
    for name, array in vars(draws).items():
        if array.dtype.kind == "f":
            _sized(f"draws of {name}", array, MOST)
    for name in ("values", "relative"):
        if np.any(getattr(draws, name) < LEAST):
            raise ValueError(f"draws of {name} that are not above zero, or next to nothing")
    _sized("draws of curves", draws.curves, _MOST_WHITENED)
    if not problem.likelihood.kept_is_sound(draws.kept):
        raise ValueError("draws of kept that the likelihood cannot have")
    if problem.likelihood.varies and len(draws):
        _check_noise_curves(draws, problem)
    for i, component in enumerate(problem.components):
        _in_box("draws of centers", draws.centers[draws.owner == i, : len(component.x)], component.widths)
    if problem.components[0].process is not None and len(draws):
        levels = problem.components[0].process.values_at(draws.curves, _places(problem), expit)
        if not np.all((levels >= _LEAST_RELATIVE) & (levels <= 1.0)):
            raise ValueError("draws of curves that make an intensity of zero")


def _check_noise_curves(draws: ChainDraws, problem: Problem) -> None:
    """The noise is a number all over the data, and at the corners of the region."""
    scaling, region = problem.scaling, problem.prior.region
    places = _places(problem)
    values = {p.name: p.natural(draws.values[:, i], scaling) for i, p in enumerate(problem.parameters)}
    drawn = Drawn(values, draws.kept.astype(np.float64), region)
    sd = problem.likelihood.sd_at(drawn, places)
    if not np.all((sd >= LEAST * scaling.y_scale) & (sd <= MOST * scaling.y_scale)):
        raise ValueError("draws of kept that make a noise of zero or beyond all measure")


def _places(problem: Problem) -> FloatArray:
    """Some of the inputs, and two corners of the region, shape (n_places, n_dims)."""
    region = problem.prior.region
    spread = np.linspace(0, problem.n_points - 1, min(_MOST_PLACES, problem.n_points)).astype(np.int64)
    return np.concatenate([problem.inputs[spread], [region.low, region.high]])


# --- a chain's state ------------------------------------------------------------------------------------------------


def check_snapshot(saved: Snapshot, fresh: Snapshot, chain: BaseChain, n_draws: int) -> None:
    """Raise `ValueError` if a snapshot cannot be one of a chain.

    Parameters
    ----------
    saved : arrays by name
    fresh : the snapshot of `chain` itself
    chain : the chain that it is to be put into, just made
    n_draws : draws that come with it
    """
    with np.errstate(all="ignore"):
        _check_snapshot(saved, fresh, chain, n_draws)


def _check_snapshot(saved: Snapshot, fresh: Snapshot, chain: BaseChain, n_draws: int) -> None:
    for name in fresh:
        if name not in saved:
            raise ValueError(f"it has no {name}")
    for name, array in saved.items():
        if name not in fresh:
            raise ValueError(f"it has {name!r}, which is no part of it")
        if array.dtype != fresh[name].dtype or array.ndim != fresh[name].ndim:
            raise ValueError(f"{name} is of another type or has other dimensions")
    _check_shapes(saved, fresh, chain)
    for name, array in saved.items():
        _check_numbers(name, array)
    _check_sweeps(saved, chain, n_draws)
    _check_generator(saved["generator"], chain)
    _check_values(saved, fresh, chain)
    _check_steps(saved, fresh)
    _check_rows(saved, fresh, chain.rows)
    for i in range(len(chain.problem.components)):
        _check_curve(saved, fresh, chain.problem, i)
    _check_units(saved, chain.rows)


def _check_shapes(saved: Snapshot, fresh: Snapshot, chain: BaseChain) -> None:
    """Shapes are those of the fresh state, but for the number of units and the room for them."""
    then, now = _lengths(fresh), _lengths(saved)
    _check_room(now["n"], saved, chain)
    if "units" in saved and not 0 <= now["n"] < chain.capacity:
        raise ValueError(f"it has {now['n']} units and room for {chain.capacity}")
    for name, array in saved.items():
        last, wanted = _last(name), fresh[name].shape
        if last in ("generator", "columns"):  # looked at below
            continue
        varies = name.startswith("units.") or last in _BY_UNIT
        for d, (length, known) in enumerate(zip(array.shape, wanted, strict=True)):
            if last == "thinned" and d == 0:
                continue  # as many as there are
            free = varies and (d == 0 or last not in _BY_UNIT)
            allowed = {now[k] for k in then if then[k] == known} if free else set()
            if length not in (allowed or {known}):
                raise ValueError(f"{name} has shape {array.shape}, which does not fit the others")


def _lengths(snapshot: Snapshot) -> dict[str, int]:
    """Lengths that depend on the number of units."""
    n = int(snapshot["units"][0]) if "units" in snapshot else len(snapshot["weights"])
    return {"n": n, "with the bias": n + 1, "used": padded(n + 1)}


def _check_room(n_units: int, saved: Snapshot, chain: BaseChain) -> None:
    """Room for the units there are, and for those of the next sweep, which the intensities' levels decide."""
    level = sum(float(saved["values"][c.level]) for c in chain.problem.components)
    for name, n in (("units", n_units), ("values", 4.0 * level)):
        if not 0 <= n < 2**31 or 8.0 * n * (8.0 * n + 3.0 * chain.rows.n_points) > _MOST_BYTES:
            raise ValueError(f"{name} asks for room for {n:.3g} units, which is more than can be had")


def _check_numbers(name: str, array: NDArray[Any]) -> None:
    last = _last(name)
    if array.dtype.kind == "f" and last not in _UNBOUNDED:
        _sized(name, array, _MOST_CARRIED)
        if (last in _POSITIVE or name in _POSITIVE) and np.any((array < LEAST) | (array > MOST)):
            raise ValueError(f"{name} has a number that is not above zero, next to nothing or beyond all measure")
    if last in _NOT_NEGATIVE and np.any(array < 0):
        raise ValueError(f"{name} has a number below zero")


def _check_sweeps(saved: Snapshot, chain: BaseChain, n_draws: int) -> None:
    n_sweeps, thin = int(saved["n_sweeps"][0]), int(saved["thin"][0])
    doubled = thin // chain.thin if thin > 0 else 0
    if thin != doubled * chain.thin or doubled & (doubled - 1) or (doubled != 1 and chain.goal is None):
        raise ValueError(f"thin is {thin}, which does not come from {chain.thin}")
    most = chain.total_sweeps if chain.goal is None else _MOST_SWEEPS
    if not 0 <= n_sweeps <= most or n_draws != max(0, n_sweeps - chain.n_warmup) // thin:
        raise ValueError(f"n_sweeps is {n_sweeps}, of {most} in all, and there are {n_draws} draws")
    if chain.goal is not None and n_draws >= MOST_KEPT:
        raise ValueError(f"there are {n_draws} draws, more than are kept")


def _check_generator(text: NDArray[np.uint8], chain: BaseChain) -> None:
    """The state of the random generator: as the fresh one's, with other whole numbers."""
    if text.size > 10_000:
        raise ValueError("generator is too long")
    try:
        stated = json.loads(text.tobytes().decode())
    except (ValueError, RecursionError):
        raise ValueError("generator cannot be understood") from None

    def same(a: Any, b: Any) -> bool:
        if isinstance(b, dict):
            return isinstance(a, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in b)
        if isinstance(b, int):
            return isinstance(a, int) and not isinstance(a, bool) and 0 <= a < 2**128
        return type(a) is type(b) and bool(a == b)

    if not same(stated, dict(chain.rng.bit_generator.state)):
        raise ValueError("generator is not the state of this one")


def _check_values(saved: Snapshot, fresh: Snapshot, chain: BaseChain) -> None:
    values = saved["values"]
    if np.any(values < LEAST) or np.any(values > MOST):
        raise ValueError("values has a noise, amplitude, level or other parameter out of range")
    for i, parameter in enumerate(chain.problem.parameters):
        if parameter.known and not np.isclose(values[i], fresh["values"][i], rtol=_CLOSE, atol=0.0):
            raise ValueError(f"values has another {parameter.name} than the one that is stated")


def _check_steps(saved: Snapshot, fresh: Snapshot) -> None:
    """Step sizes, which are lengths in one sampler and logarithms in the other."""
    steps, first = saved["tuning.steps"], fresh["tuning.steps"]
    if np.all(first > 0.0):
        if np.any((steps < LEAST) | (steps > MOST)):
            raise ValueError("tuning.steps has a step that is not above zero or beyond all measure")
    else:
        _sized("tuning.steps", steps, _MOST_LOG_STEP)
    if not 1 <= saved["tuning.patience"][0] <= MOST_UPDATES:
        raise ValueError(f"tuning.patience is not between 1 and {MOST_UPDATES}")
    if not 0.0 <= saved["tuning.adapt"][0] <= 1.0:
        raise ValueError("tuning.adapt is not between 0 and 1")
    if np.any(saved["tuning.accepted"] > saved["tuning.tried"]):
        raise ValueError("tuning.accepted counts more than were tried")
    if "dual" in saved:
        _sized("dual", saved["dual"][:, :2], _MOST_LOG_STEP)
        if np.any(saved["dual"][:, 3] < 0.0):
            raise ValueError("dual counts below zero")


def _check_rows(saved: Snapshot, fresh: Snapshot, problem: Problem) -> None:
    """Rows that no augmentation moves are those of the data; others fit together."""
    carried = [name for name in saved if name.startswith("rows.")]
    line: Any = 0.0
    if problem.n_slopes:
        (component,) = problem.components
        line = saved["rows.slopes"] @ (component.x - 0.5 * component.widths[:, None])
        _close("rows.line", saved["rows.line"], line)
    if problem.likelihood.augment is None and not problem.n_slopes:
        for name in carried:
            _close(name, saved[name], fresh[name])
    elif {"rows.y", "rows.outputs", "rows.root", "rows.square"} <= set(carried):
        if problem.likelihood.augment is None:
            for name in ("rows.outputs", "rows.root", "rows.log_root"):
                _close(name, saved[name], fresh[name])
        y = saved["rows.y"]
        _close("rows.y", y, (saved["rows.outputs"] - line) * saved["rows.root"])
        within = 0.0 if problem.stands_for is None else problem.stands_for.within
        _close("rows.square", saved["rows.square"], np.sum(y * y + within * saved["rows.root"] ** 2))
    if "errors.kept" in saved and not problem.likelihood.kept_is_sound(saved["errors.kept"][None]):
        raise ValueError("errors.kept has a number that the likelihood cannot have")
    for name, array in saved.items():
        if _last(name) == "z":
            _sized(name, array, _MOST_WHITENED)
        # where things are does not change, unless a likelihood from outside has whole numbers of another kind
        ours = name.startswith("errors.") and type(problem.likelihood).__module__.startswith("porbnet.")
        if ours and array.dtype.kind == "i" and not np.array_equal(array, fresh[name]):
            raise ValueError(f"{name} is not that of this likelihood")
        if name == "errors.curve.table" and hasattr(problem.likelihood, "process"):
            process = problem.likelihood.process(problem.prior.region)
            _close(name, array, process.expand(saved["errors.curve.z"][None]).ravel())


def _check_curve(saved: Snapshot, fresh: Snapshot, problem: Problem, i: int) -> None:
    """The intensity of component i: as stated, or that of the curve's coefficients."""
    setting, prefix = problem.components[i], f"components{i}."
    z = saved.get(prefix + "curve.z", saved.get("z"))
    parts = [name for name in saved if name.startswith(prefix + "shape.")]
    if setting.process is None or z is None:
        for name in parts:
            _close(name, saved[name], fresh[name])
        return
    table = setting.process.expand(z[None]).ravel()
    values = 1.0 / (1.0 + np.exp(np.minimum(-table, 690.0)))
    if np.mean(values) < _LEAST_ACCEPTED:
        raise ValueError(f"{prefix}curve.z makes an intensity that is zero next to everywhere")
    expected = {"curve.table": table, "shape.values": values}
    for name, wanted in expected.items():
        if prefix + name in saved:
            _close(prefix + name, saved[prefix + name], wanted)
    for name in (prefix + "shape.integral", "plug_integral"):
        if name in saved and not LEAST <= saved[name][0] <= 1.0 + _CLOSE:
            raise ValueError(f"{name} is not the integral of an intensity")
    if "plug" in saved and np.any(saved["plug"] > 1.0 + _CLOSE):
        raise ValueError("plug has an intensity above its bound")


def _check_units(saved: Snapshot, problem: Problem) -> None:
    """Places of units, their windows, and what is carried of their columns."""
    if "units.owner" not in saved:
        for name in ("centers", "thinned"):
            _in_box(name, saved[name], problem.components[0].widths)
        return
    n, updates = (int(v) for v in saved["units"])
    if not -1 <= updates < 2**31:
        raise ValueError("units counts impossible updates")
    if saved["drawn"][0] not in (0, 1):
        raise ValueError("drawn is neither 0 nor 1")
    owner = saved["units.owner"]
    if np.any((owner < 0) | (owner >= len(problem.components))):
        raise ValueError("units.owner names a component that is not there")
    for i, setting in enumerate(problem.components):
        mine = saved["units.centers"][:n][owner[:n] == i]
        _in_box("units.centers", mine[:, : len(setting.x)], setting.widths)
    if "units.low" in saved:
        low, high = saved["units.low"], saved["units.high"]
        if np.any((low < 0) | (high < low) | (high > problem.n_points)):
            raise ValueError("units.low or units.high lies outside the observations")
    else:
        _check_windows(saved, n)
    for name in ("order", "first"):
        places = saved.get(f"units.{name}", np.zeros(0, np.int64))[: n + 1]
        if np.any((places < 0) | (places > n)) or (name == "first" and np.any(places > np.arange(len(places)))):
            raise ValueError(f"units.{name} has a place beyond the units")
        if name == "order" and updates >= 0 and len(np.unique(places)) != len(places):
            raise ValueError("units.order has a place twice")
    if "units.columns" in saved:
        _check_columns(saved, problem, n)


def _check_windows(saved: Snapshot, n: int) -> None:
    """Units from left to right, and the table by which windows are laid."""
    if np.any(np.diff(saved["units.centers"][:n, 0]) < 0.0):
        raise ValueError("units.centers do not stand from left to right")
    density = saved["visit.density"]
    if np.any(density < 0.0) or not 0.0 < density.sum() < _MOST_DENSITY:
        raise ValueError("visit.density is no table of how many units there are near each knot")


def _check_columns(saved: Snapshot, problem: Problem, n: int) -> None:
    """Columns are as long as their windows, and the Gram matrix and the moments are those of the columns."""
    low, high, packed = saved["units.low"][:n], saved["units.high"][:n], saved["units.columns"]
    if len(packed) != int(np.sum(high - low)):
        raise ValueError("units.columns has another length than the windows of the units")
    if "units.gram" not in saved or "rows.root" not in saved:
        return
    design = np.zeros((n + 1, problem.n_points))
    design[0] = saved["rows.root"] if problem.prior.bias > 0 else 0.0
    at = 0
    for k in range(n):
        length = int(high[k] - low[k])
        design[k + 1, low[k] : high[k]] = packed[at : at + length]
        at += length
    gram = saved["units.gram"][: n + 1, : n + 1].copy()
    gram[0, 1:] = gram[1:, 0] = saved["units.with_bias"]
    wanted = design @ design.T
    size = np.sqrt(np.diag(wanted))
    if np.any(np.abs(gram - wanted) > _GRAM * np.outer(size, size) + 1e-200):
        raise ValueError("units.gram is not the Gram matrix of units.columns")
    if "units.moment" in saved and "rows.y" in saved:
        y = saved["rows.y"]
        if np.any(np.abs(saved["units.moment"][: n + 1] - design @ y) > _CLOSE * size * np.linalg.norm(y) + 1e-200):
            raise ValueError("units.moment is not that of units.columns and rows.y")


# --- helpers --------------------------------------------------------------------------------------------------------


def _last(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def _sized(name: str, array: NDArray[Any], most: float) -> None:
    if not np.all(np.abs(array.astype(np.float64, copy=False)) <= most):  # NaN is not
        raise ValueError(f"{name} with a number beyond {most:.0e} or that is none")


def _in_box(name: str, centers: FloatArray, widths: FloatArray) -> None:
    if np.any(centers < -_SLACK) or np.any(centers > widths * (1.0 + _SLACK)):
        raise ValueError(f"{name} outside the region")


def _close(name: str, found: NDArray[Any], wanted: Any) -> None:
    if not np.allclose(found, wanted, rtol=_CLOSE, atol=_CLOSE * (1.0 + float(np.max(np.abs(wanted), initial=0.0)))):
        raise ValueError(f"{name} does not follow from the rest")
