import type { Runner, ScheduledSequence, StepResult } from "../engine/runner.ts";
import type { Gpt2Weights } from "../model/gpt2-weights.ts";
import type { ResolvedEngineConfig } from "../protocol/config.ts";
import { ChorusError } from "../protocol/errors.ts";
import { Arena } from "./arena.ts";
import type { OpenedDevice } from "./device.ts";
import { createActivations, uploadWeights, type Activations } from "./gpt2-buffers.ts";
import { Gpt2Graph } from "./gpt2-graph.ts";
import { KernelCompiler } from "./kernel.ts";
import { MAX_HEAD_SIZE } from "./kernels/attention.ts";
import { ReadbackRing } from "./readback.ts";
import { StepBuffer } from "./step-buffer.ts";
import { elapsedMs, STAMPS_BYTES, Timestamps } from "./timestamps.ts";

/** Steps that may be in flight at once. */
const READBACK_DEPTH = 5;
/** Bytes of a sampled token: its id, and the bits of its log-probability. */
const SAMPLED_BYTES = 8;

/** Computes steps of GPT-2 on the GPU: one command buffer and one submit a step, nothing created on the way. */
export class Gpt2Runner implements Runner {
  readonly #device: GPUDevice;
  readonly #arena: Arena;
  readonly #step: StepBuffer;
  readonly #graph: Gpt2Graph;
  readonly #readback: ReadbackRing;
  /** Null where the adapter can't time itself. */
  readonly #timestamps: Timestamps | null;
  readonly activations: Activations;

  private constructor(device: GPUDevice, arena: Arena, step: StepBuffer, activations: Activations, graph: Gpt2Graph) {
    this.#device = device;
    this.#arena = arena;
    this.#step = step;
    this.#graph = graph;
    this.activations = activations;
    this.#readback = new ReadbackRing(arena, STAMPS_BYTES + activations.sampled.size, READBACK_DEPTH);
    this.#timestamps = Timestamps.create(device, arena, READBACK_DEPTH);
  }

  /**
   * Uploads the weights, makes the cache and compiles the kernels. Throws model_unsupported for a head too large for the
   * attention kernel, out_of_memory where the GPU can't hold it all.
   */
  static async create(options: {
    opened: OpenedDevice;
    weights: Gpt2Weights;
    engine: ResolvedEngineConfig;
    onKernel?: (compiled: number, total: number) => void;
  }): Promise<Gpt2Runner> {
    const { opened, weights, engine } = options;
    const model = weights.config;
    const { device } = opened;
    if (model.headDim > MAX_HEAD_SIZE) {
      throw new ChorusError(
        "model_unsupported",
        `Heads of ${model.headDim} values are not supported; at most ${MAX_HEAD_SIZE} are.`,
        "n_head",
      );
    }
    const arena = new Arena(device);
    device.pushErrorScope("out-of-memory");
    try {
      const step = new StepBuffer(arena, {
        maxRows: engine.maxNumBatchedTokens,
        maxSlots: engine.maxNumSeqs,
        maxBlocks: Math.ceil(engine.maxModelLen / engine.blockSize),
      });
      const activations = createActivations(arena, model, {
        maxRows: engine.maxNumBatchedTokens,
        maxSamples: engine.maxNumSeqs,
      });
      const buffers = uploadWeights(arena, weights, engine.dtype, engine);
      const compiler = new KernelCompiler(device, options.onKernel);
      const graph = await Gpt2Graph.prepare({
        compiler,
        model,
        engine,
        buffers,
        activations,
        step,
        isSoftware: opened.isSoftware,
      });
      const outOfMemory = await device.popErrorScope();
      if (outOfMemory)
        throw new ChorusError("out_of_memory", `The GPU can't hold this model and its cache: ${outOfMemory.message}`);
      return new Gpt2Runner(device, arena, step, activations, graph);
    } catch (error) {
      arena.destroy();
      throw error;
    }
  }

  /** Bytes of GPU memory held. */
  get bytes(): number {
    return this.#arena.bytes;
  }

  submit(scheduled: readonly ScheduledSequence[]): Promise<StepResult> {
    const { queue } = this.#device;
    const { rows, samples } = this.#step.write(queue, scheduled);
    const timed = this.#timestamps?.nextPass();
    const encoder = this.#device.createCommandEncoder({ label: "step" });
    const pass = encoder.beginComputePass(timed?.descriptor ?? { label: "step" });
    this.#graph.record(pass, rows, samples);
    pass.end();
    timed?.resolve(encoder);
    // A step that samples nothing is waited for all the same, by a read of one cell.
    const sampled = { buffer: this.activations.sampled, offset: 0, bytes: SAMPLED_BYTES * Math.max(1, samples) };
    const read = this.#readback.record(encoder, timed ? [timed.part, sampled] : [sampled]);
    queue.submit([encoder.finish()]);
    return this.#result(read, samples, timed !== undefined);
  }

  dispose(): void {
    this.#timestamps?.destroy();
    this.#arena.destroy();
  }

  async #result(read: () => Promise<Uint32Array>, samples: number, isTimed: boolean): Promise<StepResult> {
    let words: Uint32Array;
    try {
      words = await read();
    } catch (error) {
      throw new ChorusError("device_lost", "The GPU was lost while it computed a step.", null, { cause: error });
    }
    const gpuMs = isTimed ? elapsedMs(words) : null;
    const ids = words.subarray(isTimed ? STAMPS_BYTES / words.BYTES_PER_ELEMENT : 0);
    const logprobs = new Float32Array(ids.buffer, ids.byteOffset);
    const tokens = Array.from({ length: samples }, (_, i) => ({
      tokenId: ids[2 * i] ?? 0,
      logprob: logprobs[2 * i + 1] ?? 0,
    }));
    return { tokens, gpuMs };
  }
}
