"""Every public function and method as a strategy of calls: `TARGETS`, by name.

A strategy gives a `Call`: words that tell what is called with what, and a function without arguments that does it.
"""

import contextlib
import functools
import inspect
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from fuzz_outcomes import silence
from fuzz_tables import commands, table_text
from fuzz_values import (
    counts,
    handed_over,
    inputs,
    intensities,
    junk,
    laws,
    lengthscales,
    likelihoods,
    matrix,
    mostly,
    positive,
    regions,
    seeds,
    shares,
    signed,
    wild,
)
from hypothesis import strategies as st

import porbnet
from porbnet import (
    Gamma,
    InverseGamma,
    LogNormal,
    PaperSampler,
    PoRBNetClassifier,
    PoRBNetCountRegressor,
    PoRBNetRegressor,
    Prior,
    RobustNoise,
    VaryingNoise,
    comparison,
    intensity,
    likelihood,
    plot,
    scoring,
)
from porbnet.base.checks import show

mpl.use("Agg")


@dataclass
class Call:
    """what : in words, make : does it"""

    what: str
    make: Any


def words(name, arguments):
    return f"{name}({', '.join(f'{k}={show(v, 60)}' for k, v in arguments.items())})"


@st.composite
def called(draw, name, function, then=None, /, **parameters):
    """A call of a function with some of these parameters by name, and of one of the things to do next."""
    wanted = draw(st.fixed_dictionaries({}, optional=parameters)) if parameters else {}
    for key, strategy in parameters.items():
        if key.endswith("_") and key not in wanted:  # a trailing underscore: always given
            wanted[key] = draw(strategy)
    arguments = {key.rstrip("_"): value for key, value in wanted.items()}
    what = words(name, arguments)
    if then is None:
        return Call(what, lambda: function(**arguments))
    label, action = draw(then)
    return Call(f"{what}.{label}", lambda: action(function(**arguments)))


# --- statements -----------------------------------------------------------------------------------------------------

places = handed_over(inputs())


def prior_actions():
    """What to ask a prior."""

    def ask(name, **given):
        shown = ", ".join(f"{k}={show(v, 50)}" for k, v in given.items())
        return f"{name}({shown})", lambda p: getattr(p, name, nothing)(**given)

    def nothing(*args, **kwargs):  # not every prior has every method
        return None

    def fit_in(p, n):  # points of the prior's own number of inputs
        return matrix(n, 4, p.n_dims, "uniform", 1.0, 0.0)

    plain = st.builds(
        lambda name, n: (f"{name}(own points)", lambda p: getattr(p, name, nothing)(fit_in(p, n))),
        st.sampled_from(
            [
                "sample",
                "covariance",
                "variance",
                "gradient_variance",
                "intensity_at",
                "lengthscale_at",
                "check",
                "curvature_lengthscale_at",
                "kept_variance",
            ]
        ),
        st.integers(0, 9),
    )
    return st.one_of(
        plain,
        plain,
        st.builds(lambda X, n, s: ask("sample", X=X, n=n, random_state=s), places, counts, seeds),
        st.builds(lambda X: ask("covariance", X1=X), places),
        st.builds(lambda X, q: ask("lengthscale_at", X=X, quantiles=q), places, mostly(st.just([0.1, 0.9]))),
        st.builds(lambda X: ask("check", X=X), places),
        st.builds(lambda a, b, v: ask("upcrossings", interval=(a, b), level=v), signed, signed, signed),
        st.builds(lambda n, s: (f"networks {n!r}", lambda p: networks_at(p, fit_in(p, 1), n, s)), counts, seeds),
    )


def networks_at(prior, X, n, seed):
    """Values and gradients of networks, of a prior that has them."""
    if not hasattr(prior, "sample_networks"):
        return None
    networks = prior.sample_networks(n=n, random_state=seed)
    return [networks(X), networks.gradient(X)]


