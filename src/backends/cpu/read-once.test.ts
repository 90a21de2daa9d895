// How much of a load is done is told by the bytes that were read, which is right only where each is read once.

import { expect, it } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { bytesToRead, withReportedReads } from "../../models/reported-reads.ts";
import { FAMILY_FIXTURES } from "../../../tests/models/family-fixtures.ts";
import { readFixture } from "../../../tests/models/fixtures.ts";
import { cpuBackend } from "./cpu-backend.ts";

it.each(FAMILY_FIXTURES)("reads each weight of %s once", async (name) => {
  const whole = (await readFixture(name)).weights();
  let read = 0;
  const weights = withReportedReads(whole, (bytes) => (read += bytes));
  const engine = resolveEngineConfig({ maxNumSeqs: 1, numGpuBlocks: 4 }, weights.model.shape);
  const backend = await cpuBackend({ most: 1, openHelper: null }).open();
  (await backend.load({ weights, engine })).dispose();
  expect(read).toBe(bytesToRead(whole));
});
