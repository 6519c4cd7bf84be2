// The archive: completed tasks removed from the board, and restoring them.

import { announce } from "./announce.js";
import { ApiError, api } from "./api.js";
import { element } from "./dom.js";
import { openModal } from "./modal.js";
import { time } from "./time.js";

/** Show it; `fail` gets the error of a refusal. */
export async function openArchive({ fail }) {
  try {
    const { tasks } = await api.archive();
    const modal = openModal({ heading: "Archive", kind: "dialog--form" });
    const list = element("ul", { class: "stack", role: "list" }, ...tasks.map((task) => rowOf(task, fail)));
    modal.body.append(tasks.length ? list : element("p", { class: "hint" }, "It is empty. To archive a completed task, open it and choose “Archive”."));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    fail(error);
  }
}

function rowOf(task, fail) {
  const back = element("button", { type: "button", on: { click: async () => {
    try {
      await api.changeTask(task.id, { archived: false });
      row.remove();
      announce(`${task.title} is on the board again.`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      fail(error);
    }
  } } }, "Bring back");
  const row = element("li", { class: "archived" },
    element("div", {}, element("p", { dir: "auto" }, task.title), element("p", { class: "hint" }, element("code", {}, task.id), " completed ", time(task.completed_at))), back);
  return row;
}
