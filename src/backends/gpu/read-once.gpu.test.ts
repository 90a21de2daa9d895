// As on the CPU: how much of a load is done is told by the bytes that were read.

import { expect, it } from "vitest";

import { bytesToRead, withReportedReads } from "../../models/reported-reads.ts";
import { openTestDevice } from "../../../tests/gpu/gpu.ts";
import { createRunner } from "../../../tests/gpu/runner-runs.ts";
import { FAMILY_FIXTURES } from "../../../tests/models/family-fixtures.ts";
import { loadGolden } from "../../../tests/models/golden.ts";

const opened = await openTestDevice();

it.each(FAMILY_FIXTURES)("reads each weight of %s once", async (name) => {
  const { weights: whole } = await loadGolden(name);
  let read = 0;
  (
    await createRunner(
      opened,
      withReportedReads(whole, (bytes) => (read += bytes)),
    )
  ).dispose();
  expect(read).toBe(bytesToRead(whole));
});
