// Checks the same promises as known-answers.ts, on the measured shape: its kernels differ from a small model's.

import type { ChorusEngine, CompletionRequest, EngineChanges } from "../../src/index.ts";
import type { BenchContext } from "../page/bench-context.ts";
import { checksResult, type Part } from "./part.ts";

/** Lengths on both sides of the one from which attention reads in splits. */
const PROMPT_TOKENS = [600, 520, 300, 33, 20, 9, 3, 1];
const QUICK_PROMPT_TOKENS = [70, 33, 20, 9, 3, 1];
const OUTPUT_TOKENS = 6;
const ALONE = { enablePrefixCaching: false, runAhead: 0 } as const;
/** The changes between runs of the same requests. The first run has each of them alone. */
const CIRCUMSTANCES: readonly { readonly name: string; readonly changes: EngineChanges }[] = [
  { name: "all at once", changes: ALONE },
  {
    name: "in chunks of 40, four steps ahead",
    changes: { ...ALONE, runAhead: 4, longPrefillTokenThreshold: 40 },
  },
  { name: "in steps of 64 rows", changes: { ...ALONE, maxNumBatchedTokens: 64 } },
];
const SCORED_TOKENS = 24;
/** Largest difference: sums have another order there, and the cache rounds to halves. */
const TOLERANCE = 0.02;

export const exactnessPart: Part = {
  id: "exactness",
  title: "Exactness of this shape",
  about:
    "Prompts of 1 to 600 tokens get the same tokens and log-probabilities alone and together, to the last bit. The " +
    "log-probabilities of a prompt are those of the CPU backend, but for rounding.",
  needsModel: true,
  async run(context) {
    const engine = await context.openEngine(ALONE);
    const { options } = context;
    const longest = context.model.contextLength - OUTPUT_TOKENS;
    const prompts = (options.quick ? QUICK_PROMPT_TOKENS : PROMPT_TOKENS).map((length) =>
      context.prompt(Math.min(length, longest)),
    );
    const requests = prompts.map((prompt): Request => ({
      prompt,
      max_tokens: OUTPUT_TOKENS,
      temperature: 0,
      ignore_eos: true,
      return_token_ids: true,
      logprobs: 0,
    }));
    const alone: string[] = [];
    for (const [i, request] of requests.entries()) {
      context.progress(i / requests.length / 2, "alone");
      alone.push(await answer(engine, request, context));
    }
    const checks = [];
    for (const circumstance of context.inTime(CIRCUMSTANCES)) {
      const { name: what, changes } = circumstance;
      context.progress(0.5 + CIRCUMSTANCES.indexOf(circumstance) / CIRCUMSTANCES.length / 2, what);
      await engine.update({ longPrefillTokenThreshold: null, maxNumBatchedTokens: null, ...changes });
      const answers = await Promise.all(requests.map((request) => answer(engine, request, context)));
      const differing = prompts.filter((_, j) => answers[j] !== alone[j]).map(({ length }) => length);
      const detail = differing.length > 0 ? `prompts of ${differing.join(", ")} tokens differ` : "the same bits";
      checks.push({ what, isRight: differing.length === 0, detail });
    }
    checks.push(await besideCpu(engine, context));
    return checksResult(checks, "checks of this shape are right");
  },
};

type Request = CompletionRequest & { stream?: false };

async function answer(engine: ChorusEngine, request: Request, { signal }: BenchContext): Promise<string> {
  const { choices } = await engine.completions.create(request, { signal });
  return JSON.stringify(choices.map(({ token_ids, logprobs }) => [token_ids, logprobs?.token_logprobs]));
}

async function besideCpu(engine: ChorusEngine, context: BenchContext) {
  const what = "the CPU's log-probabilities";
  const prompt = context.prompt(SCORED_TOKENS);
  const cpu = await context.openEngine({ backend: "cpu", dtype: engine.model.dtype, maxModelLen: 2 * SCORED_TOKENS });
  const [onGpu, onCpu] = await Promise.all([engine, cpu].map((one) => scoresOf(one, prompt, context)));
  const worst = Math.max(...(onGpu ?? []).map((logprob, i) => Math.abs(logprob - (onCpu?.[i] ?? NaN))));
  const detail = `off by ${worst.toExponential(1)} at most, over ${SCORED_TOKENS - 1} tokens`;
  return { what, isRight: worst < TOLERANCE, detail };
}

async function scoresOf(engine: ChorusEngine, prompt: number[], { signal }: BenchContext): Promise<number[]> {
  const request: Request = { prompt, max_tokens: 0, echo: true, prompt_logprobs: 0 };
  const { choices } = await engine.completions.create(request, { signal });
  // The first token has no log-probability.
  const scores = choices[0]?.prompt_logprobs?.slice(1) ?? [];
  return scores.map((one, i) => one?.[String(prompt[i + 1])]?.logprob ?? NaN);
}
