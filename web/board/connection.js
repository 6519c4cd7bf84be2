// The connection indicator: whether the page is up to date, and if not, since when.

import { element, setText } from "./dom.js";

const STATES = { connecting: "Connecting…", live: "Live", reconnecting: "Not connected", "signed-out": "Signed out" };

/** The indicator; `showConnection` sets it. */
export function makeConnection() {
  return element("p", { class: "connection", data: { connection: "connecting" } }, element("span", { class: "connection__dot" }),
    element("span", { class: "unseen" }, "Connection: "), element("span", { class: "connection__text" }, STATES.connecting));
}

/** Show whether the page is connected. */
export function showConnection(state) {
  for (const sign of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".connection"))) {
    sign.dataset.connection = state;
    setText(sign.querySelector(".connection__text"), STATES[state]);
  }
}
