// What is wrong on a page for those who don't see it, or see it badly: an array of sentences.
() => {
  const wrong = [];
  const shown = (node) => node.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true });
  const describe = (node) => `<${node.tagName.toLowerCase()} class="${node.className}"> ${node.textContent.trim().slice(0, 40)}`;

  // --- names -------------------------------------------------------------------------------------------------------
  const textOf = (node) => [...node.childNodes].map((child) =>
    child.nodeType === Node.TEXT_NODE ? child.data : child.getAttribute?.("aria-hidden") === "true" ? "" : textOf(child)).join("");
  const nameOf = (node) => (node.getAttribute("aria-label")
    || (node.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join(" ").trim()
    || [...(node.labels ?? [])].map((label) => label.textContent).join(" ").trim()
    || (/^(INPUT|SELECT|TEXTAREA)$/.test(node.tagName) ? "" : textOf(node).trim()));
  for (const node of document.querySelectorAll("a, button, input, select, textarea, summary, dialog, section.column, aside, [role=region]")) {
    if (shown(node) && !nameOf(node)) wrong.push(`no name: ${describe(node)}`);
  }
  for (const image of document.querySelectorAll("img")) if (!image.hasAttribute("alt")) wrong.push(`no alt: ${image.src}`);
  const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) wrong.push(`twice: #${id}`);
  for (const node of document.querySelectorAll("[aria-labelledby], [aria-describedby], [aria-controls]")) {
    for (const attribute of ["aria-labelledby", "aria-describedby", "aria-controls"]) {
      for (const id of (node.getAttribute(attribute) ?? "").split(" ").filter(Boolean)) {
        if (!document.getElementById(id)) wrong.push(`${attribute} names nothing: ${id}`);
      }
    }
  }
  if (document.querySelectorAll("h1").length !== 1) wrong.push("not one h1");
  if (document.querySelectorAll("main").length !== 1) wrong.push("not one main");

  // --- contrast ----------------------------------------------------------------------------------------------------
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = (front, back) => [0, 1, 2].map((i) => front[i] * front[3] + back[i] * (1 - front[3])).concat(1);
  const groundOf = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) {
      const color = rgba(getComputedStyle(at).backgroundColor);
      if (color[3]) layers.push(color);
      if (color[3] === 1) break;
    }
    return layers.reverse().reduce((back, front) => over(front, back), [255, 255, 255, 1]);
  };
  const luminance = (color) => [0, 1, 2].reduce((sum, i) => {
    const part = color[i] / 255;
    return sum + [0.2126, 0.7152, 0.0722][i] * (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  }, 0);
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !shown(node) || node.closest(".unseen, .skip, :disabled, noscript")) continue;
    const ground = groundOf(node);
    const text = over(rgba(getComputedStyle(node).color), ground);
    const [low, high] = [luminance(text), luminance(ground)].sort((one, other) => one - other);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < 4.5) wrong.push(`contrast ${contrast.toFixed(2)}: ${describe(node)}`);
  }
  return [...new Set(wrong)];
}
