// A list that keeps only its visible items in the document. Items may have any height: it is measured when they are
// rendered, and estimated as the average before.

import { reconcile } from "./dom.js";

const GAP = 8; // pixels between two items
const GUESS = 92; // pixels: the estimate before any was rendered
const ALL_OF = 60; // up to this number, all are rendered, so that the browser's search finds them
const BEYOND = 500; // pixels rendered above and below the visible part

export class VirtualList {
  #scroller;
  #with;
  #items = [];
  #tops = [0]; // of each item, and the end of the list
  #heights = new Map(); // key → pixels, of rendered items
  #window = [0, 0];
  #view = { top: 0, height: 800 };
  #width = 0;
  #isPlaced = true;

  /** `wiring` has key(item), make(item), update(node, item), gone(key), isPinned(node): keep it in the document. */
  constructor(list, scroller, wiring) {
    this.list = list;
    this.#scroller = scroller;
    this.#with = wiring;
    scroller.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    new ResizeObserver(() => this.#resized()).observe(scroller);
  }

  get items() {
    return this.#items;
  }

  /** Set the items. `place` must follow; it is separate so that several lists are written first and measured after. */
  render(items) {
    const anchor = this.#anchor();
    this.#items = items;
    this.#measureTops();
    this.#keep(anchor);
    this.#draw();
  }

  /** Position the rendered items: `measure` reads, `settle` writes. */
  place() {
    this.measure();
    this.settle();
  }

  measure() {
    if (this.#isPlaced) return;
    for (const node of this.list.children) {
      if (node.offsetHeight) this.#heights.set(node.dataset.key, node.offsetHeight);
    }
  }

  settle() {
    if (this.#isPlaced) return;
    this.#isPlaced = true;
    const anchor = this.#anchor();
    this.#measureTops();
    this.list.style.height = `${Math.max(this.#tops.at(-1) - GAP, 0)}px`;
    for (const node of this.list.children) {
      const top = `${this.#tops[Number(node.dataset.at)]}px`;
      if (node.style.top !== top) node.style.top = top;
    }
    this.#keep(anchor);
  }

  /** The node of the item at an index, rendered and scrolled into view. */
  reveal(index) {
    if (!this.#items.length) return undefined;
    const at = Math.max(0, Math.min(index, this.#items.length - 1));
    const top = this.#tops[at];
    const bottom = this.#tops[at + 1] - GAP;
    if (top < this.#view.top) this.#scrollTo(top - 12);
    else if (bottom > this.#view.top + this.#view.height - 20) this.#scrollTo(bottom - this.#view.height + 32);
    this.#draw();
    this.place();
    return [...this.list.children].find((node) => Number(node.dataset.at) === at);
  }

  /** The rendered nodes, in order. */
  nodes() {
    return [...this.list.children];
  }

  #scrollTo(top) {
    this.#scroller.scrollTop = top;
    this.#view.top = this.#scroller.scrollTop;
  }

  #scrolled() {
    this.#view.top = this.#scroller.scrollTop;
    const [first, last] = this.#sought();
    if (first === this.#window[0] && last === this.#window[1]) return;
    this.#draw();
    this.place();
  }

  #resized() {
    if (!this.list.isConnected) return; // its stage was removed, and its cards may be in another list
    this.#view.height = this.#scroller.clientHeight;
    if (this.list.clientWidth !== this.#width) {
      this.#width = this.list.clientWidth;
      this.#heights.clear();
    }
    this.#draw();
    this.place();
  }

  #draw() {
    const [first, last] = (this.#window = this.#sought());
    const shown = [];
    const pinned = new Set(this.nodes().filter((node) => this.#with.isPinned(node)).map((node) => node.dataset.key));
    const [from, to] = pinned.size ? [0, this.#items.length] : [first, last];
    for (let at = from; at < to; at += 1) {
      const item = this.#items[at];
      if ((at >= first && at < last) || pinned.has(this.#with.key(item))) shown.push({ at, item });
    }
    const before = new Set(this.nodes().map((node) => node.dataset.key));
    reconcile(this.list, shown, ({ item }) => this.#with.key(item), ({ item }) => this.#with.make(item), (node, { at, item }) => {
      const key = this.#with.key(item);
      before.delete(key);
      node.dataset.key = key;
      if (node.dataset.at !== String(at)) {
        node.dataset.at = at;
        node.setAttribute("aria-posinset", at + 1);
      }
      node.setAttribute("aria-setsize", this.#items.length);
      this.#with.update(node, item);
    });
    for (const key of before) this.#with.gone(key);
    this.#isPlaced = false;
  }

  /** The index of the first item to render, and the one after the last. */
  #sought() {
    const count = this.#items.length;
    if (count <= ALL_OF) return [0, count];
    const first = this.#itemAt(this.#view.top - BEYOND);
    return [first, Math.min(this.#itemAt(this.#view.top + this.#view.height + BEYOND) + 1, count)];
  }

  #itemAt(pixel) {
    let low = 0;
    let high = this.#items.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.#tops[middle] <= pixel) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  #measureTops() {
    let known = 0;
    for (const height of this.#heights.values()) known += height;
    const average = this.#heights.size ? known / this.#heights.size : GUESS;
    const tops = new Array(this.#items.length + 1);
    let top = 0;
    for (let at = 0; at < this.#items.length; at += 1) {
      tops[at] = top;
      top += (this.#heights.get(this.#with.key(this.#items[at])) ?? average) + GAP;
    }
    tops[this.#items.length] = top;
    this.#tops = tops;
  }

  /** The item at the top of the view, and the distance of its start above the view. */
  #anchor() {
    if (this.#view.top <= 0 || !this.#items.length) return null;
    const at = this.#itemAt(this.#view.top);
    return { key: this.#with.key(this.#items[at]), offset: this.#view.top - this.#tops[at] };
  }

  /** Scroll so that the same item is at the top of the view again. */
  #keep(anchor) {
    if (!anchor) return;
    const at = this.#items.findIndex((item) => this.#with.key(item) === anchor.key);
    if (at < 0) return;
    const top = this.#tops[at] + anchor.offset;
    if (Math.abs(top - this.#view.top) >= 1) this.#scrollTo(top);
  }
}
