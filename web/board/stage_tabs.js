// On a narrow screen the board shows one column at a time: a tab for each stage, which follows swipes between columns.

import { element, keepingFocus, reconcile, setText } from "./dom.js";

export class StageTabs {
  #host;
  #board;
  #list = element("ul", { class: "stages__list", role: "list" });
  #current = null; // id of the stage with the visible column
  #seen;

  constructor(host, board) {
    this.#host = host;
    this.#board = board;
    host.replaceChildren(this.#list);
    this.#seen = new IntersectionObserver((entries) => {
      const shown = entries.filter((one) => one.isIntersecting).at(-1);
      if (shown) this.#become((/** @type {HTMLElement} */ (shown.target)).dataset.stage);
    }, { root: board.host, threshold: 0.6 });
  }

  /** Render the current state. */
  draw() {
    const columns = this.#board.columns();
    keepingFocus(() => reconcile(this.#list, columns, (column) => column.stage.id, (column) => this.#make(column), (tab, column) => {
      setText(tab.querySelector(".stages__name"), column.stage.name);
      setText(tab.querySelector(".stages__count"), column.tasks.length.toLocaleString("en"));
    }));
    this.#seen.disconnect();
    for (const column of columns) this.#seen.observe(column.node);
    if (!columns.some((column) => column.stage.id === this.#current)) this.#become(columns[0]?.stage.id);
  }

  #make(column) {
    const { id } = column.stage;
    return element("li", { data: { stage: id } }, element("button", { type: "button", class: "stages__tab", on: { click: () => this.#go(id) } },
      element("span", { class: "stages__name", dir: "auto" }), element("span", { class: "stages__count" })));
  }

  #go(id) {
    this.#board.columns().find((column) => column.stage.id === id)?.node.scrollIntoView({ inline: "start", block: "nearest" });
    this.#become(id);
  }

  #become(id) {
    this.#current = id;
    for (const tab of this.#list.children) {
      const isCurrent = tab.dataset.stage === id;
      tab.firstElementChild.toggleAttribute("aria-current", isCurrent);
      if (isCurrent) tab.firstElementChild.setAttribute("aria-current", "true");
      if (isCurrent && this.#host.offsetParent) this.#list.scrollTo({ left: tab.offsetLeft - 40 });
    }
  }
}
