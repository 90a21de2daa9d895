// WGSL lets adapters take subnormal halves for zero where they are unpacked, and files have some among weights and scales.
// Where an adapter does, its kernels widen halves by integer arithmetic (shaders/lib/half.wgsl), and have the same bits.

import type { Trials } from "../trials.ts";
import type { OpenedDevice } from "./device.ts";
import { BufferUsage } from "./flags.ts";
import { KernelCompiler, sizeOf } from "./kernel.ts";
import { probeHalves } from "./kernels/kernels.ts";
import { readAfter } from "./read-after.ts";

const LANES = 64;

type Probed = Pick<OpenedDevice, "device" | "poller" | "failure">;

/** Returns whether kernels must widen halves by integer arithmetic. Never rejects: what fails here fails again, with words. */
export async function flushesHalves(opened: Probed, trials?: Trials): Promise<boolean> {
  const work = () => probe(opened);
  return (trials?.prove(probeHalves.name, opened, work) ?? work()).catch(() => true);
}

async function probe(opened: Probed): Promise<boolean> {
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
