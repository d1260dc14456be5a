"""Chains that go on until they can be trusted: rounds, thinning out, time, and the same draws however it is run."""

import time
import warnings

import numpy as np
import pytest
from fit_tools import SHORT, model, wave

import porbnet
from porbnet import PoRBNetRegressor
from porbnet.errors import StatementError
from porbnet.estimators import trust
from porbnet.posterior.diagnostics import Diagnostics, Effort, Row
from porbnet.posterior.diagnostics import judge as judged
from porbnet.sampling import chain as chains
from porbnet.sampling.collapsed.chain import CollapsedChain
from porbnet.sampling.driver import ChainResult, Run
from porbnet.sampling.rounds import Judgement, Rounds, run_in_rounds

AUTO = SHORT | {"n_draws": "auto", "n_warmup": 20, "thin": 2, "random_state": 3}


@pytest.fixture
def small(monkeypatch):
    """Few draws to look at, to keep and to ask for, so that rounds are short."""
    for module in ("porbnet.posterior.diagnostics", "porbnet.estimators.trust"):
        monkeypatch.setattr(f"{module}.ESS_PER_CHAIN", 20.0)
    monkeypatch.setattr("porbnet.posterior.diagnostics.RHAT_LIMIT", 1.1)
    monkeypatch.setattr("porbnet.estimators.regressor.FIRST_DRAWS", 40)
    monkeypatch.setattr(chains, "MOST_KEPT", 100)
    monkeypatch.setattr("porbnet.sampling.soundness.MOST_KEPT", 100)


def fitted(**parameters):
    X, y = wave(30)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PoRBNetRegressor(**(AUTO | parameters)).fit(X, y)


def makers(reference, n=2):
    problem = reference.posterior_.problem
    return [lambda s=s: CollapsedChain(problem, s, 5, 1, 2) for s in np.random.SeedSequence(0).spawn(n)]


def enough_after(rounds):
    """A judge that has seen enough after so many rounds."""
    seen = []

    def judge(results, seconds):
        seen.append([r.n_sweeps for r in results])
        return Judgement(len(seen) >= rounds, 0, "")

    judge.seen = seen
    return judge


def test_rounds_grow_until_the_judge_has_enough(small):
    judge = enough_after(3)
    run = run_in_rounds(makers(model()), Rounds(5, 20, None), judge, n_jobs=1, progress=False)
    assert judge.seen == [[25, 25], [35, 35], [50, 50]]
    assert [len(r.draws) for r in run.results] == [22, 22] and not run.interrupted and not run.out_of_time


def test_a_chain_in_rounds_is_the_chain_in_one_go(small):
    """Round after round, from snapshots, gives what a chain gives that is told the end at once."""
    cut = run_in_rounds(makers(model()), Rounds(5, 20, None), enough_after(4), n_jobs=1, progress=False).results
    goal = Rounds(5, 20, None).goal(3)
    for make, result in zip(makers(model()), cut, strict=True):
        whole = make()
        whole.goal = goal
        whole.advance(goal)
        np.testing.assert_array_equal(whole.draws().centers, result.draws.centers)
        np.testing.assert_array_equal(whole.draws().weights, result.draws.weights)


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_long_chains_keep_every_second_draw(small, chunk):
    """Whatever the chunks: whenever there are 100, half of them go and thin doubles."""
    (make, _) = makers(model())
    whole = make()
    whole.n_draws = 250
    whole.advance(10_000)  # of a known length: all are kept
    long = make()
    long.goal = 5 + 2 * 250
    while not long.finished:
        long.advance(chunk)
    assert long.thin == 8 and len(long.draws()) == 62
    first = whole.draws()
    # up to the first halving both are one chain
    early = make()
    early.goal = 5 + 2 * 99
    early.advance(10_000)
    np.testing.assert_array_equal(early.draws().centers, first.first(99).centers)
    np.testing.assert_array_equal(long.draws().first(25).values, first.every(4).first(25).values)


def test_the_same_draws_for_any_number_of_jobs_and_backend():
    from joblib import parallel_config

    one = fitted(n_jobs=1, lengthscale="constant")
    two = fitted(n_jobs=2, lengthscale="constant")
    with parallel_config(backend="loky"):
        far = fitted(n_jobs=2, lengthscale="constant")
    for other in (two, far):
        np.testing.assert_array_equal(one.posterior_.draws.weights, other.posterior_.draws.weights)
    assert one.diagnostics_.verdict == two.diagnostics_.verdict


