// The pictures: functions of the prior, data, the fit, the lengthscale with its knots, noise, width, maps, other priors.

import { Chart, band, colour, curve, dots, field, lines, mapColour, rug, short, ticks } from "./chart.js";
import { state } from "./state.js";

const $ = (id) => document.getElementById(id);
const HUES = ["blue", "sky", "green", "purple", "orange"];

// What is shown: answers of the worker, as they came.
export const shown = { prior: null, data: null, fit: null, compare: null, knots: null };

const dates = (d) => () => shown.data?.dates?.[d] || null;
const named = (x, y) => () => ({ x: shown.data?.inputs?.[x] ?? "x", y: y ?? shown.data?.axis ?? "f" });

const places = () => ({ x: shown.data?.inputs?.[0] ?? "x1", y: shown.data?.inputs?.[1] ?? "x2" });

const main = new Chart($("main-chart"), {
  dates: dates(0), names: () => ({ x: shown.data?.inputs?.[0] ?? "x", y: shown.data?.axis ?? "f" }), label: mainWords,
}, paintMain);
const scale = new Chart($("lengthscale-chart"), { log: true, dates: dates(0), names: () => ({ ...named(0, "lengthscale")(), y: `lengthscale${shown.data?.dates?.[0] ? ` (${shown.data.dates[0].unit})` : ""}` }), label: scaleWords, role: "group" }, paintScale);
const noise = new Chart($("noise-chart"), { dates: dates(0), names: named(0, "noise sd"), label: () => "The noise learned so far, over the input" }, paintNoise);
const width = new Chart($("width-chart"), { x: "units", y: "share of draws", still: true, label: widthWords }, paintWidth);
const mean = new Chart($("map-mean"), { still: true, dates: dates(0), names: places, label: () => mapWords("mean") }, (p) => paintMap(p, "mean"));
const sd = new Chart($("map-sd"), { still: true, dates: dates(0), names: places, label: () => mapWords("sd") }, (p) => paintMap(p, "sd"));
export const charts = { main, scale };

// --- ranges that stay until they no longer suit ---

const sticky = {};
function settled(key, low, high, tight = 0.35) {
  const old = sticky[key], size = high - low;
  if (old && low >= old[0] && high <= old[1] && size > tight * (old[1] - old[0])) return old;
  const room = 0.06 * size || 1;
  return (sticky[key] = [low - (low < 0 && key === "data" && shown.data?.kind !== "real" ? 0 : room), high + room]);
}
export function forgetRanges() {
  for (const key of Object.keys(sticky)) delete sticky[key];
}

function least(list, start = Infinity) {
  for (const v of list) if (v < start) start = v;
  return start;
}
function most(list, start = -Infinity) {
  for (const v of list) if (v > start) start = v;
  return start;
}

function mainRange() {
  const { prior, data, fit } = shown;
  if (data?.y?.length > 1) {
    if (data.kind === "binary") return [-0.09, 1.06]; // room for ticks and rug
    let low = least(data.y), high = most(data.y);
    if (fit?.f_low && fit.kind === data.kind) [low, high] = [least(fit.y_low ?? fit.f_low, low), most(fit.y_high ?? fit.f_high, high)];
    if (low === high) [low, high] = [low - 1, high + 1];
    const room = 0.08 * (high - low);
    return settled("data", data.kind === "real" ? low - room : Math.max(low - room, -0.7 * room), high + room, 0.6);
  }
  if (!prior) return [-1, 1];
  const reach = 3.2 * most(prior.sd);
  return settled("prior", prior.offset - reach, prior.offset + reach);
}

// --- painting ---

