// The form of the prior: number boxes, what is learned, and the curve of the lengthscale with knots to drag.

import { short } from "./chart.js";
import { charts, drawScale, learnsScale, shown } from "./pictures.js";
import { keep, remember, state } from "./state.js";

const $ = (id) => document.getElementById(id);
const ENTRIES = { lengthscale: "lengthscale", amplitude: "amplitude", noise: "noise", bias: "bias", units_per_lengthscale: "units", trend: "trend", size: "size" };
const WORDS = { lengthscale: ["learned", "constant"], amplitude: ["learned"], noise: ["learned", "varying", "robust", "auto"], bias: ["auto"], region: ["auto"], units_per_lengthscale: ["auto"], trend: ["none", "linear"], size: ["learned", "poisson"] };
const WITHOUT_ASKING = ["none", "poisson"]; // words that need no data
const WITHOUT_DATA = { lengthscale: 1, amplitude: 1, noise: 0.1, bias: 0, region: [0, 10], units_per_lengthscale: 2, trend: 1, size: 10 };

let changed = () => {};
export function onChange(callback) {
  changed = callback;
}

// The worker's values for what is learned, as numbers to begin with by hand.
const usual = (name) => shown.prior?.values?.[name] ?? shown.data?.values?.[name] ?? WITHOUT_DATA[name];
const tidy = (v) => Number(v.toPrecision(3));

function usualRegion() {
  const found = usual("region");
  const pairs = Array.isArray(found[0]) ? found : [found];
  return pairs.length > 1 ? pairs.map((p) => p.map(tidy)) : pairs[0].map(tidy);
}

const kindOf = (name) => {
  const value = state.form[name];
  if (typeof value === "string") return value;
  return value?.knots ? "curve" : "number";
};

// Show the form as the state has it.
export function showForm() {
  const enough = (shown.data?.rows ?? 0) >= 2, dims = shown.data?.dims ?? 1, { words } = shown.data ?? {};
  $("noise-entry").hidden = $("trend-entry").hidden = enough && words?.noise === false;
  $("size-entry").hidden = !(enough && shown.data.kind === "counts");
  for (const span of document.querySelectorAll(".scale")) span.textContent = enough && words?.scale ? ` (${words.scale})` : "";
  for (const [name, id] of [...Object.entries(ENTRIES), ["region", "region"]]) {
    const kind = $(`${id}-kind`), now = kindOf(name);
    kind.value = now;
    for (const option of kind.options) {
      const needs = WORDS[name].includes(option.value) && name !== "units_per_lengthscale" && !WITHOUT_ASKING.includes(option.value) && !enough;
      option.disabled = needs || (option.value === "curve" && dims > 1) || (name === "region" && option.value === "number" && dims > 2);
    }
    if (name === "region") continue;
    const box = $(id), value = state.form[name];
    box.disabled = now !== "number";
    if (document.activeElement !== box) box.value = now === "number" ? value : ["curve", "none", "poisson"].includes(now) ? "" : tidy(usual(name) ?? 1);
  }
  showRegion(dims);
  $("learn-all").disabled = !enough;
  $("knots-table").hidden = kindOf("lengthscale") !== "curve";
  $("lengthscale-title").textContent = learnsScale() ? "Lengthscale over the input: prior, and what was learned" : "Lengthscale over the input: drag the knots";
  showKnots();
}

function showRegion(dims) {
  const value = state.form.region === "auto" ? usualRegion() : state.form.region;
  const pairs = Array.isArray(value[0]) ? value : [value];
  $("region-second").hidden = dims !== 2;
  [["region-low", 0, 0], ["region-high", 0, 1], ["region-low2", 1, 0], ["region-high2", 1, 1]].forEach(([id, d, end]) => {
    $(id).disabled = state.form.region === "auto";
    if (document.activeElement !== $(id)) $(id).value = pairs[d]?.[end] ?? "";
  });
}

