// The cap of a guarantee: local differential privacy, whatever the prior is. One ratio of each output proves it.

import { SPACE } from "./checks.js";

const LOG = new RegExp(`^log\\(${SPACE}*([^()]+?)${SPACE}*\\)$`, "u");
const NUMBER = /^([+-]?)(?:(\d+)\/(\d+)|(?=\.?\d)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,4}))?)$/;
const ENDS = new RegExp(`^${SPACE}+|${SPACE}+$`, "gu");
const MOST = { signs: 2000, exponent: 400, cap: 700n, power: 10n ** 304n };
const ONE = 1n << 256n;

// Whether no output is likelier by more than exp(cap) given one input than given another; null if `cap` is no level.
export function keepsCap(cap, rows) {
  const power = powerOf(cap);
  if (power === null) return null;
  return rows[0].every((_, k) => {
    const column = rows.map((row) => row[k]);
    const greatest = column.reduce((a, b) => Math.max(a, b));
    const least = column.reduce((a, b) => Math.min(a, b));
    return BigInt(greatest) * power[1] <= BigInt(least) * power[0];
  });
}

// A ratio of integers that is at most exp(cap); null for what is no cap.
function powerOf(cap) {
  if (typeof cap !== "string" || [...cap].length > MOST.signs) return null;
  const text = cap.replace(ENDS, "");
  const log = LOG.exec(text);
  const found = rational(log === null ? text : log[1]);
  if (found === null) return null;
  const [above, below] = found;
  if (log !== null) return above >= below && above <= MOST.power * below ? found : null;
  return above <= MOST.cap * below ? [expDown(above, below), ONE] : null;
}

// Over ONE, a number below e^(a/b) = 1 + x/1 (1 + x/2 (1 + ...)): each step is rounded down.
function expDown(a, b) {
  let total = ONE;
  for (let k = (3n * a) / b + 200n; k > 0n; k--) total = ONE + (total * a) / (b * k);
  return total;
}

// A ratio of integers, such as 9/8, or a decimal, such as 1e-9, that is not negative; null for other texts.
function rational(text) {
  const found = NUMBER.exec(text);
  if (found === null) return null;
  const [, sign, above, below, whole, part, power = "0"] = found;
  if (above === undefined && Math.abs(Number(power)) > MOST.exponent) return null;
  const scale = above === undefined ? BigInt(power) - BigInt(part.length) : 0n;
  const ratio = above === undefined ? [BigInt(whole + part), 1n] : [BigInt(above), BigInt(below)];
  if (ratio[1] === 0n || (sign === "-" && ratio[0] !== 0n)) return null;
  return scale < 0n ? [ratio[0], 10n ** -scale] : [ratio[0] * 10n ** scale, ratio[1]];
}
