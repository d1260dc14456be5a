// A chart: uPlot's axes, and what is painted between them.

const colours = new Map();
export function colour(name) {
  if (!colours.has(name)) colours.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return colours.get(name);
}
const charts = new Set();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  colours.clear();
  for (const chart of charts) chart.rebuild();
});

export const short = (v) => {
  if (v === null || !Number.isFinite(v)) return "–";
  const size = Math.abs(v);
  if (size !== 0 && (size >= 1e6 || size < 1e-4)) return v.toExponential(2);
  return String(Number(v.toPrecision(4)));
};

export class Chart {
  // options: {x: label, y: label, log: whether y is log10 of what is shown, dates: () => {origin, unit} or null, label}
  constructor(host, options, paint) {
    this.host = host;
    this.options = options;
    this.paint = paint;
    this.xs = [0, 1];
    this.ys = [0, 1];
    this.plot = null;
    charts.add(this);
    this.watch = new ResizeObserver(() => this.resize());
    this.watch.observe(host);
  }

  forget() {
    this.watch.disconnect();
    this.plot?.destroy();
    charts.delete(this);
  }

  size() {
    return { width: Math.max(80, this.host.clientWidth), height: Math.max(80, this.host.clientHeight) };
  }

  resize() {
    if (this.plot && this.host.clientWidth) {
      this.plot.setSize(this.size());
    } else if (!this.plot && this.ready) this.draw();
  }

  rebuild() {
    if (!this.plot) return;
    this.plot.destroy();
    this.plot = null;
    this.draw();
  }

  axis(label, values, side) {
    return {
      ...(side && this.options.log ? { splits: (u, i, low, high) => decades(low, high) } : {}),
      ...(!side && this.options.dates ? { splits: (u, i, low, high, step, space) => this.dated(u, low, high, step, space) } : {}),
      stroke: colour("soft"), grid: { stroke: colour("grid"), width: 1 }, ticks: { stroke: colour("grid"), width: 1, size: 4 },
      font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif", label: label || undefined, labelSize: label ? 18 : 0,
      values, size: side ? 62 : 32, gap: 4, space: side ? (this.host.clientHeight < 250 ? 22 : 34) : 72,
    };
  }

  // Places of the axis of inputs: of dates those that people have names for.
  dated(u, low, high, step) {
    const dates = this.options.dates();
    if (dates) return dateSplits(low, high, dates, Math.max(2, Math.floor(u.width / 105)));
    const found = [], first = Math.ceil(low / step - 1e-9);
    for (let k = first; k * step <= high + 1e-9 * step; k++) found.push(Number((k * step).toPrecision(12)));
    return found;
  }

  make() {
    const log = (u, splits) => splits.map((v) => short(Number((10 ** v).toPrecision(3))));
    const plain = (u, splits) => splits.map(short);
    const dated = (u, splits) => {
      const dates = this.options.dates?.();
      return dates ? splits.map((v) => dateText(v, dates, u.scales.x.max - u.scales.x.min)) : splits.map(short);
    };
    const names = this.options.names?.() || {};
    this.plot = new uPlot({
      ...this.size(),
      padding: [8, 12, 0, 0],
      legend: { show: false },
      cursor: { drag: { x: false, y: false }, points: { show: false }, x: !this.options.still, y: false },
      scales: { x: { time: false, auto: false, range: () => this.xs }, y: { auto: false, range: () => this.ys } },
      focus: { alpha: 1 },
      axes: [this.axis(names.x ?? this.options.x, dated, false), this.axis(names.y ?? this.options.y, this.options.log ? log : plain, true)],
      series: [{}, { show: true, paths: () => null, points: { show: false } }],
      hooks: { draw: [(u) => this.painted(u)] },
    }, [this.xs, [null, null]], this.host);
    this.host.querySelector("canvas").setAttribute("aria-hidden", "true");
  }

  // Show these ranges; painting happens at once.
  draw(xs = this.xs, ys = this.ys) {
    this.ready = true;
    const same = this.xs[0] === xs[0] && this.xs[1] === xs[1] && this.ys[0] === ys[0] && this.ys[1] === ys[1];
    this.xs = xs;
    this.ys = ys;
    if (!this.host.clientWidth) return;
    if (!this.plot) this.make();
    else if (same) this.plot.redraw(false, false);
    else {
      this.plot.batch(() => {
        this.plot.setScale("x", { min: xs[0], max: xs[1] });
        this.plot.setScale("y", { min: ys[0], max: ys[1] });
      });
    }
    if (this.options.label) this.host.setAttribute("aria-label", this.options.label());
    this.host.setAttribute("role", this.options.role || "img");
  }

