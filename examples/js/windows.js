// Report any strings through a file of windows: fresh reports, or permanent ones from a key. For node and browsers.
//
// The windows are read as `mechdesign verify` proves them, which is to be run before. Strings are brought to the normal
// form that the file names. As in report.js, nothing here runs in constant time.

import { blake2b } from "./blake2b.js";
import { check, checkAttribute, checkIds, isTable, isText, isWhole, parsed, RecordError, SPACE } from "./checks.js";
import { firstAbove, isBelow, joined, numberBytes, ofHalves, secureBytes, sha256, textBytes, Words } from "./words.js";

const SCHEMA = "mechdesign/windows/1";
const FORMAT = "mechdesign/windows/fingerprint/1";
export const FORMS = ["nfc", "nfc-casefold"];
const MOST = { seeds: 100_000, buckets: 2 ** 16, cells: 2 ** 27, heavy: 200, units: 2 ** 31, master: 1_000, string: 1_000_000 };
const FLOOR_BITS = 60n;
const FIRST = 2 ** 52; // of the numbers of reports
const encoder = new TextEncoder();
const HASH = encoder.encode("windows1");
const KEYED = encoder.encode("mechdesign-key-w");
const ENDS = new RegExp(`^${SPACE}+|${SPACE}+$`, "gu");
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const CHEROKEE = /[\u13a0-\u13f5\u13f8-\u13fd\uab70-\uabbf]/; // folded to capitals, unlike all other letters

// What reports about any strings have in common. Other classes say which window a string reports, and by how many words.
export class StringReports {
  // One fresh report for each string. `fill` fills an array with random bytes.
  async freshReports(strings, fill = secureBytes) {
    const found = this.normals(strings);
    const first = await this.first();
    const words = new Words(fill, this.words * found.length);
    return found.map((string) => String(first + this.windowOf(string, (_, limit) => words.below(limit))));
  }

  // One permanent report for each pair of an id, which is a string, and a string. The key is 32 bytes.
  async permanentReports(key, records, attribute = "") {
    checkAttribute(attribute);
    const found = this.normals(records.map(([, string]) => string));
    checkIds(records);
    const start = await this.startOf(attribute);
    const first = await this.first();
    return records.map(([id], i) => String(first + this.permanentWindow(key, start, found[i], encoder.encode(id))));
  }

  // The normal forms of all strings: nothing is reported before the last one is found to be text.
  normals(strings) {
    return strings.map((string, position) => {
      const found = normal(string, this.form);
      if (found === null) throw new RecordError(position, "it is empty, too long, or not text");
      return found;
    });
  }

  // The number of the first report: 2^52, and the first 20 bits of the fingerprint times 2^32.
  async first() {
    const [a, b, c] = await this.fingerprint();
    return FIRST + (a * 2 ** 12 + b * 2 ** 4 + (c >> 4)) * 2 ** 32;
  }
}

export class Windows extends StringReports {
  // From the bytes of a file of windows. What it promises is not proved: run `mechdesign verify` before.
  static async read(bytes, name = "the mechanism") {
    return Windows.of(parsed(bytes), name);
  }

  // From what JSON.parse made of such a file.
  static async of(table, name = "the mechanism") {
    check(isTable(table) && table.schema === SCHEMA, `its schema is not ${SCHEMA}`);
    const { master, seeds, buckets, form, heavy, windows } = table;
    check(isText(master) && [...master].length <= MOST.master, "the master word is not text");
    check(isWhole(seeds, 1, MOST.seeds) && isWhole(buckets, 2, MOST.buckets), "seeds or buckets are not whole numbers in range");
    check(seeds * buckets <= MOST.cells, "there are too many seeds and buckets");
    check(FORMS.includes(form), `the form is not ${FORMS.join(" or ")}`);
    check(isTable(windows), "the windows are missing");
    const counts = (await unpacked(windows.counts, seeds, "counts")).map((count) => count + 1);
    const starts = await unpacked(windows.starts, seeds, "starts");
    const total = counts.reduce((sum, count) => sum + count, 0);
    const lengths = (await unpacked(windows.lengths, total, "lengths")).map((length) => length + 1);
    const facts = { name, master: encoder.encode(master), buckets, form, floor: checkedFloor(table) };
    return new Windows(facts, checkedHeavy(heavy ?? null, seeds), walks(counts, starts, lengths, buckets));
  }

  constructor(facts, heavy, windows) {
    super();
    Object.assign(this, facts); // name, master, buckets, form, floor
    this.heavy = heavy;
    this.windows = windows;
    this.words = this.floor > 0n ? 4 : 3; // of each fresh report
    this.circles = new Array(windows.length); // made when a report first needs them
  }

