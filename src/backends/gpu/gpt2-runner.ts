import { resultsBySequence, type Runner, type SampledToken, type StepResult } from "../../engine/runner.ts";
import { maxSamples } from "../../engine/scheduling/scheduler-config.ts";
import { LOWEST_LOGPROB, MAX_TOP_CANDIDATES } from "../../engine/sampling/sampling-params.ts";
import type { StepPlan } from "../../engine/step-plan.ts";
import type { Gpt2Weights } from "../../models/gpt2/gpt2-weights.ts";
import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import { ChorusError } from "../../protocol/errors.ts";
import { Arena } from "./arena.ts";
import type { OpenedDevice } from "./device.ts";
import { createActivations, uploadWeights, type Activations } from "./gpt2-buffers.ts";
import { Gpt2Graph } from "./gpt2-graph.ts";
import { KernelCompiler } from "./kernel.ts";
import { matmulChoices, usualMatmuls } from "./matmul-variants.ts";
import { measureOn, tuneMatmuls, tuningKey, type TuningStore } from "./matmul-tuning.ts";
import { MAX_HEAD_SIZE } from "./kernels/attention.ts";
import { ReadbackRing } from "./readback.ts";
import { Sampler } from "./sampler.ts";
import { StepBuffer } from "./step-buffer.ts";
import { elapsedMs, STAMPS_BYTES, Timestamps } from "./timestamps.ts";
import { WeightUploader } from "./weight-uploader.ts";

/** Steps that may be in flight at once. */
const READBACK_DEPTH = 5;
/** Bytes of a sampled token: its id, and the bits of its log-probability. */
const SAMPLED_BYTES = 8;
/** Bytes of a sample's most likely tokens. */
const TOP_BYTES = SAMPLED_BYTES * MAX_TOP_CANDIDATES;

/** Computes steps of GPT-2 on the GPU: one command buffer and one submit a step, nothing created on the way. */
export class Gpt2Runner implements Runner {
  readonly #device: GPUDevice;
  readonly #arena: Arena;
  readonly #step: StepBuffer;
  readonly #graph: Gpt2Graph;
  readonly #readback: ReadbackRing;
  /** Null where the adapter can't time itself. */
  readonly #timestamps: Timestamps | null;
  readonly #sampler: Sampler;
  readonly activations: Activations;
  /** Bytes of the weights as they are kept on the GPU. */
  readonly weightBytes: number;