  renamed() {
    if (this.plot) this.rebuild();
  }

  painted(u) {
    const { ctx } = u, { left, top, width, height } = u.bbox;
    const [x0, x1] = this.xs, [y0, y1] = this.ys;
    const p = {
      ctx, left, top, width, height, ratio: devicePixelRatio || 1,
      X: (v) => left + ((v - x0) / (x1 - x0)) * width,
      Y: (v) => top + height - ((v - y0) / (y1 - y0)) * height,
    };
    ctx.save();
    ctx.beginPath();
    ctx.rect(left, top, width, height);
    ctx.clip();
    this.paint(p);
    ctx.restore();
    this.onPainted?.();
  }

  // Value of the axes at a place of the page.
  at(event) {
    const box = this.plot.over.getBoundingClientRect();
    return [this.plot.posToVal(event.clientX - box.left, "x"), this.plot.posToVal(event.clientY - box.top, "y")];
  }
}

// Places of round numbers on an axis of log10: 1, 2, 5, 10 where there is room, else powers of ten.
function decades(low, high) {
  const steps = high - low < 2.2 ? [1, 2, 5] : high - low < 4 ? [1, 3] : [1], found = [];
  for (let k = Math.floor(low); k <= high; k++) for (const s of steps) found.push(k + Math.log10(s));
  return found.filter((v) => v >= low && v <= high);
}

const UNITS = { days: 864e5, hours: 36e5, minutes: 6e4, seconds: 1e3 };
const moment = (v, { origin, unit }) => Date.parse(origin.replace(/(\.\d{3})\d*$/, "$1") + "Z") + v * UNITS[unit];

// First days of years or months, or whole days, hours, minutes, seconds: as many as fit, evenly apart.
function dateSplits(low, high, dates, most) {
  const first = moment(low, dates), last = moment(high, dates), at = (time) => low + (time - first) / UNITS[dates.unit], found = [];
  if (!Number.isFinite(first) || !Number.isFinite(last)) return [low, high];
  const day = 864e5, size = last - first;
  const step = [1e3, 5e3, 15e3, 6e4, 3e5, 9e5, 36e5, 108e5, 216e5, 432e5, day, 2 * day, 7 * day, 14 * day].find((s) => size / s <= most);
  if (step) {
    for (let t = Math.ceil(first / step) * step; t <= last; t += step) found.push(at(t));
    return found;
  }
  const months = size / (30.44 * day), every = [1, 2, 3, 6].find((m) => months / m <= most) ?? 12 * ([1, 2, 5, 10, 20, 50, 100, 200, 500].find((y) => months / 12 / y <= most) ?? 1000);
  const start = new Date(first);
  for (let m = Math.ceil((12 * start.getUTCFullYear() + start.getUTCMonth()) / every) * every; ; m += every) {
    const time = Date.UTC(Math.floor(m / 12), m % 12, 1);
    if (time > last || Number.isNaN(time)) return found;
    if (time >= first) found.push(at(time));
  }
}

export function dateText(v, { origin, unit }, span) {
  const date = new Date(Math.round(moment(v, { origin, unit }) / 100) * 100); // places are known to 32 bits
  if (Number.isNaN(date.getTime())) return short(v);
  const iso = date.toISOString(), days = (span * UNITS[unit]) / 864e5;
  return days > 3 ? iso.slice(0, 10) : days > 0.01 ? iso.slice(5, 16).replace("T", " ") : iso.slice(11, 19);
}

// --- brushes ---