def law_actions():
    return st.one_of(
        st.builds(lambda n: (f"sample({n!r})", lambda d: d.sample(n, np.random.default_rng(0))), st.integers(1, 4)),
        st.builds(lambda q: (f"quantile({q})", lambda d: d.quantile(q)), st.floats(0.01, 0.99)),
    )


def intensity_actions():
    at = st.integers(0, 9).map(lambda s: matrix(s, 4, 1, "uniform", 1.0, 0.0))
    return st.one_of(
        st.builds(lambda X: ("value", lambda i: i.value(X)), at),
        st.builds(lambda X: ("gradient", lambda i: i.gradient(X)), at),
        st.builds(lambda X: (f"value({show(X, 40)})", lambda i: i.value(X)), places),
        st.builds(lambda r: (f"integral({show(r, 40)})", lambda i: i.integral(r)), regions),
        st.builds(lambda r, s: (f"sample({show(r, 40)})", lambda i: i.sample(r, s)), regions, seeds),
        st.builds(lambda r, s: (f"draw({show(r, 40)})", lambda i: i.draw(r, s).value([[0.5]])), regions, seeds),
    )


statement = {
    "region_": regions,
    "lengthscale_": lengthscales,
    "amplitude_": mostly(st.one_of(st.floats(0.1, 10.0), laws), st.one_of(junk, wild)),
    "bias": signed,
    "noise": mostly(st.one_of(st.floats(0.01, 2.0), laws, likelihoods), st.one_of(junk, wild)),
    "units_per_lengthscale": mostly(st.floats(0.5, 4.0), st.one_of(junk, wild)),
    "anisotropy": mostly(st.lists(st.floats(0.2, 5.0), min_size=1, max_size=3), junk),
    "trend": mostly(st.floats(0.1, 2.0), st.one_of(junk, wild)),
}
value_lists = st.lists(st.one_of(st.floats(0.1, 9.0), wild), min_size=0, max_size=4)

