// wllama: llama.cpp in WebAssembly, on the CPU or with all layers on the GPU. It takes prompts as text only.

const FOLDER = "/packages/@wllama/wllama/esm";

/** @type {any} */
let wllama;
/** @type {string[]} */
const log = [];

export async function load(
  /** @type {{ config: { file: string, gpu: boolean, threads?: number, cacheType: string, slots: number, context: number } }} */ {
    config,
  },
) {
  const { Wllama } = await import(`${FOLDER}/index.min.js`);
  const keep = (/** @type {unknown[]} */ ...words) => log.push(words.join(" "));
  wllama = new Wllama(
    { default: new URL(`${FOLDER}/wasm/wllama.wasm`, location.origin).href },
    { logger: { debug: keep, log: keep, warn: keep, error: keep } },
  );
  const response = await fetch(`/model/${config.file}`);
  await wllama.loadModel([await response.blob()], {
    n_ctx: config.context,
    n_parallel: config.slots,
    ...(config.threads && { n_threads: config.threads }),
    n_gpu_layers: config.gpu ? 999 : 0,
    cache_type_k: config.cacheType,
    cache_type_v: config.cacheType,
    log_level: 1,
  });
  // It says nothing when it takes the CPU instead, as on a GPU without shader-f16.
  if (config.gpu && !log.some((line) => line.includes("assigned to device WebGPU"))) {
    throw new Error("asked for WebGPU, it put the layers on the CPU (it needs an adapter with shader-f16)");
  }
  log.length = 0;
  return { threads: wllama.getNumThreads() };
}

/** @type {import("../engine-page.ts").Generate} */
export function generate({ prompts, maxTokens, withTokenIds }) {
  const startMs = performance.now();
  const request = { max_tokens: maxTokens, temperature: 0, top_k: 1, ignore_eos: true, cache_prompt: false };
  // Token ids come with log-probabilities only, which cost time: they are requested if nothing is timed.
  const askForIds = async (/** @type {import("../engine-page.ts").Prompt} */ { text, ids }) => {
    const answer = await wllama.createCompletion({ ...request, prompt: text, n_probs: 1 });
    if (answer.usage.prompt_tokens !== ids.length) {
      throw new Error(`it made ${answer.usage.prompt_tokens} tokens of a prompt of ${ids.length}`);
    }
    const tokenIds = answer.choices[0].logprobs.content.map((/** @type {{ id: number }} */ { id }) => id);
    return { startMs, arrivals: [{ atMs: performance.now(), tokens: tokenIds.length }], tokenIds };
  };
  const ask = async (/** @type {import("../engine-page.ts").Prompt} */ { text }) => {
    /** @type {import("../engine-page.ts").Answer} */
    const answer = { startMs, arrivals: [], tokenIds: [] };
    await wllama.createCompletion({
      ...request,
      prompt: text,
      stream: true,
      timings_per_token: true,
      onData: (/** @type {any} */ chunk) => {
        const tokens = chunk.timings?.predicted_n;
        if (tokens) answer.arrivals.push({ atMs: performance.now(), tokens });
      },
    });
    return answer;
  };
  return Promise.all(prompts.map(withTokenIds ? askForIds : ask));
}
