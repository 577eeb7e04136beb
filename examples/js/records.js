// Report one of several views of each record: fresh reports, or permanent ones from a key. For node and browsers.
//
// A record is a table with a text for each attribute. Nobody draws a second view of one. The promise of the file is not
// proved here but for the caps of views; as in report.js, nothing runs in constant time.

import { Bins } from "./bins.js";
import { blake2b } from "./blake2b.js";
import { check, checkAttribute, checkIds, checkLabel, checkLabels, InputError } from "./checks.js";
import { isTable, isWhole, parsed, RecordError } from "./checks.js";
import { Mechanism } from "./report.js";
import { normal, Windows } from "./windows.js";
import { cumulated, firstAbove, firstBits, joined, numberBytes, secureBytes, sha256, textBytes, Words } from "./words.js";

const SCHEMA = "mechdesign/records/1";
const MOST = { bits: 52, views: 1_000 };
const JOINT = " & "; // between the labels of several attributes
const encoder = new TextEncoder();
const FORMAT = encoder.encode("mechdesign/records/fingerprint/1");
const PART = textBytes("mechdesign/records/part/1");
const DRAW = encoder.encode("mechdesign-view1");

export class Records {
  // From the bytes of a file of views of records. Its promise is not proved: run `mechdesign verify` before.
  static async read(bytes, name = "the mechanism") {
    return Records.of(parsed(bytes), name);
  }

  // From what JSON.parse made of such a file.
  static async of(table, name = "the mechanism") {
    check(isTable(table) && table.schema === SCHEMA, `its schema is not ${SCHEMA}`);
    const { weight_bits: bits, parts, bins } = table;
    check(isWhole(bits, 1, MOST.bits), `weight_bits are not a whole number from 1 to ${MOST.bits}`);
    check(Array.isArray(parts) && isWhole(parts.length, 1, MOST.views), "there are no views, or too many");
    const views = [];
    for (const part of parts) views.push(await checkedView(part, `view ${views.length + 1}`, 2 ** bits));
    return new Records(name, bits, views, bins ?? {});
  }

  constructor(name, bits, views, bins) {
    this.name = name;
    this.bits = bits;
    this.views = views;
    checkLabels(views.map((view) => view.name), "names of views");
    const shown = views.map(({ attributes }) => JSON.stringify([...attributes].sort()));
    check(new Set(shown).size === shown.length, "two views show the same attributes");
    views.forEach((view) => checkAlone(view, views));
    this.sums = cumulated(views.map(({ weight }) => weight));
    check(this.sums[views.length - 1] === 2 ** bits, "the weights do not sum to 2^weight_bits");
    this.attributes = [...new Set(views.flatMap((view) => view.attributes))];
    this.bins = checkedBins(bins, views);
  }

  // A pair of the name of a view and a report for each record. `fill` fills an array with random bytes.
  async freshReports(records, fill = secureBytes) {
    const symbols = this.symbols(records);
    const words = new Words(fill, 2 * records.length);
    return symbols.map((those) => {
      const at = this.viewAt(words.next());
      const { name, mechanism, first } = this.views[at];
      if (first === null) return [name, mechanism.outputAt(those[at], words.next())];
      words.needed += mechanism.words - 1;
      return [name, String(first + mechanism.windowOf(those[at], (_, limit) => words.below(limit)))];
    });
  }

  // A pair of the name of a view and a report for each pair of an id, which is a string, and a record. The key is 32
  // bytes. The view follows from the key and the id alone.
  async permanentReports(key, records, attribute = "") {
    checkAttribute(attribute);
    const symbols = this.symbols(records.map(([, record]) => record));
    checkIds(records);
    const start = joined([await this.fingerprint(), textBytes(attribute)]);
    const starts = await Promise.all(this.views.map((view) => startOf(view, attribute)));
    return records.map(([id], i) => {
      const bytes = encoder.encode(id);
      const at = this.viewAt(blake2b(joined([start, bytes]), 8, DRAW, key));
      const { name, mechanism, first } = this.views[at];
      if (first === null) return [name, mechanism.permanentReport(key, starts[at], id, symbols[i][at])];
      return [name, String(first + mechanism.permanentWindow(key, starts[at], symbols[i][at], bytes))];
    });
  }

  // The SHA-256 hash of what reports depend on.
  async fingerprint() {
    const parts = [FORMAT, numberBytes(this.bits), numberBytes(this.bins.size)];
    for (const name of [...this.bins.keys()].sort(byLetters)) {
      const { edges } = this.bins.get(name);
      parts.push(textBytes(name), numberBytes(edges.length), ...edges.map(doubleBytes));
    }
    parts.push(numberBytes(this.views.length));
    for (const { name, attributes, weight, mechanism } of this.views) {
      parts.push(textBytes(name), numberBytes(attributes.length), ...attributes.map(textBytes), numberBytes(weight));
      parts.push(await mechanism.fingerprint());
    }
    const merging = this.views.filter(({ merged }) => merged !== null);
    if (merging.length > 0) parts.push(numberBytes(merging.length));
    for (const view of merging) parts.push(numberBytes(this.views.indexOf(view)), textBytes(view.merged));
    return sha256(parts);
  }

