// Numbers in bins between edges, which are compared as doubles. Any text that is no decimal number stands for itself.

import { check } from "./checks.js";
import { firstAbove } from "./words.js";

const NUMBER = /^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$/;
const MOST_EDGES = 9_999;

export class Bins {
  constructor(edges, name) {
    const isList = Array.isArray(edges) && edges.length >= 1 && edges.length <= MOST_EDGES;
    check(isList, `${name}: there are no edges, or too many`);
    check(edges.every(Number.isFinite), `${name}: an edge is not a finite number`);
    this.edges = edges.map((edge) => edge + 0); // there is one zero
    check(this.edges.every((edge, i) => i === 0 || this.edges[i - 1] < edge), `${name}: the edges do not increase`);
    const ends = this.edges.map(shown);
    const between = ends.slice(1).map((end, i) => `${ends[i]} to under ${end}`);
    this.labels = [`under ${ends[0]}`, ...between, `${ends[ends.length - 1]} or more`];
  }

  // The label of the bin of a number; another text as it is.
  labelOf(text) {
    return NUMBER.test(text) ? this.labels[firstAbove(this.edges, Number(text))] : text;
  }
}

// The shortest decimal of a double; it has an exponent, of two digits at least, below 1e-4 and from 1e16 on.
function shown(edge) {
  const [digits, exponent] = edge.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 16) return String(edge);
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}
