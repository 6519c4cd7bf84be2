// A question of an agent, with the form to answer it.

import { element } from "./dom.js";
import { icon } from "./icons.js";
import { time } from "./time.js";

/** The form of one question. `on` has answer(id, answer) → whether it was taken, openTask(id), maybe dismiss(question). */
export function makeQuestion(question, on, { showsTask = true } = {}) {
  const text = `question-${question.id}-${showsTask ? "panel" : "task"}`;
  const high = question.priority === "high";
  const field = element("textarea", { rows: "2", "aria-label": "Your answer", placeholder: "Your answer", dir: "auto" });
  const buttons = [];
  const send = async (answer) => {
    for (const button of buttons) button.disabled = true;
    const words = field.value.trim();
    const taken = await on.answer(question.id, words ? { ...answer, text: words } : answer);
    if (!taken) for (const button of buttons) button.disabled = false;
  };
  for (const option of question.options) {
    buttons.push(element("button", { type: "button", class: "option", dir: "auto",
      on: { click: () => send({ option: option.id }) } }, option.label));
  }
  const sendText = element("button", { type: "button", class: question.options.length ? "" : "primary",
    on: { click: () => (field.value.trim() ? send({}) : field.focus()) } }, "Answer");
  if (question.allow_freeform) buttons.push(sendText);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) sendText.click();
  });
  return element("article", { class: `question${high ? " question--high" : ""}`, "aria-labelledby": text, data: { question: question.id } },
    element("header", { class: "byline" }, icon("agent"), element("strong", { dir: "auto", class: "cut" }, question.who), time(question.asked_at),
      high ? element("span", { class: "badge badge--high" }, "High priority") : null,
      element("span", { class: "badge badge--left", hidden: true, title: "The agent gets the answer when it reconnects" }, "has left"),
      on.dismiss ? element("button", { type: "button", class: "plain question__dismiss", "aria-label": "Dismiss this question", title: "Dismiss without an answer",
        on: { click: () => on.dismiss(question) } }, icon("close")) : null),
    element("p", { class: "question__text", id: text, dir: "auto" }, question.question),
    question.options.length ? element("div", { class: "options", role: "group", "aria-label": "Options" },
      ...buttons.slice(0, question.options.length)) : null,
    question.allow_freeform ? element("div", { class: "freeform" }, field, sendText) : null,
    showsTask && question.task ? taskLink(question.task, on.openTask) : null);
}

/** Show whether the agent that asked is still connected. */
export function updateQuestion(node, question, on) {
  node.querySelector(".badge--left").hidden = on.isHere(question);
}

/** A question with its answer. */
export function makeAnswered(question, on) {
  const option = question.options.find((one) => one.id === question.answer_option)?.label;
  const answer = [option, question.answer_text].filter(Boolean).join(": ");
  return element("article", { class: "answered" },
    element("p", { class: "answered__question", dir: "auto" }, question.question),
    element("p", { class: "answered__answer", dir: "auto" }, icon("check"), element("span", { class: "unseen" }, "Answer: "), answer || "Dismissed without an answer"),
    element("p", { class: "byline" }, element("span", { dir: "auto" }, `${question.who} asked, ${question.answered_by} answered`), time(question.answered_at),
      question.task ? taskLink(question.task, on.openTask) : null));
}

/** A link to a task, which opens it here. */
export function taskLink(id, open, text = id) {
  return element("a", { class: "task-link", href: `#task=${id}`, dir: "auto", on: { click: (event) => {
    event.preventDefault();
    open(id);
  } } }, text);
}
