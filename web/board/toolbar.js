// The toolbar: name of the project, state of the connection, filter, and the buttons for the two panels and a new task.

import { debounced, element, keepingFocus, reconcile, setText } from "./dom.js";
import { NOBODY } from "./filter.js";
import { icon } from "./icons.js";
import { askForLine } from "./modal.js";
import { makeConnection } from "./connection.js";
import { avatar } from "./person.js";

export class Toolbar {
  #state;
  #filter;
  #name = element("a", { href: "/", class: "cut", dir: "auto" }, "Board");
  #text = element("input", { type: "search", class: "search__field", placeholder: "Filter: words, tag:, is:blocked…", "aria-label": "Filter tasks by text", dir: "auto", autocomplete: "off" });
  #tag = element("select", { "aria-label": "Filter by tag" });
  #agent = element("select", { "aria-label": "Filter by who works on it" });
  #chips = element("ul", { class: "chips", role: "list", "aria-label": "Tags in the filter" });
  #clear = element("button", { type: "button", class: "quiet" }, "Clear");
  #waiting = element("span", { class: "count", "aria-hidden": "true" });
  #waitingText = element("span", { class: "unseen" });
  #offer = debounced(() => this.#drawOffers(), 200);

  /** `on` has create(), toggleSidebar(), toggleWorkspace() and become(name). */
  constructor(host, { state, filter, on }) {
    this.#state = state;
    this.#filter = filter;
    this.menu = element("button", { type: "button", class: "plain", "aria-label": "Standards and snippets", title: "Standards and snippets", "aria-expanded": "false", "aria-controls": "sidebar", on: { click: () => on.toggleSidebar() } }, icon("menu"));
    this.panel = element("button", { type: "button", class: "toolbar__panel", "aria-expanded": "false", "aria-controls": "workspace", on: { click: () => on.toggleWorkspace() } },
      icon("panel"), element("span", { class: "wide", "aria-hidden": "true" }, "Workspace"), this.#waiting, this.#waitingText);
    const actor = element("span", { class: "actor", hidden: true, dir: "auto" });
    this.me = element("button", { type: "button", class: "plain toolbar__me", on: { click: () => this.#become(on.become) } });
    host.replaceChildren(
      this.menu,
      element("div", { class: "project", data: { mark: "project" } },
        element("h1", { class: "project__name" }, this.#name), actor),
      makeConnection(),
      element("search", { class: "filter" },
        element("div", { class: "search" }, icon("search"), this.#text), this.#tag, this.#agent, this.#chips, this.#clear),
      this.panel, this.me,
      element("button", { type: "button", class: "primary toolbar__new", "aria-label": "New task", on: { click: () => on.create() } }, icon("add"), element("span", { class: "wide" }, "New task")));
    this.#text.addEventListener("input", () => filter.set({ text: this.#text.value }));
    this.#text.addEventListener("keydown", (event) => event.key === "Escape" && !this.#text.value && this.#text.blur());
    this.#tag.addEventListener("change", () => this.#tag.value && filter.toggleTag(this.#tag.value));
    this.#agent.addEventListener("change", () => filter.set({ agent: this.#agent.value }));
    this.#clear.addEventListener("click", () => {
      filter.clear();
      this.#text.focus();
    });
    for (const type of ["board", "tasks"]) state.addEventListener(type, this.#offer);
    state.addEventListener("workspace", () => this.#drawWaiting());
    state.addEventListener("workspace", () => this.#drawMe());
    state.addEventListener("board", () => this.#drawProject());
    state.addEventListener("workspace", this.#offer);
    filter.addEventListener("change", () => this.draw());
    this.draw();
  }

  /** Focus the filter. */
  focusFilter() {
    this.#text.focus();
    this.#text.select();
  }

  draw() {
    const { text, isOn } = this.#filter;
    if (this.#text.value.trim() !== text) this.#text.value = text;
    this.#clear.hidden = !isOn;
    this.#drawOffers();
    keepingFocus(() => reconcile(this.#chips, this.#filter.tags, (tag) => tag, (tag) => element("li", {},
      element("button", { type: "button", class: "chip", "aria-label": `Remove the tag ${tag} from the filter`, on: { click: () => this.#filter.toggleTag(tag) } },
        element("span", { class: "cut", dir: "auto" }, tag), icon("close")))));
    this.#chips.hidden = !this.#filter.tags.length;
  }

  #drawOffers() {
    const tags = new Map();
    const agents = new Set([...this.#state.agents, ...this.#state.people].map(({ name }) => name));
    for (const task of this.#state.tasks.values()) {
      for (const tag of task.tags) tags.set(tag, (tags.get(tag) ?? 0) + 1);
      if (task.claimed_by) agents.add(task.claimed_by);
    }
    if (this.#filter.agent && this.#filter.agent !== NOBODY) agents.add(this.#filter.agent);
    const named = [...tags].sort(([one], [other]) => one.localeCompare(other)).map(([tag, count]) => [tag, `${tag} (${count.toLocaleString("en")})`]);
    offer(this.#tag, [["", "Any tag"], ...named.filter(([tag]) => !this.#filter.tags.includes(tag))], "");
    offer(this.#agent, [["", "Anybody"], [NOBODY, "Nobody"], ...[...agents].sort().map((name) => [name, name])], this.#filter.agent);
  }

  #drawProject() {
    const { root, name } = this.#state;
    setText(this.#name, name);
    this.#name.title = root;
  }

  #drawMe() {
    const { name } = this.#state.me;
    if (this.me.dataset.name === name) return;
    this.me.dataset.name = name;
    this.me.setAttribute("aria-label", `You are ${name}`);
    this.me.title = `You are ${name}`;
    this.me.replaceChildren(avatar(name));
  }

  /** Ask for another name; `become(name)` → why not. */
  #become(become) {
    askForLine({ heading: "Who are you?", label: "Your name on this board", value: this.#state.me.name, yes: "Save", save: become });
  }

  #drawWaiting() {
    const count = this.#state.questions.length + this.#state.unread;
    setText(this.#waiting, count ? String(count) : "");
    setText(this.#waitingText, `Agent Workspace${count ? `, ${count} waiting for you` : ""}`);
  }
}

/** Set the options of a <select>, unless they are the same. */
function offer(select, options, value) {
  const key = JSON.stringify(options);
  if (select.dataset.offers !== key) {
    select.dataset.offers = key;
    select.replaceChildren(...options.map(([name, text]) => element("option", { value: name }, text)));
  }
  select.value = value;
}
