"""Rows absorbed chunk by chunk: the same log p, the same statement, and fits with flat memory."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from fit_tools import SHORT, quiet_fit, same_draws
from test_compression import N_STATES, TOLERANCE, chirp, largest_z, log_p, states

import porbnet
from porbnet import PoRBNetRegressor, Prior, VaryingNoise
from porbnet.errors import ConvergenceWarning, ModelFileError, PorbnetWarning, StatementError
from porbnet.estimators import chunks as chunked
from porbnet.intensity import UnknownConstant
from porbnet.sampling import absorb
from porbnet.sampling.absorb import Absorber, Sample, Totals, hashed
from porbnet.sampling.collapsed.chain import CollapsedChain
from porbnet.sampling.problem import Problem
from porbnet.storage import archive
from porbnet.storage.model import KIND, VERSION


@pytest.fixture
def small(monkeypatch):
    """Few rows are many."""
    monkeypatch.setattr(absorb, "MOST_WAITING", 1000)
    monkeypatch.setattr(absorb, "FEWEST_CELLS", 64)


def cut(X, y, weights=None, length=700):
    """Rows in chunks."""
    parts = [slice(i, i + length) for i in range(0, len(y), length)]
    return [(X[p], y[p]) if weights is None else (X[p], y[p], weights[p]) for p in parts]


def absorbed(x, y, counts=None, breaks=None, length=700):
    absorber = Absorber(float(y[:length].mean()), breaks)
    for start in range(0, len(y), length):
        part = slice(start, start + length)
        absorber.add(x[part], y[part], None if counts is None else counts[part])
    return absorber


# --- exactness ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [0.3, VaryingNoise(0.3, 1.0, 0.5)], ids=["constant", "varying"])
@pytest.mark.parametrize("order", ["shuffled", "sorted", "growing"])
@pytest.mark.parametrize("weighted", [False, True])
def test_log_p_of_absorbed_rows(small, noise, order, weighted, seed):
    """However rows come: in order, so that the range grows and cells are joined, or from the middle outwards."""
    rng = np.random.default_rng(seed)
    X, y = chirp(9000, seed)
    y = 1e4 + y
    if order != "shuffled":
        at = np.argsort(X[:, 0] if order == "sorted" else np.abs(X[:, 0] - 0.4))
        X, y = X[at], y[at]
    counts = rng.uniform(0.2, 3.0, len(y)) if weighted else None
    prior = Prior(0.3, 1.0, region=(-0.1, 1.1), bias=1.0, noise=noise)
    offset = float(np.average(y, weights=counts))
    whole = Problem.of(prior, X, y - offset, None, counts)
    kinks = whole.likelihood.kinks(prior.region)
    absorber = absorbed(X[:, 0], y, counts, None if kinks is None else kinks[0])
    few = chunked.problem_of(prior, absorber.measure(), absorber.shift - offset)
    assert few.n_points < (0.25 if kinks is None else 0.5) * len(y)
    assert few.scaling.y_scale == pytest.approx(whole.scaling.y_scale, rel=1e-10)
    sharpest = min(float(few.stands_for.limit.min()), 60.0)
    assert sharpest > 30.0
    for centers, scales, values, z in states(whole, 0.999 * sharpest, rng, N_STATES // 2):
        state = (centers, scales, values, 0.25 * z)  # a noise curve far off makes log p large, and coarse
        expected = log_p(whole, *state)
        assert abs(log_p(few, *state) - expected) < TOLERANCE * max(1.0, abs(expected) / 5e4)


def test_nodes_that_are_off_are_seen(small, seed):
    """A mutant: a millionth more observations on the right."""
    rng = np.random.default_rng(seed)
    X, y = chirp(9000, seed)
    prior = Prior(0.3, 1.0, region=(-0.1, 1.1), bias=1.0, noise=0.3)
    whole = Problem.of(prior, X, y)
    absorber = absorbed(X[:, 0], y)
    few = chunked.problem_of(prior, absorber.measure(), absorber.shift)
    counts = few.counts * (1.0 + 1e-6 * (few.X[:, 0] > 0.5))
    wrong = Problem.of(prior, few.X, few.y, None, counts, few.within, few.limit)
    worst = max(abs(log_p(wrong, *s) - log_p(whole, *s)) for s in states(whole, 30.0, rng, 10))
    assert worst > 10 * TOLERANCE


def test_totals_and_sample_do_not_depend_on_the_order(seed):
    rng = np.random.default_rng(seed)
    X, y = np.round(rng.uniform(size=(60_000, 1)), 4), np.round(1e6 + rng.standard_normal(60_000), 1)
    found = []
    for length in (60_000, 777):
        order = rng.permutation(len(y))
        totals, sample = None, Sample()
        for chunk in cut(X[order], y[order], length=length):
            totals = Totals.of(*chunk, None) if totals is None else totals.plus(*chunk, None)
            sample.add(*chunk, None)
        found.append((totals, sample))
    (one, first), (other, second) = found
    assert one.n == other.n == 60_000
    assert one.mean == pytest.approx(y.mean(), rel=1e-14) and other.sd == pytest.approx(y.std(), rel=1e-10)
    np.testing.assert_array_equal(one.low, X.min(axis=0))
    assert len(first.y) == absorb.SAMPLE
    for name in ("X", "y", "counts"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    row = np.flatnonzero((X[:, 0] == first.X[5, 0]) & (y == first.y[5]))
    assert first.counts[5] == len(row)


def test_hashes_look_random(seed):
    rng = np.random.default_rng(seed)
    rows = np.column_stack([np.arange(40_000.0), rng.integers(0, 3, 40_000)])
    shares = hashed(rows) / 2.0**64
    # mean of 40,000 uniform numbers: 1 / √(12 · 40,000) = 0.0014; five of these
    assert abs(shares.mean() - 0.5) < 0.0072 and abs(np.corrcoef(shares, rows[:, 0])[0, 1]) < 0.025
    assert hashed(np.array([[0.0]])) == hashed(np.array([[-0.0]]))


# --- fits -----------------------------------------------------------------------------------------------------------


def test_few_rows_are_fitted_as_they_are():
    X, y = chirp(300, 1)
    whole = quiet_fit(X, y, lengthscale="constant")
    assert same_draws(whole, quiet_fit(iter(cut(X, y, length=70)), None, lengthscale="constant"))
    assert whole.posterior_.problem.has_all_rows


def test_a_fit_of_chunks(small, seed):
    """Against the same rows in memory, whose prior has the same scales; the guess is from another sample."""
    X, y = chirp(6000, seed)
    options = {"n_chains": 2, "n_warmup": 200, "n_draws": 300, "thin": 2, "lengthscale": "constant"}
    few = quiet_fit(lambda: cut(X, y), None, **options)
    prior = few.prior_
    whole = quiet_fit(X, y - few.offset_, **(options | {"lengthscale": "learned"}), prior=prior)
    assert few.offset_ == pytest.approx(y.mean(), rel=1e-12)
    assert not few.posterior_.problem.has_all_rows
    assert few.posterior_.problem.n_observations == 6000 and "6,000 observations" in few.summary()
    whole.posterior_.offset = few.offset_
    assert largest_z(few, whole, seed) < 4.5  # once in 10,000 seeds


def test_a_noise_that_varies_takes_two_passes(small):
    X, y = chirp(3000, 2)
    model = quiet_fit(lambda: iter(cut(X, y)), None, noise="varying")
    assert not model.posterior_.problem.has_all_rows
    with pytest.raises(StatementError, match=r"only once.*two passes"):
        quiet_fit(iter(cut(X, y)), None, noise="varying")


def test_chunks_are_gone_through_once_if_that_will_do(small):
    X, y = chirp(3000, 2)
    times = []

    def read():
        times.append(1)
        return cut(X, y)

    quiet_fit(read, None)
    assert len(times) == 1


def test_data_frames(small):
    X, y = chirp(3000, 2)
    frame = pd.DataFrame({"height": y, "place": X[:, 0]})
    parts = [frame.iloc[i : i + 500] for i in range(0, 3000, 500)]
    model = quiet_fit(parts, "height")
    assert list(model.feature_names_in_) == ["place"]
    model.predict(frame[["place"]][:3])
    with pytest.raises(StatementError, match=r"y='width'.*one of the columns 'height', 'place'"):
        quiet_fit(parts, "width")


def test_chunks_do_not_depend_on_how_they_are_cut_but_for_rounding(small):
    X, y = chirp(4000, 4)
    one, other = (quiet_fit(cut(X, y, length=n), None, lengthscale="constant") for n in (4000, 300))
    assert one.prior_ == other.prior_ or one.prior_.region.bounds.tolist() == other.prior_.region.bounds.tolist()
    assert one.offset_ == pytest.approx(other.offset_, rel=1e-12)


def test_what_needs_every_row_says_so(small):
    X, y = chirp(3000, 2)
    model = quiet_fit(cut(X, y), None)
    with pytest.raises(StatementError, match="3,000 rows of this fit were read in chunks and not kept"):
        model.posterior_.to_arviz()


def test_saved_and_resumed(small, tmp_path):
    X, y = chirp(3000, 2)
    model = quiet_fit(cut(X, y), None, checkpoint=tmp_path / "checkpoint")
    model.save(tmp_path / "model.npz")
    again = porbnet.load(tmp_path / "model.npz")
    places = np.linspace(0.0, 1.0, 9)[:, None]
    for one, other in zip(model.predict(places, return_std=True), again.predict(places, return_std=True), strict=True):
        np.testing.assert_array_equal(one, other)
    assert again.posterior_.problem.n_observations == 3000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        resumed = porbnet.resume(tmp_path / "checkpoint", n_jobs=1, progress=False)
    assert same_draws(model, resumed)


@pytest.mark.parametrize(
    "change",
    [
        {"within": None},
        {"limit": None},
        {"limit": lambda v: -v},
        {"limit": lambda v: np.full_like(v, np.nan)},
        {"within": lambda v: v[:-1]},
        {"within": lambda v: np.full_like(v, np.inf)},
        {"counts": lambda v: 0.0 * v},
    ],
)
def test_hostile_nodes_are_refused(small, tmp_path, change):
    X, y = chirp(2000, 2)
    path = tmp_path / "model.npz"
    quiet_fit(cut(X, y), None, n_warmup=5, n_draws=5).save(path)
    found = archive.read(path, KIND, VERSION)
    arrays = dict(found.arrays)
    for name, value in change.items():
        if value is None:
            del arrays[name]
        else:
            arrays[name] = value(arrays[name])
    archive.write(path, KIND, found.version, found.header, arrays)
    with pytest.raises(ModelFileError):
        porbnet.load(path)


def test_units_as_sharp_as_the_nodes_allow(monkeypatch, seed):
    """The chain goes on at the limit, however the work is cut up; the user is told."""
    monkeypatch.setattr(absorb, "MOST_WAITING", 1000)
    monkeypatch.setattr(absorb, "FEWEST_CELLS", 24)
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(3000, 1))
    y = np.sin(60.0 * X[:, 0] ** 2) + 0.3 * rng.standard_normal(3000)
    smooth = Prior(UnknownConstant.about(15.0, 6.0), 1.0, region=(-0.3, 1.3), bias=1.0, noise=0.3)
    with pytest.warns(PorbnetWarning, match="close to the shortest that rows read in chunks allow"):
        model = quiet_fit(cut(X, y), None, prior=smooth, n_warmup=200, n_draws=100)
    problem, root = model.posterior_.problem, np.random.SeedSequence(seed)
    whole, chain = (CollapsedChain(problem, root, 60, 30) for _ in range(2))
    whole.advance(10**6)
    while not chain.finished:
        chain.advance(int(rng.integers(1, 9)))
        state, draws = chain.snapshot(), chain.draws()
        chain = CollapsedChain(problem, np.random.SeedSequence(0), 60, 30)
        chain.restore(state, draws)
    np.testing.assert_array_equal(whole.draws().values, chain.draws().values)


# --- errors ---------------------------------------------------------------------------------------------------------


def test_bad_chunks():
    X, y = chirp(60, 1)
    model = PoRBNetRegressor(**SHORT)
    for given, message in [
        ([(X, y[:-1])], "chunk 1 has 60 rows of X and 59 of y"),
        ([(X, y), (np.column_stack([X, X]), y)], "chunk 2 has 2 inputs where those before it have 1"),
        ([(X, y), X], "chunk 2.*it must be \\(X, y\\)"),
        ([(X, np.where(y > 0, y, np.nan))], "chunk 1: Input y contains NaN"),
        ([(X, y, -np.ones(60))], "sample_weight of chunk 1.*at least 0"),
        ([], "no rows in the chunks"),
        (lambda: 3, "must return an iterable of chunks"),
    ]:
        with pytest.raises((StatementError, ValueError), match=message):
            model.fit(given)
    with pytest.raises(StatementError, match=r"sample_weight.*third part"):
        model.fit([(X, y)], sample_weight=np.ones(60))
    with pytest.raises(StatementError, match=r"noise.*one number per observation"):
        PoRBNetRegressor(noise=np.ones(60)).fit([(X, y)])


def test_what_chunks_cannot_do(small):
    X, y = chirp(3000, 1)
    with pytest.raises(StatementError, match="more than 1,000 rows, and Student-t errors need every one"):
        quiet_fit(cut(X, y), None, noise="robust")
    with pytest.raises(StatementError, match="more than 1,000 rows of 2 inputs"):
        quiet_fit(cut(np.column_stack([X, X]), y), None)
    with pytest.raises(StatementError, match=r"sampler='paper'.*must be 'collapsed'"):
        quiet_fit(cut(X, y), None, sampler="paper")
    with pytest.raises(StatementError, match=r"a lengthscale of 0\.001.* rows read in chunks allow"):
        quiet_fit(cut(X, y), None, lengthscale=0.001, units_per_lengthscale=0.3)
    assert math.isfinite(quiet_fit(cut(X, y), None, lengthscale=0.1).predict([[0.5]])[0])