  // How many windows there are.
  get size() {
    const { before, ends } = this.windows[this.windows.length - 1];
    return before + ends.length;
  }

  // The SHA-256 hash of what reports depend on.
  fingerprint() {
    const facts = [this.windows.length, this.buckets, this.floor].map(numberBytes);
    const parts = [encoder.encode(FORMAT), numberBytes(this.master.length), this.master, textBytes(this.form), ...facts];
    if (this.heavy !== null) {
      const { strings, units, light, oneLayer } = this.heavy;
      parts.push(...strings.map(textBytes), ...[...units, strings.length, light, oneLayer].map(numberBytes));
    }
    parts.push(manyNumbers(this.windows.map(({ ends }) => ends.length)));
    for (const { ends, start } of this.windows) parts.push(manyNumbers([...ends, start]));
    return sha256(parts);
  }

  // What is hashed for a permanent report before the string.
  async startOf(attribute) {
    return joined([await this.fingerprint(), textBytes(attribute)]);
  }

  permanentWindow(key, start, string, id) {
    const print = printOf(string);
    return drawnByHash(key, joined([start, numberBytes(print)]), id, (draw) => this.windowAt(print, draw));
  }

  windowOf(string, draw) {
    return this.windowAt(printOf(string), draw);
  }

  // The number of the window that a string of this fingerprint reports. `draw` gives uniform numbers below a limit: draw 0 for the floor,
  // 1 for the seed, 2 for the unit and 3 for the round.
  windowAt(print, draw) {
    const isUniform = this.floor > 0n && draw(0, 1n << FLOOR_BITS) < this.floor;
    const seed = Number(draw(1, this.windows.length));
    const index = this.heavy === null ? -1 : (this.heavy.places.get(print) ?? -1);
    const unit = draw(2, index < 0 ? 1 : this.heavy.units[index]);
    const { ends, start, before } = this.windows[seed];
    const buckets = this.buckets;
    if (isUniform) return before + Number(draw(3, ends.length));
    const bucket = index < 0 ? this.lightBucket(seed, print) : this.heavyBucket(seed, index, unit);
    const round = Number(draw(3, ends[ends.length - 1] / buckets));
    const place = ((bucket - start + buckets) % buckets) + round * buckets;
    return before + firstAbove(ends, place);
  }

  lightBucket(seed, print) {
    const { words, above, shifts, size } = this.circle(seed);
    const place = placeOf(words, print);
    if (above === null) return Number(scaled(place, this.buckets));
    const point = scaled(place, this.heavy.light);
    return Number(((point + shifts[firstAbove(above, point)]) * BigInt(this.buckets)) / size);
  }

  heavyBucket(seed, index, unit) {
    const { firsts, size } = this.circle(seed);
    return Number((((firsts[index] + unit) % size) * BigInt(this.buckets)) / size);
  }

  // Where a seed puts strings: its words; the first unit of each heavy string on a circle of `size` units; and for one
  // layer the points at which arcs are put in, and by how much they shift the points after them.
  circle(seed) {
    return (this.circles[seed] ??= this.madeCircle(seed));
  }

  madeCircle(seed) {
    const hash = blake2b(joined([this.master, numberBytes(seed)]), 16, HASH);
    const words = [wordAt(hash, 0) | 1n, wordAt(hash, 1)];
    if (this.heavy === null) return { words, above: null };
    const { prints, units, light, oneLayer } = this.heavy;
    const places = prints.map((print) => placeOf(words, print));
    const order = [...prints.keys()].sort((i, j) => (places[i] < places[j] ? -1 : places[i] > places[j] ? 1 : i - j));
    const total = units.reduce((sum, each) => sum + BigInt(each), 0n);
    const isOne = seed < oneLayer;
    const above = isOne ? order.map((i) => scaled(places[i], light)) : null;
    const shifts = [0n];
    const firsts = new Array(order.length);
    const turn = (words[1] >> 17n) % total;
    order.forEach((i, k) => {
      firsts[i] = isOne ? above[k] + shifts[k] : (shifts[k] + turn) % total;
      shifts.push(shifts[k] + BigInt(units[i]));
    });
    return { words, firsts, above, shifts, size: isOne ? total + BigInt(light) : total };
  }
}

// The normal form of a string; null for what is not text, is empty, or is too long.
export function normal(string, form) {
  if (!isText(string) || (string.length > MOST.string && [...string].length > MOST.string)) return null;
  const plain = string.normalize("NFC").replace(ENDS, "");
  const found = form === "nfc" ? plain : Array.from(plain, folded).join("").normalize("NFC");
  return found === "" ? null : found;
}

