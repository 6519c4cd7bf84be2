// The sidebar: the texts that agents look up.

import { openArchive } from "./archive_dialog.js";
import { element, keepingFocus, reconcile, setText } from "./dom.js";
import { icon } from "./icons.js";
import { openKeys } from "./shortcuts.js";
import { openNewText, openText } from "./text_dialog.js";
import { openTrash } from "./trash_dialog.js";

export class Sidebar {
  #standards = element("ul", { class: "texts", role: "list" });
  #snippets = element("ul", { class: "texts", role: "list" });
  #noStandards = element("p", { class: "hint" }, "None yet. Standards are rules for agents, such as how errors are written.");
  #noSnippets = element("p", { class: "hint" }, "None yet. Snippets are texts and code that agents reuse.");
  #state;
  #fail;

  constructor(host, { state, fail }) {
    this.#state = state;
    this.#fail = fail;
    host.replaceChildren(
      element("nav", { "aria-label": "Texts for agents" },
        heading("Standards", "standard"), this.#noStandards, this.#standards,
        heading("Snippets", "snippet"), this.#noSnippets, this.#snippets),
      element("button", { type: "button", class: "sidebar__keys", on: { click: () => openArchive({ fail }) } }, icon("archive"), "Archive"),
      element("button", { type: "button", class: "sidebar__keys", on: { click: () => openTrash({ fail }) } }, icon("trash"), "Trash"),
      element("button", { type: "button", class: "sidebar__keys", on: { click: openKeys } }, icon("keyboard"), "Keyboard"));
    state.addEventListener("workspace", () => this.draw());
  }

  draw() {
    const { standards, snippets } = this.#state;
    keepingFocus(() => {
      this.#drawTexts(this.#standards, "standard", standards, (one) => one.id, (one) => one.description);
      this.#drawTexts(this.#snippets, "snippet", snippets, (one) => one.title, (one) => one.tags.join(", "));
    });
    this.#noStandards.hidden = standards.length > 0;
    this.#noSnippets.hidden = snippets.length > 0;
  }

  #drawTexts(list, kind, texts, nameOf, aboutOf) {
    reconcile(list, texts, (one) => one.id, (one) => element("li", { data: { mark: `${kind}:${one.id}` } },
      element("button", { type: "button", class: "text", on: { click: () => this.#open(kind, one.id) } }, icon("text"),
        element("span", { class: "text__name cut", dir: "auto" })), element("span", { class: "actor", hidden: true, dir: "auto" })),
    (node, one) => {
      setText(node.querySelector(".text__name"), nameOf(one));
      node.firstElementChild.title = aboutOf(one);
    });
  }

  #open(kind, id) {
    openText(kind, id).catch((error) => this.#fail(error));
  }
}

function heading(text, kind) {
  const add = element("button", { type: "button", class: "plain", "aria-label": `New ${kind}`, on: { click: () => openNewText(kind) } }, icon("add"));
  return element("h2", {}, text, add);
}
