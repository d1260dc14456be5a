"""A copy of the sampler with errors that can be switched on, to show that the tests would notice them.

Compiled kernels cannot be patched while they run, and compiling the sampler once per mutant would take minutes. So
kernels, likelihoods and samplers are copied under another name (they share everything else with the package), each
mutant being a replacement of text that acts only when its number stands in `units.mutant`, which the copy adds; one
compilation serves them all. A replacement whose text is not found exactly once is an error: a change of the source
cannot silence a mutant.
"""

import importlib
import re
import shutil
import sys
from dataclasses import dataclass, fields, replace
from pathlib import Path

import porbnet

NAME = "porbnet_mutants"
COPIED = ("kernels", "likelihood", "sampling")
BIRTH_DEATH, LEVELS, CURVE, STRETCH, SWEEP, BLOCKS = (
    f"sampling/collapsed/{name}.py" for name in ("birth_death", "levels", "curve", "stretch", "sweep", "blocks")
)
WINDOW_UNITS, WINDOW_CURVE, VISIT, SHEAR, SHIFT = (
    f"sampling/collapsed/windows/{name}.py" for name in ("unit_steps", "curve_steps", "visit", "shear", "shift")
)


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
        BIRTH_DEATH, "math.log(expected / (n + 1))", "math.log(expected / (max(n, 1) if SWITCH else n + 1))"
    ),
    "a forced birth of the first unit, ratio not corrected": Mutant(
        BIRTH_DEATH, "if uniform(rng) < 0.5:", "if uniform(rng) < 0.5 or (SWITCH and n == 0):"
    ),
    "a step across the edge ends on the edge": Mutant(
        BIRTH_DEATH,
        "        if not inside(shape, work.center):\n            return outcome(kind, False)\n",
        "        if SWITCH:\n"
        "            for d in range(component.x.shape[0]):\n"
        "                work.center[d] = min(max(work.center[d], 0.0), shape.widths[d])\n"
        "        elif not inside(shape, work.center):\n"
        "            return outcome(kind, False)\n",
    ),
    "a local move without the ratio of intensities": Mutant(
        BIRTH_DEATH,
        "log_ratio = math.log(g / units.relative[k])",
        "log_ratio = 0.0 if SWITCH else math.log(g / units.relative[k])",
    ),
    "a stale inverse after an update of noise or amplitude": Mutant(
        LEVELS,
        "    state.units.updates = -1\n    if owner >= 0:",
        "    if not SWITCH:\n        state.units.updates = -1\n    if owner >= 0:",
        units="state.units",
    ),
    "a level update without K log λ": Mutant(
        LEVELS, "+ n_units * log_value", "+ (0 if SWITCH else n_units) * log_value", units="state.units"
    ),
    "a level update without the Jacobian of the logarithm": Mutant(
        LEVELS,
        "- value * state.components[owner].shape.integral",
        "- value * state.components[owner].shape.integral - (log_value if SWITCH else 0.0)",
        units="state.units",
    ),
    "a level jump down that switches no unit off": Mutant(
        LEVELS,
        "stays = new >= old or uniform(rng) * old < new",
        "stays = new >= old or SWITCH or uniform(rng) * old < new",
    ),
    "scales that do not follow the level": Mutant(
        "kernels/units.py",
        "        if owner == which:\n            scale = scale_at(components[owner], level * g)\n",
        "        if owner == which and not SWITCH:\n            scale = scale_at(components[owner], level * g)\n",
        units="source",
    ),
    "an intensity update without Σ log λ": Mutant(
        CURVE,
        "total += math.log(units.relative[k])",
        "total += 0.0 if SWITCH else math.log(units.relative[k])",
    ),
    "an intensity update without ∫λ": Mutant(
        CURVE,
        "    total *= -level\n",
        "    total *= 0.0 if SWITCH else -level\n",
    ),
    "a stretched update without silent points": Mutant(
        STRETCH,
        "if wanted > seen and n + 1 < len(marks):",
        "if wanted > seen and n + 1 < len(marks) and not SWITCH:",
    ),
    "a stretched update whose window counts among what is held": Mutant(
        CURVE,
        "        total -= window_integral(component.curve, shape, axis)\n",
        "        total -= 0.0 if SWITCH else window_integral(component.curve, shape, axis)\n",
    ),
    "a marked update without silent points": Mutant(
        CURVE,
        "if mark >= level * relative_intensity(shape, points[n]):",
        "if mark >= level * relative_intensity(shape, points[n]) and not SWITCH:",
    ),
    "an ellipse whose axis has a part that is held": Mutant(
        CURVE,
        "    if not of_law:  # the curve is linear",
        "    if SWITCH:\n        for i in range(len(z)):\n            axes[0, i] = z[i]\n"
        "    if not of_law:  # the curve is linear",
    ),
    "an update of the curve's law with a narrower prior": Mutant(
        CURVE,
        "    step = STEP_ARC + kind\n",
        "    step = STEP_ARC + kind\n"
        "    if SWITCH and of_law:\n        for i in range(len(z)):\n            axes[1, i] *= 0.7\n",
    ),
    "an update of the curve's law without the Jacobian of what it holds": Mutant(
        CURVE,
        "change = follow_law(curve, least, trial_z)\n",
        "change = follow_law(curve, least, trial_z)\n"
        "            for i in range(len(z) - 2 if SWITCH else 0):\n"
        "                change -= math.log(trial_z[i] / z[i])\n",
    ),
    "a curve that moves without its law": Mutant(
        CURVE,
        "    copy(trial_z, z, len(z))\n",
        "    for i in range(len(z)):\n        z[i] = z[i] if SWITCH and of_law and len(z) - i == 2 else trial_z[i]\n",
    ),
    "a noise curve fitted to another noise level": Mutant(
        "likelihood/varying.py",
        "1.0 / (state.values[NOISE] * state.values[NOISE])",
        "(0.25 if SWITCH else 1.0) / (state.values[NOISE] * state.values[NOISE])",
        units="state.units",
    ),
    "a box whose births count the whole region": Mutant(
        BLOCKS,
        "        mass = level * shape.integral\n",
        "        mass = level * shape.integral\n"
        "        shape.integral = component.shape.integral if SWITCH else shape.integral\n",
    ),
    "a box without edges": Mutant(
        BLOCKS,
        "    share = mass / (level * component.shape.integral)\n",
        "    share = mass / (level * component.shape.integral)\n"
        "    for d in range(len(shape.low) if SWITCH else 0):\n"
        "        shape.low[d], shape.high[d] = component.shape.low[d], component.shape.high[d]\n",
        units="state.units",
    ),
    "stale weights outside a box": Mutant(
        BLOCKS,
        "        blocks.residual[blocks.rows[i]] = rows.y[i]\n",
        "        if not SWITCH:\n            blocks.residual[blocks.rows[i]] = rows.y[i]\n",
        units="state.units",
    ),
    "a box without the units it had": Mutant(
        BLOCKS,
        "own.moment[j + 1] += own.gram[at + k + 1] * weights[k + 1]",
        "own.moment[j + 1] += 0.0 if SWITCH else own.gram[at + k + 1] * weights[k + 1]",
        units="state.units",
    ),
    "stored weights without their spread": Mutant(
        SWEEP,
        "stored.weights[used + k] = weights[k + 1]",
        "stored.weights[used + k] = units.mean[k + 1] if SWITCH else weights[k + 1]",
    ),
    "a window whose births count the whole region": Mutant(
        WINDOW_UNITS,
        "expected, center = level * visit.mass, state.work.center",
        "expected, center = level * (component.shape.integral if SWITCH else visit.mass), state.work.center",
        units="state.units",
    ),
    "a death in a window by the ratio of one unit more": Mutant(
        WINDOW_UNITS,
        "math.log(n / expected) - log_b",
        "math.log((n + 1 if SWITCH else n) / expected) - log_b",
        units="state.units",
    ),
    "a move in a window without the ratio of intensities": Mutant(
        WINDOW_UNITS,
        "log_ratio = math.log(g / own.relative[k]) -",
        "log_ratio = (0.0 if SWITCH else math.log(g / own.relative[k])) -",
        units="state.units",
    ),
    "stale weights around a window": Mutant(
        VISIT,
        "            weights[visit.neighbours[i] + 1] = vector[i]\n",
        "            weights[visit.neighbours[i] + 1] = weights[visit.neighbours[i] + 1] if SWITCH else vector[i]\n",
    ),
    "a window that forgets what its neighbours are of f": Mutant(
        VISIT,
        "        add_column(units, visit.neighbours[j], sign * weights",
        "        add_column(units, visit.neighbours[j], (0.0 if SWITCH else sign) * weights",
    ),
    "a curve in a window without Σ log λ": Mutant(
        WINDOW_CURVE,
        "            total += math.log(g)\n",
        "            total += math.log(own.relative[i] if SWITCH else g)\n",
        units="state.units",
    ),
    "a curve in a window without ∫λ": Mutant(
        WINDOW_CURVE,
        "        total -= level * visit.mass\n    elif",
        "        if SWITCH:\n            measure(component.shape, visit)\n"
        "        total -= level * visit.mass\n    elif",
        units="state.units",
    ),
    "a curve with units in a window without silent points": Mutant(
        WINDOW_CURVE,
        "if marks[n] >= level * relative_intensity(component.shape, points[n]):",
        "if marks[n] >= level * relative_intensity(component.shape, points[n]) and not SWITCH:",
        units="state.units",
    ),
    "a curve with places in a window without silent points": Mutant(
        WINDOW_CURVE,
        "            if marks[n] > seen:\n",
        "            if marks[n] > seen and not SWITCH:\n",
        units="state.units",
    ),
    "an ellipse that forgets the curve on a window's edges": Mutant(
        WINDOW_CURVE,
        "    draw_deviations(curve, visit.box,",
        "    if SWITCH:\n        for i in range(len(visit.rest)):\n"
        "            visit.rest[i] = curve.table[i] - curve.mean\n"
        "    draw_deviations(curve, visit.box,",
        units="state.units",
    ),
    "a shear of level and curve without its Jacobian": Mutant(
        SHEAR,
        "    total -= 0.5 * whiten(",
        "    if SWITCH:\n        total = 0.0\n    total -= 0.5 * whiten(",
        units="state.units",
    ),
    "a shift of level and curve without ∫λ": Mutant(
        SHIFT,
        "total = translate(state, delta, slope, half) - level * shape.integral",
        "total = translate(state, delta, slope, half) - (0.0 if SWITCH else level * shape.integral)",
    ),
    "a jump of level and curve that switches no unit off": Mutant(
        SHIFT,
        "if delta > 0.0 or uniform(rng) * before",
        "if delta > 0.0 or SWITCH or uniform(rng) * before",
    ),
}


