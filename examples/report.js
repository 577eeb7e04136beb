// Report labels through an exported mechanism: with nothing but node, or in a browser.
//
// node report.js mechanism.json < labels > reports
// node report.js mechanism.json KEY [ATTRIBUTE] < lines > reports
//
// The first reads one label a line, in UTF-8, and draws fresh reports. The second draws permanent reports from the key
// file KEY, which `mechdesign key` makes: it reads an id, a tab and a label on each line, and the same id and label
// always get the same report, which is that of `mechdesign privatize --key-file`. The probabilities are precisely those
// that `mechdesign verify` proves: numerators and their sums are at most 2^52, so they are exact as doubles.
//
// In a browser the functions `freshReports` and `permanentReports` take the parsed mechanism; the latter needs a page
// from https, where crypto.subtle is. None of this runs in constant time: who can time it may learn what it reports.
"use strict";

const webCrypto = globalThis.crypto ?? require("node:crypto").webcrypto;

// The second adds a promise to the guarantee; sampling is the same.
const SCHEMAS = ["mechdesign/mechanism/1", "mechdesign/mechanism/2"];

// Sampling

// The cumulative numerators of each input, or null if this is not a mechanism.
function cumulativeRows({ schema, inputs, bits, numerators }) {
  const rows = numerators.map((row) => {
    let sum = 0;
    return row.map((numerator) => (sum += numerator));
  });
  if (!SCHEMAS.includes(schema) || rows.some((row) => row[row.length - 1] !== 2 ** bits)) return null;
  return new Map(inputs.map((label, i) => [label, rows[i]]));
}

// The first output whose cumulative numerator exceeds a uniform integer of `bits` bits.
function outputAt(mechanism, sums, uniform) {
  return mechanism.outputs[sums.findIndex((sum) => uniform < sum)];
}

// The first `bits` bits of 64, which are two words of 32, the lower one first.
function firstBits([low, high], bits) {
  return bits <= 32 ? high >>> (32 - bits) : high * 2 ** (bits - 32) + (low >>> (64 - bits));
}

// One fresh report for each label.
function freshReports(mechanism, labels) {
  const cumulative = cumulativeRows(mechanism);
  return labels.map((label) => {
    const words = webCrypto.getRandomValues(new Uint32Array(2));
    return outputAt(mechanism, cumulative.get(label), firstBits(words, mechanism.bits));
  });
}

// Permanent reports

const encoder = new TextEncoder();

// A number in 8 bytes, lowest first; a text as the number of its bytes in UTF-8, and these bytes.
function numberBytes(value) {
  const bytes = new Uint8Array(8);
  for (let i = 0; i < 8; i++, value = Math.floor(value / 256)) bytes[i] = value % 256;
  return bytes;
}

function textBytes(text) {
  const bytes = encoder.encode(text);
  return joined([numberBytes(bytes.length), bytes]);
}

function joined(parts) {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}

// The SHA-256 hash of what reports depend on.
async function fingerprint({ inputs, outputs, bits, numerators }) {
  const labels = [inputs, outputs].map((names) => [numberBytes(names.length), ...names.map(textBytes)]);
  const numbers = [bits, ...numerators.flat()].map(numberBytes);
  const canonical = joined([encoder.encode("mechdesign/fingerprint/1"), ...labels.flat(), ...numbers]);
  return new Uint8Array(await webCrypto.subtle.digest("SHA-256", canonical));
}

// One report for each pair of an id, which is a string, and a label. The key is 32 bytes.
async function permanentReports(mechanism, key, records, attribute = "") {
  const cumulative = cumulativeRows(mechanism);
  const start = joined([await fingerprint(mechanism), textBytes(attribute)]);
  const before = new Map(mechanism.inputs.map((label) => [label, joined([start, textBytes(label)])]));
  return records.map(([id, label]) => {
    const words = keyedHash(key, joined([before.get(label), encoder.encode(id)]));
    return outputAt(mechanism, cumulative.get(label), firstBits(words, mechanism.bits));
  });
}

// BLAKE2b (RFC 7693) with a key of 32 bytes, a result of 8 bytes, and the personalization below. A word of 64 bits is
// two entries of 32, the lower one first.

const PERSON = encoder.encode("mechdesign-key-1");
const BLOCK = 128;
const START = new Uint32Array([
  0xf3bcc908, 0x6a09e667, 0x84caa73b, 0xbb67ae85, 0xfe94f82b, 0x3c6ef372, 0x5f1d36f1, 0xa54ff53a,
  0xade682d1, 0x510e527f, 0x2b3e6c1f, 0x9b05688c, 0xfb41bd6b, 0x1f83d9ab, 0x137e2179, 0x5be0cd19,
]);
const ORDERS = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
];
// The result as two words of 32 bits, the lower one first.
function keyedHash(key, message) {
  if (key.length !== 32) throw new RangeError("the key does not have 32 bytes");
  const state = START.slice();
  const parameters = new Uint8Array(64);
  parameters.set([8, 32, 1, 1]); // bytes of the result and of the key; one leaf
  parameters.set(PERSON, 48);
  wordsOf(parameters, 0, 16).forEach((word, i) => (state[i] ^= word));
  const whole = new Uint8Array(BLOCK * (1 + Math.ceil(message.length / BLOCK)));
  whole.set(key);
  whole.set(message, BLOCK);
  for (let place = 0; place < whole.length; place += BLOCK) {
    const isLast = place + BLOCK === whole.length;
    compress(state, wordsOf(whole, place, 32), isLast ? BLOCK + message.length : place + BLOCK, isLast);
  }
  return state.subarray(0, 2);
}

