// One task as a card in a column.

import { element, setText } from "./dom.js";
import { icon } from "./icons.js";
import { avatar } from "./person.js";
import { dayText, isOverdue } from "./time.js";
import { hueOf } from "./tag_colors.js";

const LONG = 100; // characters of a title

/** An empty card; `updateCard` fills it. `on` has the actions open(id), filterTag(tag), select(id). */
export function makeCard(id, on) {
  const title = element("a", {
    class: "card__title", href: `#task=${id}`, draggable: "false", dir: "auto", tabIndex: -1,
    "aria-describedby": `about-${id}`,
    on: {
      click: (event) => {
        if (event.ctrlKey || event.metaKey) return; // the browser opens it in another tab
        event.preventDefault();
        if (event.shiftKey) return on.select(id);
        return on.open(id);
      },
    },
  });
  const actor = element("span", { class: "actor", hidden: true, dir: "auto" });
  const tags = element("ul", { class: "tags", role: "list", "aria-label": "Tags" });
  const facts = element("p", { class: "card__facts", id: `about-${id}` });
  tags.addEventListener("click", (event) => {
    const tag = event.target.closest("button")?.dataset.tag;
    if (tag !== undefined) on.filterTag(tag);
  });
  const select = element("input", { type: "checkbox", class: "card__select", tabIndex: -1, on: { change: () => on.select(id) } });
  return element("li", { class: "card", draggable: "true", data: { id, mark: `task:${id}` } }, title, select, tags, facts, actor);
}

const drawn = new WeakMap(); // card → what it shows

/** Make a card show a task: `asks` is the number of its waiting questions, `isPerson` whether a person works on it. Unchanged parts are not touched. */
export function updateCard(card, task, { asks, isSelected, isPerson = false }) {
  const before = drawn.get(card);
  if (before?.task === task && before.asks === asks && before.isSelected === isSelected && before.isPerson === isPerson) return;
  drawn.set(card, { task, asks, isSelected, isPerson });
  const title = card.querySelector(".card__title");
  setText(title, task.title);
  title.title = task.title.length > LONG ? task.title : ""; // it may be cut
  const done = task.status === "completed";
  card.classList.toggle("card--done", done);
  card.classList.toggle("card--asks", asks > 0);
  card.classList.toggle("is-selected", isSelected);
  const select = card.querySelector(".card__select");
  select.checked = isSelected;
  select.setAttribute("aria-label", `Select ${task.title}`);
  const tags = card.querySelector(".tags");
  tags.hidden = !task.tags.length;
  tags.replaceChildren(...task.tags.map((tag) => element("li", {}, tagButton(tag))));
  card.querySelector(".card__facts").replaceChildren(...factsOf(task, asks, isPerson));
}

function factsOf(task, asks, isPerson) {
  const done = task.status === "completed";
  const blockers = done ? [] : task.blocked_by ?? [];
  return [
    !done && task.priority !== 2
      ? element("span", { class: `fact priority priority--${task.priority}`, title: `Priority ${task.priority} of 0 to 4` }, `P${task.priority}`) : null,
    element("span", { class: "card__id" }, task.id),
    done ? element("span", { class: "fact fact--done" }, icon("check"), "Completed") : null,
    blockers.length ? element("span", { class: "fact fact--blocked", title: waitOf(task, blockers) }, icon("blocked"),
      `Blocked by ${blockers.length.toLocaleString("en")}`, task.waits > blockers.length ? ` · ${task.waits.toLocaleString("en")} in all` : null) : null,
    task.claimed_by ? holder(task.claimed_by, isPerson) : task.claim_lapsed ? lapsed(task.claim_lapsed) : null,
    dueFact(task),
    !done && task.required_proof.length ? element("span", { class: "fact", title: `Requires as proof: ${task.required_proof.join(", ")}` }, icon("proof"),
      element("span", { class: "unseen" }, "requires "), "proof") : null,
    task.boxes ? element("span", { class: "fact", title: `${task.ticked} of ${task.boxes} checkboxes are ticked` }, icon("check"), `${task.ticked}/${task.boxes}`) : null,
    task.comment_count ? element("span", { class: "fact", title: countOf(task.comment_count, "comment") }, icon("comment"), String(task.comment_count),
      element("span", { class: "unseen" }, task.comment_count === 1 ? " comment" : " comments")) : null,
    asks ? element("span", { class: "fact fact--asks" }, icon("question"), countOf(asks, "question")) : null,
  ].filter(Boolean);
}

/** When a task is due; null if it is not said. */
export function dueFact(task) {
  if (!task.due) return null;
  const late = isOverdue(task);
  return element("span", { class: `fact${late ? " fact--late" : ""}`, title: `Due ${task.due}` }, icon("clock"), `${late ? "Overdue: " : "Due "}${dayText(task.due)}`);
}

/** The tasks that a task waits for, and their number, including indirect ones. */
function waitOf(task, blockers) {
  const all = task.waits > blockers.length ? `; ${countOf(task.waits, "task")} in all, with those that they wait for` : "";
  return `Waits for ${blockers.join(", ")}${all}`;
}

/** A tag that filters the board when it is clicked; by keyboard the filter is in the toolbar. */
function tagButton(tag) {
  return element("button", {
    type: "button", class: "tag", dir: "auto", tabIndex: -1, data: { tag }, vars: { "--hue": hueOf(tag) }, title: `Show only tasks with ${tag}`,
  }, tag);
}

function holder(name, isPerson) {
  return element("span", { class: "fact fact--holder", dir: "auto", title: `${name} works on it` }, isPerson ? avatar(name) : icon("agent"),
    element("span", { class: "unseen" }, "worked on by "), element("span", { class: "cut" }, name));
}

/** The agent that worked on a task and is gone: anyone may take the task. */
function lapsed(name) {
  return element("span", { class: "fact fact--lapsed", dir: "auto", title: `${name} is gone; the task is free` }, icon("agent"),
    element("span", { class: "unseen" }, "claim lapsed: "), element("s", { class: "cut" }, name));
}

/** `1 question`, `2 questions`. */
export function countOf(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
