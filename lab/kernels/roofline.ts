import copyCode from "./roofline-copy.wgsl?raw";
import multiplyCode from "./roofline-multiply.wgsl?raw";
import type { ObservedDispatch } from "./gpu-listener.ts";

const LANES = 64;
const VEC4_BYTES = 16;
const ROUNDS = 256;
const CHAINS = 8;
/** A fused multiply-add of four numbers. */
const FLOPS_OF_FMA = 8;

/** Large enough for a GPU, small enough for a software adapter. */
const COPY_BYTES = { software: 2 ** 24, gpu: 2 ** 27 };
const MULTIPLY_LANES = { software: 2 ** 11, gpu: 2 ** 20 };

/** The speed of a copy and of a multiplication on this adapter: the upper limits for the kernels. */
interface Roofline {
  readonly copy: ObservedDispatch;
  /** Bytes read and written by one copy. */
  readonly copyBytes: number;
  readonly multiply: ObservedDispatch;
  readonly multiplyFlops: number;
  /** One workgroup that does next to nothing and waits for the one before, as all do: the cost of a dispatch. */
  readonly smallest: ObservedDispatch;
  readonly destroy: () => void;
}

export async function prepareRoofline(device: GPUDevice, isSoftware: boolean): Promise<Roofline> {
  const on = isSoftware ? "software" : "gpu";
  const buffer = () => device.createBuffer({ size: COPY_BYTES[on], usage: GPUBufferUsage.STORAGE });
  const [values, results] = [buffer(), buffer()];
  const dispatch = async (
    code: string,
    constants: Record<string, number>,
    workgroups: ObservedDispatch["workgroups"],
  ): Promise<ObservedDispatch> => {
    const module = device.createShaderModule({ code });
    const pipeline = await device.createComputePipelineAsync({ layout: "auto", compute: { module, constants } });
    const entries = [values, results].map((bound, binding) => ({ binding, resource: { buffer: bound } }));
    return {
      pipeline,
      bindGroup: device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }),
      workgroups,
    };
  };
  const copyGroups = COPY_BYTES[on] / VEC4_BYTES / LANES;
  // A grid of two dimensions: one holds no more than 65,535 workgroups.
  const across = Math.min(copyGroups, 2 ** 15);
  const copy = await dispatch(copyCode, {}, [across, copyGroups / across, 1]);
  return {
    copy,
    smallest: { ...copy, workgroups: [1, 1, 1] },
    copyBytes: 2 * COPY_BYTES[on],
    multiply: await dispatch(multiplyCode, { ROUNDS }, [MULTIPLY_LANES[on] / LANES, 1, 1]),
    multiplyFlops: MULTIPLY_LANES[on] * ROUNDS * CHAINS * FLOPS_OF_FMA,
    destroy: () => {
      values.destroy();
      results.destroy();
    },
  };
}

/** Returns the milliseconds until a pass is computed that has the dispatches as often as asked for. */
export async function submitMs(device: GPUDevice, work: readonly ObservedDispatch[], repeats: number): Promise<number> {
  const startMs = performance.now();
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  for (let i = 0; i < repeats; i++) {
    for (const { pipeline, bindGroup, workgroups } of work) {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindGroup);
      pass.dispatchWorkgroups(...workgroups);
    }
  }
  pass.end();
  device.queue.submit([encoder.finish()]);
  await device.queue.onSubmittedWorkDone();
  return performance.now() - startMs;
}