def build(folder: Path) -> tuple[type, type]:
    """Write the copy into `folder`, import it, and return its kinds of chains, which take the package's problems."""
    target = folder / NAME
    for part in COPIED:
        shutil.copytree(
            Path(porbnet.__file__).parent / part, target / part, ignore=shutil.ignore_patterns("__pycache__")
        )
    (target / "__init__.py").touch()
    for path in target.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        own = rf"^(\s*(?:from|import) )porbnet\.({'|'.join(COPIED)})\b"
        path.write_text(re.sub(own, rf"\1{NAME}.\2", source, flags=re.M), encoding="utf-8")
    _replace(target / "kernels/state.py", "    n: int\n    owner:", "    n: int\n    mutant: int\n    owner:")
    _replace(
        target / "kernels/state.py", "        n=0,\n        owner=", "        n=0,\n        mutant=0,\n        owner="
    )
    for number, mutant in enumerate(MUTANTS.values(), start=1):
        mutated = mutant.mutated.replace("SWITCH", f"{mutant.units}.mutant == {number}")
        _replace(target / mutant.file, mutant.text, mutated)
    sys.path.insert(0, str(folder))
    collapsed = f"{NAME}.sampling.collapsed"
    return (
        _of_the_copy(importlib.import_module(f"{collapsed}.chain").CollapsedChain),
        _of_the_copy(importlib.import_module(f"{collapsed}.windows.chain").WindowChain),
    )


def _of_the_copy(chain_type: type) -> type:
    likelihoods = importlib.import_module(f"{NAME}.likelihood")

    class MutatedChain(chain_type):
        """A chain whose likelihood, too, is the copy's."""

        def __init__(self, problem, *arguments):
            stated = problem.likelihood
            kind = getattr(likelihoods, type(stated).__name__)
            own = kind(**{field.name: getattr(stated, field.name) for field in fields(stated)})
            super().__init__(replace(problem, likelihood=own), *arguments)

    return MutatedChain


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
        ordinary = chain._resize

        def mutate():
            for state in (chain.state, getattr(chain, "block", chain.state)):
                state.units.mutant = state.trial.mutant = number

        def resize(sizes):
            ordinary(sizes)
            mutate()

        mutate()
        chain._resize = resize

    return prepare
