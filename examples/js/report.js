// Report labels through an exported mechanism: fresh reports, or permanent ones from a key. For node and browsers.
//
// The probabilities are precisely those that `mechdesign verify` proves: numerators and their sums are at most 2^52, so
// they are exact as doubles. `fingerprint` and `permanentReports` need crypto.subtle, which in a browser pages from
// https have. None of this runs in constant time: who can time it may learn what it reports.

import { keyedHash } from "./blake2b.js";

// The second adds a promise to the guarantee; sampling is the same.
const SCHEMAS = ["mechdesign/mechanism/1", "mechdesign/mechanism/2"];
const MOST_BITS = 52;
const WORD_BYTES = 8; // of the random bytes that each report takes
export const BLOCK = 8192; // records at a time, for which browsers give random bytes at once
export const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const BARE = new RegExp(`^$|^${SPACE}|${SPACE}$|\\p{Surrogate}`, "u"); // halves of pairs have no UTF-8
const CONTROL = /[\x00-\x1f\x7f-\x9f]/;
const KEY_FILE = /^mechdesign-key-1 ([0-9a-f]{64})(?:\r?\n)?$/;

const encoder = new TextEncoder();

// What is wrong with a mechanism file, a key file or an argument.
export class InputError extends Error {}

// A record that is refused, by its position from 0. Nothing was reported.
export class RecordError extends Error {
  constructor(position, message) {
    super(message);
    this.position = position;
  }
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

export class Mechanism {
  // From the bytes of a mechanism file. Its guarantee is not proved: run `mechdesign verify` before.
  static read(bytes, name = "the mechanism") {
    return new Mechanism(parsed(bytes), name);
  }

  constructor(table, name = "the mechanism") {
    check(isTable(table), "it is not a table");
    const { schema, inputs, outputs, bits, numerators } = table;
    check(SCHEMAS.includes(schema), `its schema is not ${SCHEMAS.join(" or ")}`);
    checkLabels(inputs, "inputs");
    checkLabels(outputs, "outputs");
    check(Number.isInteger(bits) && bits >= 1 && bits <= MOST_BITS, `bits are not a whole number from 1 to ${MOST_BITS}`);
    check(Array.isArray(numerators) && numerators.length === inputs.length, "there is not one row for each input");
    this.name = name;
    this.inputs = [...inputs];
    this.outputs = [...outputs];
    this.bits = bits;
    this.numerators = numerators.map((row, i) => checkedRow(row, i, outputs.length, 2 ** bits));
    const lacking = outputs.findIndex((_, k) => this.numerators.every((row) => row[k] === 0));
    check(lacking < 0, `output ${lacking + 1} is never reported`);
    this.cumulative = new Map(this.inputs.map((label, i) => [label, cumulated(this.numerators[i])]));
  }

  // One fresh report for each label. `fill` fills an array with random bytes: 8 for each label, in their order.
  freshReports(labels, fill = (bytes) => globalThis.crypto.getRandomValues(bytes)) {
    this.checkLabels(labels);
    const reports = [];
    for (let start = 0; start < labels.length; start += BLOCK) {
      const block = labels.slice(start, start + BLOCK);
      const bytes = new Uint8Array(WORD_BYTES * block.length);
      fill(bytes);
      const view = new DataView(bytes.buffer);
      block.forEach((label, i) => {
        const words = [view.getUint32(WORD_BYTES * i, true), view.getUint32(WORD_BYTES * i + 4, true)];
        reports.push(this.outputAt(label, words));
      });
    }
    return reports;
  }

  // One permanent report for each pair of an id, which is a string, and a label. The key is 32 bytes.
  async permanentReports(key, records, attribute = "") {
    if (attribute !== "") checkLabel(attribute, "the attribute");
    this.checkLabels(records.map(([, label]) => label));
    checkIds(records);
    const start = joined([await this.fingerprint(), textBytes(attribute)]);
    const before = new Map(this.inputs.map((label) => [label, joined([start, textBytes(label)])]));
    return records.map(([id, label]) =>
      this.outputAt(label, keyedHash(key, joined([before.get(label), encoder.encode(id)]))),
    );
  }

  // The SHA-256 hash of what reports depend on.
  async fingerprint() {
    const labels = [this.inputs, this.outputs].map((names) => [numberBytes(names.length), ...names.map(textBytes)]);
    const numbers = [this.bits, ...this.numerators.flat()].map(numberBytes);
    const canonical = joined([encoder.encode("mechdesign/fingerprint/1"), ...labels.flat(), ...numbers]);
    return new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", canonical));
  }

  checkLabels(labels) {
    const unknown = labels.findIndex((label) => !this.cumulative.has(label));
    if (unknown >= 0) {
      throw new RecordError(unknown, `${JSON.stringify(labels[unknown])} is not an input of ${this.name}`);
    }
  }

  // The first output whose cumulative numerator exceeds the first bits of a word.
  outputAt(label, words) {
    const integer = firstBits(words, this.bits);
    const sums = this.cumulative.get(label);
    let low = 0;
    let high = sums.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (integer < sums[middle]) high = middle;
      else low = middle + 1;
    }
    return this.outputs[low];
  }
}

// The first `bits` bits of 64, which are two words of 32, the lower one first.
export function firstBits([low, high], bits) {
  return bits <= 32 ? high >>> (32 - bits) : high * 2 ** (bits - 32) + (low >>> (64 - bits));
}

// The 32 bytes of a key, from the bytes of a key file. No message shows any of them.
export function keyOf(bytes) {
  const found = KEY_FILE.exec(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  check(found !== null, "it is not a key file");
  return Uint8Array.from(found[1].match(/../g), (pair) => parseInt(pair, 16));
}

// Checks the ids of pairs of an id and a value, before anything is reported.
export function checkIds(records) {
  const refused = records.findIndex(([id]) => typeof id !== "string" || BARE.test(id));
  if (refused >= 0) throw new RecordError(refused, "the id is empty, not UTF-8, or has white space around it");
}

export function isTable(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function check(holds, message) {
  if (!holds) throw new InputError(message);
}

function checkLabels(labels, kind) {
  check(Array.isArray(labels) && labels.length > 0, `the ${kind} are not a list of labels`);
  labels.forEach((label, i) => checkLabel(label, `${kind}, label ${i + 1}`));
  check(new Set(labels).size === labels.length, `${kind}: a label occurs twice`);
}

export function checkLabel(label, place) {
  check(typeof label === "string", `${place}: it is not text`);
  check(!BARE.test(label), `${place}: it is empty, has white space around it, or has no UTF-8`);
  check(!CONTROL.test(label), `${place}: it holds a control character`);
}

function checkedRow(row, i, size, total) {
  check(Array.isArray(row) && row.length === size, `row ${i + 1} does not have one numerator for each output`);
  const fits = row.every((numerator) => Number.isInteger(numerator) && numerator >= 0 && numerator <= total);
  check(fits, `row ${i + 1} holds something else than whole numbers from 0 to ${total}`);
  check(row.reduce((sum, numerator) => sum + numerator, 0) === total, `row ${i + 1} does not sum to ${total}`);
  return [...row];
}

function cumulated(row) {
  let sum = 0;
  return row.map((numerator) => (sum += numerator));
}

// A number in 8 bytes, lowest first; a text as the number of its bytes in UTF-8, and these bytes.
export function numberBytes(value) {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(value), true);
  return new Uint8Array(view.buffer);
}

export function textBytes(text) {
  const bytes = encoder.encode(text);
  return joined([numberBytes(bytes.length), bytes]);
}

export function joined(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}
