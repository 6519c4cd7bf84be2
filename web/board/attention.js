// Signals for waiting questions: a desktop notification, a quiet sound, and a count in the title and on the page's
// icon. The first question asks the person, once, whether to turn them on.

import { keep, kept } from "./kept.js";

const SETTINGS = "attention"; // {desktop, sound}; nothing is stored before the person was asked
const ONE_RINGS = 5000; // milliseconds in which other tabs don't ring for the same question
const TONES = [[523.25, 0], [659.25, 0.14]]; // hertz, and the start in seconds
const LOUDNESS = 0.05;

export class Attention extends EventTarget {
  #state;
  #open;
  #known = null; // ids of earlier questions

  /** `open(question)` shows it. An event `change` reports changed settings. */
  constructor(state, open) {
    super();
    this.#state = state;
    this.#open = open;
    state.addEventListener("workspace", () => this.#look());
  }

  /** Whether to ask the person now: there is a reason, and they were never asked. */
  get shouldAsk() {
    return kept(SETTINGS) === undefined && this.#state.questions.length > 0;
  }

  /** The settings: `desktop` and `sound`, and whether the browser forbids the first. */
  get settings() {
    const { desktop = false, sound = false } = kept(SETTINGS, {});
    const permission = "Notification" in window ? Notification.permission : "denied";
    return { desktop: desktop && permission === "granted", sound, isForbidden: permission === "denied" };
  }

  /** Turn a signal on or off; call it right after a click, otherwise the browser refuses. */
  async set(change) {
    keep(SETTINGS, { ...kept(SETTINGS, {}), ...change });
    if (change.desktop && "Notification" in window && Notification.permission === "default") {
      await Notification.requestPermission();
    }
    if (change.sound) ring();
    this.dispatchEvent(new Event("change"));
  }

  #look() {
    const { questions } = this.#state;
    showCount(questions.length, this.#state.name);
    const news = this.#known ? questions.filter((one) => !this.#known.has(one.id)) : [];
    this.#known = new Set(questions.map((one) => one.id));
    for (const question of news) this.#tell(question);
    this.dispatchEvent(new Event("change"));
  }

  #tell(question) {
    const { desktop, sound } = this.settings;
    const isSeen = !document.hidden && document.hasFocus();
    if (desktop && !isSeen) {
      // All tabs use the same tag, so there is one notification.
      const shown = new Notification(`${question.who} asks`, { body: question.question, tag: question.id, silent: true, icon: new URL("./icon.svg", import.meta.url).href });
      shown.addEventListener("click", () => {
        window.focus();
        this.#open(question);
        shown.close();
      });
    }
    if (sound) alone(`ring-${question.id}`, ring);
  }
}

/** Run a function in only one of all tabs. */
function alone(name, run) {
  if (!navigator.locks) return run();
  return navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
    if (!lock) return;
    run();
    await new Promise((resolve) => setTimeout(resolve, ONE_RINGS));
  });
}

/** Two soft tones. Browsers play none before the first click on a page. */
function ring() {
  const sound = new AudioContext();
  for (const [pitch, begin] of TONES) {
    const tone = sound.createOscillator();
    const volume = sound.createGain();
    const at = sound.currentTime + begin;
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(0, at);
    volume.gain.linearRampToValueAtTime(LOUDNESS, at + 0.03);
    volume.gain.exponentialRampToValueAtTime(0.0001, at + 0.5);
    tone.connect(volume).connect(sound.destination);
    tone.start(at);
    tone.stop(at + 0.55);
    tone.addEventListener("ended", () => begin && sound.close());
  }
}

function showCount(count, name) {
  document.title = `${count ? `(${count}) ` : ""}${name} · Board`;
  if (count) navigator.setAppBadge?.(count)?.catch(() => {}); // only installed pages have one
  else navigator.clearAppBadge?.()?.catch(() => {});
  const badge = count ? `<circle cx="22" cy="10" r="10" fill="#e08600"/><text x="22" y="15" font-size="15" font-weight="700" font-family="sans-serif" text-anchor="middle" fill="#1c1100">${count > 9 ? "9+" : count}</text>` : "";
  const drawn = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect y="0" width="32" height="32" rx="8" fill="#3b4fd8"/><path d="M8 9v14M16 9v8M24 9v11" stroke="#fff" stroke-width="4" stroke-linecap="round"/>${badge}</svg>`;
  const link = /** @type {HTMLLinkElement} */ (document.querySelector('link[rel="icon"]'));
  link.href = `data:image/svg+xml,${encodeURIComponent(drawn)}`;
}
