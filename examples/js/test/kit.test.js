// The conformance kit. The streams of a million draws are tried with MECHDESIGN_LONG=1.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { keyedHash } from "../blake2b.js";
import { InputError, keyOf, Mechanism, RecordError } from "../report.js";
import { bytesOf, hex, LONG, ofHex, rows, sourceOf, splitMix } from "./kit.js";

const mechanism = (path) => Mechanism.read(bytesOf(path));

test("fingerprints", async () => {
  for (const { file, fingerprint } of rows("fingerprints.json")) {
    assert.equal(hex(await mechanism(file).fingerprint()), fingerprint, file);
  }
});

test("files that are refused", () => {
  for (const { file, by, reason } of rows("refused.json")) {
    if (by !== "verify") assert.throws(() => mechanism(file), InputError, `${file}: ${reason}`);
  }
});

test("fresh reports", () => {
  for (const { mechanism: path, bytes, inputs, reports, refused } of rows("fresh.json")) {
    const source = sourceOf(bytes);
    const consumer = mechanism(path);
    assert.deepEqual(consumer.freshReports(inputs, source.fill), reports, path);
    assert.equal(source.left(), 0);
    for (const label of refused) {
      const wrong = () => consumer.freshReports([...inputs, label], () => assert.fail("bytes were drawn"));
      assert.throws(wrong, (error) => error instanceof RecordError && error.position === inputs.length, label);
    }
  }
});

test("permanent reports", async () => {
  for (const { mechanism: path, key, attribute, ids, inputs, hashes, reports } of rows("keyed.json")) {
    const consumer = mechanism(path);
    const records = ids.map((id, i) => [id, inputs[i]]);
    assert.deepEqual(await consumer.permanentReports(ofHex(key), records, attribute), reports, path);
    const fingerprint = await consumer.fingerprint();
    const text = (value) => {
      const size = Buffer.alloc(8);
      size.writeBigUInt64LE(BigInt(Buffer.byteLength(value)));
      return Buffer.concat([size, Buffer.from(value)]);
    };
    hashes.forEach((hash, i) => {
      const message = Buffer.concat([fingerprint, text(attribute), text(inputs[i]), Buffer.from(ids[i])]);
      const found = Buffer.alloc(8);
      keyedHash(ofHex(key), message).forEach((word, j) => found.writeUInt32LE(word, 4 * j));
      assert.equal(hex(found), hash);
    });
  }
});

test("ids that are refused", async () => {
  const consumer = mechanism("mechanisms/warner.json");
  for (const { bytes, reason } of rows("ids.json")) {
    await assert.rejects(async () => {
      const id = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(ofHex(bytes));
      await consumer.permanentReports(new Uint8Array(32), [["ann", "no"], [id, "no"]]);
    }, reason);
  }
});

test("attributes that are refused", async () => {
  const consumer = mechanism("mechanisms/warner.json");
  for (const { bytes, reason } of rows("attributes.json")) {
    await assert.rejects(async () => {
      const attribute = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(ofHex(bytes));
      await consumer.permanentReports(new Uint8Array(32), [["ann", "no"]], attribute);
    }, reason);
  }
});

test("key files", () => {
  for (const { bytes, key, reason } of rows("key-files.json")) {
    if (reason === undefined) assert.equal(hex(keyOf(ofHex(bytes))), key);
    else assert.throws(() => keyOf(ofHex(bytes)), InputError, reason);
  }
});

test("streams", async (context) => {
  let tried = 0;
  for (const { mechanism: path, draws, key, attribute, sha256 } of rows("streams.json")) {
    if (draws > 1000 && !LONG) continue;
    const consumer = mechanism(path);
    const labels = Array.from({ length: draws }, (_, i) => consumer.inputs[i % consumer.inputs.length]);
    const records = key === undefined ? [] : labels.map((label, i) => [`id ${i}`, label]);
    const reports =
      key === undefined
        ? consumer.freshReports(labels, splitMix())
        : await consumer.permanentReports(ofHex(key), records, attribute);
    const text = reports.map((report) => report + "\n").join("");
    assert.equal(createHash("sha256").update(text).digest("hex"), sha256, `${path}, ${draws}`);
    tried += draws;
  }
  assert.ok(tried >= (LONG ? 3_000_000 : 26_000));
  context.diagnostic(`${tried} draws`);
});
