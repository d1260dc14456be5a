"""Saved models: what comes back is what went out; an older version keeps loading."""

import os
import stat
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from fit_tools import model, quiet_fit, same_draws, wave
from threadpoolctl import threadpool_limits

import porbnet
from porbnet import InverseGamma, LogNormal, PaperSampler, PoRBNetRegressor, Prior
from porbnet.errors import ModelFileError, StatementError, StorageError
from porbnet.intensity import Constant, Intensity, Piecewise, SigmoidGP, Tabulated, UnknownConstant
from porbnet.likelihood import RobustNoise, VaryingNoise

FIXTURES = Path(__file__).parents[1] / "fixtures"
X, Y = wave(30)
NEW = np.linspace(-0.2, 1.2, 50)[:, None]


def smooth(X):
    return 0.2 + 0.1 * X[:, 0]


KINDS = {
    "learned": {},
    "constant": {"lengthscale": "constant"},
    "number": {"lengthscale": 0.3, "amplitude": 3.0, "noise": 0.3, "bias": 2.0, "region": (-0.5, 1.5)},
    "function": {"lengthscale": smooth},
    "piecewise": {"lengthscale": Piecewise([0.5], [4.0, 8.0])},
    "table": {"lengthscale": Tabulated((-0.5, 1.5), np.linspace(4.0, 8.0, 40)), "region": (-0.5, 1.5)},
    "sigmoid": {"lengthscale": SigmoidGP(12.0, 1.0, 0.3, refinement=0.5)},
    "sigmoid, its law learned": {"lengthscale": SigmoidGP(12.0, LogNormal(1.0), LogNormal(0.4, 1.5))},
    "sigmoid, its lengthscales learned": {"lengthscale": SigmoidGP(12.0, 1.0, [LogNormal(0.4, 1.5)])},
    "unknown": {"lengthscale": UnknownConstant.about(5.0, 2.0), "amplitude": LogNormal(3.0, 2.0)},
    "varying": {"noise": VaryingNoise(LogNormal(0.3, 2.0), 1.0, [0.3])},
    "robust": {"noise": RobustNoise(0.3, 4.0)},
    "inverse gamma": {"noise": InverseGamma(3.0, 0.3)},
    "the paper's sampler": {"sampler": PaperSampler(n_leapfrog=5), "lengthscale": "constant"},
    "known noise": {"noise": np.linspace(0.2, 0.5, 30)},
    "prior": {"prior": Prior(0.2, 10.0, noise=LogNormal(0.3), region=(-0.5, 1.5), bias=5.0)},
    "a seed sequence": {"random_state": np.random.SeedSequence(5, spawn_key=(3,))},
    "a generator": {"random_state": np.random.default_rng(5)},
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_comes_back_is_what_went_out(kind, tmp_path):
    fitted = quiet_fit(X, Y, **KINDS[kind], n_warmup=20, n_draws=20)
    fitted.save(tmp_path / "model.npz")
    loaded = porbnet.load(tmp_path / "model.npz")
    assert same_draws(loaded, fitted)
    for of in ("y", "f"):
        for a, b in zip(loaded.predict(NEW, True, of=of), fitted.predict(NEW, True, of=of), strict=True):
            np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(loaded.predict_interval(NEW), fitted.predict_interval(NEW))
    np.testing.assert_array_equal(loaded.log_density(X, Y), fitted.log_density(X, Y))
    np.testing.assert_array_equal(loaded.sample_y(NEW, 3), fitted.sample_y(NEW, 3))
    np.testing.assert_array_equal(loaded.noise_at(NEW).mean, fitted.noise_at(NEW).mean)
    tolerance = 1e-5 if kind == "function" else 0.0  # a function is saved as its table
    np.testing.assert_allclose(loaded.lengthscale_at(NEW).mean, fitted.lengthscale_at(NEW).mean, rtol=tolerance)
    assert str(loaded.diagnostics_) == str(fitted.diagnostics_)
    assert loaded.summary() == fitted.summary()


@pytest.mark.filterwarnings("ignore::porbnet.errors.ExtrapolationWarning")
def test_the_number_of_cores_changes_no_bit(tmp_path):
    """Of predictions by a loaded model, far outside too, and of a fit: nothing in them hangs on a library's threads."""
    many_knots = {"lengthscale": SigmoidGP(12.0, 1.0, 0.05), "n_warmup": 20, "n_draws": 20}
    first = quiet_fit(X, Y, **many_knots)
    first.save(tmp_path / "model.npz")
    far = np.linspace(-2.0, 3.0, 200)[:, None]
    with threadpool_limits(1):
        second = quiet_fit(X, Y, **many_knots)
        on_one = porbnet.load(tmp_path / "model.npz").predict(far, return_std=True)
    assert same_draws(first, second)
    for one, all_ in zip(on_one, porbnet.load(tmp_path / "model.npz").predict(far, return_std=True), strict=True):
        np.testing.assert_array_equal(one, all_)


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "a generator"])
def test_a_loaded_model_can_be_fitted_again(kind, tmp_path):
    """Its parameters are those of the saved one, and give the same draws."""
    fitted = quiet_fit(X, Y, **KINDS[kind], n_warmup=5, n_draws=5)
    fitted.save(tmp_path / "m")
    loaded = porbnet.load(tmp_path / "m")
    assert same_draws(quiet_fit(X, Y, **loaded.get_params()), fitted)