// Rows of a table, each over the same ends, as lines.
export function lines(p, table, n, ends, { names, width = 1, alpha = 0.6 }) {
  const { ctx } = p, size = table.length / n, a = p.X(ends[0]), step = (p.X(ends[1]) - a) / (size - 1);
  ctx.lineWidth = width * p.ratio;
  ctx.globalAlpha = alpha;
  ctx.lineJoin = "round";
  for (let c = 0; c < names.length; c++) {
    ctx.beginPath();
    for (let i = c; i < n; i += names.length) {
      const row = i * size;
      ctx.moveTo(a, p.Y(table[row]));
      for (let j = 1; j < size; j++) ctx.lineTo(a + j * step, p.Y(table[row + j]));
    }
    ctx.strokeStyle = colour(names[c]);
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
}

export function band(p, low, high, ends, name, alpha, log = false) {
  const { ctx } = p, n = low.length, a = p.X(ends[0]), step = (p.X(ends[1]) - a) / (n - 1);
  const Y = log ? (v) => p.Y(Math.log10(v)) : p.Y;
  ctx.beginPath();
  ctx.moveTo(a, Y(low[0]));
  for (let j = 1; j < n; j++) ctx.lineTo(a + j * step, Y(low[j]));
  for (let j = n - 1; j >= 0; j--) ctx.lineTo(a + j * step, Y(high[j]));
  ctx.closePath();
  ctx.fillStyle = colour(name);
  ctx.globalAlpha = alpha;
  ctx.fill();
  ctx.globalAlpha = 1;
}

export function curve(p, values, ends, name, width = 2, log = false, dash = []) {
  const { ctx } = p, n = values.length, a = p.X(ends[0]), step = (p.X(ends[1]) - a) / (n - 1);
  const Y = log ? (v) => p.Y(Math.log10(v)) : p.Y;
  ctx.beginPath();
  for (let j = 0; j < n; j++) ctx.lineTo(a + j * step, Y(values[j]));
  ctx.strokeStyle = colour(name);
  ctx.lineWidth = width * p.ratio;
  ctx.setLineDash(dash.map((v) => v * p.ratio));
  ctx.stroke();
  ctx.setLineDash([]);
}

export function dots(p, x, y, name, radius = 2.5) {
  const { ctx } = p, r = radius * p.ratio;
  ctx.fillStyle = colour(name);
  ctx.beginPath();
  for (let i = 0; i < y.length; i++) {
    const px = p.X(x[i]), py = p.Y(y[i]);
    ctx.moveTo(px + r, py);
    ctx.arc(px, py, r, 0, 7);
  }
  ctx.fill();
}

// Labels: a tick for each, at 0 or 1; many on one place grow dark.
export function ticks(p, x, y, name) {
  const { ctx } = p, half = 6 * p.ratio;
  ctx.beginPath();
  for (let i = 0; i < y.length; i++) {
    const px = p.X(x[i]), py = p.Y(y[i]);
    ctx.moveTo(px, py - half);
    ctx.lineTo(px, py + half);
  }
  ctx.strokeStyle = colour(name);
  ctx.lineWidth = 1.1 * p.ratio;
  const before = ctx.globalAlpha;
  ctx.globalAlpha = 0.55 * before;
  ctx.stroke();
  ctx.globalAlpha = before;
}

export function rug(p, x, name) {
  const { ctx } = p, low = p.top + p.height, high = low - 9 * p.ratio;
  ctx.beginPath();
  for (const v of x) {
    const px = p.X(v);
    ctx.moveTo(px, low);
    ctx.lineTo(px, high);
  }
  ctx.strokeStyle = colour(name);
  ctx.lineWidth = 1.5 * p.ratio;
  ctx.stroke();
}

const MAP = [[68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137], [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37]];
export function mapColour(t) {
  const at = Math.min(Math.max(t, 0), 1) * (MAP.length - 1), i = Math.min(Math.floor(at), MAP.length - 2), f = at - i;
  return MAP[i].map((v, k) => Math.round(v + f * (MAP[i + 1][k] - v)));
}

// A table of n by n values (first input by second) over a box, as colours.
export function field(p, table, n, ends, low, high) {
  const small = document.createElement("canvas");
  small.width = small.height = n;
  const image = new ImageData(n, n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const [r, g, b] = mapColour((table[i * n + j] - low) / (high - low || 1));
      image.data.set([r, g, b, 255], 4 * ((n - 1 - j) * n + i));
    }
  }
  small.getContext("2d").putImageData(image, 0, 0);
  const left = p.X(ends[0][0]), right = p.X(ends[0][1]), bottom = p.Y(ends[1][0]), top = p.Y(ends[1][1]);
  p.ctx.imageSmoothingEnabled = true;
  p.ctx.drawImage(small, left, top, right - left, bottom - top);
}
