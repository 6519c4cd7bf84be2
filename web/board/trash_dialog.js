// The trash: tasks, stages, standards and snippets that were deleted, and restoring them.

import { announce } from "./announce.js";
import { ApiError, api } from "./api.js";
import { element } from "./dom.js";
import { confirmed, openModal } from "./modal.js";
import { time } from "./time.js";

/** Show it; `fail` gets the error of a refusal. */
export async function openTrash({ fail }) {
  const trying = async (run) => {
    try {
      await run();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      fail(error);
    }
  };
  await trying(async () => {
    const { entries } = await api.trash();
    const modal = openModal({ heading: "Trash", kind: "dialog--form" });
    const row = (one) => {
      const back = element("button", { type: "button", on: { click: () => trying(async () => {
        await api.revert(one.kind, one.ref);
        node.remove();
        announce(`${one.title} is on the board again.`);
      }) } }, "Restore");
      const node = element("li", { class: "archived" }, element("div", {}, element("p", { dir: "auto" }, one.title),
        element("p", { class: "hint" }, `${one.kind}, deleted by ${one.who} `, time(one.at))), back);
      return node;
    };
    const empty = element("button", { type: "button", on: { click: async () => {
      const sure = await confirmed({ heading: "Empty the trash?", text: "Everything in it is deleted permanently.", yes: "Empty the trash" });
      if (sure) await trying(() => api.emptyTrash().then(() => modal.close()));
    } } }, "Empty the trash…");
    if (entries.length) modal.body.append(element("ul", { class: "stack", role: "list" }, ...entries.map(row)), element("div", { class: "buttons" }, empty));
    else modal.body.append(element("p", { class: "hint" }, "It is empty."));
  });
}