def test_weights_of_rows(tmp_path):
    fitted = quiet_fit(X, Y, np.linspace(0.5, 1.5, 30), noise="varying", n_warmup=20, n_draws=20)
    fitted.save(tmp_path / "m")
    loaded = porbnet.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(NEW, True), fitted.predict(NEW, True))
    np.testing.assert_array_equal(loaded.posterior_.problem.times, fitted.posterior_.problem.times)
    np.testing.assert_array_equal(loaded.posterior_.problem.order, fitted.posterior_.problem.order)


def test_several_inputs_and_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    inputs, outputs = wave(30, 2)
    frame = pandas.DataFrame(inputs, columns=["east", "north"])
    fitted = quiet_fit(frame, outputs)
    fitted.save(tmp_path / "m")
    loaded = porbnet.load(tmp_path / "m")
    assert list(loaded.feature_names_in_) == ["east", "north"] and loaded.n_features_in_ == 2
    np.testing.assert_array_equal(loaded.predict(frame), fitted.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame[["north", "east"]])


def test_the_same_model_gives_the_same_bytes(tmp_path):
    for name in ("a", "b"):
        model().save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    porbnet.load(tmp_path / "a").save(tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == (tmp_path / "a").read_bytes()


def test_numpy_can_open_it(tmp_path):
    model().save(tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["draws.counts"], model().posterior_.n_units)


@pytest.mark.parametrize("name", ["plain", "with space.npz", "größe–模型.npz", "two.dots.npz", "x" * 200])
def test_a_name_is_taken_as_it_is(name, tmp_path):
    model().save(str(tmp_path / name))
    assert [p.name for p in tmp_path.iterdir()] == [name]
    assert same_draws(porbnet.load(tmp_path / name), model())


def test_permissions_are_those_of_any_new_file(tmp_path):
    model().save(tmp_path / "m")
    (tmp_path / "other").write_text("")
    assert stat.S_IMODE((tmp_path / "m").stat().st_mode) == stat.S_IMODE((tmp_path / "other").stat().st_mode)


# --- what cannot be ------------------------------------------------------------------------------------------------


def test_only_a_fit_can_be_saved(tmp_path):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        PoRBNetRegressor().save(tmp_path / "m")


@pytest.mark.parametrize("path", [None, 3, "", b"bytes"])
def test_bad_names(path):
    with pytest.raises(StatementError, match="path="):
        model().save(path)
    with pytest.raises(StatementError, match="path="):
        porbnet.load(path)


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(StorageError, match="No such file or directory"):
        model().save(tmp_path / "no" / "m")
    (tmp_path / "folder").mkdir()
    with pytest.raises(StorageError, match="could not be written"):
        model().save(tmp_path / "folder")
    assert os.listdir(tmp_path) == ["folder"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    model().save(tmp_path / "m")
    before = (tmp_path / "m").read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space left on device"):
        quiet_fit(X, Y, n_draws=5).save(tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == before and os.listdir(tmp_path) == ["m"]


def test_places_that_cannot_be_read(tmp_path):
    with pytest.raises(StorageError, match="No such file"):
        porbnet.load(tmp_path / "m")
    with pytest.raises(StorageError, match="directory"):
        porbnet.load(tmp_path)
    with pytest.raises(StorageError, match="could not be read"):
        porbnet.load("a\0b")


@pytest.mark.skipif(not hasattr(os, "mkfifo") or sys.platform != "linux", reason="no such thing here")
def test_a_device_is_not_a_file():
    with pytest.raises(StorageError, match="it is not a file"):
        porbnet.load("/dev/zero")


def test_an_intensity_of_ones_own_is_not_saved(tmp_path):
    class Mine(Constant):
        pass

    class Odd(Intensity):
        def __repr__(self):
            return "Odd()"

    from porbnet.storage.codec import encode

    assert encode(Mine(2.0), {})["level"] == 2.0
    Odd.__abstractmethods__ = frozenset()
    with pytest.raises(StatementError, match="cannot be saved"):
        encode(Odd(), {})


# --- versions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["1", "1-varying", "1-robust", "2", "3"])
def test_a_model_of_an_earlier_version_loads(version):
    """The file was written when the version was new; what it predicted then stands beside it."""
    loaded = porbnet.load(FIXTURES / f"model-v{version}.npz")
    expected = np.load(FIXTURES / f"model-v{version}-predictions.npy")
    places = np.linspace(0.0, 1.0, 11)[:, None]
    mean, sd = loaded.predict(places, return_std=True)
    inside = loaded.posterior_.beyond.box.contains(places)  # from version 3 on, sd is larger beyond the data
    np.testing.assert_allclose([mean[inside], sd[inside]], expected[:, inside], rtol=1e-7)
    np.testing.assert_allclose(mean, expected[0], rtol=1e-7)
    assert np.all(sd > (1.0 - 1e-7) * expected[1]) and np.sum(inside) >= 9
    assert loaded.posterior_.n_chains == 2 and loaded.labels_ == ["time", "height"]
    assert loaded.get_params()["n_draws"] == 20 and "R-hat" in str(loaded.diagnostics_)


def test_a_newer_version_is_refused(tmp_path, monkeypatch):
    from porbnet.storage import model as format_of_models

    monkeypatch.setattr(format_of_models, "VERSION", 4)
    model().save(tmp_path / "m")
    monkeypatch.undo()
    with pytest.raises(ModelFileError, match="version 4 and this porbnet knows up to 3"):
        porbnet.load(tmp_path / "m")


def test_members_are_not_compressed(tmp_path):
    """Else a small file could fill the memory."""
    model().save(tmp_path / "m")
    with zipfile.ZipFile(tmp_path / "m") as file:
        assert {i.compress_type for i in file.infolist()} == {zipfile.ZIP_STORED}
