// The Agent Workspace: connected agents, their questions and notifications, and the answers.

import { announce } from "./announce.js";
import { element, keepingFocus, reconcile, setText } from "./dom.js";
import { icon } from "./icons.js";
import { keep, kept } from "./kept.js";
import { askForLine } from "./modal.js";
import { makeAnswered, makeQuestion, taskLink, updateQuestion } from "./question.js";
import { avatar } from "./person.js";
import { time } from "./time.js";

const MOST_MENTIONS = 20; // shown

const CLEARED = "cleared-timelines"; // root of the board → the newest entry that the person has cleared
const LEVELS = { info: "Information", success: "Success", warning: "Warning" };
const WIDE = window.matchMedia("(min-width: 1200px)");

export class Workspace {
  #state;
  #host;
  #on;
  #isBegun = false;
  #known = null; // ids of questions already shown
  #questions = element("div", { class: "stack" });
  #people = element("ul", { class: "people", role: "list" });
  #mentions = element("ol", { class: "timeline", role: "list" });
  #forMe = element("section", { hidden: true }, element("h3", {}, "For you"), this.#mentions);
  #agents = element("ul", { class: "agents", role: "list" });
  #timeline = element("ol", { class: "timeline", role: "list" });
  #answered = element("div", { class: "stack" });
  #noQuestions = element("p", { class: "hint" }, "No questions.");
  #noAgents = element("p", { class: "hint" }, "No agent is connected. Connect one to ", element("code", {}, `ws://${location.host}`),
    ", or start it with ", element("code", {}, "lsp-mcp board --mcp"), " as its MCP server.");
  #noNotifications = element("p", { class: "hint" }, "Notifications that agents send with ", element("code", {}, "notify_user"), " appear here.");
  #count = element("span", { class: "count" });
  #answeredTitle = element("summary", {});
  #clear = element("button", { type: "button", class: "quiet", "aria-label": "Empty the timeline" }, "Empty");
  #folded;

  /** `on` has answer(id, answer), dismiss(question), isHere(question), openTask(id) rename(agent, name) → why not, and toggled(is open). */
  constructor(host, { state, attention, on }) {
    this.#host = host;
    this.#state = state;
    this.#on = on;
    const closeButton = element("button", { type: "button", class: "plain workspace__close", "aria-label": "Close the Agent Workspace",
      on: { click: () => this.toggle(false) } }, icon("close"));
    this.#folded = element("details", { class: "folded", hidden: true }, this.#answeredTitle, this.#answered);
    this.heading = element("h2", { tabindex: "-1" }, "Agent Workspace");
    const section = (heading, ...content) => element("section", {}, element("h3", {}, heading), ...content);
    host.replaceChildren(
      element("header", { class: "workspace__head" }, this.heading, closeButton),
      element("div", { class: "workspace__body" },
        element("section", { class: "asks" }, element("h3", {}, "Questions for you ", this.#count), this.#noQuestions, this.#questions, this.#folded),
        this.#forMe, section("People", this.#people),
        section("Agents", this.#noAgents, this.#agents),
        element("section", {}, element("h3", {}, "Timeline ", this.#clear), this.#noNotifications, this.#timeline),
        section("When an agent asks", ...makeSwitches(attention))));
    this.#clear.addEventListener("click", () => {
      keep(CLEARED, { ...kept(CLEARED, {}), [state.root]: state.notifications[0]?.id ?? 0 });
      this.draw();
    });
    host.addEventListener("keydown", (event) => event.key === "Escape" && !WIDE.matches && this.toggle(false));
    state.addEventListener("workspace", () => this.draw());
  }

  get isOpen() {
    return !this.#host.hidden;
  }

  /** Open it in a wide window if there is something in it, unless the person has closed it. */
  begin() {
    this.#isBegun = true;
    this.#open();
    this.#on.toggled(this.isOpen, false);
  }

  /** Open it in a wide window as soon as there is something in it, unless the person has closed it. */
  #open() {
    if (!this.#isBegun || this.isOpen || !WIDE.matches) return;
    const { questions, mentions } = this.#state;
    const isEmpty = !(questions.length || mentions.length || this.#notifications().length);
    if (isEmpty || kept("workspace") === "closed") return;
    this.#host.hidden = false;
    this.#on.toggled(true, false);
  }

  /** What agents have sent since the person emptied the timeline. */
  #notifications() {
    return this.#state.notifications.filter((one) => one.id > (kept(CLEARED, {})[this.#state.root] ?? 0));
  }

  toggle(open = !this.isOpen) {
    this.#host.hidden = !open;
    if (WIDE.matches) keep("workspace", open ? "open" : "closed");
    if (open) this.heading.focus();
    if (open) this.#state.markRead();
    this.#on.toggled(open, true);
  }

  /** Open it at a question, by default the first. */
  show(questionId) {
    if (!this.isOpen) this.toggle(true);
    const found = questionId && this.#questions.querySelector(`[data-question="${CSS.escape(questionId)}"]`);
    const question = found || this.#questions.firstElementChild;
    question?.scrollIntoView({ block: "nearest" });
    question?.querySelector(".options button, textarea")?.focus();
  }

  draw() {
    this.#open();
    const { questions, answered, agents } = this.#state;
    const notifications = this.#notifications();
    keepingFocus(() => {
      reconcile(this.#questions, questions, (one) => one.id, (one) => makeQuestion(one, this.#on), (node, one) => updateQuestion(node, one, this.#on));
      const { people, mentions, me } = this.#state;
      reconcile(this.#people, people, (one) => one.id, ({ id }) => element("li", { class: "person", data: { id } }), (node, one) => {
        const key = `${one.name}${one.id === me.id}`;
        if (node.dataset.shown !== key) node.replaceChildren(avatar(one.name), element("span", { class: "cut", dir: "auto" }, one.name), one.id === me.id ? element("span", { class: "hint" }, "you") : "");
        node.dataset.shown = key;
      });
      reconcile(this.#mentions, mentions.slice(0, MOST_MENTIONS), (one) => String(one.id), (one) => this.#makeNotification({ ...one, message: one.text, level: "info" }));
      this.#forMe.hidden = mentions.length === 0;
      reconcile(this.#agents, agents, (one) => one.id, ({ id }) => makeAgent({ id }, () => this.#rename(id)), updateAgent);
      reconcile(this.#timeline, notifications, (one) => String(one.id), (one) => this.#makeNotification(one));
      reconcile(this.#answered, answered, (one) => one.id, (one) => makeAnswered(one, this.#on));
    });
    setText(this.#count, questions.length ? String(questions.length) : "");
    setText(this.#answeredTitle, `Answered (${answered.length})`);
    this.#noQuestions.hidden = questions.length > 0;
    this.#noAgents.hidden = agents.length > 0;
    this.#clear.hidden = notifications.length === 0;
    this.#noNotifications.hidden = notifications.length > 0;
    this.#folded.hidden = answered.length === 0;
    if (this.#known) {
      const news = questions.filter((one) => !this.#known.has(one.id));
      if (news.length) announce(news.map((one) => `${one.who} asks: ${one.question}`).join(" "));
    }
    this.#known = new Set(questions.map((one) => one.id));
  }

  #rename(id) {
    const agent = this.#state.agents.find((one) => one.id === id);
    if (agent) askForLine({ heading: `Rename ${agent.name}`, label: "Name", value: agent.name, yes: "Rename", save: (name) => this.#on.rename(agent, name) });
  }

  #makeNotification(one) {
    return element("li", { class: `entry entry--${one.level}` },
      element("span", { class: "entry__level" }, icon(one.level), element("span", { class: "unseen" }, `${LEVELS[one.level]}: `)),
      element("div", { class: "entry__body" },
        element("p", { class: "byline" }, element("strong", { dir: "auto", class: "cut" }, one.who), time(one.at)),
        element("p", { class: "entry__text", dir: "auto" }, one.message),
        one.task ? taskLink(one.task, this.#on.openTask) : null));
  }
}

function makeAgent(agent, rename) {
  return element("li", { class: "agent", data: { mark: `agent:${agent.id}` } }, element("span", { class: "agent__dot" }),
    element("span", { class: "agent__name cut", dir: "auto" }), element("span", { class: "agent__client cut", dir: "auto" }),
    element("button", { type: "button", class: "plain agent__rename", title: "Rename", on: { click: rename } }, icon("edit")));
}

function updateAgent(node, agent) {
  setText(node.querySelector(".agent__name"), agent.name);
  node.querySelector(".agent__rename").setAttribute("aria-label", `Rename ${agent.name}`);
  setText(node.querySelector(".agent__client"), agent.client === agent.name ? "" : agent.client);
}

/** The switches for the signals of new questions. */
function makeSwitches(attention) {
  const make = (name, text) => {
    const box = element("input", { type: "checkbox", id: `tell-${name}`, on: { change: () => attention.set({ [name]: box.checked }) } });
    return { box, node: element("p", { class: "check" }, box, element("label", { for: box.id }, text)) };
  };
  const desktop = make("desktop", "Desktop notification");
  const sound = make("sound", "Quiet sound");
  const forbidden = element("p", { class: "hint" }, "This browser forbids notifications of this page; allow them in its settings for the site.");
  const draw = () => {
    const { settings } = attention;
    desktop.box.checked = settings.desktop;
    desktop.box.disabled = settings.isForbidden;
    sound.box.checked = settings.sound;
    forbidden.hidden = !settings.isForbidden;
  };
  attention.addEventListener("change", draw);
  draw();
  return [desktop.node, sound.node, forbidden];
}
