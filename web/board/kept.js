// What this browser keeps of how a person likes the page. A browser that keeps nothing forgets it, no more.

/** What is kept under a name, or `otherwise`. */
export function kept(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Keep a value under a name. */
export function keep(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // It is full or forbidden: the page works without.
  }
}
