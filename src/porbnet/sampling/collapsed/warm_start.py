"""Begin a chain where another stands, on other rows or under another statement: for a refit after a small change.

Any state is a place to begin from: what the sampler leaves invariant does not depend on it. So whatever of the other
chain has a meaning for this one is taken over, in the units of the data, and all else stays as the chain was made.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from porbnet.intensity.tabulated import interpolate
from porbnet.sampling.collapsed.lean_chain import LeanChain
from porbnet.statement.moments import scale_of


def begin_where(chain: LeanChain, other: LeanChain) -> bool:
    """Put a chain that has made no sweep where another stands; returns whether there was anything to take over.

    Parameters what are unknown to both, the curve of the lengthscale if both have one on knots alike, the units that
    lie in the region, and step sizes.
    """
    mine, theirs = chain.problem, other.problem
    if len(mine.components) != 1 or len(theirs.components) != 1 or mine.most_dims != theirs.most_dims:
        return False
    if chain.source is not None:  # rows made for units of some sharpness: those of the chain's own start
        return False
    _take_parameters(chain, other)
    _take_curve(chain, other)
    _take_units(chain, other)
    if chain.state.tuning.steps.shape == other.state.tuning.steps.shape:
        chain.state.tuning.steps[:] = other.state.tuning.steps
    chain.begin_anew()
    return True


def _take_parameters(chain: LeanChain, other: LeanChain) -> None:
    theirs = {p.name: i for i, p in enumerate(other.problem.parameters)}
    for i, parameter in enumerate(chain.problem.parameters):
        j = theirs.get(parameter.name)
        if j is None or parameter.known:
            continue
        natural = other.problem.parameters[j].natural(other.state.values[j : j + 1], other.problem.scaling)
        one = parameter.natural(np.ones(1), chain.problem.scaling)
        value = float(natural[0] / one[0])
        if np.isfinite(parameter.log_density(np.array([value]), chain.problem.scaling)[0]):
            chain.state.values[i] = value


def _take_curve(chain: LeanChain, other: LeanChain) -> None:
    component, setting = chain.state.components[0], chain.problem.components[0]
    z, theirs = component.curve.z, other.state.components[0].curve.z
    if setting.process is None or len(z) == 0 or z.shape != theirs.shape:
        return
    z[:] = theirs
    component.curve.table[:] = setting.process.expand(z[None]).ravel()
    component.shape.values[:] = expit(component.curve.table)
    component.shape.integral = float(component.curve.area @ component.shape.values)


def _take_units(chain: LeanChain, other: LeanChain) -> None:
    problem, setting = chain.problem, chain.problem.components[0]
    standing = other.state.units
    centers = problem.scaling.inputs(other.problem.scaling.centers(standing.centers[: standing.n]))
    centers = centers[np.all((centers >= 0.0) & (centers <= setting.widths), axis=1)]
    centers = centers[np.argsort(centers[:, 0], kind="stable")]
    n = len(centers)
    chain.make_room_for(n)
    relative = _relative(chain, centers)
    units, level = chain.state.units, float(chain.state.values[setting.level])
    units.n = n
    units.owner[:n] = 0
    units.centers[:n] = centers
    units.relative[:n] = relative
    units.scales[:n] = scale_of(level * relative, setting.s0, problem.most_dims)


def _relative(chain: LeanChain, centers: np.ndarray) -> np.ndarray:
    """The intensity over its level at centers, by the chain's own table."""
    setting, shape = chain.problem.components[0], chain.state.components[0].shape
    if setting.relative.kind == "constant":
        return np.ones(len(centers))
    places = chain.problem.scaling.centers(centers)
    if setting.relative.kind == "table":
        table = np.asarray(shape.values).reshape(setting.relative.values.shape)
        return interpolate(table[None], chain.problem.prior.region, places, np.zeros(len(places), dtype=np.int64))
    index = [np.searchsorted(b, places[:, d], side="right") for d, b in enumerate(setting.relative.breaks)]
    return np.asarray(setting.relative.values[tuple(index)], dtype=np.float64)
