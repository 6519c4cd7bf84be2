// The form of a task: title, description, tags, required proof; stage, priority, due date and dependencies of a new one,
// branch of an existing one.

import { element } from "./dom.js";
import { icon } from "./icons.js";
import { chooser } from "./links_editor.js";
import { markdown } from "./markdown.js";
import { PRIORITIES } from "./task_properties.js";

const USUAL = 2; // the priority of most tasks

export class TaskForm {
  #preview = element("div", { class: "prose preview", hidden: true });
  #write = element("button", { type: "button", class: "tab", "aria-pressed": "true" }, "Write");
  #look = element("button", { type: "button", class: "tab", "aria-pressed": "false" }, "Preview");
  #start;
  #isNew;
  #dependsOn = [];

  /** `task` has the initial values; `state` is given for a new one; `submit` is called to save, `cancel` to stop. */
  constructor({ task, state = null, save, submit, cancel }) {
    this.#isNew = state !== null;
    const stages = state?.stages ?? [];
    this.title = element("input", { id: "form-title", type: "text", value: task.title ?? "", maxlength: "300", required: true, dir: "auto", autocomplete: "off", autofocus: true });
    this.description = element("textarea", { id: "form-description", rows: "12", value: task.description ?? "", dir: "auto", "aria-describedby": "form-description-hint" });
    this.tags = element("input", { id: "form-tags", type: "text", value: (task.tags ?? []).join(", "), dir: "auto", autocomplete: "off", "aria-describedby": "form-tags-hint" });
    this.branch = element("input", { id: "form-branch", type: "text", value: task.branch ?? "", dir: "ltr", autocomplete: "off", spellcheck: "false", "aria-describedby": "form-branch-hint" });
    this.stage = element("select", { id: "form-stage" }, ...stages.map((stage) => element("option", { value: stage.name, selected: stage.name === task.stage }, stage.name)));
    this.priority = element("select", { id: "form-priority" }, ...PRIORITIES.map((text, value) => element("option", { value, selected: value === USUAL }, text)));
    this.due = element("input", { id: "form-due", type: "date" });
    this.proof = element("input", { id: "form-proof", type: "text", value: (task.required_proof ?? []).join(", "), dir: "ltr", autocomplete: "off", spellcheck: "false", "aria-describedby": "form-proof-hint" });
    this.error = element("p", { class: "error", role: "alert", hidden: true, dir: "auto" });
    this.#write.addEventListener("click", () => this.#show(false));
    this.#look.addEventListener("click", () => this.#show(true));
    const label = (target, text) => element("label", { for: target.id }, text);
    this.save = element("button", { type: "submit", class: "primary" }, save);
    this.node = element("form", { class: "form", novalidate: true },
      element("div", { class: "field" }, label(this.title, "Title"), this.title),
      element("div", { class: "field" },
        element("div", { class: "field__head" }, label(this.description, "Description"), element("div", { class: "tabs", role: "group", "aria-label": "Description" }, this.#write, this.#look)),
        this.description, this.#preview,
        element("p", { class: "hint", id: "form-description-hint" }, "Markdown: # heading, **bold**, - list, - [ ] to do, `code`")),
      element("div", { class: "form__row" },
        element("div", { class: "field" }, label(this.tags, "Tags"), this.tags, element("p", { class: "hint", id: "form-tags-hint" }, "Separated by commas")),
        this.#isNew ? null : element("div", { class: "field" }, label(this.branch, "Branch"), this.branch, element("p", { class: "hint", id: "form-branch-hint" }, "Git branch of the work")),
        this.#isNew ? element("div", { class: "field" }, label(this.stage, "Stage"), this.stage) : null,
        this.#isNew ? element("div", { class: "field" }, label(this.priority, "Priority"), this.priority) : null,
        this.#isNew ? element("div", { class: "field" }, label(this.due, "Due"), this.due) : null,
        element("div", { class: "field" }, label(this.proof, "Required proof"), this.proof, element("p", { class: "hint", id: "form-proof-hint" }, "commit, link, command, or make test"))),
      this.#isNew ? this.#dependencies(state) : null,
      this.error,
      element("div", { class: "buttons" },
        element("button", { type: "button", on: { click: cancel } }, "Cancel"), this.save));
    this.node.addEventListener("submit", async (event) => {
      event.preventDefault();
      this.save.disabled = true;
      await submit(this.values).finally(() => (this.save.disabled = false));
    });
    this.node.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.node.requestSubmit();
    });
    this.#start = JSON.stringify(this.values);
  }

  /** The current values. */
  get values() {
    const listed = (field) => field.value.split(",").map((one) => one.trim()).filter(Boolean);
    const rest = this.#isNew ? { stage: this.stage.value, priority: Number(this.priority.value), due: this.due.value || null, depends_on: this.#dependsOn } : { branch: this.branch.value.trim() };
    return { title: this.title.value.trim(), description: this.description.value, tags: listed(this.tags), required_proof: listed(this.proof), ...rest };
  }

  get isChanged() {
    return JSON.stringify(this.values) !== this.#start;
  }

  /** Show why it was not saved. */
  refuse(message) {
    this.error.textContent = message;
    this.error.hidden = false;
  }

  /** A field for the tasks that a new one waits for, with those that are chosen. */
  #dependencies(state) {
    const list = element("ul", { class: "links", role: "list" });
    const draw = () => list.replaceChildren(...this.#dependsOn.map((id) => element("li", {}, element("span", { dir: "auto" }, state.tasks.get(id)?.title ?? id),
      element("button", { type: "button", class: "plain", "aria-label": `Remove the dependency on ${state.tasks.get(id)?.title ?? id}`, on: { click: () => {
        this.#dependsOn = this.#dependsOn.filter((other) => other !== id);
        draw();
        field.querySelector("input").focus();
      } } }, icon("close")))));
    const field = chooser(state, (id) => this.#dependsOn.includes(id), (id) => {
      this.#dependsOn = [...this.#dependsOn, id];
      draw();
    });
    return element("div", { class: "field", role: "group", "aria-label": "Depends on" }, element("span", { class: "field__name", "aria-hidden": "true" }, "Depends on"), list, field);
  }

  #show(preview) {
    if (preview) this.#preview.replaceChildren(this.description.value.trim() ? markdown(this.description.value) : "Nothing written yet.");
    this.#preview.hidden = !preview;
    this.description.hidden = preview;
    this.#write.setAttribute("aria-pressed", String(!preview));
    this.#look.setAttribute("aria-pressed", String(preview));
  }
}
