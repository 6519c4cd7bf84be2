// Shows who reads or changes what: marks on cards, columns and texts, for some seconds each.
//
// Elements with `data-mark` are marked by the key in it: `task:ID`, `stage:NAME`, `standard:ID`, `snippet:ID`,
// `project`. The style sheet defines the look: `data-glow` is `read` or `write`; a `.actor` inside names the agent.

const LASTS = 4000; // milliseconds

export class Activity {
  #marks = new Map(); // key → {glow, who, timer}
  #own = new Map(); // ids changed by this page → number of events still expected

  /** This page's own change is under way: it needs no mark here. */
  expectOwn(id) {
    this.#own.set(id, (this.#own.get(id) ?? 0) + 1);
    setTimeout(() => this.#takeOwn(id), 10_000);
  }

  /** An agent has read something. */
  reads(activity) {
    for (const key of keysOf(activity.kind, activity.refs)) this.#mark(key, "read", activity.who);
  }

  /** Somebody has changed something. */
  writes(change, who) {
    if (!change.agent && this.#takeOwn(change.ref)) return;
    for (const key of keysOf(change.kind, [change.ref])) this.#mark(key, "write", who);
  }

  /** Show current marks on a newly drawn node. */
  dress(node) {
    show(node, this.#marks.get(node.dataset.mark));
  }

  #takeOwn(id) {
    const left = this.#own.get(id);
    if (!left) return false;
    if (left === 1) this.#own.delete(id);
    else this.#own.set(id, left - 1);
    return true;
  }

  #mark(key, glow, who) {
    const before = this.#marks.get(key);
    if (before?.glow === "write" && glow === "read") return; // the weaker one doesn't hide the stronger
    clearTimeout(before?.timer);
    const mark = { glow, who, timer: setTimeout(() => this.#unmark(key), LASTS) };
    this.#marks.set(key, mark);
    for (const node of nodesOf(key)) show(node, mark);
  }

  #unmark(key) {
    this.#marks.delete(key);
    for (const node of nodesOf(key)) show(node, undefined);
  }
}

function keysOf(kind, refs) {
  if (kind === "project") return ["project", ...nodesLike("stage:").map((node) => node.getAttribute("data-mark"))];
  return refs.map((ref) => `${kind}:${ref}`);
}

function nodesOf(key) {
  return document.querySelectorAll(`[data-mark="${CSS.escape(key)}"]`);
}

function nodesLike(start) {
  return [...document.querySelectorAll(`[data-mark^="${start}"]`)];
}

function show(node, mark) {
  const actor = node.querySelector(".actor");
  if (!mark) {
    delete node.dataset.glow;
    if (actor) actor.hidden = true;
    return;
  }
  node.dataset.glow = mark.glow;
  if (!actor) return;
  const does = mark.glow === "read" ? "reads" : "changed";
  actor.textContent = node.closest(".texts") ? mark.who : `${mark.who} ${does} this`; // there is no room beside a name
  actor.hidden = false;
}
