// The browser's own dialogs, which keep the focus inside. Closing one restores the focus.

import { element } from "./dom.js";
import { icon } from "./icons.js";

let count = 0;

/**
 * Open a dialog with a heading and content. `mayClose` is called before the person closes it, `onClose` after it is
 * closed; `returnTo` sets the focus if the element that had it is gone.
 *
 * @param {{heading: any, content?: any[], kind?: string, mayClose?: () => Promise<boolean>, onClose?: () => void, returnTo?: () => void}} options
 */
export function openModal({ heading, content = [], kind = "", mayClose = async () => true, onClose, returnTo }) {
  const before = /** @type {HTMLElement} */ (document.activeElement);
  const id = `dialog-${(count += 1)}`;
  const title = element("h2", { id, class: "dialog__heading", dir: "auto" }, heading);
  const closeButton = element("button", { type: "button", class: "plain dialog__close", "aria-label": "Close" }, icon("close"));
  const body = element("div", { class: "dialog__body" }, ...content);
  const dialog = element("dialog", { class: `dialog ${kind}`, "aria-labelledby": id },
    element("header", { class: "dialog__head" }, title, closeButton), body);

  let isClosed = false;
  const close = () => {
    if (isClosed) return;
    isClosed = true;
    dialog.close();
    dialog.remove();
    const last = focusedAgain(before);
    if (last) last.focus();
    else returnTo?.();
    onClose?.();
  };
  const tryToClose = async () => (await mayClose()) && close();
  closeButton.addEventListener("click", tryToClose);
  dialog.addEventListener("cancel", (event) => {
    if (event.target !== dialog) return;
    event.preventDefault();
    tryToClose();
  });
  let pressed = false; // a selection that ends outside is not a click outside
  dialog.addEventListener("pointerdown", (event) => (pressed = event.target === dialog));
  dialog.addEventListener("click", (event) => event.target === dialog && pressed && tryToClose());
  dialog.addEventListener("close", close); // by the browser
  document.body.append(dialog);
  dialog.showModal();
  return { dialog, title, body, close };
}

/** The element that had the focus, or the one that was drawn in its place. */
function focusedAgain(before) {
  if (!before || before === document.body) return null;
  if (before.isConnected) return before;
  const { focus } = before.dataset;
  return focus ? /** @type {HTMLElement} */ (document.querySelector(`[data-focus="${CSS.escape(focus)}"]`)) : null;
}

/** Ask for confirmation of something that can't be undone. */
export function confirmed({ heading, text, yes, no = "Cancel", dangerous = true }) {
  return new Promise((resolve) => {
    let answer = false;
    const refuse = element("button", { type: "button", autofocus: true }, no);
    const agree = element("button", { type: "button", class: dangerous ? "danger" : "primary" }, yes);
    const { close } = openModal({
      heading, kind: "dialog--small",
      content: [element("p", { dir: "auto" }, text), element("div", { class: "buttons" }, refuse, agree)],
      onClose: () => resolve(answer),
    });
    refuse.addEventListener("click", close);
    agree.addEventListener("click", () => {
      answer = true;
      close();
    });
  });
}

/** Ask for one line of text; `save` gets it, and returns a problem if it is invalid. */
export function askForLine({ heading, label, value, yes, save }) {
  const field = element("input", { id: "line", type: "text", value, dir: "auto", autocomplete: "off", autofocus: true });
  const error = element("p", { class: "error", role: "alert", hidden: true, dir: "auto" });
  const cancel = element("button", { type: "button" }, "Cancel");
  const form = element("form", { class: "form", novalidate: true }, element("div", { class: "field" }, element("label", { for: "line" }, label), field), error,
    element("div", { class: "buttons" }, cancel, element("button", { type: "submit", class: "primary" }, yes)));
  const { close } = openModal({ heading, kind: "dialog--small", content: [form] });
  cancel.addEventListener("click", close);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const refusal = await save(field.value.trim());
    if (!refusal) return close();
    error.textContent = refusal;
    error.hidden = false;
    return field.focus();
  });
  field.select();
}