STATEMENTS = {
    "Prior": called("Prior", Prior, prior_actions(), **statement),
    "Prior.from_paper": called(
        "Prior.from_paper",
        Prior.from_paper,
        prior_actions(),
        s0_=positive,
        sigma_w2_=positive,
        sigma_b2_=signed,
        intensity_=mostly(st.one_of(st.floats(0.5, 9.0), intensities)),
        noise_variance=st.one_of(positive, laws),
        region_=regions,
    ),
    "laws": st.one_of(
        called(
            "LogNormal", LogNormal, law_actions(), median_=positive, factor_=st.one_of(positive, st.floats(1.0, 9.0))
        ),
        called("Gamma", Gamma, law_actions(), shape_=positive, rate_=positive),
        called("InverseGamma", InverseGamma, law_actions(), shape_=positive, scale_=positive),
    ),
    "intensities": st.one_of(
        called("Constant", intensity.Constant, intensity_actions(), level_=positive),
        called("UnknownConstant", intensity.UnknownConstant, intensity_actions(), shape_=positive, rate_=positive),
        called(
            "SigmoidGP",
            intensity.SigmoidGP,
            intensity_actions(),
            upper_=st.one_of(positive, laws),
            variance_=st.one_of(positive, laws),
            lengthscale_=st.one_of(positive, laws),
        ),
        called("Piecewise", intensity.Piecewise, intensity_actions(), breaks_=value_lists, values_=value_lists),
        called("Tabulated", intensity.Tabulated, intensity_actions(), region_=regions, values_=value_lists),
        st.builds(lambda i, a: Call(f"{show(i, 60)}.{a[0]}", lambda: a[1](i)), intensities, intensity_actions()),
    ),
    "likelihoods": st.one_of(
        called("RobustNoise", RobustNoise, None, level_=st.one_of(positive, laws), freedom=st.one_of(positive, laws)),
        called(
            "VaryingNoise",
            VaryingNoise,
            None,
            level_=st.one_of(positive, laws),
            variance_=positive,
            lengthscale_=positive,
        ),
        called("Censored", likelihood.Censored, None, level_=st.one_of(positive, laws)),
        called("LogScale", likelihood.LogScale, None, errors_=st.one_of(likelihoods, junk)),
        called("Logistic", likelihood.Logistic, None, center_=signed),
        called("NegativeBinomial", likelihood.NegativeBinomial, None, size_=st.one_of(positive, laws), center_=signed),
        called("Poisson", likelihood.Poisson, None, center_=signed),
    ),
    "PaperSampler": called(
        "PaperSampler",
        PaperSampler,
        None,
        n_leapfrog=counts,
        target_acceptance=shares,
        n_birth_death=counts,
        n_leapfrog_intensity=counts,
        plug_in=mostly(st.booleans()),
        n_average=counts,
    ),
    "comparison": st.one_of(
        called(
            "GaussianProcessPrior",
            comparison.GaussianProcessPrior,
            prior_actions(),
            lengthscale_=positive,
            amplitude_=positive,
            bias=signed,
            n_dims=counts,
        ),
        called(
            "BNNPrior",
            comparison.BNNPrior,
            prior_actions(),
            n_units_=counts,
            input_weight_sd_=positive,
            input_bias_sd_=signed,
            output_weight_sd_=positive,
            output_bias_sd=signed,
            activation=mostly(st.sampled_from(["rbf", "tanh"])),
            n_dims=counts,
        ),
        called(
            "BRBFNPrior",
            comparison.BRBFNPrior,
            prior_actions(),
            scale_=positive,
            weight_sd_=positive,
            region_=regions,
            intensity_=mostly(st.one_of(st.floats(0.5, 9.0), intensities)),
            bias=signed,
        ),
        called(
            "match_upcrossings",
            lambda **k: comparison.match_upcrossings(**k)._asdict()["value"],
            None,
            make_=mostly(st.just(lambda v: comparison.GaussianProcessPrior(v, 1.0))),
            target_=st.one_of(positive, st.just(comparison.GaussianProcessPrior(0.5, 1.0))),
            interval_=mostly(st.just((0.0, 5.0)), st.tuples(wild, wild)),
            bracket_=mostly(st.just((0.01, 5.0)), st.tuples(wild, wild)),
            level=signed,
            tolerance=positive,
            random_state=seeds,
        ),
    ),
}


# --- fits -----------------------------------------------------------------------------------------------------------


def rarely(good, bad=None):
    """Something wrong in one parameter of many, so that most fits run."""
    return mostly(good, bad, 40)


running = {
    "n_chains": rarely(st.integers(1, 2), st.one_of(junk, st.sampled_from([0, -1, 1.5, 10**12]))),
    "thin": rarely(st.integers(1, 3), st.one_of(junk, st.sampled_from([0, 1.5, 10**30]))),
    "n_jobs": rarely(st.sampled_from([1, 2, None]), st.one_of(junk, st.sampled_from([0, -7, 10**9, 1.5]))),
    "random_state": seeds,
    "progress": rarely(st.just(False), junk),
    "checkpoint_seconds": rarely(st.floats(0.0, 9.0), st.one_of(junk, wild)),
}
always = {
    "max_seconds_": rarely(st.sampled_from([0.2, 1, 2]), st.one_of(junk, st.sampled_from([-1.0, 0, 1e-9, 1e99]))),
    "n_warmup_": rarely(st.integers(0, 30), st.one_of(junk, st.sampled_from([-1, 10**30]))),
    "n_draws_": rarely(st.integers(1, 30), st.one_of(junk, st.sampled_from([0, 10**18, "many"]))),
}
stated = {
    "lengthscale": rarely(
        st.one_of(st.sampled_from(["learned", "constant"]), st.floats(0.05, 5.0), intensities), lengthscales
    ),
    "amplitude": rarely(st.one_of(st.just("learned"), st.floats(0.1, 10.0), laws), st.one_of(junk, wild)),
    "bias": rarely(st.one_of(st.just("auto"), st.floats(0.0, 10.0)), st.one_of(junk, wild)),
    "region": rarely(st.just("auto"), regions),
    "units_per_lengthscale": rarely(st.one_of(st.just("auto"), st.floats(0.3, 3.0)), st.one_of(junk, wild)),
}
of_regressor = {
    "noise": rarely(
        st.one_of(
            st.sampled_from(["learned", "varying", "robust"]),
            st.floats(0.01, 2.0),
            laws,
            likelihoods,
            inputs().map(np.ravel),
        ),
        st.one_of(junk, wild),
    ),
    "trend": rarely(st.sampled_from([None, "linear", 1.0]), st.one_of(junk, wild)),
    "outcome": rarely(st.sampled_from(["real", "positive"])),
    "sampler": rarely(st.just("collapsed"), st.one_of(junk, st.just("paper"))),
}


