// The views of records of the conformance kit.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";

import { Bins } from "../bins.js";
import { Records } from "../records.js";
import { InputError, RecordError } from "../report.js";
import { bytesOf, hex, ofHex, rows, sourceOf, splitMix } from "./kit.js";

const records = (path) => Records.read(bytesOf(path));

test("fingerprints of views", async () => {
  for (const { file, fingerprint } of rows("records.json")) {
    assert.equal(hex(await (await records(file)).fingerprint()), fingerprint, file);
  }
});

test("files of views that are refused", async () => {
  for (const { file, by, reason } of rows("records-refused.json")) {
    if (by !== "verify") await assert.rejects(records(file), InputError, `${file}: ${reason}`);
    else await records(file);
  }
});

test("fresh reports of views", async () => {
  for (const { mechanism: path, bytes, records: given, views, reports, refused } of rows("records-fresh.json")) {
    const consumer = await records(path);
    const source = sourceOf(bytes);
    assert.deepEqual(await consumer.freshReports(given, source.fill), views.map((view, i) => [view, reports[i]]), path);
    assert.equal(source.left(), 0);
    assert.equal((await consumer.freshReports(given)).length, given.length);
    for (const record of [...refused, {}, { ...given[0], [consumer.attributes[0]]: 7 }, null]) {
      const wrong = () => consumer.freshReports([...given, record], () => assert.fail("bytes were drawn"));
      await assert.rejects(wrong, (error) => error instanceof RecordError && error.position === given.length);
    }
  }
});

test("permanent reports of views", async () => {
  for (const { mechanism: path, key, attribute, ids, records: given, views, reports } of rows("records-keyed.json")) {
    const consumer = await records(path);
    const pairs = ids.map((id, i) => [id, given[i]]);
    const found = await consumer.permanentReports(ofHex(key), pairs, attribute);
    assert.deepEqual(found, views.map((view, i) => [view, reports[i]]), path);
    await assert.rejects(consumer.permanentReports(ofHex(key), [pairs[0], [" bob", given[0]]]), RecordError);
    await assert.rejects(consumer.permanentReports(ofHex(key), pairs, " word"), InputError);
  }
});

test("numbers in bins", () => {
  for (const { edges, labels, texts, labelled } of rows("records-bins.json")) {
    const bins = new Bins(edges, "bins");
    assert.deepEqual(bins.labels, labels);
    assert.deepEqual(texts.map((text) => bins.labelOf(text)), labelled);
  }
});

test("streams of views", async (context) => {
  const given = new Map(rows("records-fresh.json").map((row) => [row.mechanism, row.records]));
  let tried = 0;
  for (const { mechanism: path, draws, key, attribute, sha256 } of rows("records-streams.json")) {
    const consumer = await records(path);
    const those = Array.from({ length: draws }, (_, i) => given.get(path)[i % given.get(path).length]);
    const reports =
      key === undefined
        ? await consumer.freshReports(those, splitMix())
        : await consumer.permanentReports(ofHex(key), those.map((record, i) => [`id ${i}`, record]), attribute);
    const text = reports.map(([view, report]) => `${view}\t${report}\n`).join("");
    assert.equal(createHash("sha256").update(text).digest("hex"), sha256, `${path}, ${draws}`);
    tried += draws;
  }
  context.diagnostic(`${tried} draws of views`);
});
