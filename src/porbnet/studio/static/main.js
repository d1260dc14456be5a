// The page's own course: open, ask, show; what was changed is asked for at once, and only the newest of it.

import { short } from "./chart.js";
import * as data from "./data.js";
import * as fit from "./fit.js";
import { charts, drawCompare, drawKeys, drawPrior, forgetRanges, shown } from "./pictures.js";
import { DEFAULT, canRecall, fromHash, keep, kept, recall, remember, state } from "./state.js";
import * as statement from "./statement.js";
import * as take from "./take.js";
import { ask, gone, listen, offered, open, pending } from "./talk.js";

const $ = (id) => document.getElementById(id);

// What is wrong, by topic: each stays until its own topic is right again.
const said = new Map();
export function complain(error, topic = "page") {
  if (error) said.set(topic, error.message || String(error));
  else said.delete(topic);
  const box = $("alert");
  box.hidden = said.size === 0;
  const words = [...said.values()].join(" · ");
  if (box.textContent !== words) box.textContent = words;
  if (error && gone.page) again();
}

// --- the prior: one question at a time, the newest wins ---

let wanted = false, asking = false, since = 0;
const timings = []; // milliseconds from a change to functions on the screen
window.studio = { shown, state, charts, pending, timings, frames: fit.frames }; // for the console: to look at, not to change

async function askPrior() {
  wanted = true;
  if (asking) return;
  asking = true;
  while (wanted) {
    wanted = false;
    const began = since;
    try {
      shown.prior = await ask({ ask: "prior", form: state.form, draws: 50, points: 400, whole: $("whole").checked });
      complain(null, "prior");
      drawPrior();
      statement.showForm();
      await new Promise(requestAnimationFrame);
      timings.push(performance.now() - began);
      if (timings.length > 1000) timings.shift();
      $("fact-units").textContent = short(shown.prior.expected_units);
    } catch (error) {
      complain(error, "prior");
    }
  }
  asking = false;
  later();
}

let timer = 0;
function later() {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    await askFacts();
    await askCompare();
  }, 200);
}

async function askFacts() {
  try {
    const found = await ask({ ask: "facts", form: state.form, whole: $("whole").checked });
    $("fact-units").textContent = short(found.expected_units);
    const [low, high] = found.sd.map((v) => short(Number(v.toPrecision(3))));
    $("fact-sd").textContent = low === high ? low : `${low} to ${high}`;
    $("fact-up").textContent = short(found.upcrossings);
    $("advice").replaceChildren(...found.advice.map((text) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    }));
  } catch { /* the prior has said it */ }
}

async function askCompare() {
  if (!$("compare").open) return;
  try {
    shown.compare = await ask({ ask: "compare", form: state.form, whole: $("whole").checked });
    drawCompare();
  } catch (error) {
    $("compare-words").textContent = error.message;
  }
}

export function refresh() {
  since = performance.now();
  $("undo").disabled = !canRecall();
  fit.showStale();
  return askPrior();
}

// --- from the beginning, and again ---

async function begin(found) {
  state.page = found.page;
  keep();
  listening?.close();
  listening = listen(fit.show, (words) => { complain(new Error(words), "fit"); fit.lost(); }, again,
    () => complain(new Error("The studio was ended. Start `porbnet studio` again; the address of this page holds the prior.")));
}
let listening = null;

async function again() {
  gone.page = false;
  try {
    const found = await open();
    await begin(found);
    complain(new Error("The computing process was ended, as nobody looked at the page; the statement is as it was."));
    shown.fit = null;
    state.fit = null;
    fit.lost();
    await data.reload(found);
    refresh();
  } catch (error) {
    complain(error);
  }
}

async function undo() {
  const before = recall();
  if (!before) return;
  const now = { data: JSON.stringify(state.data), fit: state.fit };
  Object.assign(state, before);
  forgetRanges();
  try {
    if (JSON.stringify(before.data) !== now.data) await data.take(before.data, true);
    if (before.fit !== now.fit) await fit.recall(before.fit);
    complain(null, "data");
  } catch (error) {
    complain(error);
  }
  keep();
  statement.showForm();
  refresh();
}

async function start() {
  const before = kept(), fromLink = fromHash(location.hash);
  if (before) {
    Object.assign(state, before);
    state.form = { ...DEFAULT, ...state.form };
    fit.showRunning();
  }
  if (fromLink) state.form = fromLink;
  statement.onChange(refresh);
  statement.setUp();
  data.setUp(refresh, (error) => complain(error, "data"));
  fit.setUp((error) => complain(error, "fit"));
  take.setUp((error) => complain(error, "take"));
  $("undo").addEventListener("click", undo);
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "z" && !event.target.matches("input[type=number], textarea")) {
      event.preventDefault();
      undo();
    }
  });
  addEventListener("hashchange", () => {
    const form = fromHash(location.hash);
    if (form) {
      remember();
      state.form = form;
      refresh();
    }
  });
  $("whole").addEventListener("change", refresh);
  $("compare").addEventListener("toggle", askCompare);
  $("learn-all").addEventListener("click", () => data.learnAll());
  statement.showForm();
  try {
    data.offer(await offered());
    let found = null;
    if (state.page) {
      try {
        found = { page: state.page, ...(await ask({ ask: "look" })), here: true };
      } catch { /* it has gone */ }
    }
    found ??= await open();
    gone.page = false;
    await begin(found);
    await data.reload(found);
    if (found.here && found.fit !== null) await ask({ ask: "look" });
    else state.fit = null;
  } catch (error) {
    complain(error);
  }
  await refresh();
  drawKeys();
  document.documentElement.dataset.ready = "yes";
}

start();
