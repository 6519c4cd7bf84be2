// The comments of people and agents on a task.

import { element } from "./dom.js";
import { icon } from "./icons.js";
import { markdown } from "./markdown.js";
import { authorOf } from "./person.js";
import { time } from "./time.js";

/** The comments of a task, the oldest first. */
export function commentsOf(comments, me) {
  const list = element("ol", { class: "comments", role: "list" }, ...comments.map((one) => element("li", { class: `comment${one.agent ? "" : " comment--person"}` },
    element("p", { class: "byline" }, one.agent ? icon("agent") : null, ...authorOf(one.who, { isAgent: Boolean(one.agent), me }), time(one.at)),
    element("div", { class: "prose" }, markdown(one.text)))));
  return element("section", {}, element("h3", {}, comments.length ? `Comments (${comments.length.toLocaleString("en")})` : "Comments"), list);
}

/** A field for another comment; `say(text)` → whether it was stored. */
export function commentField(say) {
  const field = element("textarea", { rows: "2", "aria-label": "Your comment", placeholder: "Comment, for agents and people; @name tells one of them", dir: "auto" });
  const send = element("button", { type: "button", on: { click: async () => {
    const text = field.value.trim();
    if (!text) return field.focus();
    send.disabled = true;
    if (await say(text)) field.value = "";
    send.disabled = false;
    return undefined;
  } } }, "Comment");
  field.addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && send.click());
  return element("div", { class: "freeform" }, field, send);
}
