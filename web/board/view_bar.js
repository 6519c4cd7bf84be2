// The bar above the tasks: board or list, groups, and the saved views.

import { announce } from "./announce.js";
import { api, ApiError } from "./api.js";
import { element, keepingFocus, reconcile, setText } from "./dom.js";
import { icon } from "./icons.js";
import { askForLine, confirmed } from "./modal.js";

/** @type {[string, string][]} */
const GROUPS = [["", "No groups"], ["stage", "By stage"], ["priority", "By priority"], ["holder", "By who works on it"], ["tag", "By tag"], ["due", "By due date"]];

export class ViewBar {
  #state;
  #view;
  #fail;
  #board = element("button", { type: "button", class: "tab" }, "Board");
  #list = element("button", { type: "button", class: "tab" }, "List");
  #group = element("select", { "aria-label": "Group the list" }, ...GROUPS.map(([value, text]) => element("option", { value }, text)));
  #saved = element("ul", { class: "views", role: "list", "aria-label": "Saved views" });
  #save = element("button", { type: "button", class: "quiet" }, "Save view…");

  /** `fail` reports a refusal. */
  constructor(host, { state, view, filter, fail }) {
    this.#state = state;
    this.#view = view;
    this.#fail = fail;
    host.replaceChildren(element("div", { class: "tabs", role: "group", "aria-label": "Show the tasks as" }, this.#board, this.#list), this.#group, this.#saved, this.#save);
    this.#board.addEventListener("click", () => view.set({ isList: false, sort: "", isDescending: false, group: "" }));
    this.#list.addEventListener("click", () => view.set({ isList: true }));
    this.#group.addEventListener("change", () => view.set({ group: this.#group.value }));
    this.#save.addEventListener("click", () => this.#ask());
    for (const source of [view, filter]) source.addEventListener("change", () => this.draw());
    state.addEventListener("workspace", () => this.draw());
    this.draw();
  }

  draw() {
    const { isList, group, query } = this.#view;
    this.#board.setAttribute("aria-pressed", String(!isList));
    this.#list.setAttribute("aria-pressed", String(isList));
    this.#group.hidden = !isList;
    this.#group.value = group;
    const { views } = this.#state;
    keepingFocus(() => reconcile(this.#saved, views, (one) => String(one.id), (one) => this.#make(one.id), (node, one) => {
      const [show, remove] = node.querySelectorAll("button");
      setText(show, one.name);
      show.title = `Saved by ${one.who}`;
      show.setAttribute("aria-pressed", String(one.query === query));
      remove.setAttribute("aria-label", `Delete the view ${one.name}`);
    }));
    this.#saved.hidden = !views.length;
    this.#save.hidden = !query || views.some((one) => one.query === query);
  }

  #make(id) {
    const found = () => this.#state.views.find((one) => one.id === id);
    return element("li", {}, element("button", { type: "button", class: "view__show cut", dir: "auto", on: { click: () => this.#view.show(found().query) } }),
      element("button", { type: "button", class: "plain view__delete", on: { click: () => this.#delete(found()) } }, icon("close")));
  }

  /** Ask for a name, and save what is shown. */
  #ask() {
    askForLine({ heading: "Save this view", label: "Name, for everybody on this board", value: "", yes: "Save", save: async (name) => {
      try {
        const { query } = this.#view;
        await api.saveView({ name, query });
        announce(`Saved the view ${name}.`);
        return null;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return error.message;
      }
    } });
  }

  async #delete({ id, name }) {
    if (await confirmed({ heading: "Delete this view?", text: `“${name}” is deleted for everybody. No task changes.`, yes: "Delete view" })) {
      await api.deleteView(id).catch((error) => this.#fail(error));
    }
  }
}
