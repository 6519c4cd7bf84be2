// How the tasks are shown: as a board or a list, sorted and grouped. It is in the address after `#`, as the filter is.

import { readHash, writeHash } from "./filter.js";

const OF_VIEW = ["view", "sort", "group"];

export class View extends EventTarget {
  isList = false;
  sort = ""; // a key of the list's columns; empty: the order of the board
  isDescending = false;
  group = "";

  constructor() {
    super();
    this.#read();
    window.addEventListener("hashchange", () => this.#read() && this.#tell());
  }

  /** Change `isList`, `sort`, `isDescending` or `group`. */
  set(change) {
    Object.assign(this, change);
    const sort = this.sort && `${this.isDescending ? "-" : ""}${this.sort}`;
    writeHash({ view: this.isList ? ["list"] : [], sort: sort ? [sort] : [], group: this.group ? [this.group] : [] });
    this.#tell();
  }

  /** All of what is shown, the filter included, to be saved; the open task is left out. */
  get query() {
    const hash = readHash();
    hash.delete("task");
    return hash.toString();
  }

  /** Show what was saved. */
  show(query) {
    location.hash = query;
    if (!query) history.replaceState(null, "", location.pathname);
  }

  /** Read it from the address; returns whether it changed. */
  #read() {
    const hash = readHash();
    const key = () => JSON.stringify([this.isList, this.sort, this.isDescending, this.group]);
    const before = key();
    const [view, sort, group] = OF_VIEW.map((name) => hash.get(name) ?? "");
    this.isList = view === "list";
    this.isDescending = sort.startsWith("-");
    this.sort = sort.replace(/^-/u, "");
    this.group = group;
    return before !== key();
  }

  #tell() {
    this.dispatchEvent(new Event("change"));
  }
}
