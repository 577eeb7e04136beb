// Report labels through an exported mechanism: fresh reports, or permanent ones from a key. For node and browsers.
//
// The probabilities are precisely those that `mechdesign verify` proves: numerators and their sums are at most 2^52, so
// they are exact as doubles. `fingerprint` and `permanentReports` need crypto.subtle, which in a browser pages from
// https have. None of this runs in constant time: who can time it may learn what it reports.

import { keyedHash } from "./blake2b.js";
import { keepsCap } from "./cap.js";
import { check, checkAttribute, checkIds, checkLabels, isTable, isWhole, parsed, RecordError } from "./checks.js";
import { cumulated, firstAbove, firstBits, secureBytes, Words } from "./words.js";
import { joined, numberBytes, sha256, textBytes } from "./words.js";

export { InputError, RecordError } from "./checks.js";

// The second adds a promise to the guarantee; sampling is the same.
const SCHEMAS = ["mechdesign/mechanism/1", "mechdesign/mechanism/2"];
const MOST_BITS = 52;
const KEY_FILE = /^mechdesign-key-1 ([0-9a-f]{64})(?:\r?\n)?$/;

const encoder = new TextEncoder();

export class Mechanism {
  // From the bytes of a mechanism file. Of its guarantee the cap is proved alone: run `mechdesign verify` before.
  static read(bytes, name = "the mechanism") {
    return new Mechanism(parsed(bytes), name);
  }

  constructor(table, name = "the mechanism") {
    check(isTable(table), "it is not a table");
    const { schema, inputs, outputs, bits, numerators, guarantee } = table;
    check(SCHEMAS.includes(schema), `its schema is not ${SCHEMAS.join(" or ")}`);
    checkLabels(inputs, "inputs");
    checkLabels(outputs, "outputs");
    check(isWhole(bits, 1, MOST_BITS), `bits are not a whole number from 1 to ${MOST_BITS}`);
    check(Array.isArray(numerators) && numerators.length === inputs.length, "there is not one row for each input");
    this.name = name;
    this.inputs = [...inputs];
    this.outputs = [...outputs];
    this.bits = bits;
    this.numerators = numerators.map((row, i) => checkedRow(row, i, outputs.length, 2 ** bits));
    const lacking = outputs.findIndex((_, k) => this.numerators.every((row) => row[k] === 0));
    check(lacking < 0, `output ${lacking + 1} is never reported`);
    checkCap(schema, guarantee, this.numerators);
    this.cumulative = new Map(this.inputs.map((label, i) => [label, cumulated(this.numerators[i])]));
  }

  // One fresh report for each label. `fill` fills an array with random bytes: 8 for each label, in their order.
  freshReports(labels, fill = secureBytes) {
    this.checkInputs(labels);
    const words = new Words(fill, labels.length);
    return labels.map((label) => this.outputAt(label, words.next()));
  }

  // One permanent report for each pair of an id, which is a string, and a label. The key is 32 bytes.
  async permanentReports(key, records, attribute = "") {
    checkAttribute(attribute);
    this.checkInputs(records.map(([, label]) => label));
    checkIds(records);
    const start = joined([await this.fingerprint(), textBytes(attribute)]);
    return records.map(([id, label]) => this.permanentReport(key, start, id, label));
  }

  // A permanent report; `start` is what is hashed before the label.
  permanentReport(key, start, id, label) {
    return this.outputAt(label, keyedHash(key, joined([start, textBytes(label), encoder.encode(id)])));
  }

  // The SHA-256 hash of what reports depend on.
  fingerprint() {
    const labels = [this.inputs, this.outputs].map((names) => [numberBytes(names.length), ...names.map(textBytes)]);
    const numbers = [this.bits, ...this.numerators.flat()].map(numberBytes);
    return sha256([encoder.encode("mechdesign/fingerprint/1"), ...labels.flat(), ...numbers]);
  }

  checkInputs(labels) {
    const unknown = labels.findIndex((label) => !this.cumulative.has(label));
    if (unknown >= 0) {
      throw new RecordError(unknown, `${JSON.stringify(labels[unknown])} is not an input of ${this.name}`);
    }
  }

  // The first output whose cumulative numerator exceeds the first bits of a word.
  outputAt(label, words) {
    return this.outputs[firstAbove(this.cumulative.get(label), firstBits(words, this.bits))];
  }
}

// The 32 bytes of a key, from the bytes of a key file. No message shows any of them.
export function keyOf(bytes) {
  const found = KEY_FILE.exec(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  check(found !== null, "it is not a key file");
  return Uint8Array.from(found[1].match(/../g), (pair) => parseInt(pair, 16));
}

function checkedRow(row, i, size, total) {
  check(Array.isArray(row) && row.length === size, `row ${i + 1} does not have one numerator for each output`);
  const fits = row.every((numerator) => isWhole(numerator, 0, total));
  check(fits, `row ${i + 1} holds something else than whole numbers from 0 to ${total}`);
  check(row.reduce((sum, numerator) => sum + numerator, 0) === total, `row ${i + 1} does not sum to ${total}`);
  return [...row];
}

// Proves the cap of a guarantee that has one; what else it promises is left to `mechdesign verify`.
function checkCap(schema, guarantee, rows) {
  const { cap, lower } = isTable(guarantee) ? guarantee : {};
  if ((cap ?? null) === null) return;
  check(schema === SCHEMAS[1] && (lower ?? null) === null, "it has a cap in the first schema, or beside lower");
  const isKept = keepsCap(cap, rows);
  check(isKept !== null, `its cap is not text of a number from 0 to 700, or of log(9/8)`);
  check(isKept, `its cap is false: an output is likelier by more than exp(${cap}) given one input than given another`);
}
