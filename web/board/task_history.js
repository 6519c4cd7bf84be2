// The history of a task: who did what, earlier texts, and restoring a revision.

import { element } from "./dom.js";
import { avatar } from "./person.js";
import { time } from "./time.js";

const HIDDEN = new Set(["claimed_by", "added"]); // they are in the message
const LONG = 300; // characters of a text that are shown

/** The changes, newest first. `goBack(revision)` restores the task as it was then. */
export function historyOf(history, goBack, people = []) {
  const last = history.at(-1)?.revision;
  const entries = [...history].reverse().map((one) => element("li", {},
    element("p", {}, people.some(({ name }) => name === one.who) ? avatar(one.who) : null, element("strong", { dir: "auto" }, one.who), " ", element("span", { dir: "auto" }, one.message), " ", time(one.at)),
    ...Object.entries(one.fields).filter(([name]) => !HIDDEN.has(name)).map(([name, change]) => changeOf(name, change)),
    one.revision === last ? null : element("button", { type: "button", class: "quiet", data: { focus: `revision-${one.revision}` },
      "aria-label": `Restore revision ${one.revision}`, on: { click: () => goBack(one.revision) } }, "Restore this version")));
  return [element("details", { class: "folded history" }, element("summary", {}, `History (${history.length})`), element("ol", { role: "list" }, ...entries))];
}

function changeOf(name, change) {
  if (!Array.isArray(change)) {
    return element("div", { class: "hint" }, `${name}:`,
      change.removed ? element("del", { class: "was", dir: "auto" }, shortened(change.removed)) : null,
      change.added ? element("ins", { class: "is", dir: "auto" }, shortened(change.added)) : null);
  }
  const [before, after] = change.map((value) => (Array.isArray(value) ? value.join(", ") : String(value ?? "")));
  return element("p", { class: "hint", dir: "auto" }, `${name}: ${shortened(before) || "none"} → ${shortened(after) || "none"}`);
}

function shortened(text) {
  return text.length > LONG ? `${text.slice(0, LONG)}…` : text;
}
