// What the page holds: the statement, the data, how to run; kept over a reload, and the statement in the address.

export const DEFAULT = {
  lengthscale: { knots: [[-5, 0.3], [-1.5, 0.35], [2, 1], [5.5, 1.5], [9, 1.5]] },
  amplitude: 2, noise: 0.1, bias: 0, region: [-5, 9], units_per_lengthscale: "auto", trend: "none", size: "learned",
};
export const LEARNED = {
  lengthscale: "learned", amplitude: "learned", noise: "learned", bias: "auto", region: "auto", units_per_lengthscale: "auto", trend: "none", size: "learned",
};
const KEPT = "porbnet-studio";

export const state = {
  page: null,
  form: structuredClone(DEFAULT),
  data: null, // {source: {kind, name, x, y, drop_missing, outcome, exposure}, added: [[x, y]], removed: [row]}
  running: { n_chains: 2, n_draws: 1000, n_warmup: 500, thin: 4, seed: 0, seconds: 300 },
  fit: null, // number of the fit that is shown
};

const past = [];

export function snapshot() {
  return JSON.stringify({ form: state.form, data: state.data, fit: state.fit });
}

// Remember how things are, before they change.
export function remember() {
  const now = snapshot();
  if (past[past.length - 1] !== now) past.push(now);
  if (past.length > 100) past.shift();
}

// How things were before the last change, or null.
export function recall() {
  const now = snapshot();
  while (past.length) {
    const before = past.pop();
    if (before !== now) return JSON.parse(before);
  }
  return null;
}

export const canRecall = () => past.length > 0;

export function keep() {
  const { page, form, data, running, fit } = state;
  try {
    sessionStorage.setItem(KEPT, JSON.stringify({ page, form, data, running, fit }));
  } catch { /* full or forbidden: then a reload begins anew */ }
  history.replaceState(null, "", "#" + toHash(form));
}

export function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT) || "null");
  } catch {
    return null;
  }
}

const pairs = (list) => list.map((pair) => pair.join(",")).join(";");

export function toHash(form) {
  const parts = {};
  for (const [name, value] of Object.entries(form)) {
    if (value !== null && typeof value === "object" && value.knots) parts[name] = "curve:" + pairs(value.knots);
    else if (Array.isArray(value)) parts[name] = Array.isArray(value[0]) ? pairs(value) : value.join(",");
    else parts[name] = String(value);
  }
  return Object.entries(parts).map(([k, v]) => `${k}=${v}`).join("&");
}

const numbers = (text) => text.split(",").map(Number);

// The statement of an address, or null if it holds none; its values are checked where all are.
export function fromHash(hash) {
  const found = new Map(hash.replace(/^#/, "").split("&").map((part) => part.split("=")).filter((p) => p.length === 2));
  if (!found.size || ![...found.keys()].every((name) => name in DEFAULT)) return null;
  const form = structuredClone(DEFAULT);
  for (const [name, raw] of found) {
    const text = decodeURIComponent(raw);
    if (name === "lengthscale" && text.startsWith("curve:")) form[name] = { knots: text.slice(6).split(";").map(numbers) };
    else if (name === "region" && text !== "auto") form[name] = text.includes(";") ? text.split(";").map(numbers) : numbers(text);
    else form[name] = Number.isFinite(Number(text)) && text !== "" ? Number(text) : text;
  }
  return form;
}
