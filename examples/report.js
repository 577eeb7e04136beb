// Report labels through an exported mechanism, with nothing but node.
//
// node report.js mechanism.json < labels > reports
//
// One label a line, in UTF-8. The probabilities are precisely those that `mechdesign verify` proves: numerators and
// their sums are at most 2^52, so they are exact as doubles.
"use strict";

const { randomBytes } = require("node:crypto");
const { readFileSync } = require("node:fs");

function fail(message) {
  process.stderr.write(`Error: ${message}\n`);
  process.exit(2);
}

// A uniform integer from 0 to 2^bits - 1: 52 random bits, of which the lowest are kept.
function uniformInteger(bits) {
  const bytes = randomBytes(7);
  return ((bytes[6] % 16) * 2 ** 48 + bytes.readUIntLE(0, 6)) % 2 ** bits;
}

// The second adds a promise to the guarantee; sampling is the same.
const SCHEMAS = ["mechdesign/mechanism/1", "mechdesign/mechanism/2"];

// Write one report for each label on standard input, or none at all.
async function main(path) {
  const { schema, inputs, outputs, bits, numerators } = JSON.parse(readFileSync(path, "utf8"));
  const rows = numerators.map((row) => {
    let sum = 0;
    return row.map((numerator) => (sum += numerator));
  });
  if (!SCHEMAS.includes(schema) || rows.some((row) => row[row.length - 1] !== 2 ** bits)) {
    fail(`${path} is not a mechanism of schema ${SCHEMAS.join(" or ")}`);
  }
  const cumulative = new Map(inputs.map((label, i) => [label, rows[i]]));
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const labels = Buffer.concat(chunks).toString("utf8").split(/\r?\n/);
  if (labels[labels.length - 1] === "") labels.pop(); // after the last end of line
  // All labels are checked first: a second run over the same records would be a second report about each.
  const unknown = labels.findIndex((label) => !cumulative.has(label));
  if (unknown >= 0) {
    fail(`line ${unknown + 1}: ${JSON.stringify(labels[unknown])} is not an input of ${path}; nothing was reported`);
  }
  const reports = labels.map((label) => {
    // The first output whose cumulative numerator exceeds a uniform integer of `bits` bits.
    const uniform = uniformInteger(bits);
    return outputs[cumulative.get(label).findIndex((sum) => uniform < sum)] + "\n";
  });
  process.stdout.write(reports.join(""));
}

if (process.argv.length !== 3) fail("usage: node report.js mechanism.json < labels > reports");
main(process.argv[2]);
