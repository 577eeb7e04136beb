#!/usr/bin/env node
// node command.js mechanism.json < labels > reports
// node command.js mechanism.json KEY [ATTRIBUTE] < lines > reports
//
// The first reads one label a line, in UTF-8, and draws fresh reports. The second draws permanent reports from the key
// file KEY, which `mechdesign key` makes: it reads an id, a tab and a label on each line, and the same id and label
// always get the same report, which is that of `mechdesign privatize --key-file`. Through a file of windows, also of
// prefixes, any string is reported; with a key a line then holds one tab, since a string may hold a tab as an id may.
// Through a file of views of records a line holds a record, {"sex": "f", "age": "41"}, in place of a label; a view, a tab
// and a report are written.

import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { InputError, isTable, parsed, RecordError } from "./checks.js";
import { Prefixes } from "./prefixes.js";
import { Records } from "./records.js";
import { keyOf, Mechanism } from "./report.js";
import { StringReports, Windows } from "./windows.js";

const MOST_KEY_BYTES = 1024;

function fail(message) {
  process.stderr.write(`Error: ${message}\n`);
  process.exit(2);
}

// The mechanism of a file, of whatever kind it is.
async function opened(path) {
  let content;
  try {
    content = readFileSync(path);
  } catch (error) {
    fail(`cannot read ${path}: ${error.code}`);
  }
  try {
    const table = parsed(content);
    const schema = isTable(table) ? String(table.schema) : "";
    if (schema.startsWith("mechdesign/windows/")) return await Windows.of(table, path);
    if (schema.startsWith("mechdesign/prefix-windows/")) return await Prefixes.of(table, path);
    return schema.startsWith("mechdesign/records/") ? await Records.of(table, path) : new Mechanism(table, path);
  } catch (error) {
    if (error instanceof InputError) fail(`${path} is refused: ${error.message}`);
    throw error;
  }
}

// The bytes of a key file that nobody else can read. No message shows any of it.
function readKey(path) {
  let file;
  try {
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    fail(`cannot read ${path}: ${error.code}`);
  }
  const status = fstatSync(file);
  if (!status.isFile() || status.size > MOST_KEY_BYTES) fail(`${path} is not a key file`);
  if (process.platform !== "win32" && (status.mode & 0o077) !== 0) {
    fail(`${path} can be read or written by others; make another key, or, if nobody has read it: chmod 600 ${path}`);
  }
  const user = process.geteuid?.() ?? 0;
  if (user !== 0 && status.uid !== user && status.uid !== 0) fail(`${path} belongs to another user, who knows the key`);
  try {
    return keyOf(readFileSync(file));
  } catch (error) {
    if (error instanceof InputError) fail(`${path} is not a key file`);
    throw error;
  } finally {
    closeSync(file);
  }
}

// The lines of standard input: bytes that are not UTF-8 are refused, and a mark at the start belongs to the text.
async function readLines() {
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  const content = Buffer.concat(chunks);
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const lines = [];
  for (let start = 0; start < content.length; ) {
    const found = content.indexOf(10, start);
    const end = found < 0 ? content.length : found;
    const stop = end > start && content[end - 1] === 13 ? end - 1 : end;
    try {
      lines.push(decoder.decode(content.subarray(start, stop)));
    } catch {
      fail(`line ${lines.length + 1}: it is not UTF-8; nothing was reported`);
    }
    start = end + 1;
  }
  return lines;
}

// What a mechanism reports about: the text itself, or the record in JSON that it holds.
function valueOf(mechanism, text, position) {
  if (!(mechanism instanceof Records)) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw new RecordError(position, "it is not a record, a table in JSON");
  }
}

// Where a string may hold tabs, a second tab would leave open where the id ends.
function checkTabs(lines) {
  const position = lines.findIndex((line) => line.split("\t").length !== 2);
  if (position >= 0) throw new RecordError(position, "it is not an id, one tab and a string");
}

// Write one report for each line of standard input, or none at all: all lines are checked first, since a second run over
// the same records would be a second report about each.
async function main(path, keyFile, attribute = "") {
  const mechanism = await opened(path);
  const key = keyFile === undefined ? null : readKey(keyFile);
  const lines = await readLines();
  let reports;
  try {
    if (key === null) {
      reports = await mechanism.freshReports(lines.map((line, i) => valueOf(mechanism, line, i)));
    } else {
      if (mechanism instanceof StringReports) checkTabs(lines);
      // Labels and records hold no tabs, so the last one ends the id.
      const records = lines.map((line, i) => {
        const end = line.lastIndexOf("\t");
        return [line.slice(0, Math.max(end, 0)), valueOf(mechanism, line.slice(end + 1), i)];
      });
      reports = await mechanism.permanentReports(key, records, attribute);
    }
  } catch (error) {
    if (error instanceof RecordError) fail(`line ${error.position + 1}: ${error.message}; nothing was reported`);
    if (error instanceof InputError) fail(error.message);
    throw error;
  }
  process.stdout.write(reports.map((report) => [report].flat().join("\t") + "\n").join(""));
}

if (process.argv.length < 3 || process.argv.length > 5) {
  fail("usage: node command.js mechanism.json [KEY [ATTRIBUTE]] < labels (with a key: id, tab, label) > reports");
}
await main(...process.argv.slice(2));
