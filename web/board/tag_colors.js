// The color of a tag, one of twelve, computed from its name: the same on every page.

const COLORS = 12;

/** The hue of a tag's color, in degrees. */
export function hueOf(tag) {
  let sum = 0;
  for (const char of tag.toLowerCase()) sum = (sum * 31 + char.codePointAt(0)) >>> 0;
  return (sum % COLORS) * (360 / COLORS);
}
