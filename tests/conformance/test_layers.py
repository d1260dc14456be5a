"""Data flows one way: a module imports only from its left."""

import ast
from pathlib import Path

import pytest

import porbnet

ROOT = Path(porbnet.__file__).parent

# The rooms of the house, from left to right: a module imports from rooms to the left of its own and from its own.
ROOMS = (
    "errors",  # exceptions and warnings
    "base",  # checks, seeds, laws and parameters, compiling, records
    "functions",  # networks, Gaussian processes on grids, interpolation, quadrature
    "intensity",
    "kernels",  # what samplers and likelihoods share below Python
    "likelihood",
    "statement",  # priors, defaults, advice
    "comparison",
    "sampling",
    "posterior",
    "storage",
    "datasets",
    "estimators",
    "scoring",  # scores of predictive laws, for scikit-learn
    "interop",
    "plot",
    "show",
    "baselines",
    "work",
    "many",  # a fit for every series of a table
    "paper",
    "validation",  # evidence: calibration, coverage, drift
    "cli",
    "studio",  # the page in the browser
    "__init__",
    "__main__",
)
RANKS = {name: rank for rank, name in enumerate(ROOMS)}

# Inside `sampling`: what both samplers stand on, then the samplers, which do not know of each other, then their names.
INSIDE = (
    "measure", "recombination", "compression", "absorb", "problem", "draws", "lean", "stored", "chain", "soundness",
    "draw_state",
    "moves", "stop", "driver", "rounds", "collapsed", "published", "samplers",
)  # fmt: skip
APART = {("collapsed", "published"), ("published", "collapsed")}


# Methods that hand over to what lies to their right: imported when they are called, and nowhere else.
HANDOVERS = {("posterior", "interop"), ("estimators", "show"), ("estimators", "plot"), ("cli", "studio")}


def files():
    return sorted(ROOT.rglob("*.py"))


def layer(path):
    """The part of the package that a file belongs to: its folder or its own name."""
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def imported(path, text=None):
    """Names of the parts of porbnet that a file imports, anywhere in it, other than for type checking."""
    tree = ast.parse(path.read_text(encoding="utf-8") if text is None else text)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            node.body = [ast.Pass()]
        if isinstance(node, ast.FunctionDef):
            node.body = [line for line in node.body if not _hands_over(layer(path), line)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                parts = alias.name.split(".")
                if parts[0] == "porbnet":
                    yield parts[1] if len(parts) > 1 else "__init__"
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                yield "relative"
                continue
            parts = (node.module or "").split(".")
            if parts[0] != "porbnet":
                continue
            if len(parts) > 1:
                yield parts[1]
            else:
                for alias in node.names:
                    yield alias.name if alias.name in RANKS or (ROOT / alias.name).is_dir() else _module(alias.name)


def _hands_over(own, line):
    """Whether a line of a function imports what a method of this layer may hand over to."""
    parts = (line.module or "").split(".") if isinstance(line, ast.ImportFrom) and not line.level else []
    return len(parts) > 1 and parts[0] == "porbnet" and (own, parts[1]) in HANDOVERS


def _module(name):
    """`from porbnet import x`: a module if there is one of that name, else a public name of the package."""
    return name if (ROOT / f"{name}.py").exists() else "__init__"


def violations(path, text=None):
    own = layer(path)
    for name in imported(path, text):
        if name == "relative":
            yield f"{path.name} uses a relative import: write it from porbnet"
        elif name not in RANKS:
            yield f"{path.name} imports porbnet.{name}: add it to RANKS in {__file__}"
        elif name != own and RANKS[name] >= RANKS[own]:
            yield f"{own} ({path.name}) imports porbnet.{name}, which lies to its right"


@pytest.mark.parametrize("path", files(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_flow_one_way(path):
    assert layer(path) in RANKS, f"unknown module {layer(path)!r}: add it to RANKS in {__file__}"
    assert list(violations(path)) == []


@pytest.mark.parametrize(
    "text",
    [
        "from porbnet.statement.prior import Prior",
        "import porbnet.statement",
        "from porbnet import statement",
        "from porbnet import Prior",
        "def f():\n    from porbnet.plot import x",
        "from porbnet.unheard_of import x",
        "from .network import x",
    ],
)
def test_a_wrong_import_is_seen(text):
    assert list(violations(ROOT / "intensity" / "base.py", text))


def test_a_method_may_hand_over_but_a_module_may_not():
    line = "from porbnet.interop.arviz import to_arviz"
    assert not list(violations(ROOT / "posterior" / "posterior.py", f"def f():\n    {line}"))
    assert list(violations(ROOT / "posterior" / "posterior.py", line))
    assert list(violations(ROOT / "functions" / "network.py", f"def f():\n    {line}"))


def test_imports_for_types_are_free():
    text = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from porbnet.statement.prior import Prior\n"
    assert not list(violations(ROOT / "intensity" / "base.py", text))


def inside_sampling():
    return [p for p in files() if p.relative_to(ROOT).parts[0] == "sampling" and p.name != "__init__.py"]


def imported_within(path, room):
    """Modules or folders of a room that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        parts = (node.module or "").split(".") if isinstance(node, ast.ImportFrom) else []
        if parts[:2] == ["porbnet", room]:
            yield from [parts[2]] if len(parts) > 2 else [alias.name for alias in node.names]


@pytest.mark.parametrize("path", inside_sampling(), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_flow_one_way_inside_sampling(path):
    own = path.relative_to(ROOT).parts[1].removesuffix(".py")
    for name in imported_within(path, "sampling"):
        assert name == own or INSIDE.index(name) < INSIDE.index(own), f"{own} imports {name}"
        assert (own, name) not in APART, f"{own} imports {name}"


# Files of these names mean the same thing wherever they are: each sampler has its own chain, sweep, state and so on;
# a command of the command line is named after what it is about.
SAME_EVERYWHERE = {"__init__", "__main__", "base", "chain", "sweep", "state", "birth_death", "curve"}


def test_one_name_means_one_thing():
    seen = {}
    for path in files():
        if path.parent.name != "commands" and path.stem not in SAME_EVERYWHERE:
            seen.setdefault(path.stem, []).append(str(path.relative_to(ROOT)))
    assert {name: where for name, where in seen.items() if len(where) > 1} == {}
