// Keys that work outside text fields, and the list of all keys, which `?` shows.

import { element } from "./dom.js";
import { openModal } from "./modal.js";

/** @type {[string[], string][]} */
const KEYS = [
  [["/"], "filter the tasks"],
  [["n"], "new task"],
  [["w"], "open or close the Agent Workspace"],
  [["Ctrl", "Z"], "take your last change back"],
  [["?"], "this list"],
  [["Tab"], "from column to column"],
  [["↑", "↓", "←", "→"], "from card to card"],
  [["Enter"], "open the card"],
  [["x"], "select the card; a change then applies to all selected cards"],
  [["Alt", "↑ ↓"], "move the card up or down"],
  [["Alt", "← →"], "move the card to the stage beside"],
  [["Alt", "Home End"], "move the card to the top or the end"],
  [["Ctrl", "Enter"], "save, or send an answer"],
  [["Esc"], "close, or select nothing"],
];
const WORDS = [
  ["is:blocked", "blocked tasks; also is:ready, overdue, claimed, asking, blocking, open or done"],
  ["status:pending", "or completed"],
  ["tag:api", "with that tag; several: all of them"],
  ["agent:ada", "whom it is claimed by, or nobody"],
  ["stage:verify", "the stage, or its beginning"],
  ["priority:P0", "P0 to P4"],
  ["-tag:api", "a minus: without"],
];
const WRITING = "input:not([type=checkbox], [type=color]), textarea, select, [contenteditable]";

/** @type {(event: KeyboardEvent) => HTMLElement} */
const targetOf = (event) => /** @type {HTMLElement} */ (event.target);

/** Listen for keys; `on` has filter(), create(), toggleWorkspace(), undo(), select(card), selectNothing(). */
export function listenForKeys(on) {
  const plain = { "/": () => on.filter(), n: () => on.create(), w: () => on.toggleWorkspace(), "?": openKeys };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || targetOf(event).closest(WRITING) || document.querySelector("dialog[open]")) return;
    const run = choose(event);
    if (!run) return;
    event.preventDefault();
    run();
  });

  function choose(event) {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.altKey) return null;
    if (event.ctrlKey || event.metaKey) return key === "z" && !event.shiftKey ? () => on.undo() : null;
    const card = /** @type {HTMLElement} */ (targetOf(event).closest(".card"));
    if (key === "x" && card) return () => on.select(card.dataset.id);
    if (key === "Escape") return () => on.selectNothing();
    return plain[key];
  }
}

/** Show all keys, and what the filter understands. */
export function openKeys() {
  const list = (rows) => element("dl", { class: "keys" }, ...rows.map(([term, does]) => element("div", {}, element("dt", {}, term), element("dd", {}, does))));
  openModal({
    heading: "Keyboard and filter", kind: "dialog--form",
    content: [
      list(KEYS.map(([keys, does]) => [keys.map((key) => element("kbd", {}, key)), does])),
      element("h3", {}, "Words of the filter"),
      list(WORDS.map(([word, does]) => [element("code", {}, word), does])),
    ],
  });
}