function paintMain(p) {
  const { prior, data, fit } = shown;
  const one = !fit || (fit.dims === 1 && fit.kind === (data?.kind ?? fit.kind)), live = fit && one && fit.mean;
  if (prior?.draws && live) ghost(p, prior);
  else if (prior?.draws) lines(p, prior.draws, 50, prior.ends, { names: HUES, alpha: data ? 0.3 : 0.6 });
  if (live) {
    const ends = fit.ends[0];
    if (fit.y_low) band(p, fit.y_low, fit.y_high, ends, "ink", 0.1);
    band(p, fit.f_low, fit.f_high, ends, "blue", 0.35);
    curve(p, fit.mean, ends, "blue", 2);
  } else if (fit?.standing && one) {
    lines(p, fit.standing, fit.standing.length / 200, fit.ends[0], { names: ["blue"], alpha: 0.8, width: 1.5 });
  }
  if (data?.y && data.dims === 1) marks(p, data.x, data);
  if (fit?.rug && one) rug(p, fit.rug, "vermillion");
}

// Observations: dots; of labels, ticks at no and at yes.
function marks(p, x, data) {
  if (data.kind === "binary") ticks(p, x, data.y, "ink");
  else dots(p, x, data.y, "ink", data.y.length > 800 ? 1.5 : 2.4);
}

// Functions of the prior behind a fit: painted once, then copied as long as nothing about them changes.
const kept = { key: null, prior: null, canvas: document.createElement("canvas") };
function ghost(p, prior) {
  const key = [p.left, p.top, p.width, p.height, ...main.xs, ...main.ys, colour("sky")].join();
  if (kept.key !== key || kept.prior !== prior) {
    Object.assign(kept, { key, prior });
    kept.canvas.width = p.left + p.width;
    kept.canvas.height = p.top + p.height;
    lines({ ...p, ctx: kept.canvas.getContext("2d") }, prior.draws, 50, prior.ends, { names: ["sky"], alpha: 0.16, width: 0.8 });
  }
  p.ctx.drawImage(kept.canvas, 0, 0);
}

function paintScale(p) {
  const { prior, fit } = shown;
  if (!prior) return;
  if (prior.lengthscale_low) band(p, prior.lengthscale_low, prior.lengthscale_high, prior.ends, "sky", 0.18, true);
  curve(p, prior.lengthscale, prior.ends, prior.lengthscale_low ? "sky" : "vermillion", prior.lengthscale_low ? 1.2 : 2, true, prior.lengthscale_low ? [5, 4] : []);
  if (learnsScale() && fit?.lengthscale && fit.dims === 1) {
    band(p, fit.lengthscale_low, fit.lengthscale_high, fit.ends[0], "green", 0.3, true);
    curve(p, fit.lengthscale, fit.ends[0], "green", 2, true);
  }
}

function paintNoise(p) {
  const { fit } = shown;
  if (!fit?.noise) return;
  band(p, fit.noise_low, fit.noise_high, fit.ends[0], "orange", 0.3);
  curve(p, fit.noise, fit.ends[0], "orange", 2);
}

function paintWidth(p) {
  const { fit } = shown;
  if (!fit?.widths) return;
  const { first, step, shares } = bars(fit);
  p.ctx.fillStyle = colour("purple");
  shares.forEach((share, i) => {
    const from = first + i * step - 0.5, left = p.X(from + 0.08 * step), top = p.Y(share);
    p.ctx.fillRect(left, top, Math.max(1, p.X(from + 0.92 * step) - left), p.top + p.height - top);
  });
}

// Shares of draws with so many units; several numbers together where they are many.
function bars(fit) {
  const first = least(fit.widths), step = 1 + Math.floor((most(fit.widths) - first) / 60);
  const shares = Array(Math.floor((most(fit.widths) - first) / step) + 1).fill(0), total = fit.width_counts.reduce((a, b) => a + b, 0) || 1;
  fit.widths.forEach((w, i) => { shares[Math.floor((w - first) / step)] += fit.width_counts[i] / total; });
  return { first, step, shares };
}

function mapRange(which) {
  const { fit, data } = shown;
  let low = least(fit[which]), high = most(fit[which]);
  if (which === "mean" && data?.y) [low, high] = [least(data.y, low), most(data.y, high)];
  return [low, high];
}