def test_a_fit_that_was_killed_goes_on_to_the_same_end(small, tmp_path, monkeypatch):
    """Killed after any round, in any chain: the same rounds, the same draws."""
    for module in ("porbnet.posterior.diagnostics", "porbnet.estimators.trust"):
        monkeypatch.setattr(f"{module}.ESS_PER_CHAIN", 30.0)  # for three rounds and more
    whole = fitted(n_jobs=1)
    n_rounds = []
    real = trust.Trust.judge

    def stops(after):
        def judge(self, results, seconds):
            n_rounds.append(results[0].n_sweeps)
            if len(n_rounds) > after:
                raise MemoryError("killed")
            return real(self, results, seconds)

        return judge

    for after in (0, 1, 2):
        n_rounds.clear()
        folder = tmp_path / str(after)
        monkeypatch.setattr(trust.Trust, "judge", stops(after))
        with pytest.raises(MemoryError):
            fitted(n_jobs=1, checkpoint=folder, checkpoint_seconds=0.0)
        monkeypatch.setattr(trust.Trust, "judge", real)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            again = porbnet.resume(folder, n_jobs=1, progress=False)
        np.testing.assert_array_equal(again.posterior_.draws.weights, whole.posterior_.draws.weights)
        assert len(list(folder.glob("chain1-draws-*.npz"))) < 60  # what was thinned out is gone


def test_a_default_fit_says_that_it_can_be_trusted():
    X, y = wave(40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = PoRBNetRegressor("constant", random_state=0, progress=False).fit(X, y)
    found = fit.diagnostics_
    assert found.converged and found.predictions_converged and found.verdict.startswith("converged")
    assert trust.FIRST_DRAWS <= fit.posterior_.n_draws_per_chain < 2000


@pytest.mark.parametrize("n_draws", [1, 2, 3, 4, 5, 6, 7])
def test_time_that_is_over_after_a_few_draws(n_draws):
    """Half of them are too few for an R-hat."""
    posterior = fitted(n_jobs=1, n_draws=n_draws).posterior_
    begun = trust.Trust(posterior.problem, 0.0, str, None, 20, 2)
    _, found = begun.conclude(Run(posterior.results, False, True), 1.0)
    assert not found.predictions_converged and "the time was over" in found.verdict


def test_time_ends_it_with_what_there_is():
    X, y = wave(200)
    began = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = PoRBNetRegressor(random_state=0, max_seconds=0.4, n_jobs=1, progress=False, n_warmup=20).fit(X, y)
    assert fit._out_of_time and (fit.diagnostics_.converged or "try max_seconds=" in fit.diagnostics_.verdict)
    assert time.monotonic() - began < 20.0 and fit.posterior_.n_chains >= 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = PoRBNetRegressor(random_state=0, n_draws=10**6, n_warmup=0, max_seconds=0.5, n_jobs=1, progress=False)
        fit.fit(X, y)
    assert fit._out_of_time and 1 <= fit.posterior_.n_draws_per_chain < 10**6


def test_the_second_half_counts_where_only_it_agrees(small):
    """Chains that come from afar: the way does not count."""
    results = model().posterior_.results
    judge = trust.Trust(model().posterior_.problem, 0.0, str, None, 20, 2)
    draws = results[0].draws
    n = len(draws) // 2
    # one chain begins at ten times the noise
    far = draws.values.copy()
    far[:n] *= 10.0
    fake = [ChainResult(draws.first(2 * n), {}, 0, 0.0, 0.0) for _ in range(2)]
    object.__setattr__(fake[0].draws, "values", far[: 2 * n])
    assert judge.judge(fake, 1.0).skip == n


@pytest.mark.parametrize(
    ("of_f", "of_lengthscale", "enough"),
    [
        ((1.002, 500.0), (1.005, 450.0), True),  # everything has converged
        ((1.002, 900.0), (1.02, 200.0), False),  # twice as many draws will do for the lengthscale, too
        ((1.002, 900.0), (1.05, 60.0), True),  # too many
        ((1.002, 700.0), (1.05, 60.0), False),  # not twice what is asked for of f
        ((1.02, 900.0), (1.005, 450.0), False),
    ],
)
def test_when_chains_are_enough(of_f, of_lengthscale, enough):
    rows = tuple(
        Row(name, 0.0, 1.0, 0.1, rhat, ess, ess)
        for name, (rhat, ess) in (("f[0]", of_f), ("log ls[0]", of_lengthscale))
    )
    converged, predicts, verdict = judged(rows, 4, 400, Effort())
    found = Diagnostics(rows, {}, 0, converged, verdict, predicts)
    assert trust.is_enough(found, 400.0) == enough


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_draws", "many"), ("n_draws", 0), ("max_seconds", 0.0), ("max_seconds", "soon"), ("max_seconds", float("nan"))],
)
def test_bad_values_are_refused(name, value):
    X, y = wave(20)
    with pytest.raises(StatementError, match=name):
        PoRBNetRegressor(**{name: value}).fit(X, y)
