import { expect, it } from "vitest";

import { gpuNoticeOf } from "./gpu-notice.ts";

it("says that the GPU is not used only if the CPU computes", () => {
  const notice = "It gives no device.";
  expect(gpuNoticeOf({ backend: "cpu", notice })).toBe("The GPU is not used. It gives no device.");
  expect(gpuNoticeOf({ backend: "webgpu", notice: "It runs plainer kernels." })).toBe("It runs plainer kernels.");
  expect(gpuNoticeOf({ backend: "cpu", notice: null })).toBe(null);
});
