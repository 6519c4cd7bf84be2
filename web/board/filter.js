// Which tasks are shown: by text, tags and agent. It is in the address, behind `#`, so that a reload keeps it.

import { api } from "./api.js";
import { debounced } from "./dom.js";

export const NOBODY = "-"; // an agent's name is longer or has no such meaning: tasks that nobody works on

export class Filter extends EventTarget {
  text = "";
  tags = [];
  agent = "";
  #found = new Set(); // tasks that have the text in their description; the server knows those
  #search = debounced(() => this.#ask(), 150);

  constructor() {
    super();
    this.#read();
    window.addEventListener("hashchange", () => this.#read() && this.#tell());
    if (this.text) this.#search();
  }

  get isOn() {
    return Boolean(this.text || this.tags.length || this.agent);
  }

  /** Whether a task is shown. */
  passes(task) {
    if (this.agent && (task.claimed_by ?? NOBODY) !== this.agent) return false;
    if (this.tags.length && !this.tags.every((tag) => task.tags.some((own) => same(own, tag)))) return false;
    if (!this.text || this.#found.has(task.id)) return true;
    const text = this.text.toLowerCase();
    return task.title.toLowerCase().includes(text) || task.id === text;
  }

  /** Change some of `text`, `tags`, `agent`. */
  set(change) {
    if (change.text !== undefined && change.text.trim() !== this.text) {
      this.text = change.text.trim();
      this.#found = new Set();
      if (this.text) this.#search();
    }
    if (change.tags) this.tags = change.tags;
    if (change.agent !== undefined) this.agent = change.agent;
    writeHash({ q: this.text ? [this.text] : [], tag: this.tags, agent: this.agent ? [this.agent] : [] });
    this.#tell();
  }

  clear() {
    this.set({ text: "", tags: [], agent: "" });
  }

  /** Show only tasks with this tag too, or again those without. */
  toggleTag(tag) {
    const rest = this.tags.filter((other) => !same(other, tag));
    this.set({ tags: rest.length < this.tags.length ? rest : [...this.tags, tag] });
  }

  /** Tasks have changed: those that have the text may be others. */
  renew() {
    if (this.text) this.#search();
  }

  async #ask() {
    const text = this.text;
    if (!text) return;
    const answer = await api.search(text).catch(() => null);
    if (!answer || text !== this.text) return;
    const found = new Set(answer.ids);
    if (found.size === this.#found.size && answer.ids.every((id) => this.#found.has(id))) return;
    this.#found = found;
    this.#tell();
  }

  /** Take the address over; whether that changed anything. */
  #read() {
    const before = JSON.stringify([this.text, this.tags, this.agent]);
    const hash = readHash();
    const text = hash.get("q") ?? "";
    if (text !== this.text) {
      this.text = text;
      this.#found = new Set();
      this.#search();
    }
    this.tags = hash.getAll("tag");
    this.agent = hash.get("agent") ?? "";
    return before !== JSON.stringify([this.text, this.tags, this.agent]);
  }

  #tell() {
    this.dispatchEvent(new Event("change"));
  }
}

/** What is behind `#` in the address. */
export function readHash() {
  return new URLSearchParams(location.hash.slice(1));
}

/** Set some names behind `#`, each to several values; none takes the name out. */
export function writeHash(values) {
  const hash = readHash();
  for (const [name, all] of Object.entries(values)) {
    hash.delete(name);
    for (const value of all) hash.append(name, value);
  }
  const text = hash.toString();
  history.replaceState(null, "", text ? `#${text}` : location.pathname);
}

function same(one, other) {
  return one.toLowerCase() === other.toLowerCase();
}