function kindChanged(name, id) {
  const kind = $(`${id}-kind`).value, now = state.form[name];
  remember();
  if (WORDS[name].includes(kind)) state.form[name] = kind;
  else if (kind === "curve") state.form[name] = { knots: knots() };
  else if (name === "region") state.form.region = usualRegion();
  else state.form[name] = now?.knots ? tidy(now.knots[now.knots.length >> 1][1]) : tidy(usual(name) ?? 1);
  committed();
}

function numberChanged(name, id) {
  const value = $(id).valueAsNumber;
  $(id).classList.toggle("wrong", !Number.isFinite(value));
  if (!Number.isFinite(value)) return;
  state.form[name] = value;
  moving();
}

function regionChanged() {
  const at = (id) => $(id).valueAsNumber, first = [at("region-low"), at("region-high")];
  const pairs = shown.data?.dims === 2 ? [first, [at("region-low2"), at("region-high2")]] : first;
  if (!pairs.flat().every(Number.isFinite)) return;
  state.form.region = pairs;
  moving();
}

function moving() {
  showForm();
  changed();
}
function committed() {
  keep();
  moving();
}

// --- knots ---

// The knots there are, or some that say the same as a number.
export function knots() {
  const { lengthscale } = state.form;
  if (lengthscale?.knots) return lengthscale.knots.map((k) => [...k]);
  const [low, high] = shown.prior?.ends ?? [0, 1], level = typeof lengthscale === "number" ? lengthscale : tidy(usual("lengthscale"));
  return [0, 0.25, 0.5, 0.75, 1].map((t) => [Number((low + t * (high - low)).toPrecision(6)), level]);
}

function moved(index, x, value) {
  const list = knots(), [low, high] = shown.prior.ends, gap = 0.005 * (high - low);
  const left = index > 0 ? list[index - 1][0] + gap : -Infinity, right = index < list.length - 1 ? list[index + 1][0] - gap : Infinity;
  list[index] = [Number(Math.min(Math.max(x, left), right).toPrecision(6)), Number(value.toPrecision(4))];
  state.form.lengthscale = { knots: list };
  moving();
}

function handle(index) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "knot";
  button.setAttribute("role", "slider");
  button.setAttribute("aria-orientation", "vertical");
  button.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    button.focus({ preventScroll: true });
    button.setPointerCapture(event.pointerId);
    remember();
    shown.dragging = true;
    const move = (e) => {
      const [x, y] = charts.scale.at(e), [y0, y1] = charts.scale.ys;
      moved(index, x, 10 ** Math.min(Math.max(y, y0), y1));
    };
    const up = () => {
      button.removeEventListener("pointermove", move);
      shown.dragging = false;
      drawScale();
      keep();
    };
    button.addEventListener("pointermove", move);
    button.addEventListener("pointerup", up, { once: true });
    button.addEventListener("pointercancel", up, { once: true });
  });
  button.addEventListener("keydown", (event) => {
    const [x, value] = knots()[index], [low, high] = shown.prior.ends, step = event.shiftKey ? 1.5 : 1.1;
    const to = { ArrowUp: [x, value * step], ArrowDown: [x, value / step], ArrowLeft: [x - 0.02 * (high - low), value], ArrowRight: [x + 0.02 * (high - low), value] }[event.key];
    if (event.key === "Delete" || event.key === "Backspace") removeKnot(index);
    else if (to) {
      remember();
      moved(index, ...to);
      keep();
    } else return;
    event.preventDefault();
  });
  return button;
}

function removeKnot(index) {
  const list = knots();
  if (list.length <= 2) return;
  remember();
  list.splice(index, 1);
  state.form.lengthscale = { knots: list };
  committed();
}

function addKnot(at) {
  const list = knots();
  if (list.length >= 32) return;
  remember();
  let gap = 0;
  list.forEach((k, i) => { if (i && k[0] - list[i - 1][0] > list[gap + 1][0] - list[gap][0]) gap = i - 1; });
  const [x, value] = at ?? [0.5 * (list[gap][0] + list[gap + 1][0]), Math.sqrt(list[gap][1] * list[gap + 1][1])];
  list.push([Number(x.toPrecision(6)), Number(value.toPrecision(4))]);
  list.sort((a, b) => a[0] - b[0]);
  if (list.some((k, i) => i && k[0] <= list[i - 1][0])) return;
  state.form.lengthscale = { knots: list };
  committed();
}

