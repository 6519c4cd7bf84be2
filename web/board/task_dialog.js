// The dialog of one task: reading, editing, and resolving conflicting changes.

import { announce } from "./announce.js";
import { api } from "./api.js";
import { element, reconcile } from "./dom.js";
import { icon } from "./icons.js";
import { anchorsOf, linksOf } from "./links_editor.js";
import { markdown } from "./markdown.js";
import { confirmed, openModal } from "./modal.js";
import { makeQuestion } from "./question.js";
import { commentField, commentsOf } from "./task_comments.js";
import { commitsOf } from "./task_commits.js";
import { TaskForm } from "./task_form.js";
import { historyOf } from "./task_history.js";
import { propertiesOf } from "./task_properties.js";

const WRITTEN = { title: "Title", description: "Description", tags: "Tags", branch: "Branch", required_proof: "Required proof" };

/** A dialog that creates a task and calls `created`. */
export function openNewTask({ state, actions, stage, created, returnTo }) {
  const modal = openModal({
    heading: "New task", kind: "dialog--form", returnTo, mayClose: () => mayDiscard(form),
  });
  const form = new TaskForm({
    task: { stage: stage ?? state.defaultStage?.name }, state, save: "Create task",
    cancel: modal.close,
    submit: async (values) => {
      if (!values.title) return refuseEmpty(form);
      try {
        const task = await actions.createTask(values);
        modal.close();
        announce(`Created ${task.title} in ${task.stage}.`);
        created(task);
      } catch (error) {
        form.refuse(error.message);
      }
      return undefined;
    },
  });
  modal.body.append(form.node);
  form.title.focus();
}

/** The dialog of an existing task; it shows changes by others as they happen. */
export class TaskDialog {
  #id;
  #with;
  #modal;
  #task = null;
  #form = null; // during editing
  #isReading = false; // one read at a time, followed by another if the task has changed since
  #isStale = false;
  #asked = 0; // number of requests for commits: only the last answer counts
  #drawn = new Map(); // section → the data it was rendered from
  #follow = (event) => (!event.detail || event.detail.includes(this.#id)) && this.#read();

