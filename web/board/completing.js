// Asking the person who completes a task that lacks something: whether it is done all the same, and for its proofs.

import { ApiError } from "./api.js";
import { element } from "./dom.js";
import { openModal } from "./modal.js";

/** Send a change; if that completes a task that lacks something, the person decides. Throws ApiError, as `ask`. */
export async function completing(send) {
  let more = {};
  let proven = []; // the proofs given so far that the server has accepted
  for (;;) {
    try {
      return await send(more);
    } catch (error) {
      if (!error.lacks && !more.proven) throw error;
      const refused = error.lacks ? "" : more.proven.at(-1);
      if (error.lacks) proven = more.proven ?? [];
      const answer = await decided(error, refused, proven);
      if (answer === null) throw new ApiError(409, "It was not completed.");
      more = answer ? { proven: [...proven, answer] } : { force: true, ...(proven.length ? { proven } : {}) };
    }
  }
}

/** The proof that the person gives; empty: none is needed; null: nothing changes. `refused` is a text that is not a proof. */
function decided(error, refused, proven) {
  return new Promise((resolve) => {
    let answer = null;
    const needsProof = refused || error.message.includes("requires as proof");
    const field = element("input", { id: "proof", type: "text", value: refused, dir: "ltr", autocomplete: "off", spellcheck: "false", "aria-describedby": "proof-hint" });
    const cancel = element("button", { type: "button", autofocus: !needsProof }, "Cancel");
    const force = element("button", { type: "button", class: needsProof ? "" : "primary" }, needsProof ? "Complete without proof" : "Complete");
    const prove = needsProof ? element("button", { type: "submit", class: "primary" }, "Complete") : null;
    const proof = element("div", { class: "field" }, element("label", { for: "proof" }, proven.length ? "Another proof" : "Proof"), field,
      element("p", { class: "hint", id: "proof-hint" }, "make test => 0, the hash of a commit, or a link"));
    const given = proven.length ? element("p", {}, "Given: ", element("code", { dir: "ltr" }, proven.join(", "))) : null;
    const form = element("form", { class: "form", novalidate: true },
      element("p", { dir: "auto", role: refused ? "alert" : null }, error.message.replace(" Nothing was changed.", "")), given, needsProof ? proof : null,
      element("div", { class: "buttons" }, cancel, force, prove));
    const { close } = openModal({ heading: needsProof ? "Is it proven?" : "Complete it anyway?", kind: "dialog--small", content: [form], onClose: () => resolve(answer) });
    const done = (text) => {
      answer = text;
      close();
    };
    cancel.addEventListener("click", close);
    force.addEventListener("click", () => done(""));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!field.value.trim()) return field.focus();
      return done(field.value.trim());
    });
    if (needsProof) field.focus();
  });
}
