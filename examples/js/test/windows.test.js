// The windows of the conformance kit, of strings and of prefixes. The streams of a million draws are tried with MECHDESIGN_LONG=all.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { Prefixes } from "../prefixes.js";
import { InputError, RecordError } from "../report.js";
import { normal, Windows } from "../windows.js";
import { bytesOf, hex, LONG_WINDOWS, ofHex, rows, sourceOf, splitMix } from "./kit.js";

const windows = (path) => (path.startsWith("prefixes") ? Prefixes : Windows).read(bytesOf(path));
const rowsOfBoth = (list) => [...rows(`windows-${list}.json`), ...rows(`prefixes-${list}.json`)];
const text = (bytes) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);

test("fingerprints of windows", async () => {
  for (const { file, fingerprint } of [...rows("windows.json"), ...rows("prefixes.json")]) {
    assert.equal(hex(await (await windows(file)).fingerprint()), fingerprint, file);
  }
});

test("files of windows that are refused", async () => {
  for (const { file, by, reason } of rowsOfBoth("refused")) {
    if (by !== "verify") await assert.rejects(windows(file), InputError, `${file}: ${reason}`);
  }
});

test("normal forms of strings", async () => {
  const consumer = await windows("windows/light.json");
  let refused = 0;
  for (const { form, bytes, normal: wanted, times = 1, reason } of rows("strings.json")) {
    if (reason === undefined) assert.equal(hex(Buffer.from(normal(text(ofHex(bytes)), form))), wanted, bytes);
    else {
      refused += 1;
      await assert.rejects(async () => {
        const strings = ["s0", text(ofHex(bytes)).repeat(times)];
        try {
          await consumer.freshReports(strings, () => assert.fail("bytes were drawn"));
        } catch (error) {
          assert.ok(error instanceof RecordError && error.position === 1);
          throw error;
        }
      }, reason);
    }
  }
  assert.ok(refused > 0);
  assert.equal(normal("a\ud800", "nfc"), null);
  assert.equal(normal(7, "nfc"), null);
});

test("fresh reports of windows", async () => {
  for (const { mechanism: path, bytes, strings, reports } of rowsOfBoth("fresh")) {
    const source = sourceOf(bytes);
    const consumer = await windows(path);
    assert.deepEqual(await consumer.freshReports(strings, source.fill), reports, path);
    assert.equal(source.left(), 0);
    assert.equal((await consumer.freshReports(["a", "b"])).length, 2);
    assert.deepEqual(await consumer.freshReports([]), []);
  }
});

test("permanent reports of windows", async () => {
  for (const { mechanism: path, key, attribute, ids, strings, reports } of rowsOfBoth("keyed")) {
    const records = ids.map((id, i) => [id, strings[i]]);
    const consumer = await windows(path);
    assert.deepEqual(await consumer.permanentReports(ofHex(key), records, attribute), reports, path);
    await assert.rejects(consumer.permanentReports(ofHex(key), [["ann", "a"], [" bob", "a"]]), RecordError);
    await assert.rejects(consumer.permanentReports(ofHex(key), [["ann", "a"]], " word"), InputError);
  }
});

async function tryStreams(list, stringAt) {
  let tried = 0;
  for (const { mechanism: path, draws, key, attribute, sha256 } of rows(list)) {
    if (draws > 1000 && !LONG_WINDOWS) continue;
    const consumer = await windows(path);
    const strings = Array.from({ length: draws }, (_, i) => stringAt(i));
    const reports =
      key === undefined
        ? await consumer.freshReports(strings, splitMix())
        : await consumer.permanentReports(ofHex(key), strings.map((string, i) => [`id ${i}`, string]), attribute);
    const joined = reports.map((report) => report + "\n").join("");
    assert.equal(createHash("sha256").update(joined).digest("hex"), sha256, `${path}, ${draws}`);
    tried += draws;
  }
  return tried;
}

test("streams of windows", async (context) => {
  const tried = await tryStreams("windows-streams.json", (i) => `s${(i * i) % 1009}`);
  assert.ok(tried >= (LONG_WINDOWS ? 3_000_000 : 16_000));
  context.diagnostic(`${tried} draws of windows`);
});

test("streams of prefixes", async (context) => {
  const [{ strings }] = rows("prefixes-keyed.json");
  const tried = await tryStreams("prefixes-streams.json", (i) => strings[i % strings.length]);
  context.diagnostic(`${tried} draws of prefixes`);
});
