// Selected cards, and the bar with actions for all of them.

import { countOf } from "./card.js";
import { element, setText } from "./dom.js";
import { confirmed } from "./modal.js";

export class Selection {
  #ids = new Set();
  #state;
  #do;
  #draw;
  #count = element("strong", {});
  #stage = element("select", { "aria-label": "Move the selected tasks to" });
  #bar;

  /** `actions` has moveAll(ids, stage), tagAll(ids, tag), deleteAll(ids); `draw` shows the selection. */
  constructor(host, { state, actions, draw }) {
    this.#state = state;
    this.#do = actions;
    this.#draw = draw;
    const tag = element("input", { type: "text", "aria-label": "Tag for the selected tasks", placeholder: "Add a tag", maxlength: "60" });
    tag.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !tag.value.trim()) return;
      this.#do.tagAll([...this.#ids], tag.value.trim());
      tag.value = "";
    });
    this.#stage.addEventListener("change", () => {
      if (this.#stage.value) this.#do.moveAll([...this.#ids], this.#stage.value);
      this.#stage.value = "";
    });
    this.#bar = element("section", { class: "selection", "aria-label": "Selected tasks", hidden: true }, this.#count, this.#stage, tag,
      element("button", { type: "button", on: { click: () => this.#delete() } }, "Delete…"),
      element("button", { type: "button", class: "quiet", on: { click: () => this.clear() } }, "Select nothing"));
    host.append(this.#bar);
    for (const type of ["board", "tasks"]) state.addEventListener(type, () => this.#forget());
  }

  has(id) {
    return this.#ids.has(id);
  }

  /** The cards that move with a card: the selection, if the card is in it. */
  with(id) {
    return this.#ids.has(id) ? this.#state.inOrder([...this.#ids]) : [id];
  }

  toggle(id) {
    if (!this.#ids.delete(id)) this.#ids.add(id);
    this.#changed();
  }

  clear() {
    if (!this.#ids.size) return;
    this.#ids.clear();
    this.#changed();
  }

  #forget() {
    const gone = [...this.#ids].filter((id) => !this.#state.tasks.has(id));
    for (const id of gone) this.#ids.delete(id);
    if (gone.length) this.#changed();
  }

  #changed() {
    this.#bar.hidden = !this.#ids.size;
    setText(this.#count, `${countOf(this.#ids.size, "task")} selected`);
    this.#stage.replaceChildren(element("option", { value: "" }, "Move to…"),
      ...this.#state.stages.map(({ name }) => element("option", { value: name }, name)));
    this.#draw();
  }

  async #delete() {
    const ids = [...this.#ids];
    const sure = await confirmed({ heading: `Delete ${countOf(ids.length, "task")}?`, text: "They go to the trash, from where they can be restored.", yes: "Delete tasks" });
    if (sure) this.#do.deleteAll(ids);
  }
}
