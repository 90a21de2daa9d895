// Chorus in its page, with the interface of every engine of the comparison: load() once, then generate() any number of times.

const LIBRARY = "/chorus/chorus.js";

/** @type {any} */
let engine;

export async function load(/** @type {{ config: object }} */ { config }) {
  const { createEngine } = await import(LIBRARY);
  // Every round sends the same prompts again: computing them is measured.
  engine = await createEngine({ model: "/model/", enablePrefixCaching: false, ...config });
  // The card says "CPU, 3 threads".
  const [, threads] = /^CPU, (\d+)/.exec(engine.model.adapter) ?? [];
  return { threads: threads ? Number(threads) : null };
}

/** @type {import("../engine-page.ts").Generate} */
export function generate({ prompts, maxTokens }) {
  const startMs = performance.now();
  const ask = async (/** @type {import("../engine-page.ts").Prompt} */ { ids }) => {
    const stream = await engine.completions.create({
      prompt: ids,
      max_tokens: maxTokens,
      temperature: 0,
      ignore_eos: true,
      stream: true,
      return_token_ids: true,
    });
    /** @type {import("../engine-page.ts").Answer} */
    const answer = { startMs, arrivals: [], tokenIds: [] };
    for await (const chunk of stream) {
      const newIds = chunk.choices[0]?.token_ids ?? [];
      if (newIds.length === 0) continue;
      answer.tokenIds.push(...newIds);
      answer.arrivals.push({ atMs: performance.now(), tokens: answer.tokenIds.length });
    }
    return answer;
  };
  return Promise.all(prompts.map(ask));
}
