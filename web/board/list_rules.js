// How a list of tasks is sorted and grouped. Pure, but for today's date.

import { dayOf, isOverdue } from "./time.js";

const LAST = "\uffff"; // sorts behind all texts

/** @type {Record<string, (task: any) => string | number>} */
const KEYS = {
  title: (task) => task.title.toLowerCase(),
  stage: (task) => task.order,
  priority: (task) => task.priority,
  due: (task) => task.due ?? LAST,
  holder: (task) => (task.claimed_by ?? LAST).toLowerCase(),
  changed: (task) => -Date.parse(task.updated_at),
};

/** Groups by name: `[key, heading]` of each group that a task is in; the key sorts them. */
const GROUPS = {
  stage: (task) => [[task.order, task.stage]],
  priority: (task) => [[task.priority, `P${task.priority}`]],
  holder: (task) => [[(task.claimed_by ?? LAST).toLowerCase(), task.claimed_by ?? "Nobody"]],
  tag: (task) => (task.tags.length ? task.tags.map((tag) => [tag.toLowerCase(), tag]) : [[LAST, "No tag"]]),
  due: (task) => [dueGroup(task)],
};

/** Tasks in the order of a key, in which they are given if it is none; those without a value come last, whatever the direction. */
export function sorted(tasks, key, isDescending) {
  const of = KEYS[key];
  if (!of) return tasks;
  const sign = isDescending ? -1 : 1;
  const keyed = tasks.map((task, at) => ({ task, at, value: of(task) }));
  keyed.sort((one, other) => {
    const isLast = Number(one.value === LAST) - Number(other.value === LAST);
    if (isLast || one.value === other.value) return isLast || one.at - other.at;
    return one.value < other.value ? -sign : sign;
  });
  return keyed.map(({ task }) => task);
}

/** The groups of tasks, in order: `[{name, tasks}]`; one without a name if there is no such group. */
export function grouped(tasks, group) {
  const of = GROUPS[group];
  if (!of) return [{ name: null, tasks }];
  const found = new Map();
  for (const task of tasks) {
    for (const [key, name] of of(task)) {
      if (!found.has(name)) found.set(name, { key, name, tasks: [] });
      found.get(name).tasks.push(task);
    }
  }
  return [...found.values()].sort((one, other) => (one.key < other.key ? -1 : Number(one.key > other.key)));
}

function dueGroup(task) {
  if (!task.due) return [5, "No date"];
  if (task.status === "completed") return [4, "Done"];
  if (isOverdue(task)) return [0, "Overdue"];
  if (task.due === dayOf()) return [1, "Today"];
  return task.due <= dayOf(7) ? [2, "Within a week"] : [3, "Later"];
}
