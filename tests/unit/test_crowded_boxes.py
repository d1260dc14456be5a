"""Outputs that ask for far more units than the prior expects in one place are refused; no memory is overrun."""

import numpy as np
import pytest

from porbnet import PoRBNetRegressor, datasets
from porbnet.errors import StatementError


@pytest.mark.filterwarnings("ignore::porbnet.errors.PorbnetWarning")
@pytest.mark.slow
def test_a_box_that_is_too_full_is_told():
    def lengthscale(X):
        return np.interp(X[:, 0], [-5.0, 2.0, 9.0], [0.3, 1.0, 1.5])

    data = datasets.load_motorcycle()
    model = PoRBNetRegressor(lengthscale, 3.9, 0.1, 0.0, n_chains=1, n_warmup=400, n_draws=10, thin=1, random_state=0)
    with pytest.raises(StatementError, match="more than 255 units where the prior expects about 40"):
        model.fit(data.X, data.y)
