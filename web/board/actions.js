// A person's actions on the page. Each is shown at once, sent, and reverted with a message if the server refuses it.

import { announce, toast } from "./announce.js";
import { api, ApiError } from "./api.js";
import { completing } from "./completing.js";

export class Actions {
  #state;
  #activity;
  #sync;
  #lines = new Map(); // id of a task → its latest change; the next change waits for it

  #undo;

  constructor(state, activity, sync, undo) {
    this.#undo = undo;
    this.#state = state;
    this.#activity = activity;
    this.#sync = sync;
  }

  /** Put a task into a stage before another, or at its end. */
  async move(id, place) {
    await this.moveTogether([id], place);
  }

  /** Put tasks into a stage one after the other, before another or at its end; undo reverts all of them together. */
  async moveTogether(ids, { stage, before }) {
    const places = ids.map((id) => this.#placeOf(id));
    const what = ids.length === 1 ? `moved ${this.#state.tasks.get(ids[0]).title}` : `moved ${ids.length} tasks`;
    const target = ids.includes(before) ? this.#nextOf(before, ids) : before;
    this.#undo.add(what, async () => {
      for (const { id, ...place } of places.reverse()) if (this.#state.tasks.has(id)) await this.#move(id, this.#stillThere(place));
    });
    for (const id of ids) await this.#move(id, { stage, before: target }); // one by one, to keep their order
  }

  async moveAll(ids, stage) {
    await this.moveTogether(this.#state.inOrder(ids), { stage, before: undefined });
  }

  async tagAll(ids, tag) {
    const tasks = ids.map((id) => this.#state.tasks.get(id)).filter((task) => !task.tags.includes(tag));
    const set = (id, tags) => this.#change(id, () => api.changeTask(id, { tags }));
    const done = Promise.all(tasks.map(({ id, tags }) => set(id, [...tags, tag])));
    this.#undo.add(`added the tag ${tag}`, () => Promise.all(tasks.map(({ id }) => set(id, this.#state.tasks.get(id).tags.filter((other) => other !== tag)))), done);
    await done;
  }

  async deleteAll(ids) {
    for (const id of ids) await this.deleteTask(id).catch((error) => this.fail(error));
  }

  async #move(id, { stage, before }) {
    const task = this.#state.tasks.get(id);
    const isDone = Boolean(this.#state.stages.find(({ name }) => name === stage)?.completes);
    if (isDone && task.stage === stage) return toast(`${stage} has the last completed task first.`);
    // Only tasks of one priority are arranged by hand: the more urgent ones stand before them.
    const all = this.#state.column(stage).filter((other) => other.id !== id);
    const below = all.slice(before ? all.findIndex((other) => other.id === before) : all.length);
    const others = isDone ? [] : all.filter((other) => other.priority === task.priority);
    const next = below.find((other) => others.includes(other));
    const last = others.at(-1);
    const sent = isDone ? { stage } : next ? { stage, before: next.id } : task.stage === stage && last ? { stage, after: last.id } : { stage };
    const position = positionAt(others, next ? others.indexOf(next) : others.length);
    const status = isDone ? { status: "completed", completed_at: new Date().toISOString() } : { status: "pending", completed_at: null };
    this.#state.put([{ ...task, stage, ...status, position }]);
    if (sent.after) this.#activity.expectOwn(sent.after);
    await this.#change(id, () => completing((more) => api.moveTask(id, { ...sent, ...more })));
    return undefined;
  }

  #placeOf(id) {
    const { stage } = this.#state.tasks.get(id);
    return { id, stage, before: this.#nextOf(id, []) };
  }

  /** The task after another in its stage, ignoring some. */
  #nextOf(id, without) {
    const column = this.#state.column(this.#state.tasks.get(id).stage);
    const at = column.findIndex((task) => task.id === id);
    return column.slice(at + 1).find((task) => !without.includes(task.id))?.id;
  }

  /** A place; the end of its stage if the task after it has moved elsewhere. */
  #stillThere({ stage, before }) {
    return { stage, before: this.#state.tasks.get(before)?.stage === stage ? before : undefined };
  }

  /** Change a task; returns the task. Throws ApiError 409 if `expected_revision` is outdated. */
  async changeTask(id, change, before = null) {
    const stored = this.#store(id, change);
    if (before) {
      const names = Object.keys(change).filter((name) => name in before);
      const old = Object.fromEntries(names.map((name) => [name, before[name] ?? ""]));
      this.#undo.add(`changed ${change.title ?? before.title}`, (task) => this.#store(id, { ...old, expected_revision: task.revision }), stored);
    }
    return stored;
  }

  /** Change stage, status or priority, shown at once. */
  async quickly(id, change) {
    const before = this.#state.tasks.get(id);
    this.#state.put([{ ...before, ...change }]);
    const old = Object.fromEntries(Object.keys(change).map((name) => [name, before[name]]));
    const done = this.#change(id, () => completing((more) => api.changeTask(id, { ...change, ...more })));
    this.#undo.add(`changed ${before.title}`, () => this.#store(id, old), done);
    await done;
  }

  async #store(id, change) {
    this.#activity.expectOwn(id);
    this.#sync.hold(id);
    try {
      const task = await completing((more) => api.changeTask(id, { ...change, ...more }));
      this.#state.put([task]);
      return task;
    } finally {
      this.#sync.free(id);
    }
  }

