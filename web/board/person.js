// People on the page: a colored sign with their initials, and whose page this is.

import { element } from "./dom.js";
import { hueOf } from "./tag_colors.js";

/** The first letters of the first and the last word of a name. */
export function initialsOf(name) {
  const words = name.trim().split(/\s+/u);
  const letters = [words[0], words.length > 1 ? words.at(-1) : ""].map((word) => [...word][0] ?? "");
  return letters.join("").toUpperCase();
}

/** The sign of a person; the name stands beside it, or in its title. */
export function avatar(name) {
  return element("span", { class: "avatar", "aria-hidden": "true", title: name, vars: { "--hue": hueOf(name) } }, initialsOf(name));
}

/** The name of the author of something, with a person's sign before it; `me` is who is at this page. */
export function authorOf(name, { isAgent = false, me = null } = {}) {
  return [isAgent ? null : avatar(name), element("strong", { dir: "auto", class: "cut" }, name), !isAgent && name === me?.name ? element("span", { class: "hint" }, "(you)") : null]
    .filter(Boolean);
}
