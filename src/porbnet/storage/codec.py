"""Priors and parameters as JSON and back: a closed list of types, each rebuilt by its own constructor and its checks.

Arrays of more than a few numbers stand beside the JSON, in `arrays`; the JSON then has their name. A callable is not
expressible: an intensity given by one is saved as the table that the sampler worked with.
"""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base import checks as _checks
from porbnet.base.distributions import Gamma, InverseGamma, LogNormal
from porbnet.base.region import Region
from porbnet.errors import ModelFileError, PorbnetError, StatementError
from porbnet.functions.grid_gp import SQUARED_EXPONENTIAL
from porbnet.intensity import Constant, Intensity, Piecewise, SigmoidGP, Tabulated, UnknownConstant
from porbnet.intensity.tabulated import tabulate
from porbnet.likelihood import Likelihood, registered
from porbnet.sampling.published.options import PaperSampler
from porbnet.sampling.samplers import CollapsedSampler
from porbnet.statement.prior import Prior

Arrays = dict[str, NDArray[Any]]

_DATACLASSES = (Gamma, InverseGamma, LogNormal, PaperSampler)
_FEW = 16  # numbers that are written into the JSON itself


# --- out -----------------------------------------------------------------------------------------------------------


def encode(value: Any, arrays: Arrays, region: Region | None = None) -> Any:
    """A value as JSON, with large arrays put aside; `region` is where an intensity given by a callable is tabulated."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_ | np.integer | np.floating):
        value = value.item()
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return _number(value)
    if isinstance(value, list | tuple):
        return [encode(v, arrays, region) for v in value]
    if isinstance(value, np.ndarray):
        return _array(value, arrays)
    if isinstance(value, CollapsedSampler):
        return "collapsed"  # moves of a user's own are code, which no file holds
    if isinstance(value, Likelihood) and type(value) not in registered().values():
        raise StatementError(f"{_checks.show(value)} cannot be saved: porbnet.likelihood.register makes its name known")
    if isinstance(value, (*_DATACLASSES, Likelihood)):
        stated: Any = value
        return _typed(value, arrays, **{f.name: getattr(value, f.name) for f in dataclasses.fields(stated)})
    if isinstance(value, Region):
        return _typed(value, arrays, bounds=value.bounds.tolist())
    if isinstance(value, np.random.SeedSequence):
        return encode_seed(value)
    if isinstance(value, Intensity):
        return _intensity(value, arrays, region)
    raise StatementError(f"{_checks.show(value)} cannot be saved: porbnet's own types, numbers, words and arrays can")


def _number(value: float) -> Any:
    """JSON has no NaN and no infinities."""
    return value if math.isfinite(value) else {"type": "number", "value": str(value)}


def _array(value: NDArray[Any], arrays: Arrays) -> Any:
    if value.dtype.kind not in "iuf":
        raise StatementError(f"an array of type {value.dtype} cannot be saved: arrays of numbers can")
    if value.size <= _FEW and value.ndim < 2:
        return {"type": "array", "values": [encode(v, arrays) for v in np.atleast_1d(value).tolist()], "n": value.ndim}
    name = f"table{sum(key.startswith('table') for key in arrays)}"
    arrays[name] = value
    return {"type": "table", "name": name}


def _typed(value: Any, arrays: Arrays, **parts: Any) -> dict[str, Any]:
    return {"type": type(value).__name__, **{k: encode(v, arrays) for k, v in parts.items()}}


def _intensity(value: Intensity, arrays: Arrays, region: Region | None) -> dict[str, Any]:
    own = (Constant, UnknownConstant, Piecewise, Tabulated, SigmoidGP)
    if not isinstance(value, own) and value.known and region is not None:
        value = tabulate(value, region)  # what the sampler worked with
    if isinstance(value, Constant):
        return _typed(value, arrays, level=value.level)
    if isinstance(value, UnknownConstant):
        return _typed(value, arrays, shape=value.square.shape, rate=value.square.rate)
    if isinstance(value, Piecewise):
        return _typed(value, arrays, breaks=list(value.grid), values=value.values)
    if isinstance(value, Tabulated):
        return _typed(value, arrays, region=value.region.bounds.tolist(), values=value.values)
    if isinstance(value, SigmoidGP):
        parts = {name: getattr(value, name) for name in _MAKERS["SigmoidGP"][1]}
        if value.kernel != SQUARED_EXPONENTIAL:
            parts["kernel"] = value.kernel
        if value.mean != 0.0:
            parts["mean"] = value.mean
        return _typed(value, arrays, **parts)
    raise StatementError(f"lengthscale={_checks.show(value)} cannot be saved: porbnet's own intensities can")


def encode_prior(prior: Prior, arrays: Arrays) -> dict[str, Any]:
    """A whole statement."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a table that is not exact was mentioned when the fit began
        intensity = encode(prior.intensity, arrays, prior.region)
    return {
        "s0": prior.s0,
        "intensity": intensity,
        "anisotropy": encode(prior.anisotropy, arrays),
        "amplitude": encode(prior.amplitude, arrays),
        "bias": prior.bias,
        "noise": encode(prior.noise, arrays),
        "region": prior.region.bounds.tolist(),
        **({} if prior.trend is None else {"trend": encode(prior.trend, arrays)}),
    }


