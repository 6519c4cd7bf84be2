// Parses the text of the filter. Pure.
//
// `status:pending tag:"two words" is:blocked cach` → conditions that must all hold, and words that must all be found.

import { isOverdue } from "./time.js";

const KEYS = new Set(["status", "tag", "agent", "stage", "priority", "is"]);
const PART = /(-?)(?:([a-z]+):)?(?:"([^"]*)"?|(\S+))/giu;

/** `{words, conditions: [{key, value, isNot}]}` of a text. */
export function parseQuery(text) {
  const words = [];
  const conditions = [];
  for (const [whole, minus, key, quoted, plain] of text.matchAll(PART)) {
    const value = (quoted ?? plain).toLowerCase();
    if (key && KEYS.has(key.toLowerCase())) conditions.push({ key: key.toLowerCase(), value, isNot: minus === "-" });
    else words.push(quoted === undefined || key ? whole.toLowerCase() : value);
  }
  return { words, conditions };
}

/** Whether a task meets a condition; `asks` is the number of waiting questions about it. */
export function fulfills(task, { key, value, isNot }, asks) {
  return CHECKS[key](task, value, asks) !== isNot;
}

const CHECKS = {
  status: (task, value) => task.status.startsWith(value),
  tag: (task, value) => task.tags.some((tag) => tag.toLowerCase() === value),
  agent: (task, value) => (value === "nobody" ? !task.claimed_by : (task.claimed_by ?? "").toLowerCase() === value),
  stage: (task, value) => task.stage.toLowerCase().startsWith(value),
  priority: (task, value) => `p${task.priority}` === value || String(task.priority) === value,
  is: (task, value, asks) => Boolean(IS[value]?.(task, asks)),
};

const isPending = (task) => task.status !== "completed";
const isBlocked = (task) => isPending(task) && task.blocked_by?.length > 0;
const IS = {
  overdue: isOverdue,
  blocked: isBlocked,
  blocking: (task) => task.blocks > 0,
  ready: (task) => isPending(task) && !isBlocked(task) && !task.claimed_by,
  claimed: (task) => Boolean(task.claimed_by),
  asking: (_, asks) => asks > 0,
  done: (task) => !isPending(task),
  open: isPending,
};
