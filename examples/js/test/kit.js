// What the tests read of the conformance kit.

import { readFileSync } from "node:fs";

const KIT = new URL("../../../conformance/", import.meta.url);
// Streams of a million draws: those of matrices take seconds, and with those of windows it is minutes.
export const LONG = ["1", "all"].includes(process.env.MECHDESIGN_LONG);
export const LONG_WINDOWS = process.env.MECHDESIGN_LONG === "all";

export const bytesOf = (path) => readFileSync(new URL(path, KIT));
export const rows = (path) => JSON.parse(bytesOf(path).toString("utf8"));
export const ofHex = (text) => Uint8Array.from(Buffer.from(text, "hex"));
export const hex = (bytes) => Buffer.from(bytes).toString("hex");

// Fills arrays with the words of SplitMix64.
export function splitMix() {
  const wrap = (value) => BigInt.asUintN(64, value);
  let state = 0n;
  return (bytes) => {
    const view = new DataView(bytes.buffer);
    for (let place = 0; place < bytes.length; place += 8) {
      state = wrap(state + 0x9e3779b97f4a7c15n);
      let word = wrap((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n);
      word = wrap((word ^ (word >> 27n)) * 0x94d049bb133111ebn);
      view.setBigUint64(place, word ^ (word >> 31n), true);
    }
  };
}

// What fills arrays with these bytes, in hex, one after the other; and how many are left.
export function sourceOf(text) {
  let rest = ofHex(text);
  const fill = (wanted) => {
    wanted.set(rest.subarray(0, wanted.length));
    rest = rest.subarray(wanted.length);
  };
  return { fill, left: () => rest.length };
}
