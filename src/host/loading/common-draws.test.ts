import { expect, test } from "vitest";

import { parseGenerationConfig } from "../../files/generation-config.ts";
import { commonDraws } from "./common-draws.ts";

const PLAIN = { haveFilters: false, haveRules: false };

test.each([
  [{}, PLAIN],
  [{ top_k: 50 }, { ...PLAIN, haveFilters: true }],
  [{ top_p: 0.9 }, { ...PLAIN, haveFilters: true }],
  [{ min_p: 0.1 }, { ...PLAIN, haveFilters: true }],
  [{ typical_p: 0.9 }, { ...PLAIN, haveFilters: true }],
  [{ top_k: 50, do_sample: false }, PLAIN],
  [
    { repetition_penalty: 1.1, do_sample: false },
    { ...PLAIN, haveRules: true },
  ],
  [{ no_repeat_ngram_size: 3 }, { ...PLAIN, haveRules: true }],
])("a model whose makers recommend %j", (json, draws) => {
  expect(commonDraws(parseGenerationConfig(json, []))).toEqual(draws);
});
