// The dependencies and code anchors of a task: showing, adding and removing them.

import { ApiError, api } from "./api.js";
import { toast } from "./announce.js";
import { element } from "./dom.js";
import { hasWord } from "./fuzzy.js";
import { icon } from "./icons.js";
import { taskLink } from "./question.js";

const OFFERED = 8; // tasks that fit what is typed

/** The sections of a task's dialog. `wiring` has state, undo and open(id). */
export function linksOf(task, { state, undo, open }) {
  const set = async (change, before, what) => {
    const done = api.link(task.id, change);
    undo.add(what, () => api.link(task.id, before), done);
    try {
      await done;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      toast(error.message, { error: true });
    }
  };
  const depend = (ids) => set({ depends_on: ids }, { depends_on: task.depends_on }, `changed what ${task.title} depends on`);
  const row = (id, remove) => {
    const other = state.tasks.get(id);
    const done = !other || other.status === "completed";
    return element("li", { class: done ? "is-done" : "" }, icon(done ? "check" : "blocked"), taskLink(id, open, other?.title ?? id),
      done ? element("span", { class: "unseen" }, " (completed)") : null,
      remove ? element("button", { type: "button", class: "plain", "aria-label": `Remove the dependency on ${other?.title ?? id}`, on: { click: remove } }, icon("close")) : null);
  };
  const list = (ids, makeRow) => (ids.length ? element("ul", { class: "links", role: "list" }, ...ids.map(makeRow)) : null);
  return [
    element("section", {}, element("h3", {}, "Depends on"),
      list(task.depends_on, (id) => row(id, () => depend(task.depends_on.filter((other) => other !== id)))),
      chooser(state, (id) => id === task.id || task.depends_on.includes(id), (id) => depend([...task.depends_on, id]))),
    task.needed_by.length ? element("section", {}, element("h3", {}, "Needed by"), list(task.needed_by, (id) => row(id, null))) : null,
  ];
}

/** The anchors of a task, each with the code around it, and a field for another. */
export function anchorsOf(task, { undo }) {
  const set = async (anchors, error) => {
    const before = task.anchors.map((one) => one.anchor);
    const done = api.link(task.id, { anchors });
    undo.add(`changed the code of ${task.title}`, () => api.link(task.id, { anchors: before }), done);
    try {
      await done;
      return true;
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure;
      error.textContent = failure.message;
      error.hidden = false;
      return false;
    }
  };
  const error = element("p", { class: "error", role: "alert", hidden: true });
  const field = element("input", { type: "text", "aria-label": "Anchor of another symbol", placeholder: "Type.Method, main.go:12", dir: "ltr", data: { focus: "anchor" } });
  const all = task.anchors.map((one) => one.anchor);
  const form = element("form", { class: "adder", on: { submit: (event) => {
    event.preventDefault();
    const typed = field.value.trim();
    if (!typed) return;
    field.value = ""; // its text is kept while others change the task
    set([...all, typed], error).then((isSet) => (field.value ||= isSet ? "" : typed));
  } } }, field, element("button", { type: "submit" }, "Add"));
  return [element("section", {}, element("h3", {}, "Code"),
    element("ul", { class: "anchors", role: "list" }, ...task.anchors.map((one) => anchorOf(one, () => set(all.filter((other) => other !== one.anchor), error)))),
    form, error)];
}

function anchorOf(one, remove) {
  const [, file, line] = /^[^:]+:\/\/(.*)#(\d+)/.exec(one.anchor) ?? [null, one.anchor, ""];
  const [state, why] = /^(\w+)(?:: (.*))?$/.exec(one.state ?? "")?.slice(1) ?? [];
  const told = state && state !== "known";
  const isGone = state === "gone";
  const name = one.symbol ?? "(symbol not known)";
  const code = element("pre", { dir: "ltr", tabindex: "0", role: "region", "aria-label": `Code of ${name}` }, one.code?.trim() ?? "");
  const more = element("button", { type: "button", class: "quiet", on: { click: () => show() } }, "Show the code");
  const show = async () => {
    try {
      const { lines } = await api.code(one.anchor);
      code.replaceChildren(...lines.map(({ number, text }) => element("span", { class: `code__line${String(number) === line ? " is-meant" : ""}` },
        element("span", { class: "code__number" }, String(number)), text, "\n")));
      more.remove();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      toast(error.message, { error: true });
    }
  };
  return element("li", { class: `anchor${isGone ? " anchor--gone" : ""}` },
    element("p", { class: "anchor__symbol" }, icon("code"), element("code", { dir: "ltr" }, name),
      told ? element("span", { class: `badge${isGone ? " badge--high" : ""}`, title: why ?? state }, state) : null,
      element("button", { type: "button", class: "plain", "aria-label": `Remove the anchor on ${name}`, on: { click: remove } }, icon("close"))),
    element("p", { class: "anchor__place", dir: "ltr", title: one.anchor }, line ? `${file}:${line}` : file),
    one.code ? code : null, isGone ? null : more);
}

/** A field that finds tasks as one types, except those that are left out: `isOut(id)`. */
export function chooser(state, isOut, choose) {
  const found = element("ul", { class: "offers", role: "list", hidden: true });
  const field = element("input", { type: "text", "aria-label": "Depend on another task", placeholder: "Add: title or id", autocomplete: "off", data: { focus: "depends" } });
  const offer = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (other) => !isOut(other.id) && words.every((word) => hasWord(`${other.title} ${other.id}`.toLowerCase(), word));
    const offered = words.length ? [...state.tasks.values()].filter(fits).slice(0, OFFERED) : [];
    found.replaceChildren(...offered.map((other) => element("li", {}, element("button", { type: "button", class: "quiet", dir: "auto", on: { click: () => {
      field.value = "";
      offer();
      field.focus();
      choose(other.id);
    } } }, other.title))));
    found.hidden = !offered.length;
  };
  field.addEventListener("input", offer);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      event.preventDefault(); // it would send a form around it
      found.querySelector("button")?.click();
    }
    if (event.key !== "Escape" || !field.value) return;
    event.stopPropagation();
    event.preventDefault();
    field.value = "";
    offer();
  });
  return element("div", { class: "chooser" }, field, found);
}
