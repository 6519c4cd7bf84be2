// The board: a column for each stage, with its cards.

import { makeCard, updateCard } from "./card.js";
import { Column } from "./column.js";
import { element, keepingFocus, reconcile } from "./dom.js";
import { icon } from "./icons.js";

export class BoardView {
  #state;
  #filter;
  #activity;
  #on;
  #cards = new Map(); // id → its card, if drawn
  #columns = new Map(); // id of a stage → Column
  #lane = element("div", { class: "lane" });
  #addStage;

  /** `on` has open(id), create(stage name), filterTag(tag), editStage(stage or null), select(id), isSelected(id). */
  constructor(host, { state, filter, activity, on }) {
    this.host = host;
    this.#state = state;
    this.#filter = filter;
    this.#activity = activity;
    this.#on = on;
    this.#addStage = element("button", { type: "button", class: "plain add-stage", "aria-label": "Add a stage", title: "Add a stage",
      on: { click: () => on.editStage(null) } }, icon("add"));
  }

  /** Draw what is new or has changed. */
  draw() {
    if (!this.#lane.isConnected) this.host.replaceChildren(this.#lane);
    const stages = new Set(this.#state.stages.map((stage) => stage.id));
    for (const id of this.#columns.keys()) if (!stages.has(id)) this.#columns.delete(id);
    keepingFocus(() => {
      const focused = this.#focusedPlace();
      reconcile(this.#lane, [...this.#state.stages, null], (stage) => stage?.id ?? "+",
        (stage) => stage ? this.#makeColumn(stage) : this.#addStage,
        (_, stage) => stage && this.#columns.get(stage.id).draw(stage, this.visible(stage.name)));
      // Write everything before measuring, so that the browser computes the layout once.
      for (const column of this.columns()) column.measure();
      for (const column of this.columns()) column.settle();
      if (focused && !focused.card.isConnected) focused.column.focusAt(focused.index);
    });
  }

  /** The tasks of a stage that match the filter, in order. */
  visible(stageName) {
    const all = this.#state.column(stageName);
    return this.#filter.isOn ? all.filter((task) => this.#filter.passes(task, this.#state.waiting(task.id))) : [...all];
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

  /** Focus a task's card, scrolling if needed; whether it is on the board. */
  focus(id) {
    const { stage } = this.#state.tasks.get(id) ?? {};
    const column = this.columns().find((one) => one.stage.name === stage);
    const index = column?.indexOfTask(id) ?? -1;
    if (index < 0) return false;
    column.focusAt(index);
    column.node.scrollIntoView({ block: "nearest", inline: "nearest" });
    return true;
  }

  #focusedPlace() {
    const card = document.activeElement?.closest?.(".card");
    const column = this.columnOf(card);
    return column && { card, column, index: column.indexOf(card) };
  }

  #makeColumn(stage) {
    const column = new Column(stage, {
      on: this.#on,
      isFiltered: () => this.#filter.isOn,
      isEmptyBoard: () => this.#state.tasks.size === 0,
      card: (task) => this.#card(task),
      update: (card, task) => updateCard(card, task, { asks: this.#state.waiting(task.id), isSelected: this.#on.isSelected(task.id), isPerson: this.#state.people.some(({ name }) => name === task.claimed_by) }),
      gone: (id) => !this.#cards.get(id)?.isConnected && this.#cards.delete(id),
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
