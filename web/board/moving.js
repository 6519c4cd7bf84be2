// Moving cards with the mouse or the keyboard: Alt and an arrow key moves the focused card.

import { announce } from "./announce.js";

const ARROWS = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End"]);

/** Make the cards of a board movable by `move(id, {stage, before})`; without `before`, to the end of the stage. */
export function makeMovable(board, state, move) {
  new Keys(board, state, move);
  new Dragging(board, move);
}

class Keys {
  #board;
  #state;
  #move;

  constructor(board, state, move) {
    this.#board = board;
    this.#state = state;
    this.#move = move;
    board.host.addEventListener("keydown", (event) => this.#pressed(event));
  }

  #pressed(event) {
    const card = event.target.closest(".card");
    if (!card || !ARROWS.has(event.key) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const column = this.#board.columnOf(card);
    const index = column.indexOf(card);
    if (event.altKey) this.#moveCard(card.dataset.id, column, event.key);
    else if (event.key === "ArrowUp") column.focusAt(Math.max(index - 1, 0));
    else if (event.key === "ArrowDown") column.focusAt(index + 1);
    else if (event.key === "Home") column.focusAt(0);
    else if (event.key === "End") column.focusAt(Number.MAX_SAFE_INTEGER);
    else this.#beside(column, event.key)?.focusAt(index);
  }

  #beside(column, key) {
    const all = this.#board.columns();
    return all[all.indexOf(column) + (key === "ArrowLeft" ? -1 : 1)];
  }

  #moveCard(id, column, key) {
    const { tasks } = column;
    const at = tasks.findIndex((task) => task.id === id);
    const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: tasks.length - 1 }[key];
    if (to === undefined) {
      const other = this.#beside(column, key);
      if (!other) return announce(`${column.stage.name} is the ${key === "ArrowLeft" ? "first" : "last"} stage.`);
      this.#do(id, other, other.tasks[0]?.id); // at the top, where it is visible
    } else if (column.stage.completes) {
      announce(`${column.stage.name} has the last completed task first.`);
    } else if (to < 0 || to >= tasks.length || to === at) {
      announce(`It is at the ${to < at || at === 0 ? "top" : "end"} already.`);
    } else if (Math.abs(to - at) === 1 && tasks[to].priority !== tasks[at].priority) {
      announce(`The task ${to < at ? "above has a higher" : "below has a lower"} priority; change the priority to move it there.`);
    } else {
      this.#do(id, column, to < at ? tasks[to].id : tasks[to + 1]?.id);
    }
    return undefined;
  }

  #do(id, column, before) {
    const { title } = this.#state.tasks.get(id);
    this.#move(id, { stage: column.stage.name, before });
    this.#board.focus(id);
    const place = column.tasks.findIndex((task) => task.id === id); // by priority, wherever it was moved to
    announce(`${title}: ${column.stage.name}, ${place + 1} of ${column.tasks.length}.`);
  }
}

class Dragging {
  #board;
  #move;
  #id = null; // of the dragged card
  #place = null; // {column, before}

  constructor(board, move) {
    this.#board = board;
    this.#move = move;
    const host = board.host;
    host.addEventListener("dragstart", (event) => this.#start(event));
    host.addEventListener("dragover", (event) => this.#over(event));
    host.addEventListener("drop", (event) => this.#drop(event));
    host.addEventListener("dragleave", (event) => !host.contains(event.relatedTarget) && this.#show(null));
    host.addEventListener("dragend", () => this.#end());
  }

  #start(event) {
    const card = event.target.closest?.(".card");
    if (!card) return;
    this.#id = card.dataset.id;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", `${this.#id} ${card.querySelector(".card__title").textContent}`);
    setTimeout(() => card.classList.add("card--dragged")); // after the browser has made its drag image
  }

  #over(event) {
    const column = this.#id && this.#board.columnOf(event.target);
    if (!column) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "move";
    const below = column.cards().find((card) => {
      const box = card.getBoundingClientRect();
      return event.clientY < box.top + box.height / 2;
    });
    this.#show({ column, below });
  }

  #drop(event) {
    const { column, below } = this.#place ?? {};
    const id = this.#id;
    this.#end();
    if (!column) return;
    event.preventDefault();
    const last = column.cards().at(-1); // there may be more below it that are not rendered
    const at = below ? column.indexOf(below) : last && !column.isFolded ? column.indexOf(last) + 1 : column.tasks.length;
    const before = column.tasks[at]?.id;
    if (before === id || column.tasks[at - 1]?.id === id) return; // unchanged
    this.#move(id, { stage: column.stage.name, before });
  }

  #show(place) {
    if (place?.column === this.#place?.column && place?.below === this.#place?.below) return;
    for (const shown of this.#board.host.querySelectorAll(".is-target, .is-below")) {
      shown.classList.remove("is-target", "is-below");
    }
    this.#place = place;
    if (!place) return;
    place.column.node.classList.add("is-target");
    place.below?.classList.add("is-below");
  }

  #end() {
    this.#show(null);
    for (const card of this.#board.host.querySelectorAll(".card--dragged")) card.classList.remove("card--dragged");
    this.#id = null;
  }
}
