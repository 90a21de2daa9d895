import { expect, it } from "vitest";

import { openBundledHelper } from "../../../testing/bundled-helper.ts";
import { openCpuModel } from "../../../testing/cpu-model.ts";
import { chooseThreads } from "./choose-threads.ts";

const model = await openCpuModel({
  layers: 1,
  width: 64,
  heads: 4,
  keyHeads: 4,
  inner: 128,
  vocabSize: 96,
  context: 32,
  style: "gpt2",
  dtype: "f32",
  cacheDtype: "f32",
  math: "portable",
  maxRows: 8,
  maxSlots: 4,
  maxThreads: 2,
  isShared: true,
});

it("tries one thread and more, and takes some number of them", async () => {
  expect([1, 2]).toContain(await chooseThreads(model.plan, 2, () => openBundledHelper()));
});

it("takes one where the others can't begin", async () => {
  const broken = () => openBundledHelper("throw new Error('no thread today');");
  expect(await chooseThreads(model.plan, 2, broken)).toBe(1);
});
