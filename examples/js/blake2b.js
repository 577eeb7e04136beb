// BLAKE2b (RFC 7693). A word of 64 bits is two entries of 32, the lower one first. Nothing here runs in constant time.

const PERSON = new TextEncoder().encode("mechdesign-key-1");
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

// The result of 8 bytes as two words of 32 bits, the lower one first.
export function keyedHash(key, message) {
  return blake2b(message, 8, PERSON, key);
}

// BLAKE2b with a result of `size` bytes, a multiple of 4, as words of 32 bits. The personalization has up to 16 bytes
// (zeros follow); the key has 32, or is left out.
export function blake2b(message, size, person, key = new Uint8Array(0)) {
  if (key.length !== 0 && key.length !== 32) throw new RangeError("the key does not have 32 bytes");
  const state = START.slice();
  const parameters = new Uint8Array(64);
  parameters.set([size, key.length, 1, 1]); // bytes of the result and of the key; one leaf
  parameters.set(person, 48);
  wordsOf(parameters, 0, 16).forEach((word, i) => (state[i] ^= word));
  const before = key.length === 0 ? 0 : BLOCK; // the key fills a block of its own
  const bytes = before + message.length;
  const whole = new Uint8Array(BLOCK * Math.max(1, Math.ceil(bytes / BLOCK)));
  whole.set(key);
  whole.set(message, before);
  for (let place = 0; place < whole.length; place += BLOCK) {
    const isLast = place + BLOCK === whole.length;
    compress(state, wordsOf(whole, place, 32), isLast ? bytes : place + BLOCK, isLast);
  }
  return state.subarray(0, size / 4);
}

function wordsOf(bytes, place, count) {
  const view = new DataView(bytes.buffer, place);
  const words = new Uint32Array(count);
  for (let i = 0; i < count; i++) words[i] = view.getUint32(4 * i, true);
  return words;
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
