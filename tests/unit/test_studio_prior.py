"""The studio's prior: draws that deform have the law of the prior, statements are checked, programs say the same."""

import numpy as np
import pytest

from porbnet import Prior
from porbnet.base.distributions import LogNormal
from porbnet.errors import StatementError
from porbnet.studio.counterparts import counterparts
from porbnet.studio.deformation import Whitened, deformed
from porbnet.studio.rows import Rows, Source
from porbnet.studio.running import Running
from porbnet.studio.statement_form import Form, LengthscaleCurve
from porbnet.studio.take_away import command, python

STATED = {
    "lengthscale": {"knots": [[-2.0, 0.4], [0.0, 0.5], [3.0, 2.0]]}, "amplitude": 1.5, "noise": 0.1, "bias": 0.3,
    "region": [-4.0, 5.0], "units_per_lengthscale": "auto",
}  # fmt: skip
X = np.array([[-3.9], [-1.0], [0.5], [2.0], [4.9]])
N = 4000


@pytest.mark.parametrize("amplitude", [1.5, LogNormal(1.0, 1.5)], ids=["known", "unknown"])
def test_deformed_draws_have_the_law_of_the_prior(amplitude):
    """Counts and covariance against theory; each of about 20 comparisons at 4.5 sd: a false alarm in 7,000 runs."""
    curve = LengthscaleCurve(STATED["lengthscale"]["knots"])
    prior = Prior(curve, amplitude, region=(-4.0, 5.0), bias=0.3)
    networks = deformed(prior, Whitened(N, seed=3))
    expected = prior.expected_units
    places, of = networks.centers[:, 0], np.repeat(np.arange(N), networks.n_units)
    counts = np.bincount(of[(places > -4.0) & (places < 5.0)], minlength=N)
    assert abs(counts.mean() - expected) < 4.5 * np.sqrt(expected / N)
    assert abs(counts.var() - expected) < 4.5 * np.sqrt((expected + 2 * expected**2) / N)  # Poisson
    left = ((places > -4.0) & (places < 0.0)).sum() / N
    wanted = prior.intensity.integral((-4.0, 0.0))
    assert abs(left - wanted) < 4.5 * np.sqrt(wanted / N)
    f = networks(X)
    products = f[:, :, None] * f[:, None, :]
    error = products.std(axis=0) / np.sqrt(N)
    assert np.all(np.abs(products.mean(axis=0) - prior.covariance(X)) < 4.5 * error)
    assert np.all(np.abs(f.mean(axis=0)) < 4.5 * f.std(axis=0) / np.sqrt(N))


def test_a_wrong_coupling_would_be_seen():
    """Centers that do not follow the intensity fail the comparison above."""
    curve = LengthscaleCurve(STATED["lengthscale"]["knots"])
    prior, flat = Prior(curve, 1.5, region=(-4.0, 5.0)), Prior(0.8, 1.5, region=(-4.0, 5.0))
    places = deformed(flat, Whitened(N, 3)).centers[:, 0]
    left = ((places > -4.0) & (places < 0.0)).sum() / N
    wanted = prior.intensity.integral((-4.0, 0.0))
    assert abs(left - wanted) > 4.5 * np.sqrt(wanted / N)


def test_a_small_change_is_a_small_deformation():
    numbers, x = Whitened(50, 0), np.linspace(-2.0, 3.0, 200)
    first = deformed(Form.of(STATED).prior(), numbers)(x)
    for step in (1e-3, 1e-4):
        changed = {**STATED, "lengthscale": {"knots": [[-2.0, 0.4], [0.0, 0.5 * (1 + step)], [3.0, 2.0]]}}
        moved = np.abs(deformed(Form.of(changed).prior(), numbers)(x) - first).mean()
        assert 0 < moved < 10 * step
    doubled = deformed(Form.of({**STATED, "amplitude": 3.0, "bias": 0.6}).prior(), numbers)(x)
    np.testing.assert_allclose(doubled, 2 * first, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"amplitude": "huge"}, "amplitude"),
        ({"noise": True}, "noise"),
        ({"noise": None}, "noise"),
        ({"lengthscale": {"knots": [[0, 1]]}}, "2 to 32 pairs"),
        ({"lengthscale": {"knots": [[1, 1], [0, 1]]}}, "increasing"),
        ({"lengthscale": {"knots": [[0, 1], [1, -1]]}}, "positive"),
        ({"lengthscale": {"knots": [[0, 1], [1, "x"]]}}, "pairs"),
        ({"lengthscale": {"other": 1}}, "knots"),
        ({"lengthscale": "learned"}, "needs data"),
        ({"region": "auto"}, "needs data"),
        ({"more": 1}, "nothing else"),
    ],
)
def test_what_is_no_statement_is_refused_in_words(change, words):
    with pytest.raises(StatementError, match=words):
        Form.of({**STATED, **change}).prior()


def test_others_are_matched_in_variance_and_upcrossings():
    prior, ends = Form.of(STATED).prior(), (-3.0, 4.0)
    wanted, x = prior.upcrossings(ends), np.linspace(*ends, 101)
    for title, _, other in counterparts(prior, ends):
        assert other.upcrossings(ends) == pytest.approx(wanted, rel=1e-2), title
        assert np.mean(other.variance(x[:, None])) == pytest.approx(np.mean(prior.variance(x)), rel=1e-2), title


def test_a_program_states_the_same_prior():
    space = {}
    exec(python(Form.of(STATED), None, [], [], Running(), None), space)
    same = Form.of(STATED).prior()
    x = np.linspace(-4, 5, 20)
    assert np.array_equal(space["prior"].sample(x, 3, random_state=0), same.sample(x, 3, random_state=0))


def test_commands_quote_what_they_are_given():
    form = Form.of({**STATED, "lengthscale": "learned", "noise": "robust", "bias": "auto", "region": [0, 1]})
    source = Source("file", "a; rm -rf $HOME 'x'.csv", x=("time of day",), y="`y`")
    import shlex

    rows = Rows(np.zeros((2, 1)), np.zeros(2), [*source.x, source.y], [], None, [])
    words = shlex.split(command(form, source, [], [], Running(), rows))
    assert words[:3] == ["porbnet", "fit", "a; rm -rf $HOME 'x'.csv"] and "time of day" in words and "`y`" in words
    assert "--region=0,1" in words and words[words.index("--noise") + 1] == "robust"
    code = python(form, source, [], [], Running(), rows)
    compile(code, "copied", "exec")
    assert repr("a; rm -rf $HOME 'x'.csv") in code
