// Asking the person who completes a task that lacks something: whether it is done all the same, and for its proof.

import { ApiError } from "./api.js";
import { element } from "./dom.js";
import { openModal } from "./modal.js";

/** Send a change; if that completes a task that lacks something, the person decides. Throws ApiError, as `ask`. */
export async function completing(send) {
  let more = {};
  for (;;) {
    try {
      return await send(more);
    } catch (error) {
      if (!error.lacks && !more.proven) throw error;
      more = await decided(error, more.proven?.[0] ?? "");
      if (!more) throw new ApiError(409, "It was not completed.");
    }
  }
}

/** What the person wants to be sent beside the change: `force`, or `proven`; null: it stays as it was. */
function decided(error, typed) {
  return new Promise((resolve) => {
    let answer = null;
    const needsProof = typed || error.message.includes("requires as proof");
    const field = element("input", { id: "proof", type: "text", value: typed, dir: "ltr", autocomplete: "off", spellcheck: "false", "aria-describedby": "proof-hint" });
    const cancel = element("button", { type: "button", autofocus: !needsProof }, "Cancel");
    const force = element("button", { type: "button", class: needsProof ? "" : "primary" }, needsProof ? "Complete without proof" : "Complete");
    const prove = needsProof ? element("button", { type: "submit", class: "primary" }, "Complete") : null;
    const proof = element("div", { class: "field" }, element("label", { for: "proof" }, "Proof"), field,
      element("p", { class: "hint", id: "proof-hint" }, "make test => 0, the hash of a commit, or a link"));
    const form = element("form", { class: "form", novalidate: true },
      element("p", { dir: "auto", role: typed ? "alert" : null }, error.message.replace(" Nothing was changed.", "")), needsProof ? proof : null,
      element("div", { class: "buttons" }, cancel, force, prove));
    const { close } = openModal({ heading: needsProof ? "Is it proven?" : "Complete it anyway?", kind: "dialog--small", content: [form], onClose: () => resolve(answer) });
    const done = (given) => {
      answer = given;
      close();
    };
    cancel.addEventListener("click", close);
    force.addEventListener("click", () => done({ force: true }));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!field.value.trim()) return field.focus();
      return done({ proven: [field.value.trim()] });
    });
    if (needsProof) field.focus();
  });
}
