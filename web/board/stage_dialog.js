// The dialog of a stage: name, color, position, whether new tasks begin or tasks are completed in it, the agents'
// activities, and its deletion.

import { announce } from "./announce.js";
import { api } from "./api.js";
import { element } from "./dom.js";
import { icon } from "./icons.js";
import { confirmed, openModal } from "./modal.js";

/** Edit a stage, or create one if `stage` is null. */
export function openStage({ state, stage, returnTo }) {
  const others = state.stages.filter((other) => other.id !== stage?.id);
  const index = state.stages.findIndex((other) => other.id === stage?.id);
  const before = stage ? state.stages[index - 1]?.name ?? "" : others.at(-1)?.name ?? "";
  const name = element("input", { id: "stage-name", type: "text", value: stage?.name ?? "", maxlength: "60", dir: "auto", autocomplete: "off" });
  const color = element("input", { id: "stage-color", type: "color", value: longColor(stage?.color ?? "#8a8f98") });
  const after = element("select", { id: "stage-after" }, element("option", { value: "" }, "First"),
    ...others.map((other) => element("option", { value: other.name, selected: other.name === before }, `After ${other.name}`)));
  const first = element("input", { id: "stage-default", type: "checkbox", checked: Boolean(stage?.is_default), disabled: Boolean(stage?.is_default) });
  const ends = element("input", { id: "stage-completes", type: "checkbox", checked: Boolean(stage?.completes) });
  const activities = new Activities(stage?.activities ?? []);
  const error = element("p", { class: "error", role: "alert", hidden: true });
  const modal = openModal({ heading: stage ? `Stage ${stage.name}` : "New stage", kind: "dialog--small", returnTo });
  const attempt = async (run, told) => {
    try {
      await run();
      modal.close();
      announce(told);
    } catch (failure) {
      error.textContent = failure.message;
      error.hidden = false;
    }
  };
  const save = async () => {
    const place = after.value === before && stage ? {} : { after: after.value };
    const change = { name: name.value, color: color.value, completes: ends.checked, activities: activities.values, ...place };
    const id = stage ? stage.id : (await api.createStage(change)).id;
    const rest = { ...(stage ? change : {}), ...(first.checked && !stage?.is_default ? { is_default: true } : {}) };
    if (Object.keys(rest).length) await api.changeStage(id, rest);
  };
  const field = (target, text) => element("div", { class: "field" }, element("label", { for: target.id }, text), target);
  const form = element("form", { class: "form", novalidate: true, on: { submit: (event) => {
    event.preventDefault();
    attempt(save, "Saved.");
  } } },
    field(name, "Name"),
    element("div", { class: "form__row" }, field(after, "Place"), field(color, "Color")),
    element("div", { class: "check" }, first, element("label", { for: first.id }, "New tasks come into this stage")),
    element("div", { class: "check" }, ends, element("label", { for: ends.id }, "Tasks in this stage are completed")),
    activities.node,
    error,
    element("div", { class: "buttons" },
      stage && others.length ? element("button", { type: "button", on: { click: () => remove(state, stage, others, attempt) } }, "Delete…") : null,
      element("button", { type: "submit", class: "primary" }, stage ? "Save" : "Create stage")));
  modal.body.append(form);
  name.focus();
}

async function remove(state, stage, others, attempt) {
  const count = state.column(stage.name).length;
  const heir = others.find((other) => other.is_default) ?? others[0];
  const text = count ? `Its ${count.toLocaleString("en")} tasks go to ${heir.name}.` : "It has no tasks.";
  if (!(await confirmed({ heading: `Delete the stage ${stage.name}?`, text, yes: "Delete stage" }))) return;
  attempt(() => api.deleteStage(stage.id, count ? heir.id : null), `Deleted ${stage.name}.`);
}

/** The agents' activities in a stage, each with its prompt. */
class Activities {
  #rows = element("div", { class: "stack" });

  constructor(activities) {
    const add = element("button", { type: "button", on: { click: () => this.#add({ name: "", prompt: "" }).focus() } }, icon("add"), "Add an activity");
    this.node = element("fieldset", { class: "activities" }, element("legend", {}, "Activities"),
      element("p", { class: "hint" }, "What agents do in this stage. They read the prompts with get_project_info."), this.#rows, add);
    for (const one of activities) this.#add(one);
  }

  get values() {
    return [...this.#rows.children].map((row) => ({ name: row.querySelector("input").value.trim(), prompt: row.querySelector("textarea").value }))
      .filter((one) => one.name || one.prompt.trim());
  }

  #add({ name, prompt }) {
    const field = element("input", { type: "text", value: name, placeholder: "Name", "aria-label": "Name of the activity", dir: "auto", maxlength: "60" });
    const row = element("div", { class: "activity" }, field,
      element("button", { type: "button", class: "plain", "aria-label": "Remove this activity", on: { click: () => row.remove() } }, icon("close")),
      element("textarea", { rows: "3", value: prompt, placeholder: "Prompt", "aria-label": "Prompt of the activity", dir: "auto" }));
    this.#rows.append(row);
    return field;
  }
}

/** A color in the form of <input type=color>. */
function longColor(color) {
  return color.length === 4 ? `#${[...color.slice(1)].map((digit) => digit + digit).join("")}` : color;
}