function paintMap(p, which) {
  const { fit, data } = shown;
  if (!fit?.[which] || fit.dims !== 2) return;
  const [low, high] = mapRange(which), { ctx } = p;
  field(p, fit[which], Math.round(Math.sqrt(fit[which].length)), fit.ends, low, high);
  if (data?.dims === 2) {
    for (let i = 0; i < data.y.length; i++) {
      ctx.beginPath();
      ctx.arc(p.X(data.x[2 * i]), p.Y(data.x[2 * i + 1]), (which === "mean" ? 3 : 1.8) * p.ratio, 0, 7);
      ctx.fillStyle = which === "mean" ? `rgb(${mapColour((data.y[i] - low) / (high - low || 1))})` : "#fff";
      ctx.strokeStyle = which === "mean" ? "#fff" : "#000";
      ctx.lineWidth = 0.7 * p.ratio;
      ctx.fill();
      ctx.stroke();
    }
  }
  key(p, low, high);
}

// A bar of colours with its ends, in the upper right corner.
function key(p, low, high) {
  const { ctx } = p, w = 110 * p.ratio, h = 9 * p.ratio, x = p.left + p.width - w - 10 * p.ratio, y = p.top + 8 * p.ratio;
  ctx.fillStyle = colour("paper");
  ctx.globalAlpha = 0.85;
  ctx.fillRect(x - 6 * p.ratio, y - 5 * p.ratio, w + 12 * p.ratio, h + 24 * p.ratio);
  ctx.globalAlpha = 1;
  for (let i = 0; i < 55; i++) {
    ctx.fillStyle = `rgb(${mapColour(i / 54)})`;
    ctx.fillRect(x + (i * w) / 55, y, w / 55 + 1, h);
  }
  ctx.fillStyle = colour("ink");
  ctx.font = `${11 * p.ratio}px system-ui, sans-serif`;
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
  ctx.fillText(short(low), x, y + h + 2 * p.ratio);
  ctx.textAlign = "right";
  ctx.fillText(short(high), x + w, y + h + 2 * p.ratio);
}

// --- words for those who do not see them ---

function mainWords() {
  const { prior, data, fit } = shown, parts = [];
  if (prior) parts.push(`50 functions drawn from the prior, from ${short(prior.ends[0])} to ${short(prior.ends[1])}, sd of f about ${short(most(prior.sd))}`);
  if (data?.y) parts.push(`${data.rows} observations of ${data.output} given ${data.inputs.join(" and ")}`);
  if (fit?.mean && fit.dims === 1) {
    const n = fit.mean.length, at = (j) => short(fit.mean[j]);
    parts.push(`the fit: ${data?.words?.line ?? "mean"} ${at(0)} at the left, ${at(n >> 1)} in the middle, ${at(n - 1)} at the right`);
  }
  return parts.join("; ") || "Nothing yet";
}
function scaleWords() {
  const { prior } = shown;
  return prior ? `Lengthscale over the input: ${short(prior.lengthscale[0])} at the left, ${short(prior.lengthscale[prior.lengthscale.length - 1])} at the right` : "Lengthscale";
}
function widthWords() {
  const { fit } = shown;
  if (!fit?.widths?.length) return "Units in the network";
  const top = fit.width_counts.indexOf(most(fit.width_counts));
  return `Units in the network: most often ${fit.widths[top]}, from ${fit.widths[0]} to ${fit.widths[fit.widths.length - 1]}`;
}
function mapName(which) {
  const words = shown.data?.words;
  return which === "mean" ? words?.line ?? "mean of f" : words?.spread ?? "sd of f";
}
function mapWords(which) {
  const { fit } = shown;
  if (!fit?.[which]) return "";
  const [low, high] = mapRange(which);
  return `Map of the ${mapName(which)} over ${shown.data?.inputs?.join(" and ")}: from ${short(low)} to ${short(high)}`;
}

