"""Saved models: a fit with its data, statement, draws and diagnostics in one file."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from porbnet.errors import ModelFileError
from porbnet.posterior.diagnostics import Diagnostics, Row
from porbnet.posterior.posterior import Posterior
from porbnet.sampling.draws import PER_UNIT, ChainDraws
from porbnet.sampling.driver import ChainResult
from porbnet.sampling.problem import Problem
from porbnet.sampling.soundness import check_draws
from porbnet.storage import archive
from porbnet.storage.codec import Arrays, decode, encode
from porbnet.storage.start import PER_ROW, Known, Start, read_start, start_header

KIND, VERSION = "porbnet model", 3
_MOST_FITS = 1000
_FIELDS = tuple(f.name for f in dataclasses.fields(ChainDraws))
_CHAIN = ("acceptance", "n_forced", "drift", "seconds")
_ARRAYS = {"X", "y", "order", *PER_ROW, *(f"draws.{name}" for name in _FIELDS)}
_DRAWS_1 = (
    *(n for n in _FIELDS if n not in ("curves", "kept", "owner", "slopes")),
    "intensity_z",
    "noise_z",
    "row_weight",
)
_ARRAYS_1 = {"X", "y", "order", *PER_ROW, *(f"draws.{name}" for name in _DRAWS_1)}


@dataclass(frozen=True, eq=False)
class Saved:
    """What a model file holds."""

    start: Start
    posterior: Posterior
    diagnostics: Diagnostics


def write_models(path: str | os.PathLike[str], saved: list[Saved]) -> None:
    """Write a model file, of one fit or (a classifier's) several, whole or not at all."""
    parts = [_parts(one) for one in saved]
    if len(parts) == 1:
        archive.write(path, KIND, VERSION, *parts[0])
        return
    arrays = {f"fit{i}.{name}": array for i, (_, own) in enumerate(parts) for name, array in own.items()}
    archive.write(path, KIND, VERSION, {"fits": [header for header, _ in parts]}, arrays)


def _parts(saved: Saved) -> tuple[dict[str, Any], Arrays]:
    """Header and arrays of one fit."""
    arrays: Arrays = {}
    header = start_header(saved.start, arrays)
    results, diagnostics = saved.posterior.results, saved.diagnostics
    for name in _FIELDS:
        arrays[f"draws.{name}"] = getattr(saved.posterior.draws, name)
    header["values"] = [p.name for p in saved.posterior.problem.parameters]
    header["chains"] = [
        {
            "acceptance": {k: encode(v, arrays) for k, v in r.acceptance.items()},
            "n_forced": int(r.n_forced),
            "drift": encode(r.drift, arrays),
            "seconds": encode(r.seconds, arrays),
        }
        for r in results
    ]
    header["diagnostics"] = {
        "rows": [
            [v if isinstance(v, str) else encode(v, arrays) for v in dataclasses.astuple(r)] for r in diagnostics.rows
        ],
        "acceptance": {k: encode(v, arrays) for k, v in diagnostics.acceptance.items()},
        "n_forced": int(diagnostics.n_forced),
        "converged": bool(diagnostics.converged),
        "predictions_converged": bool(diagnostics.predictions_converged),
        "verdict": diagnostics.verdict,
    }
    return header, arrays


def read_models(path: str | os.PathLike[str], known: Known) -> list[Saved]:
    """Read a model file, of one fit or several; `known` are the names of each estimator's parameters."""
    found = archive.read(path, KIND, VERSION)
    try:
        if "fits" not in found.header:
            return [_read(found.header, found.arrays, found.version, known)]
        headers = found.header["fits"]
        if (
            not isinstance(headers, list)
            or not 2 <= len(headers) <= _MOST_FITS
            or not all(isinstance(h, dict) for h in headers)
        ):
            raise ModelFileError("its header does not describe its fits")
        saved = []
        for i, header in enumerate(headers):
            prefix = f"fit{i}."
            own = {name.removeprefix(prefix): a for name, a in found.arrays.items() if name.startswith(prefix)}
            saved.append(_read(header, own, found.version, known))
        if sum(len(_names_of(found.arrays, i)) for i in range(len(headers))) != len(found.arrays):
            raise ModelFileError("it has arrays that belong to none of its fits")
    except ModelFileError as error:
        raise ModelFileError(f"{os.fspath(path)!r} is refused: {error}") from error
    return saved


def _names_of(arrays: Arrays, fit: int) -> list[str]:
    return [name for name in arrays if name.startswith(f"fit{fit}.")]


def _read(header: dict[str, Any], arrays: Arrays, version: int, known: Known) -> Saved:
    """One fit from its header and arrays."""
    _check_names(arrays, version)
    start = read_start(header, arrays, known)
    if version > 1 and header.get("values") != [p.name for p in start.problem.parameters]:
        raise ModelFileError("its draws are of other parameters than its statement has")
    arrays = arrays if version > 1 else _of_version_1(arrays, start.problem)
    if version < 3:  # there was no trend
        arrays = arrays | {"draws.slopes": np.empty((len(arrays.get("draws.counts", ())), 0))}
    results = _results(header.get("chains"), arrays, start.problem)
    diagnostics = _diagnostics(header.get("diagnostics"))
    return Saved(start, Posterior(start.problem, results, start.offset), diagnostics)


def _check_names(arrays: Arrays, version: int) -> None:
    known = _ARRAYS if version > 1 else _ARRAYS_1
    for name in arrays:
        if name not in known and not (name.startswith("table") and name[5:].isdigit()):
            raise ModelFileError(f"it has an array {name!r}, which is no part of a model")


def _results(chains: Any, arrays: Arrays, problem: Problem) -> list[ChainResult]:
    if (
        not isinstance(chains, list)
        or not chains
        or not all(isinstance(c, dict) and set(c) == set(_CHAIN) for c in chains)
    ):
        raise ModelFileError("its header does not describe its chains")
    draws = read_draws(arrays, problem)
    if len(draws) == 0 or len(draws) % len(chains):
        raise ModelFileError(f"its {len(draws)} draws cannot be those of {len(chains)} chains of one length")
    length, rest, results = len(draws) // len(chains), draws, []
    for chain in chains:
        acceptance = _shares(chain["acceptance"])
        drift, seconds = (_real("chain", chain[name]) for name in ("drift", "seconds"))
        results.append(ChainResult(rest.first(length), acceptance, _count(chain["n_forced"]), drift, seconds))
        rest = rest.after(length)
    return results


def _of_version_1(arrays: Arrays, problem: Problem) -> Arrays:
    """Draws as version 1 kept them: noise, amplitude, level and freedom, whether there is one or not."""
    names = [f"draws.{old}" for old in ("values", "intensity_z", "noise_z", "row_weight", "weights")]
    values, curves, noise, weights, units = (arrays.get(name, np.empty(0)) for name in names)
    if values.ndim != 2 or values.shape[1] != 4 or noise.ndim != 2 or weights.ndim != 2:
        raise ModelFileError("its draws of values, noise_z or row_weight have another shape than expected")
    if noise.shape[1] and weights.shape[1]:
        raise ModelFileError("its draws have both a noise curve and weights of observations")
    kept = {k: v for k, v in arrays.items() if k not in names[:4]}
    return kept | {
        "draws.values": np.ascontiguousarray(values[:, : len(problem.parameters)]),
        "draws.curves": curves,
        "draws.kept": weights if weights.shape[1] else noise.astype(problem.likelihood.stored_as),
        "draws.owner": np.zeros(len(units), dtype=np.int64),
    }


def read_draws(arrays: Arrays, problem: Problem, prefix: str = "draws.") -> ChainDraws:
    """Draws from arrays, every one of them checked against the others and the problem."""
    missing = [name for name in _FIELDS if prefix + name not in arrays]
    if missing:
        raise ModelFileError(f"it has no draws of {', '.join(missing)}")
    found, likelihood = {name: arrays[prefix + name] for name in _FIELDS}, problem.likelihood
    for name, array in found.items():
        wanted = "<i8" if name in ("counts", "owner") else likelihood.stored_as if name == "kept" else "<f8"
        if array.dtype.str != wanted:
            raise ModelFileError(f"its draws of {name} are of type {array.dtype}, not {np.dtype(wanted)}")
        if array.dtype.kind == "f" and not np.all(np.isfinite(array)):
            raise ModelFileError(f"its draws of {name} are not all finite")
    n, total = found["counts"].size, len(found["weights"]) if found["weights"].ndim else -1
    n_coefficients = sum(c.process.n_whitened for c in problem.components if c.process is not None)
    n_kept = len(problem.errors().kept)  # type: ignore[attr-defined]
    columns = {
        "values": (len(problem.parameters),), "curves": (n_coefficients,), "kept": (n_kept,),
        "slopes": (problem.n_slopes,),
        "centers": (problem.most_dims,),
    }  # fmt: skip
    for name, array in found.items():
        wanted_shape = (total if name in PER_UNIT else n, *columns.get(name, ()))
        if array.shape != wanted_shape:
            raise ModelFileError(f"its draws of {name} have shape {array.shape} where {wanted_shape} was expected")
    counts, owner = found["counts"], found["owner"]
    if n and (counts.min() < 0 or counts.max() > total or int(counts.sum()) != total):
        raise ModelFileError("its numbers of units do not add up to its units")
    if total and (owner.min() < 0 or owner.max() >= len(problem.components)):
        raise ModelFileError("its draws have units of a component that is not there")
    draws = ChainDraws(**found)
    try:
        check_draws(draws, problem)
    except ValueError as error:
        raise ModelFileError(f"it has {error}") from error
    return draws


def _diagnostics(stated: Any) -> Diagnostics:
    names = {"rows", "acceptance", "n_forced", "converged", "verdict"}
    if not isinstance(stated, dict) or not names <= set(stated) <= names | {"predictions_converged"}:
        raise ModelFileError("its header has no diagnostics")
    rows: list[Row] = []
    for row in stated["rows"] if isinstance(stated["rows"], list) else [None]:
        parts: list[Any] = row if isinstance(row, list) else []
        if len(parts) == len(dataclasses.fields(Row)) - 1:  # labels came later
            parts = [*parts, ""]
        if len(parts) != len(dataclasses.fields(Row)) or not all(isinstance(parts[i], str) for i in (0, -1)):
            raise ModelFileError("its diagnostics have a row that is none")
        mean, sd, mcse, rhat, bulk, tail = (_real("diagnostics", v) for v in parts[1:-1])
        rows.append(Row(parts[0], mean, sd, mcse, rhat, bulk, tail, parts[-1]))
    predicts: Any = stated.get("predictions_converged", stated["converged"])
    sound = isinstance(stated["converged"], bool) and isinstance(predicts, bool) and isinstance(stated["verdict"], str)
    if not rows or not sound:
        raise ModelFileError("its diagnostics have no verdict")
    acceptance, forced = _shares(stated["acceptance"]), _count(stated["n_forced"])
    return Diagnostics(tuple(rows), acceptance, forced, stated["converged"], stated["verdict"], predicts)


def _real(where: str, value: Any) -> float:
    number = decode(value, {}) if isinstance(value, dict) else value
    if isinstance(number, int) and not isinstance(number, bool) and abs(number) < 2**53:
        number = float(number)
    if not isinstance(number, float):
        raise ModelFileError(f"its {where} has {str(value)[:40]!r} for a number")
    return number


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**63:
        raise ModelFileError(f"it counts {str(value)[:40]!r}")
    return value


def _shares(value: Any) -> dict[str, float]:
    if not isinstance(value, dict):
        raise ModelFileError("its shares of accepted proposals are missing")
    return {str(k): _real("acceptance", v) for k, v in value.items()}
