// One stage as a column: its head, its cards, or a text if there are none. It can be folded to a strip.

import { countOf } from "./card.js";
import { element, setText } from "./dom.js";
import { icon } from "./icons.js";
import { keep, kept } from "./kept.js";
import { VirtualList } from "./virtual_list.js";

const FOLDED = "folded-stages";
const MOST_DONE = 10; // completed tasks shown at first

export class Column {
  #with;
  #name = element("h2", { class: "column__name cut", dir: "auto" });
  #count = element("span", { class: "column__count" });
  #list = element("ol", { class: "column__list", role: "list" });
  #empty = element("div", { class: "column__empty" });
  #rest = element("button", { type: "button", class: "quiet column__rest", hidden: true, on: { click: () => this.#unfold() } });
  #all = []; // the tasks that the filter lets through
  #showsAll = false;
  #fold;
  #cards;

  /** `wiring` has card(task), update(card, task), gone(id), isFiltered(), isEmptyBoard(), clearFilter(), and on. */
  constructor(stage, wiring) {
    this.#with = wiring;
    this.stage = stage;
    const heading = `stage-${stage.id}`;
    this.#name.id = heading;
    this.#list.setAttribute("aria-labelledby", heading);
    this.scroller = element("div", { class: "column__scroller" }, this.#list, this.#rest, this.#empty);
    const button = (name, run) => element("button", { type: "button", class: "plain", on: { click: run } }, icon(name));
    this.#fold = button("fold", () => this.fold(!this.isFolded));
    this.#fold.classList.add("column__fold");
    this.add = element("button", { type: "button", class: "quiet column__add", on: { click: () => wiring.on.create(this.stage.name) } }, icon("add"), "New task");
    this.edit = button("more", () => wiring.on.editStage(this.stage));
    const actor = element("span", { class: "actor", hidden: true, dir: "auto" });
    this.node = element("section", { class: "column", "aria-labelledby": heading, data: { stage: stage.id } },
      element("header", { class: "column__head" }, this.#fold, this.#name, this.#count, actor, this.edit),
      this.scroller, this.add);
    this.#cards = new VirtualList(this.#list, this.scroller, {
      key: (task) => task.id,
      make: wiring.card,
      update: wiring.update,
      gone: wiring.gone,
      isPinned: (card) => card.contains(document.activeElement) || card.classList.contains("card--dragged"),
    });
    this.#list.addEventListener("focusin", (event) => this.#makeStop(event.target.closest(".card")));
    this.#drawFold(kept(FOLDED, []).includes(stage.id));
  }

  /** Set the tasks. `place` follows, once all columns are rendered. */
  draw(stage, tasks) {
    this.stage = stage;
    setText(this.#name, stage.name);
    this.#name.title = stage.name;
    this.node.dataset.mark = `stage:${stage.id}`;
    this.node.style.setProperty("--stage", stage.color);
    this.add.setAttribute("aria-label", `New task in ${stage.name}`);
    this.edit.setAttribute("aria-label", `Change the stage ${stage.name}`);
    this.#fold.setAttribute("aria-label", `Show the stage ${stage.name}`);
    this.#all = tasks;
    this.#cards.render(this.#shown());
    this.#makeStop(this.#list.querySelector(".card:has(.card__title[tabindex='0'])") ?? this.#list.firstElementChild);
    this.#drawCounts(stage, tasks);
  }

  /** The tasks that are drawn: of completed ones the last, unless the person looks for some. */
  #shown() {
    const isLong = this.stage.completes && this.#all.length > MOST_DONE && !this.#showsAll && !this.#with.isFiltered();
    this.#rest.hidden = !isLong;
    setText(this.#rest, `Show all ${this.#all.length.toLocaleString("en")}`);
    return isLong ? this.#all.slice(0, MOST_DONE) : this.#all;
  }

  /** Show all of the completed tasks, with the focus on the first new one. */
  #unfold() {
    this.#showsAll = true;
    this.#cards.render(this.#shown());
    this.#cards.place();
    this.focusAt(MOST_DONE);
  }

  measure() {
    this.#cards.measure();
  }

  settle() {
    this.#cards.settle();
  }

  get isFolded() {
    return this.node.classList.contains("is-folded");
  }

  /** Fold it to a strip, or unfold it; the browser stores the choice. */
  fold(isFolded) {
    const others = kept(FOLDED, []).filter((id) => id !== this.stage.id);
    keep(FOLDED, isFolded ? [...others, this.stage.id] : others);
    this.#drawFold(isFolded);
  }

  /** The rendered cards, in order. */
  cards() {
    return this.#cards.nodes();
  }

  /** Make sure that a task is among the shown ones; its index, -1 if it is not in this column. */
  indexOfTask(id) {
    if (!this.tasks.some((task) => task.id === id) && this.#all.some((task) => task.id === id)) {
      this.#showsAll = true;
      this.#cards.render(this.#shown());
      this.#cards.place();
    }
    return this.tasks.findIndex((task) => task.id === id);
  }

  /** The shown tasks, including those not rendered. */
  get tasks() {
    return this.#cards.items;
  }

  /** The index of a card's task among the shown tasks. */
  indexOf(card) {
    return this.tasks.findIndex((task) => task.id === card.dataset.id);
  }

  /** Focus the card at an index, the last card if there are fewer, or a button if there are none. */
  focusAt(index) {
    if (this.isFolded) return this.#fold.focus();
    const card = this.#cards.reveal(index);
    return (card?.querySelector(".card__title") ?? this.add).focus();
  }

  #drawFold(isFolded) {
    this.node.classList.toggle("is-folded", isFolded);
    this.#fold.setAttribute("aria-expanded", String(!isFolded));
  }

  #drawCounts(stage, tasks) {
    const filtered = this.#with.isFiltered();
    const count = tasks.length.toLocaleString("en");
    setText(this.#count, filtered ? `${count} found` : count);
    this.#count.title = `${countOf(tasks.length, "task")}${filtered ? " that the filter lets through" : ""}`;
    this.#drawEmpty(stage, tasks.length === 0, filtered);
  }

  #drawEmpty(stage, isEmpty, filtered) {
    this.#empty.hidden = !isEmpty;
    const kind = filtered ? "filtered" : this.#with.isEmptyBoard() && stage.is_default ? "first" : "empty";
    if (!isEmpty || this.#empty.dataset.kind === kind) return;
    this.#empty.dataset.kind = kind;
    const button = (text, run) => element("button", { type: "button", on: { click: run } }, text);
    if (kind === "filtered") {
      this.#empty.replaceChildren(element("p", {}, "No task in this stage matches the filter."),
        button("Clear the filter", this.#with.clearFilter));
    } else if (kind === "first") {
      this.#empty.replaceChildren(element("p", { class: "column__lead" }, "This board is empty."),
        element("p", {}, "Create the first task, or let an agent call ", element("code", {}, "create_task"), "."),
        button("New task", () => this.#with.on.create(this.stage.name)));
    } else {
      this.#empty.replaceChildren(element("p", {}, "Nothing here. Drop a card, or add one below."));
    }
  }

  /** The Tab key stops at one card of each column; arrow keys go on from there. */
  #makeStop(card) {
    if (!card) return;
    for (const link of this.#list.querySelectorAll(".card__title[tabindex='0']")) link.tabIndex = -1;
    card.querySelector(".card__title").tabIndex = 0;
  }
}
