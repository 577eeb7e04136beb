// Words of 64 bits: random ones that are drawn by, and the bytes that are hashed.

const BLOCK = 8192; // words at a time, for which browsers give random bytes at once
const encoder = new TextEncoder();

// Fills an array with random bytes of the system's secure source.
export const secureBytes = (bytes) => globalThis.crypto.getRandomValues(bytes);

// Words from what fills arrays with bytes, of which no more are drawn than are `needed`.
export class Words {
  constructor(fill, needed) {
    this.fill = fill;
    this.needed = needed;
    this.place = 0;
    this.view = new DataView(new ArrayBuffer(0));
  }

  // The next word, as two of 32 bits, the lower one first.
  next() {
    if (this.place === this.view.byteLength) this.refill();
    const word = [this.view.getUint32(this.place, true), this.view.getUint32(this.place + 4, true)];
    this.place += 8;
    this.needed -= 1;
    return word;
  }

  // A uniform number below a limit: words are taken again while they are not uniform.
  below(limit) {
    for (;;) {
      const word = ofHalves(this.next());
      if (isBelow(word, BigInt(limit))) return word % BigInt(limit);
      this.needed += 1;
    }
  }

  refill() {
    const bytes = new Uint8Array(8 * Math.min(this.needed, BLOCK));
    this.fill(bytes);
    this.view = new DataView(bytes.buffer);
    this.place = 0;
  }
}

export function ofHalves([low, high]) {
  return (BigInt(high) << 32n) | BigInt(low);
}

// Whether a word of 64 bits does not lie in the last, incomplete round of a limit.
export function isBelow(word, limit) {
  return word < 2n ** 64n - (2n ** 64n % limit);
}

// The first `bits` bits, at most 52, of a word.
export function firstBits([low, high], bits) {
  return bits <= 32 ? high >>> (32 - bits) : high * 2 ** (bits - 32) + (low >>> (64 - bits));
}

// Numbers up to each of a list, which then rises.
export function cumulated(numbers) {
  let sum = 0;
  return numbers.map((number) => (sum += number));
}

// The index of the first number of a rising list that is above a value; the length if there is none.
export function firstAbove(numbers, value) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
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

// The 32 bytes of the SHA-256 hash of bytes one after the other.
export async function sha256(parts) {
  return new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", joined(parts)));
}
