// Data: a file, an example, points by hand; which columns; and what was found.

import { charts, drawFit, drawKeys, forgetRanges, renamed, shown } from "./pictures.js";
import { DEFAULT, LEARNED, keep, remember, state } from "./state.js";
import { showForm } from "./statement.js";
import { ask, upload } from "./talk.js";

const $ = (id) => document.getElementById(id);
let refresh = () => {}, complain = () => {}, mostBytes = Infinity;

export function offer(found) {
  mostBytes = found.most_bytes;
  const list = $("example");
  list.replaceChildren(new Option("none", ""), ...Object.entries(found.examples).map(([name, title]) => new Option(title, name)));
}

const untouched = () => JSON.stringify(state.form) === JSON.stringify(DEFAULT);

// Take data of a source; without `quiet` the statement follows where it must.
export async function take(wanted, quiet = false) {
  const found = await ask({ ask: "data", source: wanted?.source ?? null, added: wanted?.added ?? [], removed: wanted?.removed ?? [] });
  state.data = wanted;
  if (wanted && found.inputs && wanted.source.kind === "file") wanted.source = { ...wanted.source, x: found.inputs, y: found.output };
  shown.data = wanted ? { ...found, source: wanted.source } : null;
  forgetRanges();
  if (!quiet) follow(found);
  showData();
  renamed();
  showForm();
  keep();
}

// The statement that suits new data: all learned if nothing was stated, or if it was stated for elsewhere.
function follow(found) {
  if (!found.rows || found.rows < 2) {
    if (Object.entries(state.form).some(([name, v]) => typeof v === "string" && name !== "units_per_lengthscale")) state.form = structuredClone(DEFAULT);
    return;
  }
  if (untouched()) state.form = { ...LEARNED };
  if (found.dims > 1 && state.form.lengthscale?.knots) state.form.lengthscale = "learned";
  const region = state.form.region;
  if (region === "auto") return;
  const pairs = Array.isArray(region[0]) ? region : [region];
  const inside = pairs.length === found.dims && found.ends.every(([low, high], d) => low >= pairs[d][0] && high <= pairs[d][1]);
  if (inside) return;
  state.form = { ...LEARNED };
  found.remarks = [...(found.remarks ?? []), "The data lie outside the region that was stated, so all is learned from them; Undo brings the statement back"];
}

export function learnAll() {
  remember();
  state.form = { ...LEARNED };
  showForm();
  keep();
  refresh();
}

async function change(wanted) {
  remember();
  try {
    await take(wanted);
    complain(null);
  } catch (error) {
    complain(error);
    showData();
    return;
  }
  drawFit();
  await refresh();
}

async function loadFile(file) {
  if (!file) return;
  if (file.size > mostBytes) {
    complain(new Error(`“${file.name}” has ${(file.size / 2 ** 20).toFixed(0)} MB, and the page takes up to ${(mostBytes / 2 ** 20).toFixed(0)}: \`porbnet fit\` takes larger files`));
    return;
  }
  complain(null);
  $("data-words").textContent = `Reading ${file.name} …`;
  try {
    await upload(file);
  } catch (error) {
    complain(error);
    showData();
    return;
  }
  $("example").value = "";
  await change(fresh("file", file.name, { drop_missing: $("drop-missing").checked }));
}

// Data of a source of which nothing else is said.
const fresh = (kind, name = "", more = {}) => ({ source: { kind, name, x: [], y: null, drop_missing: false, outcome: "auto", exposure: null, ...more }, added: [], removed: [] });

const KINDS = { real: "numbers", binary: "yes or no", counts: "counts", positive: "above zero" };

function showData() {
  const { data } = shown, words = [];
  $("columns").hidden = !(data && data.columns?.length > 2) && !(data && data.source.kind === "file");
  if (data) {
    const inputs = data.inputs?.length > 2 ? `${data.inputs.slice(0, -1).join(", ")} and ${data.inputs.at(-1)}` : data.inputs?.join(" and ");
    if (data.rows !== undefined) words.push(`${data.rows} rows${data.source.kind === "file" ? ` of ${data.source.name}` : ""}: ${data.output} given ${inputs}.`);
    for (const remark of data.remarks ?? []) words.push(remark[0].toUpperCase() + remark.slice(1).replace(/\.?$/, "."));
    const options = (chosen, none) => [...(none ? [new Option("none", "", false, !chosen)] : []), ...data.columns.map((c) => new Option(c, c, false, c === chosen))];
    $("column-x").replaceChildren(...options(data.inputs[0], false));
    $("column-x2").replaceChildren(...options(data.inputs[1], true));
    $("column-y").replaceChildren(...options(data.output, false));
    $("drop-missing").checked = data.source.drop_missing === true;
    $("outcome").value = data.outcome;
    $("outcome").options[0].textContent = data.outcome === "auto" ? `${data.source.kind === "example" ? "as given" : "as it looks"}: ${KINDS[data.kind]}` : "as it looks";
    $("exposure").replaceChildren(new Option("none", ""), ...data.columns.filter((c) => c !== data.output).map((c) => new Option(c, c, false, c === data.exposure)));
    showFurther(data);
  }
  $("outcome-row").hidden = !data?.kind;
  $("exposure-row").hidden = !(data?.kind === "counts" && data.source.kind === "file" && data.columns.length > 2);
  $("second-row").hidden = !(data?.columns?.length > 2);
  $("example").value = data?.source.kind === "example" ? data.source.name : "";
  $("data-words").textContent = words.join(" ");
  $("fit").disabled = !(data?.rows >= 2);
  drawKeys();
}

