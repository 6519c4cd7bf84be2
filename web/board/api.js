// Requests to the board's server, with JSON both ways.

/** A failed request: `status` is HTTP's, 0 if the server could not be reached; the message is for people. */
export class ApiError extends Error {
  constructor(status, message, lacks = false) {
    super(message);
    this.status = status;
    this.lacks = lacks; // whether a task lacks something to be completed
  }
}

const signedOut = new EventTarget();

/** Call `listener` whenever the server no longer accepts this page's session. */
export function onSignedOut(listener) {
  signedOut.addEventListener("out", listener);
}

const PATIENCE = 20_000; // milliseconds for an answer

/** The server's answer. Throws ApiError; it may then be unknown whether a change was stored. */
export async function ask(method, path, body) {
  const request = { method, headers: {}, signal: AbortSignal.timeout(PATIENCE) };
  if (body !== undefined) {
    request.body = JSON.stringify(body);
    request.headers["Content-Type"] = "application/json";
  }
  let response;
  let answer;
  try {
    response = await fetch(path, request);
    answer = await response.json().catch((error) => {
      if (error instanceof SyntaxError) return {};
      throw error;
    });
  } catch {
    const unknown = method === "GET" ? "" : " Whether your change was stored is not known; the board shows it after it reconnects.";
    throw new ApiError(0, `The board's server does not answer.${unknown}`);
  }
  if (response.status === 401) signedOut.dispatchEvent(new Event("out"));
  if (!response.ok) throw new ApiError(response.status, answer.error ?? `The server answered ${response.status}.`, answer.lacks);
  return answer;
}

const AT_FIRST = 24; // tasks of each stage, enough for a column on a large screen; index.html requests the same number

const part = encodeURIComponent;

export const api = {
  board: () => ask("GET", "/api/board"),
  beginning: () => ask("GET", `/api/board?each=${AT_FIRST}`),
  workspace: () => ask("GET", "/api/workspace"),
  search: (text) => ask("GET", `/api/tasks?text=${part(text)}`),
  cards: (ids) => ask("GET", `/api/cards?ids=${ids.map(part).join()}`),
  task: (id) => ask("GET", `/api/tasks/${part(id)}`),
  createTask: (task) => ask("POST", "/api/tasks", task),
  changeTask: (id, change) => ask("PATCH", `/api/tasks/${part(id)}`, change),
  deleteTask: (id) => ask("DELETE", `/api/tasks/${part(id)}`),
  moveTask: (id, move) => ask("POST", `/api/tasks/${part(id)}/move`, move),
  comment: (id, text) => ask("POST", `/api/tasks/${part(id)}/comments`, { text }),
  revert: (kind, id, revision) => ask("POST", "/api/revert", { kind, id, ...(revision ? { revision } : {}) }),
  trash: () => ask("GET", "/api/trash"),
  emptyTrash: () => ask("DELETE", "/api/trash"),
  archive: () => ask("GET", "/api/tasks?archived="),
  saveView: (view) => ask("POST", "/api/views", view),
  deleteView: (id) => ask("DELETE", `/api/views/${id}`),
  link: (id, links) => ask("PUT", `/api/tasks/${part(id)}/links`, links),
  commits: (id) => ask("GET", `/api/tasks/${part(id)}/commits`),
  diff: (hash) => ask("GET", `/api/commits/${part(hash)}`),
  code: (anchor) => ask("GET", `/api/code?anchor=${part(anchor)}`),
  become: (name) => ask("POST", "/api/me", { name }),
  releaseTask: (id) => ask("POST", `/api/tasks/${part(id)}/release`),
  assignTask: (id, agent) => ask("POST", `/api/tasks/${part(id)}/assign`, { agent }),
  renameAgent: (id, name) => ask("PATCH", `/api/agents/${part(id)}`, { name }),
  answer: (id, answer) => ask("POST", `/api/questions/${part(id)}/answer`, answer),
  dismiss: (id) => ask("POST", `/api/questions/${part(id)}/dismiss`),
  createStage: (stage) => ask("POST", "/api/stages", stage),
  changeStage: (id, change) => ask("PATCH", `/api/stages/${part(id)}`, change),
  deleteStage: (id, heir) => ask("DELETE", `/api/stages/${part(id)}${heir ? `?move_tasks_to=${part(heir)}` : ""}`),
  createText: (kind, text) => ask("POST", `/api/${kind}s`, text),
  changeText: (kind, id, change) => ask("PATCH", `/api/${kind}s/${part(id)}`, change),
  deleteText: (kind, id) => ask("DELETE", `/api/${kind}s/${part(id)}`),
  standard: (id) => ask("GET", `/api/standards/${part(id)}`),
  snippet: (id) => ask("GET", `/api/snippets/${part(id)}`),
};
