// The properties of a task in its dialog: stage, status, priority, tags, who works on it, its branch, its archive.

import { announce } from "./announce.js";
import { element } from "./dom.js";
import { icon } from "./icons.js";
import { hueOf } from "./tag_colors.js";
import { dayText, isOverdue, time } from "./time.js";

export const PRIORITIES = ["P0 · urgent", "P1 · high", "P2 · normal", "P3 · low", "P4 · someday"];

/** A list of them; `wiring` has state and actions. */
export function propertiesOf(task, { state, actions }) {
  const done = task.status === "completed";
  const button = (name, text, run) => element("button", { type: "button", data: { focus: name }, on: { click: run } }, text);
  const stage = element("select", { id: "task-stage", data: { focus: "stage" }, on: { change: (event) => {
    const first = state.column(event.target.value)[0]?.id;
    actions.move(task.id, { stage: event.target.value, before: first });
    announce(`Moved to ${event.target.value}.`);
  } } }, ...state.stages.map((one) => element("option", { value: one.name, selected: one.name === task.stage }, one.name)));
  const priority = element("select", { id: "task-priority", data: { focus: "priority" }, on: { change: (event) => actions.quickly(task.id, { priority: Number(event.target.value) }) } },
    ...PRIORITIES.map((text, value) => element("option", { value, selected: value === task.priority }, text)));
  const due = element("input", { id: "task-due", type: "date", value: task.due ?? "", data: { focus: "due" }, on: { change: (event) => actions.quickly(task.id, { due: event.target.value }) } });
  return element("dl", { class: "properties" },
    property("Id", element("code", {}, task.id)),
    property(element("label", { for: "task-stage" }, "Stage"), stage),
    property("Status", element("span", { class: done ? "fact fact--done" : "fact" }, done ? icon("check") : null, done ? "Completed" : "Pending"),
      button("status", done ? "Reopen" : "Complete", () => actions.quickly(task.id, { status: done ? "pending" : "completed" })),
      done ? button("archive", "Archive", () => actions.archive(task.id)) : null),
    property(element("label", { for: "task-priority" }, "Priority"), priority),
    property(element("label", { for: "task-due" }, "Due"), due, isOverdue(task) ? element("span", { class: "fact fact--late" }, icon("clock"), `Overdue: ${dayText(task.due)}`) : null),
    proofsOf(task),
    property("Tags", task.tags.length ? element("ul", { class: "tags", role: "list" }, ...task.tags.map((tag) => element("li", { class: "tag", dir: "auto", vars: { "--hue": hueOf(tag) } }, tag))) : none("None")),
    property(done ? "Worked on by" : element("label", { for: "task-holder" }, "Worked on by"), done ? none("Nobody") : holderOf(task, state, actions)),
    task.branch ? property("Branch", icon("branch"), element("code", { dir: "ltr" }, task.branch)) : null,
    property("Changed", time(task.updated_at)),
    property("Created", time(task.created_at)));
}

/** A menu of people and connected agents for a task; its present agent may be disconnected. */
function holderOf(task, { agents, people }, actions) {
  const gone = task.claim_lapsed;
  return element("select", { id: "task-holder", data: { focus: "holder" }, on: { change: (event) => actions.assign(task.id, event.target.value || null) } },
    element("option", { value: "" }, "Nobody"),
    gone ? element("option", { value: "gone", disabled: true, selected: true }, `${gone} (gone; the claim has lapsed)`) : null,
    groupOf("People", people, task), groupOf("Agents", agents, task));
}

function groupOf(label, all, task) {
  return all.length ? element("optgroup", { label }, ...all.map(({ id, name }) => element("option", { value: id, selected: name === task.claimed_by }, name))) : null;
}

/** What a task requires as proof, and the proofs given. */
function proofsOf(task) {
  if (!task.required_proof.length && !task.proof.length) return null;
  const open = task.required_proof.length && !task.proof.length ? element("p", {}, "Requires: ", task.required_proof.join(", ")) : null;
  return property("Proof", open, element("ul", { class: "proofs", role: "list" }, ...task.proof.map((one) => element("li", {}, icon("proof"),
    /^https?:/iu.test(one) ? element("a", { href: one, rel: "noreferrer noopener", target: "_blank", dir: "ltr" }, one) : element("code", { dir: "ltr" }, one)))));
}

function property(name, ...values) {
  return element("div", {}, element("dt", {}, name), element("dd", {}, ...values.filter(Boolean)));
}

function none(text) {
  return element("span", { class: "none" }, text);
}
