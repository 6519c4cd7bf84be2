// Brings the page's state up to date: reads the tasks that have changed, or the whole board when those are many.

import { api, ApiError } from "./api.js";

const MANY = 400; // tasks that are read by their ids; from here on the board is read as a whole
const PARTS = new Set(["agent", "question", "notification", "standard", "snippet"]); // of the workspace

export class Sync {
  #state;
  #fail;
  #tasks = new Set(); // to read
  #gone = new Set();
  #workspace = false;
  #board = false;
  #running = null;
  #held = new Map(); // ids of tasks that this page is changing → how many changes are under way
  #stamps = new Map(); // ids → how many changes have begun here

  /** `fail` is told of an error that is not the connection's: that one is shown already, and repaired by itself. */
  constructor(state, fail) {
    this.#state = state;
    this.#fail = fail;
  }

  /** Something has changed, as an event of the stream tells it. */
  note(change) {
    if (change.kind === "task" && change.action === "deleted") this.#gone.add(change.ref);
    else if (change.kind === "task") this.#tasks.add(change.ref);
    else if (PARTS.has(change.kind)) this.#workspace = true;
    else this.#board = true; // a stage: its name is in its tasks
    return this.#run();
  }

  /** A change of this page's own begins: what is read of the task until it ends may be older than it. */
  hold(id) {
    this.#held.set(id, (this.#held.get(id) ?? 0) + 1);
    this.#stamps.set(id, (this.#stamps.get(id) ?? 0) + 1);
  }

  /** It is over; whether it was the last that was under way. */
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

  /** Read as much as a screen shows, then the rest if there is more. Resolves when the first can be seen. */
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

  /** Go on with what could not be read before. Resolves once all that was noted so far is in the state. */
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
        await null; // what comes in the same moment is read together
        await this.#once();
      } while (this.#board || this.#workspace || this.#tasks.size || this.#gone.size);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status !== 0 && error.status !== 401) this.#fail(error); // else `retry` comes with the next connection
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
      this.#board = true; // what of it was read is lost: next time all
      throw error;
    });
    const read = new Map((found[1]?.tasks ?? []).map((task) => [task.id, task]));
    for (const id of ids) if (!read.has(id)) gone.add(id);
    if (gone.size) this.#state.drop([...gone]);
    const tasks = [...read.values()].filter((task) => !isOlder(task.id));
    if (tasks.length) this.#state.put(tasks);
    if (workspace) this.#state.replaceWorkspace(found[0]);
  }

  /** Whether what is read of a task from now on may be from before a change of this page's own; `free` reads it again. */
  #beginToRead() {
    const held = new Set(this.#held.keys());
    const stamps = new Map(this.#stamps);
    return (id) => held.has(id) || this.#stamps.get(id) !== stamps.get(id);
  }
}
