// The form of a task: title, description, tags; stage and priority of a new one, branch of an existing one.

import { element } from "./dom.js";
import { markdown } from "./markdown.js";
import { PRIORITIES } from "./task_properties.js";

const USUAL = 2; // the priority of most tasks

export class TaskForm {
  #preview = element("div", { class: "prose preview", hidden: true });
  #write = element("button", { type: "button", class: "tab", "aria-pressed": "true" }, "Write");
  #look = element("button", { type: "button", class: "tab", "aria-pressed": "false" }, "Preview");
  #start;
  #isNew;

  /** `task` has the initial values; `stages` are offered for a new one; `submit` is called to save, `cancel` to stop. */
  constructor({ task, stages = [], save, submit, cancel }) {
    this.#isNew = stages.length > 0;
    this.title = element("input", { id: "form-title", type: "text", value: task.title ?? "", maxlength: "300", required: true, dir: "auto", autocomplete: "off", autofocus: true });
    this.description = element("textarea", { id: "form-description", rows: "12", value: task.description ?? "", dir: "auto", "aria-describedby": "form-description-hint" });
    this.tags = element("input", { id: "form-tags", type: "text", value: (task.tags ?? []).join(", "), dir: "auto", autocomplete: "off", "aria-describedby": "form-tags-hint" });
    this.branch = element("input", { id: "form-branch", type: "text", value: task.branch ?? "", dir: "ltr", autocomplete: "off", spellcheck: "false", "aria-describedby": "form-branch-hint" });
    this.stage = element("select", { id: "form-stage" }, ...stages.map((stage) => element("option", { value: stage.name, selected: stage.name === task.stage }, stage.name)));
    this.priority = element("select", { id: "form-priority" }, ...PRIORITIES.map((text, value) => element("option", { value, selected: value === USUAL }, text)));
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
        this.#isNew ? element("div", { class: "field" }, label(this.priority, "Priority"), this.priority) : null),
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
    const tags = this.tags.value.split(",").map((tag) => tag.trim()).filter(Boolean);
    const rest = this.#isNew ? { stage: this.stage.value, priority: Number(this.priority.value) } : { branch: this.branch.value.trim() };
    return { title: this.title.value.trim(), description: this.description.value, tags, ...rest };
  }

  get isChanged() {
    return JSON.stringify(this.values) !== this.#start;
  }

  /** Show why it was not saved. */
  refuse(message) {
    this.error.textContent = message;
    this.error.hidden = false;
  }

  #show(preview) {
    if (preview) this.#preview.replaceChildren(this.description.value.trim() ? markdown(this.description.value) : "Nothing written yet.");
    this.#preview.hidden = !preview;
    this.description.hidden = preview;
    this.#write.setAttribute("aria-pressed", String(!preview));
    this.#look.setAttribute("aria-pressed", String(preview));
  }
}
