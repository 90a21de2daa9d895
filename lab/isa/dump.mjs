// node dump.mjs DAWN KERNELS: Dawn prints the SPIR-V of each kernel of a JSON file of { label, code }, after a line "=====label".

import { readFileSync } from "node:fs";

const [, , dawn = "", file = ""] = process.argv;
const { create } = await import(dawn);
const gpu = create(["enable-dawn-features=dump_shaders", "backend=vulkan"]);
const adapter = await gpu.requestAdapter();
const features = ["subgroups", "shader-f16"].filter((feature) => adapter.features.has(feature));
/** @type {Record<string, number>} */
const requiredLimits = {};
for (const name in adapter.limits) requiredLimits[name] = adapter.limits[name];
const device = await adapter.requestDevice({ requiredFeatures: features, requiredLimits });
for (const { label, code } of JSON.parse(readFileSync(file, "utf8"))) {
  console.log(`=====${label}`);
  const module = device.createShaderModule({ code });
  await device.createComputePipelineAsync({ layout: "auto", compute: { module } });
}
process.exit();
