// One task as a card in a column.

import { element, setText } from "./dom.js";
import { icon } from "./icons.js";
import { hueOf } from "./tag_colors.js";

/** An empty card; `updateCard` fills it. `on` has what can be done: open(id), filterTag(tag). */
export function makeCard(id, on) {
  const title = element("a", {
    class: "card__title", href: `#task=${id}`, draggable: "false", dir: "auto", tabIndex: -1,
    "aria-describedby": `about-${id}`,
    on: {
      click: (event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return; // the browser's own: in another tab
        event.preventDefault();
        on.open(id);
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
  return element("li", { class: "card", draggable: "true", data: { id, mark: `task:${id}` } }, title, tags, facts, actor);
}

const drawn = new WeakMap(); // card → the task that it shows, and how many questions

/** Make a card show a task; what is the same already is not touched. */
export function updateCard(card, task, waiting) {
  const before = drawn.get(card);
  if (before?.task === task && before.waiting === waiting) return;
  drawn.set(card, { task, waiting });
  setText(card.querySelector(".card__title"), task.title);
  const done = task.status === "completed";
  card.classList.toggle("card--done", done);
  card.classList.toggle("card--asks", waiting > 0);
  const tags = card.querySelector(".tags");
  tags.hidden = !task.tags.length;
  tags.replaceChildren(...task.tags.map((tag) => element("li", {}, tagButton(tag))));
  card.querySelector(".card__facts").replaceChildren(
    element("span", { class: "card__id" }, task.id),
    done ? element("span", { class: "fact fact--done" }, icon("check"), "Completed") : "",
    task.claimed_by ? holder(task.claimed_by) : "",
    waiting ? element("span", { class: "fact fact--asks" }, icon("question"), countOf(waiting, "question")) : "",
  );
}

/** A tag that filters the board when it is clicked; by keyboard the filter is in the toolbar. */
function tagButton(tag) {
  return element("button", {
    type: "button", class: "tag", dir: "auto", tabIndex: -1, data: { tag }, vars: { "--hue": hueOf(tag) }, title: `Show only tasks with ${tag}`,
  }, tag);
}

function holder(name) {
  return element("span", { class: "fact fact--holder", dir: "auto", title: `${name} works on it` }, icon("agent"),
    element("span", { class: "unseen" }, "worked on by "), element("span", { class: "cut" }, name));
}

/** `1 question`, `2 questions`. */
export function countOf(count, noun) {
  return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}