function wordsOf(bytes, place, count) {
  const view = new DataView(bytes.buffer, place);
  return Uint32Array.from({ length: count }, (_, i) => view.getUint32(4 * i, true));
}

function compress(state, message, count, isLast) {
  const v = new Uint32Array(32);
  v.set(state);
  v.set(START, 16);
  v[24] ^= count % 2 ** 32;
  v[25] ^= Math.floor(count / 2 ** 32);
  if (isLast) {
    v[28] = ~v[28];
    v[29] = ~v[29];
  }
  for (const order of ORDERS) {
    for (let i = 0; i < 4; i++) mix(v, i, 4 + i, 8 + i, 12 + i, message, order[2 * i], order[2 * i + 1]);
    for (let i = 0; i < 4; i++) {
      mix(v, i, 4 + ((i + 1) % 4), 8 + ((i + 2) % 4), 12 + ((i + 3) % 4), message, order[8 + 2 * i], order[9 + 2 * i]);
    }
  }
  for (let i = 0; i < 16; i++) state[i] ^= v[i] ^ v[i + 16];
}

function mix(v, a, b, c, d, message, x, y) {
  add(v, a, v, b);
  add(v, a, message, x);
  turn(v, d, a, 32);
  add(v, c, v, d);
  turn(v, b, c, 24);
  add(v, a, v, b);
  add(v, a, message, y);
  turn(v, d, a, 16);
  add(v, c, v, d);
  turn(v, b, c, 63);
}

function add(v, a, other, b) {
  const low = v[2 * a] + other[2 * b];
  v[2 * a + 1] += other[2 * b + 1] + (low > 0xffffffff ? 1 : 0);
  v[2 * a] = low;
}

// Word d becomes d xor a, turned to the right.
function turn(v, d, a, places) {
  const low = v[2 * d] ^ v[2 * a];
  const high = v[2 * d + 1] ^ v[2 * a + 1];
  const first = places < 32 ? low : high;
  const second = places < 32 ? high : low;
  const left = places % 32;
  v[2 * d] = left === 0 ? first : (first >>> left) | (second << (32 - left));
  v[2 * d + 1] = left === 0 ? second : (second >>> left) | (first << (32 - left));
}

// The command

function fail(message) {
  process.stderr.write(`Error: ${message}\n`);
  process.exit(2);
}

// The bytes of a key file that nobody else can read. No message shows any of it.
function readKey(path) {
  const { openSync, fstatSync, readFileSync, constants } = require("node:fs");
  let file;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    fail(`cannot read ${path}: ${error.code}`);
  }
  const status = fstatSync(file);
  if (!status.isFile() || status.size > 1024) fail(`${path} is not a key file`);
  if (process.platform !== "win32" && (status.mode & 0o077) !== 0) {
    fail(`${path} can be read or written by others; make another key, or, if nobody has read it: chmod 600 ${path}`);
  }
  const found = /^mechdesign-key-1 ([0-9a-f]{64})(?:\r?\n)?$/.exec(readFileSync(file, "latin1"));
  if (found === null || found[0].length !== status.size) fail(`${path} is not a key file`);
  return Uint8Array.from(Buffer.from(found[1], "hex"));
}

// White space around an id would be lost in a CSV file. U+FFFD stands where bytes are not UTF-8.
const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const REFUSED_ID = new RegExp(`^$|^${SPACE}|${SPACE}$|\ufffd`);

// Write one report for each line of standard input, or none at all.
async function main(path, keyFile, attribute = "") {
  const mechanism = JSON.parse(require("node:fs").readFileSync(path, "utf8"));
  const cumulative = cumulativeRows(mechanism);
  if (cumulative === null) fail(`${path} is not a mechanism of schema ${SCHEMAS.join(" or ")}`);
  const key = keyFile === undefined ? null : readKey(keyFile);
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const lines = Buffer.concat(chunks).toString("utf8").split(/\r?\n/);
  if (lines[lines.length - 1] === "") lines.pop(); // after the last end of line
  // Labels hold no tabs, so the last one ends the id.
  const records = lines.map((line) => [line.slice(0, Math.max(line.lastIndexOf("\t"), 0)), line.split("\t").pop()]);
  const labels = key === null ? lines : records.map(([, label]) => label);
  // All labels are checked first: a second run over the same records would be a second report about each.
  const unknown = labels.findIndex((label) => !cumulative.has(label));
  if (unknown >= 0) {
    fail(`line ${unknown + 1}: ${JSON.stringify(labels[unknown])} is not an input of ${path}; nothing was reported`);
  }
  const refused = key === null ? -1 : records.findIndex(([id]) => REFUSED_ID.test(id));
  if (refused >= 0) {
    fail(`line ${refused + 1}: the id is empty, not UTF-8, or has white space around it; nothing was reported`);
  }
  const reports =
    key === null ? freshReports(mechanism, labels) : await permanentReports(mechanism, key, records, attribute);
  process.stdout.write(reports.map((report) => report + "\n").join(""));
}

if (typeof module !== "undefined" && typeof require !== "undefined") {
  module.exports = { fingerprint, firstBits, freshReports, keyedHash, permanentReports };
  if (require.main === module) {
    if (process.argv.length < 3 || process.argv.length > 5) {
      fail("usage: node report.js mechanism.json [KEY [ATTRIBUTE]] < labels (with a key: id, tab, label) > reports");
    }
    main(...process.argv.slice(2));
  }
}
