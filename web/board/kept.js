// The person's settings of the page, kept in this browser. Without storage they are lost, and nothing else fails.

/** The value stored under a name, or `otherwise`. */
export function kept(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Store a value under a name. */
export function keep(name, value) {
  try {
    localStorage.setItem(name, JSON.stringify(value));
  } catch {
    // Storage is full or forbidden: the page works without it.
  }
}
