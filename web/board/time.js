// Relative times; the exact one is in the tooltip.

import { element, setText } from "./dom.js";

/** @type {[number, Intl.RelativeTimeFormatUnit][]} */
const STEPS = [[60, "second"], [3600, "minute"], [86_400, "hour"], [604_800, "day"], [2_629_800, "week"]];
const SIZES = { second: 1, minute: 60, hour: 3600, day: 86_400, week: 604_800 };
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });

const thisYear = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

/** A day in the form of due dates, by this machine's clock; `ahead` days from today. */
export function dayOf(ahead = 0) {
  const date = new Date();
  date.setDate(date.getDate() + ahead);
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0")).join("-");
}

/** Whether a task is pending and its day is over. */
export function isOverdue(task) {
  return Boolean(task.due) && task.status !== "completed" && task.due < dayOf();
}

/** A day for people: `today`, `3 Mar`, with the year if it is another. */
export function dayText(due) {
  if (due === dayOf()) return "today";
  if (due === dayOf(1)) return "tomorrow";
  const date = new Date(`${due}T00:00:00`);
  return (date.getFullYear() === new Date().getFullYear() ? thisYear : day).format(date);
}

function ago(date) {
  const seconds = (Date.now() - date.getTime()) / 1000;
  if (seconds < 45) return "just now";
  const step = STEPS.find(([end]) => seconds < end);
  return step ? relative.format(-Math.round(seconds / SIZES[step[1]]), step[1]) : day.format(date);
}

/** A <time> for a moment in ISO 8601. */
export function time(iso) {
  const date = new Date(iso);
  return element("time", { datetime: iso, title: exact.format(date) }, ago(date));
}

/** Keep the times on the page up to date. */
export function keepTimes() {
  setInterval(() => {
    for (const node of document.querySelectorAll("time")) setText(node, ago(new Date(node.dateTime)));
  }, 20_000);
}
