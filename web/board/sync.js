// Updates the page's state: reads the changed tasks, or the whole board if there are many.

import { api, ApiError } from "./api.js";

const MANY = 400; // changed tasks; from this number on, the whole board is read
const PARTS = new Set(["agent", "person", "question", "notification", "standard", "snippet", "view"]); // of the workspace

export class Sync {
  #state;
  #fail;
  #tasks = new Set(); // to read
  #gone = new Set();
  #workspace = false;
  #board = false;
  #running = null;
  #held = new Map(); // id of a task that this page is changing → number of unfinished changes
  #stamps = new Map(); // id → number of changes begun by this page

  /** `fail` gets errors, except those of the connection, which are shown elsewhere and end by themselves. */
  constructor(state, fail) {
    this.#state = state;
    this.#fail = fail;
  }

  /** Record a change reported by an event of the stream. */
  note(change) {
    if (change.kind === "task" && change.action === "deleted") this.#gone.add(change.ref);
    else if (change.kind === "task") this.#tasks.add(change.ref);
    else if (PARTS.has(change.kind)) this.#workspace = true;
    else this.#board = true; // a stage, whose name is in its tasks
    return this.#run();
  }

  /** Begin a change by this page: until it ends, the task as read may be older than the change. */
  hold(id) {
    this.#held.set(id, (this.#held.get(id) ?? 0) + 1);
    this.#stamps.set(id, (this.#stamps.get(id) ?? 0) + 1);
  }

  /** End a change; returns whether it was the last unfinished one. */
  free(id) {
    const left = this.#held.get(id) - 1;
    if (left) {
      this.#held.set(id, left);
      return false;
    }
    this.#held.delete(id);
    this.#tasks.add(id);
    this.#run();
    return true;
  }

  /** Read one screenful, then the rest. Resolves when the first part is visible. */
  async begin() {
    try {
      const beginning = await api.beginning();
      this.#state.replace(beginning);
      if (beginning.total > beginning.tasks.length) this.everything();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      await this.everything();
    }
  }

  /** Read everything again. */
  everything() {
    this.#board = true;
    return this.#run();
  }

  /** Continue with what could not be read before. Resolves once all changes recorded so far are in the state. */
  retry() {
    return this.#run();
  }

  #run() {
    this.#running ??= this.#loop();
    return this.#running;
  }

  async #loop() {
    try {
      do {
        await null; // events of the same moment are handled together
        await this.#once();
      } while (this.#board || this.#workspace || this.#tasks.size || this.#gone.size);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status !== 0 && error.status !== 401) this.#fail(error); // otherwise the next connection calls `retry`
    } finally {
      this.#running = null;
    }
  }

  async #once() {
    const isOlder = this.#beginToRead();
    if (this.#board || this.#tasks.size > MANY) {
      this.#board = this.#workspace = false;
      this.#tasks.clear();
      this.#gone.clear();
      const board = await api.board().catch((error) => {
        this.#board = true;
        throw error;
      });
      const own = [...this.#state.tasks.values()].filter((task) => isOlder(task.id));
      this.#state.replace(board);
      if (own.length) this.#state.put(own);
      return;
    }
    const gone = new Set(this.#gone);
    const ids = [...this.#tasks].filter((id) => !this.#gone.has(id));
    const workspace = this.#workspace;
    this.#gone.clear();
    this.#tasks.clear();
    this.#workspace = false;
    const found = await Promise.all([workspace ? api.workspace() : null, ids.length ? api.cards(ids) : null]).catch((error) => {
      this.#board = true; // the part read is lost: next time, all
      throw error;
    });
    const read = new Map((found[1]?.tasks ?? []).map((task) => [task.id, task]));
    for (const id of ids) if (!read.has(id)) gone.add(id);
    if (gone.size) this.#state.drop([...gone]);
    const tasks = [...read.values()].filter((task) => !isOlder(task.id));
    if (tasks.length) this.#state.put(tasks);
    if (workspace) this.#state.replaceWorkspace(found[0]);
  }

  /** Whether a task read from now on may be older than a change by this page; `free` reads it again. */
  #beginToRead() {
    const held = new Set(this.#held.keys());
    const stamps = new Map(this.#stamps);
    return (id) => held.has(id) || this.#stamps.get(id) !== stamps.get(id);
  }
}
