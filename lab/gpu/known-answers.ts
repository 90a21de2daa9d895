// Checks that this adapter computes rightly: the answers of Hugging Face's code with small checkpoints, and the promise that
// a request gets the same bits whatever happens around it.

import { openDevice } from "../../src/backends/gpu/device.ts";
import { tuningKey } from "../../src/backends/gpu/matmul-tuning.ts";
import { createEngine } from "../../src/index.ts";
import type { Model } from "../../src/models/model.ts";
import { checkpointFiles, goldenAnswers } from "../../tests/models/golden-answers.ts";
import { loadGolden } from "../../tests/models/golden.ts";
import { ALL_AT_ONCE, answersAlone, answersUnder, CIRCUMSTANCES } from "../../tests/requests/exactness.ts";
import type { Home } from "./home.ts";
import { checksResult, type Check, type Part } from "./part.ts";
import { saveDefaultKernels } from "./products.ts";

/** Largest difference of a log-probability, with weights and cache in f32. */
const TOLERANCE = 2e-4;
const F32 = { dtype: "f32", kvCacheDtype: "f32" } as const;
const QUICK_PROMPTS = 3;

export function knownAnswersPart({ gpu, tuning }: Home): Part {
  return {
    id: "known-answers",
    title: "Known answers",
    about:
      "A small checkpoint's tokens and log-probabilities are Hugging Face's. Ten requests get the tokens and log-probabilities " +
      "that they have alone, to the last bit, whatever happens around them.",
    needsModel: false,
    async run(context) {
      const model = await checkpointFiles("model.safetensors");
      const {
        signal,
        options: { quick },
      } = context;
      const base = { backend: "webgpu", model, worker: false, gpu, signal } as const;
      const checks: Check[] = [];
      const golden = await loadGolden("gpt2-tiny");
      context.progress(0, "the default kernels are taken");
      await takeDefaultKernels({ gpu, tuning }, golden.weights.model);
      {
        const prompts = quick ? golden.prompts.slice(0, QUICK_PROMPTS) : golden.prompts;
        await using engine = await createEngine({ ...base, ...F32 });
        const { notice } = engine.model;
        checks.push({ what: "the load's own check", isRight: notice === null, detail: notice ?? "" });
        const answers = await goldenAnswers(engine, { ...golden, prompts });
        const worst = Math.max(...answers.map(({ worstError }) => worstError));
        const numRight = answers.filter(
          (one) => JSON.stringify(one.tokens) === JSON.stringify(one.expectedTokens),
        ).length;
        checks.push({
          what: "Hugging Face's tokens",
          isRight: numRight === answers.length && worst < TOLERANCE,
          detail: `${numRight} of ${answers.length}; a log-probability is off by ${worst.toExponential(1)} at most`,
        });
      }
      const circumstances = quick ? [ALL_AT_ONCE] : CIRCUMSTANCES;
      // The kernels that are compiled already.
      const options = quick ? { ...base, ...F32 } : base;
      const alone = JSON.stringify(await answersAlone(createEngine, options));
      for (const circumstance of context.inTime(circumstances)) {
        context.progress(circumstances.indexOf(circumstance) / circumstances.length, circumstance.name);
        const { rounds, hasHappened } = await answersUnder(createEngine, options, circumstance, 1);
        const isRight = rounds.every((answers) => JSON.stringify(answers) === alone);
        const same = hasHappened ? "the same bits" : "the same bits, though it did not happen";
        checks.push({ what: circumstance.name, isRight, detail: isRight ? same : "other bits" });
      }
      return checksResult(checks, "small checks are right");
    },
  };
}

/** Stores default kernels: another part measures the fastest, which takes a software adapter half a minute. */
async function takeDefaultKernels({ gpu, tuning }: Pick<Home, "gpu" | "tuning">, model: Model): Promise<void> {
  const opened = await openDevice(gpu);
  for (const dtype of ["f32", "f16"] as const) {
    await saveDefaultKernels(opened, tuning, tuningKey(opened.adapterName, model, dtype));
  }
  opened.close();
}