// --- drawing ---

export const learnsScale = () => typeof state.form.lengthscale === "string";

export function drawPrior() {
  const { prior } = shown;
  if (!prior) return;
  main.draw(prior.ends, mainRange());
  drawScale();
}

export function drawScale() {
  const { prior, fit } = shown;
  if (!prior) return;
  let low = least(prior.lengthscale_low ?? prior.lengthscale), high = most(prior.lengthscale_high ?? prior.lengthscale);
  if (learnsScale() && fit?.lengthscale_low && fit.dims === 1) [low, high] = [least(fit.lengthscale_low, low), most(fit.lengthscale_high, high)];
  const ys = shown.dragging ? scale.ys : settled("scale", Math.log10(low) - 0.5, Math.log10(high) + 0.5, 0.5);
  scale.draw(prior.ends, ys);
}

export function drawFit() {
  const { fit, prior } = shown;
  const dims = shown.data?.dims ?? 1, drawn = Boolean(fit?.mean && fit.dims === dims && fit.kind === (shown.data?.kind ?? fit.kind));
  const two = drawn && dims === 2, many = drawn && dims > 2;
  $("maps").hidden = !two;
  $("slices").hidden = !many;
  $("main-figure").hidden = two || many;
  $("lengthscale-figure").hidden = $("compare").hidden = dims > 1;
  $("numbers").hidden = !drawn || dims > 1;
  $("noise-figure").hidden = !(fit?.noise && fit.dims === 1);
  $("width-figure").hidden = !(fit?.widths?.length);
  const seldom = !fit || fit.fresh !== false;
  if (fit?.widths?.length && seldom) {
    width.draw([least(fit.widths) - 1, most(fit.widths) + 1], [0, 1.1 * most(bars(fit).shares)]);
  }
  if (two) {
    for (const [which, chart] of [["mean", mean], ["sd", sd]]) {
      const words = mapName(which);
      $(`map-${which}-title`).textContent = words[0].toUpperCase() + words.slice(1);
      chart.draw(fit.ends[0], fit.ends[1]);
    }
    return;
  }
  if (many) return drawSlices();
  main.draw(prior?.ends ?? fit?.ends?.[0] ?? main.xs, mainRange());
  if (!seldom) return;
  drawScale();
  if (fit?.noise && fit.dims === 1) {
    noise.draw(prior?.ends ?? fit.ends[0], settled("noise", 0, 1.1 * most(fit.noise_high), 0.5));
  }
  drawKeys();
}

const spans = (keys) => keys.map(([name, text]) => {
  const span = document.createElement("span");
  span.className = name;
  span.textContent = text;
  return span;
});

export function drawKeys() {
  const { data, fit } = shown, keys = [["key-prior", "prior"]], words = data?.words;
  if (data?.y?.length) keys.push(["key-data", "data"]);
  if (fit?.mean && fit.dims === 1) {
    keys.push(["key-f", words?.band ?? "f, mean and 90 %"]);
    if (fit.y_low) keys.push(["key-y", words?.outputs || "y, 90 %"]);
    keys.push(["key-units", "units of the last draws"]);
  }
  $("keys").replaceChildren(...spans(keys));
  $("main-title").textContent = fit?.mean && fit.dims === 1 ? "The fit, over functions of the prior" : data?.y?.length ? "Data, and functions drawn from the prior" : "Functions drawn from the prior";
  if (data?.dims > 1) $("main-title").textContent += ", along the first input";
}

export function renamed() {
  for (const chart of [main, scale, noise, mean, sd, ...panels]) chart.renamed();
}

// --- several inputs: the fit along each ---

