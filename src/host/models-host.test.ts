import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

import type { ModelStore } from "../files/store/model-store.ts";
import { locateRemoteModel } from "../protocol/model-source.ts";
import { ModelsHost } from "./models-host.ts";
import { nodePlatform } from "./platforms/node.ts";

const config: unknown = JSON.parse(readFileSync("tests/fixtures/llama-tiny/tied/config.json", "utf8"));
/** It has one model, whatever it is called. */
const store = {
  find: () => Promise.resolve({ status: "whole", totalBytes: 1000 }),
  open: () => Promise.resolve({ gguf: null, readJson: () => Promise.resolve(config) }),
  freeBytes: () => Promise.resolve(null),
} as unknown as ModelStore;

it.each([
  [{ numGpuBlocks: 2 ** 24 }, "numGpuBlocks"],
  [{ kvCacheBytes: 2 ** 40 }, "kvCacheBytes"],
  [{ numGpuBlocks: 2 }, null],
])("an estimate with %j blames %s, as a load would", async (given, param) => {
  const host = new ModelsHost({ ...nodePlatform({ gpu: undefined }), openModelStore: () => Promise.resolve(store) });
  const estimate = await host.estimate(locateRemoteModel("a/b", {}, undefined), { ...given, backend: "cpu" });
  expect(estimate).toMatchObject({ problem: param && { code: "out_of_memory", param } });
});
