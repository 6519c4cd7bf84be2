// The sidebar: the texts that agents look up.

import { api } from "./api.js";
import { element, keepingFocus, reconcile, setText } from "./dom.js";
import { icon } from "./icons.js";
import { markdown } from "./markdown.js";
import { openModal } from "./modal.js";
import { time } from "./time.js";

const KEYS = [
  [["Tab"], "from column to column"],
  [["↑", "↓", "←", "→"], "from card to card"],
  [["Enter"], "open the card"],
  [["Alt", "↑ ↓"], "move the card up or down"],
  [["Alt", "← →"], "move the card to the stage beside"],
  [["Alt", "Home End"], "move the card to the top or the end"],
  [["Ctrl", "Enter"], "save, or send an answer"],
  [["Esc"], "close"],
];

export class Sidebar {
  #standards = element("ul", { class: "texts", role: "list" });
  #snippets = element("ul", { class: "texts", role: "list" });
  #noStandards = element("p", { class: "hint" }, "None yet. Agents write them with ", element("code", {}, "create_standard"), ".");
  #noSnippets = element("p", { class: "hint" }, "None yet. Agents write them with ", element("code", {}, "create_snippet"), ".");
  #state;
  #fail;

  constructor(host, { state, fail }) {
    this.#state = state;
    this.#fail = fail;
    host.replaceChildren(
      element("nav", { "aria-label": "Texts for agents" },
        element("h2", {}, "Standards"), this.#noStandards, this.#standards,
        element("h2", {}, "Snippets"), this.#noSnippets, this.#snippets),
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

  async #open(kind, id) {
    try {
      const text = await api[kind](id);
      openModal({
        heading: text.title ?? text.id, kind: "dialog--text",
        content: [
          element("p", { class: "hint", dir: "auto" }, [text.description, (text.tags ?? []).join(", ")].filter(Boolean).join(" · "),
            ` Changed by ${text.updated_by}, `, time(text.updated_at)),
          text.content.trim() ? element("div", { class: "prose" }, markdown(text.content)) : element("p", { class: "hint" }, "It is empty."),
        ],
      });
    } catch (error) {
      this.#fail(error);
    }
  }
}

function openKeys() {
  openModal({
    heading: "Keyboard", kind: "dialog--small",
    content: [element("dl", { class: "keys" }, ...KEYS.map(([keys, does]) => element("div", {},
      element("dt", {}, ...keys.map((key) => element("kbd", {}, key))), element("dd", {}, does))))],
  });
}