  private constructor(
    device: GPUDevice,
    arena: Arena,
    step: StepBuffer,
    activations: Activations,
    graph: Gpt2Graph,
    sampler: Sampler,
    weightBytes: number,
  ) {
    this.weightBytes = weightBytes;
    this.#device = device;
    this.#arena = arena;
    this.#step = step;
    this.#graph = graph;
    this.#sampler = sampler;
    this.activations = activations;
    const bytes = STAMPS_BYTES + activations.sampled.size + sampler.top.size;
    this.#readback = new ReadbackRing(arena, bytes, READBACK_DEPTH);
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
    /** Where it is remembered which kernels suit the adapter. [the usual ones are taken, unmeasured] */
    tuning?: TuningStore;
  }): Promise<Gpt2Runner> {
    const { opened, weights, engine, tuning } = options;
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
        maxSamples: maxSamples(engine),
        maxSlots: engine.maxNumSeqs,
        maxBlocks: Math.ceil(engine.maxModelLen / engine.blockSize),
        maxLength: engine.maxModelLen,
        vocabSize: model.vocabSize,
      });
      const activations = createActivations(arena, model, {
        maxRows: engine.maxNumBatchedTokens,
        maxSamples: maxSamples(engine),
        maxLength: engine.maxModelLen,
        isSoftware: opened.isSoftware,
      });
      const compiler = new KernelCompiler(device, options.onKernel);
      const loadGraph = async () => {
        const uploader = new WeightUploader(device, arena, compiler, engine.dtype);
        const buffers = await uploadWeights(uploader, arena, weights, engine);
        uploader.destroy();
        const parts = { compiler, model, engine, buffers, activations, step, adapter: opened };
        const key = tuningKey(opened.adapterName, model, engine.dtype);
        const matmuls = tuning
          ? await tuneMatmuls(matmulChoices(opened), key, tuning, measureOn({ ...parts, device }))
          : usualMatmuls(opened);
        return { graph: await Gpt2Graph.prepare({ ...parts, matmuls }), weightBytes: buffers.weightBytes };
      };
      // The sampler's kernels take some of the longest to compile, and need no weights. First, since it makes its buffers at
      // once: what the arena grows by afterwards is the weights'.
      const [sampler, { graph, weightBytes }] = await Promise.all([
        Sampler.prepare({
          ...activations,
          compiler,
          arena,
          step,
          vocabSize: model.vocabSize,
          maxLength: engine.maxModelLen,
          maxSamples: maxSamples(engine),
          isSoftware: opened.isSoftware,
          logprobsMode: engine.logprobsMode,
        }),
        loadGraph(),
      ]);
      const outOfMemory = await device.popErrorScope();
      if (outOfMemory)
        throw new ChorusError("out_of_memory", `The GPU can't hold this model and its cache: ${outOfMemory.message}`);
      return new Gpt2Runner(device, arena, step, activations, graph, sampler, weightBytes);
    } catch (error) {
      arena.destroy();
      throw error;
    }
  }

  /** Bytes of GPU memory held. */
  get bytes(): number {
    return this.#arena.bytes;
  }

  submit(plan: StepPlan): Promise<StepResult> {
    const { queue } = this.#device;
    const shape = this.#step.write(queue, plan);
    const { samples, maxTop } = shape;
    const timed = this.#timestamps?.nextPass();
    const encoder = this.#device.createCommandEncoder({ label: "step" });
    const pass = encoder.beginComputePass(timed?.descriptor ?? { label: "step" });
    for (const dispatch of [...this.#graph.dispatches(shape), ...this.#sampler.dispatches(shape)]) {
      pass.setPipeline(dispatch.pipeline);
      pass.setBindGroup(0, dispatch.bindGroup);
      pass.dispatchWorkgroups(...dispatch.workgroups(shape));
    }
    pass.end();
    timed?.resolve(encoder);
    // A step that samples nothing is waited for all the same, by a read of one cell.
    const sampled = { buffer: this.activations.sampled, offset: 0, bytes: SAMPLED_BYTES * Math.max(1, samples) };
    const top = { buffer: this.#sampler.top, offset: 0, bytes: TOP_BYTES * samples };
    const parts = [...(timed ? [timed.part] : []), sampled, ...(maxTop > 0 ? [top] : [])];
    const read = this.#readback.record(encoder, parts);
    queue.submit([encoder.finish()]);
    return this.#result(read, plan, timed !== undefined);
  }

  dispose(): void {
    this.#timestamps?.destroy();
    this.#arena.destroy();
  }

  async #result(read: () => Promise<Uint32Array>, plan: StepPlan, isTimed: boolean): Promise<StepResult> {
    let words: Uint32Array;
    try {
      words = await read();
    } catch (error) {
      throw new ChorusError("device_lost", "The GPU was lost while it computed a step.", null, { cause: error });
    }
    const gpuMs = isTimed ? elapsedMs(words) : null;
    const ids = words.subarray(isTimed ? STAMPS_BYTES / words.BYTES_PER_ELEMENT : 0);
    const logprobs = new Float32Array(ids.buffer, ids.byteOffset);
    const tokenAt = (at: number) => ({ tokenId: ids[at] ?? 0, logprob: logprobs[at + 1] ?? 0 });
    const topStart = 2 * Math.max(1, plan.samples.length);
    const tokens = plan.samples.map((sample, i): SampledToken => {
      const start = topStart + 2 * i * MAX_TOP_CANDIDATES;
      const candidates = Array.from({ length: sample.numTop }, (_, n) => tokenAt(start + 2 * n));
      const top = candidates.filter(({ logprob: one }) => one > LOWEST_LOGPROB);
      const { tokenId, logprob } = tokenAt(2 * i);
      if (sample.kind === "draw") return { tokenId, logprob, top };
      // The kernel puts the rank where a drawn token has its id.
      return { tokenId: sample.tokenId, logprob, top, rank: tokenId };
    });
    return { sequences: resultsBySequence(plan, tokens), gpuMs };
  }
}
