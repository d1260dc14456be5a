"""Every example in a docstring runs and gives what it says."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import porbnet


def modules():
    yield "porbnet"
    for found in pkgutil.walk_packages(porbnet.__path__, "porbnet."):
        if found.name.rsplit(".", 1)[-1] != "__main__":
            yield found.name


@pytest.mark.parametrize("name", sorted(modules()))
def test_examples(name):
    module = importlib.import_module(name)
    with np.printoptions(legacy=False):
        result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0
