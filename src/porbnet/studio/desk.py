"""What a page can ask of its worker, one method per question; answers are a header of JSON and arrays of numbers."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.distributions import LogNormal
from porbnet.cli.common import gathered_warnings, tidy
from porbnet.errors import StatementError
from porbnet.statement.prior import Prior
from porbnet.studio import prior_view
from porbnet.studio.running import Running
from porbnet.studio.statement_form import LEARNED, Form

if TYPE_CHECKING:  # what the first picture does not need is imported when it is
    from porbnet.studio.live_fit import LiveFit
    from porbnet.studio.rows import Reader, Rows, Source

_MOST_FITS = 3  # that are kept for undo
_MOST_PLACES, _MOST_DRAWS = 1000, 200
_COMPARED, _COMPARED_PLACES = 10, 200

Arrays = dict[str, FloatArray]
Answer = tuple[dict[str, Any], Arrays]


def body_of(arrays: Arrays) -> tuple[list[list[Any]], bytes]:
    """Arrays as one run of 32-bit numbers, and their names and shapes in order."""
    parts = {name: np.ascontiguousarray(a, dtype="<f4") for name, a in arrays.items()}
    return [[name, list(a.shape)] for name, a in parts.items()], b"".join(a.tobytes() for a in parts.values())


class Desk:
    """The state of one page: its rows, its fits.

    Parameters
    ----------
    folder : Path
        Private to the page; files that were uploaded are in it, and what it takes away is written there.
    tell : callable
        Takes an answer that was not asked for: progress of a fit.
    """

    def __init__(self, folder: Path, tell: Callable[[Answer], None]) -> None:
        self.folder, self._tell = folder, tell
        self._reader: Reader | None = None
        self.rows: Rows | None = None
        self.source: Source | None = None
        self.edits: tuple[Any, Any] = ([], [])
        self.fits: dict[int, LiveFit] = {}
        self.fit: LiveFit | None = None
        self._n_fits = 0

    def answer(self, question: dict[str, Any]) -> Answer:
        """The answer to a question by its name."""
        name = question.get("ask")
        method = getattr(self, f"ask_{name}", None) if isinstance(name, str) and name.isidentifier() else None
        if method is None:
            raise StatementError(f"ask={_checks.show(name)} is not a question")
        answer: Answer = method(question)
        return answer

    # --- the prior -----------------------------------------------------------------------------------------------

    def _prior(self, question: dict[str, Any]) -> tuple[Form, Prior, float, list[str]]:
        rows = self.rows
        form = Form.of(question.get("form"), 1 if rows is None else rows.n_dims)
        with gathered_warnings() as said:
            if rows is None or len(rows.y) < 2:
                return form, form.prior(), 0.0, said
            from porbnet.studio.shown_outcomes import stated

            prior, offset = stated(rows, form)
        return form, prior, offset, said

    def _link(self, f: FloatArray) -> FloatArray:
        """What is shown of values of f."""
        if self.rows is None or len(self.rows.y) < 2:
            return f
        from porbnet.studio.shown_outcomes import SHOWN

        return SHOWN[self.rows.kind].link(f)

    def _ends(self, prior: Prior, question: dict[str, Any]) -> tuple[float, float]:
        """What is shown of the first input."""
        if self.rows is None or len(self.rows.y) < 2 or question.get("whole") is True:
            low, high = prior.region.bounds[0]
        else:
            low, high = self.rows.ends()[0]
        return float(low), float(high)

    def ask_prior(self, question: dict[str, Any]) -> Answer:
        """Draws and curves of a statement."""
        _, prior, offset, said = self._prior(question)
        n = min(_checks.count("draws", question.get("draws", 50)), _MOST_DRAWS)
        n_points = min(_checks.count("points", question.get("points", 400), minimum=2), _MOST_PLACES)
        ends, expected = self._ends(prior, question), prior_view.drawn_units(prior)
        X = prior_view.line(prior, ends, n_points)
        functions = prior_view.draws(prior, X, n, _checks.count("seed", question.get("seed", 0), minimum=0))
        arrays = {"draws": self._link(functions + offset), **prior_view.curves(prior, X)}
        header = {
            "ends": list(ends), "offset": offset, "region": prior.region.bounds.tolist(), "said": said,
            "expected_units": float(expected), "values": _values(prior),
        }  # fmt: skip
        return header, arrays

    def ask_facts(self, question: dict[str, Any]) -> Answer:
        """What a statement means, and advice."""
        form, prior, _, said = self._prior(question)
        ours = form.region == "auto" and isinstance(form.lengthscale, str)  # then they suit the data by themselves
        X = None if self.rows is None or len(self.rows.y) < 2 or ours else self.rows.X
        found = prior_view.facts(prior, self._ends(prior, question), X)
        found["advice"] = list(dict.fromkeys([*said, *found["advice"]]))
        return tidy(found), {}

    def ask_compare(self, question: dict[str, Any]) -> Answer:
        """Draws of the priors that the paper compares with, matched to the statement."""
        from porbnet.studio import counterparts

        _, whole, offset, _ = self._prior(question)
        prior = counterparts.without_line(whole)
        ends, _ = self._ends(prior, question), prior_view.drawn_units(prior)
        x = np.linspace(*ends, _COMPARED_PLACES)[:, None]
        arrays: Arrays = {}

        def add(name: str, draws: FloatArray, variance: FloatArray) -> None:
            arrays[name] = self._link(draws + offset)
            for end, sign in (("low", -2.0), ("high", 2.0)):
                arrays[f"{name}_{end}"] = self._link(offset + sign * np.sqrt(variance))

        add("own", prior_view.draws(prior, x, _COMPARED, 0), prior.variance(x))
        titles = []
        for i, (title, words, other) in enumerate(counterparts.counterparts(prior, ends)):
            add(f"other{i}", other.sample(x, _COMPARED, random_state=0), other.variance(x))
            titles.append({"title": title, "words": words})
        found = {"ends": list(ends), "others": titles, "upcrossings": prior_view.upcrossings(prior, ends)}
        return found | {"line_left_out": whole.trend is not None}, arrays

    # --- data ----------------------------------------------------------------------------------------------------

    def ask_data(self, question: dict[str, Any]) -> Answer:
        """Take rows: of a file that was uploaded, of an example, or by hand; or none."""
        if question.get("source") is None:
            self.rows, self.source, self.edits = None, None, ([], [])
            return {"rows": 0}, {}
        from porbnet.studio import shown_outcomes
        from porbnet.studio.rows import Reader, Source

        source = self._source(question["source"])
        added, removed = question.get("added") or [], question.get("removed") or []
        self._reader = self._reader or Reader()
        rows = self._reader.rows(source, added, removed)
        values = None
        if len(rows.y) >= 2:  # and whether it can be fitted as what it is said to be
            with gathered_warnings():
                values = _values(shown_outcomes.stated(rows, Form.of(LEARNED, rows.n_dims))[0])
        x = tuple(rows.names[:-1])
        self.rows, self.source, self.edits = (
            rows,
            Source(**{**vars(source), "x": x, "y": rows.names[-1]}),
            (added, removed),
        )
        shown = rows.shown()
        header: dict[str, Any] = {
            "rows": len(rows.y), "inputs": rows.names[:-1], "output": rows.names[-1], "columns": rows.columns,
            "remarks": rows.remarks, "own": len(rows.y) - len(added), "shown": shown.tolist(), "dims": rows.n_dims,
            "dates": [None if c is None else {"origin": str(c.instants([0.0])[0]), "unit": c.unit} for c in
                      (rows.calendars or (None,) * rows.n_dims)],
            "kind": rows.kind, "outcome": source.outcome, "exposure": rows.exposure,
            "axis": shown_outcomes.axis_of(rows), "words": _words(rows),
        }  # fmt: skip
        if len(rows.y):
            header["ends"] = rows.ends()
        if values is not None:
            header["values"] = values
        return tidy(header), {"x": rows.X[shown], "y": shown_outcomes.shown_values(rows)[shown]}

    def _source(self, stated: Any) -> Source:
        from porbnet.cli.kinds import OUTCOMES
        from porbnet.studio.rows import Source

        if not isinstance(stated, dict):
            raise _checks.fail("source", stated, "it must be a file, an example or points by hand")
        kind = _checks.choice("kind", stated.get("kind"), ("file", "example", "hand"))
        outcome = _checks.choice("outcome", stated.get("outcome") or "auto", OUTCOMES)
        name, x, y, exposure = (stated.get(key) for key in ("name", "x", "y", "exposure"))
        name, x, exposure = name or "", x or [], exposure or None
        texts = [name, *x, *(text for text in (y, exposure) if text is not None)] if isinstance(x, list) else [None]
        if not all(isinstance(text, str) for text in texts):
            raise _checks.fail("source", stated, "name and columns must be text")
        path = ""
        if kind == "file":
            place = self.folder / "upload"
            found = sorted(place.glob("data*")) if place.is_dir() else []
            if not found:
                raise StatementError("there is no file yet: choose one")
            path = str(found[-1])
        return Source(kind, name, path, tuple(x), y, stated.get("drop_missing") is True, outcome, exposure)

    # --- the fit -------------------------------------------------------------------------------------------------

    def _running(self, stated: Any) -> Running:
        found = stated if isinstance(stated, dict) else {}
        limits = {"n_chains": (1, 8), "n_warmup": (0, 100_000), "n_draws": (1, 100_000), "thin": (1, 1000)}
        counts: dict[str, int] = {}
        for name, (least, most) in limits.items():
            value = found.get(name, getattr(Running, name))
            counts[name] = _checks.count(name, value, minimum=least)
            if value > most:
                raise _checks.fail(name, value, f"on the page it may be at most {most:,}")
        seed = _checks.count("seed", found.get("seed", 0), minimum=0)
        seconds = _checks.positive("seconds", found.get("seconds", Running.seconds))
        if seconds > 3600:
            raise _checks.fail("seconds", seconds, "on the page it may be at most 3,600")
        return Running(**counts, seed=seed, seconds=seconds)

    def _needed(self) -> Rows:
        if self.rows is None or len(self.rows.y) < 2:
            raise StatementError("there are no data to fit: load some, or click on the picture to add points")
        return self.rows

    def ask_fit(self, question: dict[str, Any]) -> Answer:
        """Fit the rows; from where the last fit stood, if `from_last` says so."""
        from porbnet.studio.live_fit import LiveFit

        rows = self._needed()
        form = Form.of(question.get("form"), rows.n_dims)
        before = self.fit if question.get("from_last") is True else None
        if self.fit is not None:
            self.fit.require_rest()
        fit = LiveFit(rows, form, self._running(question.get("running")), self._publish, before)
        self._n_fits += 1
        self.fits[self._n_fits] = self.fit = fit
        while len(self.fits) > _MOST_FITS:
            del self.fits[min(self.fits)]
        fit.start()
        return {"fit": self._n_fits, "said": fit.said}, {}

    def ask_stop(self, question: dict[str, Any]) -> Answer:
        """Stop the chains after the sweeps they are in; the draws there are stay."""
        if self.fit is not None:
            self.fit.stop(0.0)
        return {}, {}

    def ask_go_on(self, question: dict[str, Any]) -> Answer:
        """Go on from where the chains stand."""
        if self.fit is None:
            raise StatementError("there is no fit to go on with")
        if self.fit.phase == "failed":
            raise StatementError(f"the fit has failed ({self.fit.error}): start it anew")
        self.fit.running = Running(**{**vars(self.fit.running), "seconds": self.fit.seconds + self.fit.running.seconds})
        self.fit.go_on(_checks.count("more", question.get("more", self.fit.running.n_draws)))
        return {}, {}

    def ask_recall(self, question: dict[str, Any]) -> Answer:
        """Show an earlier fit again, or none."""
        if self.fit is not None:
            self.fit.require_rest()
        wanted = question.get("fit")
        self.fit = self.fits.get(wanted) if isinstance(wanted, int) else None
        if self.fit is not None:
            self._publish(self.fit)
        return {"fit": wanted if self.fit is not None else None}, {}

    def ask_look(self, question: dict[str, Any]) -> Answer:
        """The page was loaded again: what there is."""
        if self.fit is not None:
            self._publish(self.fit)
        return {
            "fit": next((i for i, f in self.fits.items() if f is self.fit), None),
            "rows": self.rows is not None,
        }, {}

    def _publish(self, fit: LiveFit) -> None:
        number = next((i for i, f in self.fits.items() if f is fit), self._n_fits + 1)
        self._tell(_seen(fit, number))

    # --- to take away --------------------------------------------------------------------------------------------

    def ask_words(self, question: dict[str, Any]) -> Answer:
        """The statement as Python and as a command."""
        from porbnet.studio import take_away

        form = Form.of(question.get("form"), 1 if self.rows is None else self.rows.n_dims)
        running = self._running(question.get("running"))
        source = self.source if self.rows is not None and len(self.rows.y) >= 2 else None
        if source is None:
            form.prior()
        parts = (form, source, *self.edits, running, self.rows)
        return {"python": take_away.python(*parts), "command": take_away.command(*parts)}, {}

    def ask_write(self, question: dict[str, Any]) -> Answer:
        """A file of the fit, in the private folder."""
        from porbnet.studio import take_away

        what = _checks.choice("what", question.get("what"), ("model", "report", "predictions"))
        if self.fit is None or self.fit.model is None:
            raise StatementError("there is no fit to take away yet: fit, and wait for it or stop it")
        return {"file": take_away.write(self.fit, what, self.folder)}, {}


def _words(rows: Rows) -> dict[str, Any]:
    """What is shown of outcomes, in words."""
    from porbnet.studio.shown_outcomes import SHOWN, has_outputs

    shown = SHOWN[rows.kind]
    return {"line": shown.line, "band": shown.band, "outputs": shown.outputs if has_outputs(rows) else "",
            "spread": shown.spread, "scale": shown.scale, "noise": shown.has_noise}  # fmt: skip


def _values(prior: Prior) -> dict[str, Any]:
    """A statement's typical values, as numbers to begin with by hand."""
    middle = 0.5 * (prior.region.low + prior.region.high)
    laws = {} if prior.likelihood is None else {p.name: p.law for p in prior.likelihood.parameters()}
    return {
        "lengthscale": float(prior.lengthscale_at(middle[None])[0]),
        "amplitude": _typical(prior.amplitude),
        "noise": _typical(laws.get("noise")),
        "size": _typical(laws.get("size")),
        "bias": float(prior.bias),
        "region": prior.region.bounds.tolist(),
        "units_per_lengthscale": float(prior.units_per_lengthscale),
        "trend": None if prior.trend is None else float(prior.trend[0]),
    }


