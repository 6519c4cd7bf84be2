// The dialog of a standard or snippet: read, edit, delete.

import { announce } from "./announce.js";
import { api } from "./api.js";
import { element } from "./dom.js";
import { icon } from "./icons.js";
import { markdown } from "./markdown.js";
import { confirmed, openModal } from "./modal.js";
import { time } from "./time.js";

/** Show a text of a `kind`: `standard` or `snippet`. Throws ApiError. */
export async function openText(kind, id) {
  let text = await api[kind](id);
  const modal = openModal({ heading: titleOf(text), kind: "dialog--text", mayClose: () => mayDiscard(form) });
  let form = null;
  const show = () => {
    form = null;
    modal.title.textContent = titleOf(text);
    const edit = element("button", { type: "button", on: { click: write } }, icon("edit"), "Edit");
    const remove = element("button", { type: "button", on: { click: discard } }, icon("trash"), "Delete…");
    modal.body.replaceChildren(
      element("p", { class: "hint", dir: "auto" }, [text.description, (text.tags ?? []).join(", ")].filter(Boolean).join(" · "),
        ` Changed by ${text.updated_by}, `, time(text.updated_at)),
      text.content.trim() ? element("div", { class: "prose" }, markdown(text.content)) : element("p", { class: "hint" }, "It is empty."),
      element("div", { class: "buttons buttons--start" }, edit, remove));
    return edit;
  };
  const write = () => {
    form = new TextForm(kind, text, { cancel: async () => (await mayDiscard(form)) && show().focus(), save: async (values) => {
      try {
        text = await api.changeText(kind, id, { ...values, expected_revision: text.revision });
        announce("Saved.");
        show().focus();
      } catch (error) {
        const now = error.status === 409 ? await api[kind](id).catch(() => null) : null;
        if (!now) return form.refuse(error.message);
        text = now; // the version that the next attempt replaces
        form.refuse(`${now.updated_by} has changed it while you were writing. Save again to put yours in its place.`);
      }
      return undefined;
    } });
    modal.title.textContent = `Edit ${titleOf(text)}`;
    modal.body.replaceChildren(form.node);
    form.focus();
  };
  const discard = async () => {
    if (!(await confirmed({ heading: `Delete ${titleOf(text)}?`, text: `It goes to the trash; agents can no longer read this ${kind}.`, yes: `Delete ${kind}` }))) return;
    try {
      await api.deleteText(kind, id);
      modal.close();
      announce(`Deleted ${titleOf(text)}.`);
    } catch (error) {
      modal.body.append(element("p", { class: "error", role: "alert" }, error.message));
    }
  };
  show();
}

/** Create a new one. */
export function openNewText(kind) {
  let form = null;
  const modal = openModal({ heading: `New ${kind}`, kind: "dialog--text", mayClose: () => mayDiscard(form) });
  form = new TextForm(kind, null, { cancel: modal.close, save: async (values) => {
    try {
      const made = await api.createText(kind, values);
      modal.close();
      announce(`Created ${titleOf(made)}.`);
    } catch (error) {
      form.refuse(error.message);
    }
  } });
  modal.body.append(form.node);
  form.focus();
}

class TextForm {
  #fields = {};
  #start;
  #error = element("p", { class: "error", role: "alert", hidden: true, dir: "auto" });

  constructor(kind, text, { save, cancel }) {
    const line = (name, label, hint) => this.#field(name, label, element("input", { id: `text-${name}`, type: "text", value: valueOf(text, name), dir: "auto", autocomplete: "off" }), hint);
    const first = kind === "snippet" ? [line("title", "Title"), line("tags", "Tags", "Separated by commas")]
      : [text ? null : line("id", "Id", "The name that agents use: lower-case letters and hyphens, such as error-handling"), line("description", "Description", "One line: when to read it")];
    const content = this.#field("content", "Text", element("textarea", { id: "text-content", rows: "14", value: valueOf(text, "content"), dir: "auto" }), "Markdown");
    const send = element("button", { type: "submit", class: "primary" }, text ? "Save" : `Create ${kind}`);
    this.node = element("form", { class: "form", novalidate: true }, ...first, content, this.#error,
      element("div", { class: "buttons" }, element("button", { type: "button", on: { click: cancel } }, "Cancel"), send));
    this.node.addEventListener("submit", async (event) => {
      event.preventDefault();
      send.disabled = true;
      await save(this.values).finally(() => (send.disabled = false));
    });
    this.node.addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && this.node.requestSubmit());
    this.#start = JSON.stringify(this.values);
  }

  get values() {
    const found = Object.fromEntries(Object.entries(this.#fields).map(([name, field]) => [name, field.value]));
    if ("tags" in found) found.tags = found.tags.split(",").map((tag) => tag.trim()).filter(Boolean);
    return found;
  }

  get isChanged() {
    return JSON.stringify(this.values) !== this.#start;
  }

  focus() {
    this.node.querySelector("input, textarea").focus();
  }

  refuse(message) {
    this.#error.textContent = message;
    this.#error.hidden = false;
  }

  #field(name, label, field, hint) {
    this.#fields[name] = field;
    const about = hint ? element("p", { class: "hint", id: `${field.id}-hint` }, hint) : null;
    if (about) field.setAttribute("aria-describedby", about.id);
    return element("div", { class: "field" }, element("label", { for: field.id }, label), field, about);
  }
}

function valueOf(text, name) {
  const value = text?.[name] ?? "";
  return Array.isArray(value) ? value.join(", ") : value;
}

function titleOf(text) {
  return text.title ?? text.id;
}

async function mayDiscard(form) {
  if (!form?.isChanged) return true;
  return confirmed({ heading: "Discard what you wrote?", text: "It was not saved.", yes: "Discard", no: "Keep writing" });
}
