// Whether a word matches a text, even if it is incomplete, abbreviated or has one wrong letter. Pure.

const LONG_ENOUGH = 4; // letters that a word needs for one wrong letter to be allowed

/** Both in lower case. `flt` and `filetr` are found in `filter tasks`, `tasks fil` is not a word. */
export function hasWord(text, word) {
  if (text.includes(word)) return true;
  if (word.length < 3 || /\d/.test(word)) return false; // a different number is a different thing
  return text.split(/[^\p{L}\p{N}]+/u).some((other) => isShortFor(other, word) || (word.length >= LONG_ENOUGH && isAlmost(other, word)));
}

/** Whether the letters of `word` are in `other` in that order, the first at its beginning. */
function isShortFor(other, word) {
  if (other[0] !== word[0]) return false;
  let at = 0;
  for (const letter of other) if (letter === word[at]) at += 1;
  return at === word.length;
}

/** Whether `other` begins with `word`, except for one letter that is wrong, missing, extra, or swapped with the next. */
function isAlmost(other, word) {
  let at = 0;
  while (at < word.length && other[at] === word[at]) at += 1;
  const rest = word.slice(at + 1);
  return other.startsWith(rest, at + 1) // a wrong one
    || other.startsWith(rest, at) // an extra one
    || other.startsWith(word.slice(at), at + 1) // a missing one
    || (other[at] === word[at + 1] && other[at + 1] === word[at] && other.startsWith(word.slice(at + 2), at + 2));
}