  /** `wiring` has state, actions, undo, open(id), onClose, returnTo. */
  constructor(id, wiring) {
    this.#id = id;
    this.#with = wiring;
    this.#modal = openModal({
      heading: wiring.state.tasks.get(id)?.title ?? id, kind: "dialog--task",
      mayClose: () => mayDiscard(this.#form), returnTo: wiring.returnTo,
      onClose: () => {
        for (const type of ["tasks", "board"]) wiring.state.removeEventListener(type, this.#follow);
        wiring.state.removeEventListener("workspace", this.#drawAgain);
        wiring.onClose();
      },
    });
    this.#modal.dialog.dataset.mark = `task:${id}`;
    for (const type of ["tasks", "board"]) wiring.state.addEventListener(type, this.#follow);
    wiring.state.addEventListener("workspace", this.#drawAgain);
    this.#read();
  }

  close() {
    this.#modal.close();
  }

  #drawAgain = () => this.#task && !this.#form && this.#read();

  async #read() {
    this.#isStale = true;
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      while (this.#isStale) {
        this.#isStale = false;
        await this.#readOnce();
      }
    } finally {
      this.#isReading = false;
    }
  }

  async #readOnce() {
    try {
      const task = await api.task(this.#id);
      if (task.revision < this.#task?.revision) return; // older than a change made here
      this.#task = task;
    } catch (error) {
      if (error.status !== 400) return;
      this.#form = null;
      this.#drawn.clear();
      this.#modal.body.replaceChildren(element("p", { class: "hint" }, "This task is no longer on the board. It may have been deleted."));
      return;
    }
    if (this.#form) return this.#warn();
    this.#draw();
    this.#readCommits();
    return undefined;
  }

  async #readCommits() {
    const turn = (this.#asked += 1);
    const commits = await api.commits(this.#id).catch(() => null); // git may take a while
    if (commits && turn === this.#asked && this.#drawn.size) this.#section("commits", commits, () => commitsOf(commits.commits));
  }

  // --- reading -------------------------------------------------------------------------------------------------

  #draw() {
    const task = this.#task;
    const { body, title } = this.#modal;
    title.textContent = task.title;
    if (!this.#drawn.size) {
      body.replaceChildren(element("div", { class: "task" },
        element("div", { class: "task__main" }, slot("questions"), slot("description"), slot("comments"), slot("comment"), slot("history")),
        element("aside", { class: "task__side", "aria-label": "Properties" }, slot("actions"), slot("properties"), slot("links"), slot("anchors"), slot("commits"))));
    }
    const { state } = this.#with;
    const waiting = task.questions.filter((one) => !one.answered_at);
    reconcile(this.#slot("questions"), waiting, (one) => one.id, (one) => this.#question(one));
    this.#section("description", [task.description], () => describe(task.description, (number, isTicked) => this.#tick(number, isTicked)));
    this.#section("comments", [task.comments, state.me], () => [commentsOf(task.comments, state.me)]);
    this.#section("comment", ["always"], () => [commentField((text) => this.#with.actions.comment(task.id, text))]);
    this.#section("actions", ["always"], () => this.#buttons());
    const properties = [task.stage, task.status, task.tags, task.claimed_by, task.claim_lapsed, task.priority, task.branch, task.updated_at, state.stages, state.agents, state.people];
    this.#section("properties", properties, () => [propertiesOf(task, this.#with)]);
    const linked = [...task.depends_on, ...task.needed_by].map((id) => [id, state.tasks.get(id)]);
    this.#section("links", [task.depends_on, task.needed_by, linked], () => linksOf(task, this.#with));
    this.#section("anchors", task.anchors, () => anchorsOf(task, this.#with));
    this.#section("history", task.history, () => historyOf(task.history, (revision) => this.#with.actions.goBack(task.id, revision), state.people));
  }

  /** Render a section if its data has changed; focus and typed text stay. */
  #section(name, made, build) {
    const key = JSON.stringify(made);
    if (this.#drawn.get(name) === key) return;
    const host = this.#slot(name);
    if (host.matches(":active")) {
      // Replacing a button between press and release would lose the click.
      addEventListener("pointerup", () => setTimeout(this.#drawAgain), { once: true });
      return;
    }
    this.#drawn.set(name, key);
    const wasOpen = host.querySelector("details")?.open;
    const active = /** @type {HTMLElement} */ (document.activeElement);
    const focused = host.contains(active) ? active.dataset.focus : null;
    const typed = [...host.querySelectorAll("input[type=text]")].map((field) => [field.dataset.focus, field.value]);
    host.replaceChildren(...build().filter(Boolean));
    for (const [field, text] of typed) host.querySelector(`[data-focus="${field}"]`).value = text;
    if (wasOpen) host.querySelector("details").open = true;
    if (focused) host.querySelector(`[data-focus="${focused}"]`)?.focus();
  }

  #slot(name) {
    return this.#modal.body.querySelector(`[data-slot="${name}"]`);
  }

  #question(asked) {
    const { actions, open } = this.#with;
    return makeQuestion(asked, {
      answer: (id, answer) => actions.answer(id, answer), dismiss: (question) => actions.dismiss(question), openTask: open,
    }, { showsTask: false });
  }

  #buttons() {
    const edit = element("button", { type: "button", class: "primary", on: { click: () => this.#edit(this.#task) } }, icon("edit"), "Edit");
    const remove = element("button", { type: "button", on: { click: () => this.#delete() } }, icon("trash"), "Delete…");
    return [element("div", { class: "buttons buttons--start" }, edit, remove)];
  }

  #tick(number, isTicked) {
    this.#with.actions.tick(this.#id, number, isTicked);
  }

  async #delete() {
    const task = this.#task;
    const sure = await confirmed({ heading: "Delete this task?", text: `“${task.title}” goes to the trash, from where it can be restored.`, yes: "Delete task" });
    if (!sure) return;
    try {
      await this.#with.actions.deleteTask(task.id);
      this.close();
      announce(`Deleted ${task.title}.`);
    } catch (error) {
      this.#with.actions.fail(error);
    }
  }

  // --- editing -------------------------------------------------------------------------------------------------

  /** Edit a task; `written` is the initial content of the form, if it differs from the task. */
  #edit(base, written = base) {
    this.#drawn.clear();
    const stop = () => {
      this.#form = null;
      this.#draw();
      this.#modal.body.querySelector('[data-slot="actions"] button')?.focus();
    };
    this.#form = new TaskForm({
      task: written, save: "Save",
      cancel: async () => (await mayDiscard(this.#form)) && stop(),
      submit: (values) => (values.title ? this.#save(base, values, stop) : refuseEmpty(this.#form)),
    });
    this.#form.base = base;
    this.#modal.title.textContent = "Edit task";
    this.#modal.body.replaceChildren(element("p", { class: "notice", role: "status", hidden: true, data: { slot: "warning" } }), this.#form.node);
    this.#form.title.focus();
  }

  async #save(base, values, stop) {
    const change = Object.fromEntries(Object.keys(WRITTEN).filter((name) => differ(values[name], base[name])).map((name) => [name, values[name]]));
    if (!Object.keys(change).length) return stop();
    try {
      this.#task = { ...this.#task, ...(await this.#with.actions.changeTask(base.id, { ...change, expected_revision: base.revision }, base)) };
      announce("Saved.");
      return stop();
    } catch (error) {
      if (error.status !== 409) return this.#form.refuse(error.message);
    }
    const now = await api.task(base.id).catch(() => null);
    if (!now) return this.#form.refuse("This task is no longer on the board.");
    const both = Object.keys(change).filter((name) => differ(now[name], base[name]) && differ(now[name], values[name]));
    // Moved, claimed or changed elsewhere in the text: no conflict with what was written.
    if (!both.length) return this.#save({ ...base, ...now }, { ...pick(now), ...change }, stop);
    return this.#conflict(base, now, values, change, both, stop);
  }

  /** Conflicting changes: show both, and let the person choose. */
  #conflict(base, now, values, change, both, stop) {
    const last = now.history.at(-1);
    const mine = { ...pick(now), ...change };
    const side = (name, text) => element("div", { class: "conflict__side" }, element("h4", {}, name), element("pre", { dir: "auto", tabindex: "0", role: "region", "aria-label": name }, text || "(empty)"));
    const button = (text, run, kind = "") => element("button", { type: "button", class: kind, on: { click: run } }, text);
    const heading = element("h3", { tabindex: "-1" }, `${last?.who ?? "Somebody"} changed the same text while you were writing`);
    const box = element("section", { class: "conflict", "aria-label": "Two versions" }, heading,
      element("p", { class: "hint" }, "Nothing was saved yet. Which version do you want to keep?"),
      ...both.map((name) => element("div", { class: "conflict__field" }, element("p", { class: "conflict__name" }, WRITTEN[name]),
        element("div", { class: "conflict__sides" }, side("Yours", shown(values[name])), side("On the board", shown(now[name]))))),
      element("div", { class: "buttons" },
        button("Take theirs", () => {
          this.#task = now;
          stop();
        }),
        button("Keep writing", () => this.#edit(now, mine)),
        button("Keep mine", () => this.#save(now, mine, stop), "primary")));
    this.#modal.body.replaceChildren(box);
    heading.focus();
  }

  #warn() {
    const warning = this.#modal.body.querySelector('[data-slot="warning"]');
    if (!warning || this.#task.revision === this.#form.base.revision) return;
    warning.hidden = false;
    warning.textContent = `${this.#task.history.at(-1)?.who ?? "Somebody"} changed this task while you were writing. If you both changed the same text, you will see both versions when you save.`;
  }
}

// --- parts -------------------------------------------------------------------------------------------------------

function slot(name) {
  return element("div", { data: { slot: name } });
}

function describe(text, onTick) {
  return [text.trim() ? element("div", { class: "prose" }, markdown(text, { onTick })) : element("p", { class: "hint" }, "No description yet.")];
}

function shown(value) {
  return Array.isArray(value) ? value.join(", ") : String(value ?? "");
}

function pick(task) {
  return { title: task.title, description: task.description, tags: task.tags, branch: task.branch ?? "", required_proof: task.required_proof };
}

function differ(one, other) {
  return JSON.stringify(one ?? "") !== JSON.stringify(other ?? "");
}

async function refuseEmpty(form) {
  form.refuse("A task needs a title.");
  form.title.focus();
}

async function mayDiscard(form) {
  if (!form?.isChanged) return true;
  return confirmed({ heading: "Discard what you wrote?", text: "It was not saved.", yes: "Discard", no: "Keep writing" });
}
