// Report prefixes of strings, each of a length that is drawn, through a file of windows of prefixes. For node and
// browsers.

import { check, isTable, isWhole, parsed } from "./checks.js";
import { drawnByHash, FORMS, StringReports, Windows } from "./windows.js";
import { cumulated, joined, numberBytes, sha256, textBytes } from "./words.js";

const SCHEMA = "mechdesign/prefix-windows/1";
const FORMAT = new TextEncoder().encode("mechdesign/prefix-windows/fingerprint/1");
const MOST = { levels: 32, characters: 1_000 };
const MARK = "\u2026"; // after the prefix of a longer string

export class Prefixes extends StringReports {
  // From the bytes of a file of windows of prefixes. Its promise is not proved: run `mechdesign verify` before.
  static async read(bytes, name = "the mechanism") {
    return Prefixes.of(parsed(bytes), name);
  }

  // From what JSON.parse made of such a file.
  static async of(table, name = "the mechanism") {
    check(isTable(table) && table.schema === SCHEMA, `its schema is not ${SCHEMA}`);
    const { form, lengths, levels } = table;
    check(FORMS.includes(form), `the form is not ${FORMS.join(" or ")}`);
    check(Array.isArray(lengths) && isWhole(lengths.length, 1, MOST.levels), "there are no lengths, or too many");
    const isRising = lengths.every((length, i) => isWhole(length, i === 0 ? 1 : lengths[i - 1] + 1, MOST.characters));
    check(isRising, `the lengths are not whole numbers that rise to at most ${MOST.characters}`);
    check(Array.isArray(levels) && levels.length === lengths.length, "there is not one level for each length");
    const windows = [];
    for (const level of levels) windows.push(await Windows.of(level, name));
    check(windows.every((level) => level.form === "nfc"), "the form of a level is not nfc");
    check(windows.every((level) => level.floor === windows[0].floor), "levels have other floors");
    return new Prefixes(name, form, lengths, windows);
  }

  constructor(name, form, lengths, levels) {
    super();
    Object.assign(this, { name, form, lengths, levels });
    this.words = 1 + levels[0].words; // of each fresh report
    this.before = [0, ...cumulated(levels.map((level) => level.size))];
  }

  // The SHA-256 hash of what reports depend on.
  async fingerprint() {
    const prints = await Promise.all(this.levels.map((level) => level.fingerprint()));
    return sha256([FORMAT, textBytes(this.form), ...this.lengths.map(numberBytes), ...prints]);
  }

  // What is hashed for a permanent report: for its level, and for its window on each level.
  async startOf(attribute) {
    const own = joined([await this.fingerprint(), textBytes(attribute)]);
    return { own, levels: await Promise.all(this.levels.map((level) => level.startOf(attribute))) };
  }

  // The number of the window that a string reports. `draw` gives uniform numbers below a limit.
  windowOf(string, draw) {
    const at = Number(draw(0, this.levels.length));
    return this.before[at] + this.levels[at].windowOf(prefix(string, this.lengths[at]), draw);
  }

  permanentWindow(key, start, string, id) {
    const at = Number(drawnByHash(key, start.own, id, (draw) => draw(0, this.levels.length)));
    const found = prefix(string, this.lengths[at]);
    return this.before[at] + this.levels[at].permanentWindow(key, start.levels[at], found, id);
  }
}

// A string, or of a longer one so many characters and the mark.
function prefix(string, length) {
  const letters = Array.from(string);
  return letters.length <= length ? string : letters.slice(0, length).join("") + MARK;
}
