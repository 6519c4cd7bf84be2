// A person's actions on this page that can be undone, the latest first.

import { announce, toast } from "./announce.js";
import { ApiError } from "./api.js";

const MOST = 50;

export class Undo {
  #done = [];

  /**
   * Record an action, done or just begun: in the order of the person's actions, not of the server's answers. `back`
   * reverses it, and gets the result of `done`. If that is null, or `done` is rejected, there is nothing to reverse.
   *
   * @param {string} what
   * @param {(result: any) => any} back
   * @param {Promise<any>} done
   */
  add(what, back, done = Promise.resolve()) {
    const entry = { what, back, done };
    this.#done.push(entry);
    if (this.#done.length > MOST) this.#done.shift();
    const drop = () => (this.#done = this.#done.filter((other) => other !== entry));
    done.then((result) => result === null && drop(), drop);
  }

  /** Undo the last one, and announce it. */
  async last() {
    const found = this.#done.pop();
    if (!found) return toast("Nothing to undo.");
    const result = await found.done.catch(() => null);
    if (result === null) return this.last();
    try {
      await found.back(result);
      toast(`Undone: ${found.what}`);
      announce(`Undone: ${found.what}`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      toast(`Cannot undo: ${found.what}. ${error.message}`, { error: true });
    }
    return undefined;
  }
}
