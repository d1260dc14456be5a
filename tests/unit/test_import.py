"""`import porbnet` stays light."""

import subprocess
import sys

import pytest

HEAVY = (
    "matplotlib",
    "jax",
    "dask",
    "pandas",
    "sklearn",
    "numba",
    "xarray",
    "arviz_base",
    "arviz_plots",
    "skpro",
    "polars",
)


@pytest.mark.parametrize("module", HEAVY)
def test_import_does_not_load(module, loaded):
    assert module not in loaded


@pytest.fixture(scope="module")
def loaded():
    code = "import porbnet, sys; print(' '.join({m.split('.')[0] for m in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.split()


def test_public_names_exist():
    import porbnet

    for name in porbnet.__all__:
        assert hasattr(porbnet, name)