def _typical(law: Any) -> float | None:
    """The middle of a law, a number itself."""
    return float(law.median) if isinstance(law, LogNormal) else law if isinstance(law, float) else None


def _seen(fit: LiveFit, number: int) -> Answer:
    """What the page shows of a fit now."""
    from porbnet.studio import live_summary
    from porbnet.studio.shown_outcomes import exact_picture

    made, total = fit.sweeps
    rows = fit.rows
    header: dict[str, Any] = {
        "event": "fit", "fit": number, "phase": fit.phase, "error": fit.error, "sweeps": made, "total": total,
        "seconds": fit.seconds, "dims": rows.n_dims, "ends": rows.ends(), "frames": fit.frames,
        "warming": fit.warming_up, "continued": fit.continued, "said": [_on_the_page(text) for text in fit.said],
        "publishing": fit.publishing, "draws": sum(t.seen for t in fit.tables), "chains": fit.running.n_chains,
        "trust": _trust(fit), "has_model": fit.model is not None, "kind": rows.kind,
    }  # fmt: skip
    if fit.model is not None:
        with gathered_warnings():
            arrays = exact_picture(fit.model, rows, fit.places)
    else:
        arrays = live_summary.picture(fit.tables, fit.frames % 3 == 0, rows)
        standing = fit.standing()
        if not arrays and standing and rows.n_dims == 1:
            arrays["standing"] = np.stack(standing)
    widths, counts = live_summary.width_counts(fit.tables)
    arrays |= {"widths": widths.astype(np.float64), "width_counts": counts.astype(np.float64)}
    if rows.n_dims == 1 and fit.tables:
        arrays["rug"] = np.concatenate([t.last[:, 0] for t in fit.tables])
    return tidy(header), arrays


def _on_the_page(verdict: str) -> str:
    """Advice in the words of the page instead of parameters."""
    verdict = re.sub(r"n_draws=(\d+)", r"\1 draws of each chain", verdict)
    verdict = re.sub(r"max_seconds=(\d+)", r"\1 seconds", verdict)
    noises = {"robust": "heavy tails", "varying": "learned curve", "learned": "learned", "auto": "by the data"}
    return re.sub(rf"noise='({'|'.join(noises)})'", lambda m: f"the noise “{noises[m[1]]}”", verdict)


def _trust(fit: LiveFit) -> dict[str, Any] | None:
    """The verdict, and the quantity that is worst."""
    found = fit.diagnostics
    if found is None:
        return None
    worst = found.least_ess
    return {"good": found.converged, "predictions": found.predictions_converged, "verdict": _on_the_page(found.verdict),
            "worst": worst.words, "rhat": found.worst_rhat.rhat, "ess": worst.least_ess}  # fmt: skip