// The full case folding of a letter: the small letters of its capitals, but for the dotless i and for Cherokee.
function folded(letter) {
  if (letter === "\u0131") return letter;
  if (CHEROKEE.test(letter)) return letter.toUpperCase();
  const small = (text) => Array.from(text, (each) => each.toLowerCase()).join("");
  return small(small(letter).toUpperCase());
}

// What is drawn by a hash of what stands before a counter and the id: words are taken again while one is not uniform.
export function drawnByHash(key, before, id, drawn) {
  for (let counter = 0; ; counter++) {
    const hash = blake2b(joined([before, numberBytes(counter), id]), 32, KEYED, key);
    let isUniform = true;
    const found = drawn((which, limit) => {
      const word = wordAt(hash, which);
      isUniform &&= isBelow(word, BigInt(limit));
      return word % BigInt(limit);
    });
    if (isUniform) return found;
  }
}

function wordAt(words, i) {
  return ofHalves(words.subarray(2 * i));
}

function printOf(string) {
  return wordAt(blake2b(encoder.encode(string), 8, HASH), 0);
}

function placeOf([factor, summand], print) {
  let place = BigInt.asUintN(64, factor * print + summand);
  place ^= place >> 33n;
  return BigInt.asUintN(64, place * 0xff51afd7ed558ccdn);
}

function scaled(place, size) {
  return ((place >> 32n) * BigInt(size)) >> 32n;
}

// The probability of a uniform window, in units of 2^-60; 0 without a cap.
function checkedFloor({ cap, floor }) {
  const isCapped = (cap ?? null) !== null;
  check(isCapped === ((floor ?? null) !== null), "it has a cap without a floor, or a floor without a cap");
  if (!isCapped) return 0n;
  check(typeof floor === "string" && /^[1-9][0-9]{0,18}$/.test(floor), "the floor is not a whole number, as text");
  check(BigInt(floor) <= 1n << FLOOR_BITS, "the floor is above 2^60");
  return BigInt(floor);
}

function checkedHeavy(heavy, seeds) {
  if (heavy === null) return null;
  check(isTable(heavy), "heavy is not a table");
  const { strings, units, light_units: light, one_layer: oneLayer } = heavy;
  check(Array.isArray(strings) && isWhole(strings.length, 1, MOST.heavy), "there are no heavy strings, or too many");
  check(strings.every((string) => isText(string) && string !== ""), "a heavy string is not text");
  check(new Set(strings).size === strings.length, "a heavy string occurs twice");
  check(Array.isArray(units) && units.length === strings.length, "there are not units for each heavy string");
  check(units.every((each) => isWhole(each, 1, MOST.units)), "units are not whole numbers in range");
  check(isWhole(light, 1, 2 * MOST.units) && isWhole(oneLayer, 1, seeds), "light_units or one_layer are out of range");
  const prints = strings.map(printOf);
  return { strings, units, light, oneLayer, prints, places: new Map(prints.map((print, i) => [print, i])) };
}

// The windows of each seed: where the first begins, where each ends from there, and how many the seeds before have.
function walks(counts, starts, lengths, buckets) {
  let before = 0;
  return counts.map((count, seed) => {
    check(count <= buckets && starts[seed] < buckets, `seed ${seed}: a number is above the number of buckets`);
    let end = 0;
    const ends = Float64Array.from(lengths.slice(before, before + count), (length) => {
      check(length <= buckets, `seed ${seed}: a window is longer than the circle`);
      return (end += length);
    });
    check(end % buckets === 0, `seed ${seed}: the windows do not go round the circle a whole number of times`);
    before += count;
    return { start: starts[seed], ends, before: before - count };
  });
}

// So many numbers of 16 bits, the lowest byte first, compressed with zlib and written in base64.
async function unpacked(text, size, name) {
  check(typeof text === "string" && text.length % 4 === 0 && BASE64.test(text), `windows.${name} is not text in base64`);
  const content = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const reader = new Blob([content]).stream().pipeThrough(new DecompressionStream("deflate")).getReader();
  const parts = [];
  let found = 0;
  for (;;) {
    let part;
    try {
      part = await reader.read();
    } catch {
      check(false, `windows.${name} is damaged`);
    }
    if (part.done) break;
    parts.push(part.value);
    found += part.value.length;
    if (found > 2 * size) await reader.cancel();
    check(found <= 2 * size, `windows.${name} does not hold ${size} numbers`);
  }
  check(found === 2 * size, `windows.${name} does not hold ${size} numbers`);
  const view = new DataView(joined(parts).buffer);
  return Array.from({ length: size }, (_, i) => view.getUint16(2 * i, true));
}

function manyNumbers(values) {
  const view = new DataView(new ArrayBuffer(8 * values.length));
  values.forEach((value, i) => view.setBigUint64(8 * i, BigInt(value), true));
  return new Uint8Array(view.buffer);
}
