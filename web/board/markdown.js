// Markdown as DOM nodes. All text becomes text nodes and HTML is not parsed, so markup in it has no effect.
// Supported: headings, paragraphs, lists (also with checkboxes), quotes, code, tables, rules, emphasis, links.

import { element } from "./dom.js";

const DEEPEST = 8; // nested quotes and lists; deeper ones are shown as text
const WIDEST = 100; // columns of a table
const LONGEST = 20_000; // characters of a paragraph; the rest is shown as text
const PROTOCOLS = new Set(["http:", "https:", "mailto:"]);

const FENCE = /^ {0,3}(`{3,}|~{3,}) *([\w+#.-]*)/;
const HEADING = /^ {0,3}(#{1,6})(?: |\t|$)/;
const RULE = /^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( {0,12})([-*+]|\d{1,9}[.)])(?: +|$)/;
const CHECKBOX = /^\[([ xX])\] /;
const TABLE_RULE = /^ *\|?(?: *:?-+:? *\|)* *:?-+:? *\|? *$/;

/**
 * The nodes of a text. Its first heading has level 3, and lower ones follow without a gap, regardless of their marks.
 * With `onTick`, checkboxes can be ticked: it is called with the checkbox's number, from 1, and its new state.
 */
export function markdown(text, { onTick = null } = {}) {
  const made = document.createDocumentFragment();
  for (const node of blocks(text.replaceAll("\t", "    ").split("\n"), new Outline(3), 0)) made.append(node);
  const boxes = /** @type {NodeListOf<HTMLInputElement>} */ (made.querySelectorAll(".has-check > input"));
  boxes.forEach((box, index) => {
    if (!onTick) return;
    const label = box.parentElement.textContent.trim().split("\n")[0].slice(0, 120);
    box.disabled = false;
    box.setAttribute("aria-label", label);
    box.dataset.focus = `box-${index}`;
    box.addEventListener("change", () => onTick(index + 1, box.checked));
  });
  return made;
}

/** The level of each heading of a text. */
class Outline {
  #first;
  #open = []; // marks of the headings that may contain the next one

  constructor(first) {
    this.#first = first;
  }

  levelOf(marks) {
    while (this.#open.at(-1) >= marks) this.#open.pop();
    this.#open.push(marks);
    return Math.min(this.#first + this.#open.length - 1, 6);
  }
}

// --- blocks ------------------------------------------------------------------------------------------------------

function blocks(lines, outline, depth) {
  if (depth > DEEPEST) return [paragraph(lines)];
  const made = [];
  let at = 0;
  while (at < lines.length) {
    if (!lines[at].trim()) {
      at += 1;
      continue;
    }
    const [node, end] = block(lines, at, outline, depth);
    made.push(node);
    at = end;
  }
  return made;
}

/** The block that begins at a line, and the line after it. */
function block(lines, at, outline, depth) {
  const line = lines[at];
  if (FENCE.test(line)) return fence(lines, at);
  const heading = HEADING.exec(line);
  if (heading) {
    const tag = `h${outline.levelOf(heading[1].length)}`;
    return [element(tag, { dir: "auto" }, inline(withoutHashes(line.slice(heading[0].length)))), at + 1];
  }
  if (RULE.test(line)) return [element("hr"), at + 1];
  if (QUOTE.test(line)) {
    const end = endOf(lines, at, (other) => QUOTE.test(other));
    const inner = lines.slice(at, end).map((other) => other.replace(QUOTE, ""));
    return [element("blockquote", {}, blocks(inner, outline, depth + 1)), end];
  }
  if (ITEM.test(line)) return list(lines, at, outline, depth);
  if (isTable(lines, at)) return table(lines, at);
  const end = endOf(lines, at + 1, (other, index) => other.trim() && !begins(lines, index));
  return [paragraph(lines.slice(at, end)), end];
}

/** Whether a line begins a block within a paragraph. */
function begins(lines, at) {
  const line = lines[at];
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line)
    || isTable(lines, at);
}

function endOf(lines, from, belongs) {
  let end = from;
  while (end < lines.length && belongs(lines[end], end)) end += 1;
  return end;
}

function paragraph(lines) {
  return element("p", { dir: "auto" }, inline(lines.join("\n").trim()));
}

function fence(lines, at) {
  const [, marks, language] = FENCE.exec(lines[at]);
  const end = endOf(lines, at + 1, (line) => !(line.trim().startsWith(marks) && !line.trim().replaceAll(marks[0], "")));
  const code = element("code", language ? { "data-language": language } : {}, lines.slice(at + 1, end).join("\n"));
  return [element("pre", { tabindex: "0", role: "region", "aria-label": "Code", dir: "ltr" }, code), end + 1];
}

function list(lines, at, outline, depth) {
  const [, margin, marker] = ITEM.exec(lines[at]);
  const ordered = marker.length > 1;
  const items = [];
  let line = at;
  let loose = false; // there was a blank line
  for (; line < lines.length; line += 1) {
    const text = lines[line];
    const item = ITEM.exec(text);
    const indent = text.length - text.trimStart().length;
    if (!text.trim()) {
      loose = true;
      items.at(-1).push("");
    } else if (item && item[1].length <= margin.length + 1) {
      if (item[2].length > 1 !== ordered || RULE.test(text) || item[1].length < margin.length) break;
      items.push([text.slice(item[0].length)]);
      loose = false;
    } else if (indent > margin.length || !loose && !begins(lines, line)) {
      items.at(-1).push(text.slice(Math.min(indent, margin.length + marker.length + 1)));
    } else {
      break;
    }
  }
  const start = ordered && Number.parseInt(marker, 10) !== 1 ? Number.parseInt(marker, 10) : null;
  const made = items.map((item) => listItem(item, outline, depth));
  return [element(ordered ? "ol" : "ul", { start }, made), line];
}

function listItem(lines, outline, depth) {
  const box = CHECKBOX.exec(lines[0]);
  const inner = box ? [lines[0].slice(box[0].length), ...lines.slice(1)] : lines;
  const nodes = blocks(inner, outline, depth + 1);
  const content = nodes[0]?.tagName === "P" ? [...nodes[0].childNodes, ...nodes.slice(1)] : nodes;
  if (!box) return element("li", { dir: "auto" }, content);
  const done = box[1] !== " ";
  const check = element("input", {
    type: "checkbox", checked: done, disabled: true, "aria-label": done ? "done" : "to do",
  });
  return element("li", { class: "has-check", dir: "auto" }, check, " ", content);
}

function isTable(lines, at) {
  const next = lines[at + 1];
  return lines[at].includes("|") && next !== undefined && next.length < 1000 && next.includes("-")
    && next.includes("|") && TABLE_RULE.test(next);
}

function table(lines, at) {
  const columns = cells(lines[at]).slice(0, WIDEST);
  const end = endOf(lines, at + 2, (line) => line.includes("|"));
  const row = (tag, texts) => element("tr", {}, columns.map((_, column) =>
    element(tag, { dir: "auto", scope: tag === "th" ? "col" : null }, inline(texts[column] ?? ""))));
  const body = lines.slice(at + 2, end).map((line) => row("td", cells(line)));
  const made = element("table", {}, element("thead", {}, row("th", columns)), element("tbody", {}, body));
  return [element("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Table" }, made), end];
}

function cells(line) {
  return line.trim().replace(/^\|/, "").replace(/\|$/, "").split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function withoutHashes(text) {
  const trimmed = text.trim();
  let end = trimmed.length;
  while (trimmed[end - 1] === "#") end -= 1;
  return end === 0 || trimmed[end - 1] === " " ? trimmed.slice(0, end).trim() : trimmed;
}

// --- within a line -----------------------------------------------------------------------------------------------

const LINK = /!?\[([^[\]\n]*)\]\( *<?([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)>?(?: +"[^"\n]*")? *\)/y;
const ANGLED = /<((?:https?:\/\/|mailto:)[^\s<>]+)>/y;
const BARE = /https?:\/\/[^\s<>"'`|]+/y;
const ESCAPABLE = /[!-/:-@[-`{-~]/;
const EMPHASES = [["**", "strong"], ["__", "strong"], ["~~", "del"], ["*", "em"], ["_", "em"]];

function inline(text, depth = 0) {
  const most = text.slice(0, LONGEST);
  const made = [];
  let plain = "";
  const push = (node) => {
    if (plain) made.push(document.createTextNode(plain));
    plain = "";
    made.push(node);
  };
  let at = 0;
  while (at < most.length) {
    const found = special(most, at, depth);
    if (!found) {
      plain += most[at];
      at += 1;
    } else {
      if (typeof found[0] === "string") plain += found[0];
      else push(found[0]);
      at = found[1];
    }
  }
  plain += text.slice(LONGEST);
  if (plain) made.push(document.createTextNode(plain));
  return made;
}

/** The inline element at an index, a node or a text, and the index after it; nothing if there is just a character. */
function special(text, at, depth) {
  const char = text[at];
  if (char === "\\" && at + 1 < text.length && ESCAPABLE.test(text[at + 1])) return [text[at + 1], at + 2];
  if (char === "\n") return [element("br"), at + 1];
  if (char === "`") return code(text, at);
  if (char === "[" || (char === "!" && text[at + 1] === "[")) {
    const found = matchAt(LINK, text, at);
    return found && linkOr(found[2], depth ? [found[1]] : inline(found[1], depth + 1), found[0], at);
  }
  if (char === "<") {
    const found = matchAt(ANGLED, text, at);
    return found && linkOr(found[1], [found[1].replace(/^mailto:/, "")], found[0], at);
  }
  if (char === "h" && !isWord(text[at - 1])) {
    const found = matchAt(BARE, text, at);
    const address = found && withoutEnd(found[0]);
    return found && linkOr(address, [address], address, at);
  }
  return depth < DEEPEST ? emphasis(text, at, depth) : null;
}

function code(text, at) {
  let marks = 1;
  while (text[at + marks] === "`") marks += 1;
  const fenceOf = "`".repeat(marks);
  let end = text.indexOf(fenceOf, at + marks);
  while (end !== -1 && text[end + marks] === "`") {
    while (text[end] === "`") end += 1;
    end = text.indexOf(fenceOf, end);
  }
  if (end === -1) return [fenceOf, at + marks];
  return [element("code", { dir: "ltr" }, text.slice(at + marks, end).trim()), end + marks];
}

function emphasis(text, at, depth) {
  for (const [marks, tag] of EMPHASES) {
    if (!text.startsWith(marks, at)) continue;
    const from = at + marks.length;
    if (!text[from]?.trim() || (marks[0] === "_" && isWord(text[at - 1]))) return [marks, from];
    let end = text.indexOf(marks, from + 1);
    while (end !== -1 && (!text[end - 1].trim() || (marks[0] === "_" && isWord(text[end + marks.length])))) {
      end = text.indexOf(marks, end + 1);
    }
    if (end === -1) return [marks, from];
    return [element(tag, {}, inline(text.slice(from, end), depth + 1)), end + marks.length];
  }
  return null;
}

/** A link, or the source text if the address is not allowed. */
function linkOr(address, content, written, at) {
  let url;
  try {
    url = new URL(address);
  } catch {
    return [written, at + written.length];
  }
  if (!PROTOCOLS.has(url.protocol)) return [written, at + written.length];
  const made = element("a", { href: url.href, target: "_blank", rel: "noopener noreferrer" }, content);
  if (!made.textContent.trim()) made.textContent = address;
  return [made, at + written.length];
}

function matchAt(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function withoutEnd(address) {
  let end = address.length;
  while (".,;:!?)]*_".includes(address[end - 1])) {
    if (address[end - 1] === ")" && address.slice(0, end).includes("(")) break;
    end -= 1;
  }
  return address.slice(0, end);
}

function isWord(char) {
  return char !== undefined && /[\p{L}\p{N}]/u.test(char);
}