  // What each view shows of each record: nothing is drawn before every view is found to know the last record.
  symbols(records) {
    return records.map((record, position) => {
      const labels = new Map(this.attributes.map((name) => [name, this.labelOf(record, name, position)]));
      return this.views.map((view) => {
        const own = view.attributes.map((name) => labels.get(name));
        const symbol = view.first === null ? symbolOf(view, own) : normal(own[0], view.mechanism.form);
        if (symbol !== null) return symbol;
        const told = [own.join(JOINT), view.name].map((text) => JSON.stringify(text));
        throw new RecordError(position, told.join(" is not an input of the view "));
      });
    });
  }

  labelOf(record, name, position) {
    const text = isTable(record) && Object.hasOwn(record, name) ? record[name] : null;
    if (typeof text !== "string") throw new RecordError(position, `there is no text for ${JSON.stringify(name)}`);
    return this.bins.get(name)?.labelOf(text) ?? text;
  }

  // The index of the first view whose cumulated weight exceeds the first bits of a word.
  viewAt(word) {
    return firstAbove(this.sums, firstBits(word, this.bits));
  }
}

// A view; `first` is the number of the first report of windows, and null for a matrix.
async function checkedView(part, place, most) {
  check(isTable(part), `${place} is not a table`);
  const { name, attributes, weight, merged } = part;
  checkLabel(name, `the name of ${place}`);
  checkLabels(attributes, `attributes of ${place}`);
  check(isWhole(weight, 1, most), `the weight of ${place} is not a whole number from 1 to ${most}`);
  const mechanism = await mechanismOf(part, place);
  const view = { name, attributes: [...attributes], weight, mechanism, merged: merged ?? null, first: null };
  if (mechanism instanceof Windows) {
    check(attributes.length === 1 && view.merged === null, `${place} is of windows, and shows several attributes or merges`);
    return { ...view, first: await mechanism.first() };
  }
  const mergesInput = attributes.length > 1 && mechanism.cumulative.has(merged);
  check(view.merged === null || mergesInput, `${place} merges into what is no input of several attributes`);
  if (attributes.length > 1) mechanism.inputs.forEach((label) => checkCombination(label, attributes.length, place));
  const own = (view.merged ?? "").split(JOINT);
  const shares = (label) => label !== merged && label.split(JOINT).some((part, i) => part === own[i]);
  check(view.merged === null || !mechanism.inputs.some(shares), `${place} merges into an input that shares a label with another`);
  return { ...view, labels: view.attributes.map((attribute) => new Set(labelsIn(view, attribute))) };
}

async function mechanismOf({ mechanism }, place) {
  try {
    const isOpen = isTable(mechanism) && String(mechanism.schema).startsWith("mechdesign/windows/");
    return isOpen ? await Windows.of(mechanism, place) : new Mechanism(mechanism, place);
  } catch (error) {
    if (error instanceof InputError) throw new InputError(`${place}: ${error.message}`);
    throw error;
  }
}

// Checks that a view of windows, or one that merges combinations, shares no attribute with another.
function checkAlone(view, views) {
  if (view.first === null && view.merged === null) return;
  const others = views.filter((other) => other !== view && other.attributes.some((name) => view.attributes.includes(name)));
  check(others.length === 0, `the view ${JSON.stringify(view.name)} shares an attribute with another`);
}

// The input for labels; null where the view does not know them.
function symbolOf({ mechanism, merged, labels }, own) {
  const symbol = own.join(JOINT);
  if (mechanism.cumulative.has(symbol)) return symbol;
  return own.every((label, i) => labels[i].has(label)) ? merged : null;
}

// Checks that a label is made of so many, in one way.
function checkCombination(label, count, place) {
  const parts = label.split(JOINT);
  check(parts.length === count, `${place}: an input is not made of ${count} labels`);
  for (const part of parts) {
    checkLabel(part, `${place}, a label in an input`);
    check(!` ${part} `.includes(JOINT), `${place}: an input can be read in two ways`);
  }
}

// Checks that every bin is the label of an attribute in some view.
function checkedBins(bins, views) {
  check(isTable(bins), "the bins are not a table");
  const made = Object.entries(bins).map(([name, edges]) => [name, new Bins(edges, `bins of ${JSON.stringify(name)}`)]);
  for (const [name, { labels }] of made) {
    const known = new Set(views.flatMap((view) => labelsIn(view, name)));
    check(labels.every((label) => known.has(label)), `no view has all labels of the bins of ${JSON.stringify(name)}`);
  }
  return new Map(made);
}

// The labels of an attribute in the inputs of a view.
function labelsIn({ attributes, mechanism, first }, name) {
  const at = attributes.indexOf(name);
  if (at < 0 || first !== null) return [];
  return attributes.length === 1 ? mechanism.inputs : mechanism.inputs.map((label) => label.split(JOINT)[at]);
}

// What is hashed for a permanent report of a view before the label.
async function startOf({ name, mechanism }, attribute) {
  const print = await sha256([PART, await mechanism.fingerprint(), textBytes(name)]);
  return joined([print, textBytes(attribute)]);
}

function doubleBytes(value) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value, true);
  return new Uint8Array(view.buffer);
}

// The order of texts by their code points, unlike that of strings here, which is by halves of pairs.
function byLetters(one, other) {
  const [a, b] = [one, other].map((text) => Array.from(text, (letter) => letter.codePointAt(0)));
  const at = a.findIndex((point, i) => point !== b[i]);
  return at < 0 ? a.length - b.length : a[at] - (b[at] ?? -1);
}
