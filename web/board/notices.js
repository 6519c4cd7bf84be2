// Notices above the board: signed out, changes during a lost connection, waiting questions.

import { element } from "./dom.js";
import { avatar } from "./person.js";
import { icon } from "./icons.js";
import { time } from "./time.js";

const MOST = 100; // changes that are listed

export class Notices {
  #host;
  #signedOut = null;
  #introduction = null;
  #missed = null;
  #offer = null;
  #waiting = null;

  constructor(host) {
    this.#host = host;
  }

  /** Explain how to sign in again, or remove that notice. */
  signedOut(isOut, root, retry) {
    this.#signedOut?.remove();
    this.#signedOut = null;
    if (!isOut) return;
    this.#signedOut = element("div", { class: "notice notice--warning", role: "alert" }, icon("warning"),
      element("p", {}, element("strong", {}, "This page is signed out. "), "Run ", element("code", {}, `lsp-mcp board --link --port ${location.port}`), root ? [" in ", element("code", {}, root)] : null,
        " (with the --store that the board has, if any) and open the link that it prints; this page then goes on by itself."),
      element("button", { type: "button", on: { click: retry } }, "Try again"));
    this.#host.append(this.#signedOut);
  }

  /** Show what changed while the page had no connection; null if the server no longer knows. */
  missed(changes, open) {
    this.#missed?.remove();
    const dismiss = element("button", { type: "button", class: "plain", "aria-label": "Dismiss" }, icon("close"));
    const text = changes ? `${changes.length.toLocaleString("en")} change${changes.length === 1 ? "" : "s"} while you were away` : "Much changed while you were away. The board was reloaded.";
    const shown = changes?.slice(-MOST).reverse().map((change) => element("li", {},
      element("strong", { dir: "auto" }, change.who), ` ${change.action} ${change.kind} `,
      change.kind === "task" && change.action !== "deleted" ? element("button", { type: "button", class: "link", dir: "auto", on: { click: () => open(change.ref) } }, change.text)
        : element("span", { dir: "auto" }, change.text), " ", time(change.at)));
    this.#missed = element("div", { class: "notice", role: "status" }, icon("info"),
      changes ? element("details", {}, element("summary", {}, text), element("ol", { role: "list", class: "missed" }, ...shown)) : element("p", {}, text), dismiss);
    dismiss.addEventListener("click", () => this.#missed.remove());
    this.#host.append(this.#missed);
  }

  /** Say, on the first visit, under which name this page acts; `change()` asks for another, `accept()` keeps it. */
  introduce(name, change, accept) {
    this.#introduction?.remove();
    this.#introduction = null;
    if (name === null) return;
    const done = () => {
      accept();
      this.introduce(null);
    };
    this.#introduction = element("div", { class: "notice notice--who", role: "status" }, avatar(name),
      element("p", {}, "You are ", element("strong", { dir: "auto" }, name), " on this board: others see what you do under this name."),
      element("button", { type: "button", on: { click: change } }, "Change"), element("button", { type: "button", class: "primary", on: { click: done } }, "That’s me"));
    this.#host.append(this.#introduction);
  }

  /** Offer, once, desktop notifications and sound for questions; `choose(is wanted)`. */
  offerToTell(isOffered, choose) {
    if (isOffered === Boolean(this.#offer)) return;
    this.#offer?.remove();
    this.#offer = null;
    if (!isOffered) return;
    const button = (text, isWanted, kind = "") => element("button", { type: "button", class: kind, on: { click: () => choose(isWanted) } }, text);
    this.#offer = element("div", { class: "notice", role: "status" }, icon("bell"),
      element("p", {}, element("strong", {}, "An agent is waiting for you. "), "Show a desktop notification and play a quiet sound when an agent asks a question?"),
      button("Notify me", true, "primary"), button("No", false));
    this.#host.append(this.#offer);
  }

  /** Show the first unanswered question, unless the Agent Workspace does; `open` answers it. */
  waiting(questions, open) {
    const shown = questions.map((one) => one.id).join();
    if (shown === (this.#waiting?.dataset.shown ?? "")) return;
    this.#waiting?.remove();
    this.#waiting = null;
    if (!questions.length) return;
    const [first] = questions;
    const more = questions.length > 1 ? ` and ${questions.length - 1} more` : "";
    this.#waiting = element("div", { class: "notice notice--question", data: { shown } }, icon("question"),
      element("p", { class: "cut", dir: "auto" }, element("strong", {}, `${first.who} asks`), `${more}: ${first.question}`),
      element("button", { type: "button", class: "primary", on: { click: open } }, "Answer"));
    this.#host.prepend(this.#waiting);
  }
}
