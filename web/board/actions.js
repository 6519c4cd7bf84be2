// What a person does on the page. Each shows at once, is sent, and is taken back with a message if it was refused.

import { toast } from "./announce.js";
import { api, ApiError } from "./api.js";

export class Actions {
  #state;
  #activity;
  #sync;
  #lines = new Map(); // id of a task → the last of its changes, which the next one waits for

  constructor(state, activity, sync) {
    this.#state = state;
    this.#activity = activity;
    this.#sync = sync;
  }

  /** Put a task into a stage before another, or at its end. */
  async move(id, { stage, before }) {
    const task = this.#state.tasks.get(id);
    const others = this.#state.column(stage).filter((other) => other.id !== id);
    const at = before ? others.findIndex((other) => other.id === before) : others.length;
    const last = others.at(-1);
    const sent = before ? { stage, before } : task.stage === stage && last ? { stage, after: last.id } : { stage };
    this.#state.put([{ ...task, stage, position: positionAt(others, at) }]);
    if (sent.after) this.#activity.expectOwn(sent.after);
    await this.#change(id, () => api.moveTask(id, sent));
  }

  /** Change a task; the answer is the task. Throws ApiError 409 if `expected_revision` is none any more. */
  async changeTask(id, change) {
    this.#activity.expectOwn(id);
    this.#sync.hold(id);
    try {
      const task = await api.changeTask(id, change);
      this.#state.put([task]);
      return task;
    } finally {
      this.#sync.free(id);
    }
  }

  /** Change stage or status, which are shown at once. */
  async quickly(id, change) {
    this.#state.put([{ ...this.#state.tasks.get(id), ...change }]);
    await this.#change(id, () => api.changeTask(id, change));
  }

  async createTask(task) {
    const made = await api.createTask(task);
    this.#activity.expectOwn(made.id);
    this.#state.put([made]);
    return made;
  }

  async deleteTask(id) {
    await api.deleteTask(id);
    this.#state.drop([id]);
  }

  async releaseTask(id) {
    await this.#change(id, () => api.releaseTask(id));
  }

  /** Answer a question; whether that was taken. */
  async answer(id, answer) {
    try {
      await api.answer(id, answer);
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  /** Tell of a refusal. */
  fail(error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status !== 401) toast(error.message, { error: true }); // that one has a notice of its own
  }

  async #change(id, send) {
    this.#activity.expectOwn(id);
    this.#sync.hold(id);
    const turn = (this.#lines.get(id) ?? Promise.resolve()).then(send);
    const quiet = turn.catch(() => {});
    this.#lines.set(id, quiet);
    let task = null;
    try {
      task = await turn;
    } catch (error) {
      this.fail(error);
    }
    if (this.#lines.get(id) === quiet) this.#lines.delete(id);
    if (this.#sync.free(id) && task) this.#state.put([task]); // after a refusal it is read as it is
  }
}

/** A position before the task at an index of a column. */
function positionAt(others, at) {
  const next = others[at];
  const previous = others[at - 1];
  if (!next) return (previous?.position ?? 0) + 1;
  return previous ? (previous.position + next.position) / 2 : next.position - 1;
}
