// WGSL lets adapters take subnormal halves for zero where they are unpacked, and files have some among weights and scales.
// Where an adapter does, its kernels widen halves by integer arithmetic (shaders/lib/half.wgsl), and have the same bits.

import type { OpenedDevice } from "./device.ts";
import { BufferUsage } from "./flags.ts";
import { KernelCompiler, sizeOf } from "./kernel.ts";
import { probeHalves } from "./kernels/kernels.ts";
import { readAfter } from "./read-after.ts";

const LANES = 64;

/** Returns whether kernels must widen halves by integer arithmetic. Never rejects: what fails here fails again, with words. */
export function flushesHalves(opened: Pick<OpenedDevice, "device" | "poller">): Promise<boolean> {
  return probe(opened).catch(() => true);
}

async function probe(opened: Pick<OpenedDevice, "device" | "poller">): Promise<boolean> {
  const { device } = opened;
  const flushes = device.createBuffer({ size: 4, usage: BufferUsage.STORAGE | BufferUsage.COPY_SRC });
  const dispatch = await new KernelCompiler(device).dispatch({
    name: "probe",
    kernel: probeHalves,
    constants: { LANES },
    buffers: { flushes },
    workgroups: () => [512 / LANES, 1],
  });
  const found = await readAfter(opened, [dispatch], sizeOf(0), [{ buffer: flushes, offset: 0, bytes: 4 }]);
  flushes.destroy();
  return new Uint32Array(found)[0] !== 0;
}
