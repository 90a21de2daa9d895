// When a draft model pays, on the CPU in plain Node, by the library as it was built. Both models have random weights, so no
// draft is right; what a round of drafting costs does not depend on that. A round drafts some tokens and checks them in one
// step. It pays where it brings more tokens than plain steps would in the same time.

import { root, run } from "../../tools/run-command.mjs";

const PROMPT_TOKENS = 32;
/** Drafting pauses after four wrong drafts. */
const NEW_TOKENS = 10;
const NUM_DRAFTED = 4;
const SEQUENCES = [1, 4, 8];

/** @typedef {{ size?: string | undefined, draft?: string | undefined, dtype?: string | undefined, repeats?: string | undefined }} Options */

/** @param {Options} options sizes of the benchmark page: the model's and the draft model's; a dtype; rounds; their median counts */
export async function benchDraft({ size = "gpt2", draft = "distilgpt2", dtype = "f32", repeats = "5" }) {
  if (!(await run("npm run --silent build", { output: "if-failed" }))) process.exit(1);
  const { runnerImport } = await import("vite");
  const load = (/** @type {string} */ path) => runnerImport(path, { configFile: false, root });
  const { createEngine } = await import(new URL("../../dist/lib/chorus.js", import.meta.url).href);
  const { MODEL_SIZES } = (await load("./lab/model/model-sizes.ts")).module;
  const { makeRandomModel } = (await load("./lab/model/random-model.ts")).module;
  const { printTable } = (await load("./lab/costs/bench.ts")).module;
  const { draftCosts } = (await load("./lab/costs/draft-cost.ts")).module;
  const open = (/** @type {object} */ config) =>
    createEngine({ model: makeRandomModel(MODEL_SIZES[size], 1), worker: false, backend: "cpu", dtype, ...config });
  const speculation = {
    method: "draft_model",
    model: makeRandomModel(MODEL_SIZES[draft], 2),
    num_speculative_tokens: NUM_DRAFTED,
  };
  const workload = {
    sequences: SEQUENCES,
    promptTokens: PROMPT_TOKENS,
    newTokens: NEW_TOKENS,
    repeats: Number(repeats),
    vocabSize: MODEL_SIZES[size].vocabSize,
  };
  const costs = await draftCosts(open, speculation, workload);
  printTable(
    `${draft} drafts ${NUM_DRAFTED} tokens for ${size}, in ${dtype} on the CPU: medians of ${repeats} rounds`,
    ["sequences", "step, ms", "round of drafting, ms", `pays above, of ${NUM_DRAFTED} drafts`],
    costs.map((/** @type {import("../costs/draft-cost.ts").DraftCost} */ { count, stepMs, roundMs }) => {
      const needed = roundMs / stepMs - 1;
      return [count, stepMs.toFixed(1), roundMs.toFixed(1), needed < NUM_DRAFTED ? needed.toFixed(2) : "never"];
    }),
  );
}
