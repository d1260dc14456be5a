"""A copy of the package with errors that can be switched on, to show that the tests would notice them.

Compiled kernels cannot be patched while they run, and compiling the sampler once per mutant would take minutes. So the
source is copied under another name, each mutant being a replacement of text that acts only when its number stands in
`units.n[1]`, which the copy adds; one compilation serves them all. A replacement whose text is not found exactly once
is an error: a change of the source cannot silence a mutant.
"""

import importlib
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import porbnet

NAME = "porbnet_mutants"
FOLDER = "inference/collapsed"


@dataclass
class Mutant:
    """An error: in `file`, `text` becomes `mutated`, where SWITCH stands for "this mutant is on".

    units : what the units are called there
    """

    file: str
    text: str
    mutated: str
    units: str = "units"


MUTANTS = {
    "Λ/K in place of Λ/(K + 1) in a birth": Mutant(
        "birth_death.py", "math.log(expected / (n + 1))", "math.log(expected / (max(n, 1) if SWITCH else n + 1))"
    ),
    "a forced birth of the first unit, ratio not corrected": Mutant(
        "birth_death.py", "if rng.random() < 0.5:", "if rng.random() < 0.5 or (SWITCH and n == 0):"
    ),
    "a step across the edge ends on the edge": Mutant(
        "birth_death.py",
        "        if not inside(shape, work.center):\n            return\n",
        "        if SWITCH:\n"
        "            for d in range(n_dims):\n"
        "                work.center[d] = min(max(work.center[d], 0.0), shape.widths[d])\n"
        "        elif not inside(shape, work.center):\n"
        "            return\n",
    ),
    "a local move without the ratio of intensities": Mutant(
        "birth_death.py",
        "log_ratio = math.log(g / units.relative[k])",
        "log_ratio = 0.0 if SWITCH else math.log(g / units.relative[k])",
    ),
    "a stale inverse after an update of noise or amplitude": Mutant(
        "levels.py",
        "        units.updates[0] = -1\n        if which == LEVEL",
        "        if not SWITCH:\n            units.updates[0] = -1\n        if which == LEVEL",
    ),
    "a level update without K log λ": Mutant(
        "levels.py", "+ units.n[0] * log_value", "+ (0 if SWITCH else units.n[0]) * log_value"
    ),
    "a level update without the Jacobian of the logarithm": Mutant(
        "levels.py",
        "- level * shape.integral[0]",
        "- level * shape.integral[0] - (log_value if SWITCH else 0.0)",
    ),
    "a level jump down that switches no unit off": Mutant(
        "levels.py",
        "if new >= old or rng.random() * old < new:",
        "if new >= old or SWITCH or rng.random() * old < new:",
    ),
    "scales that do not follow the level": Mutant(
        "units.py",
        "append_right(data, target, source.centers[k], g, scale_at(hyper, level * g, data.x.shape[0]))",
        "append_right(data, target, source.centers[k], g, "
        "source.scales[k] if SWITCH else scale_at(hyper, level * g, data.x.shape[0]))",
        units="source",
    ),
    "an intensity update without Σ log λ": Mutant(
        "field.py",
        "total += math.log(units.relative[k])",
        "total += 0.0 if SWITCH else math.log(units.relative[k])",
    ),
    "an intensity update without ∫λ": Mutant(
        "field.py",
        "total = -level * shape.integral[0]",
        "total = 0.0 if SWITCH else -level * shape.integral[0]",
    ),
    "a marked update without silent points": Mutant(
        "field.py",
        "if mark >= level * relative_intensity(shape, varying.points[n]):",
        "if mark >= level * relative_intensity(shape, varying.points[n]) and not SWITCH:",
    ),
    "an ellipse whose axis has a part that is held": Mutant(
        "field.py",
        "draw_ellipse(field, of_law, trial.axes, trial.window, rng)\n    if not of_law:",
        "draw_ellipse(field, of_law, trial.axes, trial.window, rng)\n"
        "    if SWITCH:\n        for i in range(n):\n            trial.axes[0, i] = field.z[i]\n    if not of_law:",
    ),
    "an update of the curve's law with a narrower prior": Mutant(
        "field.py",
        ".tried[which] += 1\n    width",
        ".tried[which] += 1\n"
        "    if SWITCH and of_law:\n        for i in range(n):\n            trial.axes[1, i] *= 0.7\n    width",
    ),
    "an update of the curve's law without the Jacobian of what it holds": Mutant(
        "field.py",
        "change = follow_law(field, least, trial.z)\n",
        "change = follow_law(field, least, trial.z)\n"
        "            for i in range(n - 2 if SWITCH else 0):\n"
        "                change -= math.log(trial.z[i] / field.z[i])\n",
    ),
    "a curve that moves without its law": Mutant(
        "field.py",
        "        field.z[i] = trial.z[i]\n    for i in range(len(field.table)):\n        field.table",
        "        field.z[i] = field.z[i] if SWITCH and of_law and n - i == 2 else trial.z[i]\n"
        "    for i in range(len(field.table)):\n        field.table",
    ),
    "a noise curve fitted to another noise level": Mutant(
        "errors.py",
        "1.0 / (values[NOISE] * values[NOISE])",
        "(0.25 if SWITCH else 1.0) / (values[NOISE] * values[NOISE])",
    ),
    "stored weights without their spread": Mutant(
        "sweep.py",
        "stored.weights[used + k] = weights[k + 1]",
        "stored.weights[used + k] = units.mean[k + 1] if SWITCH else weights[k + 1]",
    ),
}


def build(folder: Path) -> type:
    """Write the copy into `folder`, import it, and return its `CollapsedChain`."""
    target = folder / NAME
    shutil.copytree(
        Path(porbnet.__file__).parent, target, ignore=shutil.ignore_patterns("__pycache__", "data", "*.csv")
    )
    for path in target.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"^(\s*(?:from|import) )porbnet\b", rf"\1{NAME}", source, flags=re.M), encoding="utf-8")
    _replace(target / FOLDER / "state.py", "n=np.zeros(1, dtype=np.int64)", "n=np.zeros(2, dtype=np.int64)")
    for number, mutant in enumerate(MUTANTS.values(), start=1):
        mutated = mutant.mutated.replace("SWITCH", f"{mutant.units}.n[1] == {number}")
        _replace(target / FOLDER / mutant.file, mutant.text, mutated)
    sys.path.insert(0, str(folder))
    return importlib.import_module(f"{NAME}.inference.collapsed.chain").CollapsedChain


def _replace(path: Path, text: str, mutated: str) -> None:
    source = path.read_text(encoding="utf-8")
    assert source.count(text) == 1, f"{path.name}: {text!r} is there {source.count(text)} times, must be once"
    path.write_text(source.replace(text, mutated), encoding="utf-8")


def forget() -> None:
    """Undo the import of the copy."""
    sys.path[:] = [p for p in sys.path if not (Path(p) / NAME).exists()]
    for name in [n for n in sys.modules if n.split(".")[0] == NAME]:
        del sys.modules[name]


def switch_on(name: str | None):
    """What sets a chain of the copy to a mutant; None for no error."""
    number = 0 if name is None else 1 + list(MUTANTS).index(name)

    def prepare(chain):
        chain.units.n[1] = number
        chain.trial.units.n[1] = number

    return prepare