def encode_seed(seed: np.random.SeedSequence) -> dict[str, Any]:
    """A seed before anything was spawned from it."""
    entropy: Any = seed.entropy
    return {
        "type": "SeedSequence",
        "entropy": int(entropy) if np.ndim(entropy) == 0 else [int(e) for e in entropy],
        "spawn_key": [int(k) for k in seed.spawn_key],
        "pool_size": int(seed.pool_size),
    }


# --- and back ------------------------------------------------------------------------------------------------------


def _piecewise(breaks: Any, values: Any) -> Piecewise:
    return Piecewise(breaks[0] if np.ndim(values) == 1 else breaks, values)


def _maker(kind: Any) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """A dataclass and the names of its parts."""
    return kind, tuple(f.name for f in dataclasses.fields(kind))


_MAKERS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    **{c.__name__: _maker(c) for c in _DATACLASSES},
    "Region": (lambda bounds: Region.of(bounds), ("bounds",)),
    "Constant": (Constant, ("level",)),
    "UnknownConstant": (UnknownConstant, ("shape", "rate")),
    "Piecewise": (_piecewise, ("breaks", "values")),
    "Tabulated": (Tabulated, ("region", "values")),
    "SigmoidGP": (SigmoidGP, ("upper", "variance", "lengthscale", "refinement")),
}
_OPTIONAL = {"SigmoidGP": {"kernel", "mean"}}  # parts that older files do not have


def decode(value: Any, arrays: Arrays) -> Any:
    """What `encode` made, made again."""
    if isinstance(value, list):
        return [decode(v, arrays) for v in value]
    if not isinstance(value, dict):
        return value
    kind, parts = value.get("type"), {k: v for k, v in value.items() if k != "type"}
    if kind == "number" and parts.get("value") in ("nan", "inf", "-inf"):
        return float(parts["value"])
    if kind == "array" and set(parts) == {"values", "n"}:
        return _small_array(decode(parts["values"], arrays), parts["n"])
    if kind == "table" and isinstance(parts.get("name"), str) and parts["name"] in arrays:
        return arrays[parts["name"]]
    if kind == "SeedSequence":
        return decode_seed(value)
    makers = _MAKERS | {name: _maker(made) for name, made in registered().items()}
    if not isinstance(kind, str) or kind not in makers:
        raise ModelFileError(f"its header states a {str(kind)[:40]!r}, which porbnet does not know")
    make, names = makers[kind]
    if set(parts) - _OPTIONAL.get(kind, set()) != set(names):
        raise ModelFileError(f"its header states a {kind} with other parts than {', '.join(names)}")
    return guarded(kind, lambda: make(**{k: decode(v, arrays) for k, v in parts.items()}))


def _small_array(values: Any, n_dims: Any) -> NDArray[Any]:
    array = np.asarray(values)
    sound = isinstance(values, list) and len(values) <= _FEW and array.ndim == 1 and array.dtype.kind in "iuf"
    if not sound or n_dims not in (0, 1) or (n_dims == 0 and len(values) != 1):
        raise ModelFileError("its header has an array that is none")
    return array if n_dims == 1 else array.reshape(())


def guarded(what: str, make: Callable[[], Any]) -> Any:
    """What `make` returns; complaints about arguments become complaints about the file. Warnings were given once."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return make()
    except ModelFileError:
        raise
    except (PorbnetError, ValueError, TypeError, ArithmeticError, LookupError, AttributeError) as error:
        raise ModelFileError(f"it states a {what} that is not allowed ({error})") from error


def decode_prior(stated: Any, arrays: Arrays) -> Prior:
    """A whole statement, checked as one that a user makes."""
    names = {"s0", "intensity", "anisotropy", "amplitude", "bias", "noise", "region"}
    if not isinstance(stated, dict) or set(stated) - {"trend"} != names:
        raise ModelFileError("its header has no prior")

    def make() -> Prior:
        parts = {k: decode(v, arrays) for k, v in stated.items()}
        region = Region.of(parts["region"])
        allowed = f"it must be {region.n_dims} positive finite numbers"
        anisotropy = _checks.positive_array("anisotropy", parts["anisotropy"], allowed)
        if anisotropy.shape != (region.n_dims,) or not isinstance(parts["intensity"], Intensity):
            raise _checks.fail("anisotropy", parts["anisotropy"], allowed + ", and there must be an intensity")
        prior = Prior.__new__(Prior)
        prior._state(
            _checks.positive("s0", parts["s0"]), parts["intensity"], anisotropy, parts["amplitude"], parts["bias"],
            parts["noise"], region, parts.get("trend"),
        )  # fmt: skip
        return prior

    prior: Prior = guarded("prior", make)
    return prior


def decode_seed(stated: Any) -> np.random.SeedSequence:
    """A seed from which nothing was spawned yet."""
    if not isinstance(stated, dict) or set(stated) != {"type", "entropy", "spawn_key", "pool_size"}:
        raise ModelFileError("its header has no seed")
    entropy, key, size = stated["entropy"], stated["spawn_key"], stated["pool_size"]
    words = [*(entropy if isinstance(entropy, list) else [entropy]), *(key if isinstance(key, list) else [None]), size]
    if (
        not all(isinstance(w, int) and not isinstance(w, bool) and 0 <= w < 2**256 for w in words)
        or not 4 <= size <= 64
    ):
        raise ModelFileError("its seed is not made of whole numbers")
    seed: np.random.SeedSequence = guarded(
        "seed", lambda: np.random.SeedSequence(entropy, spawn_key=tuple(key), pool_size=size)
    )
    return seed
