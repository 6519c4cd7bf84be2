// The commits that belong to a task, each with its diff.

import { ApiError, api } from "./api.js";
import { element } from "./dom.js";
import { icon } from "./icons.js";
import { openModal } from "./modal.js";
import { time } from "./time.js";

/** The current commits of a task in git. */
export function commitsOf(commits) {
  if (!commits.length) return [];
  return [element("section", {}, element("h3", {}, `Commits (${commits.length.toLocaleString("en")})`),
    element("ul", { class: "commits", role: "list" }, ...commits.map((one) => element("li", { class: "commit" },
      element("button", { type: "button", class: "link", dir: "auto", on: { click: () => openDiff(one) } }, one.subject || one.hash.slice(0, 8)),
      element("p", { class: "byline" }, icon("branch"), element("code", {}, one.hash.slice(0, 8)), element("span", { dir: "auto" }, one.who), time(one.at)),
      element("p", { class: "hint", dir: "ltr" }, one.files.slice(0, 5).join(", "), one.files.length > 5 ? ` and ${one.files.length - 5} more` : ""))))),
  ];
}

async function openDiff(commit) {
  const modal = openModal({ heading: commit.subject || commit.hash, kind: "dialog--task", content: [element("p", { class: "hint" }, "Reading…")] });
  try {
    const { diff } = await api.diff(commit.hash);
    const lines = diff.trim().split("\n").map((line) => element("span", { class: `code__line${kindOf(line)}` }, line, "\n"));
    modal.body.replaceChildren(element("pre", { class: "diff", dir: "ltr", tabindex: "0", role: "region", "aria-label": "Diff" }, ...lines));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    modal.body.replaceChildren(element("p", { class: "error", role: "alert" }, error.message));
  }
}

function kindOf(line) {
  if (/^(\+\+\+|---|diff |index )/.test(line)) return " is-file";
  if (line.startsWith("+")) return " is-added";
  if (line.startsWith("-")) return " is-removed";
  return line.startsWith("@@") ? " is-hunk" : "";
}
