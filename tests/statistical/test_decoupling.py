"""Lengthscale and amplitude do not touch each other in a PoRB-NET; in a B-RBFN and in a BNN they do."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "decoupling.py"


@pytest.fixture(scope="module")
def decoupling():
    spec = importlib.util.spec_from_file_location("decoupling", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["decoupling"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["decoupling"]


@pytest.fixture(scope="module")
def rows(decoupling):
    """Formula rows of both tables by (prior, knob, place)."""
    tables = decoupling.variance_rows(0, 0), decoupling.lengthscale_rows(0, 0)
    return tuple({(r.prior, r.knob, r.place): r for r in table} for table in tables)


def test_ranges_are_sixteen_fold(decoupling):
    for targets in (decoupling.LENGTHSCALES, decoupling.AMPLITUDES):
        assert targets[-1] / targets[0] == pytest.approx(16.0)


def test_every_knob_gives_the_lengthscale_or_amplitude_of_its_column(decoupling):
    for name, knob, make in decoupling.LENGTHSCALE_KNOBS:
        for target in decoupling.LENGTHSCALES:
            # at 1.6 the edge of the region is three lengthscales away
            assert decoupling.lengthscale(make(target), 0.0) == pytest.approx(target, rel=1e-6), (name, knob)
    for name, knob, make in decoupling.AMPLITUDE_KNOBS:
        for target in decoupling.AMPLITUDES:
            assert decoupling.amplitude(make(target), 0.0) == pytest.approx(target, rel=1e-6), (name, knob)


@pytest.mark.parametrize("place", [0.0, 2.5])
def test_porbnet_amplitude_stays_within_one_percent(rows, place):
    row = rows[0]["PoRB-NET", "lengthscale", place]
    assert row.moved < 0.01
    assert row.passes


@pytest.mark.parametrize("place", [0.0, 2.5])
def test_porbnet_lengthscale_does_not_move(rows, place):
    row = rows[1]["PoRB-NET", "amplitude", place]
    assert row.moved < 1e-9
    assert row.passes


@pytest.mark.parametrize("place", [0.0, 2.5])
def test_gaussian_process_passes(rows, place):
    assert rows[0]["GP", "lengthscale", place].moved < 1e-12
    assert rows[1]["GP", "amplitude", place].moved < 1e-12


@pytest.mark.parametrize("place", [0.0, 2.5])
def test_brbfn_amplitude_moves_with_its_lengthscale(rows, place):
    row = rows[0]["B-RBFN", "scale", place]
    assert not row.passes
    assert row.moved == pytest.approx(15.0, rel=0.01)  # variance proportional to lengthscale
    assert list(row.values) == sorted(row.values)


@pytest.mark.parametrize("place", [0.0, 2.5])
def test_bnn_of_the_paper_fails_both(rows, place):
    variance, lengthscale = (table["BNN (RBF)", "all sds at once", place] for table in rows)
    assert not variance.passes
    assert not lengthscale.passes
    # "the variance increases as we decrease the lengthscale"
    assert list(variance.values) == sorted(variance.values, reverse=True)


@pytest.mark.parametrize("activation", ["RBF", "tanh"])
def test_bnn_with_separate_knobs_fails_away_from_the_origin(rows, activation):
    assert rows[0][f"BNN ({activation})", "input_weight_sd", 0.0].moved < 1e-9
    assert not rows[0][f"BNN ({activation})", "input_weight_sd", 2.5].passes


def test_draws_agree_with_the_formulas(decoupling, seed):
    """24 rows of 5 cells, each within 4 standard errors: false alarm at most 120 · 6.3e-5 = 0.8 %."""
    for row in decoupling.variance_rows(4000, seed) + decoupling.lengthscale_rows(4000, seed):
        assert row.worst < 4.0, row


def test_prints_the_verdicts(decoupling, capsys):
    decoupling.main(["--draws", "0"])
    lines = capsys.readouterr().out.splitlines()
    last = {line[:11].strip(): line[12:].split(":")[0] for line in lines[lines.index("Both together:") + 1 :]}
    assert last == {"PoRB-NET": "passes", "GP": "passes"} | dict.fromkeys(
        ["B-RBFN", "BNN (RBF)", "BNN (tanh)"], "fails"
    )
