// transformers.js on onnxruntime-web, on the CPU ("wasm") or the GPU ("webgpu").

const LIBRARY = "/packages/@huggingface/transformers/dist/transformers.min.js";
const RUNTIME = "/packages/onnxruntime-web/dist/ort-wasm-simd-threaded.asyncify";

/** @type {any} */
let library;
/** @type {any} */
let model;

export async function load(
  /** @type {{ config: { device: "wasm" | "webgpu", threads?: number, dtype?: "fp32" | "q8" | "q4" } }} */ {
    config: { device, threads, dtype = "fp32" },
  },
) {
  library = await import(LIBRARY);
  const { env, AutoConfig, AutoModelForCausalLM } = library;
  Object.assign(env, { allowRemoteModels: false, allowLocalModels: true, localModelPath: "/", useBrowserCache: false });
  const { wasm } = env.backends.onnx;
  const absolute = (/** @type {string} */ path) => new URL(path, location.origin).href;
  wasm.wasmPaths = { mjs: absolute(`${RUNTIME}.mjs`), wasm: absolute(`${RUNTIME}.wasm`) };
  if (threads) wasm.numThreads = threads;
  const { model_type: family } = await AutoConfig.from_pretrained("model", { local_files_only: true });
  const gpuDevice = device === "webgpu" && family !== "gpt2" ? await deviceForSmallSubgroups() : null;
  model = await AutoModelForCausalLM.from_pretrained("model", {
    dtype,
    device,
    local_files_only: true,
    use_external_data_format: await countDataFiles({ fp32: "model", q8: "model_quantized", q4: "model_q4" }[dtype]),
    ...(gpuDevice && { session_options: { executionProviders: [{ name: "webgpu", device: gpuDevice }] } }),
  });
  return { threads: device === "wasm" ? (wasm.numThreads ?? null) : null };
}

/** Returns the number of files with a large model's weights, beside its graph. */
async function countDataFiles(/** @type {string} */ graph) {
  for (let count = 0; ; count++) {
    const name = `${graph}.onnx_data${count === 0 ? "" : `_${count}`}`;
    const { ok } = await fetch(`/model/onnx/${name}`, { method: "HEAD" });
    if (!ok) return count;
  }
}

/**
 * Returns a device for graphs with fused attention, without subgroups, where an adapter's are smaller than any GPU's, as
 * those of software adapters. There onnxruntime's fused attention gives wrong values with subgroups, and right ones in
 * shared memory. Null elsewhere: onnxruntime makes its own device.
 */
async function deviceForSmallSubgroups() {
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter || !adapter.features.has("subgroups") || adapter.info.subgroupMaxSize >= 16) return null;
  /** @type {Record<string, number>} */
  const requiredLimits = {};
  for (const name in adapter.limits) requiredLimits[name] = adapter.limits[/** @type {"maxBufferSize"} */ (name)];
  const requiredFeatures = [...adapter.features].filter((name) => !name.includes("subgroup"));
  return adapter.requestDevice({
    requiredFeatures: /** @type {GPUFeatureName[]} */ (requiredFeatures),
    requiredLimits,
  });
}

/** @type {import("../engine-page.ts").Generate} */
export async function generate({ prompts, maxTokens, way }) {
  const startMs = performance.now();
  const run = (/** @type {typeof prompts} */ batch) => generateBatch(batch, maxTokens, startMs);
  if (way === "padded batch") return run(prompts);
  return (await Promise.all(prompts.map((prompt) => run([prompt])))).flat();
}

/** Prompts of one length: nothing to pad. */
async function generateBatch(
  /** @type {readonly { ids: readonly number[] }[]} */ batch,
  /** @type {number} */ maxTokens,
  /** @type {number} */ startMs,
) {
  const ids = batch.map((prompt) => prompt.ids);
  const shape = [ids.length, ids[0]?.length ?? 0];
  const tensorOf = (/** @type {number[]} */ values) =>
    new library.Tensor("int64", BigInt64Array.from(values, BigInt), shape);
  /** @type {import("../engine-page.ts").Answer[]} */
  const answers = ids.map(() => ({ startMs, arrivals: [], tokenIds: [] }));
  let isPrompt = true;
  const streamer = {
    // First comes the prompt, then a token for each row.
    put(/** @type {bigint[][]} */ rows) {
      const atMs = performance.now();
      if (!isPrompt) {
        for (const [row, { arrivals, tokenIds }] of answers.entries()) {
          tokenIds.push(Number(rows[row]?.at(-1)));
          arrivals.push({ atMs, tokens: tokenIds.length });
        }
      }
      isPrompt = false;
    },
    end() {},
  };
  await model.generate({
    input_ids: tensorOf(ids.flat()),
    attention_mask: tensorOf(ids.flat().fill(1)),
    max_new_tokens: maxTokens,
    do_sample: false,
    eos_token_id: null,
    streamer,
  });
  return answers;
}
