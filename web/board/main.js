// Assembles the page: state, incoming events and sync, views, and the person's actions.

import { Actions } from "./actions.js";
import { Activity } from "./activity.js";
import { api, onSignedOut } from "./api.js";
import { Attention } from "./attention.js";
import { BoardView } from "./board.js";
import { showConnection } from "./connection.js";
import { Events } from "./events.js";
import { Filter, readHash, writeHash } from "./filter.js";
import { keep, kept } from "./kept.js";
import { ListView } from "./list_view.js";
import { makeMovable } from "./moving.js";
import { Notices } from "./notices.js";
import { Selection } from "./selection.js";
import { listenForKeys } from "./shortcuts.js";
import { Sidebar } from "./sidebar.js";
import { openStage } from "./stage_dialog.js";
import { StageTabs } from "./stage_tabs.js";
import { State } from "./state.js";
import { Sync } from "./sync.js";
import { openNewTask, TaskDialog } from "./task_dialog.js";
import { keepTimes } from "./time.js";
import { Toolbar } from "./toolbar.js";
import { Undo } from "./undo.js";
import { View } from "./view.js";
import { ViewBar } from "./view_bar.js";
import { Workspace } from "./workspace.js";

const byId = (id) => document.getElementById(id);

const state = new State();
const filter = new Filter();
const activity = new Activity();
const events = /** @type {any} */ (new Events(state)); // its events have a `detail`
const sync = new Sync(state, (error) => actions.fail(error));
const undo = new Undo();
const actions = new Actions(state, activity, sync, undo);
const notices = new Notices(byId("notices"));
const board = new BoardView(byId("board"), {
  state, filter, activity,
  on: {
    open: openTask, create: createTask, filterTag: (tag) => filter.toggleTag(tag), editStage,
    select: (id) => selection.toggle(id), isSelected: (id) => selection.has(id),
  },
});
const view = new View();
const list = new ListView({ state, view, visible: (name) => board.visible(name), open: openTask, filterTag: (tag) => filter.toggleTag(tag) });
new ViewBar(byId("views"), { state, view, filter, fail: (error) => actions.fail(error) });
const selection = new Selection(document.querySelector(".center"), { state, actions, draw });
new Sidebar(byId("sidebar"), { state, fail: (error) => actions.fail(error) });
const attention = new Attention(state, (question) => workspace.show(question.id));
const toolbar = new Toolbar(byId("toolbar"), {
  state, filter,
  on: { create: createTask, toggleSidebar: () => toggleSidebar(), toggleWorkspace: () => workspace.toggle(), become },
});
const workspace = new Workspace(byId("workspace"), {
  state, attention,
  on: {
    answer: (id, answer) => actions.answer(id, answer),
    dismiss: (question) => actions.dismiss(question),
    rename: (agent, name) => actions.renameAgent(agent, name),
    isHere: (question) => state.agents.some((agent) => agent.id === question.agent),
    openTask,
    toggled: (isOpen, byPerson) => {
      toolbar.panel.setAttribute("aria-expanded", String(isOpen));
      if (!isOpen && byPerson) toolbar.panel.focus();
      notices.waiting(isOpen ? [] : state.questions, () => workspace.show());
    },
  },
});

makeMovable(board, state, (id, place) => actions.moveTogether(selection.with(id), place));
listenForKeys({
  filter: () => toolbar.focusFilter(),
  create: () => createTask(),
  toggleWorkspace: () => workspace.toggle(),
  undo: () => undo.last(),
  select: (id) => selection.toggle(id),
  selectNothing: () => selection.clear(),
});
const tabs = new StageTabs(byId("stages"), board);
/** @type {[EventTarget, string][]} */
const redrawn = [[state, "board"], [state, "tasks"], [filter, "change"], [view, "change"]];
for (const [source, type] of redrawn) source.addEventListener(type, draw);

/** Draw the tasks, as a board or a list. */
function draw() {
  document.body.classList.toggle("shows-list", view.isList);
  if (view.isList) {
    if (!list.node.isConnected) byId("board").replaceChildren(list.node);
    return list.draw();
  }
  board.draw();
  return tabs.draw();
}