const panels = [];
function drawSlices() {
  const { fit } = shown, n = Math.min(fit.dims, 9), host = $("slices-charts");
  while (panels.length > n) {
    const gone = panels.pop();
    gone.host.remove();
    gone.forget();
  }
  while (panels.length < n) {
    const d = panels.length, box = document.createElement("div");
    box.className = "chart slice";
    host.append(box);
    panels.push(new Chart(box, { still: true, dates: dates(d), names: named(d, d ? "" : undefined), label: () => sliceWords(d) }, (p) => paintSlice(p, d)));
  }
  const ys = mainRange();
  panels.forEach((chart, d) => chart.draw(fit.ends[d], ys));
  $("slices-title").textContent = "The fit along each input, the others at their medians" + (fit.dims > n ? `: the first ${n} of ${fit.dims}` : "");
  $("slices-keys").replaceChildren(...spans([["key-data", "data"], ["key-f", shown.data.words.band], ...(fit.y_low ? [["key-y", shown.data.words.outputs]] : [])]));
}

function along(d) {
  const { fit } = shown, n = fit.mean.length / Math.min(fit.dims, 9);
  return (values) => values.subarray(d * n, (d + 1) * n);
}

function paintSlice(p, d) {
  const { fit, data } = shown;
  if (!fit?.mean || !(fit.dims > 2)) return;
  const part = along(d), ends = fit.ends[d];
  if (fit.y_low) band(p, part(fit.y_low), part(fit.y_high), ends, "ink", 0.1);
  if (data?.dims === fit.dims) {
    p.ctx.globalAlpha = 0.35;
    marks(p, data.y.map((v, i) => data.x[i * data.dims + d]), data);
    p.ctx.globalAlpha = 1;
  }
  band(p, part(fit.f_low), part(fit.f_high), ends, "blue", 0.35);
  curve(p, part(fit.mean), ends, "blue", 2);
}

function sliceWords(d) {
  const { fit, data } = shown;
  if (!fit?.mean || !(fit.dims > 2)) return "";
  const values = along(d)(fit.mean);
  return `The fit along ${data?.inputs?.[d]}: ${data?.words?.line} ${short(values[0])} at the left, ${short(values[values.length >> 1])} in the middle, ${short(values[values.length - 1])} at the right`;
}

// --- other priors ---

const others = [];
export function drawCompare() {
  const { compare } = shown, host = $("compare-charts");
  if (!compare) return;
  const titles = [{ title: "PoRB-NET", words: "as stated", table: "own" }, ...compare.others.map((o, i) => ({ ...o, table: `other${i}` }))];
  if (others.length !== titles.length) {
    host.replaceChildren();
    others.length = 0;
    for (const { title } of titles) {
      const figure = document.createElement("figure"), caption = document.createElement("figcaption"), box = document.createElement("div");
      box.className = "chart small";
      figure.append(caption, box);
      host.append(figure);
      const index = others.length;
      others.push({ caption, chart: new Chart(box, { still: true, dates: dates(0), label: () => `Functions of the ${title}` }, (p) => paintOther(p, index)) });
    }
  }
  const low = least(compare.own_low), high = most(compare.own_high), room = 0.3 * (high - low), { kind } = shown.data ?? {};
  const ys = kind === "binary" ? [-0.05, 1.05] : [kind && kind !== "real" ? 0 : low - room, high + room];
  titles.forEach(({ title, words, table }, i) => {
    others[i].table = table;
    others[i].caption.textContent = `${title}: ${words}`;
    others[i].chart.draw(compare.ends, ys);
  });
  $("compare-words").textContent = `Each has ${short(compare.upcrossings)} expected upcrossings and the same variance on average; dashes are two sd.${compare.line_left_out ? " The trend is left out." : ""}`;
}

function paintOther(p, index) {
  const { compare } = shown, name = others[index].table;
  lines(p, compare[name], 10, compare.ends, { names: HUES, alpha: 0.75 });
  for (const end of ["low", "high"]) curve(p, compare[`${name}_${end}`], compare.ends, "soft", 1, false, [4, 4]);
}
