// The page's icons: strokes on a grid of 16, in the color of the text around them.

const PATHS = {
  add: "M8 3v10M3 8h10",
  agent: "M8 2v2M4 5h8a1 1 0 0 1 1 1v6a1 1 0 0 1-1 1H4a1 1 0 0 1-1-1V6a1 1 0 0 1 1-1zM6 8.5v1M10 8.5v1",
  check: "M3 8.5l3.2 3.2L13 5",
  close: "M4 4l8 8M12 4l-8 8",
  code: "M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5",
  clock: "M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM8 4.500V8l2.500 1.500",
  edit: "M3 13l.6-2.8L10.8 3l2.2 2.2-7.2 7.2z",
  blocked: "M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0zM4 4l8 8",
  branch: "M5 5.500v5M5 5.500a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3zM5 13.500a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3zM11 5.500a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3zM11 5.500c0 3-6 2-6 5",
  comment: "M2.500 3.500h11v7.500H7l-3 2.500V11H2.500z",
  archive: "M2.500 3h11v3h-11zM3.500 6v7h9V6M6.500 8.500h3",
  bell: "M8 2.500a3.500 3.500 0 0 1 3.500 3.500c0 3.500 1.500 4.500 1.500 4.500H3s1.500-1 1.500-4.500A3.500 3.500 0 0 1 8 2.500zM6.700 12.800a1.500 1.500 0 0 0 2.600 0",
  fold: "M4.500 6.500L8 10l3.500-3.500",
  info: "M8 7.2V11.5M8 4.6v.2M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z",
  keyboard: "M2 4.5h12v7H2zM4.5 7h.1M7 7h.1M9.5 7h.1M11.8 7h.1M5 9.5h6",
  proof: "M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4zM5.800 8l1.600 1.600L10.300 6.500",
  link: "M6.5 9.5l3-3M7 4.8l1.2-1.2a2.8 2.8 0 0 1 4 4L11 8.8M9 11.2l-1.2 1.2a2.8 2.8 0 0 1-4-4L5 7.2",
  menu: "M2.5 4.5h11M2.5 8h11M2.5 11.5h11",
  more: "M3.5 8h.1M8 8h.1M12.5 8h.1",
  panel: "M2.5 3h11v10h-11zM10 3v10",
  question: "M6 6.2a2 2 0 1 1 2.9 1.8c-.6.3-.9.7-.9 1.4M8 11.6v.2M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z",
  search: "M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.4 10.4L14 14",
  success: "M5.2 8.2l2 2 3.6-4M14 8A6 6 0 1 1 2 8a6 6 0 0 1 12 0z",
  text: "M4 2.5h5.5L12.5 5.500V13.500H4zM6.500 8h4M6.500 10.500h4",
  trash: "M3 4.500h10M6.500 4.500V3h3v1.500M4.500 4.500l.5 8.500h6l.5-8.500",
  warning: "M8 2.500L14.300 13.300H1.700zM8 6.500v3.200M8 11.500v.1",
};

/** A decorative icon: its meaning must be in the text next to it, or in the name of its button. */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  for (const [attribute, value] of [["class", "icon"], ["viewBox", "0 0 16 16"], ["aria-hidden", "true"]]) {
    svg.setAttribute(attribute, value);
  }
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}