@st.composite
def data(draw, outputs="real"):
    """Inputs and outputs, with something wrong now and then."""
    n = draw(st.integers(2, 12))
    y = draw(inputs(1, n)).ravel()
    if outputs == "labels":
        y = draw(st.sampled_from([np.array(["no", "yes"])[np.arange(n) % 2], np.arange(n) % 3, np.arange(n) % 2 == 0]))
    if outputs == "counts":
        with np.errstate(all="ignore"):
            y = np.floor(np.minimum(np.abs(y), 1e6)) if draw(st.integers(0, 3)) else np.abs(y)
    if draw(st.integers(0, 3)) == 0:
        return draw(handed_over(inputs(None, n))), draw(handed_over(st.just(y)))
    return draw(inputs(None, n)), y


def predictions_of(model, X):
    """What a fit says at a few points: all of it must be numbers."""
    model.summary()
    X = np.nan_to_num(np.asarray(X, dtype=float))[:3]
    found = [model.predict(X), model.predict_interval(X)]
    if hasattr(model, "predict_proba"):
        return [model.predict_proba(X), model.predict_interval(X)]
    return [*found, model.predict(X, return_std=True), model.sample_y(X, 2), model.lengthscale_at(X)]


@st.composite
def fits(draw, kind, outputs, **parameters):
    """A fit and its predictions at some of its own inputs."""
    wanted = draw(st.fixed_dictionaries({}, optional=parameters | running))
    wanted |= {k.rstrip("_"): draw(v) for k, v in always.items()}
    X, y = draw(data(outputs))
    given_weight = draw(st.integers(0, 5)) == 0
    n = len(y) if hasattr(y, "__len__") and not isinstance(y, str) else 3
    more = {"sample_weight": draw(handed_over(inputs(1, n).map(np.ravel).map(np.abs)))} if given_weight and n else {}
    if kind is PoRBNetCountRegressor and draw(st.integers(0, 3)) == 0:
        more["exposure"] = draw(st.one_of(st.just(np.ones(len(np.atleast_1d(y)))), junk, positive))
    if wanted.get("outcome") == "positive" and isinstance(y, np.ndarray) and y.dtype.kind == "f":
        y = np.abs(y) + draw(st.sampled_from([0.0, 1.0, 1.0, 1.0]))
    if kind is PoRBNetRegressor and draw(st.integers(0, 15)) == 0:
        more["censored"] = draw(
            st.one_of(junk, st.lists(st.sampled_from(["left", "right", "", "both", None, 1, -1, 0]), max_size=12))
        )

    def make():
        with tempfile.TemporaryDirectory() as folder, silence():
            model = kind(**wanted).fit(X, y, **more)
            path = Path(folder) / "model"
            model.save(path)
            return [predictions_of(model, X), predictions_of(porbnet.load(path), X)]

    return Call(f"{words(kind.__name__, wanted)}.fit({show(X, 80)}, {show(y, 60)}, {show(more, 60)})", make)


FITS = {
    "PoRBNetRegressor.fit": fits(PoRBNetRegressor, "real", **stated, **of_regressor),
    "PoRBNetClassifier.fit": fits(PoRBNetClassifier, "labels", **stated),
    "PoRBNetCountRegressor.fit": fits(
        PoRBNetCountRegressor,
        "counts",
        **stated,
        size=rarely(st.one_of(st.just("learned"), st.floats(0.5, 9.0)), st.one_of(junk, wild)),
        law=rarely(st.sampled_from(["poisson", "negative binomial"])),
        fractional=rarely(st.booleans()),
    ),
}


