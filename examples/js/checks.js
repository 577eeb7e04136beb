// What is refused, whatever kind of mechanism a file holds: files and arguments, labels, and ids of records.

export const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const BARE = new RegExp(`^$|^${SPACE}|${SPACE}$|\\p{Surrogate}`, "u"); // halves of pairs have no UTF-8
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;

// What is wrong with a mechanism file, a key file or an argument.
export class InputError extends Error {}

// A record that is refused, by its position from 0. Nothing was reported.
export class RecordError extends Error {
  constructor(position, message) {
    super(message);
    this.position = position;
  }
}

export function check(holds, message) {
  if (!holds) throw new InputError(message);
}

// The value that the bytes of a JSON file hold.
export function parsed(bytes) {
  let text;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes); // a mark at the start is skipped
  } catch {
    throw new InputError("it is not UTF-8");
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new InputError("it is not JSON");
  }
}

export function isTable(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isText(value) {
  return typeof value === "string" && !/\p{Surrogate}/u.test(value);
}

export function isWhole(value, low, high) {
  return Number.isInteger(value) && value >= low && value <= high;
}

export function checkLabels(labels, kind) {
  check(Array.isArray(labels) && labels.length > 0, `the ${kind} are not a list of labels`);
  labels.forEach((label, i) => checkLabel(label, `${kind}, label ${i + 1}`));
  check(new Set(labels).size === labels.length, `${kind}: a label occurs twice`);
}

export function checkLabel(label, place) {
  check(typeof label === "string", `${place}: it is not text`);
  check(!BARE.test(label), `${place}: it is empty, has white space around it, or has no UTF-8`);
  check(!CONTROL.test(label), `${place}: it holds a control character`);
}

// Checks the attribute of permanent reports: it is empty, or a label.
export function checkAttribute(attribute) {
  if (attribute !== "") checkLabel(attribute, "the attribute");
}

// Checks the ids of pairs of an id and a value, before anything is reported.
export function checkIds(records) {
  const refused = records.findIndex(([id]) => typeof id !== "string" || BARE.test(id));
  if (refused >= 0) throw new RecordError(refused, "the id is empty, not UTF-8, or has white space around it");
}
