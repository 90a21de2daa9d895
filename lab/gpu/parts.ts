// The measured parts, and each one's share of the time.

import type { BenchContext, Section } from "../page/bench-context.ts";
import type { SectionFindings } from "../report/bench-result.ts";
import { decodeSection, measureDecode, runAheadSection, samplingSection } from "../page/sections/decoding.ts";
import { kernelsSection } from "../page/sections/kernels.ts";
import { prefillSection } from "../page/sections/prefill.ts";
import { startupSection } from "../page/sections/startup.ts";
import { submitsSection } from "../page/sections/submits.ts";
import { exactnessPart } from "./exactness.ts";
import type { Home } from "./home.ts";
import { knownAnswersPart } from "./known-answers.ts";
import type { Part } from "./part.ts";
import { productsPart } from "./products.ts";

/** Prompt tokens of the second decoding part: attention then reads in splits. More would fill a small GPU's memory. */
const LONG_PROMPT = 512;
const MAX_LONG = 32;
/** Tokens beyond the options': answers grow while others' prompts are computed. */
const GROWTH = 128;

/** Returns the parts without a model of their own. */
export function generalParts(home: Home): readonly Part[] {
  return [{ ...ofSection(submitsSection, 3), needsModel: false }, knownAnswersPart(home)];
}

/** Returns the parts of each model; the first measures the fastest kernels, which engines then use. */
export function modelParts(home: Home): readonly Part[] {
  return [
    productsPart(home),
    exactnessPart,
    ofSection(kernelsSection, 12),
    ofSection(decodeSection, 12),
    ofSection(runAheadSection, 9),
    ofSection(prefillSection, 6),
    ofSection(samplingSection, 9),
    {
      ...ofSection(decodeSection, 9),
      id: "decode-long",
      title: "Decode after long prompts",
      run: decodeAfterLongPrompts,
    },
    ofSection(startupSection, 6),
  ];
}

function ofSection({ id, title, about, run }: Section, share: number): Part {
  return { id, title, about, share, needsModel: true, run };
}

function decodeAfterLongPrompts(context: BenchContext): Promise<SectionFindings> {
  const { options, model } = context;
  const { outputTokens } = options;
  const sequences = options.sequences.filter((count) => count <= MAX_LONG);
  const promptTokens = Math.min(LONG_PROMPT, model.contextLength - outputTokens - GROWTH);
  const blocksEach = Math.ceil((promptTokens + outputTokens + GROWTH) / model.blockSize);
  const config = { numGpuBlocks: Math.max(...sequences) * blocksEach };
  return measureDecode(context, { sequences, promptTokens, outputTokens }, config);
}