# --- methods of fitted models ---------------------------------------------------------------------------------------


@functools.cache
def fitted(name):
    """Small fits of every kind, made once."""
    rng = np.random.default_rng(0)
    X, X2 = rng.uniform(size=(15, 1)), rng.uniform(size=(15, 2))
    f = np.sin(6.0 * X[:, 0])
    small = {"n_chains": 2, "n_warmup": 50, "n_draws": 50, "random_state": 0, "n_jobs": 1, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {
            "one input": lambda: PoRBNetRegressor(**small).fit(X, f + 0.1 * rng.standard_normal(15)),
            "two inputs": lambda: PoRBNetRegressor("constant", **small).fit(X2, X2.sum(axis=1) + rng.normal(size=15)),
            "varying": lambda: PoRBNetRegressor(noise="varying", **small).fit(X, f + 0.1 * rng.standard_normal(15)),
            "robust": lambda: PoRBNetRegressor(noise="robust", trend="linear", **small).fit(X, f + rng.normal(size=15)),
            "positive": lambda: PoRBNetRegressor(outcome="positive", **small).fit(X, np.exp(f)),
            "two classes": lambda: PoRBNetClassifier(**small).fit(X, np.where(f > 0, "yes", "no")),
            "three classes": lambda: PoRBNetClassifier("constant", **small).fit(X, np.arange(15) % 3),
            "counts": lambda: PoRBNetCountRegressor(**small).fit(X, rng.poisson(np.exp(f + 1.0))),
            "Poisson": lambda: PoRBNetCountRegressor("constant", law="poisson", **small).fit(X, rng.poisson(np.exp(f))),
        }[name]()


MODELS = (
    "one input",
    "two inputs",
    "varying",
    "robust",
    "positive",
    "two classes",
    "three classes",
    "counts",
    "Poisson",
)
of = mostly(st.sampled_from(["y", "f"]), st.one_of(junk, st.sampled_from(["rate", "probability"])))
METHODS = {
    "predict": {"X_": places, "of": of, "return_std": mostly(st.booleans()), "return_cov": mostly(st.booleans())},
    "predict_quantiles": {
        "X_": places,
        "q_": mostly(st.lists(st.floats(0.01, 0.99), max_size=3), st.one_of(junk, wild)),
        "of": of,
    },
    "predict_interval": {"X_": places, "coverage": shares, "of": of},
    "predict_proba": {"X_": places},
    "decision_function": {"X_": places},
    "predict_survival": {"X_": places, "times_": handed_over(inputs(1, 3).map(np.ravel))},
    "log_density": {"X_": places, "y_": handed_over(inputs(1, 4).map(np.ravel))},
    "sample_f": {"X_": places, "n_samples": counts, "random_state": seeds},
    "sample_y": {"X_": places, "n_samples": counts, "random_state": seeds},
    "lengthscale_at": {"X_": places, "coverage": shares},
    "intensity_at": {"X_": places, "coverage": shares},
    "noise_at": {"X_": places, "coverage": shares},
    "pit": {"X_": places, "y_": handed_over(inputs(1, 4).map(np.ravel))},
    "score": {"X_": places, "y_": handed_over(inputs(1, 4).map(np.ravel))},
    "save": {"path_": st.one_of(junk, st.sampled_from(["", "/", "/no/such/folder/model", "a\0b", "x" * 5000]))},
    "summary": {},
    "width_distribution": {},
    "get_params": {"deep": mostly(st.booleans())},
}


@st.composite
def methods(draw):
    """A method of a small fit, with inputs that fit it in one case of two."""
    name, model = draw(st.sampled_from(sorted(METHODS))), draw(st.sampled_from(MODELS))
    wanted = draw(st.fixed_dictionaries({}, optional={k: v for k, v in METHODS[name].items() if not k.endswith("_")}))
    wanted |= {k.rstrip("_"): draw(v) for k, v in METHODS[name].items() if k.endswith("_")}
    own = draw(st.booleans())

    def make():
        estimator = fitted(model)
        if own and "X" in wanted:
            wanted["X"] = matrix(1, 4, 2 if model == "two inputs" else 1, "uniform", 1.5, -0.2)
        if own and "y" in wanted and model == "two classes":
            wanted["y"] = np.array(["yes", "no", "yes", "no"])
        method = getattr(estimator, name, None)
        if method is None:
            return None
        known = inspect.signature(method).parameters  # counts have no return_cov, labels no return_std
        return _only_numbers(method(**{k: v for k, v in wanted.items() if k in known}))

    return Call(f"{model}: {words(name, wanted)}", make)


def _only_numbers(result):
    return None if isinstance(result, str) else result


@st.composite
def functions(draw):
    """Functions drawn from a posterior, and what else a posterior says."""
    model, X, n, seed = draw(st.sampled_from(MODELS[:6])), draw(places), draw(counts), draw(seeds)
    name = draw(st.sampled_from(["values", "gradient", "f", "mean_and_variance", "covariance", "intensity", "loo"]))

    def make():
        estimator = fitted(model)
        posterior = estimator.posterior_
        if name in ("values", "gradient"):
            networks = getattr(estimator, "fits_", [estimator])[0].sample_functions(n, seed)
            return networks(X) if name == "values" else networks.gradient(X)
        return posterior.loo(draw_weights).elpd if name == "loo" else getattr(posterior, name)(X)

    draw_weights = draw(mostly(st.sampled_from(["integrated", "drawn"])))
    return Call(f"{model}: {name}({show(X, 80)}, n={show(n)})", make)


# --- pictures and scores --------------------------------------------------------------------------------------------

PICTURES = {
    "fit": {"grid": places, "coverage": shares, "n_functions": counts},
    "curves": {"coverage": shares},
    "width": {},
    "lengthscale": {"grid": places, "coverage": shares},
    "intensity": {"grid": places, "coverage": shares},
    "noise": {"grid": places, "coverage": shares},
    "maps": {"n_side": mostly(st.integers(2, 5), junk)},
    "partial_dependence": {"inputs": mostly(st.just([0]), junk), "coverage": shares},
    "slices": {"inputs": mostly(st.just([0]), junk), "coverage": shares},
    "overview": {},
    "pit": {"X_": places, "y_": handed_over(inputs(1, 4).map(np.ravel))},
    "coverage": {"X_": places, "y_": handed_over(inputs(1, 4).map(np.ravel))},
    "probability": {"coverage": shares},
    "rate": {"coverage": shares},
    "chances": {},
    "trace": {"names": mostly(st.none(), junk)},
}


@st.composite
def pictures(draw):
    import inspect

    name, model = draw(st.sampled_from(sorted(PICTURES))), draw(st.sampled_from(MODELS))
    accepted = inspect.signature(getattr(plot, name)).parameters
    given_ = {k: v for k, v in PICTURES[name].items() if k.rstrip("_") in accepted}
    wanted = draw(st.fixed_dictionaries({}, optional={k: v for k, v in given_.items() if not k.endswith("_")}))
    wanted |= {k.rstrip("_"): draw(v) for k, v in given_.items() if k.endswith("_")}

    def make():
        import matplotlib.pyplot as plt

        try:
            getattr(plot, name)(fitted(model), **wanted)
            plt.gcf().canvas.draw()
        finally:
            plt.close("all")

    return Call(f"plot.{words(name, wanted)} of {model}", make)


@st.composite
def prior_pictures(draw):
    name = draw(st.sampled_from(["prior_draws", "prior_variance", "covariogram"]))
    good = st.sampled_from([Prior(0.5, 1.0, region=(0.0, 1.0)), Prior(0.5, 1.0, region=[(0, 1)] * 2)])
    prior = draw(mostly(good, junk, 4))
    X, n = draw(places), draw(counts)
    import inspect

    accepted = inspect.signature(getattr(plot, name)).parameters
    wanted = {k: v for k, v in {"X": X, "n": n}.items() if k in accepted and draw(st.booleans())}

    def make():
        import matplotlib.pyplot as plt

        try:
            getattr(plot, name)(prior, **wanted)
            plt.gcf().canvas.draw()
        finally:
            plt.close("all")

    return Call(f"plot.{name}({show(prior, 40)}, {show(wanted, 80)})", make)


@st.composite
def scores(draw):
    name = draw(st.sampled_from(["log_density", "neg_crps", "IntervalScore", "IntervalCoverage", "scorers"]))
    model, X, coverage, own = draw(st.sampled_from(MODELS)), draw(places), draw(shares), draw(st.booleans())
    y = draw(handed_over(inputs(1, 4).map(np.ravel)))

    def make():
        if name == "scorers":
            return list(scoring.scorers(*([coverage] if not isinstance(coverage, float) else ["neg_crps"])))
        scorer = getattr(scoring, name)
        scorer = scorer(coverage) if name.startswith("Interval") else scorer
        if own:
            return scorer(fitted(model), matrix(1, 4, 2 if model == "two inputs" else 1, "uniform", 1.0, 0.0), y)
        return scorer(fitted(model), X, y)

    return Call(f"scoring.{name}({show(coverage, 30)}) of {model}, {show(X, 60)}, {show(y, 60)}", make)


# --- files ----------------------------------------------------------------------------------------------------------


@functools.cache
def saved(name):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        fitted(name).save(path)
        return path.read_bytes()


@st.composite
def files(draw):
    """A saved model with bytes changed, cut or added; and what is no file at all."""
    model, kind = draw(st.sampled_from(MODELS)), draw(st.sampled_from(["flip", "cut", "add", "junk", "path"]))
    where, byte = draw(st.floats(0.0, 1.0)), draw(st.integers(0, 255))
    noise, odd = draw(st.binary(max_size=64)), draw(junk)

    def make():
        if kind == "path":
            return porbnet.load(odd)
        content = bytearray(saved(model))
        place = min(int(where * len(content)), len(content) - 1)
        if kind == "flip":
            content[place] ^= byte or 1
        content = {"flip": content, "cut": content[:place], "add": content + noise + b"x", "junk": noise}[kind]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.npz"
            path.write_bytes(bytes(content))
            porbnet.load(path)
            raise AssertionError("a damaged file was read")

    return Call(f"load({model}, {kind} at {where:.3f}, {show(odd if kind == 'path' else byte)})", make)


# --- the command line -----------------------------------------------------------------------------------------------


@functools.cache
def model_file():
    folder = Path(tempfile.mkdtemp())
    fitted("one input").save(folder / "model.npz")
    return folder / "model.npz"


def run_command(arguments, table):
    """A command in this process, as `porbnet` runs it, in a folder of its own with the file data.csv."""
    from porbnet import cli

    before = sys.argv
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), silence() as (out, err):
        Path("data.csv").write_bytes(table)
        Path("model.npz").write_bytes(model_file().read_bytes())
        sys.argv = ["porbnet", *arguments]
        try:
            cli.main()
        finally:
            sys.argv = before
            if "Traceback" in err.getvalue() or "Traceback" in out.getvalue():
                raise AssertionError(f"a traceback was printed: {err.getvalue()[-500:]}")


@st.composite
def command_line(draw):
    arguments, table = draw(commands()), draw(table_text())
    return Call(f"porbnet {arguments} with {show(table, 160)}", lambda: run_command(arguments, table))


TARGETS = {
    **STATEMENTS,
    **FITS,
    "methods of fits": methods(),
    "posteriors": functions(),
    "plot": pictures(),
    "plot, priors": prior_pictures(),
    "scoring": scores(),
    "files": files(),
    "command line": command_line(),
}
