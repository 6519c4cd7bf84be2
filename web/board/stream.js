// The server's stream of events, and its state. It is read with fetch, not with EventSource, to know why it ended, and
// to notice a dead connection: the server sends a heartbeat every ten seconds.

const FIRST_WAIT = 250; // milliseconds before the next attempt, doubled each time
const LONGEST_WAIT = 4000;
const SIGNED_OUT_WAIT = 2000; // a link may be opened in another tab
const SILENCE = 25_000; // after that the connection counts as dead

export class Stream {
  #tell;
  #seq = 0; // number of the last reported change
  #state = "connecting"; // or live, reconnecting, signed-out
  #reading = null; // an AbortController
  #timer = null;
  #wait = FIRST_WAIT;
  #runs = false;

  /** `tell(type, detail)` gets `state`, `change`, `activity`, `lost` and `ready`. */
  constructor(tell) {
    this.#tell = tell;
  }

  get state() {
    return this.#state;
  }

  /** Start listening, after a given change. */
  start(seq) {
    this.#seq = seq;
    this.#runs = true;
    this.#open();
  }

  /** Stop listening. */
  stop() {
    this.#runs = false;
    clearTimeout(this.#timer);
    this.#reading?.abort();
  }

  /** Connect now, if there is no connection. */
  wake() {
    if (this.#runs && this.#state !== "live") this.#open();
  }

  /** Reconnect: the connection is in doubt. */
  check() {
    if (this.#runs) this.#open();
  }

  async #open() {
    clearTimeout(this.#timer);
    this.#reading?.abort();
    const reading = new AbortController();
    this.#reading = reading;
    let wait = null;
    try {
      wait = await this.#read(reading);
    } catch {
      // It was cut off or silent, or the server is down: in any case it has ended.
    }
    if (reading !== this.#reading || !this.#runs) return; // another one reads now
    this.#become(wait ? "signed-out" : "reconnecting");
    this.#timer = setTimeout(() => this.#open(), wait ?? this.#wait);
    this.#wait = Math.min(this.#wait * 2, LONGEST_WAIT);
  }

  /** Read to the end of the stream; returns how long to wait if this page is not signed in. */
  async #read(reading) {
    let silence = setTimeout(() => reading.abort(), SILENCE);
    try {
      const response = await fetch(`/api/events?since=${this.#seq}`, { signal: reading.signal, cache: "no-store" });
      if (response.status === 401) return SIGNED_OUT_WAIT;
      if (!response.ok) return null;
      const lines = new Lines((event, data) => reading === this.#reading && this.#hear(event, data));
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return null;
        clearTimeout(silence);
        silence = setTimeout(() => reading.abort(), SILENCE);
        lines.take(value);
      }
    } finally {
      clearTimeout(silence);
    }
  }

  #hear(event, data) {
    if (event === "ready") {
      this.#wait = FIRST_WAIT;
      this.#seq = data.seq; // lower than before if this address now belongs to another board
      this.#become("live");
    } else if (event === "change") {
      this.#seq = data.seq;
    }
    this.#tell(event, data);
  }

  #become(state) {
    if (state === this.#state) return;
    this.#state = state;
    this.#tell("state", state);
  }
}

/** Parses the chunks of a text/event-stream into events. */
class Lines {
  #hear;
  #rest = "";
  #event = "";
  #data = "";

  constructor(hear) {
    this.#hear = hear;
  }

  take(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop();
    for (const line of lines) this.#line(line.replace(/\r$/, ""));
  }

  #line(line) {
    if (line.startsWith("event:")) this.#event = line.slice(6).trim();
    else if (line.startsWith("data:")) this.#data += line.slice(5).trim();
    else if (line === "" && this.#event) {
      this.#hear(this.#event, JSON.parse(this.#data || "{}"));
      this.#event = this.#data = "";
    }
  }
}
