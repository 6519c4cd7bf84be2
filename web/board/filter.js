// Which tasks are shown: by text (see query.js), tags and agent. It is in the address after `#`, so that a reload keeps it.

import { api } from "./api.js";
import { debounced } from "./dom.js";
import { hasWord } from "./fuzzy.js";
import { fulfills, parseQuery } from "./query.js";

export const NOBODY = "-"; // tasks without an agent

export class Filter extends EventTarget {
  text = "";
  tags = [];
  agent = "";
  #query = { words: [], conditions: [] };
  #found = new Map(); // word → tasks with it in their description, from the server
  #texts = new WeakMap(); // task → its searched text
  #search = debounced(() => this.#ask(), 150);

  constructor() {
    super();
    this.#read();
    window.addEventListener("hashchange", () => this.#read() && this.#tell());
    if (this.#query.words.length) this.#search();
  }

  get isOn() {
    return Boolean(this.text || this.tags.length || this.agent);
  }

  /** Whether a task is shown; `asks` is the number of waiting questions about it. */
  passes(task, asks = 0) {
    if (this.agent && (task.claimed_by ?? NOBODY) !== this.agent) return false;
    if (this.tags.length && !this.tags.every((tag) => task.tags.some((own) => same(own, tag)))) return false;
    return this.#query.conditions.every((condition) => fulfills(task, condition, asks))
      && this.#query.words.every((word) => this.#found.get(word)?.has(task.id) || hasWord(this.#textOf(task), word));
  }

  /** Change `text`, `tags` or `agent`. */
  set(change) {
    if (change.text !== undefined && change.text.trim() !== this.text) {
      this.#take(change.text.trim());
    }
    if (change.tags) this.tags = change.tags;
    if (change.agent !== undefined) this.agent = change.agent;
    writeHash({ q: this.text ? [this.text] : [], tag: this.tags, agent: this.agent ? [this.agent] : [] });
    this.#tell();
  }

  clear() {
    this.set({ text: "", tags: [], agent: "" });
  }

  /** Add this tag to the filter, or remove it. */
  toggleTag(tag) {
    const rest = this.tags.filter((other) => !same(other, tag));
    this.set({ tags: rest.length < this.tags.length ? rest : [...this.tags, tag] });
  }

  /** Tasks have changed, and so may the matches of the text. */
  renew() {
    if (this.#query.words.length) this.#search();
  }

  #take(text) {
    this.text = text;
    this.#query = parseQuery(text);
    this.#found = new Map([...this.#found].filter(([word]) => this.#query.words.includes(word)));
    if (this.#query.words.length) this.#search();
  }

  #textOf(task) {
    let text = this.#texts.get(task);
    if (text === undefined) {
      text = [task.title, task.id, task.stage, task.claimed_by ?? "", ...task.tags].join("\n").toLowerCase();
      this.#texts.set(task, text);
    }
    return text;
  }

  async #ask() {
    const { words } = this.#query;
    const answers = await Promise.all(words.map((word) => api.search(word).catch(() => null)));
    let isOther = false;
    words.forEach((word, index) => {
      if (!answers[index] || !this.#query.words.includes(word)) return;
      const found = new Set(answers[index].ids);
      const before = this.#found.get(word);
      isOther ||= found.size !== before?.size || answers[index].ids.some((id) => !before.has(id));
      this.#found.set(word, found);
    });
    if (isOther) this.#tell();
  }

  /** Read the filter from the address; returns whether it changed. */
  #read() {
    const before = JSON.stringify([this.text, this.tags, this.agent]);
    const hash = readHash();
    const text = hash.get("q") ?? "";
    if (text !== this.text) {
      this.#take(text);
    }
    this.tags = hash.getAll("tag");
    this.agent = hash.get("agent") ?? "";
    return before !== JSON.stringify([this.text, this.tags, this.agent]);
  }

  #tell() {
    this.dispatchEvent(new Event("change"));
  }
}

/** The parameters after `#` in the address. */
export function readHash() {
  return new URLSearchParams(location.hash.slice(1));
}

/** Set some names after `#`, each to several values; without values a name is removed. */
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
