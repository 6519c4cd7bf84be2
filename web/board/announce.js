// Messages of the page: to screen readers, and in toasts.

import { element } from "./dom.js";
import { icon } from "./icons.js";

const SHOWN = 6000; // milliseconds

/** Announce a text to screen readers. */
export function announce(text) {
  const announcer = document.getElementById("announcer");
  announcer.textContent = "";
  // Screen readers read only changes: the same text twice must change twice.
  setTimeout(() => (announcer.textContent = text), 20);
}

/** Show a text for some seconds; an error stays until it is closed. */
export function toast(text, { error = false } = {}) {
  const close = element("button", { type: "button", class: "plain", "aria-label": "Dismiss" }, icon("close"));
  const shown = element("div", { class: `toast${error ? " toast--error" : ""}`, role: error ? "alert" : "status" },
    icon(error ? "warning" : "success"), element("p", { dir: "auto" }, text), close);
  close.addEventListener("click", () => shown.remove());
  // In front of an open dialog, which blocks the rest of the page.
  const dialogs = document.querySelectorAll("dialog[open]");
  const host = dialogs.length ? dialogs[dialogs.length - 1] : document.getElementById("toasts");
  host.append(shown);
  if (!error) setTimeout(() => shown.remove(), SHOWN);
}
