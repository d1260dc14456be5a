// The fit, as it runs: buttons, progress, and whether it can be trusted yet.

import { dateText, short } from "./chart.js";
import { drawFit, shown } from "./pictures.js";
import { keep, remember, state } from "./state.js";
import { ask } from "./talk.js";

const $ = (id) => document.getElementById(id);
const RUNNING = ["n_chains", "n_draws", "n_warmup", "thin", "seconds", "seed"];
let complain = () => {}, fitted = null;
export const frames = []; // when pictures of a running fit came

export function showRunning() {
  for (const name of RUNNING) if (state.running[name] !== undefined) $(name).value = state.running[name];
}

function readRunning() {
  for (const name of RUNNING) {
    const value = $(name).valueAsNumber;
    if (Number.isFinite(value)) state.running[name] = value;
  }
  keep();
}

const stated = () => JSON.stringify([state.form, state.data]);

export function showStale() {
  const old = shown.fit && fitted !== null && fitted !== stated();
  $("fit").textContent = shown.fit ? (old ? "Fit again" : "Fit anew") : "Fit";
  document.documentElement.dataset.stale = old ? "yes" : "no";
  if (old && shown.fit.phase !== "running") $("fit-words").textContent = "The statement or the data have changed since this fit.";
}

async function start() {
  readRunning();
  remember();
  buttons("preparing");
  try {
    const found = await ask({ ask: "fit", form: state.form, running: state.running, from_last: $("from-last").checked && fitted !== null && fitted !== stated() });
    fitted = stated();
    state.fit = found.fit;
    keep();
    complain(null);
  } catch (error) {
    complain(error);
    buttons(shown.fit?.phase ?? null);
  }
}

export async function recall(number) {
  shown.fit = null;
  const found = await ask({ ask: "recall", fit: number });
  fitted = found.fit === null ? null : stated();
  if (found.fit === null) lost();
}

// The fit is no more.
export function lost() {
  shown.fit = null;
  fitted = null;
  state.fit = null;
  buttons(null);
  $("fit-words").textContent = "";
  trust("", "State a prior, or load data.");
  drawFit();
}

function buttons(phase) {
  document.documentElement.dataset.phase = phase ?? "";
  const runs = phase === "running" || phase === "preparing", rests = ["stopped", "done", "out of time"].includes(phase);
  $("fit").disabled = runs || !(shown.data?.rows >= 2);
  $("stop").disabled = !runs;
  $("go-on").disabled = !rests;
  $("go-on").textContent = phase === "done" ? "More draws" : "Go on";
  for (const what of ["model", "report", "predictions"]) $(`take-${what}`).disabled = !(rests && shown.fit?.has_model);
  $("progress").hidden = !runs;
}

function trust(kind, words) {
  const box = $("trust");
  box.className = `trust ${kind}`;
  if (box.textContent !== words) box.textContent = words;
}

const verdict = ({ good, predictions, verdict: words }) => (good ? "Yes: " : predictions ? "" : "Not yet: ") + (predictions && !good ? words[0].toUpperCase() + words.slice(1) : words);

const WORDS = {
  preparing: "Preparing; the first fit of its kind compiles, once.", stopped: "Stopped.", done: "Done.",
  "out of time": "The time is up; go on, or allow more seconds.",
};

function words(fit) {
  const share = fit.total ? Math.round((100 * fit.sweeps) / fit.total) : 0;
  const made = `${fit.draws} draws of ${fit.chains} chains, ${short(Number(fit.seconds.toPrecision(2)))} s`;
  if (fit.phase === "failed") return `Failed: ${fit.error}`;
  if (fit.phase === "preparing" && state.form.noise === "auto") return "Preparing: short fits choose the noise first.";
  const first = fit.phase === "running" ? (fit.warming ? `Warming up, ${share} %.` : `Drawing, ${share} %.`) : WORDS[fit.phase];
  const began = fit.continued ? " Begun where the chains were." : "";
  return `${first} ${made}.${began} ${fit.said.join(" ")}`;
}

// A new picture of the fit.
export function show(fit) {
  if (state.fit !== null && fit.fit < state.fit) return;
  const old = shown.fit, runs = fit.phase === "running";
  if (runs) frames.push(performance.now());
  if (frames.length > 2000) frames.shift();
  fit.fresh = !runs || Boolean(fit.lengthscale) || fit.dims !== 1 || !old?.mean; // whether what changes slowly is drawn again
  if (runs && old?.fit === fit.fit) {
    for (const name of ["lengthscale", "lengthscale_low", "lengthscale_high", "noise", "noise_low", "noise_high"]) fit[name] ??= old[name];
  }
  if (fit.phase === "failed") complain(new Error(fit.error));
  if (fit.phase === "preparing" && old) {
    buttons(fit.phase);
    $("fit-words").textContent = words(fit);
    return;
  }
  shown.fit = fit;
  state.fit = fit.fit;
  if (fitted === null) fitted = stated();
  drawFit();
  buttons(fit.phase);
  $("progress").value = fit.total ? fit.sweeps / fit.total : 0;
  $("fit-words").textContent = words(fit);
  if (fit.trust) trust(fit.trust.good ? "good" : fit.trust.predictions ? "fair" : "bad", `Can it be trusted? ${verdict(fit.trust)}.`);
  else trust("", runs ? "Can it be trusted? Too early to say." : WORDS[fit.phase] ?? "");
  if (!runs) numbers(fit);
  showStale();
}

// The fit as a table, for those who would rather read.
function numbers(fit) {
  const host = $("numbers-table");
  if (!fit.mean || fit.dims !== 1) return host.replaceChildren();
  const table = document.createElement("table"), head = table.createTHead().insertRow(), body = table.createTBody();
  const of = shown.data?.words?.line ?? "mean of f", what = of === "mean of f" ? "f" : of, names = [shown.data?.inputs?.[0] ?? "x", of, `${what}, 5 %`, `${what}, 95 %`];
  const columns = [fit.mean, fit.f_low, fit.f_high];
  for (const [name, values] of [["y, 5 %", fit.y_low], ["y, 95 %", fit.y_high], ["lengthscale", fit.lengthscale], ["noise", fit.noise]]) {
    if (!values) continue;
    names.push(name);
    columns.push(values);
  }
  for (const name of names) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = name;
    head.append(cell);
  }
  const n = fit.mean.length, [low, high] = fit.ends[0];
  for (let k = 0; k <= 10; k++) {
    const j = Math.round((k * (n - 1)) / 10), row = body.insertRow();
    const at = low + (j / (n - 1)) * (high - low), dates = shown.data?.dates?.[0];
    row.insertCell().textContent = dates ? dateText(at, dates, high - low) : short(at);
    for (const values of columns) row.insertCell().textContent = short(values[j]);
  }
  host.replaceChildren(table);
}

export function setUp(onError) {
  complain = onError;
  const guarded = (work) => async () => {
    try {
      await work();
    } catch (error) {
      complain(error);
    }
  };
  $("fit").addEventListener("click", start);
  $("stop").addEventListener("click", guarded(() => ask({ ask: "stop" })));
  $("go-on").addEventListener("click", guarded(async () => {
    readRunning();
    buttons("preparing");
    await ask({ ask: "go_on", more: state.running.n_draws });
  }));
  for (const name of RUNNING) $(name).addEventListener("change", readRunning);
}
