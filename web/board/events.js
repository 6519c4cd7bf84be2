// The board's events for the page. Events: `state` (connecting, live, reconnecting, signed-out),
// `change`, `activity`, `lost` (read everything again), `caught-up` (all missed events have been sent).

import { Stream } from "./stream.js";

const NO_WORKER = 10_000; // milliseconds that the worker may take to begin

export class Events extends EventTarget {
  state = "connecting";
  #state; // the page's, for the number of the last change
  #link = null;

  constructor(state) {
    super();
    this.#state = state;
    for (const type of ["online", "focus"]) window.addEventListener(type, () => this.#link?.wake());
    window.addEventListener("pagehide", () => this.#link?.leave());
    window.addEventListener("pageshow", ({ persisted }) => persisted && this.#link?.join());
  }

  /** Start listening, from the last change that the page knows. */
  start() {
    const since = () => this.#state.seq;
    const hear = (type, detail) => this.#hear(type, detail);
    this.#link = "SharedWorker" in window
      ? new Shared(since, hear, () => {
        this.#link = new Own(since, hear);
        this.#link.join();
      })
      : new Own(since, hear);
    this.#link.join();
  }

  /** Another request was refused as signed out: try the stream again to find out. */
  signOut() {
    this.#link?.check();
  }

  #hear(type, detail) {
    if (type === "change") {
      if (detail.seq <= this.#state.seq) return;
      this.#state.seq = detail.seq;
      this.#tell("change", detail);
    } else if (type === "state") {
      if (detail !== "live") this.#become(detail); // `ready` comes with it
    } else if (type === "ready") {
      this.#ready(detail);
    } else {
      this.#tell(type, detail);
    }
  }

  #ready({ root, seq }) {
    if (root !== this.#state.root || seq < this.#state.seq) {
      this.#state.seq = 0; // another board is at this address now
      this.#tell("lost");
    }
    this.#become("live");
    this.#tell("caught-up");
  }

  #become(state) {
    if (state === this.state) return;
    this.state = state;
    this.#tell("state", state);
  }

  #tell(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}

/** The stream of all tabs, in a worker. */
class Shared {
  #worker;
  #since;

  constructor(since, hear, fail) {
    this.#since = since;
    this.#worker = new SharedWorker(new URL("./stream_worker.js", import.meta.url), { type: "module", name: "board" });
    let isOver = false;
    const giveUp = () => {
      if (isOver) return;
      isOver = true;
      this.leave();
      fail();
    };
    const late = setTimeout(giveUp, NO_WORKER);
    this.#worker.addEventListener("error", giveUp);
    this.#worker.port.onmessage = ({ data: { type, detail } }) => {
      if (isOver) return;
      if (type === "joined") clearTimeout(late);
      else hear(type, detail);
    };
  }

  join() {
    this.#worker.port.postMessage({ type: "join", since: this.#since() });
  }

  leave() {
    this.#worker.port.postMessage({ type: "leave" });
  }

  wake() {
    this.#worker.port.postMessage({ type: "wake" });
  }

  check() {
    this.#worker.port.postMessage({ type: "check" });
  }
}

/** A separate stream for this tab, only while it is visible, so that many tabs work without shared workers too. */
class Own {
  #since;
  #stream;

  constructor(since, hear) {
    this.#since = since;
    this.#stream = new Stream(hear);
    document.addEventListener("visibilitychange", () => (document.hidden ? this.leave() : this.join()));
  }

  join() {
    if (!document.hidden) this.#stream.start(this.#since());
  }

  leave() {
    this.#stream.stop();
  }

  wake() {
    this.#stream.wake();
  }

  check() {
    this.#stream.check();
  }
}