const handles = [];
function showKnots() {
  const list = learnsScale() || shown.data?.dims > 1 || !shown.prior ? [] : knots(), host = $("lengthscale-chart");
  while (handles.length > list.length) handles.pop().remove();
  while (handles.length < list.length) {
    const button = handle(handles.length);
    handles.push(button);
    host.append(button);
  }
  placeKnots();
  const table = $("knots");
  if (kindOf("lengthscale") !== "curve" || table.contains(document.activeElement)) return;
  table.replaceChildren(...list.map(([x, value], i) => {
    const row = document.createElement("div");
    row.className = "knot-row";
    const boxes = [["at", x], ["lengthscale", value]].map(([what, v]) => {
      const box = document.createElement("input");
      box.type = "number";
      box.step = "any";
      box.value = v;
      box.setAttribute("aria-label", `Knot ${i + 1}, ${what}`);
      return box;
    });
    for (const box of boxes) {
      box.addEventListener("change", () => {
        if (!boxes.every((b) => Number.isFinite(b.valueAsNumber)) || boxes[1].valueAsNumber <= 0) return;
        remember();
        moved(i, boxes[0].valueAsNumber, boxes[1].valueAsNumber);
        keep();
      });
    }
    const gone = document.createElement("button");
    gone.type = "button";
    gone.textContent = "×";
    gone.setAttribute("aria-label", `Remove knot ${i + 1}`);
    gone.addEventListener("click", () => removeKnot(i));
    row.append(...boxes, gone);
    return row;
  }));
}

function placeKnots() {
  const { plot } = charts.scale;
  if (!plot || !handles.length) return;
  const list = knots(), over = plot.over, [x0, x1] = charts.scale.xs, [y0, y1] = charts.scale.ys;
  const left = over.offsetLeft, top = over.offsetTop, { clientWidth: w, clientHeight: h } = over;
  list.forEach(([x, value], i) => {
    if (!handles[i]) return;
    const px = ((x - x0) / (x1 - x0)) * w, py = h - ((Math.log10(value) - y0) / (y1 - y0)) * h;
    handles[i].style.left = `${left + px}px`;
    handles[i].style.top = `${top + Math.min(Math.max(py, 0), h)}px`;
    handles[i].hidden = px < -1 || px > w + 1;
    handles[i].setAttribute("aria-label", `Lengthscale at ${short(x)}`);
    handles[i].setAttribute("aria-valuenow", short(value));
    handles[i].setAttribute("aria-valuemin", "0");
    handles[i].setAttribute("aria-valuetext", short(value));
  });
}

export function setUp() {
  charts.scale.onPainted = placeKnots;
  $("statement").addEventListener("submit", (event) => event.preventDefault());
  for (const [name, id] of Object.entries(ENTRIES)) {
    $(`${id}-kind`).addEventListener("change", () => kindChanged(name, id));
    $(id).addEventListener("focus", remember);
    $(id).addEventListener("input", () => numberChanged(name, id));
    $(id).addEventListener("change", keep);
  }
  $("region-kind").addEventListener("change", () => kindChanged("region", "region"));
  for (const id of ["region-low", "region-high", "region-low2", "region-high2"]) {
    $(id).addEventListener("focus", remember);
    $(id).addEventListener("input", regionChanged);
    $(id).addEventListener("change", keep);
  }
  $("add-knot").addEventListener("click", () => addKnot());
  $("lengthscale-chart").addEventListener("dblclick", (event) => {
    if (learnsScale() || event.target.classList.contains("knot") || !charts.scale.plot) return;
    const [x, y] = charts.scale.at(event);
    addKnot([x, 10 ** y]);
  });
}
