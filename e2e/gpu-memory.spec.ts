// A failed load leaves nothing behind in the GPU process, however it fails.

import { expect, test } from "playwright/test";
import { gpuProcessId, residentBytes } from "../lab/runs/gpu-process.ts";
import { openBarePage } from "./support/library.ts";

/** How a load fails: the GPU has this much memory, or refuses the kernel of this label. */
interface Fault {
  readonly memoryBytes?: number;
  readonly kernel?: string;
}

const MIB = 2 ** 20;
const FAULTS: readonly (Fault & { readonly code: string })[] = [
  // The embedded model's weights are 17 MB in f32: they nearly fit.
  { memoryBytes: 18e6, code: "out_of_memory" },
  // Compiled once the weights are there.
  { kernel: "embed ", code: "kernel_refused" },
  // Compiled while weights are uploaded: what is under way must not use buffers that are gone.
  { kernel: "sample-plain ", code: "kernel_refused" },
];
/** Half of what they would leave if each left its weights. In four runs there were 6 to 7 MiB less after them than before. */
const MAX_LEFT_BYTES = (FAULTS.length * 17 * MIB) / 2;

test("failed loads leave no memory behind in the GPU process", async ({ page, browser }) => {
  const pid = await gpuProcessId(browser);
  await openBarePage(page);
  /** Loads in place, where no worker's end frees anything. Returns the error's code, and the bytes of buffers that there were at most and are left. */
  const fail = (fault: Fault) =>
    page.evaluate(async ({ memoryBytes = Infinity, kernel }: Fault) => {
      type Make<Descriptor, Made> = (this: GPUDevice, descriptor: Descriptor) => Made;
      const createBuffer = Reflect.get(GPUDevice.prototype, "createBuffer") as Make<GPUBufferDescriptor, GPUBuffer>;
      const createShaderModule = Reflect.get(GPUDevice.prototype, "createShaderModule") as Make<
        GPUShaderModuleDescriptor,
        GPUShaderModule
      >;
      let bytes = 0;
      let peakBytes = 0;
      GPUDevice.prototype.createBuffer = function createLimited(descriptor) {
        if (bytes + descriptor.size > memoryBytes) throw new RangeError("There is no memory.");
        const buffer = createBuffer.call(this, descriptor);
        peakBytes = Math.max(peakBytes, (bytes += buffer.size));
        const destroy = buffer.destroy.bind(buffer);
        let held = buffer.size;
        buffer.destroy = () => {
          bytes -= held;
          held = 0;
          destroy();
        };
        return buffer;
      };
      GPUDevice.prototype.createShaderModule = function createRefused(descriptor) {
        const isRefused = kernel !== undefined && descriptor.label?.startsWith(kernel);
        return createShaderModule.call(this, isRefused ? { ...descriptor, code: "missing" } : descriptor);
      };
      try {
        const library = new URL("./lib/chorus.js", location.href).href;
        const { createEngine } = (await import(library)) as typeof import("../src/index.ts");
        const options = { backend: "webgpu", worker: false, model: "models/chorus-chat/", dtype: "f32" } as const;
        const engine = await createEngine(options);
        await engine.dispose();
        return { code: "none", peakBytes, leftBytes: bytes };
      } catch (error) {
        return { code: (error as { code?: string }).code ?? String(error), peakBytes, leftBytes: bytes };
      } finally {
        Object.assign(GPUDevice.prototype, { createBuffer, createShaderModule });
      }
    }, fault);

  // The first ones compile kernels and load libraries, which stay.
  for (const fault of FAULTS) await fail(fault);
  // A device that was destroyed gives the last of its memory back with its JavaScript object.
  const held = async () => {
    await page.requestGC();
    // Systems other than Linux don't say it: there only the buffers count.
    return residentBytes(pid) ?? 0;
  };
  const beforeBytes = await held();
  for (const fault of FAULTS) {
    const { code, peakBytes, leftBytes } = await fail(fault);
    expect(code).toBe(fault.code);
    // Else there would be nothing to leave behind.
    expect(peakBytes).toBeGreaterThan(10e6);
    expect(leftBytes).toBe(0);
  }
  expect(await gpuProcessId(browser)).toBe(pid);
  const left = async () => (await held()) - beforeBytes;
  await expect.poll(left).toBeLessThan(MAX_LEFT_BYTES);
  console.log(
    `GPU process: ${Math.round(beforeBytes / MIB)} MiB before ${FAULTS.length} failed loads, ${Math.round((await held()) / MIB)} after`,
  );
});
