// The tasks as a table: sorted by a column's head, and grouped.

import { countOf, dueFact } from "./card.js";
import { element, keepingFocus } from "./dom.js";
import { icon } from "./icons.js";
import { grouped, sorted } from "./list_rules.js";
import { avatar } from "./person.js";
import { hueOf } from "./tag_colors.js";
import { time } from "./time.js";

const AT_FIRST = 200; // rows, and how many more at a time

/** @type {[string, string][]} */
const COLUMNS = [["title", "Title"], ["stage", "Stage"], ["priority", "Priority"], ["due", "Due"], ["holder", "Worked on by"], ["", "Tags"], ["changed", "Changed"]];

export class ListView {
  node = element("div", { class: "list" });
  #with;
  #most = AT_FIRST;
  #shown = ""; // what was drawn last

  /** `wiring` has state, view, visible(stage name) → its tasks that the filter lets through, open(id), filterTag(tag). */
  constructor(wiring) {
    this.#with = wiring;
    wiring.view.addEventListener("change", () => (this.#most = AT_FIRST));
  }

  /** Draw all of it, if something has changed. */
  draw() {
    const { state, view, visible } = this.#with;
    const all = state.stages.flatMap((stage, order) => visible(stage.name).map((task) => ({ ...task, order })));
    const tasks = sorted(all, view.sort, view.isDescending);
    const groups = grouped(tasks, view.group);
    const key = JSON.stringify([this.#most, view.sort, view.isDescending, groups]);
    if (this.#shown === key) return;
    if (this.node.matches(":active")) {
      // Replacing a row between press and release would lose the click.
      addEventListener("pointerup", () => setTimeout(() => this.draw()), { once: true });
      return;
    }
    this.#shown = key;
    const active = /** @type {HTMLElement} */ (document.activeElement);
    const focused = this.node.contains(active) ? active.dataset.focus : null;
    let left = this.#most;
    const bodies = groups.map((group) => {
      const rows = group.tasks.slice(0, Math.max(left, 0));
      left -= rows.length;
      return rows.length ? this.#group(group, rows) : null;
    }).filter(Boolean);
    const total = groups.reduce((sum, group) => sum + group.tasks.length, 0);
    keepingFocus(() => this.node.replaceChildren(
      element("table", { class: "list__table" }, element("caption", { class: "unseen" }, `${countOf(all.length, "task")}`), this.#head(), ...bodies),
      all.length ? "" : element("p", { class: "hint list__empty" }, "No task to show."),
      left < 0 || total > this.#most ? element("button", { type: "button", class: "quiet", data: { focus: "more" }, on: { click: () => this.#more() } }, `Show more (${(total - this.#most).toLocaleString("en")} left)`) : ""));
    if (focused) (/** @type {HTMLElement} */ (this.node.querySelector(`[data-focus="${CSS.escape(focused)}"]`)))?.focus({ preventScroll: true });
  }

  /** Focus a task's row; whether it is in the list. */
  focus(id) {
    const link = /** @type {HTMLElement} */ (this.node.querySelector(`[data-focus="row-${CSS.escape(id)}"]`));
    link?.focus();
    return Boolean(link);
  }

  #more() {
    this.#most += AT_FIRST;
    this.draw();
  }

  #head() {
    const { view } = this.#with;
    const cells = COLUMNS.map(([key, name]) => {
      const isSorted = key && view.sort === key;
      const order = isSorted ? (view.isDescending ? "descending" : "ascending") : null;
      const button = key ? element("button", { type: "button", class: "list__sort", data: { focus: `sort-${key}` }, on: { click: () => this.#sort(key) } }, name,
        isSorted ? element("span", { class: `list__arrow${view.isDescending ? " is-up" : ""}` }, icon("fold")) : null) : name;
      return element("th", { scope: "col", "aria-sort": order, class: `list__${key || "tags"}` }, button);
    });
    return element("thead", {}, element("tr", {}, ...cells));
  }

  /** By a column, the other way round, and as on the board again. */
  #sort(key) {
    const { view } = this.#with;
    if (view.sort !== key) return view.set({ sort: key, isDescending: false });
    return view.set(view.isDescending ? { sort: "", isDescending: false } : { isDescending: true });
  }

  #group({ name, tasks }, rows) {
    const head = name === null ? null : element("tr", { class: "list__group" }, element("th", { scope: "rowgroup", colspan: String(COLUMNS.length), dir: "auto" },
      name, element("span", { class: "hint" }, ` ${countOf(tasks.length, "task")}`)));
    return element("tbody", {}, head, ...rows.map((task) => this.#row(task)));
  }

  #row(task) {
    const { state, open, filterTag } = this.#with;
    const stage = state.stages[task.order];
    const isPerson = state.people.some((one) => one.name === task.claimed_by);
    const link = element("a", { class: "list__link", href: `#task=${task.id}`, dir: "auto", data: { focus: `row-${task.id}` }, on: { click: (event) => {
      if (event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      open(task.id);
    } } }, task.title);
    const holder = task.claimed_by ? element("span", { class: "fact", dir: "auto" }, isPerson ? avatar(task.claimed_by) : icon("agent"), element("span", { class: "cut" }, task.claimed_by))
      : task.claim_lapsed ? element("span", { class: "fact", dir: "auto", title: `${task.claim_lapsed} is gone; the task is free` }, element("span", { class: "unseen" }, "claim lapsed: "), element("s", { class: "cut" }, task.claim_lapsed)) : null;
    const tags = task.tags.map((tag) => element("li", {}, element("button", { type: "button", class: "tag", dir: "auto", vars: { "--hue": hueOf(tag) }, title: `Show only tasks with ${tag}`, on: { click: () => filterTag(tag) } }, tag)));
    return element("tr", { class: task.status === "completed" ? "is-completed" : "", data: { mark: `task:${task.id}` } },
      element("td", { class: "list__title" }, link, element("span", { class: "card__id" }, task.id)),
      element("td", { class: "list__stage", dir: "auto" }, element("span", { class: "list__dot", vars: { "--stage": stage.color } }), task.stage),
      element("td", { class: "list__priority" }, element("span", { class: `fact priority priority--${task.priority}` }, `P${task.priority}`)),
      element("td", { class: "list__due" }, dueFact(task)),
      element("td", { class: "list__holder" }, holder),
      element("td", { class: "list__tags" }, tags.length ? element("ul", { class: "tags", role: "list" }, ...tags) : null),
      element("td", { class: "list__changed" }, time(task.updated_at)));
  }
}