/** Focus a task, or all of them. */
function focusTask(id) {
  if (!(view.isList ? list : board).focus(id)) board.host.focus();
}

attention.addEventListener("change", () => {
  notices.offerToTell(attention.shouldAsk, (isWanted) => attention.set({ desktop: isWanted, sound: isWanted }));
  notices.waiting(workspace.isOpen ? [] : state.questions, () => workspace.show());
});
state.addEventListener("tasks", () => filter.renew());
async function begin() {
  keepTimes();
  const isWide = window.matchMedia("(min-width: 1600px)").matches;
  toggleSidebar(HAS_ROOM.matches && kept("sidebar", isWide ? "open" : "closed") === "open", false);
  await sync.begin();
  workspace.begin();
  events.start();
  if (!kept("introduced", false)) notices.introduce(state.me.name, () => toolbar.me.click(), () => keep("introduced", true));
  openFromAddress();
  window.addEventListener("hashchange", openFromAddress);
}

// --- incoming events --------------------------------------------------------------------------------------------

function follow() {
  let missed = null; // changes during a lost connection, until the page has caught up
  let lost = false;
  onSignedOut(() => events.state !== "signed-out" && events.signOut());
  events.addEventListener("state", ({ detail }) => {
    showConnection(detail);
    notices.signedOut(detail === "signed-out", state.root, () => location.reload());
    if (detail === "reconnecting" || detail === "signed-out") missed ??= [];
  });
  events.addEventListener("change", async ({ detail: change }) => {
    if (missed && change.kind !== "agent") missed.push(change);
    await sync.note(change);
    if (!missed) activity.writes(change, change.who);
  });
  events.addEventListener("activity", ({ detail }) => activity.reads(detail));
  events.addEventListener("lost", () => {
    lost = true;
    sync.everything();
  });
  events.addEventListener("caught-up", () => {
    if (missed && (missed.length || lost)) notices.missed(lost ? null : missed, openTask);
    missed = null;
    lost = false;
    sync.retry();
  });
}

// --- the person's actions ----------------------------------------------------------------------------------------

let dialog = null; // {id, dialog} of the open task

function openTask(id) {
  if (dialog?.id === id) return;
  const previous = dialog;
  dialog = null;
  previous?.dialog.close();
  writeHash({ task: [id] });
  const opened = { id };
  dialog = opened;
  opened.dialog = new TaskDialog(id, {
    state, actions, undo, open: openTask,
    returnTo: () => focusTask(id),
    onClose: () => {
      if (dialog !== opened) return;
      dialog = null;
      writeHash({ task: [] });
    },
  });
}

/** Open the task in the address, and close any other. */
function openFromAddress() {
  const id = readHash().get("task");
  if (id) openTask(id);
  else dialog?.dialog.close();
}

function createTask(stage) {
  openNewTask({ state, actions, stage, created: (task) => focusTask(task.id), returnTo: () => board.host.focus() });
}

/** Be somebody else from now on; returns why not. */
async function become(name) {
  try {
    await api.become(name);
  } catch (error) {
    return error.message;
  }
  keep("introduced", true);
  notices.introduce(null);
  state.replaceWorkspace(await api.workspace());
  return null;
}

function editStage(stage) {
  openStage({ state, stage, returnTo: () => board.host.focus() });
}

// The sidebar is next to the board if there is room, otherwise in front of it.
const HAS_ROOM = window.matchMedia("(min-width: 1000px)");

function toggleSidebar(open = !byId("app").classList.contains("has-sidebar"), byPerson = true) {
  byId("app").classList.toggle("has-sidebar", open);
  toolbar.menu.setAttribute("aria-expanded", String(open));
  if (!byPerson) return;
  if (HAS_ROOM.matches) keep("sidebar", open ? "open" : "closed");
  if (open) byId("sidebar").querySelector("button")?.focus();
}

byId("sidebar").addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || HAS_ROOM.matches) return;
  toggleSidebar(false);
  toolbar.menu.focus();
});
byId("board").addEventListener("pointerdown", () => !HAS_ROOM.matches && toggleSidebar(false));

follow();
begin();
