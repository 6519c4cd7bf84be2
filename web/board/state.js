// The page's copy of the board. Events report changes: `board` (everything), `tasks` (the ids),
// `workspace` (agents, questions, notifications, texts).

import { keep, kept } from "./kept.js";

const SEEN = "seen-mentions"; // root of the board → the newest message to me that was shown

const KEPT = ["id", "title", "stage", "status", "tags", "claimed_by", "claim_lapsed", "position", "revision", "updated_at", "priority",
  "boxes", "ticked", "branch", "blocked_by", "waits", "blocks", "comment_count", "due", "required_proof", "proof", "completed_at"];

// Defaults that GET /api/board leaves out.
const USUAL = {
  status: "pending", tags: [], claimed_by: null, claim_lapsed: null, priority: 2, boxes: 0, ticked: 0, branch: null, blocked_by: [], waits: 0, blocks: 0,
  comment_count: 0, due: null, required_proof: [], proof: [], completed_at: null,
};

export class State extends EventTarget {
  root = "";
  seq = 0; // number of the last known change
  archived = 0; // number of archived tasks
  stages = [];
  tasks = new Map(); // by id
  me = { id: null, name: "you" }; // who is at this page
  views = []; // saved ones, by name: {id, name, query, who}
  people = []; // everybody, by name: {id, name}
  mentions = []; // what was said to me, the newest first
  agents = [];
  questions = []; // without an answer
  answered = [];
  notifications = [];
  standards = [];
  snippets = [];
  #columns = new Map(); // name of a stage → its tasks, in order
  #waiting = new Map(); // id of a task → number of its unanswered questions

  /** Replace everything with the result of GET /api/board. */
  replace(board) {
    this.root = board.root;
    this.seq = Math.max(board.seq, this.seq);
    this.stages = board.stages;
    this.archived = board.archived;
    this.tasks = new Map(board.tasks.map((task) => [task.id, cardOf(task)]));
    this.#columns = new Map(board.stages.map((stage) => [stage.name, []]));
    for (const task of this.tasks.values()) this.#columns.get(task.stage)?.push(task); // they come in order
    this.#takeWorkspace(board);
    this.#tell("board");
    this.#tell("workspace");
  }

  /** Replace everything except the tasks with the result of GET /api/workspace. */
  replaceWorkspace(workspace) {
    const names = new Map(this.agents.map((agent) => [agent.id, agent.name]));
    const waited = this.#waiting;
    this.#takeWorkspace(workspace);
    this.#tell("workspace");
    const changed = symmetricDifference(waited, this.#waiting);
    if (changed.length) this.#tell("tasks", changed);
    for (const { id, name } of this.agents) {
      const old = names.get(id);
      if (old && old !== name) this.#renameHolder(old, name);
    }
  }

  /** These tasks are new or have changed. */
  put(tasks) {
    for (const given of tasks) {
      // Some answers leave out a task's blockers, which are read at the next event.
      const known = this.tasks.get(given.id);
      const task = given.blocked_by ? given : { ...given, blocked_by: known?.blocked_by ?? [], waits: known?.waits ?? 0 };
      this.#takeOut(task.id);
      const card = cardOf(task);
      this.tasks.set(card.id, card);
      const column = this.#columns.get(card.stage);
      column?.splice(placeIn(column, card), 0, card);
    }
    this.#tell("tasks", tasks.map((task) => task.id));
  }

  /** These tasks are gone. */
  drop(ids) {
    for (const id of ids) {
      this.#takeOut(id);
      this.tasks.delete(id);
    }
    this.#tell("tasks", ids);
  }

  /** The tasks of a stage, in order. */
  column(stageName) {
    return this.#columns.get(stageName) ?? [];
  }

  /** The ids in the order of the board. */
  inOrder(ids) {
    const wanted = new Set(ids);
    return this.stages.flatMap(({ name }) => this.column(name)).map((task) => task.id).filter((id) => wanted.has(id));
  }

  /** The number of unanswered questions about a task. */
  waiting(taskId) {
    return this.#waiting.get(taskId) ?? 0;
  }

  /** The number of messages to me that this browser has not shown. */
  get unread() {
    return this.mentions.filter((one) => one.id > (kept(SEEN, {})[this.root] ?? 0)).length;
  }

  /** All messages to me have been shown. */
  markRead() {
    if (!this.unread) return;
    keep(SEEN, { ...kept(SEEN, {}), [this.root]: this.mentions[0].id });
    this.#tell("workspace");
  }

  /** The name of the project: its folder. */
  get name() {
    return this.root.split(/[\\/]/).filter(Boolean).at(-1) ?? "Board";
  }

  /** The stage for new tasks. */
  get defaultStage() {
    return this.stages.find((stage) => stage.is_default) ?? this.stages[0];
  }

  #takeWorkspace(workspace) {
    for (const name of ["me", "people", "mentions", "agents", "questions", "answered", "notifications", "views", "standards", "snippets"]) {
      this[name] = workspace[name];
    }
    this.#waiting = new Map();
    for (const { task } of this.questions) if (task) this.#waiting.set(task, this.waiting(task) + 1);
  }

  #renameHolder(old, name) {
    const theirs = [...this.tasks.values()].filter((task) => task.claimed_by === old);
    if (theirs.length) this.put(theirs.map((task) => ({ ...task, claimed_by: name })));
  }

  #takeOut(id) {
    const known = this.tasks.get(id);
    const column = known && this.#columns.get(known.stage);
    if (column) column.splice(column.indexOf(known), 1);
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

function cardOf(task) {
  /** @type {Record<string, any>} */
  const card = { ...USUAL };
  for (const name of KEPT) if (task[name] !== undefined) card[name] = task[name];
  return card;
}

/** The index of a task among those of its stage. */
function placeIn(column, task) {
  let low = 0;
  let high = column.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const other = column[middle];
    if (isBefore(other, task)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Whether a task stands before another of its stage: the more urgent one; of completed ones the last. As `views.py` has it. */
function isBefore(one, other) {
  const keys = (task) => (task.completed_at ? [0, -Date.parse(task.completed_at)] : [task.priority, 0]);
  const [a, b] = [[...keys(one), one.position], [...keys(other), other.position]];
  const differs = a.findIndex((value, at) => value !== b[at]);
  return differs < 0 ? one.id < other.id : a[differs] < b[differs];
}

function symmetricDifference(before, after) {
  return [...new Set([...before.keys(), ...after.keys()])].filter((key) => before.get(key) !== after.get(key));
}