// Boxes for inputs beyond the second.
function showFurther(data) {
  const rest = data.columns.filter((c) => c !== data.output && c !== data.exposure && !data.inputs.slice(0, 2).includes(c));
  $("further").hidden = data.inputs.length < 2 || rest.length === 0 || data.source.kind !== "file";
  $("further-inputs").replaceChildren(...rest.map((name) => {
    const label = document.createElement("label"), box = document.createElement("input");
    box.type = "checkbox";
    box.value = name;
    box.checked = data.inputs.includes(name);
    box.addEventListener("change", chooseColumns);
    label.append(box, ` ${name}`);
    return label;
  }));
}

function chooseColumns() {
  if (!state.data) return;
  const { source } = state.data, y = $("column-y").value, other = source.kind === "file" && y !== source.y;
  const outcome = other ? "auto" : $("outcome").value, exposure = outcome === "counts" && !$("exposure-row").hidden ? $("exposure").value || null : null;
  const further = [...$("further-inputs").querySelectorAll("input:checked")].map((box) => box.value);
  const x = [$("column-x").value, $("column-x2").value, ...($("column-x2").value ? further : [])].filter((v, i, all) => v && v !== exposure && all.indexOf(v) === i);
  const same = source.kind !== "file" || JSON.stringify([x, y, $("drop-missing").checked]) === JSON.stringify([source.x, source.y, source.drop_missing]);
  const edits = same ? { added: state.data.added, removed: state.data.removed } : { added: [], removed: [] }; // points stay if columns do
  change({ source: { ...source, ...(source.kind === "file" ? { x, y, drop_missing: $("drop-missing").checked } : {}), outcome, exposure }, ...edits });
}

const current = () => structuredClone(state.data) ?? fresh("hand");
const mode = () => document.querySelector("input[name=mode]:checked").value;

function addPoint(x, y) {
  const wanted = current(), kind = shown.data?.kind;
  const value = kind === "binary" ? Number(y >= 0.5) : kind === "counts" ? Math.max(0, Math.round(y)) : Number(y.toPrecision(6));
  wanted.added.push([Number(x.toPrecision(6)), value]);
  return change(wanted);
}

// Remove the row that is nearest to a place of the screen, if one is near.
function removeNear(event) {
  const box = charts.main.plot.over.getBoundingClientRect();
  removeNearest([event.clientX - box.left, event.clientY - box.top], 24);
}

function removeNearest(at, reach) {
  const { data } = shown, { main } = charts;
  if (!data?.y?.length || data.dims !== 1) return;
  let best = -1, nearest = reach ** 2;
  for (let i = 0; i < data.y.length; i++) {
    const d = (main.plot.valToPos(data.x[i], "x") - at[0]) ** 2 + (main.plot.valToPos(data.y[i], "y") - at[1]) ** 2;
    if (d < nearest) [best, nearest] = [i, d];
  }
  if (best < 0) return;
  const wanted = current(), row = data.shown[best];
  if (row >= data.own) wanted.added.splice(row - data.own, 1);
  else wanted.removed = [...wanted.removed, original(row, wanted.removed)];
  change(wanted);
}

// The number that a row has in its source, given those removed before.
function original(row, removed) {
  for (const gone of [...removed].sort((a, b) => a - b)) if (gone <= row) row += 1;
  return row;
}

// After a reload: the data again.
export async function reload(found) {
  if (found.file && !state.data) state.data = fresh("file", found.file);
  if (!state.data) return;
  const lostFile = state.data.source.kind === "file" && !found.here && found.file !== state.data.source.name;
  try {
    if (lostFile) throw new Error(`choose “${state.data.source.name}” again: the page was closed, and its file is gone`);
    await take(state.data, Boolean(found.here));
  } catch (error) {
    state.data = null;
    shown.data = null;
    complain(error);
    if (Object.values(state.form).some((v) => v === "learned")) state.form = structuredClone(DEFAULT);
    showForm();
  }
}

export function setUp(onRefresh, onError) {
  refresh = onRefresh;
  complain = onError;
  $("file").addEventListener("change", () => loadFile($("file").files[0]));
  for (const area of [$("drop"), document.body]) {
    area.addEventListener("dragover", (event) => { event.preventDefault(); $("drop").classList.add("over"); });
    area.addEventListener("dragleave", () => $("drop").classList.remove("over"));
  }
  document.body.addEventListener("drop", (event) => {
    event.preventDefault();
    $("drop").classList.remove("over");
    loadFile(event.dataTransfer.files[0]);
  });
  $("example").addEventListener("change", () => {
    const name = $("example").value;
    change(name ? fresh("example", name) : null);
  });
  for (const id of ["column-x", "column-x2", "column-y", "outcome", "exposure"]) $(id).addEventListener("change", chooseColumns);
  $("drop-missing").addEventListener("change", () => { if (state.data?.source.kind === "file") chooseColumns(); });
  const typed = (work) => () => {
    const [x, y] = [$("add-x").valueAsNumber, $("add-y").valueAsNumber];
    if (Number.isFinite(x) && Number.isFinite(y)) work(x, y);
    else complain(new Error("x and y must be numbers"));
  };
  $("add-point").addEventListener("click", typed(addPoint));
  $("remove-point").addEventListener("click", typed((x, y) => {
    const { plot } = charts.main;
    if (plot) removeNearest([plot.valToPos(x, "x"), plot.valToPos(y, "y")], Infinity);
  }));
  $("clear-data").addEventListener("click", () => change(null));
  for (const box of document.querySelectorAll("input[name=mode]")) {
    box.addEventListener("change", () => {
      $("main-chart").classList.toggle("adding", mode() === "add");
      $("main-chart").classList.toggle("removing", mode() === "remove");
    });
  }
  $("main-chart").addEventListener("click", (event) => {
    if (!charts.main.plot || mode() === "look") return;
    if (mode() === "add") addPoint(...charts.main.at(event));
    else removeNear(event);
  });
}
