import { expect, it } from "vitest";

import random from "../../../../shaders/lib/random.wgsl?raw";
import step from "../../../../shaders/lib/step.wgsl?raw";
import { openTestDevice, runKernel } from "../../../../tests/gpu/gpu.ts";
import { threefry } from "../../../engine/sampling/gumbel.ts";
import { defineKernel } from "../define-kernel.ts";

const { device } = await openTestDevice();

it("random numbers are Threefry's known answers", async () => {
  const probe = defineKernel(
    "probe",
    `@group(0) @binding(0) var<storage, read> inputs: array<vec4<u32>>;
     @group(0) @binding(1) var<storage, read_write> outputs: array<vec2<u32>>;
     @compute @workgroup_size(1) fn probe(@builtin(workgroup_id) id: vec3<u32>) {
       outputs[id.x] = threefry(inputs[id.x].xy, inputs[id.x].zw);
     }`,
    random,
    step,
  );
  // Key, counter -> result: the vectors of the Random123 distribution.
  const inputs = new Uint32Array([
    0,
    0,
    0,
    0,
    ...Array.from({ length: 4 }, () => 0xffffffff),
    0x13198a2e,
    0x03707344,
    0x243f6a88,
    0x85a308d3,
  ]);
  const expected = [0x6b200159, 0x99ba4efe, 0x1cb996fc, 0xbb002be7, 0xc4923a9c, 0x483df7a0];
  const { outputs } = await runKernel(device, probe, {}, { inputs, outputs: new Uint32Array(6) }, [3, 1]);
  expect([...new Uint32Array(outputs ?? new ArrayBuffer(0))].slice(0, 6)).toEqual(expected);
  expect(threefry([0x13198a2e, 0x03707344], [0x243f6a88, 0x85a308d3])).toEqual(expected.slice(4));
});
