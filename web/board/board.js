// The board: a column for each stage, with its cards. Of a long column only the beginning is drawn, and more of it
// when it is scrolled to.

import { makeCard, updateCard } from "./card.js";
import { element, keepingFocus, reconcile, setText } from "./dom.js";
import { icon } from "./icons.js";

const AT_ONCE = 60; // cards that a column draws before it is scrolled, and each time its end comes near

export class BoardView {
  #state;
  #filter;
  #activity;
  #on;
  #cards = new Map(); // id → its card
  #columns = new Map(); // id of a stage → Column
  #lane = element("div", { class: "lane" });
  #addStage;

  /** `on` has what can be done: open(id), create(stage name), filterTag(tag), editStage(stage or null). */
  constructor(host, { state, filter, activity, on }) {
    this.host = host;
    this.#state = state;
    this.#filter = filter;
    this.#activity = activity;
    this.#on = on;
    this.#addStage = element("button", { type: "button", class: "add-stage", on: { click: () => on.editStage(null) } },
      icon("add"), "Add a stage");
  }

  /** Draw what is not drawn yet, or not as it is now. */
  draw() {
    if (!this.#lane.isConnected) this.host.replaceChildren(this.#lane);
    keepingFocus(() => {
      const focused = this.#focusedPlace();
      reconcile(this.#lane, [...this.#state.stages, null], (stage) => stage?.id ?? "+",
        (stage) => stage ? this.#makeColumn(stage) : this.#addStage,
        (_, stage) => stage && this.#columns.get(stage.id).draw(stage, this.visible(stage.name)));
      for (const id of this.#cards.keys()) if (!this.#state.tasks.has(id)) this.#cards.delete(id);
      if (focused && !focused.card.isConnected) focused.column.focusAt(focused.index);
    });
  }

  /** The tasks of a stage that the filter lets through, in order. */
  visible(stageName) {
    const all = this.#state.column(stageName);
    return this.#filter.isOn ? all.filter((task) => this.#filter.passes(task)) : all;
  }

  /** The column that a node is in. */
  columnOf(node) {
    const found = node?.closest?.(".column");
    return found ? this.#columns.get(found.dataset.stage) : undefined;
  }

  /** The columns, in order. */
  columns() {
    return this.#state.stages.map((stage) => this.#columns.get(stage.id));
  }

  /** Give a task's card the focus, if it is drawn. */
  focus(id) {
    const card = this.#cards.get(id);
    if (!card?.isConnected) return false;
    card.querySelector(".card__title").focus();
    card.scrollIntoView({ block: "nearest", inline: "nearest" });
    return true;
  }

  #focusedPlace() {
    const card = document.activeElement?.closest?.(".card");
    const column = this.columnOf(card);
    return column && { card, column, index: column.cards().indexOf(card) };
  }

  #makeColumn(stage) {
    const column = new Column(stage, {
      on: this.#on,
      isFiltered: () => this.#filter.isOn,
      isEmptyBoard: () => this.#state.tasks.size === 0,
      card: (task) => this.#card(task),
      update: (card, task) => updateCard(card, task, this.#state.waiting(task.id)),
      clearFilter: () => this.#filter.clear(),
    });
    this.#columns.set(stage.id, column);
    return column.node;
  }

  #card(task) {
    let card = this.#cards.get(task.id);
    if (!card) {
      card = makeCard(task.id, this.#on);
      this.#cards.set(task.id, card);
      this.#activity.dress(card);
    }
    return card;
  }
}

class Column {
  #with;
  #tasks = []; // those that are shown or would be, were there no end to what is drawn
  #most = AT_ONCE;
  #name = element("h2", { class: "column__name", dir: "auto" });
  #count = element("span", { class: "column__count" });
  #list = element("ol", { class: "column__list", role: "list" });
  #more = element("p", { class: "column__more" });
  #empty = element("div", { class: "column__empty" });
  #observer;

  constructor(stage, wiring) {
    this.#with = wiring;
    this.stage = stage;
    const heading = `stage-${stage.id}`;
    this.#name.id = heading;
    this.#list.setAttribute("aria-labelledby", heading);
    this.scroller = element("div", { class: "column__scroller" }, this.#list, this.#more, this.#empty);
    this.add = element("button", { type: "button", class: "plain", on: { click: () => wiring.on.create(this.stage.name) } },
      icon("add"));
    this.edit = element("button", { type: "button", class: "plain", on: { click: () => wiring.on.editStage(this.stage) } },
      icon("more"));
    const actor = element("span", { class: "actor", hidden: true, dir: "auto" });
    this.node = element("section", { class: "column", "aria-labelledby": heading, data: { stage: stage.id } },
      element("header", { class: "column__head" }, element("span", { class: "column__dot" }), this.#name, this.#count,
        actor, this.edit, this.add),
      this.scroller);
    this.#observer = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && this.#drawMore(), {
      root: this.scroller, rootMargin: "800px",
    });
    this.#list.addEventListener("focusin", (event) => this.#makeStop(event.target.closest(".card")));
  }

  /** Show these tasks. */
  draw(stage, tasks) {
    this.stage = stage;
    this.#tasks = tasks;
    setText(this.#name, stage.name);
    this.node.dataset.mark = `stage:${stage.id}`;
    this.node.style.setProperty("--stage", stage.color);
    this.add.setAttribute("aria-label", `New task in ${stage.name}`);
    this.edit.setAttribute("aria-label", `Change the stage ${stage.name}`);
    const shown = tasks.slice(0, this.#most);
    reconcile(this.#list, shown, (task) => task.id, this.#with.card, this.#with.update);
    this.#makeStop(this.#list.querySelector(".card:has(.card__title[tabindex='0'])") ?? this.#list.firstElementChild);
    this.#drawCounts(stage, tasks, shown);
  }

  /** The cards that are drawn, in order. */
  cards() {
    return [...this.#list.children];
  }

  /** The tasks that are shown, also those that are not drawn yet. */
  get tasks() {
    return this.#tasks;
  }

  /** Give the focus to the card at a place, the last if there are less, or to the button that adds one. */
  focusAt(index) {
    const cards = this.cards();
    const card = cards[Math.min(index, cards.length - 1)];
    (card?.querySelector(".card__title") ?? this.add).focus();
  }

  #drawMore() {
    if (this.#list.childElementCount >= this.#tasks.length) return;
    this.#most += AT_ONCE;
    this.draw(this.stage, this.#tasks);
  }

  #drawCounts(stage, tasks, shown) {
    const filtered = this.#with.isFiltered();
    const all = filtered ? null : tasks.length;
    setText(this.#count, all === null ? `${tasks.length.toLocaleString("en")} found` : all.toLocaleString("en"));
    this.#count.title = `${tasks.length.toLocaleString("en")} tasks${filtered ? " that the filter lets through" : ""}`;
    const left = tasks.length - shown.length;
    this.#more.hidden = left <= 0;
    setText(this.#more, left > 0 ? `${left.toLocaleString("en")} more` : "");
    this.#observer.unobserve(this.#more); // observing it anew tells at once if its end is still near
    if (left > 0) this.#observer.observe(this.#more);
    this.#drawEmpty(stage, tasks.length === 0, filtered);
  }

  #drawEmpty(stage, isEmpty, filtered) {
    this.#empty.hidden = !isEmpty;
    const kind = filtered ? "filtered" : this.#with.isEmptyBoard() && stage.is_default ? "first" : "empty";
    if (!isEmpty || this.#empty.dataset.kind === kind) return;
    this.#empty.dataset.kind = kind;
    const button = (text, run) => element("button", { type: "button", on: { click: run } }, text);
    if (kind === "filtered") {
      this.#empty.replaceChildren(element("p", {}, "No task here passes the filter."),
        button("Clear the filter", this.#with.clearFilter));
    } else if (kind === "first") {
      this.#empty.replaceChildren(element("p", { class: "column__lead" }, "This board is empty."),
        element("p", {}, "Write down the first thing to do, or let an agent call ", element("code", {}, "create_task"), "."),
        button("New task", () => this.#with.on.create(this.stage.name)));
    } else {
      this.#empty.replaceChildren(element("p", {}, "Nothing here. Drop a card, or add one with +."));
    }
  }

  /** The Tab key stops at one card of each column; arrow keys go on from there. */
  #makeStop(card) {
    if (!card) return;
    for (const link of this.#list.querySelectorAll(".card__title[tabindex='0']")) link.tabIndex = -1;
    card.querySelector(".card__title").tabIndex = 0;
  }
}
