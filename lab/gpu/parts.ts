import type { BenchContext } from "../page/bench-context.ts";
import type { SectionFindings } from "../report/bench-result.ts";
import { SECTIONS, type SectionId } from "../page/bench-options.ts";
import { ALL_SECTIONS } from "../page/sections/all-sections.ts";
import { measureDecode } from "../page/sections/decoding.ts";
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

/** Returns the parts of each model, or those without one. Of a model's the first measures the fastest kernels, which engines then use. */
export function partsOf(model: string | null, home: Home): readonly Part[] {
  if (model === null) return [knownAnswersPart(home)];
  return [
    productsPart(home),
    exactnessPart,
    ...(["kernels", "decode", "run-ahead", "prefill", "sampling"] as const).map((id) => ofSection(id)),
    {
      ...ofSection("decode"),
      id: "decode-long",
      title: "Decode after long prompts",
      run: decodeAfterLongPrompts,
    },
    ofSection("startup"),
  ];
}

function ofSection(id: SectionId & Part["id"]): Part {
  const { about, run } = ALL_SECTIONS[id];
  return { id, title: SECTIONS[id].title, about, needsModel: true, run };
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
