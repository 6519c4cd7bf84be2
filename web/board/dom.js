// Creating and updating DOM nodes. Text always becomes text nodes: nothing here parses HTML.

const PROPERTIES = new Set(["value", "checked", "disabled", "hidden", "selected", "tabIndex", "open", "textContent"]);

/**
 * A new element. `properties` are attributes, except `on` (listeners by event), `data` (its dataset), `vars` (CSS
 * variables) and what is set as a property; null and false leave an attribute out. Children may be null, or arrays of them.
 */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "on") for (const [type, listener] of Object.entries(value)) made.addEventListener(type, listener);
    else if (name === "data") Object.assign(made.dataset, value);
    else if (name === "vars") for (const [variable, to] of Object.entries(value)) made.style.setProperty(variable, to);
    else if (PROPERTIES.has(name)) made[name] = value;
    else if (value === true) made.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined && child !== false) made.append(child);
  return made;
}

/** Set the text of a node if it differs: unchanged text is not drawn again. */
export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

const held = new WeakMap(); // parent → its children by key

/**
 * Make the children of `parent` those of `items`, in order. A child is kept as long as its key exists, with its focus
 * and typed text.
 *
 * @param {(child: any, item: any) => void} update
 */
export function reconcile(parent, items, keyOf, create, update = () => {}) {
  const before = held.get(parent) ?? new Map();
  const after = new Map();
  for (const item of items) {
    const key = keyOf(item);
    after.set(key, before.get(key) ?? create(item));
    update(after.get(key), item);
  }
  held.set(parent, after);
  for (const [key, child] of before) {
    if (after.get(key) !== child && child.parentNode === parent) child.remove();
  }
  let place = parent.firstElementChild;
  for (const child of after.values()) {
    if (child !== place && place?.nextElementSibling === child) {
      parent.append(place); // it has moved: moving one is cheaper than moving all after it
      place = child;
    }
    if (child === place) place = place.nextElementSibling;
    else parent.insertBefore(child, place);
  }
}

/** Run `change`, which may move the focused element, and restore the focus. */
export function keepingFocus(change) {
  const focused = /** @type {HTMLElement} */ (document.activeElement);
  change();
  if (focused && focused !== document.body && focused !== document.activeElement && focused.isConnected) {
    focused.focus({ preventScroll: true });
  }
}

/** `run` a while after the last of several calls. */
export function debounced(run, milliseconds) {
  let timer;
  return (...given) => {
    clearTimeout(timer);
    timer = setTimeout(run, milliseconds, ...given);
  };
}
