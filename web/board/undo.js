// What a person did on this page and can take back, the last first.

import { announce, toast } from "./announce.js";
import { ApiError } from "./api.js";

const MOST = 50;

export class Undo {
  #done = [];

  /** Something was done; `back` takes it back. */
  add(what, back) {
    this.#done.push({ what, back });
    if (this.#done.length > MOST) this.#done.shift();
  }

  /** Take the last one back, and say so. */
  async last() {
    const found = this.#done.pop();
    if (!found) return toast("Nothing to undo.");
    try {
      await found.back();
      toast(`Undone: ${found.what}`);
      announce(`Undone: ${found.what}`);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      toast(`Cannot undo: ${found.what}. ${error.message}`, { error: true });
    }
    return undefined;
  }
}
