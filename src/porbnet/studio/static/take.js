// To take away: words to copy, files, and a link.

import { keep, state } from "./state.js";
import { ask, download } from "./talk.js";

const $ = (id) => document.getElementById(id);

async function copy(text, what) {
  const box = $("copied");
  box.hidden = false;
  box.value = text;
  try {
    await navigator.clipboard.writeText(text);
    $("take-words").textContent = `${what} copied.`;
  } catch {
    box.focus();
    box.select();
    $("take-words").textContent = `${what} is below, marked: copy it from there.`;
  }
}

export function setUp(complain) {
  const on = (id, work) => $(id).addEventListener("click", async () => {
    try {
      complain(null);
      await work();
    } catch (error) {
      complain(error);
    }
  });
  const words = () => ask({ ask: "words", form: state.form, running: state.running });
  on("copy-python", async () => copy((await words()).python, "The program"));
  on("copy-command", async () => copy((await words()).command, "The command"));
  on("copy-link", async () => { keep(); await copy(location.href, "The link"); });
  for (const what of ["model", "report", "predictions"]) {
    on(`take-${what}`, async () => {
      $("take-words").textContent = "Writing …";
      try {
        $("take-words").textContent = `${await download(what)} downloaded.`;
      } catch (error) {
        $("take-words").textContent = "";
        throw error;
      }
    });
  }
}
