import { expect, test } from "vitest";

import { badWordWords, hasRules, NO_RULES, ruleWords, type LogitRules } from "./logit-rules.ts";

test.each<Partial<LogitRules>>([
  { logitBias: [[7, 1]] },
  { repetitionPenalty: 1.1 },
  { frequencyPenalty: 0.1 },
  { presencePenalty: -0.1 },
  { noRepeatNgramSize: 3 },
  { badWords: [[7]] },
  { minTokens: 1 },
  { allowedTokenIds: [] },
])("%j is a rule", (rule) => {
  expect(hasRules({ ...NO_RULES, ...rule })).toBe(true);
});

test("tokens that end a sequence are no rule by themselves", () => {
  expect(hasRules(NO_RULES)).toBe(false);
  expect(hasRules({ ...NO_RULES, endTokenIds: [7] })).toBe(false);
});

test("lists take two words a bias, one an end token, and one more than its tokens a bad word", () => {
  const badWords = [[1], [2, 3, 4]];
  expect(badWordWords(badWords)).toBe(6);
  expect(ruleWords({ ...NO_RULES, logitBias: [[7, 1]], endTokenIds: [1, 2, 3], badWords })).toBe(11);
});