  async createTask(task) {
    const creating = api.createTask(task);
    this.#undo.add(`created ${task.title}`, ({ id }) => this.#delete(id), creating);
    const made = await creating;
    this.#activity.expectOwn(made.id);
    this.#state.put([made]);
    return made;
  }

  /** Put a task into the trash. */
  async deleteTask(id) {
    const done = this.#delete(id);
    this.#undo.add(`deleted ${this.#state.tasks.get(id)?.title ?? id}`, () => api.revert("task", id), done);
    await done;
  }

  async #delete(id) {
    await api.deleteTask(id);
    this.#state.drop([id]);
  }

  /** Restore a task to a revision. */
  async goBack(id, revision) {
    const { title, revision: now } = this.#state.tasks.get(id);
    const done = api.revert("task", id, revision);
    this.#undo.add(`restored an earlier revision of ${title}`, () => api.revert("task", id, now), done);
    await done.catch((error) => this.fail(error));
  }

  /** Tick or untick a checkbox of a task's description, by its number from 1. */
  async tick(id, number, isTicked) {
    const [change, back] = [{ tick: [String(number)] }, { untick: [String(number)] }];
    const done = this.#change(id, () => api.changeTask(id, isTicked ? change : back));
    this.#undo.add(`${isTicked ? "ticked" : "unticked"} a checkbox`, () => this.#store(id, isTicked ? back : change), done);
    await done;
  }

  /** Comment on a task; whether it was stored. */
  async comment(id, text) {
    try {
      await api.comment(id, text);
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  /** Move a completed task from the board to the archive. */
  async archive(id) {
    const { title } = this.#state.tasks.get(id);
    const done = this.#change(id, () => api.changeTask(id, { archived: true }));
    this.#undo.add(`archived ${title}`, () => this.#store(id, { archived: false }), done);
    await done;
  }

  /** Give a task to a person or an agent, or to nobody. */
  async assign(id, agent) {
    const before = [...this.#state.people, ...this.#state.agents].find(({ name }) => name === this.#state.tasks.get(id).claimed_by)?.id ?? null;
    const send = (to) => this.#change(id, () => (to ? api.assignTask(id, to) : api.releaseTask(id)));
    const { title } = this.#state.tasks.get(id);
    const done = send(agent);
    this.#undo.add(`changed who works on ${title}`, () => send(before), done);
    await done;
  }

  /** Rename an agent; returns the reason if that was refused. */
  async renameAgent(agent, name) {
    const done = api.renameAgent(agent.id, name);
    this.#undo.add(`renamed ${agent.name}`, () => api.renameAgent(agent.id, agent.name), done);
    try {
      await done;
      return null;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return error.message;
    }
  }

  /** Answer a question; whether the answer was accepted. */
  async answer(id, answer) {
    try {
      await api.answer(id, answer);
      return true;
    } catch (error) {
      this.fail(error);
      return false;
    }
  }

  /** Dismiss a question; the agent is told that there will be no answer. */
  async dismiss(question) {
    try {
      await api.dismiss(question.id);
      announce(`Dismissed: ${question.question}`);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Report a refusal. */
  fail(error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status !== 401) toast(error.message, { error: true }); // 401 has its own notice
  }

  /** Send a change of a task after its earlier ones; the resulting task, null if it was refused. */
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
    if (this.#sync.free(id) && task) this.#state.put([task]); // after a refusal, `free` has it read again
    return task;
  }
}

/** A position before the task at an index of a column. */
function positionAt(others, at) {
  const next = others[at];
  const previous = others[at - 1];
  if (!next) return (previous?.position ?? 0) + 1;
  return previous ? (previous.position + next.position) / 2 : next.position - 1;
}
