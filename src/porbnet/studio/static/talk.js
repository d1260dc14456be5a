// Questions to this page's worker, and what it tells of itself.

import { state } from "./state.js";

export class Refused extends Error {}

function arraysOf(names, buffer, at) {
  const found = {};
  for (const [name, shape] of names) {
    const size = shape.reduce((a, b) => a * b, 1);
    found[name] = new Float32Array(buffer, at, size);
    at += 4 * size;
  }
  return found;
}

async function complaint(response) {
  try {
    return (await response.json()).error || response.statusText;
  } catch {
    return `the studio answered ${response.status}: open it again from the address that was printed`;
  }
}

export async function offered() {
  const response = await reached(fetch("/api/offer"));
  if (!response.ok) throw new Refused(await complaint(response));
  return response.json();
}

export async function open() {
  const response = await reached(fetch("/api/page", { method: "POST" }));
  if (!response.ok) throw new Refused(await complaint(response));
  return response.json();
}

async function reached(promise) {
  try {
    return await promise;
  } catch {
    throw new Refused("the studio does not answer: it may have been ended; start `porbnet studio` again");
  }
}

export const gone = { page: false };
export const pending = { questions: 0 };

export async function ask(question) {
  pending.questions += 1;
  try {
    return await asked(question);
  } finally {
    pending.questions -= 1;
  }
}

async function asked(question) {
  const where = `/api/ask?page=${encodeURIComponent(state.page)}`;
  const response = await reached(fetch(where, { method: "POST", body: JSON.stringify(question) }));
  if (!response.ok) {
    gone.page = response.status === 404;
    throw new Refused(await complaint(response));
  }
  const buffer = await response.arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  if (header.error) throw new Refused(header.error);
  return { ...header, ...arraysOf(header.arrays, buffer, 4 + length) };
}

export async function upload(file) {
  const where = `/api/upload?page=${encodeURIComponent(state.page)}&name=${encodeURIComponent(file.name)}`;
  const response = await reached(fetch(where, { method: "POST", body: file }));
  if (!response.ok) throw new Refused(await complaint(response));
}

export async function download(what) {
  const where = `/api/download?page=${encodeURIComponent(state.page)}&what=${what}`;
  const response = await reached(fetch(where));
  if (!response.ok) throw new Refused(await complaint(response));
  const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") || "")?.[1] || what;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  return name;
}

// Listen to events until told to stop; the browser connects again by itself.
export function listen(onFit, onGone, onLost, onBye) {
  const source = new EventSource(`/api/events?page=${encodeURIComponent(state.page)}`);
  source.addEventListener("fit", (event) => {
    const { body, ...header } = JSON.parse(event.data);
    const bytes = Uint8Array.from(atob(body), (c) => c.charCodeAt(0));
    onFit({ ...header, ...arraysOf(header.arrays, bytes.buffer, 0) });
  });
  source.addEventListener("gone", (event) => onGone(JSON.parse(event.data).error));
  source.addEventListener("bye", () => { source.close(); onBye(); });
  source.addEventListener("error", () => { if (source.readyState === EventSource.CLOSED) onLost(); });
  return source;
}
