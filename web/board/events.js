// The stream of what happens on the board, and whether it flows. Events: `state` (connecting, live, reconnecting,
// signed-out), `change`, `activity`, `lost` (read everything anew), `caught-up` (what was missed has been told).

import { api } from "./api.js";

const FIRST_WAIT = 250; // milliseconds before the next try; each is twice the last
const LONGEST_WAIT = 4000;
const SIGNED_OUT_WAIT = 2000;

export class Events extends EventTarget {
  state = "connecting";
  #state; // the page's, for the number of the last change
  #source = null;
  #timer = null;
  #wait = FIRST_WAIT;

  constructor(state) {
    super();
    this.#state = state;
    for (const type of ["online", "focus"]) window.addEventListener(type, () => this.#timer && this.#open());
  }

  /** Begin to listen, from what the page knows on. */
  start() {
    this.#open();
  }

  /** The server does not know this page. It is asked again now and then: a link may be opened in another tab. */
  signOut() {
    this.#source?.close();
    this.#become("signed-out");
    this.#tryAgainIn(SIGNED_OUT_WAIT);
  }

  #open() {
    clearTimeout(this.#timer);
    this.#timer = null;
    this.#source?.close();
    const source = new EventSource(`/api/events?since=${this.#state.seq}`);
    this.#source = source;
    source.addEventListener("error", () => source === this.#source && this.#broken());
    source.addEventListener("ready", (event) => this.#ready(JSON.parse(event.data)));
    source.addEventListener("lost", () => this.#tell("lost"));
    source.addEventListener("activity", (event) => this.#tell("activity", JSON.parse(event.data)));
    source.addEventListener("change", (event) => {
      const change = JSON.parse(event.data);
      if (change.seq <= this.#state.seq) return;
      this.#state.seq = change.seq;
      this.#tell("change", change);
    });
  }

  #ready({ root, seq }) {
    this.#wait = FIRST_WAIT;
    if (root !== this.#state.root || seq < this.#state.seq) {
      this.#state.seq = 0; // another board answers at this address now
      this.#tell("lost");
    }
    this.#become("live");
    this.#tell("caught-up");
  }

  async #broken() {
    this.#source.close();
    if (this.state !== "signed-out") this.#become("reconnecting");
    this.#tryAgainIn(this.#wait);
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
    // A stream doesn't say why it ended; any other question tells of a 401, which comes back to signOut.
    await api.workspace().catch(() => {});
  }

  #tryAgainIn(milliseconds) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#open(), milliseconds);
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
